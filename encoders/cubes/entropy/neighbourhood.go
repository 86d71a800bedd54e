package entropy

import (
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// neighbourhood orders the cubes of a frame and finds coded neighbours of a cube. The player comes
// first, then the others by distance from it, so that a cube that is pushed follows the cube that
// pushes it.
type neighbourhood struct {
	order           []int32               // rows in the order of coding
	rings           []uint8               // of each row: ring of its distance from the player
	distanceClasses []uint8               // of each row: distanceClass of that distance
	coded           []neighbour           // changed cubes that are coded, in the order of coding
	grid            [numCells]int32       // of each cell: 1 + the index in coded of the last cube added; 0 if empty
	occupiedNear    [numCells / 64]uint64 // a bit for each cell: it or a cell around it has a cube
	usedCells       []int32               // cells that are not empty
}

// neighbour is a changed cube that was coded.
type neighbour struct {
	base            *cube.Row // the cube's row in the baseline
	shift           [3]int32  // change of x, y and z since the baseline
	residual        [3]int32  // the shift minus its prediction
	turnResidual    [3]int32  // of the turn, a rotation vector in units of 1/turnUnit
	maxTurnResidual int       // bit length of the largest residual of its orientation
}

const (
	numCells     = 4096
	cellShift    = 8         // a cell is 256 units wide: 0.5 m; a cube is 0.4 m wide
	maxDistance2 = 600 * 600 // the squared distance in units of 1/512 m below which cubes are neighbours
	numRings     = 128       // values of ring
)

// ring returns the ring, a fine class, of d, a squared distance from the player: eight rings for each
// factor of two of the distance, and so four for each factor of two of d.
func ring(d uint64) int {
	d >>= 8 // the square of the distance in steps of 16 units
	n := bits.Len64(d)
	if n <= 3 { // near the player each step of d is a ring
		return int(d)
	}
	return min((n-2)*4+int(d>>(n-3)&3), numRings-1)
}

// begin orders the cubes of a frame by their rings, fine classes of the distance from the player in the
// baseline, and clears the grid. It is a counting sort, so cubes of the same ring stay in the order of rows.
func (s *neighbourhood) begin(base *frame.Frame, rows int) {
	player := cube.At(base.Table, 0)
	s.order = slices.Grow(s.order[:0], rows)[:rows]
	s.rings = slices.Grow(s.rings[:0], rows)[:rows]
	s.distanceClasses = slices.Grow(s.distanceClasses[:0], rows)[:rows]
	var start [numRings + 1]int32 // of each ring: the index in order of its next cube; at first the counts
	for i := range s.rings {
		d := distance2(cube.At(base.Table, i), player)
		k := ring(d)
		s.rings[i], s.distanceClasses[i] = uint8(k), uint8(distanceClass(d))
		start[k+1]++
	}
	for k := range numRings {
		start[k+1] += start[k]
	}
	for i, k := range s.rings { // row 0, the player, is the first of ring 0
		s.order[start[k]] = int32(i)
		start[k]++
	}
	for _, cell := range s.usedCells {
		s.grid[cell] = 0
	}
	clear(s.occupiedNear[:])
	s.coded, s.usedCells = s.coded[:0], s.usedCells[:0]
}

// cellIndex returns the cell of a position, by a hash. Distant positions may share a cell, so a search
// has to check the distance.
func cellIndex(x, y int32) int32 { return ((x>>cellShift)*71 + (y>>cellShift)*1009) & (numCells - 1) }

// neighbourCells are the offsets of the 3x3 cells around a position from its own cell, modulo
// numCells: cellIndex is linear, and a step of one cell adds 71 along x and 1009 along y.
var neighbourCells = [9]int32{-1080, -71, 938, -1009, 0, 1009, -938, 71, 1080}

// nearest returns the coded cube nearest to b, of those that were added last to each of the 3x3
// cells around b, and its squared distance. It returns nil and maxDistance2 if none is near.
func (s *neighbourhood) nearest(b *cube.Row) (best *neighbour, bestDistance2 uint64) {
	bestDistance2 = maxDistance2
	here := cellIndex(b[frame.CubeX], b[frame.CubeY])
	if s.occupiedNear[here>>6]>>(here&63)&1 == 0 {
		return nil, bestDistance2
	}
	for _, offset := range neighbourCells {
		index := s.grid[(here+offset)&(numCells-1)]
		if index == 0 {
			continue
		}
		n := &s.coded[index-1]
		if distance := distance2(n.base, b); distance < bestDistance2 {
			best, bestDistance2 = n, distance
		}
	}
	return best, bestDistance2
}

// addCube adds the cube that is being coded and returns its entry, which the caller fills in. The
// entry is valid until the next call.
func (s *neighbourhood) addCube(b *cube.Row) *neighbour {
	s.coded = append(s.coded, neighbour{base: b})
	here := cellIndex(b[frame.CubeX], b[frame.CubeY])
	s.grid[here] = int32(len(s.coded))
	s.usedCells = append(s.usedCells, here)
	for _, offset := range neighbourCells {
		near := (here + offset) & (numCells - 1)
		s.occupiedNear[near>>6] |= 1 << (near & 63)
	}
	return &s.coded[len(s.coded)-1]
}
