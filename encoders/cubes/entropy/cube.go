package entropy

import (
	"math/bits"

	"wirelab/dataset/frame"
)

// cube is one row of a snapshot, indexed by frame.CubeLargest and so on.
type cube = [frame.CubeFields]int32

// row returns cube i of a snapshot's table.
func row(table []int32, i int) *cube { return (*cube)(table[i*frame.CubeFields:]) }

// The ranges of the schema, in bits.
const (
	largestBits = 2
	smallBits   = 9
	xyBits      = 18
	zBits       = 14
)

// inRange reports whether every field of q is within the schema.
func inRange(q *cube) bool {
	const offset = 1 << (xyBits - 1)
	return uint32(q[frame.CubeLargest])>>largestBits|
		uint32(q[frame.CubeA]|q[frame.CubeB]|q[frame.CubeC])>>smallBits|
		uint32(q[frame.CubeX]+offset)>>xyBits|
		uint32(q[frame.CubeY]+offset)>>xyBits|
		uint32(q[frame.CubeZ])>>zBits|
		uint32(q[frame.CubeInteracting])>>1 == 0
}

// within brings v into the range of coordinate k of the position.
func within(k int, v int32) int32 {
	if k == 2 {
		return min(max(v, 0), 1<<zBits-1)
	}
	return min(max(v, -1<<(xyBits-1)), 1<<(xyBits-1)-1)
}

// sameOrientation reports whether q and p are turned the same way.
func sameOrientation(q, p *cube) bool {
	return q[frame.CubeLargest] == p[frame.CubeLargest] && q[frame.CubeA] == p[frame.CubeA] &&
		q[frame.CubeB] == p[frame.CubeB] && q[frame.CubeC] == p[frame.CubeC]
}

// samePosition reports whether q and p are in the same place.
func samePosition(q, p *cube) bool {
	return q[frame.CubeX] == p[frame.CubeX] && q[frame.CubeY] == p[frame.CubeY] && q[frame.CubeZ] == p[frame.CubeZ]
}

// apart returns the square of the distance between two cubes.
func apart(q, p *cube) uint64 {
	dx, dy, dz := int64(q[frame.CubeX]-p[frame.CubeX]), int64(q[frame.CubeY]-p[frame.CubeY]), int64(q[frame.CubeZ]-p[frame.CubeZ])
	return uint64(dx*dx + dy*dy + dz*dz)
}

// length returns the bits of |v|, at most: 0 for 0, 1 for 1, 2 for 2 and 3.
func length(v int32, most int) int { return min(bits.Len32(uint32(max(v, -v))), most) }

// span returns the length of the longest of three.
func span(v [3]int32, most int) int {
	return length(max(v[0], -v[0])|max(v[1], -v[1])|max(v[2], -v[2]), most)
}

// sign returns 0, 1 or 2 for a negative number, zero and a positive one.
func sign(v int32) int { return 1 + flag(v > 0) - flag(v < 0) }

// flag returns 1 for true.
func flag(v bool) int {
	if v {
		return 1
	}
	return 0
}

// The situations that contexts tell apart.
const (
	idles  = 6  // how long a cube has not changed
	fars   = 12 // distance from the player's cube
	speeds = 12 // lengths of a motion
)

// idleness returns which of the idles n packets without a change are.
func idleness(n uint8) int {
	switch {
	case n < 3:
		return int(n)
	case n < 8:
		return 3
	case n < forever:
		return 4
	}
	return 5
}

// farness returns which of the fars a squared distance is, by half octaves from
// an eighth of a metre.
func farness(d uint64) int { return min(max(bits.Len64(d)-12, 0), fars-1) }
