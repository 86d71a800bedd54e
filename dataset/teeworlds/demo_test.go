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

// build is a demo made by hand.
type build struct{ bytes.Buffer }

// newDemo begins one with a map of so many bytes.
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

// mark marks a tick by its number.
func (b *build) mark(tick int32, key bool) {
	first := byte(0x80)
	if key {
		first = 0xc0
	}
	b.WriteByte(first)
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(tick)))
}

// step marks a tick so many after the last.
func (b *build) step(n byte) { b.WriteByte(0x80 | n) }

// chunk writes a chunk as it is.
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

// ints writes a chunk of numbers.
func (b *build) ints(kind byte, ints ...int32) { b.chunk(kind, pack(ints)) }

// pack codes numbers, bit after bit.
func pack(ints []int32) []byte {
	var raw []byte
	for _, v := range ints {
		raw = protocol.AppendInt(raw, v)
	}
	var out []byte
	n := 0
	for i := range len(raw) + 1 {
		symbol := protocol.End
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

// whole writes a whole snapshot: key and values of each item.
func (b *build) whole(items ...[]int32) {
	var offsets, data []int32
	for _, item := range items {
		offsets = append(offsets, int32(4*len(data)))
		data = append(data, item...)
	}
	b.ints(1, append(append([]int32{int32(4 * len(data)), int32(len(items))}, offsets...), data...)...)
}

func key(typ, id int) int32 { return int32(protocol.KeyOf(typ, id)) }

// small is a demo with something of everything.
func small() *build {
	b := newDemo(4, "0.7 802f1be60a05665f", 10)
	b.chunk(2, make([]byte, 300)) // a message
	b.mark(90, true)              // without a snapshot: nothing is known yet
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

// frames plays a demo to its end.
func frames(t testing.TB, d *demo) (s *match, list []*frame.Frame) {
	t.Helper()
	s, err := newMatch(d, false)
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

// A demo made by hand gives the values that it was made of.
func TestSmall(t *testing.T) {
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
	if len(list) != len(want) || s.Schema().TickHz != 25 {
		t.Fatalf("%d frames at %d Hz, want %d at 25", len(list), s.Schema().TickHz, len(want))
	}
	for i, w := range want {
		f := s.Schema().NewFrame()
		f.Table[0] = w.tick
		for _, x := range w.items {
			part, row, ok := s.layout.Find(protocol.KeyOf(x.typ, x.id), len(x.values))
			if !ok {
				t.Fatalf("no row for %v", x)
			}
			part.Put(s.layout.Row(f.Table, row), x.values)
		}
		if !list[i].Equal(f) || list[i].Tick != uint32(i) {
			t.Errorf("frame %d: %v, want %v", i, list[i].Table, f.Table)
		}
	}
	// Rows: the tick, pickups 0 and 1, one flag, one of type 23, three of type 40 with three values, one with two.
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

// It begins again where it is to, and says so.
func TestLoop(t *testing.T) {
	d, err := parseBytes(small().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	_, once := frames(t, d)
	s, err := newMatch(d, true)
	if err != nil {
		t.Fatal(err)
	}
	f, before := &frame.Frame{}, &frame.Frame{}
	s.Initial(before)
	for i := range 10 {
		if err := s.Next(f); err != nil {
			t.Fatal(err)
		}
		if !f.Equal(once[i%4]) || f.Tick != uint32(i) || s.Seam() != (i > 0 && i%4 == 0) {
			t.Errorf("frame %d: tick %d, seam %v", i, f.Tick, s.Seam())
		}
		changed := frame.NewRows(s.Schema().Rows)
		changed.Compare(f.Table, before.Table, len(s.Schema().Fields))
		for row := range changed.All() {
			if !s.Changed().Has(row) {
				t.Errorf("frame %d: row %d changed", i, row)
			}
		}
		before.CopyFrom(f)
	}
}

// What is no demo of this version is refused, by name.
func TestForeign(t *testing.T) {
	negative := newDemo(4, "0.7 802f1be60a05665f", 0).Bytes()
	negative[136] = 0x80
	for name, c := range map[string]struct {
		data []byte
		want string
		kind error
	}{
		"empty":    {nil, "the file is empty", errFormat},
		"text":     {[]byte("tick,type,id,values\n"), "begins with 74 69 63 6b", errFormat},
		"short":    {[]byte("TWDEMO\x00\x04"), "breaks off in its header", errTruncated},
		"ddnet":    {newDemo(6, "0.6 626fce9a778df4d4", 0).Bytes(), "is a demo of version 6, not 4; expected a demo of Teeworlds 0.7", errFormat},
		"0.6":      {newDemo(4, "0.6 626fce9a778df4d4", 0).Bytes(), `was recorded by version "0.6 626fce9a778df4d4"`, errFormat},
		"no map":   {newDemo(4, "0.7 802f1be60a05665f", 10).Bytes()[:440], "breaks off before the end of its map of 10 bytes", errTruncated},
		"nothing":  {newDemo(4, "0.7 802f1be60a05665f", 10).Bytes(), "holds no snapshot", errFormat},
		"a tick":   {small().Bytes()[:176+260+10+303+5], "holds no snapshot", errFormat},
		"negative": {negative, "has a map of -2147483648 bytes", errCorrupt},
	} {
		if d, err := parseBytes(c.data); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, %v; want %q", name, d, err, c.want)
		}
	}
}

// A demo that is damaged ends where the damage is, which one sentence tells; what came before is there.
func TestDamage(t *testing.T) {
	good := small().Bytes()
	whole, _ := parseBytes(good)
	_, want := frames(t, whole)
	end := int64(len(good))
	for name, c := range map[string]struct {
		damage func(b *build)
		want   string
		kind   error
	}{
		"type":       {func(b *build) { b.step(1); b.chunk(0, []byte{1}) }, "of an unknown type, 0", errCorrupt},
		"cut":        {func(b *build) { b.step(1); b.Write([]byte{3<<5 | 20, 1, 2}) }, "breaks off after 3 bytes", errTruncated},
		"cut mark":   {func(b *build) { b.Write([]byte{0x80, 0, 0}) }, "breaks off after 3 bytes", errTruncated},
		"backwards":  {func(b *build) { b.mark(107, false) }, "tick 107 after tick 107", errCorrupt},
		"negative":   {func(b *build) { b.mark(-5, false) }, "tick -5", errCorrupt},
		"twice":      {func(b *build) { b.ints(3, 0, 0, 0) }, "a second snapshot of tick 107", errCorrupt},
		"no end":     {func(b *build) { b.step(1); b.chunk(3, []byte{0xff}) }, "no end mark", errCorrupt},
		"behind":     {func(b *build) { b.step(1); b.chunk(3, append(pack([]int32{0, 0, 0}), 0, 0)) }, "bytes behind the end mark", errCorrupt},
		"removed":    {func(b *build) { b.step(1); b.ints(3, 1, 0, 0, key(9, 9)) }, "item 9.9 is removed, and was not there", errCorrupt},
		"updated":    {func(b *build) { b.step(1); b.ints(3, 0, 2, 0, 4, 3, 1, 1, 1, 4, 3, 1, 1, 1) }, "item 4.3 comes twice", errCorrupt},
		"short":      {func(b *build) { b.step(1); b.ints(3, 0, 1, 0, 4, 3, 1) }, "item 4.3 has 3 values, and 1 numbers are left", errCorrupt},
		"size":       {func(b *build) { b.step(1); b.ints(3, 0, 1, 0, 40, 2, 1, 1) }, "item 40.2 had 3 values, and has 1", errCorrupt},
		"long":       {func(b *build) { b.step(1); b.ints(3, 0, 0, 0, 1) }, "1 numbers behind the last item", errCorrupt},
		"counts":     {func(b *build) { b.step(1); b.ints(3, 1<<30, 1<<30, 0) }, "removes 1073741824 items", errCorrupt},
		"items":      {func(b *build) { b.step(1); b.ints(1, 4, 2000, 1) }, "a snapshot of 2000 items in 4 bytes", errCorrupt},
		"offsets":    {func(b *build) { b.step(1); b.ints(1, 8, 2, 0, 12, key(40, 1), 5) }, "item 0 lies from byte 0 to 12 of 8", errCorrupt},
		"known size": {func(b *build) { b.step(1); b.whole([]int32{key(10, 1), 5}) }, "item 10.1 has 1 values, expected 22", errCorrupt},
		"huge":       {func(b *build) { b.step(1); b.ints(3, 0, 1, 0, 4, 65535, 1, 1, 1) }, "item 4.65535 makes a table of", errLarge},
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
		if r := s.Remarks(); len(r) != 2 || !strings.Contains(r[1], "after 4 frames: a.demo: chunk ") {
			t.Errorf("%s: remarks %q", name, r)
		}
	}
}

// A demo that is cut anywhere gives the first of its frames.
func TestCut(t *testing.T) {
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

// Only so much is kept.
func TestMemory(t *testing.T) {
	d, err := parse(bytes.NewReader(small().Bytes()), "a.demo", 200)
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(d.err, errLarge) || len(d.ticks) == 0 || len(d.ticks) > 3 {
		t.Errorf("%d frames, %v", len(d.ticks), d.err)
	}
}

// check reads what may be anything, and plays it.
func check(t *testing.T, data []byte) {
	d, err := parse(bytes.NewReader(data), "a.demo", 1<<20)
	if err != nil {
		var e *source.Error
		if !errors.As(err, &e) && !errors.Is(err, errFormat) && !errors.Is(err, errTruncated) {
			t.Fatalf("%v: of no type", err)
		}
		return
	}
	s, err := newMatch(d, false)
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

// No bit of a demo can be flipped to more than an error or another match.
func TestFlips(t *testing.T) {
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

// FuzzDemo: no file makes the reader panic, or take more than it may.
func FuzzDemo(f *testing.F) {
	f.Add(small().Bytes())
	f.Add(small().Bytes()[:800])
	f.Fuzz(check)
}
