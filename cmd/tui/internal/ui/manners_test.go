package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func lastRow(m *Model) string {
	rows := strings.Split(m.View(), "\n")
	return rows[len(rows)-1]
}

func TestFooterKeepsWhatOneMustKnow(t *testing.T) {
	for w := minWidth; w <= 200; w++ {
		m := screen(newFakeLab(), w, minHeight, Options{})
		row := lastRow(m)
		for _, want := range []string{"space pause", "/ command", "? help", "q quit"} {
			if !strings.Contains(row, want) {
				t.Fatalf("%d columns: %q lacks %q", w, row, want)
			}
		}
	}
}

func TestComplaintBeginsWithWhatWasMeant(t *testing.T) {
	l := &commandLine{err: `encoder: unknown encoder "` + strings.Repeat("x", 30) + ` y"; did you mean rotor?; and ` + strings.Repeat("much more of it ", 20)}
	rows := l.complaint(60)
	if len(rows) != maxComplaint || !strings.HasPrefix(rows[0], "did you mean rotor? encoder: unknown") {
		t.Errorf("%q", rows)
	}
}

func TestComplaintIsOnTheScreen(t *testing.T) {
	m := screen(newFakeLab(), 60, 20, Options{})
	press(m, line("encoder rotr")...)
	if !strings.Contains(m.View(), "did you mean rotor?") {
		t.Errorf("the way out is not on the screen:\n%s", m.View())
	}
	press(m, "esc")
	press(m, line("latency a bb ccc 5ms 9 quite wrong and rather long as well")...)
	if rows := strings.Split(m.View(), "\n"); len(rows) != 20 || m.line.rows(60) != 3 {
		t.Errorf("%d rows, the line takes %d:\n%s", len(rows), m.line.rows(60), m.View())
	}
}

func TestCursorOfWideTextStaysOnTheScreen(t *testing.T) {
	for _, text := range []string{strings.Repeat("日本語", 40), strings.Repeat("🙂a", 60), strings.Repeat("x", 130)} {
		for _, opt := range []Options{{Renderer: plainRenderer()}, {Renderer: colourRenderer()}} {
			m := screen(newFakeLab(), 60, 20, opt)
			press(m, "/", text)
			for range 130 {
				row := ansi.Strip(lastRow(m))
				bar := strings.Contains(row, "_")
				if opt.Renderer.ColorProfile() != plainRenderer().ColorProfile() {
					bar = strings.Contains(lastRow(m), "\x1b[7m")
				}
				if !bar || ansi.StringWidth(row) != 60 || strings.Contains(row, "…") {
					t.Fatalf("the cursor is lost: %q", row)
				}
				press(m, "left")
			}
		}
	}
}

func TestNoticeGivesWay(t *testing.T) {
	m := screen(newFakeLab(), 120, 40, Options{})
	m.lab.say("saved as /reports/x", false)
	press(m, line("reorder 10%")...)
	if got := lastRow(m); !strings.Contains(got, "● reorder 10%") {
		t.Errorf("an accepted command leaves %q", got)
	}
	press(m, "tab")
	if !strings.Contains(lastRow(m), "reorder 10%") {
		t.Error("it is gone before it was read")
	}
	for range noteFresh {
		press(m)
	}
	if press(m, "tab"); !strings.Contains(lastRow(m), "? help") {
		t.Errorf("a key leaves %q", lastRow(m))
	}
}

func TestStrayKeysAreAnswered(t *testing.T) {
	for _, key := range []string{"y", "0", "9", "insert"} {
		lab := newFakeLab()
		m := screen(lab, 80, 24, Options{})
		press(m, key)
		if !strings.Contains(lastRow(m), "no such key here; ? lists them") || len(lab.got) > 0 {
			t.Errorf("%s: %q", key, lastRow(m))
		}
		press(m, line("loss 3%")...)
		if press(m, key); strings.Contains(m.View(), "no such key") {
			t.Error("a stray key hides what was just said")
		}
	}
}
