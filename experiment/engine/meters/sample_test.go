package meters

import (
	"testing"
	"time"
)

// A meter stores the newest samples, and has capacity for at most about twice as many.
func TestSamplesAreBounded(t *testing.T) {
	for _, keep := range []int{1, 50, 1000} {
		m := New(60, keep)
		for n := range 20 * keep {
			m.CloseSample(time.Duration(n+1)*SamplePeriod, 0, nil)
			list := m.Samples()
			if len(list) != min(n+1, keep) || list[len(list)-1].T != time.Duration(n+1)*SamplePeriod {
				t.Fatalf("%d of %d samples are kept, the last at %v", len(list), n+1, list[len(list)-1].T)
			}
			if held := cap(m.samples.all); held > 2*keep+16 {
				t.Fatalf("room for %d samples, to keep %d", held, keep)
			}
		}
	}
}
