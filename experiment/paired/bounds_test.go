package paired

import "testing"

// An interval that ends at 0 contains it. Too few pairs have an estimate without an interval, and slices of
// different lengths are refused, whichever it is.
func TestBounds(t *testing.T) {
	for i, want := range map[Interval]bool{{Lo: 0, Hi: 1, Known: true}: false, {Lo: -1, Hi: 0, Known: true}: false, {Lo: 1, Hi: 2, Known: true}: true,
		{Lo: -2, Hi: -1, Known: true}: true, {Lo: 1, Hi: 2}: false} {
		if i.Significant() != want {
			t.Errorf("%+v is significant: %v", i, !want)
		}
	}
	two, one := []float64{1, 1}, []float64{1}
	if got := CompareByDifference(Ratio{[]float64{3, 3}, two}, Ratio{two, two}); got != (Interval{Estimate: 2}) {
		t.Errorf("two pairs: %+v", got)
	}
	for i := range 3 {
		v := [4][]float64{two, two, two, two}
		v[i+1] = one
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("slice %d may be shorter", i+1)
				}
			}()
			CompareByDifference(Ratio{v[0], v[1]}, Ratio{v[2], v[3]})
		}()
	}
}
