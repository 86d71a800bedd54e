package worldview

import (
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/playout"
)

// shadeLevel returns the shade of a cube whose centre is z metres above that of a cube lying on the
// floor.
func shadeLevel(z float32) int {
	for i, limit := range [look.Levels - 1]float32{0.25, 0.8, 1.8} { // upper bounds in metres; the last level has no bound
		if z < limit {
			return i
		}
	}
	return look.Levels - 1
}

// Ranks of the cubes that share a cell; the highest decides the style.
const (
	rankGround = iota
	rankRest
	rankTouched
	rankPlayer
)

// StylesByKind returns the style of each cube by its kind: at rest, interacting with the player, or the
// player, which is cube 0.
func StylesByKind(poses []playout.Pose) func(int) cubeStyle {
	return func(i int) cubeStyle {
		level := shadeLevel(poses[i].Z - halfSide(i)) // higher cubes have another shade
		shade := look.Style(level)
		switch {
		case i == 0:
			return cubeStyle{Style: look.Player + shade, rank: rankPlayer, solid: true, plain: '▒', ascii: '@'}
		case poses[i].Interacting:
			return cubeStyle{Style: look.Interacting + shade, rank: rankTouched, solid: true, ascii: rune("oo00"[level])}
		}
		return cubeStyle{Style: look.AtRest + shade, rank: rankRest, ascii: rune("..::"[level])}
	}
}

// ErrorSteps returns the upper bounds of the steps of the error map, in millimetres. Larger errors are
// one more step.
func ErrorSteps() []float64 { return []float64{1, 5, 20, 100} }

// errorStep returns the step of an error.
func errorStep(mm float32) int {
	for i, bound := range ErrorSteps() {
		if float64(mm) <= bound {
			return i
		}
	}
	return len(ErrorSteps())
}

// StylesByError returns the style of each cube by its position error in millimetres.
func StylesByError(mm []float32) func(int) cubeStyle {
	return func(i int) cubeStyle { return ErrorStepStyle(errorStep(mm[i])) }
}

// CostSteps returns the upper bounds of the steps of the map of costs, in bits per packet. Larger costs are one more
// step.
func CostSteps() []float64 { return []float64{0.1, 2, 10, 40} }

// CostStep returns the step of a cost in bits per packet.
func CostStep(bits float64) (step int) {
	for _, bound := range CostSteps() {
		if bits > bound {
			step++
		}
	}
	return step
}

// StylesByCost returns the style of each cube by its cost in bits per packet.
func StylesByCost(bits func(i int) float64) func(int) cubeStyle {
	return func(i int) cubeStyle { return ErrorStepStyle(CostStep(bits(i))) }
}

// StylesByStep returns the style of each cube by a value. bounds are the upper bounds of the steps; larger values are one
// more step.
func StylesByStep(value func(i int) float64, bounds []float64) func(int) cubeStyle {
	return func(i int) cubeStyle {
		step, v := 0, value(i)
		for step < len(bounds) && v > bounds[step] {
			step++
		}
		return ErrorStepStyle(step)
	}
}

// ErrorStepStyle returns the style of a step of the error map; larger errors have a higher rank.
func ErrorStepStyle(step int) cubeStyle {
	marker := rune(".-+x#"[step])
	if step == 0 {
		return cubeStyle{Style: look.Heat, rank: rankRest, ascii: marker}
	}
	return cubeStyle{Style: look.Heat + look.Style(step), rank: rankRest + uint8(step), solid: true, plain: marker, ascii: marker}
}

// ErrorStats returns the mean of the errors above 0, and the maximum.
func ErrorStats(mm []float32) (mean, maximum float64) {
	n := 0
	for _, v := range mm {
		if v > 0 {
			n++
			mean += float64(v)
			maximum = math.Max(maximum, float64(v))
		}
	}
	return mean / float64(max(n, 1)), maximum
}
