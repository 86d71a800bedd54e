package rangecoder

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// referenceInterval returns the interval [low, high) of the decisions, in units of 2^-scale. It is the coder with big
// integers: nothing is shifted out, so there are no carries.
func referenceInterval(list []decision) (low, high *big.Int, scale uint) {
	low, scale = new(big.Int), 32
	rng := uint64(1<<32 - 1)
	cut := func(from, width uint64) {
		low.Add(low, new(big.Int).SetUint64(from))
		for rng = width; rng < 1<<24; rng <<= 8 {
			low.Lsh(low, 8)
			scale += 8
		}
	}
	for _, d := range list {
		if d.n == 0 {
			if bound := rng * uint64(d.p) / One; d.v != 0 {
				cut(0, bound)
			} else {
				cut(bound, rng-bound)
			}
			continue
		}
		for n := d.n; n > 0; {
			k := min(n, 16)
			n -= k
			each, part, top := rng>>k, d.v>>n&(1<<k-1), uint64(1)<<k-1
			if part == top {
				cut(part*each, rng-part*each)
			} else {
				cut(part*each, each)
			}
		}
	}
	return low, new(big.Int).Add(low, new(big.Int).SetUint64(rng)), scale
}

// referenceEncode returns the packet of the decisions: it tries one length after the other.
func referenceEncode(list []decision) []byte {
	low, high, scale := referenceInterval(list)
	for n := uint(0); ; n++ {
		unit := new(big.Int).Lsh(big.NewInt(1), scale-8*n)
		number := new(big.Int).Add(low, unit)
		number.Sub(number, big.NewInt(1)).Div(number, unit)
		end := new(big.Int).Add(number, big.NewInt(1))
		if end.Mul(end, unit).Cmp(high) <= 0 {
			return number.FillBytes(make([]byte, n))
		}
	}
}

// Packets equal those of referenceEncode and are nearly as short as the entropy of their decisions.
func TestAgainstReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		list := randomDecisions(rng, rng.IntN(120))
		var c Coder
		c.Write(nil)
		codeAll(&c, list)
		out := c.Finish()
		if want := referenceEncode(list); !bytes.Equal(out, want) {
			t.Fatalf("%x, want %x", out, want)
		}
		var bits float64
		for _, d := range list {
			switch p := float64(d.p) / One; {
			case d.n != 0:
				bits += float64(d.n)
			case d.v != 0:
				bits -= math.Log2(p)
			default:
				bits -= math.Log2(1 - p)
			}
		}
		if most := 1.001*bits/8 + 2.25; float64(len(out)) > most {
			t.Fatalf("%d bytes for %.1f bits", len(out), bits)
		}
	}
}

// A carry propagates through many bytes: low is just below a boundary, then just above.
func TestLongCarry(t *testing.T) {
	for _, p := range []uint32{1, 2, 100} {
		list := []decision{{p: 32768, v: 1}}
		for range 400 { // raise low to the top of the lower half
			list = append(list, decision{p: p})
		}
		for i := range 40 { // and into the remainder of rounding
			list = append(list, decision{p: 60000, v: uint64(i & 1)})
		}
		var c Coder
		c.Write([]byte{255, 255})
		codeAll(&c, list)
		if got, want := c.Finish()[2:], referenceEncode(list); !bytes.Equal(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
	}
}
