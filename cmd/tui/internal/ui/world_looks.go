package ui

import (
	"math"

	"wirelab/experiment/engine"
)

// levels are the shades of each kind of cube, from the floor up: the higher the
// brighter.
const levels = 4

// level is the shade of a cube whose centre is z metres higher than it would be if
// the cube lay flat on the floor.
func level(z float32) int {
	for i, above := range [levels - 1]float32{0.25, 0.8, 1.8} {
		if z < above {
			return i
		}
	}
	return levels - 1
}

// Ranks of what may share a cell.
const (
	rankGround = iota
	rankRest
	rankTouched
	rankPlayer
)

// kindLooks draws each cube as what it is: at rest, of those that the player has
// to do with, or the player.
func kindLooks(poses []engine.Pose) func(int) look {
	return func(i int) look {
		n := level(poses[i].Z - halfOf(i))
		k := ink(n)
		switch {
		case i == 0:
			return look{inkPlayer + k, rankPlayer, true, '▒', '@'}
		case poses[i].Interacting:
			return look{inkTouched + k, rankTouched, true, 0, rune("oo00"[n])}
		}
		return look{inkRest + k, rankRest, false, 0, rune("..::"[n])}
	}
}

// heats are the upper bounds of the steps of the error map, in millimetres; what
// is beyond the last is the step after it.
func heats() []float32 { return []float32{1, 5, 20, 100} }

// numHeats counts the steps.
const numHeats = 5

// heat is the step of an error.
func heat(mm float32) int {
	for i, bound := range heats() {
		if mm <= bound {
			return i
		}
	}
	return len(heats())
}

// heatLooks draws each cube as how far it is off.
func heatLooks(mm []float32) func(int) look {
	return func(i int) look { return heatLook(heat(mm[i])) }
}

func heatLook(n int) look {
	sign := rune(".-+x#"[n])
	if n == 0 {
		return look{inkHeat, rankRest, false, 0, sign}
	}
	return look{inkHeat + ink(n), rankRest + uint8(n), true, sign, sign}
}

// worst returns the mean of the errors that are not zero, and the largest.
func worst(mm []float32) (mean, most float64) {
	n := 0
	for _, v := range mm {
		if v > 0 {
			n++
			mean += float64(v)
			most = math.Max(most, float64(v))
		}
	}
	return mean / float64(max(n, 1)), most
}
