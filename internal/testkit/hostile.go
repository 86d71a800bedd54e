package testkit

import (
	"encoding/csv"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// HostileTexts are texts that a file could contain as a name: each attacks a terminal, Markdown, HTML or
// a spreadsheet, by an escape sequence, a bell, a bidirectional control, a forged line, markup or a formula.
var HostileTexts = []string{
	"a\x1b[31;2Jb\x07\x7f\u009b31m",
	"a\u202eb\u2066c\u200fd\u2028e",
	"a\nFORGED line\r\nFORGED again\tb",
	"a|b|<script>alert(1)</script>&lt;",
	"=cmd()|' /C calc'!A0",
	"-2+3+cmd|x", "+SUM(A1)", "@SUM(A1)", "\t=1+1",
	"`a` ![b](http://example.com/x.png) <img src=x onerror=alert(1)> \xff",
}

// FillHostile sets every string in the value that p points to, and adds an element to every empty map of
// strings and slice. It replaces nil pointers to structures, and leaves numbers unchanged. n selects the
// first of HostileTexts; the strings take them in turn.
func FillHostile(p any, n int) { fillHostile(reflect.ValueOf(p).Elem(), &n) }

// fillHostile fills v, which must be settable.
func fillHostile(v reflect.Value, n *int) {
	next := func() reflect.Value {
		*n++
		return reflect.ValueOf(HostileTexts[*n%len(HostileTexts)])
	}
	switch v.Kind() {
	case reflect.String:
		v.Set(next().Convert(v.Type()))
	case reflect.Pointer:
		if v.IsNil() && v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			fillHostile(v.Elem(), n)
		}
	case reflect.Slice:
		if v.Len() == 0 && (v.Type().Elem().Kind() == reflect.String || v.Type().Elem().Kind() == reflect.Struct) {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fillHostile(v.Index(i), n)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() {
			v.Set(reflect.ValueOf(map[string]string{next().String(): next().String(), next().String(): next().String()}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fillHostile(f, n)
			}
		}
	}
}

// invisible matches the characters that no text for people may contain raw: controls, bidirectional and
// zero-width characters, line separators.
var invisible = regexp.MustCompile("[\\x00-\\x08\\x0b-\\x1f\\x7f\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]")

// CheckTerminalText checks that text is safe for a terminal, and that no line begins within a hostile text.
func CheckTerminalText(t testing.TB, name, text string) {
	t.Helper()
	if at := invisible.FindStringIndex(text); at != nil || !utf8.ValidString(text) {
		t.Errorf("%s: an invisible character: %q", name, excerpt(text, at))
	}
	if at := regexp.MustCompile(`(?m)^\s*(tui: )?FORGED`).FindStringIndex(text); at != nil {
		t.Errorf("%s: a forged line: %q", name, excerpt(text, at))
	}
}

// CheckScreen checks that a screen without colours contains no invisible characters and has the given number
// of lines. Bytes that are not UTF-8 may be replacement characters, which terminals display.
func CheckScreen(t testing.TB, name, screen string, lines int) {
	t.Helper()
	screen = strings.ReplaceAll(screen, string(utf8.RuneError), "?")
	if at := invisible.FindStringIndex(screen); at != nil {
		t.Errorf("%s: an invisible character: %q", name, excerpt(screen, at))
	}
	if n := strings.Count(screen, "\n") + 1; n != lines {
		t.Errorf("%s: %d lines, expected %d", name, n, lines)
	}
}

// CheckMarkdown checks that text is safe as CheckTerminalText does, contains no HTML, image or unbalanced
// code, and that each row of a table has the columns of the table's first row.
func CheckMarkdown(t testing.TB, name, text string) {
	t.Helper()
	CheckTerminalText(t, name, text)
	if at := regexp.MustCompile(`<[A-Za-z/!?]|\]\(`).FindStringIndex(text); at != nil {
		t.Errorf("%s: markup: %q", name, excerpt(text, at))
	}
	columns, fence := 0, false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fence = !fence
			continue
		}
		switch {
		case fence:
		case strings.Count(line, "`")%2 != 0:
			t.Errorf("%s: unbalanced code: %q", name, line)
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case columns == 0:
			columns = strings.Count(line, "|")
		case strings.Count(line, "|") != columns:
			t.Errorf("%s: %d bars, expected %d: %q", name, strings.Count(line, "|"), columns, line)
		}
	}
}

// CheckCSV checks that text is CSV without invisible characters and line breaks in cells, and that no cell
// is a formula for a spreadsheet. It returns the records.
func CheckCSV(t testing.TB, name, text string) [][]string {
	t.Helper()
	CheckTerminalText(t, name, text)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if regexp.MustCompile(`^\s*([=@]|[-+].*[A-Za-df-z(|])`).MatchString(cell) || strings.ContainsAny(cell, "\r\n\t") {
				t.Errorf("%s: cell %q", name, cell)
			}
		}
	}
	return rows
}

// CheckHTML checks that a page contains no invisible characters, no image, no attribute that runs a
// script, and no elements with scripts other than the page's own: the data, the chart library and the
// script of the page.
func CheckHTML(t testing.TB, name, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	const scripts = 3
	found := 0
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			CheckTerminalText(t, name, strings.ReplaceAll(n.Data, "FORGED", "")) // a newline is a blank in HTML
		}
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" {
			found++
			if strings.Contains(fmt.Sprint(n.Attr), "application/json") {
				CheckTerminalText(t, name+", data", n.FirstChild.Data)
				for _, hidden := range []string{`\u001b`, `\u0007`, `\u202e`, `\u2028`, `\n`} {
					if strings.Contains(strings.ReplaceAll(n.FirstChild.Data, `\\`, ""), hidden) {
						t.Errorf("%s: the script's data contain %s", name, hidden)
					}
				}
			}
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: attribute %s=%q", name, a.Key, a.Val)
			}
			CheckTerminalText(t, name+", attribute "+a.Key, strings.ReplaceAll(a.Val, "FORGED", ""))
		}
		if n.Data == "img" {
			t.Errorf("%s: an image", name)
		}
	}
	if found != scripts {
		t.Errorf("%s: %d scripts, expected %d", name, found, scripts)
	}
}

// excerpt returns the part of text around the positions at; its beginning if at is nil.
func excerpt(text string, at []int) string {
	if at == nil {
		at = []int{0, 0}
	}
	return text[max(at[0]-40, 0):min(at[1]+40, len(text))]
}
