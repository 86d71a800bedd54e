package ui

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment"

	tea "github.com/charmbracelet/bubbletea"
)

// soakEnv asks for the test that takes minutes.
const soakEnv = "WIRELAB_SOAK"

// TestSoak runs the lab and the dashboard over ten hours of virtual time, as fast
// as they go, with somebody at the keys all the while. What is in use after that
// must be what was in use after ten minutes: every history is bounded.
func TestSoak(t *testing.T) {
	if testing.Short() || os.Getenv(soakEnv) == "" {
		t.Skip("takes minutes; set " + soakEnv + "=1 for ten simulated hours")
	}
	cfg := config.Default()
	beside := []config.Encoder{{Name: "relative-position"}}
	if err := cfg.Apply(config.NewChange("encoder.name", "relative-orientation", "profile", "unity-broadband", "shadow",
		beside)); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	runner, err := experiment.NewRunner(cfg, experiment.RunnerOptions{Clock: func() time.Duration { return time.Since(start) }})
	if err != nil {
		t.Fatal(err)
	}
	runner.Start(context.Background())
	defer runner.Stop()
	m := New(runner, Options{Renderer: labtest.ColourRenderer()})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 48})
	fast := 0.0
	runner.Do(experiment.Command{Speed: &fast})
	early := soakUntil(t, m, runner, 10*time.Minute)
	late := soakUntil(t, m, runner, 10*time.Hour)
	t.Logf("in use after ten minutes %.1f MB, after ten hours %.1f MB (%+.1f %%); %.0f times real time",
		early/1e6, late/1e6, 100*(late/early-1), (10*time.Hour).Seconds()/time.Since(start).Seconds())
	if late > 1.1*early {
		t.Errorf("%.1f MB after ten hours, %.1f after ten minutes", late/1e6, early/1e6)
	}
}

// soakUntil plays with the dashboard until that much virtual time has passed, then
// stops time and returns how many bytes are in use.
func soakUntil(t *testing.T, m *Model, r *experiment.Runner, until time.Duration) float64 {
	t.Helper()
	keys := []string{"tab", "down", "right", "left", "up", "2", "down", "3", "up", "x", "esc", "4", "5", "down", "6", "1", "m",
		"?", "esc", "e", "esc",
		"z", "Z", "i", "g", "<", "b", "end", "space", "space", "E", "u"}
	for i := 0; r.Snapshot().Now < until; i++ {
		if i%10 == 0 {
			press(m, keys[i/10%len(keys)])
		}
		m.Update(tickMsg{})
		_ = m.View()
		if r.Snapshot().State == engine.Broken {
			t.Fatal(r.Snapshot().Err)
		}
		if r.Snapshot().State == engine.Paused && i%10 > 5 {
			r.Do(experiment.Command{Pause: new(bool)})
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.Do(experiment.Command{Pause: new(true)})
	time.Sleep(time.Second) // what is shown of a lab at rest is in use too
	m.Update(tickMsg{})
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	r.Do(experiment.Command{Pause: new(bool)})
	return float64(s.HeapAlloc)
}
