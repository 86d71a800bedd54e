package rangecoder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// edgeLists are decisions whose intervals touch a boundary exactly. The first decision leaves the interval
// [2^31-1, 2^32-1), the 15 bits of value 0 leave 2^24 numbers that begin 256 below a multiple of 2^32.
var edgeLists = [][]decision{
	{{p: 65280}}, // the range is exactly minRange: no byte is shifted out
	{{p: One - 1<<15}, {n: 7}},
	{{p: 32768}, {n: 15}},                // the tail is exactly a carry
	{{p: 32768}, {n: 15}, {n: 16, v: 1}}, // low is exactly a carry; the tail fills its interval exactly
	{{p: 32768}, {n: 15}, {n: 16, v: 0}}, // the interval ends exactly at a carry
	{{p: 32768}, {n: 15}, {n: 17, v: 2}}, // more than 16 bits: the upper 16 first
	{{p: 32768}, {n: 15}, {n: 32, v: 70000}},
}

// Packets at the boundaries equal those of the coder with big integers, and are read back.
func TestExactBoundaries(t *testing.T) {
	for i, list := range edgeLists {
		var w, r Coder
		w.Write(nil)
		codeAll(&w, list)
		got := w.Finish()
		if want := referenceEncode(list); !bytes.Equal(got, want) {
			t.Errorf("list %d: %x, want %x", i, got, want)
		}
		r.Read(got)
		if back := codeAll(&r, list); !equalDecisions(back, list) || r.Close() != nil {
			t.Errorf("list %d: read as %v, %v", i, back, r.Close())
		}
	}
}

// The lower part of an interval stands for 1 and excludes its upper bound, for every method that reads decisions.
// A reader that stands on the bound is at the first number of the upper part, so every next decision is 1; one
// below it, the reader is at the last number of the lower part, so every next decision is 0.
func TestDecisionAtTheBound(t *testing.T) {
	for _, p := range []uint32{300, 20000, 32768, 65000} {
		bound := uint32((1<<32 - 1) * uint64(p) >> 16)
		for bit, number := range []uint32{bound, bound - 1} {
			want := Coder{}
			want.Write(nil)
			want.Bit(bit, p)
			src := binary.BigEndian.AppendUint32(nil, number)
			counters := []Counter{0, NewCounter(p, 0)}
			for name, read := range map[string]func(c *Coder) int{
				"Bit":      func(c *Coder) int { return c.Bit(1-bit, p) },
				"CodeTree": func(c *Coder) int { return c.CodeTree(slices.Clone(counters), 1-bit, 1, 0) },
				"CodeZeros": func(c *Coder) int {
					if c.CodeZeros(slices.Clone(counters), []int32{1}, 0) == 0 {
						return c.Bit(0, p)
					}
					return 0
				},
			} {
				var c Coder
				c.Read(src)
				got := read(&c)
				if spent := c.Spent(); got != bit || spent != want.Spent() {
					t.Errorf("%s of p = %d at %d: %d for %d units, want %d for %d", name, p, number, got, spent, bit, want.Spent())
				}
				if next := c.Bit(0, 32768); next != 1-bit {
					t.Errorf("%s of p = %d at %d: the next decision is %d", name, p, number, next)
				}
			}
		}
	}
}

// A valid packet never needs more than three zeros past its end, at which a reader reports no error. The empty
// slice, which is no packet, needs four.
func TestErrWithinPacket(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 500 {
		list := randomDecisions(rng, rng.IntN(30))
		var w, r Coder
		w.Write(nil)
		codeAll(&w, list)
		r.Read(w.Finish())
		for _, d := range list {
			codeAll(&r, []decision{d})
			if r.Err() != nil {
				t.Fatalf("%v within a packet", r.Err())
			}
		}
	}
	var r Coder
	if r.Read([]byte{0}); r.Err() != nil || r.Close() != nil {
		t.Errorf("the packet without decisions: %v, %v", r.Err(), r.Close())
	}
	if r.Read(nil); !errors.Is(r.Err(), ErrShort) {
		t.Errorf("no bytes: %v, want ErrShort", r.Err())
	}
}

// referenceTrimmed returns the shortest bytes that, followed by zeros, are a number in the interval of the decisions.
func referenceTrimmed(list []decision) []byte {
	low, high, scale := referenceInterval(list)
	for n := uint(0); ; n++ {
		number := new(big.Int)
		unit := big.NewInt(1)
		if 8*n <= scale {
			unit.Lsh(unit, scale-8*n)
		}
		number.Add(low, unit).Sub(number, big.NewInt(1)).Div(number, unit)
		if new(big.Int).Mul(number, unit).Cmp(high) < 0 {
			return number.FillBytes(make([]byte, n))
		}
	}
}

// FinishTrimmed writes the shortest packet that reads as the decisions when zeros follow.
func TestFinishTrimmed(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	lists := slices.Concat(edgeLists, [][]decision{nil, {{p: 65535, v: 1}}})
	for range 1000 {
		list := randomDecisions(rng, rng.IntN(20))
		for i := range list {
			if i%3 == 0 && rng.IntN(2) == 0 {
				list[i] = decision{p: 50000, v: 1} // ones leave zero bytes at the end
			}
		}
		lists = append(lists, list)
	}
	for i, list := range lists {
		var w, r Coder
		prefix := make([]byte, i%3) // zeros before the packet stay
		w.Write(prefix)
		codeAll(&w, list)
		got := w.FinishTrimmed()
		if want := append(prefix, referenceTrimmed(list)...); !bytes.Equal(got, want) {
			t.Fatalf("list %d, %v: %x, want %x", i, list, got, want)
		}
		r.Read(append(got[len(prefix):len(got):len(got)], make([]byte, 8)...))
		if back := codeAll(&r, list); !equalDecisions(back, list) {
			t.Fatalf("list %d: read as %v, want %v", i, back, list)
		}
	}
}

// CodeTree equals n calls of Bit with the counters of the path from the root, 2i and 2i+1 below i.
func TestTreeMatchesBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	for range 200 {
		n, limit := 1+rng.IntN(6), []int{0, 1, 60, 1023}[rng.IntN(4)]
		want := make([]Counter, 1<<n)
		for i := range want {
			want[i] = NewCounter(edgeProbabilities[rng.IntN(len(edgeProbabilities))], rng.IntN(1100))
		}
		got, read := slices.Clone(want), slices.Clone(want)
		var plain, quick, reader Coder
		plain.Write(nil)
		quick.Write(nil)
		var symbols []int
		for range rng.IntN(60) {
			v := rng.IntN(1 << n)
			if rng.IntN(2) == 0 {
				v = 0
			}
			symbols = append(symbols, v)
			node := 1
			for i := n - 1; i >= 0; i-- {
				bit := v / (1 << i) % 2
				plain.Bit(bit, want[node].P())
				if limit != 0 {
					want[node].Update(bit, limit)
				}
				node = 2*node + bit
			}
			if back := quick.CodeTree(got, v, uint(n), limit); back != v {
				t.Fatalf("a writer of %d returns %d", v, back)
			}
		}
		packet := quick.Finish()
		if !bytes.Equal(packet, plain.Finish()) || !slices.Equal(got, want) {
			t.Fatal("bytes or counters differ from those of Bit")
		}
		reader.Read(packet)
		for _, v := range symbols {
			if back := reader.CodeTree(read, 0, uint(n), limit); back != v {
				t.Fatalf("read %d, want %d", back, v)
			}
		}
		if err := reader.Close(); err != nil || !slices.Equal(read, want) {
			t.Fatalf("%v, counters %v, want %v", err, read, want)
		}
	}
}

// Log2 is exact for powers of two and otherwise the next higher multiple of 2^-16, or the one after.
func TestLog2RoundsUp(t *testing.T) {
	for k := 1; k < 32; k++ {
		if got := Log2(1 << k); got != int64(k)*One {
			t.Errorf("Log2(2^%d) = %d/65536", k, got)
		}
	}
	rng := rand.New(rand.NewPCG(37, 38))
	values := []uint32{3, 5, 1<<31 - 1, 1<<31 + 1, math.MaxUint32, 3037000500} // the last is the square root of 2^63, rounded up
	for range 10000 {
		values = append(values, max(3, rng.Uint32()>>rng.IntN(31)))
	}
	for _, v := range values {
		if got, want := float64(Log2(v)), math.Log2(float64(v))*One; got < want-1e-6 || got > want+2 {
			t.Errorf("Log2(%d) = %f/65536, want %f rounded up", v, got, want)
		}
	}
}
