package command

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
)

// maxHistory is the largest number of lines in the history.
const maxHistory = 100

// Line is the line in which commands are typed: an editor with a history and completion. After an
// error the line stays open, so that it can be corrected.
type Line struct {
	Open       bool
	input      controls.Editor
	history    []string
	historyPos int    // how many lines back in the history; 0 is the line being typed
	draft      string // the line being typed, while historyPos is not 0
	Err        string

	// Completion in progress: the unchanged start of the line, the candidates for its last word,
	// and the index of the one shown.
	stem  string
	words []string
	shown int
}

// Show opens the line with an initial text.
func (l *Line) Show(text string) {
	l.Open, l.historyPos, l.Err, l.words = true, 0, "", nil
	l.input.Set(text)
}

// Remember closes the line and adds it to the history.
func (l *Line) Remember() {
	text := strings.TrimSpace(l.input.String())
	if n := len(l.history); text != "" && (n == 0 || l.history[n-1] != text) {
		l.history = append(l.history, text)
		l.history = l.history[max(len(l.history)-maxHistory, 0):]
	}
	l.Open = false
}

// Key handles a key while the line is open. It reports whether the caller must execute the line.
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

// Text returns the typed text.
func (l *Line) Text() string { return l.input.String() }

// Edit passes a key to the input.
func (l *Line) Edit(msg tea.KeyMsg) {
	before := l.input.String()
	l.input.Key(msg)
	if l.input.String() != before {
		l.Err, l.words = "", nil
	}
}

// recall moves n lines back in the history, or forward if n is negative.
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

// tab completes the last word: first as far as all candidates agree, then with the next
// candidate, or the previous one if n is -1.
func (l *Line) tab(d Context, n int) {
	if len(l.words) == 0 {
		typed := l.input.String()
		l.stem, l.words = completions(d, typed)
		l.shown = -1
		first := l.stem + sharedPrefix(l.words)
		if len(l.words) == 1 && !strings.HasSuffix(first, "=") { // after "=" the value follows without a blank
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

// prompt is written before the typed line.
const prompt = " / "

// maxErrorRows is the largest number of rows of an error.
const maxErrorRows = 2

// errorRows returns the error about the line, wrapped to w columns. A suggestion is moved to the
// beginning, because the rest may be cut off.
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

// Rows returns the number of rows of the line and the hints above it.
func (l *Line) Rows(w int) int { return 1 + max(len(l.errorRows(w)), 1) }

// firstVisible returns the index of the first rune to show so that the cursor is within columns
// columns.
func (l *Line) firstVisible(columns int) int {
	from := l.input.At
	for n := 1; from > 0; from-- {
		n += look.RuneWidth(l.input.Text[from-1])
		if n > columns {
			break
		}
	}
	return from
}

// Draw draws the line at the bottom of the canvas, and above it an error, completions or the
// usage of the command.
func (l *Line) Draw(c *look.Canvas, th *look.Theme, d Context) {
	value, at := l.input.Text, l.input.At
	const cursor = 3 // columns for the cursor: without colour, "_" before a rune of up to two columns
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

// drawHints draws what is above the line.
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

// drawCursor draws the cursor on the text under it: reversed or, without colour, as "_" before
// the text.
func (l *Line) drawCursor(c *look.Canvas, th *look.Theme, x int, under string) int {
	if th.Color {
		return c.Text(x, c.H-1, look.Cursor, under)
	}
	return c.Text(c.Text(x, c.H-1, look.Plain, "_"), c.H-1, look.Value, strings.TrimSpace(under))
}
