package adaptive

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain is a tally as anyone would write one.
type plain map[[orders]byte]uint32

// gramsOf counts, in contexts of order bytes, what is unused being zero.
func gramsOf(order int, text []byte) plain {
	m := plain{}
	window := [orders]byte{'d', '.', ' '}
	for _, b := range text {
		window[orders-1] = b
		var gram [orders]byte
		copy(gram[orders-1-order:], window[orders-1-order:])
		m[gram]++
		window = [orders]byte{window[1], window[2], b}
	}
	return m
}

// keyed is the same by keys: the latest byte of the context highest, the byte lowest.
func (m plain) keyed(order int) map[uint32]uint32 {
	list := map[uint32]uint32{}
	for gram, n := range m {
		key := uint32(0)
		for i := range order {
			key = key<<8 | uint32(gram[orders-2-i])
		}
		list[key<<8|uint32(gram[orders-1])] += n
	}
	return list
}

// babble is text of few words, so that contexts of any order come back.
func babble(rng *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = "etaoin shrd\x00\xff"[min(rng.IntN(13), rng.IntN(13))]
	}
	return text
}

// Counting, adding and halving give what they give of maps, at every order.
func TestTallies(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for round := range 60 {
		order := round % orders
		p := packingOf(order)
		full := map[int]uint32{0: 1<<16 - 1, 1: 1<<16 - 1, 2: 255, 3: 1<<32 - 1}[order]
		want, got := map[uint32]uint32{}, tally(nil)
		for range 1 + rng.IntN(8) {
			text := babble(rng, rng.IntN(1200))
			one, _ := p.of(nil, start, text)
			for key, n := range gramsOf(order, text).keyed(order) {
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
				got = p.limit(got, most, 1<<31)
			}
		}
		keys := slices.Sorted(maps.Keys(want))
		if p.entries(got) != len(keys) {
			t.Fatalf("order %d: %d entries, want %d", order, p.entries(got), len(keys))
		}
		for i, key := range keys {
			if p.key(got, i) != key || p.count(got, i) != want[key] {
				t.Fatalf("order %d, entry %d: key %x came %d times, want %x, %d times", order, i, p.key(got, i), p.count(got, i), key,
					want[key])
			}
		}
	}
}

// A piece at a time counts as the whole message does.
func TestPieces(t *testing.T) {
	text := babble(rand.New(rand.NewPCG(5, 5)), 3000)
	for order := range orders {
		p := packingOf(order)
		whole, end := p.of(nil, start, text)
		var sum, one tally
		last := uint32(start)
		for at := 0; at < len(text); at += 700 {
			one, last = p.of(one, last, text[at:min(at+700, len(text))])
			sum = p.add(sum, one)
		}
		if !slices.Equal(sum, whole) || last != end {
			t.Errorf("order %d: %d words in pieces, %d at once; contexts %x and %x", order, len(sum), len(whole), last, end)
		}
	}
}

// A model's tables, of its own order and of those below, answer as maps do: how often
// each half of each range of bytes followed each context.
func TestTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	text := babble(rng, 2000)
	for order := range orders {
		m := model{order: order, trained: &untrained}
		p := packingOf(order)
		m.own[order].keys, _ = p.of(nil, start, text)
		m.ready(p)
		var sums [rowSize]uint32
		m.own[order].totals(&sums)
		for b, n := range gramsOf(0, text).keyed(0) {
			if sums[b+1]-sums[b] != n {
				t.Fatalf("order %d: %d times %02x, want %d", order, sums[b+1]-sums[b], b, n)
			}
		}
		for k := 1; k <= order; k++ {
			want := gramsOf(k, text).keyed(k)
			for range 300 {
				at := rng.IntN(len(text) - 3)
				last := after(after(after(0, text[at]), text[at+1]), text[at+2])
				if rng.IntN(4) == 0 {
					last = rng.Uint32() & 0xffffff
				}
				c, from, to := m.own[k].find(last), 0, 256
				for to-from > 1 {
					middle := (from + to) / 2
					cut, below, above := m.own[k].split(c, byte(middle))
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
