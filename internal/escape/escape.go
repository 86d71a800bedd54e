// Package escape makes text that a file, a peer or a user chose safe to write to a terminal, to
// Markdown, HTML, XML, JSON and CSV. Such text may contain terminal escape sequences,
// controls that reorder what is displayed (Unicode Standard Annex #9), newlines that forge a line,
// markup, and formulas that a spreadsheet would run. Text without any of these is returned unchanged.
package escape

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Terminal returns text of any number of lines for a terminal. Control characters except newlines and
// tabs, bidirectional and other invisible controls, and bytes that are not UTF-8 are replaced by Go
// escapes such as \x1b and \u202e.
func Terminal(text string) string {
	return replaceHidden(text, func(r rune) bool { return r != '\n' && r != '\t' && isHidden(r) })
}

// Line is Terminal for a text that is part of a line, such as a name: newlines and tabs are escaped too.
// It also serves HTML and XML, whose templates and encoders escape the markup but not these characters.
func Line(text string) string { return replaceHidden(text, isHidden) }

// isHidden reports whether r is a control, a format character, an unassigned character, or a line
// separator. Spaces of any width and characters for private use, such as icons, are not hidden.
func isHidden(r rune) bool {
	return !unicode.IsGraphic(r) && !unicode.Is(unicode.Co, r) || r == utf8.RuneError
}

// replaceHidden replaces the runes for which hidden is true by Go escapes.
func replaceHidden(text string, hidden func(rune) bool) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Markdown returns text for a paragraph, a heading or a cell of a table in Markdown: Line, with the
// characters that begin HTML, an entity, a link or code, or end a cell, replaced by entities. A "<"
// that begins no tag, as in "<= 5", is unchanged.
func Markdown(text string) string {
	text = Line(text)
	if !strings.ContainsAny(text, "|<&`]") {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case r == '|':
			b.WriteString("&#124;")
		case r == '`':
			b.WriteString("&#96;")
		case r == '<' && (unicode.IsLetter(next) || next == '/' || next == '!' || next == '?'):
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == ']' && (next == '(' || next == '[' || next == ':'):
			b.WriteString("&#93;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// CSV returns the text of a cell of a CSV file: Line, with an apostrophe before a cell that a spreadsheet
// would run as a formula. The apostrophe marks text there. Numbers are unchanged.
func CSV(cell string) string {
	cell = Line(cell)
	if isFormula(cell) {
		return "'" + cell
	}
	return cell
}

// isFormula reports whether a spreadsheet evaluates the cell: it begins with =, @ or a sign, or with
// blanks before one of these, and is neither a number, such as -5 or +4.1%, nor a lone sign.
func isFormula(cell string) bool {
	cell = strings.TrimSpace(cell)
	first, size := utf8.DecodeRuneInString(cell)
	switch first {
	case '=', '@', '＝', '＠': // spreadsheets for East Asia also accept the full-width forms
		return true
	case '+', '-', '＋', '－':
		rest := strings.TrimSpace(strings.TrimSuffix(cell[size:], "%"))
		_, err := strconv.ParseFloat(rest, 64)
		return rest != "" && err != nil
	}
	return false
}

// JSON returns a JSON document in which the hidden characters of strings, which encoding/json leaves
// unescaped above U+001F, are escaped. The document has the same meaning.
func JSON(doc []byte) []byte {
	hidden := func(r rune) bool { return r != '\n' && r != utf8.RuneError && isHidden(r) }
	if !bytes.ContainsFunc(doc, hidden) {
		return doc
	}
	var out []byte
	for _, r := range string(doc) {
		if !hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
