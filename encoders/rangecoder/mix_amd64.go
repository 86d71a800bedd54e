//go:build !purego

package rangecoder

import "golang.org/x/sys/cpu"

// hasVectors: this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// codeVectors is Weights.codeScalar with vector instructions, for a rate other than 0, up to the
// coder's range, which may be too narrow then.
func codeVectors(w *Weights, c *Coder, in *Inputs, bit int, rate int32) int {
	return codeAVX2(w, c, in, bit, rate)
}

// mixVectors is Mix.codeScalar with vector instructions, for three contexts or four, up to the
// coder's range, which may be too narrow then. Inputs after the first four are in extra, the
// lower half first; of three contexts the bias is the fourth input. It returns -1, and has
// done nothing, if two contexts share a counter.
func mixVectors(x *Mix, w *Weights, salt uint32, bit int, extra uint64) int {
	return mixAVX2(x, w, salt, bit, extra)
}

//go:noescape
func codeAVX2(w *Weights, c *Coder, in *Inputs, bit int, rate int32) int

//go:noescape
func mixAVX2(x *Mix, w *Weights, salt uint32, bit int, extra uint64) int
