package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// randomChange returns a random change: a swap, parameters, or settings of the links.
func randomChange(rng *rand.Rand) config.Change {
	percent := func(most float64) string { return fmt.Sprintf("%.2f%%", rng.Float64()*most) }
	millis := func(most int) string { return fmt.Sprintf("%dms", rng.IntN(most)) }
	link := func() map[string]any {
		return map[string]any{
			"loss": percent(60), "latency": millis(300), "jitter": millis(80), "reorder": percent(30),
			"duplicate": percent(30), "corrupt": percent(20),
		}
	}
	var ch config.Change
	switch rng.IntN(6) {
	case 0, 1:
		all := labtest.CubeCodecs()
		codec := all[rng.IntN(len(all))]
		ch = config.NewChange("encoder.name", codec.Name)
		infos := codec.ParamInfo()
		if len(infos) > 0 && rng.IntN(2) == 0 {
			p := infos[rng.IntN(len(infos))]
			if p.Type == "int" && p.Min != nil && p.Max != nil {
				lo, hi := int(*p.Min), int(*p.Max)
				ch = config.NewChange("encoder.name", codec.Name, "encoder.params."+p.Name, int64(lo+rng.IntN(hi-lo+1)))
			}
		}
	case 2:
		ch = config.NewChange("down", link())
	case 3:
		ch = config.NewChange("up", link())
	case 5:
		ch = config.NewChange("sender.every", 1+rng.IntN(8))
	case 4:
		all := lossmodel.Profiles()
		ch = config.NewChange("profile", all[rng.IntN(len(all))].Name)
	}
	return ch
}

// checkOutcomes checks that the outcomes add up, with the link's own count of packets in flight.
func checkOutcomes(t *testing.T, s *Session) {
	t.Helper()
	for _, l := range s.lanes {
		x := l.totals(s.Now())
		sum := x.Decoded + x.Stale + x.Duplicate + x.Lost + x.Failures.NoBaseline + x.Failures.Corrupt +
			x.Failures.UnknownCodec + x.Wrong + int64(l.paths.downLink.InFlight())
		if x.Sent+x.Duplicated != sum {
			t.Errorf("sent %d + duplicated %d, but outcomes and packets in flight sum to %d: %+v", x.Sent, x.Duplicated, sum, x)
		}
		if x.InFlight != int64(l.paths.downLink.InFlight()) {
			t.Errorf("%d in flight by the meter, %d by the link", x.InFlight, l.paths.downLink.InFlight())
		}
	}
}

// With any pattern of loss, reordering, duplication and corruption, and any schedule of swaps and
// changes of parameters and links, no frame is wrong.
func TestNoWrongFrames(t *testing.T) {
	for seed := range testkit.ChooseLong[uint64](60, 15, 5) {
		rng := rand.New(rand.NewPCG(seed, 99))
		c := config.Default()
		c.Seed = seed
		c.Sender.History, c.Receiver.History = 1+rng.IntN(255), 1+rng.IntN(255)
		c.Receiver.Playout = 0
		c.Sender.RateHz = 1 + rng.IntN(60)
		s := mustOpen(t, c, labtest.NewCubeSource(1+rng.IntN(40), 6, -1, seed), Options{})
		refused := 0
		for range 150 {
			if err := s.Change(randomChange(rng)); err != nil {
				refused++
			}
			mustRun(t, s, s.now+time.Duration(rng.IntN(400))*time.Millisecond)
		}
		checkOutcomes(t, s)
		got := s.lanes[0].totals(s.Now())
		if got.Wrong != 0 {
			t.Errorf("seed %d: %d wrong of %d", seed, got.Wrong, got.Sent)
		}
		if got.Decoded == 0 {
			t.Errorf("seed %d: nothing was decoded, so nothing was tested", seed)
		}
		if refused > 100 {
			t.Errorf("seed %d: %d of 150 changes were refused, so little was tested", seed, refused)
		}
	}
}

// Without loss, and with histories longer than the round trip, swaps of encoders cause no failures.
func TestSwapsWithoutLossNeverFail(t *testing.T) {
	all := labtest.CubeCodecs()
	for seed := range testkit.ChooseLong[uint64](10, 2, 1) {
		c := config.Default()
		c.Seed = seed
		testkit.Set(t, c, "link.latency", "150ms", "link.jitter", "40ms", "down.duplicate", "3%", "down.reorder", "10%")
		s := mustOpen(t, c, labtest.NewCubeSource(30, 6, -1, seed), Options{})
		rng := rand.New(rand.NewPCG(seed, 3))
		swaps := 0
		for range 300 {
			mustChange(t, s, config.NewChange("encoder.name", all[rng.IntN(len(all))].Name))
			swaps++
			mustRun(t, s, s.now+time.Duration(rng.IntN(250))*time.Millisecond)
		}
		checkOutcomes(t, s)
		got := s.lanes[0].totals(s.Now())
		if f := got.Failures; f != (figures.Failures{}) || got.Wrong != 0 || got.Lost != 0 || got.EncodeFailed != 0 {
			t.Errorf("seed %d: after %d swaps without loss: %+v, wrong %d, lost %d", seed, swaps, f, got.Wrong, got.Lost)
		}
		if s.lanes[0].snd.Epoch() < 50 {
			t.Errorf("seed %d: only %d epochs began", seed, s.lanes[0].snd.Epoch())
		}
	}
}

// Sequence numbers, acks and epochs wrap correctly in a run of 80,000 packets with loss.
func TestSequenceWraps(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, "link.loss", "5%", "link.latency", "50ms", "link.jitter", "16ms", "down.duplicate", "1%")
	s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 1), Options{KeepSamples: 100, Endless: true})
	names := []string{"quantized", "relative-orientation"}
	for i := 0; s.framesDue < 80_000; i++ {
		mustChange(t, s, config.NewChange("encoder.name", names[i%2]))
		mustRun(t, s, s.now+4*time.Second)
	}
	checkOutcomes(t, s)
	got := s.lanes[0].totals(s.Now())
	if got.Wrong != 0 || got.Failures != (figures.Failures{}) {
		t.Errorf("after %d packets: wrong %d, failures %+v", got.Sent, got.Wrong, got.Failures)
	}
	if s.lanes[0].snd.Epoch() <= 256 {
		t.Errorf("only %d epochs: they did not wrap", s.lanes[0].snd.Epoch())
	}
	if want := float64(got.Sent) * 0.94; float64(got.Decoded+got.Stale) < want {
		t.Errorf("%d decoded of %d sent at 5 %% loss: the endpoints lost each other", got.Decoded+got.Stale, got.Sent)
	}
}

// The endpoints recover from an outage of more than half the sequence range.
func TestRecoveryAfterLongOutage(t *testing.T) {
	c := config.Default()
	if err := c.Set("link.latency", "20ms"); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 2), Options{KeepSamples: 10, Endless: true})
	run := func(d time.Duration) {
		t.Helper()
		mustRun(t, s, s.now+d)
	}
	run(5 * time.Second)
	mustChange(t, s, config.NewChange("down.loss", "100%"))
	run(40_000 * time.Second / 60)
	before := s.lanes[0].totals(s.Now())
	mustChange(t, s, config.NewChange("down.loss", "0%"))
	run(10 * time.Second)
	after := s.lanes[0].totals(s.Now())
	if n := after.Decoded - before.Decoded; n < 595 {
		t.Errorf("%d of 600 packets decoded after the outage", n)
	}
	if after.Wrong != 0 {
		t.Errorf("%d wrong", after.Wrong)
	}
}
