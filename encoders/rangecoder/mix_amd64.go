//go:build !purego

package rangecoder

import "golang.org/x/sys/cpu"

// hasVectors reports whether this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// mixAVX2 is Mixer.codeScalar, except that it does not renormalise: the caller must if the coder's range is below
// minRange. counters points to counter 0 of the model.
//
//go:noescape
func mixAVX2(x *Mixer, counters *StateCounter, w *mixerWeights, bit int, rate int32, random uint32) int

// confidenceBytes and rateBytes are the tables that mixAVX2 looks up: confidences, and the halves of
// stateRates, lower and upper bytes.
//
//lint:ignore U1000 only the assembly reads them
var confidenceBytes, rateBytes = func() (c [16]uint8, r [2][16]uint8) {
	for i := range c {
		c[i] = uint8(confidences[i])
		r[0][i] = uint8(stateRates[i] / 2)
		r[1][i] = uint8(stateRates[i] / 2 >> 8)
	}
	return c, r
}()
