//go:build !amd64 || purego

package kinetic

const hasVectors = false

func expsAVX2(*float64, int, *[4 + 1 + len(inverseFactorials)]float64) {}

func tailsAVX2(*float64, int) {}

func abovesAVX2(*[4]float64, *[components]float64, *[components]float64, *[components]float64, *[4]float64) {
}

func belowsAVX2(*[4]float64, *[components]float64, *[components]float64, *[components]float64, *[4]float64) {
}
