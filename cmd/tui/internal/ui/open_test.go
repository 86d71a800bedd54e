package ui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"

	tea "github.com/charmbracelet/bubbletea"
)

// settle executes a command and those that follow from it, and returns the shell at the end.
func settle(s *Shell, cmd tea.Cmd) *Shell {
	if cmd == nil {
		return s
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			s = settle(s, c)
		}
		return s
	}
	next, cmd := s.Update(msg)
	return settle(next.(*Shell), cmd)
}

// opener is Options.Open of tests: world is another run, link.csv a change, anything else an error.
func opener(path string) (Opened, error) {
	switch filepath.Base(path) {
	case "world":
		lab := labtest.NewLab()
		lab.Snap.Config.Data.Source = "world"
		return Opened{Lab: lab}, nil
	case "link.csv":
		return Opened{Change: config.NewChange("down.loss", "7%")}, nil
	}
	return Opened{}, errors.New(path + ": cannot be read; expected a file")
}

func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"link.csv": "seq,send_us,recv_us\n", "a b.csv": "tick,x\n0,1\n1,2\n", "saved/report.json": `{"digest_version": 7}`} {
		_ = os.Mkdir("saved", 0o755)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	paste := func(text string) tea.Cmd {
		return func() tea.Msg { return tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(text)} }
	}
	for _, c := range []struct {
		what  string
		saved time.Duration // of 90 s
		keys  string
		paste string
		then  string // keys after that
		shows string
		got   string // what the lab is asked for
	}{
		{what: "another run", saved: 80 * time.Second, keys: "/open world", shows: "opened world"},
		{what: "unsaved", keys: "/open world", shows: "Open world?"},
		{what: "unsaved, discarded", keys: "/open world", then: "d", shows: "opened world"},
		{what: "unsaved, kept", keys: "/open world", then: "esc", shows: "LIVE"},
		{what: "saved first", keys: "/open world", then: "s", shows: "LIVE", got: "save /reports"},
		{what: "the links", keys: "/open link.csv", shows: "link.csv sets the downlink: down loss 7%; the uplink is unchanged", got: "down loss 7%"},
		{what: "an error", saved: 80 * time.Second, keys: "/open a b.csv", shows: "a b.csv: cannot be read; expected a file"},
		{what: "a report", keys: "/open saved", shows: "Figures  saved vs this run"},
		{what: "a pasted path", paste: "'a b.csv'\n", shows: "enter: open a b.csv"},
		{what: "a path pasted over the list", keys: "o", paste: "a b.csv", shows: "enter: open a b.csv"},
		{what: "a pasted text", paste: "quit now", shows: "LIVE"},
		{what: "a pasted path, opened", saved: 80 * time.Second, paste: "a b.csv", then: "enter", shows: "cannot be read"},
		{what: "the list", saved: 80 * time.Second, keys: "/open", shows: "a b.csv"},
		{what: "from the list", keys: "/open", then: "/ link enter", shows: "loss 7%", got: "down loss 7%"},
	} {
		lab := labtest.NewLab()
		lab.Snap.Saved = c.saved
		m := screen(lab, 120, 36, Options{ReportsDir: "/reports", Recent: filepath.Join(t.TempDir(), "opened"), Open: opener})
		s := settle(m.Shell, press(m, c.keys))
		if c.paste != "" {
			s = settle(s, paste(c.paste))
		}
		if list, ok := m.overlay.(*openList); ok {
			checkShown(t, m, "Open  reading the folders…", "demo")
			for list.Reading {
				list.stepping = false // press drops the command of its tick
				s = settle(s, m.continueSearch())
			}
		}
		for _, k := range keysOf(c.then) {
			var cmd tea.Cmd
			_, cmd = s.Update(labtest.KeyMsg(k))
			s = settle(s, cmd)
		}
		s.screen.Tick()
		s.render()
		if view := s.View(); !strings.Contains(view, c.shows) || spell(lab.Got) != c.got {
			t.Errorf("%s: the lab got %q, want %q; the screen lacks %q:\n%s", c.what, spell(lab.Got), c.got, c.shows, view)
		}
	}
}

// After "save and open" the file is opened when the report is written.
func TestOpenAfterSaving(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 120, 36, Options{ReportsDir: "/reports", Open: opener})
	settle(m.Shell, press(m, "/open world"))
	_, cmd := m.Update(labtest.KeyMsg("s"))
	settle(m.Shell, cmd)
	next := *lab.Snap
	next.Saved, next.Notice.ID = next.Now, next.Notice.ID+1
	lab.Snap = &next
	_, cmd = m.Tick()
	if s := settle(m.Shell, cmd); !strings.Contains(s.View(), "opened world") || s == m.Shell {
		t.Errorf("the screen is\n%s", s.View())
	}
}

// While the receiver is on another machine only reports can be opened.
func TestOpenOverTheNetwork(t *testing.T) {
	m := screen(newRemote(), 120, 36)
	s := settle(m.Shell, press(m, "/open world"))
	s.Update(room.Tick{})
	checkShown(t, &dashboard{Shell: s}, "only a saved report can be opened")
}
