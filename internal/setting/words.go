package setting

import (
	"strconv"
	"strings"
)

// SplitWords cuts a text at white space; a part between double quotes, written as
// in Go, is taken whole: file="my trace.csv". ok is false for a quote that does
// not end.
func SplitWords(text string) (words []string, ok bool) {
	word, open := "", false
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

// QuoteWord writes a word so that SplitWords takes it back whole, with quotes
// only where they are needed.
func QuoteWord(word string) string {
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
