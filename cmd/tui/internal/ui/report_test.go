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
	settle := func() {
		for range 4 {
			redraw(m)
		}
	}
	for _, k := range keysOf("5 G enter " + strings.Join(keys, " ")) {
		settle()
		press(m, k)
	}
	settle()
	return m
}

// TestFoldersThatCannotBeRead checks the messages for folders that cannot be read.
func TestFoldersThatCannotBeRead(t *testing.T) {
	dir := labtest.WriteReports(t)
	file := filepath.Join(dir, "2026-02-01-100000-rotor", "report.json")
	m := reportScreen(labtest.NewLab(), 160, 48, Options{ReportsDir: file})
	checkShown(t, m, "not a directory")
	none := reportScreen(labtest.NewLab(), 80, 24, Options{ReportsDir: filepath.Join(dir, "nowhere")}, "down", "r", "enter", "esc")
	checkShown(t, none, "no saved reports: s saves this run")
}
