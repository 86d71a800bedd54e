package experiment

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
	r := startRunner(t, c)
	fast := 8.0
	send(t, r, Command{Speed: &fast})
	lanes := func(names ...string) {
		t.Helper()
		await(t, r, fmt.Sprintf("lanes %v", names), func(s *engine.Snapshot) bool {
			return slices.EqualFunc(s.Lanes[1:], names, func(l engine.Lane, n string) bool { return l.Encoder == n })
		})
		now := r.Snapshot().Now
		await(t, r, "time passing", func(s *engine.Snapshot) bool { return s.Now > now+200*time.Millisecond })
	}
	send(t, r, Command{Change: new(config.NewChange("shadow", []config.Encoder{{Name: "raw"}, {Name: "quantized"}}))})
	lanes("raw", "quantized")
	send(t, r, Command{Change: new(config.NewChange("shadow_off", []string{"raw"}))})
	lanes("quantized")
	send(t, r, Command{Undo: true})
	lanes("quantized", "raw")
	send(t, r, Command{Change: new(config.NewChange("encoder.name", "quantized", "shadow_off", []string{"quantized"}, "shadow",
		[]config.Encoder{{Name: "zstd"}}))})
	lanes("raw", "zstd")
	pause := true
	send(t, r, Command{Pause: &pause})
	stood := await(t, r, "a pause", func(s *engine.Snapshot) bool { return s.State == engine.Paused }).Now
	back := stood - 100*time.Millisecond // after the newest change, because lanes waits for 200 ms
	send(t, r, Command{Seek: &back})
	await(t, r, "the jump back", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now < stood })
	send(t, r, Command{Pause: new(false)})
	lanes("raw", "zstd")
	r.Stop()
	path := saveAndReplay(t, r)
	saved, err := report.ReadRuns(path)
	if err != nil || saved[0].Running() != 2 || len(saved[0].Shadows) != 4 || saved[0].Shadows[1].FromS <= 0 {
		t.Errorf("the report's shadows: %+v, %v", saved[0].Shadows, err)
	}
}
