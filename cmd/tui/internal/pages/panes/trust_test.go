package panes_test

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
)

// The line says what was asked for and done, in whole figures on any width, and is red only where
// they disagree.
func TestTrustIsRedWhereTheLinkDisagrees(t *testing.T) {
	for _, lie := range []bool{false, true} {
		snap := labtest.NewLab().Snap
		if lie {
			snap.Lanes[0].Link[0].Took += time.Duration(snap.Lanes[0].Link[0].Arrived) * 5 * time.Millisecond
		}
		for w := 40; w <= 200; w++ {
			p, th := &panes.Trust{}, labtest.Theme(false)
			p.Observe(labtest.ViewOf(snap))
			c := look.NewCanvas(w, 3)
			c.Frame(th, false, "Packets")
			p.Draw(c)
			line := c.Lines(th)[2]
			if strings.Contains(line, "…") || !strings.Contains(line, "loss asked 5.00 did 4.96 %") && !lie {
				t.Errorf("%d columns: %s", w, line)
			}
			if red := strings.Contains(line, "NOT AS ASKED"); red && !lie || !red && lie && w >= 72 {
				t.Errorf("%d columns, lie %v: %s", w, lie, line)
			}
		}
	}
}
