package setting_test

import (
	"math"
	"testing"

	"wirelab/internal/setting"
)

func TestAddSteps(t *testing.T) {
	for _, c := range []struct {
		from, step float64
		n          int
		want       float64
	}{
		{0.1, 0.1, 2, 0.3}, {0, 0.1, 3, 0.3}, {-0.3, 0.1, 3, 0}, {-1000, 0.1, 9999, -0.1}, {2, 1, 6, 8},
		{0.25, 0.05, 1, 0.3}, {1e-9, 1e-9, 6, 7e-9}, {1e20, 1e19, 1, 1.1e20}, {1, 0.25, -3, 0.25},
	} {
		if got := setting.AddSteps(c.from, c.step, c.n); got != c.want || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("AddSteps(%v, %v, %d) = %v, want %v", c.from, c.step, c.n, got, c.want)
		}
	}
}
