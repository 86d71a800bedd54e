package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// The number of marks is bounded for data that loop: loop points are dropped first, marks of the
// user stay.
func TestMarksAreBounded(t *testing.T) {
	c := config.Default()
	c.Encoder.Name, c.At = "quantized", []config.StampedChange{config.Stamp(time.Second, config.NewChange("mark", "mine"))}
	s := mustOpen(t, c, labtest.NewCubeSource(2, 1, -1, 1), Options{Endless: true, KeepSamples: 1})
	mustRun(t, s, 2*time.Second)
	shown := s.View(0).Marks
	for i := range 10 * maxMarks {
		s.addMark(time.Duration(i), MarkLoop, "loop")
	}
	now := s.View(0).Marks
	if len(now) > maxMarks || now[0].Label != "mine" || now[len(now)-1].T != 10*maxMarks-1 || shown[0].Label != "mine" {
		t.Errorf("%d marks, from %v to %v", len(now), now[0], now[len(now)-1])
	}
	for i := range 10 * maxMarks {
		s.addMark(time.Duration(i), MarkNote, "note")
	}
	if now := s.View(0).Marks; len(now) > maxMarks || now[len(now)-1].T != 10*maxMarks-1 {
		t.Errorf("%d marks", len(now))
	}
}
