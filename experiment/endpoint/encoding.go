package endpoint

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
	"wirelab/experiment/view"
)

// Encoding is an encoder with its codec and parameters. Create it with NewEncoding. An Encoding has
// state and must not be used by two senders.
type Encoding struct {
	Codec     *encoders.Codec
	Params    any // of the type that Codec.Defaults returns
	Encoder   encoders.Encoder
	Canonical []byte // canonical parameters: the form that packets contain
}

// NewEncoding creates an encoder of codec for frames of schema s. params must have the type that
// codec.Defaults returns. It returns an error if the parameters are invalid, or if the codec cannot
// encode such frames.
func NewEncoding(s *frame.Schema, codec *encoders.Codec, params any) (Encoding, error) {
	enc, _, err := codec.New(s, params)
	if err != nil {
		return Encoding{}, fmt.Errorf("encoder %s: %w", codec.Name, err)
	}
	canonical := codec.Canonical(params)
	if len(canonical) > encoders.MaxCanonical {
		return Encoding{}, fmt.Errorf("encoder %s: canonical parameters take %d bytes, expected at most %d", codec.Name, len(canonical),
			encoders.MaxCanonical)
	}
	return Encoding{codec, params, enc, canonical}, nil
}

// Options configure an endpoint. Cadence must be the same at both endpoints.
type Options struct {
	// History is the number of newest frames that the endpoint stores: 1 to frame.MaxHistory. Only
	// these can be references. A receiver may have 0 if all packets contain view frames: it stores no frames,
	// and Receiver.View has the display.
	History int

	// Cadence relates sequence numbers to ticks. The zero value means a packet for every tick.
	Cadence Cadence

	// Probe is called around each call of the encoder or decoder; nil means none.
	Probe drive.Probe

	// Filler chooses the rows of the packets of several senders that have a budget and are used by one
	// goroutine. The caller sets its policy, weights, interest and probe, and calls Advance with each frame
	// before Send and Hold. nil means that the sender has a filler of its own.
	Filler *view.Filler

	// KeepSent makes a sender keep the packets of its history, so that Sender.Trace can describe them.
	KeepSent bool

	// Defer makes Send and Receive leave work that their result does not depend on to Finish. The
	// caller calls Finish after it has transmitted the packet or displayed the frame.
	Defer bool
}

// cadence returns the configured cadence, or sendEveryFrame for the zero value.
func (o *Options) cadence() Cadence {
	if o.Cadence == (Cadence{}) {
		return sendEveryFrame
	}
	return o.Cadence
}

// newCoder returns the state that calls the codec, with history h and the options of o.
func (o *Options) newCoder(s *frame.Schema, initial *frame.Frame, h *frame.History) drive.End {
	coder := drive.NewEnd(s, initial, h)
	coder.Probe, coder.Defer = o.Probe, o.Defer
	return coder
}
