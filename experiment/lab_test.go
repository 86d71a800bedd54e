package experiment

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/report"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

func mustRun(t *testing.T, c *config.Config, opt RunOptions) *report.Report {
	t.Helper()
	r, err := Run(context.Background(), c, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSameConfigSameBytes(t *testing.T) {
	c := labtest.QuickConfig(t)
	a, b := mustRun(t, c, RunOptions{}).Runs[0], mustRun(t, c, RunOptions{}).Runs[0]
	if !reflect.DeepEqual(a, b) {
		t.Errorf("two runs of one configuration differ:\n%+v\n%+v", a, b)
	}
	other := c.Clone()
	other.Seed = 4
	if c := mustRun(t, other, RunOptions{}).Runs[0]; c.Digest == a.Digest {
		t.Error("another seed gave the same digest: the digest sees nothing")
	}
}

// A shadow with the encoder of the first lane sends the same packets. A shadow with another encoder
// has the same losses.
func TestShadowsHaveSameLosses(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.At = nil
	c.Shadows = []config.Encoder{{Name: c.Encoder.Name}, {Name: "raw"}}
	c.Down.Corrupt.P = 0
	r := mustRun(t, c, RunOptions{}).Runs[0]
	if r.Shadows[0].Digest != r.Digest {
		t.Error("the same encoder as a shadow sent other bytes")
	}
	if !reflect.DeepEqual(r.Shadows[0].Totals, r.Totals) {
		t.Errorf("the same encoder as a shadow measured\n%+v\nwant\n%+v", r.Shadows[0].Totals, r.Totals)
	}
	if r.Shadows[1].Totals.LostBy[lossmodel.Burst] != r.Totals.LostBy[lossmodel.Burst] || r.Shadows[1].Totals.Duplicated != r.Totals.Duplicated {
		t.Errorf("raw met other fates: %+v, want %+v", r.Shadows[1].Totals.LostBy, r.Totals.LostBy)
	}
	if r.Totals.Lost == 0 || r.Shadows[1].Digest == r.Digest {
		t.Error("nothing was lost or nothing differs, so nothing was tested")
	}
}

func TestFramesAndDuration(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration, c.At = 2500*time.Millisecond, nil
	r := mustRun(t, c, RunOptions{}).Runs[0]
	if r.Frames != 150 || r.DurationS != 2.5 || r.Totals.Sent != 150 {
		t.Errorf("%d frames, %d sent in %g s; want 150 in 2.5", r.Frames, r.Totals.Sent, r.DurationS)
	}
	want := float64(r.Totals.Sent) * 0
	for _, s := range r.Budget {
		want += s.Bits
	}
	if got := r.Totals.PayloadKbps * 1000 * r.DurationS; got < want-0.001 || got > want+0.001 {
		t.Errorf("payload of %f bits, but the budget sums to %f", got, want)
	}
}

// A saved report replays to the same digest; a modified report does not.
func TestReplayOfSavedRun(t *testing.T) {
	dir := t.TempDir()
	c := labtest.QuickConfig(t)
	c.Shadows = []config.Encoder{{Name: "raw"}}
	mustRun(t, c, RunOptions{Dir: dir})
	path := filepath.Join(dir, "report.json")
	got, err := Replay(context.Background(), path, RunOptions{})
	if err != nil || !got.Same || len(got.Runs) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, name := range []string{"report.md", "samples.csv", "packets.csv", "experiment.toml"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(data) < 100 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	again, err := config.LoadFile(filepath.Join(dir, "experiment.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, again, RunOptions{}).Runs[0]; r.Digest+" "+r.Shadows[0].Digest != got.Runs[0].Want {
		t.Errorf("experiment.toml runs something else than the report:\n%+v\n%+v", again.Values(), c.Values())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(data), `"value": "20%"`, `"value": "21%"`, 1)
	if forged == string(data) {
		t.Fatal("the change is not in the report")
	}
	if err := os.WriteFile(path, []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := Replay(context.Background(), path, RunOptions{}); err != nil || got.Same {
		t.Errorf("a forged report passes: %+v, %v", got, err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(context.Background(), path, RunOptions{}); err == nil || !strings.Contains(err.Error(), "is incomplete") {
		t.Errorf("half a report: %v", err)
	}
}

// The rows of packets.csv add up to the totals.
func TestPacketRowsAddUp(t *testing.T) {
	dir := t.TempDir()
	r := mustRun(t, labtest.QuickConfig(t), RunOptions{Dir: dir}).Runs[0]
	data, err := os.ReadFile(filepath.Join(dir, "packets.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
	count := map[string]int64{}
	for _, row := range rows {
		count[strings.Split(row, ",")[4]]++
	}
	x := r.Totals
	want := map[string]int64{"decoded": x.Decoded, "stale": x.Stale, "duplicate": x.Duplicate, "lost": x.Lost,
		"corrupt": x.Failures.Corrupt, "no_baseline": x.Failures.NoBaseline, "in_flight": x.InFlight}
	for name, n := range want {
		if count[name] != n {
			t.Errorf("%d rows with %s, but %d in the totals", count[name], name, n)
		}
	}
	if int64(len(rows)) != x.Sent+x.Duplicated {
		t.Errorf("%d rows for %d packets and %d copies", len(rows), x.Sent, x.Duplicated)
	}
}

func TestSweepEqualsSeparateRuns(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration = 3 * time.Second
	c.Sweep = []config.Axis{{Key: "encoder.name", Values: []any{"raw", "quantized"}}, {Key: "down.loss", Values: []any{"0%", "30%"}}}
	dir := t.TempDir()
	var last float64
	report := mustRun(t, c, RunOptions{Dir: dir, Progress: func(done, total float64) { last = done / total }})
	if len(report.Runs) != 4 || last != 1 {
		t.Fatalf("%d runs, progress %g", len(report.Runs), last)
	}
	i := 0
	for _, enc := range []string{"raw", "quantized"} {
		for _, loss := range []string{"0%", "30%"} {
			alone := c.Clone()
			alone.Sweep = nil
			if err := alone.Set("encoder.name", enc); err != nil {
				t.Fatal(err)
			}
			if err := alone.Set("down.loss", loss); err != nil {
				t.Fatal(err)
			}
			got := report.Runs[i]
			if want := mustRun(t, alone, RunOptions{}).Runs[0]; got.Digest != want.Digest || got.Set["down.loss"] != loss ||
				got.Set["encoder.name"] != enc {
				t.Errorf("run %d (%v) differs from running it alone", i, got.Set)
			}
			i++
		}
	}
	got, err := Replay(context.Background(), filepath.Join(dir, "report.json"), RunOptions{})
	if err != nil || !got.Same || len(got.Runs) != 4 {
		t.Errorf("replay: %+v, %v", got, err)
	}
}

func TestFailedAssertionsAreListed(t *testing.T) {
	c := labtest.QuickConfig(t)
	testkit.Set(t, c, "assert.payload_kbps", "<= 1", "assert.sent", "> 100", "assert.no_baseline", "== 0")
	report := mustRun(t, c, RunOptions{})
	failed := report.Failed()
	if len(failed) != 1 || !strings.Contains(failed[0], "payload_kbps <= 1") {
		t.Errorf("got %q, want the one about payload_kbps", failed)
	}
}

func TestInterruptedRunIsSaved(t *testing.T) {
	c := labtest.QuickConfig(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, RunOptions{Dir: dir, Progress: func(done, _ float64) {
		if done > 1 {
			cancel()
		}
	}})
	if err != nil || !r.Interrupted || r.Runs[0].Totals.Sent == 0 || r.Runs[0].DurationS >= 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	got, err := Replay(context.Background(), filepath.Join(dir, "report.json"), RunOptions{})
	if err != nil || !got.Same {
		t.Errorf("an interrupted report cannot be repeated: %+v, %v", got, err)
	}
}

func TestUnwritableOutput(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	started := false
	_, err := Run(context.Background(), labtest.QuickConfig(t), RunOptions{Dir: filepath.Join(blocked, "out"),
		Progress: func(float64, float64) { started = true }})
	if err == nil || started || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v, started %v", err, started)
	}
}

func TestReportJSONKeys(t *testing.T) {
	data, err := json.Marshal(mustRun(t, labtest.QuickConfig(t), RunOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`seed duration_s frames item items_per_frame digest budget[0].slot budget[0].bits budget[0].share
		totals.sent totals.duplicated totals.decoded totals.stale totals.duplicate totals.lost totals.lost_by.loss totals.lost_by.queue
		totals.failures.no_baseline totals.failures.corrupt totals.failures.unknown_codec totals.in_flight totals.wrong
		totals.reordered totals.payload_kbps totals.wire_kbps totals.feedback_kbps totals.bits_per_item totals.bits_per_cube
		totals.bits_per_changed_cube totals.packet_bytes.p50 totals.baseline_age_ticks.p50 totals.baseline_age_ticks.p95
		totals.playout.starved_ratio totals.playout.late timing.encode_us.p50 timing.decode_us.p50 timing.real_time_factor
		changes[0].t_s changes[0].change.encoder`) {
		if !hasKey(tree, key) {
			t.Errorf("the key %s is missing", key)
		}
	}
	if _, ok := tree["shadows"].([]any); !ok {
		t.Error("shadows is no list")
	}
}

// hasKey reports whether a JSON tree has a dotted key, such as "changes[0].t_s".
func hasKey(tree any, key string) bool {
	for _, word := range strings.Split(strings.ReplaceAll(key, "[0]", ".0"), ".") {
		switch t := tree.(type) {
		case map[string]any:
			v, ok := t[word]
			if !ok {
				return false
			}
			tree = v
		case []any:
			if len(t) == 0 {
				return false
			}
			tree = t[0]
		default:
			return false
		}
	}
	return true
}

// A clock that goes back during a run delays neither the run nor its saves, and timings are never
// negative.
func TestRunWithJumpingClock(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration = 3 * time.Second
	at, looks := time.Duration(0), 0
	clock := func() time.Duration {
		looks++
		switch at += 20 * time.Millisecond; {
		case looks%97 == 0:
			at -= time.Hour
		case looks%89 == 0:
			at += 2 * time.Hour
		}
		return at
	}
	r := mustRun(t, c, RunOptions{Clock: clock, Dir: filepath.Join(t.TempDir(), "out")}).Runs[0]
	want := mustRun(t, c, RunOptions{}).Runs[0]
	if r.Digest != want.Digest || r.Timing.EncodeUS.P50 < 0 || r.Timing.DecodeUS.P50 < 0 {
		t.Errorf("digests %s and %s, timing %+v", r.Digest, want.Digest, r.Timing)
	}
}

// A script cannot change the seed.
func TestScriptedSeed(t *testing.T) {
	scripted := labtest.QuickConfig(t)
	scripted.At = []config.StampedChange{config.Stamp(time.Second, config.NewChange("seed", 5))}
	if _, err := Run(t.Context(), scripted, RunOptions{}); err == nil {
		t.Error("a script set the seed on the way")
	}
}
