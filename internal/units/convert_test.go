package units

import (
	"math"
	"testing"
)

func TestFactor(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     float64 // 0 means that there is no conversion
	}{
		{"cm", "m", 0.01}, {"m", "cm", 100}, {"mm", "cm", 0.1}, {"ft", "in", 12}, {"km", "m", 1000},
		{"deg", "rad", math.Pi / 180}, {"rad", "deg", 180 / math.Pi}, {"turn", "deg", 360}, {"°", "deg", 1},
		{"cm/s", "m/s", 0.01}, {"km/h", "m/s", 1 / 3.6}, {"deg/s", "rad/s", math.Pi / 180}, {"cm/s²", "m/s²", 0.01},
		{"tile", "tile", 1}, {"", "", 1},
		{"cm", "s", 0}, {"cm", "", 0}, {"", "m", 0}, {"tile", "m", 0}, {"m", "m/s", 0}, {"m/s", "m", 0}, {"m/s", "m/tile", 0},
	} {
		got, ok := Factor(c.from, c.to)
		if ok != (c.want != 0) || ok && math.Abs(got/c.want-1) > 1e-15 {
			t.Errorf("Factor(%q, %q) = %v, %v, expected %v", c.from, c.to, got, ok, c.want)
		}
	}
}
