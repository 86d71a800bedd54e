package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// The first line of report.md says why a run is not complete.
func TestEndingSentence(t *testing.T) {
	for _, c := range []struct {
		why         engine.Ending
		problem     string
		interrupted bool
		want        string
	}{
		{engine.BadData, "a\nb", true, " Stopped by an error: a; b; these are the results until then."},
		{engine.Unfinished, "", true, " Still running, or killed: these are the results until then."},
		{engine.Interrupted, "", true, " Interrupted: these are the results until then."},
		{engine.Unmet, "", false, " An assertion was not met."},
		{engine.Finished, "", false, ""},
	} {
		if got := mdEnding(c.why, c.problem, c.interrupted); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
	if got := mdPercent(1, 0.125) + mdPercent(1, figures.Known(0.5)) + mdPercent(1, figures.Figure{}); got != "12.5 %50.0 %- %" {
		t.Errorf("shares %q", got)
	}
}

// Similar consecutive changes share a row.
func TestChangeRows(t *testing.T) {
	r := resultFrom(t, `{"changes":[{"t_s":1,"change":[{"key":"press","value":"up"}]},{"t_s":2,"change":[{"key":"press","value":"up"}]},{"t_s":3,"change":[]}]}`)
	rows := mdChanges(r.Changes)
	at := 0.0
	for _, row := range rows {
		if row.At <= at || strings.Contains(row.Label, " | ") {
			t.Errorf("%+v", rows)
		}
		at = row.At
	}
	if len(rows) == 0 || rows[0].At != 1 || rows[len(rows)-1].At != 3 {
		t.Errorf("%+v", rows)
	}
}

// The tables of lanes have the times and the wrong frames of each lane.
func TestLaneRows(t *testing.T) {
	r := resultFrom(t, `{"lane":"A","label":"raw","duration_s":9,"totals":{"wrong":1},"stretches":[{"encoder":"x","from_s":0},{"encoder":"raw","from_s":4}],
		"shadows":[{"lane":"B","encoder":"rotor","from_s":2,"totals":{"wrong":2}},{"lane":"C","encoder":"delta","label":"delta 2","from_s":3,"totals":{"wrong":3}},
			{"lane":"D","encoder":"gone","from_s":1,"to_s":5,"totals":{"wrong":4}}],
		"comparison":{"lanes":[{"lane":"A","label":"raw","times":1},{"lane":"B","label":"rotor","times":0.5,"times_lo":0.25,"times_hi":0.75},{"lane":"C","label":"delta 2","times":2}]}}`)
	var got []string
	for _, l := range lanesCompared(r) {
		got = append(got, fmt.Sprint(l.Label, " ", l.FromS, " ", l.Wrong, " ", l.Bounds))
	}
	if text := strings.Join(got, "; "); text != "raw 4 1 ; rotor 2 2 0.250 to 0.750; delta 2 3 3 too few data" {
		t.Errorf("compared: %q", text)
	}
	got = nil
	for _, l := range allLanes(r) {
		got = append(got, fmt.Sprint(l.Lane, " ", l.Encoders, " ", l.FromS, "-", l.ToS, " ", l.Wrong))
	}
	if text := strings.Join(got, "; "); text != "A x, raw 0-9 1; B rotor 2-9 2; C delta 2 3-9 3; D gone 1-5 4" {
		t.Errorf("all: %q", text)
	}
	r.Comparison.Lanes = r.Comparison.Lanes[:2] // of an edited report
	if lanesCompared(r) != nil {
		t.Error("a comparison of other lanes has rows")
	}
	r.Stretches, r.Comparison.Lanes, r.Shadows = nil, r.Comparison.Lanes[:1], nil
	if rows := lanesCompared(r); len(rows) != 1 || rows[0].FromS != 0 {
		t.Errorf("without swaps: %+v", rows)
	}
	if allLanes(r) != nil || lanesCompared(&engine.Result{}) != nil {
		t.Error("rows without shadows")
	}
}

// A bucket is the mean or the maximum of its part. The parts are all values, in their order.
func TestBucket(t *testing.T) {
	v := []float64{1, 3, 2, 8, 5}
	if got := bucket(v, 2, true); !slices.Equal(got, []float64{3, 8}) {
		t.Errorf("maxima %v", got)
	}
	if got := bucket(v, 2, false); !slices.Equal(got, []float64{2, 5}) {
		t.Errorf("means %v", got)
	}
	if got := bucket(v, 5, false); !slices.Equal(got, v) {
		t.Errorf("all %v", got)
	}
	for top, want := range map[float64]string{0: "1.0 ", 4: "4.0 ", 0.5: "0.5 ", math.Inf(1): "1.0 ", math.NaN(): "1.0 "} {
		text := plot([]float64{0, top}, nil, true, time.Second, 2500*time.Millisecond)
		if !strings.Contains(strings.Split(text, "\n")[0], want) || !strings.Contains(text, "1.0 to 2.5 s") {
			t.Errorf("to %g:\n%s", top, text)
		}
	}
}

// The curves begin with the period of the first sample, and points stand for as many samples as needed. The
// newest point may be incomplete.
func TestCurvesOfFewSamples(t *testing.T) {
	const p = meters.SamplePeriod
	var c curves
	if got := mdCharts(&engine.Result{}, &c); got != nil {
		t.Errorf("charts without samples: %v", got)
	}
	if w := c.add(&meters.Sample{T: 5 * p, PayloadBits: 1000, Changed: 10, Starved: 1, Displayed: 4, Late: 2}); w != p || c.begin != 4*p || c.end != 5*p {
		t.Errorf("first: %v, from %v to %v", w, c.begin, c.end)
	}
	if w := c.add(&meters.Sample{T: 5*p + p/2, PayloadBits: 1000}); w != p/2 {
		t.Errorf("the last period is %v", w)
	}
	for k, want := range map[curve][]float64{payloadCurve: {10, 40. / 3}, changedCurve: {100, 200}, starvedCurve: {25, 25}, lateCurve: {20, 40. / 3}} {
		if got := c.series(k); !slices.Equal(got, want) {
			t.Errorf("curve %d: %v, want %v", k, got, want)
		}
	}
	if got := len(mdCharts(&engine.Result{}, &c)); got != 3 {
		t.Errorf("%d charts", got)
	}
	c = curves{samplesPerPoint: 3}
	for i, bits := range []int64{100, 200, 600, 700, 900} { // means of the time so far: 1, 1.5, 3 and 4, 5 kbit/s
		c.add(&meters.Sample{T: time.Duration(i+1) * p, PayloadBits: bits, PositionErrorMM: float64(bits)})
	}
	if got := c.series(payloadCurve); math.Abs(got[0]-5.5/3) > 1e-12 || got[1] != 4.5 {
		t.Errorf("means %v", got)
	}
	if got := c.series(positionCurve); !slices.Equal(got, []float64{600, 900}) {
		t.Errorf("maxima %v", got)
	}
}

// The table of a sweep over data that are not cubes has their own columns.
func TestSweepTableColumns(t *testing.T) {
	cubes := resultFrom(t, `{"totals":{"bits_per_cube":3}}`)
	file := resultFrom(t, `{"item":"byte","totals":{"transfer":{"resent":7,"time_s":1.5}}}`)
	message := resultFrom(t, `{"item":"byte","totals":{"bits_per_item":2,"sender":[{"name":"depth","unit":"kB","value":4},{"name":"x","value":1}],"receiver":[{"name":"x","value":9},{"name":"y","value":2}]}}`)
	rows := resultFrom(t, `{"item":"row","totals":{"bits_per_item":2}}`)
	for _, c := range []struct {
		r           *engine.Result
		heads, body string
	}{{cubes, "", ""}, {file, "bits/byte,resent,seconds", "-,7,1.500"}, {message, "bits/byte,ratio,depth,x,y", "2.00,25.0 %,4 kB,1,2"}, {rows, "bits/row", "2.00"}} {
		r := &Report{Runs: []*engine.Result{c.r}}
		if heads, body := strings.Join(mdItemHeads(r), ","), strings.Join(mdItemCells(r, c.r), ","); heads != c.heads || body != c.body {
			t.Errorf("%q, %q, want %q, %q", heads, body, c.heads, c.body)
		}
	}
	if got := mdItemCells(&Report{Runs: []*engine.Result{message}}, rows); strings.Join(got, ",") != "2.00,,," {
		t.Errorf("a run without gauges: %q", got)
	}
	message.Set = map[string]string{"b": "2", "a": "1"}
	table := sweepTable(&Report{Runs: []*engine.Result{message}})
	if !strings.HasPrefix(strings.ReplaceAll(table, " ", ""), "|a|b|payloadkbps|") || strings.Contains(table, "interrupted") {
		t.Errorf("%s", table)
	}
}
