package kinetic

import (
	"math"

	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
)

// memo is the memo of a frame: the motions of the cubes that moved, how long the others have been
// still, and the adaptive weights. Its size is bounded by the schema: 48 bytes for each of at most
// maxTracks cubes, a byte for each cube, and the weights; 14.7 KB for 901 cubes, 131 KB for 10,000.
type memo struct {
	basePlayer     cube.Row            // the player in the frame's baseline
	baselineFrames uint32              // frames from the baseline to this frame; 0 if unknown
	leftoverFrames uint32              // 0 to 5 frames that ages do not count yet
	mode           forecast.Mode       // the player's force, as the simulation found it
	tracks         []track             // of the cubes that moved, in the order of coding
	ages           []uint8             // of each cube, see age
	adaptive       [adaptiveSize]int16 // adaptive weights of decisions, in 1/2048 nat
}

// maxTracks bounds the tracked cubes: a quarter of all, but at least 256.
func maxTracks(rows int) int { return min(rows, max(rows/4, 256)) }

// track is the motion of a cube that moved. Motions and residuals are scaled to six frames, so that
// the next frame may be any number of frames later.
type track struct {
	cube        int32    // number of the cube
	move        [3]int16 // in units of 1/512 m
	turn        [3]int16 // rotation vector, in units of turnUnit/turnSteps
	speed       [3]int16 // at this frame, by the refined forecast, in 1/speedSteps m/s; 0 in kinetic-lite
	spin        [3]int16 // at this frame, by the refined forecast, in 1/speedSteps rad/s; 0 in kinetic-lite
	stillFrames uint8    // frames of hardly any motion, by the forecast; 0 in kinetic-lite
	contacts    uint8    // by the forecast; bits 0..2: any with floor, player, cubes; above: log2 class of their number
	// Residuals of position and orientation, see packResidual.
	refinedResidual [6]int8 // of the refined forecast; 0 in kinetic-lite
	residual        [6]int8 // of the prediction that the packet was coded with
	residualBefore  [6]int8 // the residual in the track of the baseline's memo; 0 without one
}

const (
	turnSteps  = 16   // steps of track.turn for each turnUnit
	speedSteps = 1000 // steps for 1 m/s, or for 1 rad/s
	packSteps  = 8    // steps of a packed residual's square root to 1
)

// packResidual quantises a residual to a byte: the square root of its magnitude in 1/packSteps, with
// the sign. So the step is finer for small residuals, and the largest magnitude is 252.
func packResidual(x float64) int8 {
	root := math.Floor(float64(math.Sqrt(min(math.Abs(x), 252))*packSteps) + 0.5)
	if x < 0 {
		root = -root
	}
	return int8(root)
}

// unpackResidual is the inverse of packResidual up to rounding.
func unpackResidual(r int8) float64 {
	x := float64(r) / packSteps
	return float64(x * math.Abs(x))
}

// packResiduals packs the residuals of a motion and of a turn, in this order.
func packResiduals(move, turn vec) (r [6]int8) {
	for k := range move {
		r[k], r[3+k] = packResidual(move[k]), packResidual(turn[k])
	}
	return r
}

// unpackResiduals is the inverse of packResiduals up to rounding.
func unpackResiduals(r *[6]int8) (move, turn vec) {
	for k := range move {
		move[k], turn[k] = unpackResidual(r[k]), unpackResidual(r[3+k])
	}
	return move, turn
}

// toInt16 returns v*scale, rounded to nearest and clamped to 16 bits.
func toInt16(v vec, scale float64) (s [3]int16) {
	for k := range v {
		s[k] = int16(math.Floor(min(max(float64(v[k]*scale), -math.MaxInt16), math.MaxInt16) + 0.5))
	}
	return s
}

// fromInt16 is the inverse of toInt16 up to rounding.
func fromInt16(s [3]int16, scale float64) vec {
	return vec{float64(s[0]) / scale, float64(s[1]) / scale, float64(s[2]) / scale}
}

// age is the history of a cube in a byte. Bits 0..4: how long the cube has been still, in units of
// six frames, at most stillMax; 0 if it moved since the baseline. Bits 5..6, if it moved: how long
// it had been still before, at most 2. Bit 7: the interacting flag of the baseline.
type age uint8

// stillMax is the largest count of an age, and its mask.
const stillMax = 31

// still returns how long the cube has been still, in units of six frames.
func (a age) still() int { return int(a & stillMax) }

// stillBefore returns how long the cube had been still one step earlier, in units of six frames, at most 2.
func (a age) stillBefore() int {
	if s := a.still(); s > 0 {
		return min(s-1, 2)
	}
	return int(a >> 5 & 3) // the cube just moved: bits 5 and 6
}

// interacting returns the interacting flag that the cube had in the baseline of the memo's frame.
func (a age) interacting() int { return int(a >> 7) }

// next returns the age one packet later. moved reports whether the cube moved since the baseline,
// growth is the time since the baseline in units of six frames, interacting the flag in the baseline.
func (a age) next(moved bool, growth int, interacting int32) age {
	n := age(0)
	if moved {
		n = age(min(a.still(), 2)) << 5 // still for 0 units now; bits 5 and 6 hold how long before
	} else {
		n = age(min(a.still()+growth, stillMax))
	}
	return n | age(interacting&1)<<7
}

// ageUnits returns by how many units of six frames ages grow over a number of frames, and the
// frames left over. The next memo carries these, so that an age does not depend on how many frames
// lie between packets. m is the baseline's memo, nil if it has none.
func (m *memo) ageUnits(frames uint32) (units int, leftover uint32) {
	if m != nil {
		frames += m.leftoverFrames // not counted by the ages of m
	}
	return int(min(frames/6, stillMax)), frames % 6
}

// age returns the age of cube i: the largest if m is nil.
func (m *memo) age(i int) age {
	if m == nil {
		return stillMax
	}
	return age(m.ages[i])
}

// newMemo returns an empty memo for a frame of the given number of cubes: spare if it is a memo of
// this size, else a new one. The fields other than tracks are undefined.
func newMemo(spare any, rows int) *memo {
	m, ok := spare.(*memo)
	if !ok || m == nil || len(m.ages) != rows {
		m = &memo{ages: make([]uint8, rows), tracks: make([]track, 0, min(rows, 256))}
	}
	m.tracks = m.tracks[:0]
	return m
}
