package escape

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// TestEscape checks each function on a text for each danger, and on texts that stay as they are.
func TestEscape(t *testing.T) {
	const plain = "größe, 5 µs ± 1 %, “x” → 日本 a\u00a0b\u202fc 🙂 \ue0b0 [a] <= 5 _x_ #1 C:\\new"
	for _, c := range []struct {
		name string
		f    func(string) string
		list [][2]string
	}{
		{"Terminal", Terminal, [][2]string{{plain, plain}, {"a\x1b[2J\x07\x7f", `a\x1b[2J\a\x7f`}, {"a\nb\tc", "a\nb\tc"}, {"a\rb", `a\rb`},
			{"\u009b31m \u202e \u2066 \u2028 \ufeff \u200b", `\u009b31m \u202e \u2066 \u2028 \ufeff \u200b`}, {"\xffa", `\ufffda`}, {"\U000e0041", `\U000e0041`}}},
		{"Line", Line, [][2]string{{plain, plain}, {"a\r\nb\tc", `a\r\nb\tc`}}},
		{"Markdown", Markdown, [][2]string{{plain, plain}, {"a|b", "a&#124;b"}, {"<script>", "&lt;script>"}, {"</td><!-- <?x", "&lt;/td>&lt;!-- &lt;?x"},
			{"&lt;", "&amp;lt;"}, {"`x`", "&#96;x&#96;"}, {"![a](b)[c][d]", "![a&#93;(b)[c&#93;[d]"}, {"a\nb", `a\nb`}}},
		{"CSV", CSV, [][2]string{{plain, plain}, {"", ""}, {"-", "-"}, {"-5", "-5"}, {"-1e-9", "-1e-9"}, {"+4.1 %", "+4.1 %"}, {"a=b", "a=b"}, {"-Inf", "-Inf"},
			{"=1", "'=1"}, {"@x", "'@x"}, {"-2+3", "'-2+3"}, {"+x", "'+x"}, {" =1", "' =1"}, {"\t=1", `\t=1`}, {"＝1", "'＝1"}, {"a\nb", `a\nb`}}},
	} {
		for _, x := range c.list {
			if got := c.f(x[0]); got != x[1] {
				t.Errorf("%s(%q) = %q, expected %q", c.name, x[0], got, x[1])
			}
		}
	}
}

// TestAllRunes checks that no control, format character or separator passes, and that letters, digits,
// punctuation and symbols do.
func TestAllRunes(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		text := string(r)
		hidden := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		if shown := unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) && r != unicode.ReplacementChar; shown && Line(text) != text {
			t.Fatalf("%U is replaced", r)
		}
		if hidden && (Line(text) == text || strings.ContainsRune(Line(text), r)) {
			t.Fatalf("%U is not replaced", r)
		}
		if hidden && r != '\n' && r != '\t' && Terminal(text) == text {
			t.Fatalf("%U is not replaced for a terminal", r)
		}
	}
}

// TestJSON checks that an escaped document decodes to the same text and contains no hidden characters.
func TestJSON(t *testing.T) {
	want := "a\x1b\u009b\x7f\u202e\U000e0041\ufffdé\n"
	doc, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	safe := JSON(append(doc, '\n'))
	var got string
	if err := json.Unmarshal(safe, &got); err != nil || got != want {
		t.Errorf("%s: %q, %v; expected %q", safe, got, err, want)
	}
	if strings.ContainsFunc(string(safe), func(r rune) bool { return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) }) {
		t.Errorf("%q", safe)
	}
}
