package relay

import (
	"strings"
	"testing"
	"time"
)

// flowOf returns a flow of datagrams that left late, through a link with the given delays, in turn.
func flowOf(late time.Duration, delays ...time.Duration) Flow {
	var f Flow
	for i := range 200 {
		f.Lateness.Add(late)
		f.LinkDelay.Add(delays[i%len(delays)])
	}
	return f
}

// Lateness is a fault only where it distorts the effect of the links: above a tenth of their delay, jitter included, and
// above 5 ms. Below that it is a remark from 1 ms on. A fault remains until the lateness is below half of the limit.
func TestLatenessIsRelativeToTheLinks(t *testing.T) {
	const ms = time.Millisecond
	for _, x := range []struct {
		late         time.Duration
		delays       []time.Duration
		isLate, stay bool // without and with a fault before
		remark       bool
	}{
		{500 * time.Microsecond, []time.Duration{0}, false, false, false},
		{2110 * time.Microsecond, []time.Duration{0}, false, false, true}, // ordinary scheduling
		{3 * ms, []time.Duration{20 * ms}, false, true, true},
		{8 * ms, []time.Duration{20 * ms}, true, true, false},
		{8 * ms, []time.Duration{100 * ms}, false, true, true},
		{8 * ms, []time.Duration{20 * ms, 100 * ms, 180 * ms}, false, false, true}, // jitter
		{30 * ms, []time.Duration{100 * ms}, true, true, false},
	} {
		f := flowOf(x.late, x.delays...)
		if f.IsLate(false) != x.isLate || f.IsLate(true) != x.stay || (f.LateRemark(Down) != "") != x.remark {
			t.Errorf("%v late with delays of %v: late %v, still late %v, remark %q", x.late, x.delays, f.IsLate(false), f.IsLate(true), f.LateRemark(Down))
		}
		totals := Totals{At: time.Second}
		totals.Flows[Down] = f
		late := totals.Late([2]bool{})
		if late[Up] || late[Down] != x.isLate || (len(totals.Deviations(late)) > 0) != x.isLate {
			t.Errorf("%v late with delays of %v: %v, %q", x.late, x.delays, late, totals.Deviations(late))
		}
		if line := FormatSecond(time.Second, &totals, late, nil); strings.HasPrefix(line, "!") != x.isLate {
			t.Errorf("%v late: %s", x.late, line)
		}
	}
}
