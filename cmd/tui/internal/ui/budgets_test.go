package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/engine"
	"wirelab/experiment/view"
)

// newBudgets returns a lab whose lanes have budgets and policies of their own. The setting of all lanes is off, so that x
// shows the comparison at once.
func newBudgets() *labtest.Lab {
	lab := newWorld()
	lab.Snap = labtest.WithBudgets(lab.Snap)
	return lab
}

// newPriorities is newBudgets with the priorities that x requests.
func newPriorities() *labtest.Lab {
	lab := newBudgets()
	lab.Snap.Config.Sender.Budget = 64_000
	n := len(lab.Snap.World.Sent)
	lab.Snap.Priorities = &engine.Priorities{Policy: "round-robin", Unit: "mm", Rows: make([]view.Reason, n),
		Ages: make([]time.Duration, n), Ranked: []int{1}}
	return lab
}

// x shows the priorities, then the comparison, then the world. Without a budget it does nothing, and other keys of
// the world end the comparison.
func TestKeyOfBudgets(t *testing.T) {
	const title = "Error against kbps"
	lab := newBudgets()
	lab.Snap.Config.Sender.Budget = 64_000
	m := screen(lab, 160, 48, Options{})
	requested := func() string {
		if n := len(lab.Got); n > 0 && lab.Got[n-1].Priorities != nil {
			return map[bool]string{true: "on", false: "off"}[*lab.Got[n-1].Priorities]
		}
		return ""
	}
	press(m, "4", "x")
	if requested() != "on" || strings.Contains(m.View(), title) {
		t.Errorf("x requested priorities %q", requested())
	}
	lab.Snap.Config.Sender.Budget = 0 // only shadows have one: there are no priorities to show
	m = screen(lab, 160, 48, Options{})
	press(m, "4", "x")
	if !strings.Contains(m.View(), title) {
		t.Error("x does not show the comparison")
	}
	press(m, "x")
	if strings.Contains(m.View(), title) {
		t.Error("x does not end the comparison")
	}
	press(m, "x", "c")
	if strings.Contains(m.View(), title) {
		t.Error("c does not end the comparison")
	}
	m = screen(newWorld(), 160, 48, Options{})
	press(m, "4", "x")
	if strings.Contains(m.View(), title) {
		t.Error("x shows a comparison without a budget")
	}
}
