package figures

import "strings"

// maxFigure is larger than any figure of a run: no count, size or duration in the unit of its key reaches it.
const maxFigure = 1e15

// InRange reports whether a run can have the value v of the figure with the given dotted key. No figure is
// negative, infinite or NaN, and no share exceeds 1.
func InRange(key string, v float64) bool {
	if strings.HasSuffix(key, "_ratio") || strings.HasSuffix(key, "loss_rate") {
		return v >= 0 && v <= 1+1e-9 // a sum of shares can exceed 1 by a rounding error
	}
	return v >= 0 && v <= maxFigure
}
