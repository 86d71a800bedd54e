package experiment

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/testkit"
)

// newCrowdRunner returns a running crowd of the demo recording that advances only when a test makes it.
func newCrowdRunner(t *testing.T, clients string) (*CrowdRunner, *atomic.Int64) {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, "crowd.clients", clients, "crowd.rtt", "uniform min=20ms max=200ms", "crowd.loss", "5%")
	now := new(atomic.Int64) // wall time in nanoseconds; the goroutine that saves reads it too
	r, err := NewCrowdRunner(context.Background(), c, RunnerOptions{Clock: func() time.Duration { return time.Duration(now.Load()) }, Reports: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r, now
}

// play advances the wall clock of r by d, in ticks.
func play(r *CrowdRunner, now *atomic.Int64, d time.Duration) {
	for end := now.Load() + int64(d); now.Load() < end; now.Add(int64(tickInterval)) {
		r.advance(context.Background())
	}
	r.publish()
}

// TestCrowdRunnerFollowsTheClock checks pausing, stepping, speed and seeking in both directions.
func TestCrowdRunnerFollowsTheClock(t *testing.T) {
	r, now := newCrowdRunner(t, "20")
	ctx := context.Background()
	play(r, now, time.Second)
	if at := r.live.Now(); at < 900*time.Millisecond || at > 1010*time.Millisecond {
		t.Errorf("after a second virtual time is %v", at)
	}
	r.handleCommand(ctx, Command{Toggle: true})
	sent := r.Snapshot().Crowd.Totals.Sent
	r.handleCommand(ctx, Command{Step: 3})
	play(r, now, time.Second)
	r.publish()
	snap := r.Snapshot()
	if snap.State != engine.Paused || snap.Crowd.Samples[len(snap.Crowd.Samples)-1].Packets == 0 {
		t.Errorf("state %v, %d samples", snap.State, len(snap.Crowd.Samples))
	}
	if got := r.live.View(0).Crowd; got.Selected != 0 || got.Packets != nil {
		t.Error("packets of a client without a selection")
	}
	if n := r.live.FrameAt(0); n > r.live.Now()+20*time.Millisecond {
		t.Errorf("the next frame is at %v, now is %v", n, r.live.Now())
	}
	speed := 4.0
	r.handleCommand(ctx, Command{Toggle: true, Speed: &speed})
	before := r.live.Now()
	play(r, now, time.Second)
	if d := r.live.Now() - before; d < 3500*time.Millisecond || d > 4100*time.Millisecond {
		t.Errorf("at speed 4 a second takes %v", d)
	}
	back := 700 * time.Millisecond
	r.handleCommand(ctx, Command{Seek: &back, Pause: new(true)})
	play(r, now, time.Second)
	if r.live.Now() != back || sent < 20*54 {
		t.Errorf("sought %v, at %v; sent %d in the first second", back, r.live.Now(), sent)
	}
}

// TestCrowdRunnerChanges checks that another number of clients takes effect at once, that other changes restart the run,
// that undo and redo return, and that refused changes keep the run.
func TestCrowdRunnerChanges(t *testing.T) {
	r, now := newCrowdRunner(t, "20")
	ctx := context.Background()
	play(r, now, time.Second)
	do := func(c Command, clients int, notice string) {
		t.Helper()
		r.notice.Text = ""
		r.handleCommand(ctx, c)
		if got := r.live.Config().Crowd.Clients; got != clients || r.notice.Text != notice {
			t.Errorf("%d clients, want %d; notice %q, want %q", got, clients, r.notice.Text, notice)
		}
	}
	change := func(key string, v any) Command {
		ch := config.NewChange(key, v)
		return Command{Change: &ch}
	}
	do(change("clients", 30), 30, "")
	if r.live.Now() == 0 || len(r.marks) != 1 {
		t.Errorf("the run continues at %v with marks %v", r.live.Now(), r.marks)
	}
	do(change("clients", 0), 30, "crowd.clients: cannot begin or end a crowd during a run; expected 1 to 10000 in a run that begins with crowd.clients")
	do(Command{Undo: true}, 20, "the last change is undone")
	do(Command{Undo: true}, 20, "nothing to undo")
	do(Command{Redo: true}, 30, "the change is made again")
	play(r, now, time.Second)
	do(change("mark", "here"), 30, "")
	do(change("control", "ack-clock"), 30, `sender.control: a crowd sends every packet; expected "off"`)
	if len(r.marks) != 2 || r.live.Now() == 0 {
		t.Errorf("marks %v at %v: a refused change restarted the run", r.marks, r.live.Now())
	}
	do(change("encoder.name", "rotor"), 30, "run restarted: encoder rotor")
	if r.live.Now() != 0 || len(r.marks) != 0 {
		t.Errorf("a new run begins at %v with marks %v", r.live.Now(), r.marks)
	}
	do(Command{Undo: true}, 30, "nothing to undo")
}

// TestCrowdRunnerSaves checks that reports saved while the run continues and after its end have the digest of a headless
// run of the same duration, and can be replayed.
func TestCrowdRunnerSaves(t *testing.T) {
	r, now := newCrowdRunner(t, "20")
	ctx := context.Background()
	play(r, now, time.Second)
	ch := config.NewChange("clients", 25)
	r.handleCommand(ctx, Command{Change: &ch})
	play(r, now, 500*time.Millisecond)
	dir := ""
	r.handleCommand(ctx, Command{Save: &dir})
	play(r, now, 100*time.Millisecond)
	r.finishSave()
	back := 300 * time.Millisecond // a change follows
	r.handleCommand(ctx, Command{Seek: &back, Pause: new(true)})
	play(r, now, 100*time.Millisecond)
	r.handleCommand(ctx, Command{Save: &dir})
	r.finishSave()
	r.handleCommand(ctx, Command{Pause: new(false)})
	play(r, now, 1500*time.Millisecond)
	r.Stop()
	c := r.live.Recorded()
	want, err := Run(ctx, c, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last, err := r.Save("")
	if err != nil {
		t.Fatal(err)
	}
	folders, _ := filepath.Glob(filepath.Join(r.opt.Reports, "*"))
	if len(folders) != 3 {
		t.Fatalf("%d reports: %v", len(folders), folders)
	}
	for _, path := range folders {
		got, err := Replay(ctx, path, RunOptions{})
		if err != nil || !got.Same {
			t.Errorf("%s: %v, %+v", path, err, got)
		}
		if path == last && got.Runs[0].Want != want.Runs[0].Digests() {
			t.Errorf("saved %s, a headless run has %s", got.Runs[0].Want, want.Runs[0].Digests())
		}
	}
}

// TestCrowdRunnerPackets checks the packets of a client against its counts.
func TestCrowdRunnerPackets(t *testing.T) {
	r, now := newCrowdRunner(t, "600") // two shards
	r.handleCommand(context.Background(), Command{Client: 550})
	play(r, now, 900*time.Millisecond) // fewer packets than are kept
	r.publish()                        // virtual time stands still, so the figures are of now
	view := r.Snapshot().Crowd
	var n [packetlog.NumOutcomes]int
	for i, p := range view.Packets {
		n[p.Outcome]++
		if int(p.Seq) != i || p.Wire <= p.Payload || p.Payload == 0 || p.Outcome == packetlog.Decoded && p.Arrived <= p.Sent {
			t.Errorf("%+v", p)
		}
	}
	x := &view.Clients[view.Selected-1]
	sent := len(view.Packets)
	if lost := float64(n[packetlog.Lost]) / float64(sent); view.Selected != 550 || sent < 50 || lost != x.LossRatio.Or(-1) {
		t.Errorf("client %d: %d packets, lost %v, want %v", view.Selected, sent, lost, x.LossRatio)
	}
	if n[packetlog.Decoded] < 40 || n[packetlog.InFlight] > 20 {
		t.Errorf("outcomes %v", n)
	}
	sum := 0
	for _, e := range view.Encodings {
		sum += e.Clients
	}
	if sum != 600 {
		t.Errorf("the encodings have %d clients", sum)
	}
}

// TestCrowdRunnerRuns checks that a started crowd runs, obeys commands of other goroutines, and saves while it runs and
// after it was stopped.
func TestCrowdRunnerRuns(t *testing.T) { synctest.Test(t, crowdRunnerRuns) }

func crowdRunnerRuns(t *testing.T) {
	c := config.Default()
	if err := c.Set("crowd.clients", 30); err != nil {
		t.Fatal(err)
	}
	r, err := NewCrowdRunner(context.Background(), c, RunnerOptions{Clock: wallClock(), Reports: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(context.Background())
	wait := func(what string, done func(*engine.Snapshot) bool) {
		t.Helper()
		for end := time.Now().Add(patience); !done(r.Snapshot()); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	ch, dir := config.NewChange("clients", 40), ""
	r.Do(Command{Client: 3})
	wait("packets of a client", func(s *engine.Snapshot) bool { return len(s.Crowd.Packets) > 0 })
	r.Do(Command{Change: &ch})
	wait("more clients", func(s *engine.Snapshot) bool { return len(s.Crowd.Clients) == 40 })
	r.Do(Command{Save: &dir})
	wait("a report", func(s *engine.Snapshot) bool { return s.Saved > 0 })
	r.Stop()
	if _, err := r.Save(""); err != nil || r.Do(Command{}) {
		t.Errorf("after the end: %v", err)
	}
}
