package rows

import "math/bits"

const (
	maxAxes = 3
	// maxMovers bounds the number of rows to which distances are computed.
	maxMovers = 4
	// noMover is the distance without movers: larger than the bit length of any distance.
	noMover = 64
)

// A position is a point in the units of its fields. Coordinates beyond the last axis are 0.
type position [maxAxes]int32

// A mover is a row that changed in the frame before the one being coded.
type mover struct {
	row   int
	at    position // in the baseline
	speed uint32   // greatest change of a coordinate
}

// A scene holds the fastest rows of a table whose rows have positions. Rows near them are more likely to
// change.
type scene struct {
	*plan
	movers []mover // at most maxMovers
}

// begin collects the movers: of the rows that changed with base, the fastest.
func (s *scene) begin(base []int32, past *memo) {
	s.movers = s.movers[:0]
	for _, row := range past.changedRows {
		m := mover{row: int(row), at: s.positionOf(base, int(row)), speed: s.speedOf(base, int(row), past)}
		if len(s.movers) < maxMovers {
			s.movers = append(s.movers, m)
			continue
		}
		slowest := 0
		for i := range s.movers {
			if s.movers[i].speed < s.movers[slowest].speed {
				slowest = i
			}
		}
		if m.speed > s.movers[slowest].speed {
			s.movers[slowest] = m
		}
	}
}

// positionOf returns the position of a row. Coordinates are shifted so that sums of their squares do not
// overflow.
func (p *plan) positionOf(table []int32, row int) (at position) {
	values := table[row*p.fields:][:p.fields]
	for axis, k := range p.position {
		at[axis] = values[k] >> p.positionShift
	}
	return at
}

// speedOf returns the greatest change of a coordinate with base, in its units; 0 for a row without a slot.
func (p *plan) speedOf(base []int32, row int, past *memo) (speed uint32) {
	n := int(past.slotOf[row]) - 1
	if n < 0 {
		return 0
	}
	cells := past.slotCells(n, &p.parts[0])
	for _, k := range p.position {
		if h := &cells[k-p.parts[0].firstField]; h.changes&1 != 0 {
			change := int64(base[row*p.fields+k]) - int64(h.old)
			speed = max(speed, uint32(abs(change)))
		}
	}
	return speed
}

// nearest returns the distance of the nearest mover from a row, apart from the row itself, in half octaves:
// the bit length of the squared distance; noMover without movers.
func (s *scene) nearest(base []int32, row int) uint32 {
	if len(s.movers) == 0 {
		return noMover
	}
	at := s.positionOf(base, row)
	least := uint64(1<<63 - 1) // the result if the row itself is the only mover
	for i := range s.movers {
		if m := &s.movers[i]; m.row != row {
			least = min(least, squaredDistance(&at, &m.at))
		}
	}
	return uint32(bits.Len64(least))
}

// squaredDistance returns the square of the distance between two positions.
func squaredDistance(a, b *position) (sum uint64) {
	for axis, v := range a {
		d := int64(v) - int64(b[axis])
		sum += uint64(d * d)
	}
	return sum
}
