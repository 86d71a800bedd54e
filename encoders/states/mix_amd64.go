//go:build !purego

package states

import processor "golang.org/x/sys/cpu"

// hasVectors: this processor has AVX2.
var hasVectors = processor.X86.HasAVX2

// learnVectors is learnScalar with vector instructions, where inputs that are not used are zero.
func learnVectors(of *[lanes]int16, in *[lanes]int32, top int, wrong int32, chance uint32) {
	learnAVX2(of, in, (top+7)/8, wrong, chance)
}

//go:noescape
func learnAVX2(of *[lanes]int16, in *[lanes]int32, groups int, wrong int32, chance uint32)
