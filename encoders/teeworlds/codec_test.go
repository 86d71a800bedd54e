package teeworlds

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/dataset/teeworlds"
	"wirelab/dataset/teeworlds/protocol"
	"wirelab/encoders"
	"wirelab/internal/testkit"
)

// openDemo opens a demo of a real match.
func openDemo(t testing.TB, name string) interface {
	source.Source
	source.Tracked
	source.Priced
} {
	t.Helper()
	src, err := teeworlds.Kind.Open(t.Context(), testkit.DataFile(t, "games/"+name+".demo"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src.(interface {
		source.Source
		source.Tracked
		source.Priced
	})
}

func newCoders(t testing.TB, s *frame.Schema) (enc, dec *coder) {
	t.Helper()
	c := Codec()
	if !c.Suits(s) {
		t.Fatal("does not suit")
	}
	e, d, err := c.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.(*coder), d.(*coder)
}

// With the snapshot before as the baseline, every delta takes exactly the bytes that it has in the
// demo, and is decoded exactly.
func TestSizesEqualGame(t *testing.T) {
	for name, want := range map[string]int{"tw-ctf2": 4522, "tw-dm1": 4523} {
		src := openDemo(t, name)
		s := src.Schema()
		enc, dec := newCoders(t, s)
		base, cur, got := s.NewFrame(), s.NewFrame(), s.NewFrame()
		src.Initial(base)
		deltas, most := 0, 200
		if testkit.Thorough() {
			most = 1 << 30
		}
		var payload []byte
		for n := 0; n < most; n++ {
			err := src.Next(cur)
			if err == io.EOF {
				if deltas != want {
					t.Errorf("%s: %d deltas, want %d", name, deltas, want)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			payload, _, err = enc.Encode(payload[:0], cur, []encoders.Ref{{Frame: base, Changed: src.Changed()}}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if price := src.Price(); !price.Key {
				tick := protocol.AppendInt(nil, cur.Table[enc.layout.TickCell]-base.Table[enc.layout.TickCell])
				if took := 8 * (len(payload) - len(tick)); took != price.Bits {
					t.Fatalf("%s, frame %d: %d bits, in the demo %d", name, n, took, price.Bits)
				}
				if price.Bits > 0 {
					deltas++
				}
			}
			if _, err := dec.Decode(got, payload, []encoders.Ref{{Frame: base}}, nil); err != nil || !got.Equal(cur) {
				t.Fatalf("%s, frame %d: decoded frame differs, error %v", name, n, err)
			}
			base, cur = cur, base
		}
	}
}

// allItemsSchema is a schema with items of fixed and of free sizes.
func allItemsSchema(t testing.TB) *frame.Schema {
	t.Helper()
	var g protocol.Groups
	for _, item := range []protocol.Item{
		{Key: protocol.NewKey(10, 3), Values: make([]int32, 22)}, {Key: protocol.NewKey(4, 5), Values: make([]int32, 3)},
		{Key: protocol.NewKey(22, 1), Values: make([]int32, 7)}, {Key: protocol.NewKey(23, 1), Values: make([]int32, 1)},
		{Key: protocol.NewKey(23, 2), Values: make([]int32, 4)}, {Key: protocol.NewKey(99, 0), Values: make([]int32, 2)},
	} {
		if err := g.Add(item); err != nil {
			t.Fatal(err)
		}
	}
	return g.Schema(25)
}

// randomValue returns a value in the range of a field, often 0.
func randomValue(rng *rand.Rand, f *frame.Field) int32 {
	lowest, span := f.Span()
	if rng.IntN(3) == 0 {
		return min(max(0, f.Min), f.Max)
	}
	return int32(uint32(lowest) + uint32(rng.Uint64N(uint64(span)+1)))
}

// randomFrame returns a frame that the game could have sent if sound, otherwise any frame.
func randomFrame(rng *rand.Rand, s *frame.Schema, sound bool) *frame.Frame {
	l, _ := protocol.NewLayout(s)
	f := s.NewFrame()
	if f.Table[l.TickCell] = int32(rng.IntN(1 << 20)); !sound {
		for i := range f.Table {
			f.Table[i] = randomValue(rng, &s.Fields[i%len(s.Fields)])
		}
		if rng.IntN(2) == 0 {
			f.Body = []byte("a body")
		}
		return f
	}
	here := map[protocol.Key]bool{}
	for i := range l.Parts {
		p := &l.Parts[i]
		for id := range p.Rows {
			k := protocol.NewKey(p.Type, id)
			if rng.IntN(2) == 0 || here[k] {
				continue
			}
			here[k] = true
			row := l.Row(f.Table, p.Row+id)
			row[p.Present] = 1
			for _, c := range p.Columns {
				row[c] = randomValue(rng, &s.Fields[c])
			}
		}
	}
	return f
}

// Any frame is decoded exactly against any other: items appear, vanish, change and change their
// size, and frames that the game would not send.
func TestAnyFrames(t *testing.T) {
	s := allItemsSchema(t)
	enc, dec := newCoders(t, s)
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 120 {
		base, cur, got := randomFrame(rng, s, n%4 > 0), randomFrame(rng, s, n%3 > 0), s.NewFrame()
		if n%5 == 0 {
			cur.CopyFrom(base)
			cur.Table[0]++
		}
		var b encoders.Budget
		payload, _, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base}}, nil, &b)
		if err != nil {
			t.Fatal(err)
		}
		if b.Total() != int64(len(payload))*8*encoders.BitUnit {
			t.Fatalf("the budget of %d bytes is %d", len(payload), b.Total())
		}
		if _, err := dec.Decode(got, payload, []encoders.Ref{{Frame: base}}, nil); err != nil || !got.Equal(cur) {
			t.Fatalf("frame %d: decoded frame differs, error %v", n, err)
		}
		for cut := rng.IntN(20); cut < len(payload); cut += 1 + len(payload)/20 {
			if _, err := dec.Decode(got, payload[:cut], []encoders.Ref{{Frame: base}}, nil); err == nil && cut > 0 && len(cur.Body) == 0 {
				if _, rest, _ := protocol.ReadInt(payload); len(payload)-len(rest) != cut {
					t.Fatalf("frame %d: %d of %d bytes were accepted", n, cut, len(payload))
				}
			}
			damaged := bytes.Clone(payload)
			damaged[cut] ^= 1 << rng.IntN(8)
			_, err := dec.Decode(got, damaged, []encoders.Ref{{Frame: base}}, nil)
			if err == nil {
				err = s.Check(got)
			} else if errors.Is(err, encoders.ErrCorrupt) || errors.Is(err, encoders.ErrTruncated) {
				continue
			}
			if err != nil {
				t.Fatalf("frame %d, byte %d: %v", n, cut, err)
			}
		}
	}
}

// The tick has its own slot, and nothing else is sent if nothing else changed.
func TestTick(t *testing.T) {
	s := allItemsSchema(t)
	enc, _ := newCoders(t, s)
	rng := rand.New(rand.NewPCG(5, 6))
	base := randomFrame(rng, s, true)
	cur := s.NewFrame()
	cur.CopyFrom(base)
	cur.Table[enc.layout.TickCell] += 2
	var b encoders.Budget
	payload, _, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base}}, nil, &b)
	if err != nil || !bytes.Equal(payload, []byte{2}) || b.Units[encoders.FieldSlot(enc.layout.TickCell)] != 8*encoders.BitUnit {
		t.Errorf("% x, error %v, budget %v", payload, err, b.Units)
	}
}

// Other schemas are refused, also if they have the name of the game's.
func TestSuits(t *testing.T) {
	c := Codec()
	for _, s := range []*frame.Schema{frame.Cubes(3), {Name: "teeworlds", Rows: 1, Fields: []frame.Field{{Name: "Now"}}}} {
		if c.Suits(s) {
			t.Errorf("suits %s", s.Name)
		}
		if _, _, err := c.New(s, nil); err == nil {
			t.Errorf("takes %s", s.Name)
		}
	}
}
