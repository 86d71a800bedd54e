package command

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
)

// maxHistory bounds how many typed lines are remembered.
const maxHistory = 100

// Line is where commands are typed: an input, the history of what was
// typed before, and completion. It stays open on an error, so that the line can
// be mended.
type Line struct {
	Open       bool
	input      controls.Editor
	history    []string
	historyPos int    // how far the arrows have gone back
	draft      string // what was typed before they went
	Err        string

	stem  string // completion under way: what stays, what may follow, which is shown
	words []string
	shown int
}

// Show opens the line with some text in it.
func (l *Line) Show(text string) {
	l.Open, l.historyPos, l.Err, l.words = true, 0, "", nil
	l.input.Set(text)
}

// Remember closes the line and keeps it for the next time.
func (l *Line) Remember() {
	text := strings.TrimSpace(l.input.String())
	if n := len(l.history); text != "" && (n == 0 || l.history[n-1] != text) {
		l.history = append(l.history, text)
		l.history = l.history[max(len(l.history)-maxHistory, 0):]
	}
	l.Open = false
}

// Key handles a key while the line is open, and reports whether the line is to be
// carried out.
func (l *Line) Key(msg tea.KeyMsg, d Context) (run bool) {
	switch msg.String() {
	case "enter":
		return true
	case "esc":
		l.Open = false
	case "tab":
		l.tab(d, 1)
	case "shift+tab":
		l.tab(d, -1)
	case "up", "ctrl+p":
		l.recall(1)
	case "down", "ctrl+n":
		l.recall(-1)
	default:
		if msg.Type == tea.KeyBackspace && l.input.String() == "" {
			l.Open = false
		}
		l.Edit(msg)
	}
	return false
}

// Text is what was typed so far.
func (l *Line) Text() string { return l.input.String() }

// Edit passes a key to the input.
func (l *Line) Edit(msg tea.KeyMsg) {
	before := l.input.String()
	l.input.Key(msg)
	if l.input.String() != before {
		l.Err, l.words = "", nil
	}
}

// recall goes n lines back in the history.
func (l *Line) recall(n int) {
	if l.historyPos == 0 {
		l.draft = l.input.String()
	}
	l.historyPos = min(max(l.historyPos+n, 0), len(l.history))
	text := l.draft
	if l.historyPos > 0 {
		text = l.history[len(l.history)-l.historyPos]
	}
	l.input.Set(text)
	l.Err, l.words = "", nil
}

// tab completes the last word: as far as all candidates agree, then one
// candidate after the other.
func (l *Line) tab(d Context, n int) {
	if len(l.words) == 0 {
		typed := l.input.String()
		l.stem, l.words = completions(d, typed)
		l.shown = -1
		first := l.stem + sharedPrefix(l.words)
		if len(l.words) == 1 && !strings.HasSuffix(first, "=") { // a value follows at once
			first += " "
		}
		if len(l.words) < 2 || len(first) > len(typed) {
			if len(l.words) > 0 {
				l.setText(first)
			}
			l.words = nil
			return
		}
	}
	l.shown += n
	if l.shown < 0 {
		l.shown = len(l.words) - 1
	}
	l.shown %= len(l.words)
	l.setText(l.stem + l.words[l.shown])
}

func (l *Line) setText(text string) {
	l.input.Set(text)
	l.Err = ""
}

// prompt stands before the line that is typed.
const prompt = " / "

// maxErrorRows is the most rows of an error about a line.
const maxErrorRows = 2

// errorRows is what is wrong with the line, on as many rows as it needs. What
// was probably meant comes first: it is what helps, and the rest may be long.
func (l *Line) errorRows(w int) []string {
	text := l.Err
	const ask = "did you mean "
	if problem, rest, ok := strings.Cut(text, "; "+ask); ok {
		if near, after, ok := strings.Cut(rest, "?"); ok {
			text = ask + near + "? " + problem + after
		}
	}
	rows := look.Wrap(text, w-len(prompt)-1)
	if len(rows) > maxErrorRows {
		rows = append(rows[:maxErrorRows-1:maxErrorRows-1], strings.Join(rows[maxErrorRows-1:], " "))
	}
	return rows
}

// Rows is how many rows the line and what stands above it take.
func (l *Line) Rows(w int) int { return 1 + max(len(l.errorRows(w)), 1) }

// firstVisible is the first rune to show so that the cursor is within room columns.
func (l *Line) firstVisible(room int) int {
	from := l.input.At
	for n := 1; from > 0; from-- {
		n += look.RuneWidth(l.input.Text[from-1])
		if n > room {
			break
		}
	}
	return from
}

// Draw shows the line at the bottom of a canvas, and above it what is wrong with
// it, what could follow, or what it would do.
func (l *Line) Draw(c *look.Canvas, th *look.Theme, d Context) {
	value, at := l.input.Text, l.input.At
	const cursor = 3 // columns: where there is no colour, a bar and a wide rune
	from := l.firstVisible(c.W - len(prompt) - cursor)
	x := c.Text(0, c.H-1, look.Key, prompt)
	for i := from; i < len(value) && x < c.W-1; i++ {
		if i == at {
			x = l.drawCursor(c, th, x, string(value[i]))
			continue
		}
		x = c.Text(x, c.H-1, look.Value, string(value[i]))
	}
	if at == len(value) {
		l.drawCursor(c, th, x, " ")
	}
	l.drawHints(c, d)
}

// drawHints writes what stands above the line.
func (l *Line) drawHints(c *look.Canvas, d Context) {
	const x = len(prompt)
	typed := l.input.String()
	_, words := completions(d, typed)
	usageText, hinted := usage(d, typed)
	switch {
	case l.Err != "":
		for y, row := range l.errorRows(c.W) {
			c.Clip(x, y, c.W-x-1, look.Bad, row)
		}
	case len(l.words) > 0:
		c.Clip(x, 0, c.W-x-1, look.Dim, strings.Join(l.words, "  "))
	case strings.HasSuffix(typed, " ") && hinted:
		c.Clip(x, 0, c.W-x-1, look.Dim, usageText)
	case len(words) > 0 && len(words) < 8 || usageText == "":
		c.Clip(x, 0, c.W-x-1, look.Dim, strings.Join(words, "  "))
	default:
		c.Clip(x, 0, c.W-x-1, look.Dim, usageText)
	}
}

// drawCursor draws the place where typing goes on; without colour it is a bar.
func (l *Line) drawCursor(c *look.Canvas, th *look.Theme, x int, under string) int {
	if th.Color {
		return c.Text(x, c.H-1, look.Cursor, under)
	}
	return c.Text(c.Text(x, c.H-1, look.Plain, "_"), c.H-1, look.Value, strings.TrimSpace(under))
}
