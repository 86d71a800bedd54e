package rows

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/hostile"
	"wirelab/internal/testkit"
)

// randomSchema returns a schema of random fields with random hints, most of them wrong.
func randomSchema(rng *rand.Rand) *frame.Schema {
	s := &frame.Schema{Name: "any", Item: "row", TickHz: 60, Rows: 1 + rng.IntN(9)}
	ends := []int32{math.MinInt32, -1 << 30, -1 << 20, -3, 0, 1, 2, 1 << 20, 1 << 30, math.MaxInt32}
	odd := []float64{0, 0, 1, 0.001, 360, 1e-30, 1e30, -5, math.Inf(1), math.NaN()}
	for i := range 1 + rng.IntN(12)*rng.IntN(7) {
		f := frame.Field{Name: fmt.Sprint("f", i), Kind: []frame.Kind{frame.Quantity, frame.Angle, frame.Enum, frame.Flag,
			frame.Bits, frame.Float32, frame.Float32}[rng.IntN(7)]}
		a := rng.IntN(len(ends))
		f.Min, f.Max = ends[a], ends[a+rng.IntN(len(ends)-a)]
		switch f.Kind {
		case frame.Flag:
			f.Min, f.Max = 0, 1
		case frame.Enum:
			f.Min, f.Max = 0, []int32{0, 1, 2, 3, 4, 1000, math.MaxInt32}[rng.IntN(7)]
		}
		pick := func() float64 { return odd[rng.IntN(len(odd))] }
		f.Hint = frame.Hint{Role: frame.Role(rng.IntN(8)), Group: uint8(rng.IntN(4)), Axis: uint8(rng.IntN(4)), Rides: uint8(rng.IntN(3))}
		f.Hint.Rate, f.Hint.Drag, f.Hint.StopSpeed, f.Hint.Turn, f.Hint.Step = pick(), pick(), pick(), pick(), pick()
		f.Scale = pick()
		f.Unit = []string{"", "m"}[rng.IntN(2)]
		s.Fields = append(s.Fields, f)
		if f.Kind == frame.Enum && f.Max == 3 { // a rotation
			g := frame.Field{Min: ends[a], Max: ends[a+rng.IntN(len(ends)-a)]}
			for k := range numComponents {
				g.Name = fmt.Sprint("r", i, k)
				s.Fields = append(s.Fields, g)
			}
		}
	}
	for row := 0; rng.IntN(2) == 0 && row < s.Rows; row += 2 {
		first := rng.IntN(len(s.Fields))
		s.Parts = append(s.Parts, frame.Part{Name: "p", Row: row, Rows: 2, Field: first, Size: 1 + rng.IntN(len(s.Fields)-first)})
	}
	return s
}

// randomValue returns a value in the range of a field; of floats often a multiple of 1/8.
func randomValue(rng *rand.Rand, f *frame.Field) int32 {
	if f.Kind == frame.Float32 && rng.IntN(5) > 0 {
		v := rng.NormFloat64() * []float64{1e-40, 1e-3, 1, 300, 1e6, 1e12, 1e38}[rng.IntN(7)]
		if rng.IntN(2) == 0 {
			v = math.Round(v*8) / 8
		}
		return int32(math.Float32bits(float32(v)))
	}
	low, span := f.Span()
	switch rng.IntN(6) {
	case 0:
		return low
	case 1:
		return int32(uint32(low) + span)
	case 2:
		if uint32(-low) <= span {
			return 0
		}
	}
	return int32(uint32(low) + uint32(rng.Uint64N(uint64(span)+1)))
}

// mutate changes some values of a frame, occasionally of fields outside of their row's part, and
// makes rows appear and vanish.
func mutate(rng *rand.Rand, s *frame.Schema, f *frame.Frame) {
	n := len(s.Fields)
	for row := range s.Rows {
		p := s.PartForRow(row)
		gone := rng.IntN(6) == 0
		if k := rng.IntN(n); rng.IntN(8) == 0 && (k < p.Field || k >= p.Field+p.Size) {
			f.Table[row*n+k] = randomValue(rng, &s.Fields[k])
		}
		for k := p.Field; k < p.Field+p.Size; k++ {
			at, fd := row*n+k, &s.Fields[k]
			low, span := fd.Span()
			switch {
			case gone && uint32(-low) <= span:
				f.Table[at] = 0
			case rng.IntN(6) == 0:
				f.Table[at] = randomValue(rng, fd)
			case rng.IntN(3) == 0 && fd.Kind != frame.Flag:
				f.Table[at] = int32(min(max(int64(f.Table[at])+rng.Int64N(9)-4, int64(low)), int64(low)+int64(span)))
			}
		}
	}
}

// For random schemas and hints, frames survive the round trip through chains of memos, from
// baselines of several ages and across gaps of ticks, and sender and receiver end with equal memos.
// A damaged packet decodes to a frame within the schema's ranges or to an error, and never disturbs
// the chain, although the memo of its result is reused. The checksum shows that packets are the
// same on every machine.
func TestRandomSchemas(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	schemas, want, sum := 30, uint32(0x5681f976), uint32(0)
	if testkit.Thorough() {
		schemas, want = 300, 0xfb26da00
	}
	for n := range schemas {
		s := randomSchema(rng)
		enc, dec := defaultCoder(s), defaultCoder(s)
		base := s.NewFrame()
		for i := range base.Table { // 0 is outside the range of some fields
			f := &s.Fields[i%len(s.Fields)]
			low, span := f.Span()
			if uint32(-low) > span {
				base.Table[i] = low
			}
		}
		for row := range s.Rows {
			for k, p := 0, s.PartForRow(row); k < p.Size; k++ {
				base.Table[row*len(s.Fields)+p.Field+k] = randomValue(rng, &s.Fields[p.Field+k])
			}
		}
		// The last four frames, and their memos at the sender and at the receiver.
		var frames [4]*frame.Frame
		var sent, got [4]encoders.Memo
		var spare encoders.Memo
		frames[3] = base
		for step := range 12 {
			to, from := step%4, (step+3-rng.IntN(min(step+1, 3)))%4
			base, cur, back := frames[from], &frame.Frame{}, &frame.Frame{}
			cur.CopyFrom(base)
			cur.Tick += uint32(1 + rng.IntN(300)*rng.IntN(2))
			mutate(rng, s, cur)
			if rng.IntN(3) == 0 {
				cur.Body = append(cur.Body, byte(step))
			}
			ref := encoders.Ref{Frame: base, Memo: sent[from]}
			if rng.IntN(2) == 0 { // a superset of the changed rows is allowed
				ref.Changed = frame.NewRows(s.Rows)
				ref.Changed.SetDiffering(cur.Table, base.Table, len(s.Fields))
				ref.Changed.Add(rng.IntN(s.Rows))
			}
			out, next, err := enc.Encode(nil, cur, []encoders.Ref{ref}, sent[to], nil)
			if err != nil {
				t.Fatalf("schema %d: %v", n, err)
			}
			sum = crc32.Update(sum, crc32.IEEETable, out)
			for range 4 {
				back.Tick = cur.Tick
				m, err := dec.Decode(back, hostile.Forge(rng, out), []encoders.Ref{{Frame: base, Memo: got[from]}}, spare)
				if err == nil {
					spare = m
				}
				if err := hostile.CheckDecode(s, back, err); err != nil {
					t.Fatalf("schema %d, forged: %v", n, err)
				}
			}
			back.Tick = cur.Tick
			m, err := dec.Decode(back, out, []encoders.Ref{{Frame: base, Memo: got[from]}}, spare)
			if err != nil || !back.Equal(cur) {
				t.Fatalf("schema %d: decoded frame differs, error %v\n%+v\n%+v", n, err, s.Fields, s.Parts)
			}
			if step == 11 && !reflect.DeepEqual(m, next) {
				t.Fatalf("schema %d: the memos of sender and receiver differ\n%+v\n%+v", n, s.Fields, s.Parts)
			}
			frames[to], sent[to], got[to], spare = cur, next, m, got[to]
		}
	}
	if sum != want {
		t.Errorf("checksum of all packets %#x, want %#x", sum, want)
	}
}
