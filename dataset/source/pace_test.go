package source_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/source"
)

// The rate is the number of gaps over their sum. Pauses, falling times and breaks do not count.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	repeated := make([]time.Duration, 400) // each time four times, as of a server that sends faster than it ticks
	for i := range repeated {
		repeated[i] = time.Duration(i/4) * 33 * ms
	}
	even := []time.Duration{0, 50 * ms, 100 * ms, 150 * ms}
	for name, c := range map[string]struct {
		times  []time.Duration
		want   int
		remark string
	}{
		"even":          {even, 20, ""},
		"repeated":      {repeated, 122, "122 a second; recorded were 122.1 a second on average (3.267 s), with gaps of 0 to 33 ms"},
		"one missing":   {[]time.Duration{0, 50 * ms, 150 * ms, 200 * ms}, 15, "gaps of 50 to 100 ms"},
		"a pause":       {append(slices.Clone(even), time.Hour, time.Hour+50*ms), 20, "with gaps of 50 to 50 ms and without 1 pause over 5s"},
		"a new clock":   {append(slices.Clone(even), even...), 20, ""},
		"rounded":       {[]time.Duration{0, 80 * ms, 160 * ms}, 13, "13 a second; recorded were 12.5"},
		"out of order":  {[]time.Duration{0, 50 * ms, 100 * ms, 20 * ms, 100 * ms, 150 * ms}, 20, ""},
		"rounded to ms": {[]time.Duration{0, 17 * ms, 33 * ms, 50 * ms}, 60, ""},
		"one frame":     {even[:1], 7, ""},
		"one time":      {make([]time.Duration, 9), 7, ""},
	} {
		var p source.Pace
		var notes source.Notes
		for _, at := range c.times {
			p.Add(at)
		}
		got := p.Hz(7, &notes)
		remarks := strings.Join(notes.Remarks(), "; ")
		if got != c.want || !strings.Contains(remarks, c.remark) || (c.remark == "") != (remarks == "") {
			t.Errorf("%s: %d Hz, %q; want %d, %q", name, got, remarks, c.want, c.remark)
		}
	}
}
