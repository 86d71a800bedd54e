package command

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/fuzzy"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// maxHistory is the largest number of lines in the history.
const maxHistory = 100

// Line is the line in which commands are typed: an editor with a history, completion, and a list of the lines
// that match the text. After an error the line stays open, so that it can be corrected.
type Line struct {
	Open    bool
	input   controls.Editor
	history []string // executed lines, oldest first
	Err     string   // the error about the line; "" for none
	field   string   // the text before the value if the line was opened to set a value; "" otherwise

	draft  string // the line as typed, from which the choices follow
	chosen int    // number of the choice that is in the line, from 1; 0 is the draft
}

// Show opens the line with an initial text. If there is one, only characters are typed after it that can be part of its
// value.
func (l *Line) Show(text string) {
	l.Open, l.Err, l.draft, l.chosen = true, "", text, 0
	l.field = text
	l.input.Set(text)
}

// Remember closes the line and adds text, the line that was executed, to the history as its newest entry, unless
// it is blank.
func (l *Line) Remember(text string) {
	l.Open = false
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	l.history = append(slices.DeleteFunc(l.history, func(old string) bool { return old == text }), text)
	l.history = l.history[max(len(l.history)-maxHistory, 0):]
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
		l.choose(env, l.chosen+1)
	case "down", "ctrl+n":
		l.choose(env, l.chosen-1)
	default:
		if msg.String() == "/" && l.Err != "" { // begins another command
			l.Show("")
			return false
		}
		if msg.Type == tea.KeyBackspace && l.input.String() == "" { // as in vi
			l.Open = false
		}
		before := slices.Clone(l.input.Text)
		cursor := l.input.At
		l.Edit(msg)
		isField := l.field != "" && strings.HasPrefix(l.input.String(), l.field)
		if isField && len(msg.Runes) == 1 && !env.accepts(l.input.String()) {
			l.input.Text, l.input.At = before, cursor
			l.draft = string(before)
		}
	}
	return false
}

// Text returns the typed text.
func (l *Line) Text() string { return l.input.String() }

// Edit passes a key to the input. If the text changes, the error is discarded and the choices follow from the new
// text.
func (l *Line) Edit(msg tea.KeyMsg) {
	before := l.input.String()
	l.input.Key(msg)
	if text := l.input.String(); text != before {
		l.Err, l.draft, l.chosen = "", text, 0
	}
}

// choose puts choice n into the line, or the nearest one that exists; 0 is the draft.
func (l *Line) choose(env Context, n int) {
	list, _ := l.choices(env)
	l.chosen, l.Err = min(max(n, 0), len(list)), ""
	text := l.draft
	if l.chosen > 0 {
		text = list[l.chosen-1].line
	}
	l.input.Set(text)
}

// complete completes the last word. It first adds what all words that begin with it share. When there is nothing
// to add, each further call puts the next completion into the line, or the previous one if step is -1.
func (l *Line) complete(env Context, step int) {
	list, recent := l.choices(env)
	if l.chosen <= recent { // no completion is in the line yet
		stem, words := completions(env, l.input.String())
		last := strings.ToLower(strings.TrimPrefix(l.input.String(), stem))
		words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(strings.ToLower(w), last) })
		extended := stem + sharedPrefix(words)
		isPart := strings.HasSuffix(extended, "=") || strings.HasSuffix(extended, "/") // the rest follows without a blank
		if len(words) == 1 && !isPart {
			extended += " "
		}
		if len(words) == 1 || len(words) > 0 && len(extended) > len(l.input.String()) {
			l.draft, l.chosen = extended, 0
			l.input.Set(extended)
			return
		}
	}
	if n := len(list) - recent; n > 0 {
		at := l.chosen - recent - 1 + step // index of the completion
		if l.chosen <= recent {
			at = min(step-1, 0) // the first one, or the last one
		}
		l.choose(env, recent+1+(at+n)%n)
	}
}

// choice is a line that the user may choose instead of typing it.
type choice struct {
	line, help string
}

// choices returns the lines that match the draft: those of the history, newest first, of which recent is the
// number; then the completions of the last word; then, if the draft is the beginning of an argument, the commands
// with this argument, such as "encoder rotor" for "rotr"; then the commands whose help contains the draft.
func (l *Line) choices(env Context) (list []choice, recent int) {
	draft := strings.TrimLeft(l.draft, " /")
	newestFirst := slices.Clone(l.history)
	slices.Reverse(newestFirst)
	ranked := fuzzy.Rank(draft, newestFirst)
	slices.Sort(ranked)
	for _, i := range ranked {
		if newestFirst[i] != draft {
			list = append(list, choice{newestFirst[i], "recent"})
		}
	}
	recent = len(list)
	add := func(line, help string) {
		if !slices.ContainsFunc(list, func(c choice) bool { return c.line == line }) {
			list = append(list, choice{line, help})
		}
	}
	verbs := Verbs(env)
	verbIndex := func(name string) int { return slices.IndexFunc(verbs, func(v verb) bool { return v.Name == name }) }
	stem, words := completions(env, draft)
	for _, word := range words {
		if i := verbIndex(word); i >= 0 && stem == "" {
			add(word, verbs[i].argsHelp())
		} else if stem+word != draft {
			add(stem+word, env.summary(word))
		}
	}
	const minLetters = 2 // of an argument that is typed without its command
	if stem != "" || len(draft) < minLetters {
		return list, recent
	}
	for _, v := range verbs {
		arguments := v.nextWords(nil)
		for _, i := range fuzzy.Rank(draft, arguments) {
			if verbIndex(arguments[i]) < 0 {
				add(v.Name+" "+arguments[i], env.summary(arguments[i]))
			}
		}
	}
	for _, v := range verbs {
		if len(draft) > minLetters && strings.Contains(strings.ToLower(v.usage()), strings.ToLower(draft)) {
			add(v.Name, v.argsHelp())
		}
	}
	return list, recent
}

// argsHelp returns the arguments and the help of a command.
func (v *verb) argsHelp() string { return strings.TrimSpace(v.Args + "  " + v.Help) }

// summary returns the summary of an encoder, a link profile or a setting of links; "" for other words.
func (env Context) summary(word string) string {
	if env.Catalog == nil {
		return ""
	}
	for _, option := range append(env.Encoders(env.Schema), env.Links()...) {
		if option.Name == word {
			return option.Summary
		}
	}
	info, _ := env.Key(word)
	return info.Help
}

// Bindings returns the keys of the line, for the footer and the help.
func (l *Line) Bindings() []room.Binding {
	return []room.Binding{
		room.OverlayKey("enter", "run", "run the line; names may be abbreviated, as the line above shows"),
		room.OverlayKey("↑↓", "choose", "choose from the list: recent lines first, then all that matches"),
		room.OverlayKey("tab", "complete", "complete the last word, or put the next completion into the line"),
		room.OverlayKey("esc", "close", "close the command line"),
	}
}

// prompt is written before the typed line.
const prompt = " / "

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

// Canvas returns the line as the bottom row of a canvas of w columns and at most maxRows rows. Above it are an error,
// the effect of the line or its usage, and above these the choices, the first one at the bottom.
func (l *Line) Canvas(th *look.Theme, env Context, w, maxRows int) *look.Canvas {
	const maxChoices, maxErrorRows = 10, 2
	hints := []string{l.hint(env)}
	if l.Err != "" {
		hints = look.WrapRows(l.Err, w-len(prompt)-1, maxErrorRows)
	}
	list, _ := l.choices(env)
	const edge = 1 // the row above the choices
	rows := max(min(len(list), maxChoices, maxRows-1-len(hints)-edge), 0)
	c := look.NewCanvas(w, edge+rows+len(hints)+1)
	c.Divider(th, 0, look.Unfocused, "Command")
	first := min(max(l.chosen-rows, 0), len(list)-rows)
	for i := range rows {
		style, y, item := look.Plain, rows-i, list[first+i]
		if first+i == l.chosen-1 {
			style = look.Chosen
			c.Text(1, y, style, th.Chosen)
		}
		const nameColumns = 34
		end := c.Clip(len(prompt), y, w-len(prompt)-1, style, item.line)
		c.Clip(max(end+2, len(prompt)+nameColumns), y, max(w-max(end+2, len(prompt)+nameColumns)-1, 0), look.Dim, item.help)
	}
	for i, text := range hints {
		style := look.Dim
		if l.Err != "" {
			style = look.Bad
		}
		c.Clip(len(prompt), edge+rows+i, w-len(prompt)-1, style, text)
	}
	l.drawInput(c, th)
	return c
}

// drawInput draws prompt, text and cursor in the last row.
func (l *Line) drawInput(c *look.Canvas, th *look.Theme) {
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
}

// hint returns the first of these that exists: the hint for the next argument, the effect of the line, its usage,
// how to choose what matches.
func (l *Line) hint(env Context) string {
	typed := l.input.String()
	usageText, isHint := usage(env, typed)
	if strings.HasSuffix(typed, " ") && isHint {
		return usageText
	}
	if text := effect(env, typed); text != "" {
		if v, _, ok := env.findVerb(strings.Fields(typed)[0]); ok && v.Note != "" {
			text += "; " + v.Note
		}
		return text
	}
	if list, _ := l.choices(env); usageText == "" && len(list) > 0 && typed != "" {
		return "up chooses " + list[0].line
	}
	return usageText
}

// drawCursor draws the cursor at column x, on the text under it, and returns the column after the
// text. The text is reversed or, without colour, preceded by "_".
func (l *Line) drawCursor(c *look.Canvas, th *look.Theme, x int, under string) int {
	if th.Color {
		return c.Text(x, c.H-1, look.Cursor, under)
	}
	return c.Text(c.Text(x, c.H-1, look.Plain, "_"), c.H-1, look.Value, strings.TrimSpace(under))
}
