package engine

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// hiccupConfig returns a configuration whose line is slow from 5 to 7 s.
func hiccupConfig(t *testing.T, pairs ...any) *config.Config {
	t.Helper()
	c := config.Default()
	c.Duration = 20 * time.Second
	pairs = append(pairs, "down.rate", "300kbit", "down.queue", "64KB", "link.latency", "25ms", "receiver.playout_delay", "0s", "encoder.name", "changed-index")
	testkit.Set(t, c, pairs...)
	c.At = []config.StampedChange{config.Stamp(5*time.Second, config.NewChange("down.rate", "60kbit")),
		config.Stamp(7*time.Second, config.NewChange("down.rate", "300kbit"))}
	return c
}

// runCubes runs c to its end on 60 cubes of which 20 move.
func runCubes(t *testing.T, c *config.Config) *Result {
	t.Helper()
	s := mustOpen(t, c, labtest.NewCubeSource(60, 20, -1, 3), Options{})
	mustRun(t, s, c.Duration)
	return s.Result()
}

// Every control has wrong = 0, exact accounting, and a replay with the same digests and figures. Without a
// control, and with the control that sends everything, the packets are the same.
func TestControlsReplay(t *testing.T) {
	smallQueue := func(c *config.Config) *config.Config { // so that packets are lost too
		if err := c.Set("down.queue", "16KB"); err != nil {
			t.Fatal(err)
		}
		return c
	}
	plain := runCubes(t, smallQueue(hiccupConfig(t)))
	for _, name := range endpoint.Controls.Names() {
		r := runCubes(t, smallQueue(hiccupConfig(t, "sender.control", name)))
		x := &r.Totals
		if ended := x.Decoded + x.Stale + x.Duplicate + x.Lost + x.Failed() + x.InFlight + x.Wrong; ended != x.Sent || x.Wrong != 0 {
			t.Errorf("%s: %d packets sent, %d with an outcome, %d wrong", name, x.Sent, ended, x.Wrong)
		}
		if x.Control == nil || x.Sent+x.Control.Held != 1200 || int64(r.Frames) != x.Sent {
			t.Errorf("%s: %d sent and held back of 1200, %d frames", name, x.Sent+x.Control.Held, r.Frames)
		}
		held := int64(0)
		for _, n := range x.Control.HeldBy {
			held += n
		}
		if held != x.Control.Held || (name == "fixed") != (held == 0) {
			t.Errorf("%s: %d held back, %d by reason", name, x.Control.Held, held)
		}
		if (r.Digest == plain.Digest) != (name == "fixed") {
			t.Errorf("%s: digest %s, without a control %s", name, r.Digest, plain.Digest)
		}
		c, err := r.Replayable()
		if err != nil {
			t.Fatal(err)
		}
		again := runCubes(t, c)
		if again.Digest != r.Digest || again.Totals.AgeMS != x.AgeMS || again.Totals.Control.Held != x.Control.Held {
			t.Errorf("%s: the replay differs", name)
		}
	}
}

// Arrival times cost two bytes in every ack, and only with controls that need them.
func TestArrivalTimesAreBilled(t *testing.T) {
	feedback := func(control string) int64 {
		c := config.Default()
		c.Duration = 10 * time.Second
		if err := c.Set("sender.control", control); err != nil {
			t.Fatal(err)
		}
		r := runCubes(t, c)
		if r.Totals.Sent != 600 {
			t.Fatalf("%s sent %d packets on a perfect line, want 600", control, r.Totals.Sent)
		}
		return int64(r.Totals.FeedbackKbps*10_000 + 0.5)
	}
	without := feedback("off")
	for _, name := range endpoint.Controls.Names() {
		want := without
		if endpoint.NeedsArrivals(endpoint.Controls.Default(name)) {
			want += 600 * 2 * 8
		}
		if got := feedback(name); got != want {
			t.Errorf("%s: %d bits of acks, want %d", name, got, want)
		}
	}
}

// badLine adds 20 s of random changes of the links, of redundancy and of the control to c, and then a
// good line.
func badLine(t *testing.T, c *config.Config, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 29))
	change := func(at time.Duration, key, value string) {
		c.At = append(c.At, config.Stamp(at, config.NewChange(key, value)))
	}
	for at := time.Second; at < 20*time.Second; at += time.Duration(300+rng.IntN(3000)) * time.Millisecond {
		for range 1 + rng.IntN(3) {
			switch rng.IntN(7) {
			case 0:
				change(at, "link.loss", "100%") // until the next change of the loss, at most for 3 s
				change(at+time.Duration(rng.IntN(3000))*time.Millisecond, "link.loss", []string{"0%", "2%", "20%"}[rng.IntN(3)])
			case 1:
				change(at, "up.corrupt", []string{"0%", "10%", "90%"}[rng.IntN(3)])
			case 2:
				change(at, "link.jitter", []string{"0ms", "5ms", "40ms"}[rng.IntN(3)]) // reorders
			case 3:
				change(at, "link.latency", []string{"5ms", "25ms", "100ms"}[rng.IntN(3)])
			case 4:
				change(at, "redundancy", []string{"none", "repeat n=1", "xor data=4"}[rng.IntN(3)])
			case 5:
				change(at, "control", endpoint.Controls.Names()[rng.IntN(len(endpoint.Controls))])
			default:
				change(at, "down.rate", []string{"10kbit", "60kbit", "150kbit", "1mbit"}[rng.IntN(4)])
			}
		}
	}
	for _, s := range [][2]string{{"link.loss", "0%"}, {"up.corrupt", "0%"}, {"link.jitter", "0ms"}, {"link.latency", "25ms"},
		{"redundancy", "none"}, {"control", c.Sender.Control.String()}, {"down.rate", "300kbit"}} {
		change(23*time.Second, s[0], s[1])
	}
}

// A session recovers within 10 s once its line is good, with each control that promises it, whatever
// happened in the 20 s before: outages, damaged acks, reordering, rates, redundancy, live changes of the
// control; with messages for odd seeds. Sending everything does not always recover.
func TestSessionsRecover(t *testing.T) {
	fixedIsStuck := false
	for _, control := range []string{"fixed", "ack-clock", "gcc"} {
		for seed := uint64(3); seed < testkit.ChooseLong[uint64](100, 20, 6); seed++ {
			c := hiccupConfig(t, "sender.control", control, "messages.rate_hz", seed%2*10)
			c.At, c.Duration = nil, 36*time.Second
			badLine(t, c, seed)
			s := mustOpen(t, c, labtest.NewCubeSource(60, 20, -1, seed), Options{})
			mustRun(t, s, 33*time.Second)
			oldest := uint64(0) // packets between the newest one and the newest acked one
			for s.Now() < 35*time.Second {
				mustRun(t, s, s.now+50*time.Millisecond)
				acked, _ := s.lanes[0].snd.Acked()
				oldest = max(oldest, s.lanes[0].snd.Seq()-acked)
			}
			switch isFresh := oldest <= 18; { // 300 ms
			case isFresh:
			case control == "fixed":
				fixedIsStuck = true
			default:
				t.Errorf("%s, seed %d: 10 s after the line became good, %d snapshots are unacked", control, seed, oldest)
			}
			if wrong := s.Result().Totals.Wrong; len(s.refused) > 0 || wrong != 0 {
				t.Errorf("%s, seed %d: %d wrong, refused changes %v", control, seed, wrong, s.refused)
			}
		}
	}
	if !fixedIsStuck {
		t.Error("every snapshot was sent and all sessions recovered: the lines are too good to test anything")
	}
}

// Two lanes with the same encoder and different controls have links of their own: one stays in the
// queue, the other does not.
func TestLanesWithControls(t *testing.T) {
	c := hiccupConfig(t)
	if err := c.Set("shadow[0].name", "changed-index"); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("shadow[0].control", "ack-clock"); err != nil {
		t.Fatal(err)
	}
	r := runCubes(t, c)
	alone := runCubes(t, hiccupConfig(t))
	if r.Digest != alone.Digest {
		t.Error("the shadow changed the first lane")
	}
	shadow := &r.Shadows[0]
	if shadow.Label != "changed-index control=ack-clock" || r.Label != "changed-index" || r.Totals.Control != nil {
		t.Errorf("labels %q and %q", r.Label, shadow.Label)
	}
	control := shadow.Totals.Control
	if control == nil || control.Held == 0 || shadow.Totals.Lost > 0 {
		t.Fatalf("the shadow: %+v, %d lost", control, shadow.Totals.Lost)
	}
	if shadow.Totals.AgeMS.P95 > r.Totals.AgeMS.P95/2 || shadow.Totals.Wrong != 0 {
		t.Errorf("age p95 %g ms with the control, %g without", shadow.Totals.AgeMS.P95, r.Totals.AgeMS.P95)
	}
	if last := control.Steps[len(control.Steps)-1]; last.TS != 7 || last.DrainedS.Or(99) > 3 || last.RateS.Or(99) > 3 {
		t.Errorf("recovery %+v", control.Steps)
	}
	if d := control.Decisions[0]; d.Reason != "unacked" || d.TS < 5 || !strings.HasPrefix(d.Text, "held back: oldest unacked snapshot is ") {
		t.Errorf("first decision %+v", d)
	}
}

// The snapshot of a running session has the control's rate and its decisions.
func TestControlInSnapshot(t *testing.T) {
	c := hiccupConfig(t, "sender.control", "gcc")
	s := mustOpen(t, c, labtest.NewCubeSource(60, 20, -1, 3), Options{})
	mustRun(t, s, 8*time.Second)
	v := s.View(0).Lanes[0].Control
	if v == nil || v.TargetBps == 0 || v.Held == 0 || len(v.Decisions) < 2 {
		t.Fatalf("%+v", v)
	}
	held := 0
	for _, x := range s.lanes[0].meter.Samples() {
		held += x.Held
		if !x.Controlled || x.TargetBps == 0 {
			t.Fatalf("sample at %v: target %d", x.T, x.TargetBps)
		}
	}
	if int64(held) > v.Held || int64(held) < v.Held-6 { // the last sample is not complete
		t.Errorf("%d held back in samples, %d in all", held, v.Held)
	}
	n := len(v.Decisions)
	mustRun(t, s, 12*time.Second)
	if len(v.Decisions) != n {
		t.Error("the snapshot changed")
	}
}
