package main

import (
	"strings"
	"testing"
)

func TestGrid(t *testing.T) {
	g := newGrid("name", ">kbps", "idea")
	g.row("a", 1234.56, "short")
	g.row("µ-law", 0.123, "words that go on for longer than the screen is wide")
	g.row("b", 7, true)
	for columns, want := range map[int]string{
		0: `name     kbps  idea
a      1234.6  short
µ-law     0.1  words that go on for longer than the screen is wide
b           7  yes
`,
		42: `name     kbps  idea
a      1234.6  short
µ-law     0.1  words that go on for longer
               than the screen is wide
b           7  yes
`,
	} {
		var b strings.Builder
		g.write(&b, columns)
		if b.String() != want {
			t.Errorf("at %d columns:\n%s\nwant:\n%s", columns, b.String(), want)
		}
	}
}

// TestWrap: no line is wider than asked unless it is one word, and no word is
// lost.
func TestWrap(t *testing.T) {
	const text = "the quick brown fox, größer als gedacht, jumps over incomprehensibilities and a lazy dog"
	for width := 1; width < 100; width++ {
		lines := wrap(text, width)
		if got := strings.Join(lines, " "); got != text {
			t.Errorf("width %d: %q", width, got)
		}
		for _, l := range lines {
			if len([]rune(l)) > width && strings.Contains(l, " ") {
				t.Errorf("width %d: line of %d: %q", width, len([]rune(l)), l)
			}
		}
	}
	if got := wrap("", 10); len(got) != 1 || got[0] != "" {
		t.Errorf("of nothing: %q", got)
	}
}
