package experiment

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// A change of the seed restarts the run with all other settings kept. Undo restores
// the run before it. A script cannot change the seed.
func TestSeedRestartsTheRun(t *testing.T) {
	c := quick(t)
	c.At, c.Duration = nil, 0
	r := startRunner(t, c)
	far, speed := 3*time.Second, 8.0
	send(t, r, Command{Seek: &far, Speed: &speed, Change: new(config.NewChange("down.loss", "10%", "encoder.name", "raw"))})
	was := await(t, r, "three seconds", func(s *engine.Snapshot) bool { return s.Now >= far && s.State == engine.Running })
	send(t, r, Command{Change: new(config.NewChange("seed", 99))})
	s := await(t, r, "the new run", func(s *engine.Snapshot) bool { return s.Config.Seed == 99 })
	if s.Now >= was.Now || s.Config.Encoder.Name != "raw" || s.Config.Down.Loss == nil || len(s.Log) != 0 {
		t.Errorf("it begins at %v with %s, %d changes", s.Now, s.Config.Encoder.Name, len(s.Log))
	}
	send(t, r, Command{Undo: true})
	s = await(t, r, "the run before", func(s *engine.Snapshot) bool { return s.Config.Seed == c.Seed })
	if s.Config.Encoder.Name != c.Encoder.Name {
		t.Errorf("it begins with %s, and began with %s", s.Config.Encoder.Name, c.Encoder.Name)
	}
	scripted := quick(t)
	scripted.At = []config.StampedChange{config.Stamp(time.Second, config.NewChange("seed", 5))}
	if _, err := Run(t.Context(), scripted, RunOptions{}); err == nil {
		t.Error("a script set the seed on the way")
	}
}
