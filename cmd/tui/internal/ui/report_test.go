package ui

import (
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// reportScreen returns page 5 of a dashboard after some keys.
func reportScreen(lab room.Lab, w, h int, opt Options, keys ...string) *dashboard {
	m := screen(lab, w, h, opt)
	m.startWork = func(p *room.Page) tea.Cmd { // at once
		if labtest.Work(p) {
			m.refreshAll()
		}
		return nil
	}
	tick := func() {
		for range 4 {
			m.lab.Ticks = baseTicksPerRedraw - 1
			m.Update(room.Tick{})
		}
	}
	for _, k := range append([]string{"5", "G", "enter"}, keys...) {
		tick()
		press(m, k)
	}
	tick()
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
	none := reportScreen(labtest.NewLab(), 80, 24, Options{ReportsDir: filepath.Join(dir, "nowhere")}, "down", "r", "enter", "esc")
	if !strings.Contains(none.View(), "no saved reports: s saves this run") {
		t.Error("the page is gone")
	}
}
