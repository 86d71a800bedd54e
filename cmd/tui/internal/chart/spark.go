package chart

import "math"

// Spark draws values as a row of w blocks between zero and top, the newest at the
// right. A top of 0 is the values' own: then it shows the shape of a number, not its
// size.
func Spark(values []float64, w int, top float64, ascii bool) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune("_.-=+*#@")
	}
	cols := sparkColumns(values, w)
	if !finite(top) || top <= 0 {
		top = highest(cols)
	}
	out := make([]rune, 0, len(cols))
	for _, v := range cols {
		switch {
		case !finite(v):
			out = append(out, ' ')
		case top < smallest:
			out = append(out, levels[0])
		default:
			out = append(out, levels[int(math.Round(math.Min(math.Max(v, 0)/top, 1)*float64(len(levels)-1)))])
		}
	}
	return string(out)
}

// SparkTop is how high the columns of a spark of w blocks reach: sparks that are to
// share a scale take the highest of all.
func SparkTop(values []float64, w int) float64 { return highest(sparkColumns(values, w)) }

func sparkColumns(values []float64, w int) []float64 {
	per := 1
	if w > 0 {
		per = (len(values) + w - 1) / w
	}
	return Columns(values, nil, int64(len(values)), per, w, Mean)
}

func highest(cols []float64) (top float64) {
	for _, v := range cols {
		if finite(v) {
			top = math.Max(top, v)
		}
	}
	return top
}
