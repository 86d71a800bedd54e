package bitio_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"wirelab/internal/bitio"
)

// An item is a value and its number of bits.
type item struct {
	v uint64
	n uint
}

// parseItems converts fuzz bytes to values: one byte of width, eight of value.
func parseItems(data []byte) []item {
	var list []item
	for len(data) > 0 {
		n := uint(data[0]) % 58
		var word [8]byte
		data = data[1+copy(word[:], data[1:]):]
		var v uint64
		for i, b := range word {
			v |= uint64(b) << (8 * i)
		}
		list = append(list, item{v, n})
	}
	return list
}

// packBitByBit is the definition of the format: it packs bit by bit.
func packBitByBit(list []item) []byte {
	var out []byte
	at := 0
	for _, it := range list {
		for i := range it.n {
			if at%8 == 0 {
				out = append(out, 0)
			}
			out[at/8] |= byte(it.v>>i&1) << (at % 8)
			at++
		}
	}
	return out
}

// checkList writes a list, compares the bytes with the definition, and reads the list again.
func checkList(t *testing.T, list []item) {
	t.Helper()
	prefix := []byte("before")
	var w bitio.Writer
	w.Reset(prefix)
	total := 0
	for _, it := range list {
		w.Bits(it.v, it.n)
		if total += int(it.n); w.Len() != total {
			t.Fatalf("Len() = %d after %d bits", w.Len(), total)
		}
	}
	out := w.Bytes()
	if !bytes.HasPrefix(out, prefix) {
		t.Fatalf("the caller's bytes became %q", out[:len(prefix)])
	}
	out = out[len(prefix):]
	if want := packBitByBit(list); !bytes.Equal(out, want) {
		t.Fatalf("%v packs as\n%x, by definition as\n%x", list, out, want)
	}
	var r bitio.Reader
	r.Reset(out)
	for i, it := range list {
		if got, want := r.Bits(it.n), it.v&(1<<it.n-1); got != want {
			t.Fatalf("value %d of %d bits reads as %#x, want %#x", i, it.n, got, want)
		}
	}
	var peeking bitio.Reader
	peeking.Reset(out)
	for i, it := range list {
		got, want := peeking.Peek()&(1<<it.n-1), it.v&(1<<it.n-1)
		if peeking.Skip(it.n); got != want || peeking.Err() != nil {
			t.Fatalf("value %d of %d bits is seen as %#x, want %#x (%v)", i, it.n, got, want, peeking.Err())
		}
	}
	if r.Pos() != total || peeking.Pos() != total {
		t.Fatalf("Pos() = %d after %d bits", r.Pos(), total)
	}
	if err := r.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		list := make([]item, rng.IntN(40))
		for i := range list {
			list[i] = item{rng.Uint64(), rng.UintN(58)}
		}
		checkList(t, list)
	}
}

// A writer takes 64 bits at once at any position of the word.
func TestFullWords(t *testing.T) {
	for lead := range uint(64) {
		var w bitio.Writer
		w.Bits(0, lead)
		w.Bits(0xFEDCBA9876543210, 64)
		want := packBitByBit([]item{{0, lead}, {0xFEDCBA9876543210, 64}})
		if got := w.Bytes(); !bytes.Equal(got, want) {
			t.Fatalf("after %d bits: %x, want %x", lead, got, want)
		}
	}
}

func TestReadingPastTheEnd(t *testing.T) {
	for size := range 20 {
		src := bytes.Repeat([]byte{0xFF}, size)
		var r bitio.Reader
		r.Reset(src)
		for range 8 * size {
			if r.Bits(1) != 1 {
				t.Fatal("a 1 bit reads as 0")
			}
		}
		if r.Err() != nil {
			t.Fatalf("error %v at the very end", r.Err())
		}
		if v := r.Bits(1); v != 0 || !errors.Is(r.Err(), bitio.ErrShort) {
			t.Fatalf("bit %d of %d bytes is %d, error %v; want 0 and ErrShort", 8*size, size, v, r.Err())
		}
		r.Reset(src)
		for range 8*size - 1 {
			if r.Skip(1); r.Err() != nil {
				t.Fatalf("error %v before the end", r.Err())
			}
		}
		if size > 0 && r.Peek() != 1 {
			t.Fatalf("Peek of the last bit returns %#x", r.Peek())
		}
		if r.Skip(2); r.Peek() != 0 || !errors.Is(r.Err(), bitio.ErrShort) {
			t.Fatalf("Skip beyond %d bytes: error %v", size, r.Err())
		}
		if v := r.Bits(0); v != 0 || !errors.Is(r.Close(), bitio.ErrShort) {
			t.Fatalf("the error does not stick: %v", r.Close())
		}
	}
}

// Close accepts the zeros that fill a byte, and nothing else.
func TestClose(t *testing.T) {
	for _, test := range []struct {
		src  []byte
		read uint
		want error
	}{
		{nil, 0, nil},
		{[]byte{0x05}, 3, nil},
		{[]byte{0x05}, 2, bitio.ErrTrailing},
		{[]byte{0x05}, 0, bitio.ErrTrailing},
		{[]byte{0x00}, 0, bitio.ErrTrailing},
		{[]byte{0x05, 0x00}, 8, bitio.ErrTrailing},
		{[]byte{0x05, 0x00}, 9, nil},
		{[]byte{0x05}, 9, bitio.ErrShort},
	} {
		var r bitio.Reader
		r.Reset(test.src)
		r.Bits(test.read)
		if err := r.Close(); !errors.Is(err, test.want) {
			t.Errorf("%x after %d bits: %v, want %v", test.src, test.read, err, test.want)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	buf := make([]byte, 0, 1024)
	var w bitio.Writer
	var r bitio.Reader
	if n := testing.AllocsPerRun(100, func() {
		w.Reset(buf)
		for i := range uint64(500) {
			w.Bits(i, 13)
		}
		r.Reset(w.Bytes())
		for range 500 {
			r.Bits(13)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// FuzzRoundTrip compares writer, reader and the definition.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{1, 1, 57, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, data []byte) { checkList(t, parseItems(data)) })
}

// FuzzReader reads any bytes with any widths and compares with the definition.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0xA5, 0x5A, 0xFF}, []byte{3, 5, 16, 1})
	f.Fuzz(func(t *testing.T, src, wants []byte) {
		var r bitio.Reader
		r.Reset(src)
		at, short := 0, false
		for _, b := range wants {
			n := uint(b) % 58
			var want uint64
			if short = short || at+int(n) > 8*len(src); !short {
				for i := range n {
					want |= uint64(src[at/8]>>(at%8)&1) << i
					at++
				}
			}
			if got := r.Bits(n); got != want || (r.Err() != nil) != short {
				t.Fatalf("%d bits before %d of %x: %#x, %v; want %#x, short %v", n, at, src, got, r.Err(), want, short)
			}
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	buf := make([]byte, 0, 4096)
	var w bitio.Writer
	b.SetBytes(1000 * 11 / 8)
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(buf)
		for i := range uint64(1000) {
			w.Bits(i, 11)
		}
		buf = w.Bytes()[:0]
	}
}

func BenchmarkReader(b *testing.B) {
	src := make([]byte, 1000*11/8+8)
	var r bitio.Reader
	b.SetBytes(1000 * 11 / 8)
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(src)
		for range 1000 {
			r.Bits(11)
		}
	}
}
