package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// fixed writes v with the given digits after the point; what is no number is a
// dash.
func fixed(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// clock writes virtual time as minutes, seconds and tenths: 00:42.3.
func clock(t time.Duration) string {
	t = max(t, 0)
	tenths := int64(t / (100 * time.Millisecond))
	s := fmt.Sprintf("%02d:%02d.%d", tenths/600%60, tenths/10%60, tenths%10)
	if h := tenths / 36000; h > 0 {
		s = strconv.FormatInt(h, 10) + ":" + s
	}
	return s
}

// speedText writes a speed: x1, x0.5, max.
func speedText(th *theme, v float64) string {
	if v <= 0 {
		return "max"
	}
	return th.times + strconv.FormatFloat(v, 'f', -1, 64)
}

// splitUnit parts "50ms" into "50" and "ms"; what does not begin with a number
// has no unit.
func splitUnit(s string) (number, unit string) {
	s = strings.TrimSpace(s)
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	if i <= 0 {
		if i < 0 {
			return s, ""
		}
		return "", s
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// wrap breaks text at blanks into lines of at most n columns; a word that is longer,
// such as a path, is broken where it must be.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		for n > 0 && textWidth(word) > n {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := truncate(word, n)
			if head == "" { // not even a wide character fits
				break
			}
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case textWidth(line)+1+textWidth(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// flow breaks pieces of text at blanks into lines of at most n columns; lines after
// the first are set in.
func flow(pieces []span, n int) (lines [][]span) {
	const indent = "  "
	var line []span
	room := n
	for i, p := range pieces {
		words := strings.SplitAfter(p.text, " ")
		for j, word := range words {
			w := textWidth(strings.TrimRight(word, " "))
			if j == len(words)-1 && !strings.HasSuffix(word, " ") {
				w += beginning(pieces[i+1:])
			}
			if w > room && len(line) > 0 {
				lines, line, room = append(lines, line), []span{{inkPlain, indent}}, n-len(indent)
			}
			room -= textWidth(word)
			if k := len(line); k > 0 && line[k-1].ink == p.ink {
				line[k-1].text += word
			} else if word != "" {
				line = append(line, span{p.ink, word})
			}
		}
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	return lines
}

// beginning is how wide the word is that pieces of text begin with.
func beginning(pieces []span) (w int) {
	for _, p := range pieces {
		head, _, blank := strings.Cut(p.text, " ")
		w += textWidth(head)
		if blank {
			break
		}
	}
	return w
}

// padRight makes s at least n columns wide, with blanks behind it.
func padRight(s string, n int) string {
	return s + strings.Repeat(" ", max(n-textWidth(s), 0))
}

// padLeft makes s at least n columns wide.
func padLeft(s string, n int) string {
	for textWidth(s) < n {
		s = " " + s
	}
	return s
}

// short cuts text to n columns.
func short(s string, n int) string {
	if textWidth(s) > n {
		return truncate(s, n-1) + "…"
	}
	return s
}
