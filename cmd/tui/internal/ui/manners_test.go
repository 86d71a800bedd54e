package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/labtest"
)

func TestErrorFitsOnTheScreen(t *testing.T) {
	m := screen(labtest.NewLab(), 60, 20)
	press(m, "/encoder rotoz")
	checkShown(t, m, "rotor?")
	press(m, "esc")
	press(m, "/latency a bb ccc 5ms 9 quite wrong and rather long as well, to be cut")
	if rows := strings.Split(m.View(), "\n"); len(rows) != 20 || !strings.Contains(rows[18], " 5ms 9 quite wrong") || !strings.Contains(rows[17], "…") {
		t.Errorf("%d rows:\n%s", len(rows), m.View())
	}
}

func TestCursorOfWideTextStaysOnTheScreen(t *testing.T) {
	for _, text := range []string{strings.Repeat("日本語", 40), strings.Repeat("🙂a", 60), strings.Repeat("x", 130)} {
		for _, opt := range []Options{{Renderer: labtest.PlainRenderer()}, {Renderer: labtest.ColourRenderer()}} {
			m := screen(labtest.NewLab(), 60, 20, opt)
			press(m, "/")
			pressOnce(m, text)
			for range 44 {
				rows := strings.Split(m.View(), "\n")
				input := rows[len(rows)-2]
				row := ansi.Strip(input)
				bar := strings.Contains(row, "_")
				if opt.Renderer.ColorProfile() != labtest.PlainRenderer().ColorProfile() {
					bar = strings.Contains(input, "\x1b[7m")
				}
				if !bar || ansi.StringWidth(row) != 60 || strings.Contains(row, "…") {
					t.Fatalf("the cursor is lost: %q", row)
				}
				press(m, "left left left")
			}
		}
	}
}

func TestNoticeIsDismissed(t *testing.T) {
	m := screen(labtest.NewLab(), 120, 40)
	m.lab.Say("saved as /reports/x", false)
	press(m, "/reorder 10%")
	if got := lastRow(m); !strings.Contains(got, "● reorder 10%") {
		t.Errorf("an accepted command quits %q", got)
	}
	press(m, "tab")
	if !strings.Contains(lastRow(m), "reorder 10%") {
		t.Error("it is gone before it was read")
	}
	for range noteFresh {
		press(m)
	}
	if press(m, "tab"); !strings.Contains(lastRow(m), "? help") {
		t.Errorf("a key quits %q", lastRow(m))
	}
}

func TestUnknownKeysShowANotice(t *testing.T) {
	for _, key := range []string{"ß", "0", "9", "insert"} {
		lab := labtest.NewLab()
		m := screen(lab, 80, 24)
		press(m, key)
		if !strings.Contains(lastRow(m), "no such key here; ? lists them") || len(lab.Got) > 0 {
			t.Errorf("%s: %q", key, lastRow(m))
		}
		press(m, "/loss 3%")
		press(m, key)
		checkLacking(t, m, "no such key")
	}
}
