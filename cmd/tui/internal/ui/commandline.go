package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// maxHistory bounds how many typed lines are remembered.
const maxHistory = 100

// commandLine is where commands are typed: an input, the history of what was
// typed before, and completion. It stays open on an error, so that the line can
// be mended.
type commandLine struct {
	open    bool
	input   editor
	history []string
	back    int    // how far the arrows have gone back
	draft   string // what was typed before they went
	err     string

	stem  string // completion under way: what stays, what may follow, which is shown
	words []string
	shown int
}

// show opens the line with some text in it.
func (l *commandLine) show(text string) {
	l.open, l.back, l.err, l.words = true, 0, "", nil
	l.input.set(text)
}

// remember closes the line and keeps it for the next time.
func (l *commandLine) remember() {
	text := strings.TrimSpace(l.input.String())
	if n := len(l.history); text != "" && (n == 0 || l.history[n-1] != text) {
		l.history = append(l.history, text)
		l.history = l.history[max(len(l.history)-maxHistory, 0):]
	}
	l.open = false
}

// Keys on top of plain typing.
func lineKeys() (enter, leave, next, back, older, newer key.Binding) {
	of := func(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }
	return of("enter"), of("esc"), of("tab"), of("shift+tab"), of("up"), of("down")
}

// key handles a key while the line is open, and reports whether the line is to be
// carried out.
func (l *commandLine) key(msg tea.KeyMsg, d desk) (run bool) {
	enter, leave, next, back, older, newer := lineKeys()
	switch {
	case key.Matches(msg, enter):
		return true
	case key.Matches(msg, leave), msg.Type == tea.KeyBackspace && l.input.String() == "":
		l.open = false
	case key.Matches(msg, next):
		l.tab(d, 1)
	case key.Matches(msg, back):
		l.tab(d, -1)
	case key.Matches(msg, older):
		l.recall(1)
	case key.Matches(msg, newer):
		l.recall(-1)
	default:
		l.edit(msg)
	}
	return false
}

// text is what was typed so far.
func (l *commandLine) text() string { return l.input.String() }

// edit passes a key to the input.
func (l *commandLine) edit(msg tea.KeyMsg) {
	before := l.input.String()
	l.input.key(msg)
	if l.input.String() != before {
		l.err, l.words = "", nil
	}
}

// recall goes n lines back in the history.
func (l *commandLine) recall(n int) {
	if l.back == 0 {
		l.draft = l.input.String()
	}
	l.back = min(max(l.back+n, 0), len(l.history))
	text := l.draft
	if l.back > 0 {
		text = l.history[len(l.history)-l.back]
	}
	l.input.set(text)
	l.err, l.words = "", nil
}

// tab completes the last word: as far as all candidates agree, then one
// candidate after the other.
func (l *commandLine) tab(d desk, n int) {
	if len(l.words) == 0 {
		typed := l.input.String()
		l.stem, l.words = complete(d, typed)
		l.shown = -1
		if len(l.words) == 0 {
			return
		}
		if p := l.stem + sharedPrefix(l.words); len(p) > len(typed) && len(l.words) > 1 {
			l.put(p)
			l.words = nil
			return
		}
		if len(l.words) == 1 {
			l.put(l.stem + whole(l.words[0]))
			l.words = nil
			return
		}
	}
	if l.shown += n; l.shown < 0 {
		l.shown = len(l.words) - 1
	}
	l.shown %= len(l.words)
	l.put(l.stem + l.words[l.shown])
}

// whole is a word as it is completed: with a blank behind it, unless a value
// follows at once.
func whole(word string) string {
	if strings.HasSuffix(word, "=") {
		return word
	}
	return word + " "
}

func (l *commandLine) put(text string) {
	l.input.set(text)
	l.err = ""
}

// prompt stands before the line that is typed.
const prompt = " / "

// maxComplaint is how many rows say what is wrong with a line.
const maxComplaint = 2

// complaint is what is wrong with the line, on as many rows as it needs. What
// was probably meant comes first: it is what helps, and the rest may be long.
func (l *commandLine) complaint(w int) []string {
	text := l.err
	const ask = "did you mean "
	if problem, rest, ok := strings.Cut(text, "; "+ask); ok {
		if near, after, ok := strings.Cut(rest, "?"); ok {
			text = ask + near + "? " + problem + after
		}
	}
	rows := wrap(text, w-len(prompt)-1)
	if len(rows) > maxComplaint {
		rows = append(rows[:maxComplaint-1:maxComplaint-1], strings.Join(rows[maxComplaint-1:], " "))
	}
	return rows
}

// rows is how many rows the line and what stands above it take.
func (l *commandLine) rows(w int) int { return 1 + max(len(l.complaint(w)), 1) }

// scrolled is the first rune to show so that the cursor is within room columns.
func (l *commandLine) scrolled(room int) int {
	from := l.input.at
	for n := 1; from > 0; from-- {
		if n += runeWidth(l.input.text[from-1]); n > room {
			break
		}
	}
	return from
}

// draw shows the line at the bottom of a canvas, and above it what is wrong with
// it, what could follow, or what it would do.
func (l *commandLine) draw(c *canvas, th *theme, d desk) {
	value, at := l.input.text, l.input.at
	const cursor = 3 // columns: where there is no colour, a bar and a wide rune
	from := l.scrolled(c.w - len(prompt) - cursor)
	x := c.text(0, c.h-1, inkKey, prompt)
	for i := from; i < len(value) && x < c.w-1; i++ {
		if i == at {
			x = l.cursor(c, th, x, string(value[i]))
			continue
		}
		x = c.text(x, c.h-1, inkValue, string(value[i]))
	}
	if at == len(value) {
		l.cursor(c, th, x, " ")
	}
	l.advise(c, d)
}

// advise writes what stands above the line.
func (l *commandLine) advise(c *canvas, d desk) {
	const x = len(prompt)
	typed := l.input.String()
	_, words := complete(d, typed)
	usage := d.usage(typed)
	switch {
	case l.err != "":
		for y, row := range l.complaint(c.w) {
			c.clip(x, y, c.w-x-1, inkBad, row)
		}
	case len(l.words) > 0:
		c.clip(x, 0, c.w-x-1, inkDim, strings.Join(l.words, "  "))
	case strings.HasSuffix(typed, " ") && d.hint(typed) != "":
		c.clip(x, 0, c.w-x-1, inkDim, usage)
	case len(words) > 0 && len(words) < 8 || usage == "":
		c.clip(x, 0, c.w-x-1, inkDim, strings.Join(words, "  "))
	default:
		c.clip(x, 0, c.w-x-1, inkDim, usage)
	}
}

// cursor draws the place where typing goes on; without colour it is a bar.
func (l *commandLine) cursor(c *canvas, th *theme, x int, under string) int {
	if th.color {
		return c.text(x, c.h-1, inkCursor, under)
	}
	return c.text(c.text(x, c.h-1, inkPlain, "_"), c.h-1, inkValue, strings.TrimSpace(under))
}
