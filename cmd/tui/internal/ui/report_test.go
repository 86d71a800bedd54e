package ui

import (
	"path/filepath"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// atOnce wraps a page and runs its background work immediately.
type atOnce struct{ reportPage }

// reportPage is the interface of page 6.
type reportPage interface {
	room.Page
	room.Observer
	room.Worker
	room.Focuser
	room.Mover
	room.Enterer
	room.Releaser
	room.Clicker
	room.Hinter
	room.Explainer
	room.Binder
}

func (p atOnce) Observe(v room.View) bool {
	changed := p.reportPage.Observe(v)
	for read := p.reportPage.Work(); read != nil; read = p.reportPage.Work() {
		read()()
		changed = true
	}
	return changed
}

// reportScreen returns page 6 of a dashboard after some keys.
func reportScreen(lab room.Lab, w, h int, opt Options, keys ...string) *dashboard {
	m := screen(lab, w, h, opt)
	m.pages[5] = atOnce{m.pages[5].(reportPage)}
	m.Bind(m.bindings())
	for _, k := range append([]string{"6"}, keys...) {
		for range 4 {
			m.lab.Ticks = baseTicksPerRedraw - 1
			m.Update(room.Tick{})
		}
		press(m, k)
	}
	for range 4 {
		m.lab.Ticks = baseTicksPerRedraw - 1
		m.Update(room.Tick{})
	}
	return m
}

// TestFoldersThatCannotBeRead checks the messages for folders that cannot be read.
func TestFoldersThatCannotBeRead(t *testing.T) {
	dir := labtest.WriteReports(t)
	file := filepath.Join(dir, "2026-02-01-100000-rotor", "report.json")
	m := reportScreen(labtest.NewLab(), 160, 48, Options{ReportsDir: file})
	if !strings.Contains(m.View(), "not a directory") {
		t.Error("no message for a folder that is a file")
	}
	none := reportScreen(labtest.NewLab(), 80, 24, Options{ReportsDir: filepath.Join(dir, "nowhere")}, "down", "b", "enter", "esc")
	if !strings.Contains(none.View(), "Reports") {
		t.Error("the page is gone")
	}
}
