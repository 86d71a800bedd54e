package lossmodel

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The heap returns entries in sorted order, with mixed pushes and pops.
func TestHeapOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var h heap
		var model []heapEntry
		for seq := range uint64(rng.IntN(300)) {
			e := heapEntry{due: int64(rng.IntN(50)), seq: seq, slot: int32(seq)}
			h.push(e)
			model = append(model, e)
			if rng.IntN(3) > 0 {
				continue
			}
			slices.SortFunc(model, func(a, b heapEntry) int {
				return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
			})
			if got := h.pop(); got != model[0] {
				t.Fatalf("popped %+v, expected %+v", got, model[0])
			}
			model = model[1:]
		}
		if len(h) != len(model) {
			t.Fatalf("%d left, want %d", len(h), len(model))
		}
	}
}

// A million packets in flight are delivered completely and in order.
func TestMillionInFlight(t *testing.T) {
	l := newLink(t, newSpec(t, "latency", "1800s", "jitter", "1000s"), 3)
	n := packetCount()
	seen := make([]bool, n)
	for i := range n {
		l.Send(0, []byte{1, 2, 3}, uint64(i))
	}
	if l.InFlight() != n {
		t.Fatalf("%d in flight, want %d", l.InFlight(), n)
	}
	var last Delivery
	drain(l, func(d Delivery) {
		if d.Due < last.Due || d.Due == last.Due && d.Tag < last.Tag {
			t.Fatalf("packet %d due at %v arrived after packet %d due at %v", d.Tag, d.Due, last.Tag, last.Due)
		}
		if seen[d.Tag] {
			t.Fatalf("packet %d arrived twice", d.Tag)
		}
		seen[d.Tag], last = true, d
	})
	if i := slices.Index(seen, false); i >= 0 {
		t.Fatalf("packet %d did not arrive", i)
	}
}
