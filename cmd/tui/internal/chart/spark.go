package chart

import "math"

// Spark returns values as a row of w blocks between 0 and top, the newest at the right. If top is 0 the
// maximum of the values is used.
func Spark(values []float64, w int, top float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	cols := sparkColumns(values, w)
	if !isFinite(top) || top <= 0 {
		top = maxFinite(cols)
	}
	out := make([]rune, 0, len(cols))
	for _, v := range cols {
		switch {
		case !isFinite(v):
			out = append(out, ' ')
		case top < minHeight:
			out = append(out, levels[0])
		default:
			out = append(out, levels[int(math.Round(min(max(v, 0)/top, 1)*float64(len(levels)-1)))])
		}
	}
	return string(out)
}

// SparkTop returns the highest column of a sparkline of w blocks. Sparklines share a scale if all have
// the maximum as their top.
func SparkTop(values []float64, w int) float64 { return maxFinite(sparkColumns(values, w)) }

// sparkColumns reduces values to w columns.
func sparkColumns(values []float64, w int) []float64 {
	per := 1
	if w > 0 {
		per = (len(values) + w - 1) / w
	}
	return Columns(values, nil, int64(len(values)), per, w, Mean)
}

// maxFinite returns the maximum of the finite values, at least 0.
func maxFinite(cols []float64) float64 {
	_, top := extend(0, 0, [][]float64{cols})
	return top
}
