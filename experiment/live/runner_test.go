package live

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// lab is a runner of a test.
type lab struct {
	*Runner
	t *testing.T
}

// newLab opens an experiment of c with the real clock, unless opt has another. It stops at the end of
// the test.
func newLab(t *testing.T, c *config.Config, opt Options) lab {
	t.Helper()
	if opt.Clock == nil {
		opt.Clock = labtest.WallClock()
	}
	r, err := New(t.Context(), c, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return lab{r, t}
}

// startLab starts an experiment of c.
func startLab(t *testing.T, c *config.Config) lab {
	t.Helper()
	r := newLab(t, c, Options{Reports: t.TempDir()})
	r.Start(context.Background())
	return r
}

// endless returns labtest.QuickConfig without a script and an end.
func endless(t *testing.T) *config.Config {
	c := labtest.QuickConfig(t)
	c.At, c.Duration = nil, 0
	return c
}

// change returns a command that sets keys.
func change(pairs ...any) Command { ch := config.NewChange(pairs...); return Command{Change: &ch} }

// patience is the timeout of await.
const patience = time.Minute

// await polls snapshots until ok accepts one.
func (r lab) await(what string, ok func(*engine.Snapshot) bool) *engine.Snapshot {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s := r.Snapshot()
		if ok(s) {
			return s
		}
		if s.State == engine.Broken {
			r.t.Fatalf("the lab broke: %v", s.Err)
		}
	}
	r.t.Fatalf("never saw %s", what)
	return nil
}

// send sends a command when the queue has room.
func (r lab) send(c Command) {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if r.Do(c) {
			return
		}
	}
	r.t.Fatal("the queue of commands stays full")
}

// play runs a lab that was not started for d of the time of its manual clock.
func (r lab) play(clock *manualClock, d time.Duration) {
	for end := clock.Load() + int64(d); clock.Load() < end; clock.Add(int64(tickInterval)) {
		r.advance(r.t.Context())
	}
	r.publish()
}

// manualClock is a clock that only a test advances. The goroutine that saves reads it too.
type manualClock struct{ atomic.Int64 }

func (c *manualClock) now() time.Duration { return time.Duration(c.Load()) }

// saveAndReplay stops the lab, saves its report, checks that it replays to the same digest, and returns
// its folder.
func (r lab) saveAndReplay() (path string) {
	r.t.Helper()
	r.Stop()
	path, err := r.Save("")
	if err != nil {
		r.t.Fatal(err)
	}
	r.checkReplay(path)
	return path
}

// checkReplay checks that the report in a folder replays to the same digest.
func (r lab) checkReplay(path string) {
	r.t.Helper()
	again, err := experiment.Replay(r.t.Context(), path, experiment.RunOptions{})
	if err != nil || !again.Same {
		r.t.Errorf("replayed: %v, %+v", err, again)
	}
}

func TestRunnerReportsErrors(t *testing.T) { synctest.Test(t, runnerReportsErrors) }

func runnerReportsErrors(t *testing.T) {
	r := startLab(t, labtest.QuickConfig(t))
	r.send(change("encoder.name", "relative-orientatoin"))
	s := r.await("a complaint", func(s *engine.Snapshot) bool { return s.Notice.Bad })
	if want := "did you mean relative-orientation?"; !strings.Contains(s.Notice.Text, want) {
		t.Errorf("%q does not contain %q", s.Notice.Text, want)
	}
	if s.State == engine.Broken {
		t.Error("a typo broke the lab")
	}
}

func TestPauseAndStep(t *testing.T) { synctest.Test(t, pauseAndStep) }

func pauseAndStep(t *testing.T) {
	r := startLab(t, labtest.QuickConfig(t))
	r.send(Command{Pause: new(true)})
	s := r.await("the pause", func(s *engine.Snapshot) bool { return s.State == engine.Paused })
	sent := s.Lanes[0].Totals.Sent
	for i := range int64(5) {
		r.send(Command{Step: 1})
		s = r.await("one more frame", func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Sent > sent+i })
		if s.Lanes[0].Totals.Sent != sent+i+1 || s.State != engine.Paused {
			t.Fatalf("step %d: %d frames instead of 1", i, s.Lanes[0].Totals.Sent-sent-i)
		}
	}
}

// An error of the source ends the session with a message, not with a panic.
func TestSourceErrorEndsSession(t *testing.T) { synctest.Test(t, sourceErrorEndsSession) }

func sourceErrorEndsSession(t *testing.T) {
	c := config.Default()
	s, err := engine.NewSessionFromSource(c, failingCubes{CubeSource: labtest.NewCubeSource(3, 1, -1, 1)}, engine.Options{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	r := lab{newRunner(Options{Clock: labtest.WallClock()}), t}
	r.current = &session{s, c}
	r.publish()
	r.Start(context.Background())
	defer r.Stop()
	snap := r.await("the error", func(s *engine.Snapshot) bool { return s.State == engine.Broken })
	if snap.Err == nil || !strings.Contains(snap.Err.Error(), "frame 5 is bad") {
		t.Errorf("got %v", snap.Err)
	}
}

// failingCubes is a CubeSource whose Next returns an error instead of frame 5.
type failingCubes struct{ *labtest.CubeSource }

func (f failingCubes) Next(dst *frame.Frame) error {
	if f.Tick == 5 {
		return errors.New("frame 5 is bad")
	}
	return f.CubeSource.Next(dst)
}

// Seeking back and forth does not change a session: changes after the target are repeated, unless a
// new change is made first.
func TestSeekReplaysLaterChanges(t *testing.T) { synctest.Test(t, seekReplaysLaterChanges) }

func seekReplaysLaterChanges(t *testing.T) {
	r := startLab(t, labtest.QuickConfig(t))
	r.send(Command{Pause: new(true)})
	go5, go1 := 5*time.Second, time.Second
	at := func(d time.Duration) func(*engine.Snapshot) bool {
		return func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now == d }
	}
	r.send(Command{Seek: &go5})
	r.await("5 s", at(go5))
	r.send(change("encoder.name", "rotor", "encoder.params.xy_small", "7"))
	s := r.await("the change", func(s *engine.Snapshot) bool { return s.Config.Encoder.Name == "rotor" })
	if v := s.Log[len(s.Log)-1].Change.Params()["xy_small"]; v != int64(7) {
		t.Errorf("a typed 7 was noted as %#v", v)
	}
	go9 := 9 * time.Second
	r.send(Command{Seek: &go9})
	want := r.await("9 s", at(go9))
	r.send(Command{Seek: &go1})
	if s := r.await("1 s", at(go1)); s.Config.Encoder.Name == "rotor" {
		t.Error("the change is there before it was made")
	}
	r.send(Command{Seek: &go9})
	got := r.await("9 s again", at(go9))
	if got.Config.Encoder.Name != "rotor" || got.Lanes[0].Totals.Sent != want.Lanes[0].Totals.Sent ||
		got.Lanes[0].Totals.PayloadKbps != want.Lanes[0].Totals.PayloadKbps {
		t.Errorf("after a jump back and forth: %s, %+v", got.Config.Encoder.Name, got.Lanes[0].Totals)
	}
	r.send(Command{Seek: &go1})
	r.await("1 s again", at(go1))
	r.send(change("down.loss", "1%"))
	r.await("another change", func(s *engine.Snapshot) bool { return len(s.Log) > 0 && s.Log[len(s.Log)-1].Change.SetsLinks() })
	r.send(Command{Seek: &go9})
	if s := r.await("9 s another way", at(go9)); s.Config.Encoder.Name == "rotor" {
		t.Error("a future that was left plays all the same")
	}
}

// What a live session sets itself, such as playing in a loop, causes no warning.
func TestLiveSettingsCauseNoWarning(t *testing.T) {
	for _, source := range []string{"demo", "rpc", "text", "files"} {
		c := config.Default()
		c.Data.Source = source
		r := startLab(t, c)
		if list := r.Snapshot().Config.Warnings(); len(list) > 0 {
			t.Errorf("%s: %q", source, list)
		}
	}
}
