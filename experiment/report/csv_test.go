package report

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// cells returns the cells of a row by the names of the columns.
func cells(t *testing.T, head, row []string) map[string]string {
	t.Helper()
	if len(head) != len(row) {
		t.Fatalf("%d cells in %d columns", len(row), len(head))
	}
	m := map[string]string{}
	for i := range head {
		m[head[i]] = row[i]
	}
	return m
}

// The rows of samples have the rates of their periods and the ratios of their counts, and ReadSamples
// restores the figures of charts.
func TestSampleRow(t *testing.T) {
	s := meters.Sample{T: 1500 * time.Millisecond, Encoder: "raw", Sent: 6, PayloadBits: 3000, WireBits: 4500, FeedbackBits: 600, Items: 800, Changed: 150,
		BaselineAge: 9, Referenced: 4, Displayed: 7, Starved: 2, Late: 3, PositionErrorMM: 1.25, OrientationErrorDeg: 2.5, Aged: 4, Age: 90 * time.Millisecond}
	for o := range s.Outcomes {
		s.Outcomes[o] = 100 + o
	}
	for c := range s.LostBy {
		s.LostBy[c] = int64(200 + c)
	}
	s.CrossingLoop = 5
	row := sampleRow(&s, meters.SamplePeriod, 12.5)
	got := cells(t, sampleHead(&meters.Sample{}), row)
	want := map[string]string{"t_s": "1.500", "sent": "6", "payload_kbps": "30.000", "wire_kbps": "45.000", "feedback_kbps": "6.000", "bits_per_item": "3.7500",
		"bits_per_changed": "20.000", "baseline_age_ticks": "2.250", "displayed": "7", "starved": "2", "late": "3", "position_error_mm": "1.250",
		"orientation_error_deg": "2.500", "age_ms": "22.500", "encoder": "raw", "payload_kbps_2s": "12.500", "across": "5"}
	for o := packetlog.Decoded; o < packetlog.NumOutcomes; o++ {
		want[o.String()] = strconv.Itoa(100 + int(o))
	}
	for c := lossmodel.Cause(1); c < lossmodel.NumCauses; c++ {
		want["lost_"+c.String()] = strconv.Itoa(200 + int(c))
	}
	if len(got) != len(want) {
		t.Errorf("%d columns, want %d", len(got), len(want))
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %q, want %q", k, got[k], v)
		}
	}
	if age := cells(t, sampleHead(&meters.Sample{}), sampleRow(&meters.Sample{}, 0, 0))["age_ms"]; age != "" {
		t.Errorf("the age of nothing is %q", age)
	}
	path := filepath.Join(t.TempDir(), "samples.csv")
	var text strings.Builder
	w := csv.NewWriter(&text)
	unchanged := slices.Clone(row)
	unchanged[slices.Index(sampleHead(&meters.Sample{}), "bits_per_changed")] = "0"
	unchanged[slices.Index(sampleHead(&meters.Sample{}), "sent")] = "1e12"
	if err := w.WriteAll([][]string{sampleHead(&meters.Sample{}), row, unchanged}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text.String()+"1.7,3", 1)
	read, err := ReadSamples(path)
	if err != nil || len(read) != 2 {
		t.Fatalf("%+v, %v", read, err)
	}
	if r := read[0]; r.T != s.T || r.Sent != s.Sent || r.PayloadBits != s.PayloadBits || r.WireBits != s.WireBits || r.FeedbackBits != s.FeedbackBits ||
		r.Changed != s.Changed || r.Items != s.Items || r.CrossingLoop != s.CrossingLoop {
		t.Errorf("%+v, want %+v", r, s)
	}
	for o := packetlog.Decoded; o < packetlog.NumOutcomes; o++ {
		if read[0].Outcomes[o] != s.Outcomes[o] {
			t.Errorf("%s: %d", o, read[0].Outcomes[o])
		}
	}
	if read[1].Changed != 0 || read[1].Sent != 0 {
		t.Errorf("numbers out of range: %+v", read[1])
	}
	writeFile(t, path, "t_s,sent\n0.1,7\n", 1)
	if read, err := ReadSamples(path); err != nil || len(read) != 1 || read[0].Sent != 7 || read[0].PayloadBits != 0 {
		t.Errorf("without columns: %+v, %v", read, err)
	}
	writeFile(t, path, "t_s,sent\n"+strings.Repeat("0.1,7\n", maxSampleRows+1), 1)
	if read, err := ReadSamples(path); err != nil || len(read) != maxSampleRows {
		t.Errorf("%d rows, %v", len(read), err)
	}
	writeFile(t, path, "", 1)
	if _, err := ReadSamples(path); err == nil {
		t.Error("an empty file is read")
	}
	if _, err := ReadSamples(filepath.Join(filepath.Dir(path), "missing")); err == nil {
		t.Error("a missing file is read")
	}
}

// A packet's row has its arrival, unless it was lost or is in flight.
func TestPacketRow(t *testing.T) {
	for outcome, want := range map[packetlog.Outcome][2]string{packetlog.Lost: {"lost", "queue"}, packetlog.InFlight: {"", ""}, packetlog.Decoded: {"2500.250", ""}} {
		p := packetEntry{Record: packetlog.Record{Seq: 3, Copy: 1, Sent: 1500 * time.Microsecond, Arrived: 2500250, Outcome: outcome, Cause: lossmodel.Queue},
			problem: problemText{"late", "it took long"}}
		got := cells(t, packetHead(), packetRow(&p))
		if got["recv_us"] != want[0] || got["cause"] != want[1] || got["send_us"] != "1500.000" || got["outcome"] != outcome.String() || got["why"] != "it took long" {
			t.Errorf("%s: %v", outcome, got)
		}
	}
}

// shadows.csv has a row for each time of any lane. A lane's first period begins when it joined.
func TestSideBySide(t *testing.T) {
	const p = meters.SamplePeriod
	var b strings.Builder
	err := writeSideBySide(&b, []engine.LaneSamples{
		{Letter: "A", Samples: []engine.LaneSample{{T: p, Encoder: "raw", PayloadBits: 1000, Changed: 8, Failed: 1}, {T: 2 * p, Encoder: "raw", PayloadBits: 2000},
			{T: 3*p - p/5, Encoder: "raw", PayloadBits: 800, Changed: 1}}},
		{Letter: "B", Began: p + p/2, Samples: []engine.LaneSample{{T: 2 * p, Encoder: "rotor", PayloadBits: 500, Changed: 4}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `t_s,encoder [A],payload_kbps [A],bits_per_changed [A],failed [A],encoder [B],payload_kbps [B],bits_per_changed [B],failed [B]
0.100,raw,10.000,125.000,1,,,,
0.200,raw,20.000,,0,rotor,10.000,125.000,0
0.280,raw,10.000,800.000,0,,,,
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

// If the receiver of a lane shows rows under a budget, each lane has a column with their mean error.
func TestSideBySideUnderBudget(t *testing.T) {
	const p = meters.SamplePeriod
	var b strings.Builder
	shown := meters.ViewSample{Bits: 400, Rows: 4, Error: 4 * 16 * 20} // 20 mm
	err := writeSideBySide(&b, []engine.LaneSamples{{Letter: "A", Samples: []engine.LaneSample{{T: p, Encoder: "raw", PayloadBits: 1000}}},
		{Letter: "B", Samples: []engine.LaneSample{{T: p, Encoder: "rotor", PayloadBits: 300, Changed: 4, View: shown}}}})
	want := `t_s,encoder [A],payload_kbps [A],bits_per_changed [A],failed [A],mean_error [A],encoder [B],payload_kbps [B],bits_per_changed [B],failed [B],mean_error [B]
0.100,raw,10.000,,0,,rotor,3.000,75.000,0,20.0
`
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}

// summary.csv has a row for each run, with the settings but the seed only once.
func TestSummary(t *testing.T) {
	runs := []*engine.Result{sentResult(t, 1, 10, 5), sentResult(t, 2, 20, 6)}
	for i, r := range runs {
		r.Set = map[string]string{"seed": strconv.Itoa(i + 1), "down.loss": "3%"}
		r.DurationS, r.Reason = 1.5, engine.Finished
	}
	runs[1].Totals.BitsPerChangedCube = resultFrom(t, `{"totals":{"bits_per_changed_cube":4}}`).Totals.BitsPerChangedCube
	var b strings.Builder
	if err := writeSummary(&b, &Report{Runs: runs}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 3 || !slices.Equal(rows[0][:4], []string{"down.loss", "seed", "duration_s", "reason"}) {
		t.Fatalf("%q, %v", rows, err)
	}
	for i, r := range runs {
		got := cells(t, rows[0], rows[i+1])
		if got["down.loss"] != "3%" || got["seed"] != strconv.Itoa(i+1) || got["duration_s"] != "1.5" || got["reason"] != "finished" || got["sent"] != strconv.FormatInt(r.Totals.Sent, 10) {
			t.Errorf("row %d: %v", i, got)
		}
		if bits := got["bits_per_changed_cube"]; bits != []string{"", "4"}[i] {
			t.Errorf("row %d has %q bits per cube", i, bits)
		}
	}
}
