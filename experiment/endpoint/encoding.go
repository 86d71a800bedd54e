package endpoint

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
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

// Probe is called before and after each call of a codec, to time or to observe it. It
// must neither keep nor modify its arguments.
type Probe interface {
	// Begin is called right before the codec. cur is the frame to encode, nil at a
	// receiver; refs are the references, newest first.
	Begin(cur *frame.Frame, refs []encoders.Ref)
	// End is called right after the codec.
	End()
}

// noProbe does nothing.
type noProbe struct{}

func (noProbe) Begin(*frame.Frame, []encoders.Ref) {}
func (noProbe) End()                               {}

// Options are what either endpoint is configured with.
type Options struct {
	History int     // frames kept, 1 to frame.MaxHistory
	Cadence Cadence // zero: every frame of the source is sent
	// DigestBits, of 8, 16, 24 or 32: with every ack the receiver reports a digest of the
	// newest frame that it decoded, and a sender whose frame is another starts over from
	// the initial state. Both ends must be set alike. 0: no digests.
	DigestBits int
	// Trusting: digests do not cover the sequence, and no packet says it in full. Sessions
	// whose reports have no digest_version were like that, and are so again in a replay.
	Trusting bool
	Probe    Probe // nil: nobody watches
	// Defer: Send and Receive leave what need not come before the packet or the frame to
	// Finish, which the caller calls once the one is sent or the other shown.
	Defer bool
}

// filled returns o with defaults for the fields that are not set.
func (o Options) filled() Options {
	if o.Cadence == (Cadence{}) {
		o.Cadence = everyFrame
	}
	if o.Probe == nil {
		o.Probe = noProbe{}
	}
	return o
}
