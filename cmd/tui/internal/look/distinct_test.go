package look_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/look"
)

// TestNamesStayDistinctWhenCut checks that different names stay different when they are
// shortened, whichever part of them differs.
func TestNamesStayDistinctWhenCut(t *testing.T) {
	for _, c := range []struct {
		n           int
		names, want []string
	}{
		{13, []string{"acceleration-x", "acceleration-y", "spin-p"}, []string{"accelerati…-x", "accelerati…-y", "spin-p"}},
		{12, []string{"acceleration-x", "acceleration-y"}, []string{"accelerat…-x", "accelerat…-y"}},
		{12, []string{"position", "a very long name"}, []string{"position", "a very long…"}},
		{8, []string{"rotation-of-the-hand-joint", "rotation-of-the-foot-joint"}, []string{"rotati~1", "r…-joint"}},
		{4, []string{"one", "one"}, []string{"one", "one"}},
		{20, []string{"acceleration-x", "acceleration-y"}, []string{"acceleration-x", "acceleration-y"}},
	} {
		if got := look.ShortenDistinct(c.names, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.names, c.n, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"acceleration", "position", "x", "y", "-", "_", "left", "right", "é", "角度", "0", "1", "2"}
	for range 2000 {
		var names []string
		for range 2 + rng.IntN(50) {
			var b strings.Builder
			for range 1 + rng.IntN(6) {
				b.WriteString(parts[rng.IntN(len(parts))])
			}
			if !slices.Contains(names, b.String()) {
				names = append(names, b.String())
			}
		}
		n := 5 + rng.IntN(15)
		cut := look.ShortenDistinct(names, n)
		for i, c := range cut {
			if look.TextWidth(c) > n {
				t.Fatalf("%q is %d columns wide, %d asked for", c, look.TextWidth(c), n)
			}
			if at := slices.Index(cut[i+1:], c); at >= 0 {
				t.Fatalf("%q and %q in %d columns are both %q", names[i], names[i+1+at], n, c)
			}
		}
	}
}
