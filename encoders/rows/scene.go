package rows

import (
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
)

// farthest is the distance where there is no mover.
const farthest = 64

// maxMovers bounds how many rows are compared by distance.
const maxMovers = 24

// mover is a row that changed in the frame before base.
type mover struct {
	row   int
	at    [maxPlace]int32
	speed uint32
}

// scene holds the positions of rows, and the movers.
type scene struct {
	plan    *plan
	places  [][maxPlace]int32 // of all rows in base
	movers  []mover           // the fastest rows that moved
	top     int               // index of the fastest mover; -1 if none
	lanes   lanes             // the movers, for vector instructions
	nearest []uint8           // by row: the distance of the nearest mover, itself included; may be empty
	coded   [][maxPlace]int32 // of the rows that changed in this frame
}

// lanes holds the coordinates of movers by fours: the lower half of each word counts.
type lanes [maxMovers / 4][maxPlace][4]int64

// begin collects the rows that moved on the way to base.
func (s *scene) begin(p *plan, base *frame.Frame, past *memo) {
	s.plan, s.movers, s.top = p, s.movers[:0], -1
	s.coded, s.nearest = s.coded[:0], s.nearest[:0]
	s.places = slices.Grow(s.places[:0], p.rows)[:p.rows]
	wide := s.place(base.Table)
	if len(p.place) == 0 {
		return
	}
	slowest := 0
	for n, row := range past.moved {
		shift := past.step(n, p.fields).shift
		m := mover{row: int(row), at: s.places[row]}
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
	if len(s.movers) > 0 && !wide && hasVectors {
		s.findNearest()
	}
}

// place computes the positions of rows, by coordinates shifted so that their squares can be
// added. It reports whether some are too far apart for vector instructions.
func (s *scene) place(table []int32) (wide bool) {
	if len(s.plan.place) == 0 {
		clear(s.places)
		return true
	}
	var beyond int32 // the bits that any coordinate needs
	for row := range s.places {
		at, values := &s.places[row], table[row*s.plan.fields:][:s.plan.fields]
		for k, f := range s.plan.place {
			v := values[f] >> s.plan.coarse
			at[k] = v
			beyond |= v ^ v>>31
		}
		for k := len(s.plan.place); k < maxPlace; k++ {
			at[k] = 0
		}
	}
	return beyond >= 1<<29
}

// findNearest computes nearest with vector instructions.
func (s *scene) findNearest() {
	groups := (len(s.movers) + 3) / 4
	for i := range groups * 4 {
		m := &s.movers[min(i, len(s.movers)-1)] // the last one again changes nothing
		for k, v := range m.at {
			s.lanes[i/4][k][i%4] = int64(v)
		}
	}
	s.nearest = slices.Grow(s.nearest, len(s.places))[:len(s.places)]
	nearestAVX2(&s.nearest[0], &s.places[0], len(s.places), &s.lanes, groups)
}

// distances returns the distances of the nearest mover and of the fastest from a row at a place, in
// half octaves; farthest if none. A row that moved may itself be a mover, which does not
// count.
func (s *scene) distances(row int, at *[maxPlace]int32, moved bool) (nearest, fastest uint32) {
	if len(s.movers) == 0 {
		return farthest, farthest
	}
	if top := &s.movers[s.top]; top.row != row {
		fastest = uint32(bits.Len64(distance2(at, &top.at)))
	}
	if !moved && len(s.nearest) > 0 {
		return uint32(s.nearest[row]), fastest
	}
	best := uint64(1<<63 - 1)
	for i := range s.movers {
		if m := &s.movers[i]; m.row != row {
			best = min(best, distance2(at, &m.at))
		}
	}
	return uint32(bits.Len64(best)), fastest
}

// distance2 returns the square of the distance of two places.
func distance2(a, b *[maxPlace]int32) uint64 {
	x, y, z := int64(a[0])-int64(b[0]), int64(a[1])-int64(b[1]), int64(a[2])-int64(b[2])
	return uint64(x*x + y*y + z*z)
}
