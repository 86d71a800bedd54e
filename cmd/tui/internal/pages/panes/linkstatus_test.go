package panes_test

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/lossmodel/loss"
)

// linkStatus returns the line in a pane of w columns.
func linkStatus(snap *engine.Snapshot, w int) string {
	p, th := &panes.LinkStatusLine{}, labtest.Theme(false)
	p.Observe(labtest.NewView(snap))
	c := look.NewCanvas(w, 3)
	c.Frame(th, look.Unfocused, "Packets")
	p.Draw(c, 0)
	return c.Lines(th)[2]
}

// TestLinkStatusAfterChange: the expected value after a change is marked as a mean, and only for what changed.
func TestLinkStatusAfterChange(t *testing.T) {
	snap := labtest.NewLab().Snap
	before := snap.Lanes[0].Link[0]
	before.Down.Loss = loss.Bernoulli{P: 0.25}
	before.Fragments = 1
	snap.Lanes[0].Link = append([]meters.LinkStretch{before}, snap.Lanes[0].Link...)
	line := linkStatus(snap, 100)
	if !strings.Contains(line, "(mean set 14.99") || strings.Count(line, "mean") != 1 {
		t.Errorf("%s", line)
	}
}

// TestSetIsWhatIsSet: larger packets lose more than is set, which is named; a rate is a limit of which a part is used.
func TestSetIsWhatIsSet(t *testing.T) {
	snap := labtest.NewLab().Snap
	lane := &snap.Lanes[0]
	lane.Link = lane.Link[len(lane.Link)-1:]
	link := &lane.Link[0]
	link.Fragments, link.Down.Loss = 2, loss.Bernoulli{P: 0.025}
	link.Down.Rate.BitsPerSecond = 5_000_000
	for w, want := range map[int]string{60: "(set 2.50)", 120: "(set 2.50, with fragments 4.94)", 180: "(set 2.50, with fragments 4.94, expected "} {
		if line := linkStatus(snap, w); !strings.Contains(line, want) || w > 60 && !strings.Contains(line, " kbps of 5000 used") {
			t.Errorf("%d columns: %s", w, line)
		}
	}
}

// TestLinkStatusMarksDeviations: the line shows set and measured values, never cuts a figure, and is
// red only where a value deviates from its setting.
func TestLinkStatusMarksDeviations(t *testing.T) {
	for _, deviates := range []bool{false, true} {
		snap := labtest.NewLab().Snap
		if deviates {
			snap.Lanes[0].Link[0].Took += time.Duration(snap.Lanes[0].Link[0].Arrived) * 5 * time.Millisecond
		}
		for w := 40; w <= 200; w++ {
			line := linkStatus(snap, w)
			if strings.Contains(line, "…") || !strings.Contains(line, "loss 5.46 % (set 5.00") && !deviates {
				t.Errorf("%d columns: %s", w, line)
			}
			if marked := strings.Contains(line, "NOT AS SET"); marked && !deviates || !marked && deviates && w >= 72 {
				t.Errorf("%d columns, deviates %v: %s", w, deviates, line)
			}
		}
	}
}
