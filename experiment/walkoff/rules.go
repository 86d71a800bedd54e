package walkoff

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// Delay is the distance in frames from a snapshot to its baseline. At 60 Hz it is the tenth of a
// second that the walk-off assumes for a round trip.
const Delay = 6

// Back is how many frames before each frame its baseline lies.
type Back int

// Own is the frame that the game itself referred to when it sent the frame, where a demo has it.
const Own Back = -1

// MaxBack is the most frames that a baseline lies back: the largest distance in a packet header.
const MaxBack = frame.MaxHistory

// newPair returns new ends of a codec with its default params, that keep the frames back needs.
func newPair(codec *encoders.Codec, s *frame.Schema, initial *frame.Frame, back Back) (*drive.Pair, error) {
	n := int(back)
	if back == Own {
		n = MaxBack
	}
	return drive.NewPair(codec, codec.Defaults(), s, initial, n)
}

// refs returns the references for frame n at one end: the frame that many before it. Before frame
// 6, and for 0, that is the initial state.
func refs(e *drive.End, n, back int) []encoders.Ref {
	if back == 0 || n-back < Delay {
		return e.Initial(uint32(max(n-back, 0)))
	}
	return e.To(uint64(n - back))
}
