package kinetic

import (
	"math"

	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
)

// memo is the memo of a frame: the motions of the cubes that moved, how long the others
// have been still, and the adaptive weights. It is bounded by the schema: 48 bytes for each
// of at most maxTracks cubes, a byte for each cube, and the weights; 14.7 KB for 901 cubes,
// 131 KB for 10,000.
type memo struct {
	player     cube.Row // in the baseline
	leadFrames uint32   // frames from the baseline to this frame; 0 if unknown
	partFrames uint32   // frames that ages do not count yet, less than six
	mode       forecast.Mode
	tracks     []track
	ages       []uint8 // of each cube, see age
	adaptive   [adaptiveSize]int16
}

// maxTracks bounds the tracked cubes: a quarter of all, but at least 256.
func maxTracks(rows int) int { return min(rows, max(rows/4, 256)) }

// track is the motion of a cube that moved, scaled to six frames, so that the next frame
// may follow at any distance.
type track struct {
	cube       int32
	move       [3]int16 // in units of 1/512 m
	turn       [3]int16 // in units of turnUnit/turnSteps
	speed      [3]int16 // at the frame's end, by the forecast; 1/speedSteps m/s
	spin       [3]int16 // likewise, 1/speedSteps rad/s
	still      uint8    // number of frames with hardly any motion, by the forecast
	touched    uint8    // bits 0..2: contacts with floor, player, cubes, by the forecast; above: class of their number
	residual   [6]int8  // residual of the refined forecast, see pack
	miss       [6]int8  // residual of the forecast: motion and turn
	missBefore [6]int8
}

const (
	turnSteps  = 16
	speedSteps = 1000
	packSteps  = 8 // of a square root
)

// pack quantises the square root of x, which keeps about five bits of it and the sign.
func pack(x float64) int8 {
	root := math.Floor(float64(math.Sqrt(min(math.Abs(x), 252))*packSteps) + 0.5)
	if x < 0 {
		root = -root
	}
	return int8(root)
}

func unpack(r int8) float64 {
	x := float64(r) / packSteps
	return float64(x * math.Abs(x))
}

func packAll(move, turn vec) (r [6]int8) {
	for k := range move {
		r[k], r[3+k] = pack(move[k]), pack(turn[k])
	}
	return r
}

func unpackAll(r *[6]int8) (move, turn vec) {
	for k := range move {
		move[k], turn[k] = unpack(r[k]), unpack(r[3+k])
	}
	return move, turn
}

// toInt16 rounds v times scale to 16 bits.
func toInt16(v vec, scale float64) (s [3]int16) {
	for k := range v {
		s[k] = int16(math.Floor(min(max(float64(v[k]*scale), -math.MaxInt16), math.MaxInt16) + 0.5))
	}
	return s
}

func fromInt16(s [3]int16, scale float64) vec {
	return vec{float64(s[0]) / scale, float64(s[1]) / scale, float64(s[2]) / scale}
}

// age is a cube's history in a byte. Bits 0..4: how long it has been still, in units of
// six frames, at most stillMax. Bits 5..6: how long it had been still before its last
// motion, at most 2. Bit 7: the interacting flag of the frame before.
type age uint8

const stillMax = 31

func (a age) still() int { return int(a & stillMax) }

// before returns how long the cube had been still a step earlier, at most 2.
func (a age) before() int {
	if s := a.still(); s > 0 {
		return min(s-1, 2)
	}
	return int(a >> 5 & 3)
}

func (a age) interacting() int { return int(a >> 7) }

// next returns the age one step later, growth units of six frames after.
func (a age) next(moved bool, growth int, interacting int32) age {
	n := age(0)
	if moved {
		n = age(min(a.still(), 2)) << 5
	} else {
		n = age(min(a.still()+growth, stillMax))
	}
	return n | age(interacting&1)<<7
}

// growth returns the growth of ages over some frames, and the frames left over. These are carried
// to the next step, so that ages do not depend on the number of frames in a step.
func (m *memo) growth(frames uint32) (by int, part uint32) {
	if m != nil {
		frames += m.partFrames
	}
	return int(min(frames/6, stillMax)), frames % 6
}

// age returns that of cube i.
func (m *memo) age(i int) age {
	if m == nil {
		return stillMax
	}
	return age(m.ages[i])
}

// newMemo returns a memo to be written: spare if it is one of ours.
func newMemo(spare any, rows int) *memo {
	m, ok := spare.(*memo)
	if !ok || m == nil || len(m.ages) != rows {
		m = &memo{ages: make([]uint8, rows), tracks: make([]track, 0, min(rows, 256))}
	}
	m.tracks = m.tracks[:0]
	return m
}
