package generic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// allWidthsSchema has a field of every width in bytes.
func allWidthsSchema() *frame.Schema {
	return &frame.Schema{Name: "small", Rows: 2, Fields: []frame.Field{
		{Name: "one", Min: -1, Max: 254},
		{Name: "none", Min: 5, Max: 5},
		{Name: "two", Min: 0, Max: 256},
		{Name: "three", Min: -1 << 23, Max: 1<<23 - 1},
		{Name: "four", Min: math.MinInt32, Max: math.MaxInt32},
		{Name: "bits", Kind: frame.Bits},
	}}
}

// The layout is field by field, within a field byte plane by byte plane, each value in as few bytes
// as its range needs; then the body.
func TestLayout(t *testing.T) {
	s := allWidthsSchema()
	f := &frame.Frame{Table: []int32{
		-1, 5, 0x0100, -1 << 23, math.MinInt32, -1,
		254, 5, 0x00FF, 1<<23 - 1, math.MaxInt32, 0x04030201,
	}, Body: []byte("body")}
	l := newLayout(s)
	got, err := l.pack([]byte("before"), f)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat([]byte("before"),
		[]byte{0x00, 0xFF},                                     // one
		[]byte{0x00, 0xFF, 0x01, 0x00},                         // two
		[]byte{0x00, 0xFF, 0x00, 0xFF, 0x00, 0xFF},             // three
		[]byte{0x00, 0xFF, 0x00, 0xFF, 0x00, 0xFF, 0x00, 0xFF}, // four
		[]byte{0xFF, 0x01, 0xFF, 0x02, 0xFF, 0x03, 0xFF, 0x04}, // bits
		[]byte("body"))
	if !bytes.Equal(got, want) {
		t.Fatalf("layout is\n%x, want\n%x", got, want)
	}
	back := s.NewFrame()
	if err := l.unpack(back, got[len("before"):]); err != nil || !back.Equal(f) {
		t.Errorf("reads as %+v, %v", back, err)
	}
	if l.size != 28 {
		t.Errorf("a table of %d bytes, want 28", l.size)
	}
}

func TestLayoutRefuses(t *testing.T) {
	s := allWidthsSchema()
	l := newLayout(s)
	f := s.NewFrame()
	f.Table[1], f.Table[7] = 5, 5
	good, err := l.pack(nil, f)
	if err != nil {
		t.Fatal(err)
	}
	f.Table[2] = 257
	if out, err := l.pack([]byte{1}, f); !errors.Is(err, frame.ErrRange) || len(out) != 1 {
		t.Errorf("a value above its maximum: %x, error %v, want ErrRange", out, err)
	}
	f.Table[2] = 0
	f.Body = make([]byte, encoders.MaxBody+1)
	if _, err := l.pack(nil, f); err == nil {
		t.Error("a body that is too long was accepted")
	}
	if err := l.unpack(s.NewFrame(), good[:len(good)-1]); !errors.Is(err, encoders.ErrTruncated) {
		t.Errorf("a table that is too short: error %v, want ErrTruncated", err)
	}
	if err := l.unpack(s.NewFrame(), append(good, f.Body...)); !errors.Is(err, encoders.ErrCorrupt) {
		t.Errorf("a body that is too long: error %v, want ErrCorrupt", err)
	}
	good[4] = 2 // the high byte of "two" in the first row: 512
	if err := l.unpack(s.NewFrame(), good); !errors.Is(err, encoders.ErrCorrupt) || !errors.Is(err, frame.ErrRange) {
		t.Errorf("a value above its maximum: error %v, want ErrCorrupt and ErrRange", err)
	}
}

// textSchema has no rows.
func textSchema() *frame.Schema { return &frame.Schema{Name: "text", Item: "byte"} }

// xor-rle writes these bytes.
func TestXorRLEBytes(t *testing.T) {
	row := &frame.Schema{Name: "row", Rows: 8, Fields: []frame.Field{{Name: "v", Max: 255}}}
	for _, test := range []struct {
		name      string
		schema    *frame.Schema
		base, cur string // table and body, as bytes
		want      []byte
	}{
		{"nothing changed", row, "abcdefgh", "abcdefgh", nil},
		{"one byte", row, "abcdefgh", "abcdEfgh", []byte{4, 1, 0x20}},
		{"two zeros are not worth a run", row, "abcdefgh", "abCdeFgh", []byte{2, 4, 0x20, 0, 0, 0x20}},
		{"three are", row, "abcdefgh", "aBcdeFgh", []byte{1, 1, 0x20, 3, 1, 0x20}},
		{"a body like the last", row, "abcdefghbody", "abcdefghbody", []byte{12}},
		{"a shorter body", row, "abcdefghbody", "abcdefghbo", []byte{10}},
		{"a longer body", row, "abcdefghbody", "abcdefghbodyx", []byte{12, 1, 'x'}},
		{"the body gone", row, "abcdefghbody", "abcdefgh", nil},
		{"a new body that ends in zeros", textSchema(), "", "ab\x00\x00", []byte{0, 2, 'a', 'b', 2}},
		{"an empty body", textSchema(), "old", "", nil},
	} {
		cells := test.schema.Cells()
		make := func(content string) *frame.Frame {
			f := test.schema.NewFrame()
			for i := range cells {
				f.Table[i] = int32(content[i])
			}
			f.Body = []byte(content[cells:])
			return f
		}
		codec := XorRLE()
		enc, dec, err := codec.New(test.schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		refs := []encoders.Ref{{Frame: make(test.base)}}
		cur := make(test.cur)
		got, _, err := enc.Encode(nil, cur, refs, nil, nil)
		if err != nil || !bytes.Equal(got, test.want) {
			t.Errorf("%s: %x, %v; want %x", test.name, got, err, test.want)
		}
		back := test.schema.NewFrame()
		if _, err := dec.Decode(back, got, refs, nil); err != nil || !back.Equal(cur) {
			t.Errorf("%s: decoded as %+v, %v", test.name, back, err)
		}
	}
}

func TestXorRLERefuses(t *testing.T) {
	codec := XorRLE()
	_, dec, err := codec.New(textSchema(), nil)
	if err != nil {
		t.Fatal(err)
	}
	refs := []encoders.Ref{{Frame: &frame.Frame{}}}
	huge := binary.AppendUvarint(nil, encoders.MaxBody+1)
	for _, test := range []struct {
		name string
		src  []byte
		want error
	}{
		{"no literals", []byte{0}, encoders.ErrTruncated},
		{"a count cut short", []byte{0x80}, encoders.ErrTruncated},
		{"a count that overflows", bytes.Repeat([]byte{0xFF}, 11), encoders.ErrCorrupt},
		{"none where some must follow", []byte{3, 0, 1}, encoders.ErrCorrupt},
		{"fewer literals than said", []byte{0, 3, 1, 2}, encoders.ErrTruncated},
		{"more zeros than a body can hold", huge, encoders.ErrCorrupt},
		{"more literals than a body can hold", append([]byte{1}, huge...), encoders.ErrCorrupt},
	} {
		if _, err := dec.Decode(&frame.Frame{}, test.src, refs, nil); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
	}
}

// xor-rle charges each byte to its field.
func TestXorRLEBudget(t *testing.T) {
	s := &frame.Schema{Name: "two", Rows: 4, Fields: []frame.Field{{Name: "a", Max: 255}, {Name: "b", Max: 255}}}
	base, cur := s.NewFrame(), s.NewFrame()
	for _, at := range []int{6, 1, 3} { // a of the last row, b of the first two
		cur.Table[at] = 9
	}
	cur.Body = []byte("x")
	codec := XorRLE()
	enc, _, err := codec.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b encoders.Budget
	out, _, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base}}, nil, &b)
	if err != nil {
		t.Fatal(err)
	}
	// 3 zeros, 6 literals: a, b, b, 0, 0, x.
	if want := []byte{3, 6, 9, 9, 9, 0, 0, 'x'}; !bytes.Equal(out, want) {
		t.Fatalf("written as %x, want %x", out, want)
	}
	for slot, want := range map[encoders.Slot]int64{encoders.FieldSlot(0): 3, encoders.FieldSlot(1): 4, encoders.SlotBody: 1} {
		if got := b.Units[slot] / 8 / encoders.BitUnit; got != want {
			t.Errorf("%s: %d bytes, want %d", slot.Name(s), got, want)
		}
	}
}

// Packets that expand, or claim to expand, to huge sizes are refused without allocating the memory.
func TestExpansionIsBounded(t *testing.T) {
	var deflated bytes.Buffer
	w, _ := flate.NewWriter(&deflated, 9)
	for range 1 << 8 {
		w.Write(make([]byte, 1<<16))
	}
	w.Close()
	enc, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<23))
	if err != nil {
		t.Fatal(err)
	}
	frugal := enc.EncodeAll(make([]byte, 1<<24), nil)
	// A frame of one segment that declares 2^40 bytes and a window of that size.
	claims := []byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0}
	window := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF0, 1, 0, 0}
	// A window of 64 KiB, no size given, and many blocks of 32 KiB of one repeated byte.
	endless := append([]byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x30}, bytes.Repeat([]byte{0x02, 0x00, 0x04, 'x'}, 1000)...)
	for _, test := range []struct {
		name  string
		codec encoders.Codec
		src   []byte
	}{
		{"deflated zeros", Deflate(), deflated.Bytes()},
		{"zeros", Zstd(), frugal},
		{"a claim of size", Zstd(), claims},
		{"a claim of window", Zstd(), window},
		{"endless blocks", Zstd(), endless},
		{"zeros", ZstdDict(), frugal},
		{"a claim of size", ZstdDict(), claims},
		{"a claim of window", ZstdDict(), window},
		{"endless blocks", ZstdDict(), endless},
		{"zeros", ZstdBaseline(), frugal},
		{"a claim of size", ZstdBaseline(), claims},
		{"a claim of window", ZstdBaseline(), window},
		{"endless blocks", ZstdBaseline(), endless},
	} {
		s := allWidthsSchema()
		base := s.NewFrame()
		base.Table[1], base.Table[7] = 5, 5
		e, dec, err := test.codec.New(s, test.codec.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		refs := []encoders.Ref{{Frame: base}}
		got := s.NewFrame()
		honest, _, err := e.Encode(nil, base, refs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dec.Decode(got, honest, refs, nil); err != nil { // lets buffers grow to their final size
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = dec.Decode(got, test.src, refs, nil)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) {
			t.Errorf("%s, %s: error %v, want ErrCorrupt", test.codec.Name, test.name, err)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 2<<20 {
			t.Errorf("%s, %s: %d bytes allocated for a packet of %d", test.codec.Name, test.name, spent, len(test.src))
		}
		if _, err := dec.Decode(got, honest, refs, nil); err != nil || !got.Equal(base) {
			t.Errorf("%s, %s: a valid packet after it: %v", test.codec.Name, test.name, err)
		}
	}
}

// Every codec encodes the largest body.
func TestLargestBody(t *testing.T) {
	body := make([]byte, encoders.MaxBody)
	for i := range body {
		body[i] = byte(i * i >> 7)
	}
	for _, c := range []encoders.Codec{XorRLE(), Deflate(), Zstd(), ZstdDict(), ZstdBaseline()} {
		enc, dec, err := c.New(textSchema(), c.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		refs := []encoders.Ref{{Frame: &frame.Frame{}}}
		var got frame.Frame
		for range 2 {
			payload, _, err := enc.Encode(nil, &frame.Frame{Body: body}, refs, nil, nil)
			if err == nil {
				_, err = dec.Decode(&got, payload, refs, nil)
			}
			if err != nil || !bytes.Equal(got.Body, body) {
				t.Errorf("%s: a body of %d bytes decoded as %d bytes, %v", c.Name, len(body), len(got.Body), err)
			}
			refs[0].Frame = &frame.Frame{Body: body[:encoders.MaxBody/2]}
		}
	}
}

// Packets with bytes after their end are refused.
func TestTrailingBytes(t *testing.T) {
	for _, c := range []encoders.Codec{Deflate(), Zstd(), ZstdDict(), ZstdBaseline()} {
		enc, dec, err := c.New(textSchema(), c.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		refs := []encoders.Ref{{Frame: &frame.Frame{Body: []byte("before this one")}}}
		payload, _, err := enc.Encode(nil, &frame.Frame{Body: []byte("some bytes to compress")}, refs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = dec.Decode(&frame.Frame{}, append(payload, 0), refs, nil)
		if !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) {
			t.Errorf("%s: with a byte appended: error %v", c.Name, err)
		}
	}
}

// A library's packet is charged to the table, or to the body if there is no table.
func TestLibraryCharges(t *testing.T) {
	for slot, s := range map[encoders.Slot]*frame.Schema{encoders.SlotBody: textSchema(), encoders.SlotTable: frame.Cubes(2)} {
		codec := Deflate()
		enc, _, err := codec.New(s, codec.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		cur := s.NewFrame()
		if s.Rows == 0 {
			cur.Body = []byte("to be, or not to be")
		}
		var budget encoders.Budget
		out, _, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: s.NewFrame()}}, nil, &budget)
		if want := int64(len(out)) * 8 * encoders.BitUnit; err != nil || want == 0 || budget.Units[slot] != want {
			t.Errorf("%s: %d units charged to %s, want %d; error %v", s.Name, budget.Units[slot], slot.Name(s), want, err)
		}
	}
}
