//go:build !purego

package rangecoder

import "golang.org/x/sys/cpu"

// hasVectors reports whether this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// codeAVX2 is Weights.codeScalar for a rate other than 0, except that it does not renormalise: the
// caller must if the coder's range is below minRange.
//
//go:noescape
func codeAVX2(w *Weights, c *Coder, in *inputs, bit int, rate int32) int

// mixAVX2 is Mixer.codeScalar for three or four contexts, except that it does not renormalise: the
// caller must if the coder's range is below minRange. extra holds the inputs after the first four,
// the first in the lower half; with three contexts the bias is the fourth input. It returns -1 and
// has no effect if two contexts share a counter.
//
//go:noescape
func mixAVX2(x *Mixer, w *Weights, salt uint32, bit int, extra uint64) int

// learnAVX2 is learnScalar for groups of eight inputs, of which unused ones are zero.
//
//go:noescape
func learnAVX2(weights *[maxStateInputs]int16, in *[maxStateInputs]int32, groups int, errScaled int32, rnd uint32)
