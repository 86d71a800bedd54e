//go:build !purego

package kinetic

import "golang.org/x/sys/cpu"

// hasAVX2 reports whether the processor has AVX2.
var hasAVX2 = cpu.X86.HasAVX2

// expsAVX2 replaces each of the 4*groups numbers at x by exp of it. constants is expConstants.
//
//go:noescape
func expsAVX2(x *float64, groups int, constants *[4 + 1 + len(inverseFactorials)]float64)

// tailsAVX2 replaces each of the 4*groups numbers at x by logisticTail of it.
//
//go:noescape
func tailsAVX2(x *float64, groups int)

// aboveAVX2 sets sums to mixture.above at the four points x.
//
//go:noescape
func aboveAVX2(sums *[4]float64, weight, mean, invScale *[components]float64, x *[4]float64)

// belowAVX2 sets sums to mixture.below at the four points x.
//
//go:noescape
func belowAVX2(sums *[4]float64, weight, mean, invScale *[components]float64, x *[4]float64)
