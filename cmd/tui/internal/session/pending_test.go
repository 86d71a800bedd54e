package session_test

import (
	"testing"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/session"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/live"
)

// recorder is a lab that accepts a limited number of commands.
type recorder struct {
	snap  engine.Snapshot
	took  []live.Command
	space int
}

func (r *recorder) Snapshot() *engine.Snapshot { return &r.snap }

func (r *recorder) Do(c live.Command) bool {
	if len(r.took) == r.space {
		return false
	}
	r.took = append(r.took, c)
	return true
}

// TestChangesOfATick: the combined changes of a tick have the same effect as the single changes in
// order, and none is lost if the queue is full.
func TestChangesOfATick(t *testing.T) {
	start := config.Default()
	if err := start.Apply(config.NewChange("shadow", "quantized")); err != nil {
		t.Fatal(err)
	}
	lab := &recorder{snap: engine.Snapshot{Config: start}}
	s := session.New(lab, &look.Theme{}, func() {})
	for _, ch := range []config.Change{
		config.NewChange("down.loss", "10%"), config.NewChange("shadow", "raw"), config.NewChange("shadow_off", "raw"),
		config.NewChange("shadow_off", "quantized"), config.NewChange("shadow", "quantized"), config.NewChange("down.loss", "20%"),
	} {
		if err := s.RequestChange(ch); err != nil {
			t.Fatal(err)
		}
	}
	asked := s.Config()
	for lab.space = 0; !s.Flush(); lab.space++ {
		if lab.space > 3 {
			t.Fatal("more than three commands")
		}
	}
	got := start.Clone()
	for _, c := range lab.took {
		if err := got.Apply(*c.Change); err != nil {
			t.Errorf("%s is refused: %v", c.Change.Label(), err)
		}
	}
	if !got.SameLive(asked) || len(lab.took) != 2 {
		t.Errorf("%d commands lead to %+v, asked for was %+v", len(lab.took), got, asked)
	}
}
