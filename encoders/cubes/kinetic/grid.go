package kinetic

// grid is a spatial hash of the cubes. A cell is as wide as the search radius; cells
// wrap around, so no bounds are needed.
type grid struct {
	head     [gridSide * gridSide]int32 // 1 + the cube added last; 0: none
	nonEmpty [gridSide * gridSide]bool  // whether this cell or a neighbour holds any
	next     []int32
}

const (
	cellShift = 9 // cells of 512 units, a metre
	gridSide  = 64
	// maxVisits bounds the work where all cubes are in one place.
	maxVisits = 200
)

// reset empties the grid and makes room for n cubes.
func (g *grid) reset(n int) {
	clear(g.head[:])
	clear(g.nonEmpty[:])
	if cap(g.next) < n {
		g.next = make([]int32, n)
	}
	g.next = g.next[:n]
}

func cellOf(x, y int32) (cx, cy int32) { return x >> cellShift, y >> cellShift }

func slot(cx, cy int32) int32 { return cy&(gridSide-1)*gridSide + cx&(gridSide-1) }

// add puts cube i at x, y.
func (g *grid) add(i int, x, y int32) {
	cx, cy := cellOf(x, y)
	s := slot(cx, cy)
	if g.head[s] == 0 {
		for dy := int32(-1); dy <= 1; dy++ {
			for dx := int32(-1); dx <= 1; dx++ {
				g.nonEmpty[slot(cx+dx, cy+dy)] = true
			}
		}
	}
	g.next[i] = g.head[s]
	g.head[s] = int32(i) + 1
}

// search appends the cubes in the cells around x, y: all within 512 units and some
// beyond, at most maxVisits.
func (g *grid) search(x, y int32, found []int32) []int32 {
	cx, cy := cellOf(x, y)
	if !g.nonEmpty[slot(cx, cy)] {
		return found
	}
	for dy := int32(-1); dy <= 1; dy++ {
		for dx := int32(-1); dx <= 1; dx++ {
			for j := g.head[slot(cx+dx, cy+dy)]; j > 0; j = g.next[j-1] {
				if len(found) == maxVisits {
					return found
				}
				found = append(found, j-1)
			}
		}
	}
	return found
}
