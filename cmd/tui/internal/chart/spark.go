package chart

import "math"

// Spark draws values as a row of w blocks between zero and their maximum, the
// newest at the right: the shape of a number, not its size.
func Spark(values []float64, w int, ascii bool) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune("_.-=+*#@")
	}
	per := 1
	if w > 0 {
		per = (len(values) + w - 1) / w
	}
	cols := Columns(values, nil, int64(len(values)), per, w, Mean)
	top := 0.0
	for _, v := range cols {
		if finite(v) {
			top = math.Max(top, v)
		}
	}
	out := make([]rune, 0, len(cols))
	for _, v := range cols {
		switch {
		case !finite(v):
			out = append(out, ' ')
		case top < smallest:
			out = append(out, levels[0])
		default:
			out = append(out, levels[int(math.Round(math.Max(v, 0)/top*float64(len(levels)-1)))])
		}
	}
	return string(out)
}
