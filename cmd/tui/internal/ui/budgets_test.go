package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/engine"
	"wirelab/experiment/view"
)

// newBudgets returns a lab whose lanes have budgets and policies of their own. The setting of all lanes is off.
func newBudgets() *labtest.Lab {
	lab := &labtest.Lab{Snap: labtest.Budgets()}
	lab.Snap.Config.Sender.Budget = 0
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

// The key x requests the priorities if the active encoder has a budget, and c shows the comparison if any lane has one, and
// then the next figure.
func TestKeysOfBudgets(t *testing.T) {
	const title = "Error against kbps"
	withBudget := func() *labtest.Lab {
		lab := newBudgets()
		lab.Snap.Config.Sender.Budget = 64_000
		return lab
	}
	for _, c := range []struct {
		name      string
		lab       func() *labtest.Lab
		keys      string
		requested string
		compares  bool
	}{{"all lanes", withBudget, "4 x", "on", false}, {"all lanes", withBudget, "4 c", "", true}, {"only shadows", newBudgets, "4 x esc", "", false},
		{"only shadows", newBudgets, "4 c", "", true}, {"only shadows", newBudgets, "4 c c", "", false}, {"none", labtest.NewWorld, "4 x esc", "", false},
		{"none", labtest.NewWorld, "4 c", "", false}} {
		lab := c.lab()
		m := large(lab)
		press(m, c.keys)
		requested := ""
		if n := len(lab.Got); n > 0 && lab.Got[n-1].Priorities != nil {
			requested = map[bool]string{true: "on", false: "off"}[*lab.Got[n-1].Priorities]
		}
		if compares := strings.Contains(m.View(), title); requested != c.requested || compares != c.compares {
			t.Errorf("a budget of %s, %s: requested %q, comparison %v, want %q and %v", c.name, c.keys, requested, compares, c.requested, c.compares)
		}
	}
}
