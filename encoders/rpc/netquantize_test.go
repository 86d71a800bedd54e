package rpc

import (
	"math"
	"testing"

	"wirelab/internal/bitio"
)

// The published table: the bits of a vector below each bound. Bounds are exclusive above zero and
// inclusive below zero.
var published = []struct {
	bound float32
	bits  int
}{
	{0.15, 11}, {0.35, 14}, {0.75, 17}, {1.55, 20}, {3.15, 23}, {6.35, 26}, {12.75, 29}, {25.55, 32},
	{51.15, 34}, {102.35, 37}, {204.75, 40}, {409.55, 43}, {819.15, 46}, {1638.35, 49}, {3276.75, 52}, {6553.55, 55},
	{13107.15, 59}, {26214.35, 62}, {52428.75, 65}, {104857.55, 68}, {209715.15, 71}, {419430.35, 74}, {838860.75, 77},
	{1677721.5, 80},
}

// checkRoundTrip writes and reads a vector and returns its bits.
func checkRoundTrip(t *testing.T, v vector) int {
	t.Helper()
	var w bitio.Writer
	w.Reset(nil)
	v.write(&w)
	n := w.Len()
	var r bitio.Reader
	r.Reset(w.Bytes())
	var got vector
	if !got.read(&r) || got != v || r.Pos() != n || r.Close() != nil || v.bitLength() != n {
		t.Fatalf("%v is read as %v, %d bits of %d, said to be %d", v, got, r.Pos(), n, v.bitLength())
	}
	return n
}

// bitsOfComponent returns the bits of a vector with component v in any position; 0 if v is out of
// range.
func bitsOfComponent(t *testing.T, v float32) int {
	t.Helper()
	i, ok := quantize(v)
	if !ok {
		return 0
	}
	n := checkRoundTrip(t, vector{i, 0, 0})
	if checkRoundTrip(t, vector{0, i, 0}) != n || checkRoundTrip(t, vector{0, 0, i}) != n {
		t.Fatalf("%v has a different size with other component order", v)
	}
	return n
}

func TestNetQuantizeTable(t *testing.T) {
	up := func(v float32) float32 { return math.Nextafter32(v, float32(math.Inf(1))) }
	down := func(v float32) float32 { return math.Nextafter32(v, float32(math.Inf(-1))) }
	for k, row := range published {
		beyond := 0
		if k+1 < len(published) {
			beyond = published[k+1].bits
		}
		for v, want := range map[float32]int{
			down(row.bound): row.bits, row.bound: beyond, up(row.bound): beyond,
			up(-row.bound): row.bits, -row.bound: row.bits, down(-row.bound): beyond,
		} {
			if got := bitsOfComponent(t, v); got != want {
				t.Errorf("%v takes %d bits, want %d", v, got, want)
			}
		}
	}
	if got := bitsOfComponent(t, 0); got != 11 {
		t.Errorf("the zero vector takes %d bits, want 11", got)
	}
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32} {
		if _, ok := quantize(v); ok {
			t.Errorf("%v was rounded", v)
		}
	}
}

// The bits are those that Unreal's SerializeInt writes.
func TestNetQuantizeBits(t *testing.T) {
	for _, v := range []vector{{0, 0, 0}, {1, -1, 0}, {7, 3, -8}, {511, -300, 2}, {40000, 1, -70000}, {1<<24 - 1, 0, -1<<24 + 1}} {
		var want []byte
		put := func(value, below uint32) {
			for mask, now := uint32(1), uint32(0); now+mask < below; mask *= 2 {
				want = append(want, byte(value/mask&1))
				if value&mask != 0 {
					now |= mask
				}
			}
		}
		most := 0.0
		for _, i := range v {
			most = max(most, math.Abs(float64(i)))
		}
		k := uint32(min(max(math.Ceil(math.Log2(1+most)), 1), 24)) - 1
		put(k, 24)
		for _, i := range v {
			put(uint32(i+1<<(k+1)), 1<<(k+2))
		}
		var w bitio.Writer
		w.Reset(nil)
		v.write(&w)
		n := w.Len()
		got := w.Bytes()
		if n != len(want) {
			t.Fatalf("%v takes %d bits, Unreal's %d", v, n, len(want))
		}
		for i, b := range want {
			if got[i/8]>>(i%8)&1 != b {
				t.Fatalf("%v: bit %d is not %d", v, i, b)
			}
		}
	}
}

// Vectors with a larger exponent than necessary are refused.
func TestNetQuantizeIsCanonical(t *testing.T) {
	var w bitio.Writer
	w.Reset(nil)
	w.Bits(3, 5)
	for range vectorSize {
		w.Bits(1<<4, 5) // zero, in five bits
	}
	var r bitio.Reader
	r.Reset(w.Bytes())
	var v vector
	if v.read(&r) {
		t.Errorf("%v was accepted in five bits each", v)
	}
}
