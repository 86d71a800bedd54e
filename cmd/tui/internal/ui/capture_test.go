package ui

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// Key S saves what the screen shows, as text and as an image.
func TestSaveImage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "images") // does not exist yet
	m := newDashboard(labtest.NewLab(), Options{Renderer: labtest.ColourRenderer(), ImagesDir: dir})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	shown := m.View()
	_, cmd := m.Update(labtest.KeyMsg("S"))
	if cmd == nil {
		t.Fatal("key S does nothing")
	}
	notice, ok := cmd().(room.NoticeMsg)
	if !ok || notice.IsError {
		t.Fatalf("notice %+v", notice)
	}
	files, err := filepath.Glob(filepath.Join(dir, "screen-*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, error %v", files, err)
	}
	for _, name := range files { // the .svg, then the .txt
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".txt" && string(data) != screenText(shown) {
			t.Errorf("the text differs from the screen:\n%s", data)
		}
		if !strings.Contains(string(data), "Bandwidth kbps") {
			t.Errorf("%s does not show the title of the chart", name)
		}
	}
	m.opt.ImagesDir = filepath.Join(files[0], "x") // below a file, so it cannot be created
	_, cmd = m.Update(labtest.KeyMsg("S"))
	if notice, ok := cmd().(room.NoticeMsg); !ok || !notice.IsError {
		t.Errorf("notice %+v, want an error", notice)
	}
}

// Key y sends the selection to the clipboard, and the text of the screen if nothing is selected.
func TestCopy(t *testing.T) {
	m := newDashboard(labtest.NewPackets(), Options{Renderer: labtest.ColourRenderer()})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	var sent string
	m.sendFirst = func(text string) { sent = text }
	copied := func() string { // what key y copied
		sent = ""
		press(m, "y")
		encoded, isClipboard := strings.CutPrefix(strings.TrimRight(sent, "\a\x1b\\"), "\x1b]52;c;")
		text, err := base64.StdEncoding.DecodeString(encoded)
		if !isClipboard || err != nil {
			t.Fatalf("sent %q, error %v", sent, err)
		}
		return string(text)
	}
	if text := copied(); !strings.Contains(text, "Bandwidth kbps") || strings.Contains(text, "\x1b") {
		t.Errorf("copied %q, want the text of the screen", text)
	}
	press(m, "3", "up")
	if text := copied(); !strings.HasPrefix(text, "packet ") || !strings.Contains(text, "\noutcome ") {
		t.Errorf("copied %q, want the selected packet", text)
	}
}
