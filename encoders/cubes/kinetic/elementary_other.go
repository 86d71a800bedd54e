//go:build !amd64 || purego

package kinetic

// hasAVX2 is false: this build has no vector routines, and the functions below are never called.
const hasAVX2 = false

func expsAVX2(*float64, int, *[4 + 1 + len(inverseFactorials)]float64) {}

func tailsAVX2(*float64, int) {}

func aboveAVX2(*[4]float64, *[components]float64, *[components]float64, *[components]float64, *[4]float64) {
}

func belowAVX2(*[4]float64, *[components]float64, *[components]float64, *[components]float64, *[4]float64) {
}
