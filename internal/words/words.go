// Package words formats counts and lists in English, and splits texts into words.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plural returns the plural of a noun: "byte" gives "bytes", "entity" gives "entities".
func Plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.ContainsAny(stem[max(len(stem)-1, 0):], "aeou") {
		return stem + "ies"
	}
	return noun + "s"
}

// Count formats a number of things: "1 packet", "2 packets". noun is singular.
func Count[N int | int64 | uint64](n N, noun string) string {
	if n != 1 {
		noun = Plural(noun)
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Ordinal formats a position: 2nd, 3rd, 11th.
func Ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 { // not 11th, 12th or 13th
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// Wrap breaks text at spaces into lines of at most width characters. A longer word is on its own
// line. There is at least one line.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		line := &lines[len(lines)-1]
		switch {
		case *line == "":
			*line = word
		case utf8.RuneCountInString(*line)+1+utf8.RuneCountInString(word) <= width:
			*line += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// Split splits a text at white space. A part in double quotes, in Go syntax, is not split: file="my
// trace.csv". ok is false if a quote is not closed or not valid.
func Split(text string) (words []string, ok bool) {
	word, open := "", false // the current word; open: it has begun, and may be empty in quotes
	for text != "" {
		switch c := text[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if open {
				words, word, open = append(words, word), "", false
			}
			text = text[1:]
		case c == '"':
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, false
			}
			part, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, false
			}
			word, open, text = word+part, true, text[len(quoted):]
		default:
			word, open, text = word+text[:1], true, text[1:]
		}
	}
	if open {
		words = append(words, word)
	}
	return words, true
}

// Quote returns a word in the form that Split converts back to it, with quotes only if necessary.
func Quote(word string) string {
	// As the whole text of a setting, off turns it off; a file of that name needs quotes.
	if word == "" || word == "off" || strings.ContainsAny(word, "\"\\") {
		return strconv.Quote(word)
	}
	for _, r := range word {
		if r <= ' ' || !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.Quote(word)
		}
	}
	return word
}
