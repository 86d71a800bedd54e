package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/view"
	"wirelab/internal/testkit"
	"wirelab/internal/units"
)

// stopping is a source of cubes of which none moves after a number of frames.
type stopping struct {
	*labtest.CubeSource
	moving int
	last   *frame.Frame
}

func (s *stopping) Next(f *frame.Frame) error {
	if s.moving--; s.moving < 0 {
		f.CopyFrom(s.last)
		return nil
	}
	err := s.CubeSource.Next(f)
	s.last.CopyFrom(f)
	return err
}

// budgetSession returns a session of 60 cubes, which stop after stop, over links of 30 +- 5 ms.
func budgetSession(t *testing.T, seed uint64, stop time.Duration, pairs ...string) *Session {
	t.Helper()
	c := config.Default()
	pairs = append([]string{"link.latency", "30ms", "link.jitter", "5ms", "link.loss", "5%", "seed", fmt.Sprint(seed), "sender.budget", "64kbit"}, pairs...)
	testkit.Set(t, c, pairs...)
	src := &stopping{labtest.NewCubeSource(60, 20, -1, seed), int(stop * 60 / time.Second), frame.Cubes(60).NewFrame()}
	s := mustOpen(t, c, src, Options{Endless: true, KeepSent: true, KeepPackets: 1000})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// With random budgets, bursts, intervals and encoders, no packet ends a time of 100 ms, or of the interval
// if that is longer, with more bytes than its budget allows. After 4 s the budget changes.
func TestBudgetHoldsInEveryWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 6))
	fullest := 0.0
	for seed := range uint64(testkit.Choose(100, 15)) {
		rates := [2]int{4000 + rng.IntN(150_000), 4000 + rng.IntN(150_000)} // bits per second
		burst, every := 1+rng.IntN(4), 1+rng.IntN(12)
		encoder := []string{"relative-orientation", "adaptive", "kinetic-lite"}[rng.IntN(3)]
		s := budgetSession(t, seed, time.Minute, "sender.budget", fmt.Sprint(rates[0], "bit"), "sender.budget_burst", fmt.Sprint(burst),
			"sender.every", fmt.Sprint(every), "encoder.name", encoder)
		advance(t, s, 4*time.Second)
		change(t, s, "budget", fmt.Sprint(rates[1], "bit"))
		advance(t, s, 4*time.Second)
		interval := time.Duration(every) * time.Second / 60
		window := max(100*time.Millisecond, interval)
		var sent []*packetlog.Record
		for _, r := range s.lanes[0].log.Forward() {
			sent = append(sent, r)
			bytes, bps := 0, rates[0]
			for _, o := range sent {
				if o.Sent > r.Sent-window+time.Microsecond { // times of ticks are rounded
					bytes += o.Wire - 28 // without IP and UDP
				}
			}
			if r.Sent >= 4*time.Second {
				bps = rates[1]
			}
			used := float64(8*bytes) / (float64(bps) * (window + time.Duration(burst-1)*interval).Seconds())
			fullest = max(fullest, used)
			if used > 1 {
				t.Fatalf("seed %d: %d bytes in the %v that end at %v, %.3f times what %d bit/s allow", seed, bytes, window, r.Sent, used, bps)
			}
		}
	}
	if fullest < 0.99 {
		t.Errorf("no window was more than %.2f full", fullest)
	}
}

// From the first packet on, a lane never sends more than the budget of the time and of one packet,
// whatever the budget, the rate and the burst are, and while they change.
func TestBudgetFromFirstPacket(t *testing.T) {
	for seed := range uint64(testkit.Choose(60, 12)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		bps, hz, every := 4000, []int{10, 20, 60}[seed%3], 1+rng.IntN(10)
		s := budgetSession(t, seed, time.Minute, "sender.budget", "4kbit", "sender.rate_hz", fmt.Sprint(hz), "sender.every", fmt.Sprint(every),
			"sender.budget_burst", fmt.Sprint(1+rng.IntN(16)))
		allowed := 0.0 // bits
		for n := range 200 {
			mustRun(t, s, s.cadence.SeqTime(uint64(n*every)))
			allowed += float64(bps*every) / float64(hz)
			if used := float64(8 * s.lanes[0].views.Progress().Bytes); used > allowed+0.01 {
				t.Fatalf("seed %d, packet %d: %g bits are used of %g", seed, n, used, allowed)
			}
			if n%20 < 19 {
				continue
			}
			key, value := "budget_burst", fmt.Sprint(1+rng.IntN(16))
			if rng.IntN(2) == 0 {
				bps = 4000 + rng.IntN(30_000)
				key, value = "budget", fmt.Sprint(bps, "bit")
			}
			var ch config.Change
			if err := ch.Set(key, value); err != nil {
				t.Fatal(err)
			}
			mustChange(t, s, ch)
		}
	}
}

// A budget of which a packet has less than a row takes is spent on fewer packets with rows, not on
// packets without: when motion stops, the display becomes right.
func TestBudgetOfLessThanARow(t *testing.T) {
	for _, budget := range []string{"3kbit", "4kbit", "6kbit", "8kbit"} {
		for _, encoder := range []string{"relative-orientation", "adaptive", "kinetic-lite"} {
			s := budgetSession(t, 1, time.Second, "sender.budget", budget, "encoder", encoder)
			mustRun(t, s, 8*time.Second)
			if !slices.Equal(s.lanes[0].rcv.View().Display(), s.feed.current.Table) {
				t.Errorf("%s, %s: 7 s after motion stopped, the display is wrong", budget, encoder)
			}
		}
	}
}

// The kept packets of a lane with a budget are described bit by bit, and their acks.
func TestTraceOfViews(t *testing.T) {
	s := budgetSession(t, 1, time.Minute)
	mustRun(t, s, 3*time.Second)
	for seq := uint64(100); seq < 150; seq++ {
		got := s.Trace(seq)
		if got.Packet == nil || got.Packet.Limit != "" || len(got.Packet.Payload.Spans) == 0 || got.Packet.Header[1].Name != "ack" {
			t.Fatalf("packet %d: %+v", seq, got.Packet)
		}
		bits := 0
		for _, f := range got.AckOf {
			bits += f.Bits
		}
		if len(got.Ack) > 0 && bits != 8*len(got.Ack) {
			t.Errorf("packet %d: %d bits of an ack of %d bytes are described: %v", seq, bits, len(got.Ack), got.AckOf)
		}
	}
}

// The points of a sweep after the first one are checked like sessions: weights that the data lack, and
// encoders that do not keep a budget.
func TestCheckerChecksBudgets(t *testing.T) {
	k := NewChecker(false)
	for _, c := range []struct{ pairs, want string }{
		{"", ""},
		{"sender.weights position=2", ""},
		{"sender.weights positon=2", "did you mean position?"},
		{"encoder.name raw", ""},
		{"encoder.name raw sender.budget 64kbit", "raw cannot encode part of a frame"},
	} {
		cfg := config.Default()
		words := strings.Fields(c.pairs)
		testkit.Set(t, cfg, words...)
		if err := k.Check(t.Context(), cfg); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.pairs, err, c.want)
		}
	}
}

// change applies a change to a session.
func change(t *testing.T, s *Session, key, value string) {
	t.Helper()
	var ch config.Change
	if err := errors.Join(ch.Set(key, value), s.Change(ch)); err != nil {
		t.Fatal(err)
	}
}

// advance runs a session for some time.
func advance(t *testing.T, s *Session, by time.Duration) {
	t.Helper()
	mustRun(t, s, s.now+by)
}

// A budget is set while the newest ack is so old that headers soon cannot name its packet, and the first
// packets are lost. The receiver does not begin with another frame than the sender.
func TestBudgetAfterOldAck(t *testing.T) {
	for _, silence := range []time.Duration{3 * time.Second, 3500 * time.Millisecond, 4200 * time.Millisecond, 5 * time.Second} {
		s := budgetSession(t, 1, time.Minute, "sender.budget", "off", "link.loss", "0%")
		advance(t, s, time.Second)
		change(t, s, "up.loss", "100%")
		advance(t, s, silence)
		change(t, s, "down.loss", "100%")
		change(t, s, "budget", "64kbit")
		advance(t, s, 800*time.Millisecond)
		change(t, s, "link.loss", "0%")
		advance(t, s, 2*time.Second)
		l := s.lanes[0]
		if got := l.totals(s.Now()); got.Wrong != 0 || got.Failures.Corrupt != 0 || got.View.RowsPerPacket.Or(0) == 0 {
			t.Errorf("without acks for %v: %d wrong, %d corrupt: %v", silence, got.Wrong, got.Failures.Corrupt, l.lastErr)
		}
	}
}

// Over links of 100 ms with room for all rows, moving rows are about 100 ms old, also if the budget is
// set later, or removed for a while.
func TestAgesOfRows(t *testing.T) {
	for _, budgets := range [][]string{{"10mbit", "10mbit", "10mbit"}, {"off", "off", "10mbit"}, {"10mbit", "off", "10mbit"}} {
		s := budgetSession(t, 1, time.Minute, "sender.budget", budgets[0], "link.loss", "0%", "link.jitter", "0ms", "link.latency", "100ms")
		for _, b := range budgets {
			change(t, s, "budget", b)
			advance(t, s, 3*time.Second)
		}
		v := s.lanes[0].totals(s.Now()).View
		if mean := v.MeanRowAgeMS.Or(0); v.RowAgeMS.P50 < 80 || v.RowAgeMS.P99 > 120 || v.RowAgeMS.Max > 250 || mean < 60 || mean > 110 {
			t.Errorf("budgets %v: ages %+v with a mean of %v, want about 100 ms", budgets, v.RowAgeMS, v.MeanRowAgeMS)
		}
	}
}

// The longest wait of a row is the largest age of a row that the receiver shows, if the links have no
// delay and no loss: also of rows that are never sent, and while the budget has no room for a packet.
func TestLongestWait(t *testing.T) {
	for _, budget := range []string{"4kbit", "8kbit", "24kbit"} {
		for _, p := range view.Policies {
			s := budgetSession(t, 1, time.Minute, "sender.budget", budget, "sender.priority", p.Name, "link.latency", "0ms", "link.jitter", "0ms", "link.loss", "0%")
			oldest := time.Duration(0)
			for n := range uint64(600) {
				mustRun(t, s, s.cadence.SeqTime(n))
				oldest = max(oldest, slices.Max(append(s.lanes[0].views.Ages(), 0)))
			}
			got, want := s.lanes[0].totals(s.Now()).View.LongestWaitMS.Or(-1), units.Milliseconds(oldest)
			if tick := 1000.0 / 60; math.Abs(got-want) > 2*tick {
				t.Errorf("%s, %s: the longest wait is %.0f ms, the oldest row is %.0f ms old", budget, p.Name, got, want)
			}
		}
	}
}

// Without acks, a display begins with a frame that is older than the frames that the meter keeps. The
// ages of its rows are those of all frames of the source. Before the display begins, and after the
// budget was removed, ages are unknown.
func TestAgesOfOldDisplay(t *testing.T) {
	s := budgetSession(t, 1, time.Minute, "sender.budget", "off", "link.loss", "0%", "link.jitter", "0ms")
	var frames [][]int32 // of the source, by tick
	tick := func(by time.Duration) {
		for until := s.Now() + by; s.Now() < until; {
			if advance(t, s, time.Second/240); s.feed.framesTaken > uint64(len(frames)) {
				frames = append(frames, slices.Clone(s.feed.current.Table))
			}
		}
	}
	tick(2 * time.Second)
	change(t, s, "up.loss", "100%")
	tick(2 * time.Second)
	change(t, s, "budget", "16kbit")
	if p := s.Priorities(); p != nil && p.Ages != nil {
		t.Errorf("ages are known before the receiver shows view frames: %v", p.Ages)
	}
	tick(time.Second / 4)
	p, l := s.Priorities(), s.lanes[0]
	if p == nil || p.Ages == nil {
		t.Fatal("no ages")
	}
	const tickTime, kept = time.Second / 60, 60
	oldest, newest := time.Duration(0), len(frames)-1
	for i, age := range p.Ages {
		back := 0
		for shown := l.rcv.View().Display(); back < newest && !slices.Equal(rowOf(frames[newest-back], i), rowOf(shown, i)); back++ {
		}
		if want := time.Duration(back) * tickTime; age < want-time.Millisecond || back < kept && age > want+time.Millisecond {
			t.Errorf("row %d: age %v, want %v", i, age, want)
		}
		oldest = max(oldest, age)
	}
	if oldest < 2*time.Second || oldest > 2600*time.Millisecond { // the newest ack was of a frame sent 60 ms before its arrival
		t.Errorf("the oldest row is %v old, want 2.0 to 2.6 s", oldest)
	}
	change(t, s, "up.loss", "0%")
	change(t, s, "budget", "off")
	tick(time.Second)
	if p := s.Priorities(); p != nil {
		t.Errorf("priorities without a budget: %+v", p)
	}
}

// rowOf returns row i of a table of cubes.
func rowOf(table []int32, i int) []int32 { return table[i*frame.CubeFields:][:frame.CubeFields] }
