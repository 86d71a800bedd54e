package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// One undo reverts a complete drag. Changes of other settings, or later changes of the same
// setting, are separate steps.
func TestUndoRevertsDrag(t *testing.T) {
	s := mustOpen(t, config.Default(), labtest.NewCubeSource(3, 1, -1, 1), Options{Endless: true})
	loss := func(text string) config.Change { return config.NewChange("down.loss", text) }
	step := func(wait time.Duration, ch config.Change) {
		t.Helper()
		mustRun(t, s, s.now+wait)
		mustChange(t, s, ch)
	}
	step(time.Second, loss("5%"))
	for _, text := range []string{"10%", "11%", "12%"} { // a second later: a separate drag
		step(time.Second/4+dragPeriod*time.Duration(len(s.undo.list)%2), loss(text))
	}
	step(10*time.Millisecond, config.NewChange("down.latency", "30ms"))
	step(10*time.Millisecond, config.NewChange("mark", "a mark alters nothing"))
	want := []string{"12% 0ms", "5% 0ms", "0% 0ms"}
	for _, w := range want {
		if _, err := s.Undo(); err != nil {
			t.Fatal(err)
		}
		lossText, _ := s.config.Down.Get("loss")
		latency, _ := s.config.Down.Get("latency")
		if got := lossText + " " + latency; got != w {
			t.Errorf("undone to %s, want %s", got, w)
		}
	}
	if _, err := s.Undo(); err == nil {
		t.Error("there was something left to undo")
	}
}
