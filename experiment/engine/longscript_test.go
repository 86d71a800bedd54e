package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/internal/testkit"
)

// Ten times as many scripted changes of any kind take ten times the work to read, check, run and
// write. Work is measured in allocated bytes, which are the same on every machine.
func TestLongScriptsAreLinear(t *testing.T) {
	for name, change := range map[string]func(i int) string{
		"a link's key":    func(i int) string { return fmt.Sprintf("loss = \"%d%%\"", i%20) },
		"an inline table": func(i int) string { return fmt.Sprintf("down = { loss = \"%d%%\", jitter = \"%dms\" }", i%20, i%9) },
		"a setting":       func(i int) string { return fmt.Sprintf("playout_delay = \"%dms\"", 50+i%30) },
		"a profile":       func(i int) string { return fmt.Sprintf("profile = %q", []string{"lte", "wifi"}[i%2]) },
		"a bookmark":      func(i int) string { return fmt.Sprintf("mark = \"m%d\"", i) },
	} {
		t.Run(name, func(t *testing.T) {
			n := testkit.ChooseLong(1000, 200, 100)
			few, many := allocatedBytes(t, n, change), allocatedBytes(t, 10*n, change)
			if ratio := float64(many) / float64(few); ratio > 13 {
				t.Errorf("%d changes allocate %d bytes, ten times as many allocate %d: %.1f times that", n, few, many, ratio)
			}
		})
	}
}

// allocatedBytes returns the number of bytes that are allocated for a script of n changes.
func allocatedBytes(t *testing.T, n int, change func(i int) string) uint64 {
	t.Helper()
	var text strings.Builder
	text.WriteString("[data]\nsource = \"text\"\n[encoder]\nname = \"deflate\"\n")
	for i := range n {
		fmt.Fprintf(&text, "[[at]]\nt = \"%dus\"\n%s\n", 10*i, change(i))
	}
	input := []byte(text.String())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := config.Parse("long.toml", input)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(t.Context(), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, s.pending[n-1].T)
	if len(s.log) != n {
		t.Fatalf("%d changes took effect, want %d: %v", len(s.log), n, s.refused)
	}
	if _, err := c.TOML(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
