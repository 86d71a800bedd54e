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

func TestGoldenReport(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []string
		opt  Options
	}{
		{name: "report-160x48", w: 160, h: 48},
		{name: "report-160x48-beside", w: 160, h: 48, keys: []string{"down", "down", "down"}},
		{name: "report-160x48-two", w: 160, h: 48, keys: []string{"down", "down", "down", "b", "down"}, opt: Options{ASCII: true}},
		{name: "report-80x24", w: 80, h: 24, keys: []string{"down"}},
		{name: "report-80x24-beside", w: 80, h: 24, keys: []string{"down", "down", "down", "down", "enter"}},
		{name: "report-80x24-later", w: 80, h: 24, keys: []string{"down", "enter"}},
		{name: "report-80x24-cut-off", w: 80, h: 24, keys: []string{"down", "down", "enter"}},
		{name: "report-80x24-changes", w: 80, h: 24, keys: []string{"shift+tab"}},
		{name: "report-20x5", w: 20, h: 5},
		{name: "report-100x30", w: 100, h: 30, keys: []string{"down"}},
		{name: "report-200x60", w: 200, h: 60, keys: []string{"G"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := labtest.WriteReports(t)
			c.opt.ReportsDir = dir
			compareGolden(t, c.name, reportScreen(labtest.NewLab(), c.w, c.h, c.opt, c.keys...).View())
		})
	}
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
