package rows

import (
	"math/bits"

	"wirelab/dataset/frame"
)

// farthest is the distance where there is no mover.
const farthest = 64

// maxMovers bounds how many rows are compared by distance.
const maxMovers = 24

// mover is a row that changed in the frame before.
type mover struct {
	row   int
	at    [maxPlace]int32
	speed uint32
}

// scene holds the rows that moved in the frame before, and where they are.
type scene struct {
	plan   *plan
	base   []int32
	movers []mover           // the fastest of those
	top    int               // the fastest of all
	coded  [][maxPlace]int32 // where the rows are that changed in this frame
}

// begin collects the rows that moved on the way to base.
func (s *scene) begin(p *plan, base *frame.Frame, past *memo) {
	s.plan, s.base, s.movers, s.top = p, base.Table, s.movers[:0], -1
	s.coded = s.coded[:0]
	if len(p.place) == 0 {
		return
	}
	slowest := 0
	for n, row := range past.moved {
		shift := past.step(n, p.fields).shift
		m := mover{row: int(row), at: s.position(int(row))}
		for _, f := range p.place {
			m.speed = max(m.speed, uint32(max(shift[f], -shift[f])))
		}
		if len(s.movers) < maxMovers {
			s.movers = append(s.movers, m)
		} else if m.speed > s.movers[slowest].speed {
			s.movers[slowest] = m
		} else {
			continue
		}
		if len(s.movers) == maxMovers {
			for i := range s.movers {
				if s.movers[i].speed < s.movers[slowest].speed {
					slowest = i
				}
			}
		}
	}
	for i := range s.movers {
		if s.top < 0 || s.movers[i].speed > s.movers[s.top].speed {
			s.top = i
		}
	}
}

// position returns the coordinates of a row, shifted so that their squares can be added.
func (s *scene) position(row int) (at [maxPlace]int32) {
	for k, f := range s.plan.place {
		at[k] = s.base[row*s.plan.fields+f] >> s.plan.coarse
	}
	return at
}

// distances returns the distance of the nearest mover from a row at a place and of the
// fastest, in half octaves; farthest if there is none. Of itself a row takes no notice:
// it is among the movers only if it moved.
func (s *scene) distances(row int, at *[maxPlace]int32, moved bool) (nearest, fastest uint32) {
	if len(s.movers) == 0 {
		return farthest, farthest
	}
	best := uint64(1<<63 - 1)
	if moved {
		for i := range s.movers {
			if m := &s.movers[i]; m.row != row {
				best = min(best, distance2(at, &m.at))
			}
		}
	} else {
		x, y, z := int64(at[0]), int64(at[1]), int64(at[2])
		for i := range s.movers {
			m := &s.movers[i].at
			dx, dy, dz := x-int64(m[0]), y-int64(m[1]), z-int64(m[2])
			best = min(best, uint64(dx*dx+dy*dy+dz*dz))
		}
	}
	if top := &s.movers[s.top]; top.row != row {
		fastest = uint32(bits.Len64(distance2(at, &top.at)))
	}
	return uint32(bits.Len64(best)), fastest
}

// distance2 returns the square of a distance.
func distance2(a, b *[maxPlace]int32) uint64 {
	x, y, z := int64(a[0])-int64(b[0]), int64(a[1])-int64(b[1]), int64(a[2])-int64(b[2])
	return uint64(x*x + y*y + z*z)
}
