package walkoff

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// Delay is the distance in frames from a snapshot to its baseline. At 60 Hz it is the tenth of a
// second that the walk-off assumes for a round trip.
const Delay = 6

// BaselineAge is the age of the baseline in frames: frame n is encoded against frame n-BaselineAge.
type BaselineAge int

// GameBaseline selects the frame that the game itself used as baseline, which is known for demos.
const GameBaseline BaselineAge = -1

// MaxBaselineAge is the maximum age of a baseline: the largest distance in a packet header.
const MaxBaselineAge = frame.MaxHistory

// newPair returns an encoder and a decoder with the given parameters, and with histories long enough for
// baselines of age back.
func newPair(codec *encoders.Codec, params any, s *frame.Schema, initial *frame.Frame,
	back BaselineAge) (*drive.Pair, error) {
	historyLength := int(back)
	if back == GameBaseline {
		historyLength = MaxBaselineAge
	}
	return drive.NewPair(codec, params, s, initial, historyLength)
}

// refsFor returns the only reference of frame n: frame n-back, with the memo that endpoint e has for it. The
// reference is the initial state if n-back is below Delay, because frames 0 to Delay-1 are copies of the
// initial state, and if back is 0, which means that frame n has no baseline.
func refsFor(e *drive.End, n, back int) []encoders.Ref {
	if back == 0 || n-back < Delay {
		return e.Initial(uint32(max(n-back, 0)))
	}
	return e.RefsTo(uint64(n - back))
}
