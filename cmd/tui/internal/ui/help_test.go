package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// TestHelp checks the help of every page: see labtest.CheckHelp.
func TestHelp(t *testing.T) {
	for name, lab := range map[string]room.Lab{"cubes": labtest.NewPackets(), "world": labtest.NewWorld(), "budgets": newPriorities(), "table": labtest.NewCalls(),
		"file": newFile(3), "crowd": newCrowdLab(200), "transport": newTransportLab(), "shadows": &labtest.Lab{Snap: labtest.FourShadows()}} {
		m := screen(lab, 120, 80)
		for i := range m.pages {
			t.Run(fmt.Sprintf("%s %s", name, m.pages[i].Name), func(t *testing.T) {
				m.openPage(i)
				press(m, "?")
				labtest.CheckHelp(t, m.View())
				press(m, "esc")
			})
		}
	}
}

// TestHelpOfBits checks that the help of the bits of a packet names what the keys do there.
func TestHelpOfBits(t *testing.T) {
	m := screen(labtest.NewPackets(), 120, 80)
	press(m, "3 up # ?")
	labtest.CheckHelp(t, m.View())
	checkShown(t, m, "row above or below", "next field", "next byte", "under the bits")
}

// TestFooterOfPages checks that a small terminal names the open page, the keys of the page itself, and those of panes,
// pages, commands, help and quitting.
func TestFooterOfPages(t *testing.T) {
	for keys, want := range map[string][2]string{ // at 80x24, and at 60x18
		"1":        {"tab pane  ↑↓ select  ←→ adjust  1-5 page  e encoder", "tab pane  ↑↓ select  1-5 page"},
		"2":        {"$ row costs  ↑↓ field  1-5 page  S sort", "$ row costs  1-5 page  S sort"},
		"3":        {"f filter  ↑↓ packet  tab pane  1-5 page  S sort", "f filter  tab pane  1-5 page"},
		"3 #":      {"enter base  esc back  ←→ field  ↑↓ row  1-5 page", "enter base  esc back  1-5 page"},
		"3 up # <": {"enter base  ←→ field  ↑↓ row  esc back", "enter base  ←→ field"},
		"4":        {"←↑↓→ pan  $ row costs  1-5 page  c view", "$ row costs  1-5 page"},
		"5":        {"v add shadow  del remove  1-5 page  S sort  c view", "v add shadow  1-5 page  S sort"},
	} {
		for i, size := range [][2]int{{80, 24}, {minWidth, minHeight}} {
			m := screen(labtest.NewPackets(), size[0], size[1])
			press(m, keys)
			head := header(m)
			if tab := fmt.Sprintf("[%c %s]", keys[0], m.page().Name); !strings.Contains(head, tab) {
				t.Errorf("after %s at %v the header is %q, without %s", keys, size, head, tab)
			}
			if row := lastRow(m); !strings.Contains(row, want[i]) || !strings.Contains(row, "/ command  ? help  q quit") {
				t.Errorf("after %s at %v the footer is %q, want %q", keys, size, row, want[i])
			}
		}
	}
}

// TestHeaderKeepsItsPlaces checks that no other part of the header moves when the measured speed changes or another page
// is opened.
func TestHeaderKeepsItsPlaces(t *testing.T) {
	lab := labtest.NewLab()
	for w := minWidth; w <= 160; w += 4 {
		places := map[string]bool{}
		for _, speed := range []float64{1, 0.8} {
			lab.Snap.Actual = speed
			m := screen(lab, w, 48)
			for page := range m.pages {
				m.openPage(page)
				m.render()
				head := header(m)
				title, _, _ := strings.Cut(head, "01:30.0")
				tab := regexp.MustCompile(`[ \[]1[ \[]`).FindStringIndex(head)
				places[fmt.Sprint(title, ansi.StringWidth(head[:tab[0]]))] = true
			}
		}
		if len(places) > 1 {
			t.Errorf("%d columns: the header changes: %v", w, places)
		}
	}
}

// TestHelpOfBoxes checks that footer and help list the keys of what is open over the page, and that closing the
// help opens it again.
func TestHelpOfBoxes(t *testing.T) {
	for keys, want := range map[string][2]string{ // in the footer, in the help
		"e":       {"S sort", "make the encoder active; the list stays open"},
		"p":       {"enter select", "set the selected name"},
		"/ p a u": {"tab complete", "complete the last word"},
		"q":       {"s save and quit", "save and quit"},
	} {
		m := screen(labtest.NewChanged(), 80, 24)
		press(m, keys)
		before := m.View()
		if row := lastRow(m); !strings.Contains(row, want[0]) || !strings.Contains(row, "F1 help") || strings.Contains(row, "space pause") {
			t.Errorf("after %s the footer is %q", keys, row)
		}
		if press(m, "f1"); !strings.Contains(m.View(), want[1]) || strings.Contains(lastRow(m), "F1") {
			t.Errorf("the help after %s:\n%s", keys, m.View())
		}
		if press(m, "esc"); m.View() != before {
			t.Errorf("after the help of %s is closed:\n%s", keys, m.View())
		}
	}
}

// TestHelpScrolls checks that the help shows every row on screens of every size, and that / opens the list of all
// commands.
func TestHelpScrolls(t *testing.T) {
	for _, size := range [][2]int{{minWidth, minHeight}, {80, 24}, {160, 48}} {
		m := screen(labtest.NewLab(), size[0], size[1])
		press(m, "?")
		seen := ""
		for range 80 {
			seen += oneLine(m.View())
			press(m, "j")
		}
		here, everywhere := m.helpKeys()
		for _, row := range append(here, everywhere...) {
			for _, word := range strings.Fields(row.Text) {
				if !strings.Contains(seen, word) {
					t.Errorf("%v: %q of key %s is lacking", size, word, row.Name.Text)
				}
			}
		}
		if press(m, "/"); m.overlay != nil || !m.line.Open || !strings.Contains(m.View(), "[off] NAME") {
			t.Errorf("%v: / does not list the commands:\n%s", size, m.View())
		}
	}
}

// TestFooterKeysAct presses each key that the footer of each page lists: something changes on the screen other than a
// refusal, or a command is sent.
func TestFooterKeysAct(t *testing.T) {
	for _, size := range [][2]int{{160, 48}, {minWidth, minHeight}} {
		for _, keys := range []string{"1", "2", "3", "4", "5", "3 enter"} {
			open := func() (*dashboard, *labtest.Lab) {
				lab := labtest.NewWorld()
				if keys == "5" {
					lab.Snap = labtest.FourShadows()
				}
				m := screen(lab, size[0], size[1])
				press(m, keys)
				lab.Got = nil
				return m, lab
			}
			m, _ := open()
			bindings, special := m.footerKeys(nil)
			for _, h := range m.hints(bindings, special, size[0]-2) {
				if keys == "3 enter" && strings.ContainsAny(h.label, "↑→") {
					continue // the fake lab sends no bits
				}
				acts := false
				for _, key := range strings.Fields(strings.NewReplacer("←→", "← →", "↑↓", "↑ ↓", "1-", "1 ", "←↑↓→", "← →").Replace(h.label)) {
					pressed, lab := open()
					before := pressed.View()
					cmd := press(pressed, key)
					isRefused := strings.HasPrefix(lastRow(pressed), " !")
					acts = acts || !isRefused && (pressed.View() != before || len(lab.Got) > 0 || cmd != nil)
				}
				if !acts {
					t.Errorf("%v, after %s: %s %s has no effect", size, keys, h.label, h.description)
				}
			}
		}
	}
}
