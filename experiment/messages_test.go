package experiment

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/endpoint"
)

// others are the sources that are not of cubes, with what encodes them.
var others = map[string][]string{
	"rpc":  {"full", "rpc-delta", "rpc-adaptive", "xor-rle"},
	"text": {"receiver-adaptive", "xor-rle", "deflate"},
}

// roughLink makes a configuration of a link that does everything at once.
func roughLink(t *testing.T, source string, seed uint64) *Config {
	t.Helper()
	c := Default()
	c.Seed, c.Data.Source, c.Encoder.Name = seed, source, others[source][0]
	for key, v := range map[string]any{"link.loss": "8%", "link.latency": "60ms", "link.jitter": "40ms", "down.duplicate": "5%",
		"down.reorder": "10%", "down.corrupt": "2%", "duration": "20s"} {
		if err := c.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Calls and messages: any pattern of loss, reordering and duplication, any schedule
// of swaps, and nothing is wrong; what is late is still welcome where it should be.
func TestCallsAndMessages(t *testing.T) {
	for source, names := range others {
		for seed := range uint64(3) {
			s, err := NewSession(roughLink(t, source, seed), SessionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(seed, 8))
			for !s.Done() {
				if err := s.RunUntil(s.now + time.Duration(500+rng.IntN(3000))*time.Millisecond); err != nil {
					t.Fatal(err)
				}
				if !s.Done() {
					_ = s.Change(Change{Encoder: names[rng.IntN(len(names))]})
				}
			}
			lawHolds(t, s)
			got := s.lanes[0].totals(s.Now())
			if got.Wrong != 0 || got.DecodeRefused != 0 || got.EncodeFailed != 0 || got.Failures.NoBaseline != 0 {
				t.Errorf("%s, seed %d: wrong %d, refused %d, not encoded %d, %+v", source, seed, got.Wrong, got.DecodeRefused, got.EncodeFailed, got.Failures)
			}
			if late := got.Stale > 0; late != (source == "rpc") || got.Reordered == 0 {
				t.Errorf("%s, seed %d: %d stale, %d reordered", source, seed, got.Stale, got.Reordered)
			}
		}
	}
}

// A protocol with feedback gives the same bytes again, pays for its reports, and says
// what it has learnt.
func TestFeedbackIsBilled(t *testing.T) {
	run := func(params map[string]any) *Result {
		c := roughLink(t, "text", 5)
		c.Encoder.Params = params
		return mustRun(t, c, RunOptions{}).Runs[0]
	}
	a, b := run(nil), run(nil)
	if !reflect.DeepEqual(a, b) {
		t.Error("two runs of one configuration differ")
	}
	still := run(map[string]any{"static": true})
	if a.Totals.FeedbackKbps <= still.Totals.FeedbackKbps {
		t.Errorf("feedback %.2f kbps with reports, %.2f without", a.Totals.FeedbackKbps, still.Totals.FeedbackKbps)
	}
	if a.Totals.BitsPerItem >= still.Totals.BitsPerItem {
		t.Errorf("%.3f bits a byte learnt, %.3f static", a.Totals.BitsPerItem, still.Totals.BitsPerItem)
	}
	if len(a.Totals.Sender) == 0 || a.Totals.Sender[0].Value < 5 || len(a.Totals.Receiver) <= len(a.Totals.Sender) {
		t.Errorf("the ends say %v and %v", a.Totals.Sender, a.Totals.Receiver)
	}
}

// The preset of Blow's experiment: whatever the loss, learning takes no more than
// staying with the model of the beginning, and batches are lost with any of their ten
// messages.
func TestBlowTable(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: nine runs of ten seconds")
	}
	c, err := LoadPreset("blow-table")
	if err != nil {
		t.Fatal(err)
	}
	c.Sweep = slices.DeleteFunc(c.Sweep, func(a Axis) bool { return a.Key != "down.loss" })
	learnt := mustRun(t, c, RunOptions{})
	c.Sweep, c.Encoder.Params = nil, map[string]any{"static": true}
	static := mustRun(t, c, RunOptions{}).Runs[0].Totals.BitsPerItem
	if len(learnt.Runs) != 8 {
		t.Fatalf("%d runs, want one for each of eight losses", len(learnt.Runs))
	}
	for _, run := range learnt.Runs {
		x, p := run.Totals, 0.0
		if x.Sent > 0 {
			p = float64(x.Lost) / float64(x.Sent)
		}
		if x.BitsPerItem > static || p < 0.1 && x.BitsPerItem > 0.95*static {
			t.Errorf("loss %v: %.3f bits a byte, static %.3f", run.Set["down.loss"], x.BitsPerItem, static)
		}
		want, batches := 1-math.Pow(1-p, 10), float64(x.Sent)/10
		for _, g := range x.Receiver {
			if g.Name == "batches lost" && math.Abs(g.Value/100-want) > 4*math.Sqrt(want*(1-want)/batches)+2/batches {
				t.Errorf("loss %v: %.1f %% of batches, want %.1f", run.Set["down.loss"], g.Value, 100*want)
			}
		}
	}
}

// A cache shorter than the round trip: the sender falls back on calls in full; where
// only the receiver's is, calls are lost for want of a baseline.
func TestCachesAndRoundTrips(t *testing.T) {
	run := func(sender, receiver int) Totals {
		c := Default()
		c.Data.Source, c.Encoder.Name, c.Duration = "rpc", "rpc-delta", 5*time.Second
		c.Sender.History, c.Receiver.History, c.Receiver.Playout = sender, receiver, 0
		if err := c.Set("link.latency", "100ms"); err != nil {
			t.Fatal(err)
		}
		return mustRun(t, c, RunOptions{}).Runs[0].Totals
	}
	if got := run(64, 64); got.BitsPerItem > 0.68*540 || got.Failures != (Failures{}) {
		t.Errorf("caches of 64: %.1f bits a call, failures %+v", got.BitsPerItem, got.Failures)
	} else if e := got.Rounding; e == nil || e.Max < 0.04 || e.Max > 0.05+0.06 || e.Mean > 0.03 { // and a rounding of a float32 of 350,000 cm
		t.Errorf("what was sent is off by %+v", e)
	}
	if got := run(8, 64); got.BitsPerItem != 544 || got.Failures != (Failures{}) {
		t.Errorf("a sender's cache of 8: %.1f bits a call, want 544; failures %+v", got.BitsPerItem, got.Failures)
	}
	if got := run(64, 8); got.Failures.NoBaseline == 0 {
		t.Errorf("a receiver's cache of 8: failures %+v", got.Failures)
	}
}

// Calls whose packets name baselines that the receiver does not have, because they are
// still to come or lie before the first: they are lost for want of one, whatever they
// hold, and what is honest goes on as if they had never come.
func TestBaselinesOfTheFuture(t *testing.T) {
	for _, name := range []string{"rpc-delta", "rpc-adaptive"} {
		c := Default()
		c.Data.Source, c.Encoder.Name = "rpc", name
		s, err := NewSession(c, SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(2 * time.Second); err != nil {
			t.Fatal(err)
		}
		rcv := s.lanes[0].rcv
		top, _ := rcv.History().Newest()
		codec, err := table.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, forged := range []struct {
			seq      uint64
			baseline byte
		}{
			{top + 2, 1},   // the one between has not come
			{top + 40, 7},  // nor those
			{top + 9, 200}, // before the first
		} {
			header := []byte{byte(forged.seq), byte(forged.seq >> 8), forged.baseline, codec.ID, byte(s.lanes[0].snd.Epoch())}
			if got := rcv.Receive(append(header, make([]byte, 30)...)); got.Outcome != endpoint.NoBaseline || got.Frame != nil {
				t.Errorf("%s: packet %d on the one %d before it: %v", name, forged.seq, forged.baseline, got.Outcome)
			}
		}
		if err := s.RunUntil(6 * time.Second); err != nil {
			t.Fatal(err)
		}
		if got := s.lanes[0].totals(s.Now()); got.Wrong != 0 || got.DecodeRefused != 0 || got.Failures.NoBaseline != 0 || got.Decoded < 350 {
			t.Errorf("%s: %d decoded, %d wrong, %+v", name, got.Decoded, got.Wrong, got.Failures)
		}
	}
}

// ofCubes lists the encoders that take snapshots of cubes: tests that swap at random
// among all of them can swap to no other.
func ofCubes() []encoders.Codec {
	s := frame.Cubes(frame.WalkoffCubes)
	return slices.DeleteFunc(table.All(), func(c encoders.Codec) bool { return !c.Suits(s) })
}
