package paired

import (
	"math"
	"testing"
)

// The 0.975 quantiles of Student's t, as printed in tables (NIST/SEMATECH e-Handbook 1.3.6.7.2).
func TestStudentT(t *testing.T) {
	for df, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 10: 2.228, 29: 2.045, 30: 2.042, 100: 1.984, 999: 1.962} {
		if got := studentQuantile(df); math.Abs(got-want) > 0.0006 {
			t.Errorf("%d degrees of freedom: %.4f, expected %.3f", df, got, want)
		}
	}
}
