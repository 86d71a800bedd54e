// Package hostile makes damaged packets for tests of decoders and checks the results. It is for
// tests only.
package hostile

import (
	"errors"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Forged returns the beginning of a packet, of which up to three bytes are any.
func Forged(rng *rand.Rand, packet []byte) []byte {
	forged := append([]byte(nil), packet[:rng.IntN(len(packet)+1)]...)
	for range rng.IntN(4) {
		if len(forged) > 0 {
			forged[rng.IntN(len(forged))] = byte(rng.Uint32())
		}
	}
	return forged
}

// Wrong returns what is wrong with a decoder's answer to bytes that no encoder wrote: nothing with
// a frame of the schema, and nothing with an error that says so.
func Wrong(s *frame.Schema, got *frame.Frame, err error) error {
	switch {
	case err == nil:
		return s.Check(got)
	case errors.Is(err, encoders.ErrTruncated) || errors.Is(err, encoders.ErrCorrupt):
		return nil
	}
	return err
}
