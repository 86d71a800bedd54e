// Package cube has the types, field widths, checks and comparisons that all encoders of cube snapshots
// share.
package cube

import (
	"errors"
	"fmt"

	"wirelab/dataset/frame"
)

// Row is one cube of a snapshot, indexed by frame.CubeLargest and so on.
type Row = [frame.CubeFields]int32

// At returns cube i of a snapshot's table.
func At(table []int32, i int) *Row { return (*Row)(table[i*frame.CubeFields:]) }

// Widths of the fields in bits; together 80 bits a cube.
const (
	LargestBits = 2
	SmallBits   = 9
	XYBits      = 18
	ZBits       = 14

	OrientationBits = LargestBits + 3*SmallBits
	PositionBits    = 2*XYBits + ZBits

	XYOffset = 1 << (XYBits - 1) // x+XYOffset and y+XYOffset are not negative
	SmallMax = 1<<SmallBits - 1  // largest value of a smallest-three component
)

// InRange reports whether every field of q is within the schema.
func InRange(q *Row) bool {
	// A number is in range if, as a uint32, it has no 1 above the bits of its field. A negative one has.
	return uint32(q[frame.CubeLargest])>>LargestBits|
		uint32(q[frame.CubeA]|q[frame.CubeB]|q[frame.CubeC])>>SmallBits|
		uint32(q[frame.CubeX]+XYOffset)>>XYBits|
		uint32(q[frame.CubeY]+XYOffset)>>XYBits|
		uint32(q[frame.CubeZ])>>ZBits|
		uint32(q[frame.CubeInteracting])>>1 == 0
}

// Bounds returns the smallest and the largest value of a coordinate; axis is 0, 1 or 2 for x, y or z.
func Bounds(axis int) (low, high int32) {
	if axis == 2 {
		return 0, 1<<ZBits - 1
	}
	return -XYOffset, XYOffset - 1
}

// Errors of cubes.
var (
	// ErrUnchanged marks a cube that a packet lists as changed although it equals the baseline.
	ErrUnchanged = errors.New("listed as changed but equal to the baseline")
	// errSchema marks a schema that is not a cube snapshot.
	errSchema = errors.New("schema is not a cube snapshot")
)

// RangeError returns the error for cube i with fields out of range.
func RangeError(i int, q *Row) error { return fmt.Errorf("cube %d: %w: %v", i, frame.ErrRange, *q) }

// ChangedError returns the error for cube i, q, that was decoded as changed but is out of range or equals the
// baseline. It tests the range to distinguish the two.
func ChangedError(i int, q *Row) error {
	if !InRange(q) {
		return RangeError(i, q)
	}
	return fmt.Errorf("cube %d: %w", i, ErrUnchanged)
}

// CheckSchema returns an error if s is not a cube snapshot.
func CheckSchema(s *frame.Schema) error {
	if !frame.IsCubes(s) {
		return fmt.Errorf("%w: %s", errSchema, s.Name)
	}
	return nil
}

// CheckFrame returns an error if f is not a snapshot of the given number of cubes.
func CheckFrame(f *frame.Frame, rows int) error {
	if cells := rows * frame.CubeFields; len(f.Table) != cells || len(f.Body) != 0 {
		return fmt.Errorf("frame of %d values with a body of %d bytes, expected %d values and no body", len(f.Table), len(f.Body), cells)
	}
	return nil
}

// SameOrientation reports whether the orientations of q and p are equal.
func SameOrientation(q, p *Row) bool {
	return q[frame.CubeLargest] == p[frame.CubeLargest] && q[frame.CubeA] == p[frame.CubeA] &&
		q[frame.CubeB] == p[frame.CubeB] && q[frame.CubeC] == p[frame.CubeC]
}

// SamePosition reports whether the positions of q and p are equal.
func SamePosition(q, p *Row) bool {
	return q[frame.CubeX] == p[frame.CubeX] && q[frame.CubeY] == p[frame.CubeY] && q[frame.CubeZ] == p[frame.CubeZ]
}

// SamePose reports whether the positions and orientations of q and p are equal: all fields before the interacting
// flag, which is the last.
func SamePose(q, p *Row) bool {
	return *(*[frame.CubeInteracting]int32)(q[:]) == *(*[frame.CubeInteracting]int32)(p[:])
}

// Distance2 returns the square of the distance between two cubes, in units of (1/512 m)^2.
func Distance2(q, p *Row) int64 {
	dx, dy, dz := int64(q[frame.CubeX]-p[frame.CubeX]), int64(q[frame.CubeY]-p[frame.CubeY]), int64(q[frame.CubeZ]-p[frame.CubeZ])
	return dx*dx + dy*dy + dz*dz
}

// PackOrientation returns the orientation of q in 29 bits: the index of the largest component in the
// lowest 2, then the other components in 9 each.
func PackOrientation(q *Row) uint32 {
	return uint32(q[frame.CubeLargest]) | uint32(q[frame.CubeA])<<2 | uint32(q[frame.CubeB])<<11 | uint32(q[frame.CubeC])<<20
}

// UnpackOrientation is the inverse of PackOrientation: it sets q's orientation.
func UnpackOrientation(q *Row, v uint32) {
	q[frame.CubeLargest] = int32(v & 3)
	q[frame.CubeA], q[frame.CubeB], q[frame.CubeC] = int32(v>>2&511), int32(v>>11&511), int32(v>>20&511)
}

// Changes is the set of cubes in which a frame differs from its baseline. In a decoder it is empty.
type Changes struct {
	frame.Rows
	own frame.Rows // the memory of Rows, unless the caller of Find supplied the set
}

// Clear makes the set empty, for snapshots of n cubes.
func (c *Changes) Clear(n int) {
	if len(c.own) != (n+63)/64 {
		c.own = frame.NewRows(n)
	}
	c.own.Clear()
	c.Rows = c.own
}

// Find makes c the set of cubes in which two tables differ. known is that set if the caller has it;
// c then refers to it. If known is nil, Find compares the tables, a block of cubes at a time because
// most cubes rest.
func (c *Changes) Find(cur, base []int32, known frame.Rows) {
	const block = 8 * frame.CubeFields
	if known != nil {
		c.Rows = known
		return
	}
	n := len(cur) / frame.CubeFields
	c.Clear(n)
	i := 0
	for ; i+8 <= n; i += 8 {
		a, b := (*[block]int32)(cur[i*frame.CubeFields:]), (*[block]int32)(base[i*frame.CubeFields:])
		if *a != *b {
			c.own[i>>6] |= differingCubes(a[:], b[:]) << (i & 63)
		}
	}
	if i < n {
		c.own[i>>6] |= differingCubes(cur[i*frame.CubeFields:], base[i*frame.CubeFields:]) << (i & 63)
	}
}

// differingCubes returns a bit for each cube that differs between two tables of at most eight cubes.
func differingCubes(cur, base []int32) (bits uint64) {
	for k := range len(cur) / frame.CubeFields {
		if !frame.EqualCubes(At(cur, k), At(base, k)) {
			bits |= 1 << k
		}
	}
	return bits
}

// Bit returns 1 if cube i is in the set, otherwise 0.
func (c *Changes) Bit(i int) int { return int(c.Rows[i>>6] >> (i & 63) & 1) }
