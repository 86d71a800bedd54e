package look

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirelab/internal/units"
)

// FormatTime formats virtual time as minutes, seconds and tenths, such as 00:42.3, with hours if
// needed.
func FormatTime(t time.Duration) string {
	t = max(t, 0)
	tenths := int64(t / (100 * time.Millisecond))
	s := fmt.Sprintf("%02d:%02d.%d", tenths/600%60, tenths/10%60, tenths%10)
	if h := tenths / 36000; h > 0 {
		s = strconv.FormatInt(h, 10) + ":" + s
	}
	return s
}

// FormatSpeed formats a speed of virtual time, such as "x0.5". 0 and below mean as fast as possible
// and give "max".
func FormatSpeed(th *Theme, v float64) string {
	if v <= 0 {
		return "max"
	}
	return th.Times + units.FormatDecimal(v)
}

// Wrap breaks text at blanks into lines of at most n columns. Words longer than n columns, such
// as paths, are broken. If n is 0 or less, each word is a line.
func Wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		for n > 0 && TextWidth(word) > n {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := Truncate(word, n)
			if head == "" { // n is 1 and the character is two columns wide
				break
			}
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case TextWidth(line)+1+TextWidth(word) <= n:
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

// WrapRows is like Wrap, but the last of at most rows lines has the rest, whose end is cut off when it is drawn.
func WrapRows(s string, n, rows int) []string {
	lines := Wrap(s, n)
	if len(lines) > rows {
		lines = append(lines[:rows-1:rows-1], strings.Join(lines[rows-1:], " "))
	}
	return lines
}

// WrapSpans breaks pieces of text at blanks into lines of at most n columns. Lines after the first are
// indented. A word that continues in the next piece stays on one line. A word longer than n
// columns is not broken.
func WrapSpans(pieces []Span, n int) (lines [][]Span) {
	const indent = "  "
	var line []Span
	left := n // columns left in the line
	for i, piece := range pieces {
		words := strings.SplitAfter(piece.Text, " ")
		for j, word := range words {
			w := TextWidth(strings.TrimRight(word, " "))            // a blank at the end of a line needs no room
			if j == len(words)-1 && !strings.HasSuffix(word, " ") { // the word continues in the next piece
				w += firstWordWidth(pieces[i+1:])
			}
			if w > left && len(line) > 0 {
				last := &line[len(line)-1]
				last.Text = strings.TrimRight(last.Text, " ") // it may be beyond column n
				lines, line, left = append(lines, line), []Span{Plain.Span(indent)}, n-len(indent)
			}
			left -= TextWidth(word)
			if last := len(line) - 1; last >= 0 && line[last].Style == piece.Style {
				line[last].Text += word
			} else if word != "" {
				line = append(line, piece.Style.Span(word))
			}
		}
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	return lines
}

// firstWordWidth returns the width of the text before the first blank, which may extend over
// several pieces.
func firstWordWidth(pieces []Span) (w int) {
	for _, p := range pieces {
		head, _, hasBlank := strings.Cut(p.Text, " ")
		w += TextWidth(head)
		if hasBlank {
			break
		}
	}
	return w
}

// PadRight appends blanks to s up to a width of n columns.
func PadRight(s string, n int) string {
	return s + strings.Repeat(" ", max(n-TextWidth(s), 0))
}

// PadLeft prepends blanks to s up to a width of n columns.
func PadLeft(s string, n int) string {
	return strings.Repeat(" ", max(n-TextWidth(s), 0)) + s
}

// Shorten shortens text to n columns, with an ellipsis at its end if it is longer.
func Shorten(s string, n int) string {
	if TextWidth(s) > n {
		return Truncate(s, n-1) + "…"
	}
	return s
}

// ShortenStart shortens text to n columns, with an ellipsis in place of its beginning if it is longer. Names of files
// differ at their ends.
func ShortenStart(s string, n int) string {
	if TextWidth(s) <= n {
		return s
	}
	for i := range s {
		if tail := s[i:]; TextWidth(tail) < n {
			return "…" + tail
		}
	}
	return ""
}

// FormatMicroseconds formats the time of a codec in microseconds: whole ones, or one decimal below 1; "-" for 0, which
// means that no time was measured.
func FormatMicroseconds(us float64) string {
	switch {
	case us == 0:
		return "-"
	case us < 0.05:
		return "<0.1"
	}
	return units.Stepped(us, 1, 0.95)
}
