package packetlog

import (
	"math/rand/v2"
	"testing"
)

// TestHistoryHasAllRecords checks that a history has every record before the newest ones, also those completed
// late, that it drops whole blocks, and that what a copy contains never changes.
func TestHistoryHasAllRecords(t *testing.T) {
	const newest = 255
	rng := rand.New(rand.NewPCG(1, 2))
	l := New(1024)
	l.KeepHistory(newest)
	total := uint64((maxBlocks + 3) * blockSize)
	payload := make([]int, total) // of each record, as it should be
	check := func(h *History, payload []int) {
		t.Helper()
		for n := h.First(); n < h.End(); n++ {
			if r := h.At(n); r.Seq != n || r.Payload != payload[n] {
				t.Fatalf("record %d is %+v, want a payload of %d", n, r, payload[n])
			}
		}
	}
	for n := range total {
		l.Add(Record{Seq: n})
		late := n - min(n, rng.Uint64N(200)) // in flight for so many packets
		if n%500 == 0 {
			late = n - min(n, 1000)
		}
		if l.Set(late, &Record{Seq: late, Payload: int(n)}) {
			payload[late] = int(n)
		}
		if n%50_000 == 49_999 {
			copied, former := l.History(), append([]int{}, payload...)
			defer check(&copied, former)
		}
	}
	h := l.History()
	check(&h, payload)
	if h.End() != total-newest || h.First() != total-newest-(total-newest)%blockSize-maxBlocks*blockSize {
		t.Errorf("the history has the records from %d to %d of %d", h.First(), h.End(), total)
	}
}
