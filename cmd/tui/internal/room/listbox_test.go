package room

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/grid"
)

// TestListBoxKeys presses random keys: the selected item is one of those that match the filter, or none if none matches.
func TestListBoxKeys(t *testing.T) {
	keys := strings.Fields("up down pgup pgdown home end j k g G / a b z esc tab enter backspace ctrl+u S")
	names := []string{"ab", "abc", "b", "xy"}
	for seed := range uint64(200) {
		var pressed []string
		b := &ListBox{Names: func() []string { return names }, Compare: func(a, b int) int { return b - a }}
		b.Table.Columns = []grid.Column{{Sortable: true}}
		b.Enter = func(item int) Request { return Request{Notice: names[item]} }
		rng := rand.New(rand.NewPCG(seed, 0))
		for range 40 {
			k := keys[rng.IntN(len(keys))]
			pressed = append(pressed, k)
			b.Key(KeyPress(k))
			if (b.Item < 0) != (len(b.shown) == 0) || b.Item >= 0 && !slices.Contains(b.shown, b.Item) {
				t.Fatalf("%v: item %d of %v", pressed, b.Item, b.shown)
			}
		}
	}
}
