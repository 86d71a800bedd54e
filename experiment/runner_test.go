package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/internal/wallclock"
)

// wallClock returns the real clock.
func wallClock() wallclock.Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// saveAndReplay saves the report of r, which has stopped, checks that it replays to the same digest, and returns its
// folder.
func saveAndReplay(t *testing.T, r *Runner) (path string) {
	t.Helper()
	path, err := r.Save("")
	if err != nil {
		t.Fatal(err)
	}
	checkReplay(t, filepath.Join(path, "report.json"))
	return path
}

func startRunner(t *testing.T, c *config.Config) *Runner {
	t.Helper()
	r, err := NewRunner(t.Context(), c, RunnerOptions{Clock: wallClock(), Reports: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); r.Stop() })
	r.Start(ctx)
	return r
}

// patience is the timeout of await.
const patience = time.Minute

// await polls snapshots until ok accepts one.
func await(t *testing.T, r *Runner, what string, ok func(*engine.Snapshot) bool) *engine.Snapshot {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s := r.Snapshot()
		if s.State == engine.Broken {
			t.Fatalf("the lab broke: %v", s.Err)
		}
		if ok(s) {
			return s
		}
	}
	t.Fatalf("never saw %s", what)
	return nil
}

func send(t *testing.T, r *Runner, c Command) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if r.Do(c) {
			return
		}
	}
	t.Fatal("the queue of commands stays full")
}

// A live session with swaps, slider moves, pauses, undo and seeks has the same digest as its
// headless replay.
func TestLiveSessionReplays(t *testing.T) { synctest.Test(t, liveSessionReplays) }

func liveSessionReplays(t *testing.T) {
	r := startRunner(t, quickConfig(t))
	rng := rand.New(rand.NewPCG(8, 8))
	all := labtest.CubeCodecs()
	speed := 16.0
	send(t, r, Command{Speed: &speed})
	for i := range testkit.Choose(60, 24) {
		var c Command
		switch i % 6 {
		case 0:
			c.Change = new(config.NewChange("encoder.name", all[rng.IntN(len(all))].Name))
		case 1, 2, 3:
			c.Change = new(config.NewChange("down.loss", fmt.Sprintf("%d%%", rng.IntN(40)), "down.latency",
				fmt.Sprintf("%dms", rng.IntN(200))))
		case 4:
			c.Undo = true
		case 5:
			c.Step = 3
		}
		send(t, r, c)
		run := false
		send(t, r, Command{Pause: &run})
		now := r.Snapshot().Now
		await(t, r, "time passing", func(s *engine.Snapshot) bool { return s.Now > now+50*time.Millisecond })
	}
	back := 2 * time.Second
	send(t, r, Command{Seek: &back, Pause: new(true)})
	await(t, r, "the jump back", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now < 3*time.Second })
	forth := 4 * time.Second // changes after the target are repeated
	send(t, r, Command{Seek: &forth})
	await(t, r, "the jump ahead", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now >= forth })
	send(t, r, Command{Seek: &back})
	await(t, r, "the second jump back", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now < 3*time.Second })
	send(t, r, Command{Pause: new(false), Change: new(config.NewChange("encoder.name", "raw"))})
	await(t, r, "raw", func(s *engine.Snapshot) bool { return s.Config.Encoder.Name == "raw" && s.Now > 4*time.Second })
	r.Stop()
	saveAndReplay(t, r)
}

func TestRunnerReportsErrors(t *testing.T) { synctest.Test(t, runnerReportsErrors) }

func runnerReportsErrors(t *testing.T) {
	r := startRunner(t, quickConfig(t))
	send(t, r, Command{Change: new(config.NewChange("encoder.name", "relative-orientatoin"))})
	s := await(t, r, "a complaint", func(s *engine.Snapshot) bool { return s.Notice.Bad })
	if want := "did you mean relative-orientation?"; !strings.Contains(s.Notice.Text, want) {
		t.Errorf("%q does not contain %q", s.Notice.Text, want)
	}
	if s.State == engine.Broken {
		t.Error("a typo broke the lab")
	}
}

func TestPauseAndStep(t *testing.T) { synctest.Test(t, pauseAndStep) }

func pauseAndStep(t *testing.T) {
	r := startRunner(t, quickConfig(t))
	send(t, r, Command{Pause: new(true)})
	s := await(t, r, "the pause", func(s *engine.Snapshot) bool { return s.State == engine.Paused })
	sent := s.Lanes[0].Totals.Sent
	for i := range int64(5) {
		send(t, r, Command{Step: 1})
		s = await(t, r, "one more frame", func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Sent > sent+i })
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
	r := &Runner{liveLoop: newLiveLoop(RunnerOptions{Clock: wallClock()}), config: c, session: s}
	r.driver = r
	r.publish()
	r.Start(context.Background())
	defer r.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if snap := r.Snapshot(); snap.State == engine.Broken {
			if snap.Err == nil || !strings.Contains(snap.Err.Error(), "frame 5 is bad") {
				t.Errorf("got %v", snap.Err)
			}
			return
		}
	}
	t.Error("the lab never noticed")
}

// Seeking back and forth does not change a session: changes after the target are repeated, unless a
// new change is made first.
func TestSeekReplaysLaterChanges(t *testing.T) { synctest.Test(t, seekReplaysLaterChanges) }

func seekReplaysLaterChanges(t *testing.T) {
	r := startRunner(t, quickConfig(t))
	send(t, r, Command{Pause: new(true)})
	go5, go1 := 5*time.Second, time.Second
	at := func(d time.Duration) func(*engine.Snapshot) bool {
		return func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now == d }
	}
	send(t, r, Command{Seek: &go5})
	await(t, r, "5 s", at(go5))
	send(t, r, Command{Change: new(config.NewChange("encoder.name", "rotor", "encoder.params.xy_small", "7"))})
	s := await(t, r, "the change", func(s *engine.Snapshot) bool { return s.Config.Encoder.Name == "rotor" })
	if v := s.Log[len(s.Log)-1].Change.Params()["xy_small"]; v != int64(7) {
		t.Errorf("a typed 7 was noted as %#v", v)
	}
	go9 := 9 * time.Second
	send(t, r, Command{Seek: &go9})
	want := await(t, r, "9 s", at(go9))
	send(t, r, Command{Seek: &go1})
	if s := await(t, r, "1 s", at(go1)); s.Config.Encoder.Name == "rotor" {
		t.Error("the change is there before it was made")
	}
	send(t, r, Command{Seek: &go9})
	got := await(t, r, "9 s again", at(go9))
	if got.Config.Encoder.Name != "rotor" || got.Lanes[0].Totals.Sent != want.Lanes[0].Totals.Sent ||
		got.Lanes[0].Totals.PayloadKbps != want.Lanes[0].Totals.PayloadKbps {
		t.Errorf("after a jump back and forth: %s, %+v", got.Config.Encoder.Name, got.Lanes[0].Totals)
	}
	send(t, r, Command{Seek: &go1})
	await(t, r, "1 s again", at(go1))
	send(t, r, Command{Change: new(config.NewChange("down.loss", "1%"))})
	await(t, r, "another change", func(s *engine.Snapshot) bool { return len(s.Log) > 0 && s.Log[len(s.Log)-1].Change.SetsLinks() })
	send(t, r, Command{Seek: &go9})
	if s := await(t, r, "9 s another way", at(go9)); s.Config.Encoder.Name == "rotor" {
		t.Error("a future that was left plays all the same")
	}
}

// What a live session sets itself, such as playing in a loop, causes no warning.
func TestLiveSettingsCauseNoWarning(t *testing.T) {
	for _, source := range []string{"demo", "rpc", "text", "files"} {
		c := config.Default()
		c.Data.Source = source
		r := startRunner(t, c)
		if list := r.Snapshot().Config.Warnings(); len(list) > 0 {
			t.Errorf("%s: %q", source, list)
		}
	}
}
