package physics

import "math"

// grid is a grid of bodies by their x and y. Each cell of one square metre has a linked list of
// bodies. Indices wrap after 64 cells, so that the grid needs no bounds: cells far apart share a
// list, which sometimes causes a needless test.
type grid struct {
	head [gridSize * gridSize]int32 // first body of a cell, plus one; 0 if the cell is empty
	next []int32                    // next body of the same cell, plus one; 0 at the end
}

const (
	gridSize    = 64  // cells along one side of the grid, a power of two
	maxGridHalf = 0.2 // half the side of the largest bodies in the grid of live bodies; larger ones are in Scene.large
	sqrt3       = 1.7320508075688772
)

// init prepares an empty grid for bodies 0 to n-1.
func (c *grid) init(n int) { c.next = make([]int32, n) }

// clear removes all bodies.
func (c *grid) clear() { clear(c.head[:]) }

// cellOf returns the row or column of cells for a coordinate, which must be finite.
func cellOf(x float64) int { return int(math.Floor(x)) }

// firstPlusOne returns the first body of a cell plus one, or 0.
func (c *grid) firstPlusOne(x, y int) int32 {
	return c.head[x&(gridSize-1)|(y&(gridSize-1))*gridSize]
}

// add adds body i to the cell of pos.
func (c *grid) add(i int, pos Vec) {
	x, y := cellOf(pos.X), cellOf(pos.Y)
	h := &c.head[x&(gridSize-1)|(y&(gridSize-1))*gridSize]
	c.next[i], *h = *h, int32(i)+1
}

// ForEachNear calls f for every cube i whose centre is nearer to p than reach. offset is the vector from p
// to the centre, and squared its length squared.
func (s *Scene) ForEachNear(p Vec, reach float64, f func(i int, offset Vec, squared float64)) {
	for _, i := range s.live {
		callIfNear(int(i), s.bodies[i].Pos, p, reach, f)
	}
	for y := cellOf(p.Y - reach); y <= cellOf(p.Y+reach); y++ {
		for x := cellOf(p.X - reach); x <= cellOf(p.X+reach); x++ {
			for j := s.laidGrid.firstPlusOne(x, y); j > 0; j = s.laidGrid.next[j-1] { // j is a body's index plus one; 0 ends the list
				if s.state[j-1] <= posed { // bodies that have woken up are in s.live
					callIfNear(int(j-1), s.laid[j-1].pos, p, reach, f)
				}
			}
		}
	}
}

// callIfNear calls f, as ForEachNear does, for body i at pos if pos is nearer to p than reach.
func callIfNear(i int, pos, p Vec, reach float64, f func(i int, offset Vec, squared float64)) {
	offset := pos.Sub(p)
	if squared := offset.Dot(offset); squared < float64(reach*reach) { // float64 prevents a fused multiply-add
		f(i, offset, squared)
	}
}
