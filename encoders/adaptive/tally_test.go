package adaptive

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// gramCounts is a tally as a map.
type gramCounts map[[numOrders]byte]uint32

// countGrams counts bytes in contexts of order bytes; unused context bytes are 0.
func countGrams(order int, text []byte) gramCounts {
	m := gramCounts{}
	window := [numOrders]byte{'d', '.', ' '}
	for _, b := range text {
		window[numOrders-1] = b
		var gram [numOrders]byte
		copy(gram[numOrders-1-order:], window[numOrders-1-order:])
		m[gram]++
		window = [numOrders]byte{window[1], window[2], b}
	}
	return m
}

// byKey converts the counts to contextKey.
func (m gramCounts) byKey(order int) map[uint32]uint32 {
	list := map[uint32]uint32{}
	for gram, n := range m {
		key := uint32(0)
		for i := range order {
			key = key<<8 | uint32(gram[numOrders-2-i])
		}
		list[key<<8|uint32(gram[numOrders-1])] += n
	}
	return list
}

// randomText returns text of few different bytes, so that contexts of any order repeat.
func randomText(rng *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = "etaoin shrd\x00\xff"[min(rng.IntN(13), rng.IntN(13))]
	}
	return text
}

// Counting, adding and halving tallies agree with maps, at every order.
func TestTalliesMatchMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for round := range 60 {
		order := round % numOrders
		p := newLayout(order)
		full := map[int]uint32{0: 1<<16 - 1, 1: 1<<16 - 1, 2: 255, 3: 1<<32 - 1}[order]
		want, got := map[uint32]uint32{}, tally(nil)
		for range 1 + rng.IntN(8) {
			text := randomText(rng, rng.IntN(1200))
			one, _ := p.countChunk(nil, startContext, text)
			for key, n := range countGrams(order, text).byKey(order) {
				want[key] = min(want[key]+min(n, full), full)
			}
			got = p.add(got, one)
			if rng.IntN(3) == 0 {
				most := rng.IntN(200)
				for len(want) > most {
					for key := range want {
						want[key] /= 2
					}
					maps.DeleteFunc(want, func(_, n uint32) bool { return n == 0 })
				}
				got = p.halve(got, most, 1<<31)
			}
		}
		keys := slices.Sorted(maps.Keys(want))
		if p.numEntries(got) != len(keys) {
			t.Fatalf("order %d: %d entries, want %d", order, p.numEntries(got), len(keys))
		}
		for i, key := range keys {
			if p.key(got, i) != key || p.count(got, i) != want[key] {
				t.Fatalf("order %d, entry %d: key %x came %d times, want %x, %d times", order, i, p.key(got, i), p.count(got, i), key,
					want[key])
			}
		}
	}
}

// Counting in chunks equals counting the whole message.
func TestChunksEqualWhole(t *testing.T) {
	text := randomText(rand.New(rand.NewPCG(5, 5)), 3000)
	for order := range numOrders {
		p := newLayout(order)
		whole, end := p.countChunk(nil, startContext, text)
		var sum, one tally
		last := uint32(startContext)
		for at := 0; at < len(text); at += 700 {
			one, last = p.countChunk(one, last, text[at:min(at+700, len(text))])
			sum = p.add(sum, one)
		}
		if !slices.Equal(sum, whole) || last != end {
			t.Errorf("order %d: %d words in chunks, %d at once; contexts %x and %x", order, len(sum), len(whole), last, end)
		}
	}
}

// The tables of a model, of its order and the orders below, agree with maps.
func TestTablesMatchMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	text := randomText(rng, 2000)
	for order := range numOrders {
		m := model{order: order, pretrained: &emptyTables}
		p := newLayout(order)
		m.learnt[order].keys, _ = p.countChunk(nil, startContext, text)
		m.prepare(p)
		var sums [rowSize]uint32
		m.learnt[order].totals(&sums)
		for b, n := range countGrams(0, text).byKey(0) {
			if sums[b+1]-sums[b] != n {
				t.Fatalf("order %d: %d times %02x, want %d", order, sums[b+1]-sums[b], b, n)
			}
		}
		for k := 1; k <= order; k++ {
			want := countGrams(k, text).byKey(k)
			for range 300 {
				at := rng.IntN(len(text) - 3)
				last := nextContext(nextContext(nextContext(0, text[at]), text[at+1]), text[at+2])
				if rng.IntN(4) == 0 {
					last = rng.Uint32() & 0xffffff
				}
				c, from, to := m.learnt[k].find(last), 0, 256
				for to-from > 1 {
					middle := (from + to) / 2
					cut, below, above := m.learnt[k].countHalves(c, byte(middle))
					var wantBelow, wantAbove uint32
					for b := from; b < to; b++ {
						if n := want[contextKey(k, last, byte(b))]; b < middle {
							wantBelow += n
						} else {
							wantAbove += n
						}
					}
					if below != wantBelow || above != wantAbove {
						t.Fatalf("order %d of %d after %06x: %d and %d in %d..%d, want %d and %d", k, order, last, below, above, from, to-1,
							wantBelow, wantAbove)
					}
					if rng.IntN(2) == 0 {
						to, c.hi = middle, cut
					} else {
						from, c.lo = middle, cut
					}
				}
			}
		}
	}
}
