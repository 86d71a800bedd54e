package ui

import (
	"encoding/base64"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
)

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
	if text := copied(); !strings.Contains(text, "kbps, 2 s mean") || strings.Contains(text, "\x1b") {
		t.Errorf("copied %q, want the text of the screen", text)
	}
	press(m, "3 up")
	if text := copied(); !strings.HasPrefix(text, "packet ") || !strings.Contains(text, "\noutcome ") {
		t.Errorf("copied %q, want the selected packet", text)
	}
}
