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
