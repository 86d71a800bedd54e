//go:build !purego

package rangecoder

import "golang.org/x/sys/cpu"

// hasVectors: this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// updateVectors is updateScalar with vector instructions.
func updateVectors(w *Weights, in *Inputs, wrong int32) { updateAVX2(w, in, wrong) }

// mixVectors is codeScalar with vector instructions, for three contexts or four, up to the
// coder's range, which may be too narrow then. Inputs after the first four are in extra, the
// lower half first; of three contexts the bias is the fourth input. It returns -1, and has
// done nothing, if two contexts share a counter.
func mixVectors(x *Mix, w *Weights, salt uint32, bit int, extra uint64) int {
	return mixAVX2(x, w, salt, bit, extra)
}

//go:noescape
func updateAVX2(w *Weights, in *Inputs, wrong int32)

//go:noescape
func mixAVX2(x *Mix, w *Weights, salt uint32, bit int, extra uint64) int
