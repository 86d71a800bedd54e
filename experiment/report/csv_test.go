package report

import (
	"encoding/csv"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
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

// The rows of samples have the counts, the rates of their periods and the ratios of the counts, and
// ReadSamples restores the samples.
func TestSampleRow(t *testing.T) {
	counts := figures.Counts{Sent: 6, Decoded: 101, Stale: 102, Duplicate: 103, Lost: 104, Wrong: 105, Unknown: 106, Duplicated: 107,
		LostBy: figures.CauseCounts{lossmodel.Queue: 203}, Failures: figures.Failures{NoBaseline: 108, Corrupt: 109, UnknownCodec: 110}}
	s := meters.Sample{T: 1500 * time.Millisecond, Width: meters.SamplePeriod, Encoder: "raw", Counts: counts,
		Sizes: meters.Sizes{PayloadBits: 3000, LargestBits: 3000, SmallestBits: 3000, WireBits: 4500, FeedbackBits: 600, Items: 800,
			Changed: 150, BaselineAge: 9, Referenced: 4, CrossingLoop: 5},
		Shown: meters.Shown{Displayed: 7, Starved: 2, Late: 3, PositionErrorMM: 1.25, OrientationErrorDeg: 2.5, Aged: 4, Age: 90 * time.Millisecond}}
	before := meters.Sample{T: 1400 * time.Millisecond, Width: meters.SamplePeriod, Sizes: meters.Sizes{PayloadBits: 1000}}
	row := meters.Row([]meters.Sample{before, s})
	got := cells(t, meters.Heads(), row)
	for k, want := range map[string]string{"t_s": "1.500", "sent": "6", "payload_kbps": "30.000", "wire_kbps": "45.000", "feedback_kbps": "6.000",
		"bits_per_item": "3.750", "bits_per_changed": "20.000", "baseline_age_ticks": "2.250", "displayed": "7", "starved": "2", "late": "3",
		"position_error_mm": "1.25", "orientation_error_deg": "2.5", "age_ms": "22.500", "encoder": "raw", "payload_kbps_2s": "20.000", "across": "5",
		"decoded": "101", "stale": "102", "duplicate": "103", "lost": "104", "wrong": "105", "unknown": "106", "no_baseline": "108", "corrupt": "109",
		"unknown_codec": "110", "lost_queue": "203", "lost_burst": "0", "payload_bits": "3000"} {
		if got[k] != want {
			t.Errorf("%s: %q, want %q", k, got[k], want)
		}
	}
	if age := cells(t, meters.Heads(), meters.Row([]meters.Sample{{}}))["age_ms"]; age != "" {
		t.Errorf("the age of nothing is %q", age)
	}
	path := filepath.Join(t.TempDir(), "samples.csv")
	var text strings.Builder
	w := csv.NewWriter(&text)
	unchanged := slices.Clone(row)
	unchanged[slices.Index(meters.Heads(), "changed")] = "NaN"
	unchanged[slices.Index(meters.Heads(), "sent")] = "2e12"
	if err := w.WriteAll([][]string{meters.Heads(), row, unchanged}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text.String()+"1.7,3", 1)
	read, err := ReadSamples(path)
	if err != nil || len(read) != 2 {
		t.Fatalf("%+v, %v", read, err)
	}
	if !reflect.DeepEqual(read[0], s) {
		t.Errorf("%+v, want %+v", read[0], s)
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
		{Letter: "A", Samples: []meters.Sample{{T: p, Encoder: "raw", Counts: figures.Counts{Failures: figures.Failures{Corrupt: 1}}, Sizes: meters.Sizes{PayloadBits: 1000, Changed: 8}}, {T: 2 * p, Encoder: "raw", Sizes: meters.Sizes{PayloadBits: 2000}},
			{T: 3*p - p/5, Encoder: "raw", Sizes: meters.Sizes{PayloadBits: 800, Changed: 1}}}},
		{Letter: "B", Began: p + p/2, Samples: []meters.Sample{{T: 2 * p, Encoder: "rotor", Sizes: meters.Sizes{PayloadBits: 500, Changed: 4}}}},
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
	err := writeSideBySide(&b, []engine.LaneSamples{{Letter: "A", Samples: []meters.Sample{{T: p, Encoder: "raw", Sizes: meters.Sizes{PayloadBits: 1000}}}},
		{Letter: "B", Samples: []meters.Sample{{T: p, Encoder: "rotor", View: shown, Sizes: meters.Sizes{PayloadBits: 300, Changed: 4}}}}})
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
