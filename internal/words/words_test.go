package words_test

import (
	"slices"
	"strings"
	"testing"

	"wirelab/internal/words"
)

func TestCount(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{words.Count(0, "packet"), "0 packets"}, {words.Count(1, "entity"), "1 entity"}, {words.Count(int64(2), "entity"), "2 entities"},
		{words.Count(uint64(3), "key"), "3 keys"}, {words.Count(-1, "byte"), "-1 bytes"}, {words.Plural("y"), "ies"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestOrdinal(t *testing.T) {
	want := "0th 1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th 112th 123rd"
	var got []string
	for _, n := range []int{0, 1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 112, 123} {
		got = append(got, words.Ordinal(n))
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

// Wrapped lines contain the same words, and exceed the width only if they are a single word.
func TestWrap(t *testing.T) {
	text := "a bc  déf ghij klmno pqrstuvwxyz äöü"
	for width := range 40 {
		lines := words.Wrap(text, width)
		if got := strings.Join(lines, " "); got != strings.Join(strings.Fields(text), " ") {
			t.Errorf("width %d: %q", width, got)
		}
		for i, line := range lines {
			if len([]rune(line)) > width && strings.Contains(line, " ") {
				t.Errorf("width %d: line %q is too wide", width, line)
			}
			if i > 0 {
				first, _, _ := strings.Cut(line, " ")
				if len([]rune(lines[i-1]))+1+len([]rune(first)) <= width {
					t.Errorf("width %d: %q fits behind %q", width, first, lines[i-1])
				}
			}
		}
	}
	if got := words.Wrap("", 5); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// No line is wider than width unless it is one word, and no word is lost.
func TestWrapText(t *testing.T) {
	const text = "the quick brown fox, größer als gedacht, jumps over incomprehensibilities and a lazy dog"
	for width := 1; width < 100; width++ {
		lines := words.Wrap(text, width)
		if got := strings.Join(lines, " "); got != text {
			t.Errorf("width %d: %q", width, got)
		}
		for _, l := range lines {
			if len([]rune(l)) > width && strings.Contains(l, " ") {
				t.Errorf("width %d: line of %d: %q", width, len([]rune(l)), l)
			}
		}
	}
	if got := words.Wrap("", 10); len(got) != 1 || got[0] != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// Split reads back what Quote writes.
func FuzzQuote(f *testing.F) {
	f.Add("plain", "with space")
	f.Add("off", "\"quoted\"\\")
	f.Fuzz(func(t *testing.T, a, b string) {
		words, ok := words.Split(words.Quote(a) + " \t" + words.Quote(b))
		if !ok || !slices.Equal(words, []string{a, b}) {
			t.Errorf("%q and %q: %q, %v", a, b, words, ok)
		}
	})
}
