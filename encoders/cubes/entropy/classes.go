package entropy

import (
	"math/bits"

	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

// clampCoordinate clamps v to the range of coordinate k of the position.
func clampCoordinate(k int, v int32) int32 {
	low, high := cube.Bounds(k)
	return min(max(v, low), high)
}

// distance2 returns the square of the distance between two cubes.
func distance2(q, p *cube.Row) uint64 { return uint64(cube.Distance2(q, p)) }

// length returns the number of bits of |v|, at most most.
func length(v int32, most int) int { return min(bits.Len32(uint32(max(v, -v))), most) }

// span returns the length of the longest component.
func span(v [3]int32, most int) int {
	return length(max(v[0], -v[0])|max(v[1], -v[1])|max(v[2], -v[2]), most)
}

// sign returns 0, 1 or 2 for a negative number, zero and a positive one.
func sign(v int32) int { return 1 + rangecoder.Flag(v > 0) - rangecoder.Flag(v < 0) }

// Numbers of classes for contexts.
const (
	idleClasses     = 6  // of packets without a change
	distanceClasses = 12 // distance from the player's cube
	speeds          = 12 // lengths of a motion
)

// idleClass returns the class of n packets without a change.
func idleClass(n uint8) int {
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

// distanceClass returns the class of a squared distance, two to each doubling, from an
// eighth of a metre.
func distanceClass(d uint64) int { return min(max(bits.Len64(d)-12, 0), distanceClasses-1) }
