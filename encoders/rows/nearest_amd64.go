//go:build !purego

package rows

import "golang.org/x/sys/cpu"

// hasVectors: this processor has AVX2.
var hasVectors = cpu.X86.HasAVX2

// nearestVectors sets each length to that of the square of the distance from a place to the
// nearest of the first groups of movers. Coordinates are within 1<<29.
func nearestVectors(lengths []uint8, places [][maxPlace]int32, movers *lanes, groups int) {
	nearestAVX2(&lengths[0], &places[0], len(places), movers, groups)
}

//go:noescape
func nearestAVX2(lengths *uint8, places *[maxPlace]int32, count int, movers *lanes, groups int)
