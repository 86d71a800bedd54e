package tomlkeys

import (
	"fmt"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	lines := findLines([]byte("# a comment\na = 1\n\n[b.c]\n\"d e\" = 2\nf.g = 3\n[[h]]\ni = 4\n[[h]]\n\ni = { j = 5 }\n[h.k]\nl = 6\n"))
	for key, line := range map[string]int{"a": 2, "b.c": 4, "b.c.d e": 5, "b.c.f.g": 6, "h[0]": 7, "h[0].i": 8, "h[1]": 9,
		"h[1].i": 11, "h[1].k": 12, "h[1].k.l": 13} {
		if lines[key] != line {
			t.Errorf("%s is on line %d, want %d", key, lines[key], line)
		}
	}
}

// Each of many keys has its own line, and finding the lines takes one pass: counting from the top
// for each key would take minutes for a megabyte.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	const many = 100000
	for i := range many {
		fmt.Fprintf(&b, "k%d=1\n", i)
	}
	lines := findLines([]byte(b.String()))
	for i := range many {
		if key := fmt.Sprintf("k%d", i); lines[key] != i+1 {
			t.Fatalf("%s is on line %d, want %d", key, lines[key], i+1)
		}
	}
}
