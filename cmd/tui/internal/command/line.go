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
	history    []string // executed lines, oldest first
	historyPos int      // how many lines back in the history; 0 is the line being typed
	draft      string   // the line being typed, while historyPos is not 0
	Err        string   // the error about the line; "" for none

	// Completion in progress: the unchanged start of the line, the candidates for its last word,
	// and the index of the candidate that is inserted. No words mean that none is in progress.
	stem  string
	words []string
	shown int
}

// Show opens the line with an initial text.
func (l *Line) Show(text string) {
	l.Open, l.historyPos, l.Err, l.words = true, 0, "", nil
	l.input.Set(text)
}

// Remember closes the line and adds its text to the history, unless it is blank or equals the
// previous one.
func (l *Line) Remember() {
	text := strings.TrimSpace(l.input.String())
	if n := len(l.history); text != "" && (n == 0 || l.history[n-1] != text) {
		l.history = append(l.history, text)
		l.history = l.history[max(len(l.history)-maxHistory, 0):]
	}
	l.Open = false
}

// Key handles a key while the line is open. It reports whether the caller must execute the line.
func (l *Line) Key(msg tea.KeyMsg, env Context) (run bool) {
	switch msg.String() {
	case "enter":
		return true
	case "esc":
		l.Open = false
	case "tab":
		l.complete(env, 1)
	case "shift+tab":
		l.complete(env, -1)
	case "up", "ctrl+p":
		l.recall(1)
	case "down", "ctrl+n":
		l.recall(-1)
	default:
		if msg.Type == tea.KeyBackspace && l.input.String() == "" { // as in vi
			l.Open = false
		}
		l.Edit(msg)
	}
	return false
}

// Text returns the typed text.
func (l *Line) Text() string { return l.input.String() }

// Edit passes a key to the input. If the text changes, the error and the completion in progress
// are discarded.
func (l *Line) Edit(msg tea.KeyMsg) {
	before := l.input.String()
	l.input.Key(msg)
	if l.input.String() != before {
		l.Err, l.words = "", nil
	}
}

// recall moves n lines back in the history, or forward if n is negative, and shows the line there.
// The line being typed is the newest.
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

// complete completes the last word. It first adds what all candidates share. When there is nothing
// to add, each further call inserts the next candidate, or the previous one if step is -1. Without
// candidates the line is unchanged.
func (l *Line) complete(env Context, step int) {
	if len(l.words) == 0 {
		typed := l.input.String()
		l.stem, l.words = completions(env, typed)
		l.shown = -1 // no candidate is inserted yet
		extended := l.stem + sharedPrefix(l.words)
		if len(l.words) == 1 && !strings.HasSuffix(extended, "=") { // after "=" the value follows without a blank
			extended += " "
		}
		if len(l.words) < 2 || len(extended) > len(typed) {
			if len(l.words) > 0 {
				l.setText(extended)
			}
			l.words = nil
			return
		}
	}
	l.shown += step
	if l.shown < 0 {
		l.shown = len(l.words) - 1
	}
	l.shown %= len(l.words)
	l.setText(l.stem + l.words[l.shown])
}

// setText replaces the text and discards the error, but not the completion in progress.
func (l *Line) setText(text string) {
	l.input.Set(text)
	l.Err = ""
}

// prompt is written before the typed line.
const prompt = " / "

// maxErrorRows is the largest number of rows of an error.
const maxErrorRows = 2

// errorRows returns the error text l.Err, wrapped for a canvas of w columns, in at most
// maxErrorRows rows. It turns "PROBLEM; did you mean NAME?" into "did you mean NAME? PROBLEM", because
// the end of a long error is cut off.
func (l *Line) errorRows(w int) []string {
	text := l.Err
	const suggestion = "did you mean "
	if problem, rest, ok := strings.Cut(text, "; "+suggestion); ok {
		if name, after, ok := strings.Cut(rest, "?"); ok {
			text = suggestion + name + "? " + problem + after
		}
	}
	rows := look.Wrap(text, w-len(prompt)-1)
	if len(rows) > maxErrorRows { // join the remaining rows into the last one, whose end is cut off when it is drawn
		rows = append(rows[:maxErrorRows-1:maxErrorRows-1], strings.Join(rows[maxErrorRows-1:], " "))
	}
	return rows
}

// Rows returns the number of rows that Draw needs on a canvas w columns wide: one for the line, and
// at least one above it for hints or errors.
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
func (l *Line) Draw(c *look.Canvas, th *look.Theme, env Context) {
	text, cursor := l.input.Text, l.input.At
	const cursorWidth = 3 // columns: without colour, "_" before a rune of up to two columns
	from := l.firstVisible(c.W - len(prompt) - cursorWidth)
	x := c.Text(0, c.H-1, look.Key, prompt)
	for i := from; i < len(text) && x < c.W-1; i++ {
		if i == cursor {
			x = l.drawCursor(c, th, x, string(text[i]))
			continue
		}
		x = c.Text(x, c.H-1, look.Value, string(text[i]))
	}
	if cursor == len(text) {
		l.drawCursor(c, th, x, " ")
	}
	l.drawHints(c, env)
}

// drawHints draws, above the line, the first of these that exists: the error about the line; the
// candidates of a completion in progress; the hint for the next argument; the candidates for the
// last word if they are few; the usage of the command.
func (l *Line) drawHints(c *look.Canvas, env Context) {
	const x = len(prompt)
	const maxCandidates = 7 // more candidates would hide the usage for little use
	typed := l.input.String()
	_, candidates := completions(env, typed)
	usageText, isHint := usage(env, typed)
	switch {
	case l.Err != "":
		for y, row := range l.errorRows(c.W) {
			c.Clip(x, y, c.W-x-1, look.Bad, row)
		}
	case len(l.words) > 0:
		c.Clip(x, 0, c.W-x-1, look.Dim, strings.Join(l.words, "  "))
	case strings.HasSuffix(typed, " ") && isHint:
		c.Clip(x, 0, c.W-x-1, look.Dim, usageText)
	case len(candidates) > 0 && len(candidates) <= maxCandidates || usageText == "":
		c.Clip(x, 0, c.W-x-1, look.Dim, strings.Join(candidates, "  "))
	default:
		c.Clip(x, 0, c.W-x-1, look.Dim, usageText)
	}
}

// drawCursor draws the cursor at column x, on the text under it, and returns the column after the
// text. The text is reversed or, without colour, preceded by "_".
func (l *Line) drawCursor(c *look.Canvas, th *look.Theme, x int, under string) int {
	if th.Color {
		return c.Text(x, c.H-1, look.Cursor, under)
	}
	return c.Text(c.Text(x, c.H-1, look.Plain, "_"), c.H-1, look.Value, strings.TrimSpace(under))
}
