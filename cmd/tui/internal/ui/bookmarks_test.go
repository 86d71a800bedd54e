package ui

import (
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/config"
)

// lastChange returns the newest change that the lab received, nil if none.
func lastChange(lab *labtest.Lab) *config.Change {
	for _, c := range slices.Backward(lab.Got) {
		if c.Change != nil {
			return c.Change
		}
	}
	return nil
}

// TestBookmarks checks that ' and a letter restore the whole configuration that m and the letter stored, by one change,
// and that ” goes back.
func TestBookmarks(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	first := m.lab.Config().Clone()
	press(m, "m", "a")
	if c := lastChange(lab); c == nil || c.Mark != "bookmark a" {
		t.Errorf("the charts are not marked: %+v", lab.Got)
	}
	press(m, line("loss 20%")...)
	press(m, line("encoder rotor")...)
	press(m, line("playout 70ms")...)
	press(m, line("bookmark b")...)
	second := m.lab.Config().Clone()
	if first.SameLive(second) {
		t.Fatal("nothing was changed")
	}
	m.lab.Flush()
	sent := len(lab.Got)
	press(m, "'")
	if v := m.View(); !strings.Contains(v, "a  01:30.0  encoder "+first.Encoder.Name) || !strings.Contains(v, "b  01:30.0  as now") {
		t.Errorf("the list does not have the effects:\n%s", v)
	}
	press(m, "a")
	m.lab.Flush()
	if !m.lab.Config().SameLive(first) || len(lab.Got) != sent+1 || m.overlay != nil {
		t.Errorf("%d commands; differences: %q", len(lab.Got)-sent, first.Undo(m.lab.Config()).Label())
	}
	if press(m, "'", "'"); !m.lab.Config().SameLive(second) {
		t.Errorf("'' did not restore: %q", second.Undo(m.lab.Config()).Label())
	}
	if press(m, line("jump a")...); !m.lab.Config().SameLive(first) {
		t.Error("/jump a did not restore")
	}
	m.lab.Flush()
	sent = len(lab.Got)
	press(m, "'", "a")
	if m.lab.Flush(); len(lab.Got) != sent || !strings.Contains(m.View(), "already") {
		t.Error("a jump to the present configuration is a change")
	}
	if press(m, "'", "q"); !strings.Contains(m.View(), "no configuration is stored under q") {
		t.Errorf("no message:\n%s", m.View())
	}
	press(m, "m", "enter")
	if m.lab.Flush(); lastChange(lab).Mark != "mark 1" {
		t.Errorf("m and enter: %+v", lastChange(lab))
	}
}
