package endpoint

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// Encoding is a codec with its params, ready to run.
type Encoding struct {
	Codec     *encoders.Codec
	Params    any // as Codec.Defaults returns them, with values set
	Encoder   encoders.Encoder
	Canonical []byte // the params in their wire format
}

// NewEncoding makes the encoder and checks the params. Beginning an epoch with the
// result cannot fail.
func NewEncoding(s *frame.Schema, codec *encoders.Codec, params any) (Encoding, error) {
	enc, _, err := codec.New(s, params)
	if err != nil {
		return Encoding{}, fmt.Errorf("encoder %s: %w", codec.Name, err)
	}
	canonical := codec.Canonical(params)
	if len(canonical) > encoders.MaxCanonical {
		return Encoding{}, fmt.Errorf("encoder %s: params take %d bytes, at most %d travel", codec.Name, len(canonical),
			encoders.MaxCanonical)
	}
	return Encoding{codec, params, enc, canonical}, nil
}

// Options are what either endpoint is configured with.
type Options struct {
	History int     // frames kept, 1 to frame.MaxHistory
	Cadence Cadence // zero: every frame of the source is sent
	// DigestBits, of 8, 16, 24 or 32: with every ack the receiver reports a digest of the
	// newest frame that it decoded, and a sender whose frame is another starts over from
	// the initial state. Both ends must be set alike. 0: no digests.
	DigestBits int
	// Trusting: digests do not cover the sequence, and no packet has it in full. Sessions whose
	// reports have no digest_version were like that, and are so again in a replay.
	Trusting bool
	Probe    drive.Probe // nil: none
	// Defer: Send and Receive leave work that the packet or the frame does not need to Finish,
	// which the caller calls once the packet is sent or the frame shown.
	Defer bool
}

// cadence returns the cadence, or that of a sender that sends every frame.
func (o *Options) cadence() Cadence {
	if o.Cadence == (Cadence{}) {
		return everyFrame
	}
	return o.Cadence
}

// end returns an end with that history.
func (o *Options) end(s *frame.Schema, initial *frame.Frame, h *frame.History) drive.End {
	end := drive.NewEnd(s, initial, h)
	end.Probe, end.Defer = o.Probe, o.Defer
	return end
}
