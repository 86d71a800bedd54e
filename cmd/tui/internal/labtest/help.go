package labtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keyMeanings lists the keys with the same meaning on every page of every screen. The description of a key contains one
// of its words.
var keyMeanings = map[string]string{
	"e": "encoder", "v": "shadow", "p": "link", "d": "link", "u": "undo", "^r": "redo", "o": "open", "S": "sort", "f": "filter",
	"n": "match", "N": "match", "c": "figure|view|map|chart", "r": "reference|compare", "w": "write", "x": "explain|why|outcome", "m": "mark",
	"s": "save", "y": "copy", "$": "cost|bits", "#": "bit", "J": "packet", "K": "packet", "del": "shadow", "a": "axes", "0": "axis",
	"space": "pause|stop", ".": "0.1 s", ",": "0.1 s", "<": "1 s", ">": "1 s", "b": "mark", "B": "mark", "+": "faster", "-": "faster",
	"(": "crosshair", ")": "crosshair", "Z": "time range", "z": "pane", "/": "command", "?": "key", "q": "quit|end", "^c": "save|end|quit",
}

// moves matches the keys that move or act on what is selected. Each page describes what they do there.
var moves = regexp.MustCompile(`^(S-)?[←→↑↓gG[\]]$|^(pgup|pgdn|home|end|tab|enter|esc|backspace|1-[2-9]|click|wheel)$`)

// helpLines returns the lines of the help on a screen, without the edges of the box.
func helpLines(view string) (lines []string) {
	const edge = "━ Help ━"
	rows := strings.Split(view, "\n")
	top := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, edge) })
	if top < 0 {
		return nil
	}
	left := len([]rune(rows[top][:strings.Index(rows[top], edge)]))
	for _, row := range rows[top+1:] {
		cells := []rune(row)
		if cells[left-1] != '│' {
			break
		}
		line, _, _ := strings.Cut(string(cells[left:]), "│")
		lines = append(lines, strings.TrimRight(strings.TrimPrefix(line, " "), " "))
	}
	return lines
}

// helpRow matches a row of the help: a key and its description.
var helpRow = regexp.MustCompile(`^ (\S+(?: \S+)*)  +(\S.*)$`)

// CheckHelp checks the help that a screen of 120 x 80 shows: it has at most 60 lines and 40 keys, and each key has its
// only meaning, in one line on a screen of 60 columns.
func CheckHelp(t *testing.T, view string) {
	t.Helper()
	const maxText = 44 // columns
	lines := helpLines(view)
	numKeys, section := 0, ""
	described := map[string]bool{}
	for _, line := range lines {
		if line != "" && line[0] != ' ' {
			section = line
		}
		row := helpRow.FindStringSubmatch(line)
		if row == nil || section != "Everywhere" && !strings.HasPrefix(section, "Page ") {
			continue
		}
		numKeys++
		text := row[2]
		if n := len([]rune(text)); n > maxText && !strings.HasPrefix(row[1], "1-") {
			t.Errorf("%s: the text of %s has %d columns: %s", section, row[1], n, text)
		}
		for _, key := range strings.Fields(row[1]) {
			words := keyMeanings[key]
			if words == "" && !moves.MatchString(key) || !regexp.MustCompile(words).MatchString(strings.ToLower(text)) {
				t.Errorf("%s: key %s, which means %q on every page, is described as %q", section, key, words, text)
			}
			if described[key] {
				t.Errorf("%s: key %s is listed twice", section, key)
			}
			described[key] = true
		}
	}
	if len(lines) > 60 || numKeys > 40 || numKeys < 10 {
		t.Errorf("the help has %d lines and %d keys:\n%s", len(lines), numKeys, view)
	}
}
