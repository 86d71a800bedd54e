package experiment

import (
	"math"
	"slices"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// The reports of a protocol with feedback count on the uplink, and its gauges are in the result.
func TestFeedbackIsCounted(t *testing.T) {
	t.Parallel()
	run := func(isStatic bool) *figures.Totals {
		c := config.Default()
		testkit.Set(t, c, []any{"seed", 5, "data.source", "text", "encoder.name", "receiver-adaptive", "encoder.params.static", isStatic,
			"link.loss", "8%", "link.latency", "60ms", "link.jitter", "40ms", "down.duplicate", "5%", "down.reorder", "10%",
			"down.corrupt", "2%", "duration", "10s"}...)
		return &mustRun(t, c, RunOptions{}).Runs[0].Totals
	}
	learnt, still := run(false), run(true)
	if learnt.FeedbackKbps <= still.FeedbackKbps {
		t.Errorf("feedback %.2f kbps with reports, %.2f without", learnt.FeedbackKbps, still.FeedbackKbps)
	}
	if learnt.BitsPerItem.Or(0) >= still.BitsPerItem.Or(0) {
		t.Errorf("%.3f bits a byte learnt, %.3f static", learnt.BitsPerItem.Or(0), still.BitsPerItem.Or(0))
	}
	if len(learnt.Sender) == 0 || learnt.Sender[0].Value < 5 || len(learnt.Receiver) <= len(learnt.Sender) {
		t.Errorf("gauges %v and %v", learnt.Sender, learnt.Receiver)
	}
}

// The preset of Blow's experiment: at any loss, the adaptive model needs at most as many bits as
// the initial one, and a batch is lost if any of its ten packets is lost.
func TestBlowTable(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("nine runs of ten seconds: under WIRELAB_THOROUGH=1")
	}
	c := must(LoadPreset("blow-table"))
	c.Sweep = slices.DeleteFunc(c.Sweep, func(a config.Axis) bool { return a.Key != "down.loss" })
	learnt := mustRun(t, c, RunOptions{})
	c.Sweep, c.Encoder.Params = nil, map[string]any{"static": true}
	static := mustRun(t, c, RunOptions{}).Runs[0].Totals.BitsPerItem.Or(0)
	if len(learnt.Runs) != 8 {
		t.Fatalf("%d runs, want one for each of eight losses", len(learnt.Runs))
	}
	for _, run := range learnt.Runs {
		x, p := run.Totals, 0.0
		if x.Sent > 0 {
			p = float64(x.Lost) / float64(x.Sent)
		}
		if x.BitsPerItem.Or(0) > static || p < 0.1 && x.BitsPerItem.Or(0) > 0.95*static {
			t.Errorf("loss %v: %.3f bits a byte, static %.3f", run.Set["down.loss"], x.BitsPerItem.Or(0), static)
		}
		want, batches := 1-math.Pow(1-p, 10), float64(x.Sent)/10
		for _, g := range x.Receiver {
			if g.Name == "batches lost" && math.Abs(g.Value/100-want) > 4*math.Sqrt(want*(1-want)/batches)+2/batches {
				t.Errorf("loss %v: %.1f %% of batches, want %.1f", run.Set["down.loss"], g.Value, 100*want)
			}
		}
	}
}

// If the sender's history is shorter than the round trip, it sends complete calls. If
// only the receiver's is, calls end as no baseline.
func TestHistoryShorterThanRoundTrip(t *testing.T) {
	run := func(sender, receiver int) figures.Totals {
		c := config.Default()
		c.Data.Source, c.Encoder.Name, c.Duration = "rpc", "rpc-delta", 5*time.Second
		c.Sender.History, c.Receiver.History, c.Receiver.Playout = sender, receiver, 0
		noError(t, c.Set("link.latency", "100ms"))
		return mustRun(t, c, RunOptions{}).Runs[0].Totals
	}
	if got := run(64, 64); got.BitsPerItem.Or(0) > 0.68*540 || got.Failures != (figures.Failures{}) {
		t.Errorf("caches of 64: %.1f bits a call, failures %+v", got.BitsPerItem.Or(0), got.Failures)
	} else if e := got.Rounding; e == nil || e.Max < 0.04 || e.Max > 0.05+0.06 || e.Mean > 0.03 { // and a rounding of a float32 of 350,000 cm
		t.Errorf("what was sent is off by %+v", e)
	}
	if got := run(8, 64); got.BitsPerItem.Or(0) != 544 || got.Failures != (figures.Failures{}) {
		t.Errorf("a sender's cache of 8: %.1f bits a call, want 544; failures %+v", got.BitsPerItem.Or(0), got.Failures)
	}
	if got := run(64, 8); got.Failures.NoBaseline == 0 {
		t.Errorf("a receiver's cache of 8: failures %+v", got.Failures)
	}
}
