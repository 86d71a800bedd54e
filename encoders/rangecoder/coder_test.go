package rangecoder

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// A decision is one call of Bit (n == 0) or of Direct with n bits.
type decision struct {
	v uint64
	p uint32
	n uint
}

// randomDecisions returns decisions, most of which follow their probabilities.
func randomDecisions(rng *rand.Rand, count int) []decision {
	list := make([]decision, count)
	for i := range list {
		switch rng.IntN(8) {
		case 0:
			n := uint(rng.IntN(65))
			list[i] = decision{n: n, v: rng.Uint64() & (1<<n - 1)}
			if n == 0 {
				list[i].p = 1
			}
		case 1:
			list[i] = decision{v: rng.Uint64() & 1, p: edgeProbabilities[rng.IntN(len(edgeProbabilities))]}
		default:
			p := uint32(1 + rng.IntN(One-1))
			list[i] = decision{p: p}
			if rng.IntN(One) < int(p) {
				list[i].v = 1
			}
		}
	}
	return list
}

// edgeProbabilities are near the limits of the range and of its parts.
var edgeProbabilities = []uint32{1, 2, 3, 255, 256, 257, 32767, 32768, 32769, 65279, 65280, 65533, 65534, 65535}

func codeAll(c *Coder, list []decision) []decision {
	var out []decision
	for _, d := range list {
		if d.n == 0 {
			d.v = uint64(c.Bit(int(d.v), d.p))
		} else {
			d.v = c.Direct(d.v, d.n)
		}
		out = append(out, d)
	}
	return out
}

func equalDecisions(a, b []decision) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Decisions survive the round trip, bytes before the packet are unchanged, and Spent agrees with
// the packet's size.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var w, r Coder
	for trial := range 4000 {
		list := randomDecisions(rng, rng.IntN(200))
		prefix := bytes.Repeat([]byte{255}, trial%5)
		w.Write(prefix)
		codeAll(&w, list)
		spent := w.Spent()
		out := w.Finish()
		if !bytes.HasPrefix(out, prefix) {
			t.Fatalf("bytes before the packet became %x", out[:len(prefix)])
		}
		src := out[len(prefix):]
		if left := int64(len(src))*8*One - spent; left < 0 || left > 17*One {
			t.Fatalf("%d bytes for %.2f bits: %.2f unused", len(src), float64(spent)/One, float64(left)/One)
		}
		r.Read(src)
		if got := codeAll(&r, list); !equalDecisions(got, list) {
			t.Fatalf("trial %d: decoded decisions differ", trial)
		}
		if err := r.Close(); err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		if r.Spent() != spent {
			t.Fatalf("trial %d: Spent of the reader is %d, of the writer %d", trial, r.Spent(), spent)
		}
	}
}

// No packet is a prefix of another one: every truncated packet and every packet with a byte
// appended is refused.
func TestTruncatedPackets(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		list := randomDecisions(rng, 1+rng.IntN(60))
		var w, r Coder
		w.Write(nil)
		codeAll(&w, list)
		src := w.Finish()
		for n := range src {
			r.Read(src[:n])
			codeAll(&r, list)
			if err := r.Close(); err == nil {
				t.Fatalf("%d of %d bytes are accepted as a packet", n, len(src))
			}
		}
		r.Read(append(bytes.Clone(src), byte(rng.Uint32())))
		codeAll(&r, list)
		if err := r.Close(); !errors.Is(err, errTail) {
			t.Fatalf("with a byte appended: %v, want errTail", err)
		}
	}
}

// Err reports ErrShort if and only if a reader is well past the end.
func TestReadPastEnd(t *testing.T) {
	var r Coder
	r.Read([]byte{200, 100, 50})
	r.Direct(0, 16)
	if err := r.Err(); err != nil {
		t.Errorf("after 2 of 3 bytes: %v", err)
	}
	r.Direct(0, 64)
	if !errors.Is(r.Err(), ErrShort) || !errors.Is(r.Close(), ErrShort) {
		t.Errorf("8 bytes past the end: %v, %v, want ErrShort", r.Err(), r.Close())
	}
	for range 1000 {
		r.Bit(0, 1)
	}
}

func TestEmptyPacket(t *testing.T) {
	var c Coder
	c.Write(nil)
	if c.Spent() != 0 {
		t.Errorf("an empty packet costs %d units", c.Spent())
	}
	if out := c.Finish(); len(out) != 1 {
		t.Errorf("an empty packet has %d bytes, want 1", len(out))
	}
}

func TestBitPanicsOnInvalidProbability(t *testing.T) {
	for _, p := range []uint32{0, One, math.MaxUint32} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("probability %d did not panic", p)
				}
			}()
			var c Coder
			c.Write(nil)
			c.Bit(1, p)
		}()
	}
}

// The cost of a long message is within 0.1 % of its entropy, also for very skewed probabilities.
func TestEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, p := range append([]uint32{100, 1000, 10000, 50000}, edgeProbabilities...) {
		var c Coder
		c.Write(nil)
		var bits float64
		const n = 300_000
		for i := range n {
			// Ones at regular intervals, so that rare ones occur.
			bit := 0
			if uint64(i+1)*uint64(p)>>16 != uint64(i)*uint64(p)>>16 {
				bit = 1
			}
			if rng.IntN(2) == 0 && (p == 1 || p == One-1) && i%50_000 == 0 {
				bit ^= 1
			}
			c.Bit(bit, p)
			if bit != 0 {
				bits -= math.Log2(float64(p) / One)
			} else {
				bits -= math.Log2(1 - float64(p)/One)
			}
		}
		spent := float64(c.Spent()) / One
		if math.Abs(spent-bits) > 0.001*bits+0.01 {
			t.Errorf("p = %d: %.2f bits by Spent, %.2f by entropy", p, spent, bits)
		}
		if got := float64(len(c.Finish())) * 8; got > 1.001*bits+17 || got < bits {
			t.Errorf("p = %d: %.0f bits, entropy %.2f", p, got, bits)
		}
	}
}

// Direct takes one bit for each bit.
func TestDirect(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []uint{1, 7, 16, 17, 64} {
		var c Coder
		c.Write(nil)
		for range 5000 {
			c.Direct(rng.Uint64()&(1<<n-1), n)
		}
		if got, want := float64(c.Spent())/One, 5000*float64(n); math.Abs(got-want) > 0.001*want {
			t.Errorf("5000 times %d bits take %.1f", n, got)
		}
	}
}

func TestLog2(t *testing.T) {
	for v := uint32(2); v < 1<<31; v += 1 + v/50 {
		if got, want := float64(Log2(v))/One, math.Log2(float64(v)); math.Abs(got-want) > 2.0/One {
			t.Errorf("Log2(%d) = %f, want %f", v, got, want)
		}
	}
}

// FuzzReadWrite decodes any bytes. If Close accepts them, writing the decoded decisions must give
// the same bytes: there is only one packet for a list of decisions.
func FuzzReadWrite(f *testing.F) {
	f.Add([]byte{}, []byte{1, 2, 3})
	f.Add([]byte{255, 255, 255, 255}, []byte{1, 9, 200, 64})
	f.Add([]byte{0, 0, 1}, []byte{250, 250, 0, 0, 0, 77})
	f.Add([]byte("\xff\xff\xff\xffC\xc3\xb1z"), []byte("\xff<\xff\xb1\xffC\xc3\xb1z\xff\x87"))
	f.Fuzz(func(t *testing.T, src, calls []byte) {
		var r, w Coder
		r.Read(src)
		w.Write(nil)
		counter := NewCounter(One/2, 0)
		counter2 := counter
		for _, k := range calls[:min(len(calls), 500)] {
			switch {
			case k < 64:
				w.Direct(r.Direct(0, uint(k)), uint(k))
			case k < 96:
				counter2.Code(&w, counter.Code(&r, 0, 60), 60)
			default:
				p := edgeProbabilities[int(k)%len(edgeProbabilities)]
				w.Bit(r.Bit(0, p), p)
			}
		}
		again := w.Finish()
		if err := r.Close(); err == nil && !bytes.Equal(again, src) {
			t.Fatalf("%x reads as decisions that are written as %x", src, again)
		} else if err != nil && bytes.Equal(again, src) {
			t.Fatalf("%x is a valid packet, refused: %v", src, err)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	list := randomDecisions(rng, 500)
	var w, r Coder
	var buf []byte
	counter := NewCounter(One/2, 0)
	all := func() {
		w.Write(buf[:0])
		for _, d := range list {
			w.Direct(d.v, d.n)
			counter.Code(&w, int(d.v&1), 100)
		}
		buf = w.Finish()
		r.Read(buf)
		for _, d := range list {
			r.Direct(0, d.n)
			r.Bit(0, 77)
		}
		r.Close()
	}
	all()
	if n := testing.AllocsPerRun(20, all); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkBit(b *testing.B) {
	rng := rand.New(rand.NewPCG(13, 14))
	const n = 4096
	list := randomDecisions(rng, n)
	for i := range list {
		list[i].n, list[i].v, list[i].p = 0, list[i].v&1, max(list[i].p, 1)
	}
	var w, r Coder
	w.Write(nil)
	codeAll(&w, list)
	src := w.Finish()
	b.Run("write", func(b *testing.B) {
		buf := make([]byte, 0, len(src))
		for b.Loop() {
			w.Write(buf)
			for _, d := range list {
				w.Bit(int(d.v), d.p)
			}
			w.Finish()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/bit")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			r.Read(src)
			for _, d := range list {
				r.Bit(0, d.p)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/bit")
	})
}
