package ui

import (
	"io"
	"os"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"

	tea "github.com/charmbracelet/bubbletea"
)

// TestStartDelay checks that drawing starts with the reply of the terminal, in the colours for
// its background, or after a few ticks without a reply. Keys pressed meanwhile count.
func TestStartDelay(t *testing.T) {
	start := func() *dashboard {
		m := newDashboardWith(labtest.NewLab(), Options{Renderer: labtest.ColourRenderer()}, fakeCatalog())
		m.startDelay.ticks = maxWaitTicks
		m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		press(m, "3") // a tick of it
		return m
	}
	m := start()
	for range maxWaitTicks - 1 {
		if m.View() != "" {
			t.Fatal("drawn before the terminal could answer")
		}
		tick(m, 1)
	}
	dark := m.View()
	if !strings.Contains(dark, "packet") {
		t.Errorf("after %d ticks there is no picture of the page that was asked for", maxWaitTicks)
	}
	m = start()
	m.Update(backgroundMsg{dark: false})
	if v := m.View(); v == "" || v == dark {
		t.Error("an answer is not drawn at once, or not heeded")
	}
	m.Update(backgroundMsg{dark: true})
	if m.View() != dark {
		t.Error("an answer that comes late is not heeded")
	}
}

// TestRepliesAreRemovedFromKeys checks that replies of the terminal are removed from the input,
// however they are split, and that everything else is read as keys.
func TestRepliesAreRemovedFromKeys(t *testing.T) {
	const light, dark, place = "\x1b]11;rgb:ffff/fafa/f000\x1b\\", "\x1b]11;rgba:00/10/20/ff\a", "\x1b[48;160R"
	for _, c := range []struct {
		sent, keys string
		told       []bool
	}{
		{light + place, "", []bool{false}},
		{dark + place, "", []bool{true}},
		{"q" + light + "\x1b[A" + place + "x", "q\x1b[Ax", []bool{false}},
		{place, "", []bool{true}},
		{"a\x1b[1;2Ab\x1b", "a\x1b[1;2Ab\x1b", nil}, // only keys
	} {
		for cut := range len(c.sent) + 1 {
			if cut > 0 && c.sent[cut-1] == '\x1b' {
				continue // a single escape is the key esc
			}
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			var told []bool
			a := &replyFilter{File: r, report: func(dark bool) { told = append(told, dark) }}
			a.expected.Store(true)
			keys := ""
			for _, part := range []string{c.sent[:cut], c.sent[cut:]} {
				if part == "" {
					continue
				}
				if _, err := io.WriteString(w, part); err != nil {
					t.Fatal(err)
				}
				buf := make([]byte, 256)
				n, err := a.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				keys += string(buf[:n])
			}
			if keys != c.keys || len(told) != len(c.told) || len(told) > 0 && told[0] != c.told[0] {
				t.Errorf("%q cut at %d: keys %q, want %q; reported %v, want %v", c.sent, cut, keys, c.keys, told, c.told)
			}
			_, _ = r.Close(), w.Close()
		}
	}
}
