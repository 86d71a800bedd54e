//go:build !purego

package rangecoder

import "golang.org/x/sys/cpu"

// hasVectors: this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// updateVectors is updateScalar with vector instructions.
func updateVectors(w *Weights, in *Inputs, wrong int32) { updateAVX2(w, in, wrong) }

//go:noescape
func updateAVX2(w *Weights, in *Inputs, wrong int32)
