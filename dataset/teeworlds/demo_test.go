package teeworlds

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/dataset/teeworlds/protocol"
)

// build builds a demo byte by byte.
type build struct{ bytes.Buffer }

// newDemo writes the header of a demo and a map of mapBytes bytes.
func newDemo(version byte, net string, mapBytes int) *build {
	b := &build{}
	h := make([]byte, 176)
	copy(h, "TWDEMO\x00")
	h[7] = version
	copy(h[8:], net)
	copy(h[72:], "dm1")
	binary.BigEndian.PutUint32(h[136:], uint32(mapBytes))
	copy(h[144:], "server")
	b.Write(h)
	b.Write(make([]byte, 4+64*4+mapBytes))
	return b
}

// mark writes a tick marker with an absolute tick.
func (b *build) mark(tick int32, key bool) {
	first := byte(0x80)
	if key {
		first = 0xc0
	}
	b.WriteByte(first)
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(tick)))
}

// step writes a tick marker with a tick delta of n.
func (b *build) step(n byte) { b.WriteByte(0x80 | n) }

// chunk writes a chunk of the given type.
func (b *build) chunk(kind byte, payload []byte) {
	switch n := len(payload); {
	case n < 30:
		b.WriteByte(kind<<5 | byte(n))
	case n < 256:
		b.Write([]byte{kind<<5 | 30, byte(n)})
	default:
		b.Write([]byte{kind<<5 | 31, byte(n), byte(n >> 8)})
	}
	b.Write(payload)
}

// ints writes a chunk whose payload codes ints.
func (b *build) ints(kind byte, ints ...int32) { b.chunk(kind, pack(ints)) }

// pack codes integers with the Huffman code, one bit at a time.
func pack(ints []int32) []byte {
	var raw []byte
	for _, v := range ints {
		raw = protocol.AppendInt(raw, v)
	}
	var out []byte
	n := 0
	for i := range len(raw) + 1 {
		symbol := protocol.EndSymbol
		if i < len(raw) {
			symbol = int(raw[i])
		}
		w := protocol.Huffman().Words[symbol]
		for bit := range w.Len {
			if n%8 == 0 {
				out = append(out, 0)
			}
			out[n/8] |= byte(w.Bits>>bit&1) << (n % 8)
			n++
		}
	}
	if n%8 == 0 {
		out = append(out, 0)
	}
	return out
}

// whole writes a full snapshot. An item is its key and its values.
func (b *build) whole(items ...[]int32) {
	var offsets, data []int32
	for _, item := range items {
		offsets = append(offsets, int32(4*len(data)))
		data = append(data, item...)
	}
	b.ints(1, append(append([]int32{int32(4 * len(data)), int32(len(items))}, offsets...), data...)...)
}

func key(typ, id int) int32 { return int32(protocol.NewKey(typ, id)) }

// small returns a demo of four frames with all types of chunks.
func small() *build {
	b := newDemo(4, "0.7 802f1be60a05665f", 10)
	b.chunk(2, make([]byte, 300)) // a message
	b.mark(90, true)              // without a snapshot: dropped
	b.mark(100, true)
	b.whole([]int32{key(5, 0), 10, 20, 1}, []int32{key(4, 1), 7, 8, 2}, []int32{key(23, 0), 5}, []int32{key(40, 2), 1, -2, 3})
	b.chunk(2, make([]byte, 29))
	b.step(2)
	b.ints(3, 1, 3, 0, key(4, 1), 5, 0, 1, -1, 0, 23, 0, 1, 4, 40, 0, 2, 100, 200)
	b.step(2)
	b.step(3)
	b.ints(3, 0, 1, 0, 4, 0, 9, 9, -70000)
	b.chunk(2, make([]byte, 30))
	return b
}

func parseBytes(data []byte) (*demo, error) {
	return parse(bytes.NewReader(data), "a.demo", maxMemory)
}

// frames returns all frames of a demo and checks each against the schema.
func frames(t testing.TB, d *demo) (s *matchSource, list []*frame.Frame) {
	t.Helper()
	s, err := newSource(d, false)
	if err != nil {
		t.Fatal(err)
	}
	for {
		f := &frame.Frame{}
		switch err := s.Next(f); err {
		case nil:
			if err := s.Schema().Check(f); err != nil {
				t.Fatalf("frame %d: %v", len(list), err)
			}
			list = append(list, f)
		case io.EOF:
			return s, list
		default:
			t.Fatalf("frame %d: %v", len(list), err)
		}
	}
}

// A demo built by hand yields the items that it was built from.
func TestFramesOfHandmadeDemo(t *testing.T) {
	d, err := parseBytes(small().Bytes())
	if err != nil || d.err != nil {
		t.Fatal(err, d.err)
	}
	s, list := frames(t, d)
	type item struct {
		typ, id int
		values  []int32
	}
	second := []item{{5, 0, []int32{11, 19, 1}}, {23, 0, []int32{9}}, {40, 2, []int32{1, -2, 3}}, {40, 0, []int32{100, 200}}}
	want := []struct {
		tick  int32
		items []item
	}{
		{100, []item{{5, 0, []int32{10, 20, 1}}, {4, 1, []int32{7, 8, 2}}, {23, 0, []int32{5}}, {40, 2, []int32{1, -2, 3}}}},
		{102, second},
		{104, second},
		{107, append(second[:4:4], item{4, 0, []int32{9, 9, -70000}})},
	}
	// 3 gaps in 7 ticks of 20 ms are 21.4 frames a second.
	if len(list) != len(want) || s.Schema().TickHz != 21 {
		t.Fatalf("%d frames at %d Hz, want %d at 21", len(list), s.Schema().TickHz, len(want))
	}
	for i, w := range want {
		f := s.Schema().NewFrame()
		f.Table[0] = w.tick
		for _, x := range w.items {
			part, row, ok := s.layout.Find(protocol.NewKey(x.typ, x.id), len(x.values))
			if !ok {
				t.Fatalf("no row for %v", x)
			}
			part.SetItem(s.layout.Row(f.Table, row), x.values)
		}
		if !list[i].Equal(f) || list[i].Tick != uint32(i) {
			t.Errorf("frame %d: %v, want %v", i, list[i].Table, f.Table)
		}
	}
	// Rows: the tick, pickups 0 and 1, one flag, one of type 23, three of type 40 with three
	// values, one with two.
	if s.Schema().Rows != 1+2+1+1+3+1 {
		t.Errorf("%d rows", s.Schema().Rows)
	}
	var names []string
	for _, p := range s.Schema().Parts {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, ", "); got != "Time, Pickup, Flag, PlayerInfoRace, type 40 of 2, type 40 of 3" {
		t.Errorf("parts %s", got)
	}
}

// With loop set the demo begins again at its end, and AtLoopPoint reports it.
func TestLoop(t *testing.T) {
	d, err := parseBytes(small().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	_, once := frames(t, d)
	s, err := newSource(d, true)
	if err != nil {
		t.Fatal(err)
	}
	f, before := &frame.Frame{}, &frame.Frame{}
	s.Initial(before)
	for i := range 10 {
		if err := s.Next(f); err != nil {
			t.Fatal(err)
		}
		if !f.Equal(once[i%4]) || f.Tick != uint32(i) || s.AtLoopPoint() != (i > 0 && i%4 == 0) {
			t.Errorf("frame %d: tick %d, loop point %v", i, f.Tick, s.AtLoopPoint())
		}
		changed := frame.NewRows(s.Schema().Rows)
		changed.SetDiffering(f.Table, before.Table, len(s.Schema().Fields))
		for row := range changed.All() {
			if !s.Changed().Has(row) {
				t.Errorf("frame %d: row %d changed", i, row)
			}
		}
		before.CopyFrom(f)
	}
}

// Other files and demos of other versions are refused with the reason.
func TestOtherFilesRefused(t *testing.T) {
	negative := newDemo(4, "0.7 802f1be60a05665f", 0).Bytes()
	negative[136] = 0x80
	for name, c := range map[string]struct {
		data []byte
		want string
		kind error
	}{
		"empty":    {nil, "the file is empty", errFormat},
		"text":     {[]byte("tick,type,id,values\n"), "begins with the bytes 74 69 63 6b", errFormat},
		"short":    {[]byte("TWDEMO\x00\x04"), "ends within its header", errTruncated},
		"ddnet":    {newDemo(6, "0.6 626fce9a778df4d4", 0).Bytes(), "is a demo of version 6, as DDNet records them, not 4; expected a demo of Teeworlds 0.7", errFormat},
		"0.6":      {newDemo(4, "0.6 626fce9a778df4d4", 0).Bytes(), `was recorded by version "0.6 626fce9a778df4d4"`, errFormat},
		"no map":   {newDemo(4, "0.7 802f1be60a05665f", 10).Bytes()[:440], "ends within its map of 10 bytes", errTruncated},
		"nothing":  {newDemo(4, "0.7 802f1be60a05665f", 10).Bytes(), "contains no snapshot", errFormat},
		"a tick":   {small().Bytes()[:176+260+10+303+5], "contains no snapshot", errFormat},
		"negative": {negative, "has a map of -2147483648 bytes", errCorrupt},
	} {
		if d, err := parseBytes(c.data); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, %v; want %q", name, d, err, c.want)
		}
	}
}

// A damaged demo ends at the damage, which the error locates; the frames before it are complete.
func TestDamagedDemoEndsEarly(t *testing.T) {
	good := small().Bytes()
	whole, _ := parseBytes(good)
	_, want := frames(t, whole)
	end := int64(len(good))
	for name, c := range map[string]struct {
		damage func(b *build)
		want   string
		kind   error
	}{
		"type":       {func(b *build) { b.step(1); b.chunk(0, []byte{1}) }, "unknown type 0", errCorrupt},
		"cut":        {func(b *build) { b.step(1); b.Write([]byte{3<<5 | 20, 1, 2}) }, "ends after 3 bytes", errTruncated},
		"cut mark":   {func(b *build) { b.Write([]byte{0x80, 0, 0}) }, "ends after 3 bytes", errTruncated},
		"backwards":  {func(b *build) { b.mark(107, false) }, "tick 107 after tick 107", errCorrupt},
		"negative":   {func(b *build) { b.mark(-5, false) }, "tick -5", errCorrupt},
		"twice":      {func(b *build) { b.ints(3, 0, 0, 0) }, "a second snapshot of tick 107", errCorrupt},
		"no end":     {func(b *build) { b.step(1); b.chunk(3, []byte{0xff}) }, "no end symbol", errCorrupt},
		"behind":     {func(b *build) { b.step(1); b.chunk(3, append(pack([]int32{0, 0, 0}), 0, 0)) }, "bytes after the end symbol", errCorrupt},
		"removed":    {func(b *build) { b.step(1); b.ints(3, 1, 0, 0, key(9, 9)) }, "item 9.9 is removed but was not present", errCorrupt},
		"updated":    {func(b *build) { b.step(1); b.ints(3, 0, 2, 0, 4, 3, 1, 1, 1, 4, 3, 1, 1, 1) }, "item 4.3 occurs twice", errCorrupt},
		"short":      {func(b *build) { b.step(1); b.ints(3, 0, 1, 0, 4, 3, 1) }, "item 4.3 has 3 values, but 1 integers are left", errCorrupt},
		"size":       {func(b *build) { b.step(1); b.ints(3, 0, 1, 0, 40, 2, 1, 1) }, "item 40.2 changes from 3 values to 1", errCorrupt},
		"long":       {func(b *build) { b.step(1); b.ints(3, 0, 0, 0, 1) }, "1 integers after the last item", errCorrupt},
		"counts":     {func(b *build) { b.step(1); b.ints(3, 1<<30, 1<<30, 0) }, "removes 1073741824 items", errCorrupt},
		"items":      {func(b *build) { b.step(1); b.ints(1, 4, 2000, 1) }, "a snapshot of 2000 items in 4 bytes", errCorrupt},
		"offsets":    {func(b *build) { b.step(1); b.ints(1, 8, 2, 0, 12, key(40, 1), 5) }, "item 0 extends from byte 0 to 12 of 8", errCorrupt},
		"known size": {func(b *build) { b.step(1); b.whole([]int32{key(10, 1), 5}) }, "item 10.1 has 1 values, expected 22", errCorrupt},
		"huge":       {func(b *build) { b.step(1); b.ints(3, 0, 1, 0, 4, 65535, 1, 1, 1) }, "item 4.65535 needs a table of", errLarge},
	} {
		b := small()
		c.damage(b)
		d, err := parseBytes(b.Bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var e *source.Error
		chunk, offset := 0, int64(0)
		if errors.As(d.err, &e) {
			_, _ = fmt.Sscanf(e.Place, "chunk %d at byte %d", &chunk, &offset)
		}
		if e == nil || e.Kind != c.kind || !strings.Contains(e.Problem, c.want) || offset < end || offset > end+1 || chunk < 11 {
			t.Errorf("%s: %+v, want %q from byte %d", name, d.err, c.want, end)
		}
		s, got := frames(t, d)
		if len(got) != len(want) || !got[3].Equal(want[3]) {
			t.Errorf("%s: %d frames, want %d", name, len(got), len(want))
		}
		if r := s.Remarks(); len(r) != 3 || !strings.Contains(r[2], "after 4 frames: a.demo: chunk ") {
			t.Errorf("%s: remarks %q", name, r)
		}
	}
}

// A demo truncated at any byte yields the first frames.
func TestTruncatedDemo(t *testing.T) {
	good := small().Bytes()
	whole, _ := parseBytes(good)
	_, want := frames(t, whole)
	for n := range good {
		d, err := parseBytes(good[:n])
		if err != nil {
			if n > 176+260+10+303+5+5+40 {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		_, got := frames(t, d)
		if len(got) > len(want) {
			t.Fatalf("%d bytes: %d frames", n, len(got))
		}
		for i, f := range got {
			if f.Table[0] != want[i].Table[0] {
				t.Errorf("%d bytes: frame %d is of tick %d, want %d", n, i, f.Table[0], want[i].Table[0])
			}
		}
	}
}

// No more memory than the limit is used.
func TestMemoryLimit(t *testing.T) {
	d, err := parse(bytes.NewReader(small().Bytes()), "a.demo", 200)
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(d.err, errLarge) || len(d.ticks) == 0 || len(d.ticks) > 3 {
		t.Errorf("%d frames, %v", len(d.ticks), d.err)
	}
}

// check parses arbitrary data and plays the first frames of the demo, if it is one.
func check(t *testing.T, data []byte) {
	d, err := parse(bytes.NewReader(data), "a.demo", 1<<20)
	if err != nil {
		var e *source.Error
		if !errors.As(err, &e) && !errors.Is(err, errFormat) && !errors.Is(err, errTruncated) {
			t.Fatalf("%v: error of unknown type", err)
		}
		return
	}
	s, err := newSource(d, false)
	if err != nil {
		t.Fatal(err)
	}
	if s.Schema().Cells() > 1<<18 || len(d.ticks) > len(data) {
		t.Fatalf("%d cells, %d frames", s.Schema().Cells(), len(d.ticks))
	}
	f := &frame.Frame{}
	for i := range min(len(d.ticks), 50) {
		if err := s.Next(f); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if err := s.Schema().Check(f); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
}

// A demo with flipped bits gives an error or other frames that fit the schema.
func TestFlippedBits(t *testing.T) {
	good := small().Bytes()
	for i := range 8 * len(good) {
		if at := i / 8; at >= 8 && at < 136 || at >= 144 && at < 176+260+10 {
			continue // texts, markers and map
		}
		data := bytes.Clone(good)
		data[i/8] ^= 1 << (i % 8)
		check(t, data)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		data := bytes.Clone(good)
		for range 3 {
			data[446+rng.IntN(len(data)-446)] = byte(rng.Uint32())
		}
		check(t, data)
	}
}

// FuzzDemo checks that no file makes the reader panic or exceed its limits.
func FuzzDemo(f *testing.F) {
	f.Add(small().Bytes())
	f.Add(small().Bytes()[:800])
	f.Fuzz(check)
}
