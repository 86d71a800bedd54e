package entropy

import (
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// neighbourhood orders the cubes and finds coded neighbours. The player's cube comes
// first, then the others by distance from it, so that a cube that is pushed follows the
// one that pushes.
type neighbourhood struct {
	order []int32 // rows in coding order
	rings []uint8 // by row: of distance from the player
	far   []uint8 // by row: class of that distance
	coded []neighbour
	grid  [cells]int32       // by cell: 1 + the index in coded of the last cube there
	near  [cells / 64]uint64 // by cell: whether a cube is in it or around it
	used  []int32            // cells that are not empty
}

// neighbour is a changed cube that was coded.
type neighbour struct {
	base     *cube.Row
	shift    [3]int32
	miss     [3]int32 // residual of the shift
	turnMiss [3]int32 // residual of the turn about each axis, see spinOne
	off      int      // length of the largest residual of its orientation
}

const (
	cells     = 4096
	cellShift = 8         // half a metre: a cube and a bit
	reach     = 600 * 600 // the largest squared distance of a neighbour
	rings     = 128       // of distance from the player
)

// ring returns the ring of a squared distance: eight to each doubling of distance.
func ring(d uint64) int {
	d >>= 8
	n := bits.Len64(d)
	if n <= 3 {
		return int(d)
	}
	return min((n-2)*4+int(d>>(n-3)&3), rings-1)
}

// begin orders the cubes and clears the grid.
func (s *neighbourhood) begin(base *frame.Frame, rows int) {
	player := cube.At(base.Table, 0)
	s.order = slices.Grow(s.order[:0], rows)[:rows]
	s.rings = slices.Grow(s.rings[:0], rows)[:rows]
	s.far = slices.Grow(s.far[:0], rows)[:rows]
	var start [rings + 1]int32
	for i := range s.rings {
		d := distance2(cube.At(base.Table, i), player)
		k := ring(d)
		s.rings[i], s.far[i] = uint8(k), uint8(distanceClass(d))
		start[k+1]++
	}
	for k := range rings {
		start[k+1] += start[k]
	}
	for i, k := range s.rings { // in each ring by row: the player's, 0, is first of all
		s.order[start[k]] = int32(i)
		start[k]++
	}
	for _, at := range s.used {
		s.grid[at] = 0
	}
	clear(s.near[:])
	s.coded, s.used = s.coded[:0], s.used[:0]
}

// cell returns the cell of a place. Distant places may share one, so the distance is
// checked.
func cell(x, y int32) int32 { return ((x>>cellShift)*71 + (y>>cellShift)*1009) & (cells - 1) }

// around holds the differences of the nine cells around a place from its own: cell of -1, 0 or 1 cells
// along either axis, modulo cells.
var around = [9]int32{-1080, -71, 938, -1009, 0, 1009, -938, 71, 1080}

// nearest returns the nearest of the last cubes in the nine cells around b, nil if none,
// and its squared distance.
func (s *neighbourhood) nearest(b *cube.Row) (best *neighbour, d uint64) {
	d = reach
	here := cell(b[frame.CubeX], b[frame.CubeY])
	if s.near[here>>6]>>(here&63)&1 == 0 {
		return nil, d
	}
	for _, by := range around {
		at := s.grid[(here+by)&(cells-1)]
		if at == 0 {
			continue
		}
		n := &s.coded[at-1]
		if near := distance2(n.base, b); near < d {
			best, d = n, near
		}
	}
	return best, d
}

// add returns a new entry for the cube being coded, valid until the next call.
func (s *neighbourhood) add(b *cube.Row) *neighbour {
	s.coded = append(s.coded, neighbour{base: b})
	at := cell(b[frame.CubeX], b[frame.CubeY])
	s.grid[at] = int32(len(s.coded))
	s.used = append(s.used, at)
	for _, by := range around {
		near := (at + by) & (cells - 1)
		s.near[near>>6] |= 1 << (near & 63)
	}
	return &s.coded[len(s.coded)-1]
}
