package live

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/report"
	"wirelab/internal/testkit"
)

// A live session in which shadows join, leave, and return by undo and by seeking has the same
// digest as its replay.
func TestSessionWithShadowsReplays(t *testing.T) { synctest.Test(t, sessionWithShadowsReplays) }

func sessionWithShadowsReplays(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, "link.loss", "8%", "link.burst", "2", "link.latency", "60ms", "link.jitter", "20ms",
		"link.reorder", "3%",
		"down.duplicate", "3%", "down.corrupt", "2%")
	c.Data.Source, c.Data.Cubes = labtest.WriteRecording(t, 60, 200), 60
	r := startLab(t, c)
	fast := 8.0
	r.send(Command{Speed: &fast})
	lanes := func(names ...string) {
		t.Helper()
		r.await(fmt.Sprintf("lanes %v", names), func(s *engine.Snapshot) bool {
			return slices.EqualFunc(s.Lanes[1:], names, func(l engine.Lane, n string) bool { return l.Encoder == n })
		})
		now := r.Snapshot().Now
		r.await("time passing", func(s *engine.Snapshot) bool { return s.Now > now+200*time.Millisecond })
	}
	r.send(change("shadow", []config.Encoder{{Name: "raw"}, {Name: "quantized"}}))
	lanes("raw", "quantized")
	r.send(change("shadow_off", []string{"raw"}))
	lanes("quantized")
	r.send(Command{Undo: true})
	lanes("quantized", "raw")
	r.send(Command{Change: new(config.NewChange("encoder.name", "quantized", "shadow_off", []string{"quantized"}, "shadow",
		[]config.Encoder{{Name: "zstd"}}))})
	lanes("raw", "zstd")
	pause := true
	r.send(Command{Pause: &pause})
	stood := r.await("a pause", func(s *engine.Snapshot) bool { return s.State == engine.Paused }).Now
	back := stood - 100*time.Millisecond // after the newest change, because lanes waits for 200 ms
	r.send(Command{Seek: &back})
	r.await("the jump back", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now < stood })
	r.send(Command{Pause: new(false)})
	lanes("raw", "zstd")
	path := r.saveAndReplay()
	saved, err := report.ReadRuns(path)
	if err != nil || saved[0].Running() != 2 || len(saved[0].Shadows) != 4 || saved[0].Shadows[1].FromS <= 0 {
		t.Errorf("the report's shadows: %+v, %v", saved[0].Shadows, err)
	}
}
