package live

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// A live session with input at arbitrary times, pauses and a seek back has the same digest as its
// headless replay.
func TestPlayedSessionReplays(t *testing.T) { synctest.Test(t, playedSessionReplays) }

func playedSessionReplays(t *testing.T) {
	c := config.Default()
	c.Data.Source, c.Seed = "world", 5
	if err := c.Apply(config.NewChange("down.loss", "10%", "down.latency", "30ms", "down.jitter", "10ms")); err != nil {
		t.Fatal(err)
	}
	r := startLab(t, c)
	rng := rand.New(rand.NewPCG(4, 4))
	on, off, fast := true, false, 16.0
	r.send(Command{Speed: &fast})
	for i := range 60 {
		in := config.NewChange("press", config.Directions()[rng.IntN(4)])
		switch i % 20 {
		case 3:
			in = config.NewChange("hover", on)
		case 7:
			in = config.NewChange("katamari", on, "hover", off)
		case 12:
			in = config.NewChange("reset", true)
		case 15:
			in = config.NewChange("autopilot", on)
		}
		r.send(Command{Change: &in})
		now := r.Snapshot().Now
		r.await("time passing", func(s *engine.Snapshot) bool { return s.Now > now+10*time.Millisecond })
		if i == 40 {
			back := time.Second / 2
			r.send(Command{Seek: &back})
			r.await("the jump back", func(s *engine.Snapshot) bool { return s.State == engine.Running && s.Now < now })
		}
	}
	r.Stop()
	snap := r.Snapshot()
	if sum := snap.Lanes[0].Totals; sum.Wrong+sum.EncodeFailed+sum.DecodeRefused+sum.Failures.NoBaseline > 0 {
		t.Errorf("what was played went wrong: %+v", sum)
	}
	if presses := len(snap.Log); presses < 20 || len(snap.Marks) >= presses {
		t.Errorf("%d changes and %d marks: presses are changes, and make no marks", presses, len(snap.Marks))
	}
	r.saveAndReplay()
}
