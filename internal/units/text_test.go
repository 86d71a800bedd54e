package units_test

import (
	"math"
	"testing"
	"time"

	"wirelab/internal/units"
)

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		f      float64
		digits int
		want   string
	}{
		{999.6, 3, "1000"}, {999.4, 3, "999"}, {-999.6, 3, "-1000"}, {12345.6, 3, "12346"}, {12.345, 3, "12.3"}, {12, 3, "12"}, {100, 2, "100"},
		{0.12345, 3, "0.123"}, {0.00001234, 3, "0.0000123"}, {0, 3, "0"}, {9.9996, 4, "10"}, {math.Inf(1), 3, "+Inf"}, {math.NaN(), 3, "NaN"},
	} {
		if got := units.Significant(c.f, c.digits); got != c.want {
			t.Errorf("Significant(%v, %d) = %s, want %s", c.f, c.digits, got, c.want)
		}
	}
}

func TestAddSteps(t *testing.T) {
	for _, c := range []struct {
		from, step float64
		n          int
		want       float64
	}{
		{0.1, 0.1, 2, 0.3}, {0, 0.1, 3, 0.3}, {-0.3, 0.1, 3, 0}, {-1000, 0.1, 9999, -0.1}, {2, 1, 6, 8},
		{0.25, 0.05, 1, 0.3}, {1e-9, 1e-9, 6, 7e-9}, {1e20, 1e19, 1, 1.1e20}, {1, 0.25, -3, 0.25},
	} {
		if got := units.AddSteps(c.from, c.step, c.n); got != c.want || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("AddSteps(%v, %v, %d) = %v, want %v", c.from, c.step, c.n, got, c.want)
		}
	}
}

func TestTrimmed(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 4, "0"}, {100, 4, "100"}, {100, 0, "100"}, {2.5, 4, "2.5"}, {1.00004, 4, "1"}, {0.00005001, 4, "0.0001"}, {-143.20, 1, "-143.2"},
		{math.NaN(), 4, "-"}, {math.Inf(1), 0, "-"},
	} {
		if got := units.Trimmed(c.v, c.decimals); got != c.want {
			t.Errorf("Trimmed(%v, %d) = %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
}

func TestSigned(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{2.55, "+2.5"}, {-2.5, "-2.5"}, {0.04, "0.0"}, {-0.04, "0.0"}, {math.NaN(), "-"}} {
		if got := units.Signed(c.v, 1); got != c.want {
			t.Errorf("Signed(%v, 1) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestCoarse(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 89 * time.Second: "89 s", 91 * time.Second: "2 min", 3 * time.Hour: "3.0 h",
	} {
		if got := units.Coarse(d); got != want {
			t.Errorf("Coarse(%v) = %q, want %q", d, got, want)
		}
	}
}
