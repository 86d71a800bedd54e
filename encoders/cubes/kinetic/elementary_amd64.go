//go:build !purego

package kinetic

import "golang.org/x/sys/cpu"

// hasVectors: this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// expsAVX2 is exps for groups of four.
//
//go:noescape
func expsAVX2(x *float64, groups int, constants *[4 + 1 + len(inverseFactorials)]float64)

// tailsAVX2 is logisticTails for groups of four.
//
//go:noescape
func tailsAVX2(x *float64, groups int)

// abovesAVX2 is mixture.above of four points at once.
//
//go:noescape
func abovesAVX2(sums *[4]float64, weight, mean, sharp *[components]float64, x *[4]float64)

// belowsAVX2 is mixture.below of four points at once.
//
//go:noescape
func belowsAVX2(sums *[4]float64, weight, mean, sharp *[components]float64, x *[4]float64)
