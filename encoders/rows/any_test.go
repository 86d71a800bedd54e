package rows

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/hostile"
)

// randomSchema returns a schema of up to 60 random fields.
func randomSchema(rng *rand.Rand) *frame.Schema {
	s := &frame.Schema{Name: "any", Item: "row", TickHz: 60, Rows: 1 + rng.IntN(6)}
	ends := []int32{math.MinInt32, -1 << 30, -1 << 20, -3, 0, 1, 2, 1 << 20, 1 << 30, math.MaxInt32}
	for i := range 1 + rng.IntN(10)*rng.IntN(7) {
		f := frame.Field{Name: fmt.Sprint("f", i), Kind: []frame.Kind{frame.Quantity, frame.Angle, frame.Enum, frame.Flag,
			frame.Bits, frame.Float32}[rng.IntN(6)], Unit: "m"}
		a := rng.IntN(len(ends))
		f.Min, f.Max = ends[a], ends[a+rng.IntN(len(ends)-a)]
		switch f.Kind {
		case frame.Flag:
			f.Min, f.Max = 0, 1
		case frame.Enum: // often followed by the components of a rotation
			f.Min, f.Max = 0, []int32{0, 1, 2, 3, 3, 3, 4, math.MaxInt32}[rng.IntN(8)]
		}
		s.Fields = append(s.Fields, f)
		if f.Kind == frame.Enum && f.Max == 3 {
			g := frame.Field{Kind: frame.Quantity, Min: ends[a], Max: ends[a+rng.IntN(len(ends)-a)], Unit: "m"}
			for k := range numComponents {
				g.Name = fmt.Sprint("r", i, k)
				s.Fields = append(s.Fields, g)
			}
		}
	}
	return s
}

// mutate changes some values of a frame: by a small step, to a bound of the range, or to a random
// value.
func mutate(rng *rand.Rand, p *plan, f *frame.Frame) {
	for i := range f.Table {
		c := &p.columns[i%p.fields]
		switch low := int64(c.Min); rng.IntN(6) {
		case 0:
			f.Table[i] = randomValue(rng, c)
		case 1, 2:
			f.Table[i] = int32(min(max(int64(f.Table[i])+rng.Int64N(9)-4, low), low+int64(c.Span)))
		}
	}
}

// For random schemas, frames survive the round trip through a chain of memos and across gaps of
// ticks. A forged packet decodes to a frame of the schema or to an error, and never disturbs the
// chain. The checksum shows that packets are the same on every machine.
func TestRandomSchemas(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	set, sum := DeltaAdaptive().Params.(*params), uint32(0)
	for n := range 60 {
		s := randomSchema(rng)
		enc, dec := newCoder(s, set), newCoder(s, set)
		p, base := newPlan(s), s.NewFrame()
		for i := range base.Table {
			base.Table[i] = randomValue(rng, &p.columns[i%p.fields])
		}
		var sent, got encoders.Memo
		for range 12 {
			cur, back := &frame.Frame{}, &frame.Frame{}
			cur.CopyFrom(base)
			cur.Tick += uint32(1 + rng.IntN(300)*rng.IntN(2))
			mutate(rng, p, cur)
			out, next, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base, Memo: sent}}, nil, nil)
			if err != nil {
				t.Fatalf("schema %d: %v", n, err)
			}
			sum = crc32.Update(sum, crc32.IEEETable, out)
			for range 4 {
				back.Tick = cur.Tick
				_, err := dec.Decode(back, hostile.Forge(rng, out), []encoders.Ref{{Frame: base, Memo: got}}, nil)
				if err := hostile.CheckDecode(s, back, err); err != nil {
					t.Fatalf("schema %d, forged: %v", n, err)
				}
			}
			back.Tick = cur.Tick
			if got, err = dec.Decode(back, out, []encoders.Ref{{Frame: base, Memo: got}}, nil); err != nil || !back.Equal(cur) {
				t.Fatalf("schema %d: decoded frame differs, error %v\n%+v", n, err, s.Fields)
			}
			base, sent = cur, next
		}
	}
	if want := uint32(0xf3557a7a); sum != want {
		t.Errorf("checksum of all packets %#x, want %#x", sum, want)
	}
}
