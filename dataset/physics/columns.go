package physics

import "math"

// columns is a grid of bodies by their x and y: squares of one metre, each
// with a list. Squares that are far apart share a list (indices wrap), which
// costs a needless test now and then but needs no bounds.
type columns struct {
	head [columnsAcross * columnsAcross]int32 // first body of a square, plus one
	next []int32                              // next body of the same square, plus one
}

const (
	columnsAcross = 64  // a power of two
	smallHalf     = 0.2 // half the side of what the grid of live bodies holds; larger ones are few, and listed
	sqrt3         = 1.7320508075688772
)

func (c *columns) init(n int) { c.next = make([]int32, n) }

func (c *columns) clear() { clear(c.head[:]) }

// square returns in which row or column of squares x is. Positions are finite
// and small.
func square(x float64) int { return int(math.Floor(x)) }

func (c *columns) at(x, y int) int32 {
	return c.head[x&(columnsAcross-1)|(y&(columnsAcross-1))*columnsAcross]
}

func (c *columns) add(i int, pos Vec) {
	x, y := square(pos.X), square(pos.Y)
	h := &c.head[x&(columnsAcross-1)|(y&(columnsAcross-1))*columnsAcross]
	c.next[i], *h = *h, int32(i)+1
}

// Around calls f with every cube whose centre is nearer to p than reach, with the
// way from p to it and that way's length squared.
func (s *Scene) Around(p Vec, reach float64, f func(i int, away Vec, square float64)) {
	for _, i := range s.live {
		ifAround(int(i), s.bodies[i].Pos, p, reach, f)
	}
	for y := square(p.Y - reach); y <= square(p.Y+reach); y++ {
		for x := square(p.X - reach); x <= square(p.X+reach); x++ {
			for j := s.laid.at(x, y); j > 0; j = s.laid.next[j-1] {
				if s.state[j-1] <= posed {
					ifAround(int(j-1), s.placed[j-1].pos, p, reach, f)
				}
			}
		}
	}
}

func ifAround(i int, at, p Vec, reach float64, f func(i int, away Vec, square float64)) {
	away := at.Sub(p)
	if l := away.Dot(away); l < float64(reach*reach) {
		f(i, away, l)
	}
}
