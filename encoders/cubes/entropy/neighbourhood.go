package entropy

import (
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// surroundings tells cubes that were coded about those still to come: first the
// player's cube, then the others by their distance from it, so that what it
// touches is known before what is touched in turn.
type neighbourhood struct {
	order []int32 // rows as they are coded
	coded []neighbour
	grid  [cells]int32 // by cell: one more than the index in coded of the latest there
	used  []int32      // cells that are not empty
}

// neighbour is a changed cube that was coded.
type neighbour struct {
	base     *cube.Row
	shift    [3]int32
	miss     [3]int32 // by how much it was off what was predicted
	turnMiss [3]int32 // the same of its turn, about each axis, see spinOne
	off      int      // length of the largest step by which its orientation was off
}

const (
	cells     = 4096
	cellShift = 8         // half a metre: a cube and a bit
	reach     = 600 * 600 // beyond it nobody is a neighbour
	rings     = 128       // of distance from the player
)

// ring returns which of the rings a squared distance falls in: eight to each
// doubling of distance.
func ring(d uint64) int {
	d >>= 8
	n := bits.Len64(d)
	if n <= 3 {
		return int(d)
	}
	return min((n-2)*4+int(d>>(n-3)&3), rings-1)
}

// begin puts the cubes in order and forgets those of the last packet.
func (s *neighbourhood) begin(base *frame.Frame, rows int) {
	player := cube.At(base.Table, 0)
	var start [rings + 1]int32
	for i := range rows {
		start[ring(distance2(cube.At(base.Table, i), player))+1]++
	}
	for k := range rings {
		start[k+1] += start[k]
	}
	s.order = slices.Grow(s.order[:0], rows)[:rows]
	for i := range rows { // in each ring by row: the player's, 0, is first of all
		k := ring(distance2(cube.At(base.Table, i), player))
		s.order[start[k]] = int32(i)
		start[k]++
	}
	for _, at := range s.used {
		s.grid[at] = 0
	}
	s.coded, s.used = s.coded[:0], s.used[:0]
}

// cell returns where in the grid a place is. Cells that are far apart share a
// place in it now and then, which does no harm: the distance is looked at.
func cell(x, y int32) int32 { return ((x>>cellShift)*71 + (y>>cellShift)*1009) & (cells - 1) }

// nearest returns the nearest of the latest in the cell of b and in those around
// it, nil if there is none, and the squared distance.
func (s *neighbourhood) nearest(b *cube.Row) (best *neighbour, d uint64) {
	d = reach
	for dx := int32(-1); dx <= 1; dx++ {
		for dy := int32(-1); dy <= 1; dy++ {
			at := s.grid[cell(b[frame.CubeX]+dx<<cellShift, b[frame.CubeY]+dy<<cellShift)]
			if at == 0 {
				continue
			}
			n := &s.coded[at-1]
			if near := distance2(n.base, b); near < d {
				best, d = n, near
			}
		}
	}
	return best, d
}

// add returns the entry of a cube that is being coded, to be filled in. It holds
// until the next call.
func (s *neighbourhood) add(b *cube.Row) *neighbour {
	s.coded = append(s.coded, neighbour{base: b})
	at := cell(b[frame.CubeX], b[frame.CubeY])
	s.grid[at] = int32(len(s.coded))
	s.used = append(s.used, at)
	return &s.coded[len(s.coded)-1]
}
