// Package hostile makes corrupt packets for tests of decoders and checks the results.
package hostile

import (
	"errors"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Forge returns a random prefix of packet, with up to three bytes replaced by random ones.
func Forge(rng *rand.Rand, packet []byte) []byte {
	forged := append([]byte(nil), packet[:rng.IntN(len(packet)+1)]...)
	for range rng.IntN(4) {
		if len(forged) > 0 {
			forged[rng.IntN(len(forged))] = byte(rng.Uint32())
		}
	}
	return forged
}

// CheckDecode checks the result of decoding a corrupt packet. It returns nil if err is nil and the frame is within
// the schema, or if err wraps ErrTruncated or ErrCorrupt. Otherwise it returns an error.
func CheckDecode(s *frame.Schema, got *frame.Frame, err error) error {
	switch {
	case err == nil:
		return s.Check(got)
	case errors.Is(err, encoders.ErrTruncated) || errors.Is(err, encoders.ErrCorrupt):
		return nil
	}
	return err
}
