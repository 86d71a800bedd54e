package worldview

import (
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/playout"
)

// level is the shade of a cube whose centre is z metres higher than it would be if
// the cube lay flat on the floor.
func level(z float32) int {
	for i, above := range [look.Levels - 1]float32{0.25, 0.8, 1.8} {
		if z < above {
			return i
		}
	}
	return look.Levels - 1
}

// Ranks of what may share a cell.
const (
	rankGround = iota
	rankRest
	rankTouched
	rankPlayer
)

// KindLooks draws each cube by its kind: at rest, interacting with the player, or
// the player.
func KindLooks(poses []playout.Pose) func(int) cellLook {
	return func(i int) cellLook {
		n := level(poses[i].Z - halfOf(i))
		k := look.Ink(n)
		switch {
		case i == 0:
			return cellLook{look.Player + k, rankPlayer, true, '▒', '@'}
		case poses[i].Interacting:
			return cellLook{look.Touched + k, rankTouched, true, 0, rune("oo00"[n])}
		}
		return cellLook{look.Rest + k, rankRest, false, 0, rune("..::"[n])}
	}
}

// Heats are the upper bounds of the steps of the error map, in millimetres; what
// is beyond the last is the step after it.
func Heats() []float32 { return []float32{1, 5, 20, 100} }

// heat is the step of an error.
func heat(mm float32) int {
	for i, bound := range Heats() {
		if mm <= bound {
			return i
		}
	}
	return len(Heats())
}

// HeatLooks draws each cube as how far it is off.
func HeatLooks(mm []float32) func(int) cellLook {
	return func(i int) cellLook { return HeatLook(heat(mm[i])) }
}

// HeatLook is how a step of the error map is drawn.
func HeatLook(n int) cellLook {
	sign := rune(".-+x#"[n])
	if n == 0 {
		return cellLook{look.Heat, rankRest, false, 0, sign}
	}
	return cellLook{look.Heat + look.Ink(n), rankRest + uint8(n), true, sign, sign}
}

// Worst returns the mean of the errors that are not zero, and the largest.
func Worst(mm []float32) (mean, most float64) {
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
