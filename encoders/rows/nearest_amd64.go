//go:build !purego

package rows

import "golang.org/x/sys/cpu"

// hasVectors reports whether this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// nearestAVX2 sets lengths[i] to the bit length of the squared distance from places[i] to the
// nearest of the first groups of movers. Coordinates are within +-1<<29.
//
//go:noescape
func nearestAVX2(lengths *uint8, places *[maxAxes]int32, count int, movers *moverLanes, groups int)
