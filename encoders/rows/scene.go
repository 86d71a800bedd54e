package rows

import (
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
)

// noMover is the distance if there are no movers: larger than the bit length of any distance.
const noMover = 64

// maxMovers bounds the number of rows to which distances are computed.
const maxMovers = 24

// A mover is a row that changed in the frame before base.
type mover struct {
	row      int
	position [maxAxes]int32
	speed    uint32 // greatest delta of a coordinate
}

// A scene holds the positions of the rows in base, and the movers.
type scene struct {
	plan             *plan
	positions        [][maxAxes]int32 // position of each row in base
	movers           []mover          // the fastest, at most maxMovers
	fastestIndex     int              // index of the fastest mover; -1 if none
	lanes            moverLanes       // the positions of movers, for the vector routine
	nearestDistance  []uint8          // by row: distance of the nearest mover, which may be the row itself; empty if not computed
	changedPositions [][maxAxes]int32 // positions of the rows that changed in this frame, in order
}

// moverLanes holds the coordinates of movers in groups of four, as the vector routine reads them: it uses only
// the lower 32 bits of each.
type moverLanes [maxMovers / 4][maxAxes][4]int64

// begin computes the positions of all rows in base and collects the movers: of the rows that changed
// with base, the maxMovers fastest. past is the memo of base.
func (s *scene) begin(p *plan, base *frame.Frame, past *memo) {
	s.plan, s.movers, s.fastestIndex = p, s.movers[:0], -1
	s.changedPositions, s.nearestDistance = s.changedPositions[:0], s.nearestDistance[:0]
	s.positions = slices.Grow(s.positions[:0], p.rows)[:p.rows]
	scalarOnly := s.computePositions(base.Table)
	if len(p.position) == 0 {
		return
	}
	slowest := 0 // index of the slowest mover once there are maxMovers: a faster row replaces it
	for n, row := range past.changedRows {
		delta := past.motionAt(n, p.fields).delta
		m := mover{row: int(row), position: s.positions[row]}
		for _, f := range p.position {
			m.speed = max(m.speed, uint32(max(delta[f], -delta[f])))
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
		if s.fastestIndex < 0 || s.movers[i].speed > s.movers[s.fastestIndex].speed {
			s.fastestIndex = i
		}
	}
	if len(s.movers) > 0 && !scalarOnly && hasVectors {
		s.findNearest()
	}
}

// computePositions computes the positions of all rows. Coordinates are shifted so that sums of
// their squares do not overflow. scalarOnly reports that the vector routine cannot be used: some
// coordinates are too large for it, or the rows have no position.
func (s *scene) computePositions(table []int32) (scalarOnly bool) {
	if len(s.plan.position) == 0 {
		clear(s.positions)
		return true
	}
	var usedBits int32 // union of the bits of all coordinates
	for row := range s.positions {
		position, values := &s.positions[row], table[row*s.plan.fields:][:s.plan.fields]
		for k, f := range s.plan.position {
			v := values[f] >> s.plan.positionShift
			position[k] = v
			usedBits |= v ^ v>>31 // the complement of a negative v
		}
		for k := len(s.plan.position); k < maxAxes; k++ {
			position[k] = 0
		}
	}
	return usedBits >= 1<<29
}

// findNearest computes nearestDistance with the vector routine.
func (s *scene) findNearest() {
	groups := (len(s.movers) + 3) / 4
	for i := range groups * 4 {
		m := &s.movers[min(i, len(s.movers)-1)] // the last mover fills the rest of its group
		for k, v := range m.position {
			s.lanes[i/4][k][i%4] = int64(v)
		}
	}
	s.nearestDistance = slices.Grow(s.nearestDistance, len(s.positions))[:len(s.positions)]
	nearestAVX2(&s.nearestDistance[0], &s.positions[0], len(s.positions), &s.lanes, groups)
}

// distances returns the distances of the nearest and of the fastest mover from a row at a position,
// in half octaves (the bit length of the squared distance); noMover without movers. The row itself
// does not count; moved reports whether it may be a mover. fastest is 0 if the row itself is the
// fastest mover.
func (s *scene) distances(row int, position *[maxAxes]int32, moved bool) (nearest, fastest uint32) {
	if len(s.movers) == 0 {
		return noMover, noMover
	}
	if top := &s.movers[s.fastestIndex]; top.row != row {
		fastest = uint32(bits.Len64(squaredDistance(position, &top.position)))
	}
	if !moved && len(s.nearestDistance) > 0 {
		return uint32(s.nearestDistance[row]), fastest
	}
	best := uint64(1<<63 - 1) // the result if the row itself is the only mover
	for i := range s.movers {
		if m := &s.movers[i]; m.row != row {
			best = min(best, squaredDistance(position, &m.position))
		}
	}
	return uint32(bits.Len64(best)), fastest
}

// squaredDistance returns the square of the distance between two positions.
func squaredDistance(a, b *[maxAxes]int32) uint64 {
	x, y, z := int64(a[0])-int64(b[0]), int64(a[1])-int64(b[1]), int64(a[2])-int64(b[2])
	return uint64(x*x + y*y + z*z)
}
