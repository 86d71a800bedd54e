package align

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSuffixes compares sortSuffixes with a sort by comparison.
func TestSuffixes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		for _, letters := range []int{1, 2, 3, 256} {
			text := make([]byte, n)
			for i := range text {
				text[i] = byte(r.IntN(letters))
			}
			checkSuffixes(t, text)
		}
	}
	checkSuffixes(t, bytes.Repeat([]byte("abracadabra"), 300))
	checkSuffixes(t, make([]byte, 5000))
}

func checkSuffixes(t *testing.T, text []byte) {
	t.Helper()
	got, want := make([]int32, len(text)), make([]int32, len(text))
	for i := range want {
		want[i] = int32(i)
	}
	slices.SortFunc(want, func(a, b int32) int { return bytes.Compare(text[a:], text[b:]) })
	if sortSuffixes(text, got, 256, newScratch(len(text))); !slices.Equal(got, want) {
		t.Fatalf("wrong order of the suffixes of %q", text)
	}
}
