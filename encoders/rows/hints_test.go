package rows

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/internal/testkit"
)

// A hintedTable is a table with hints, and frames.
type hintedTable struct {
	schema *frame.Schema
	first  *frame.Frame // the initial state; nil for zeros
	frames []*frame.Frame
	back   int // age of the baseline in frames
}

// encode returns the bytes of all packets of a table. The decoder must reproduce every frame and end with the
// sender's memo.
func (x *hintedTable) encode(t testing.TB, s *frame.Schema) (total int) {
	t.Helper()
	codec := DeltaAdaptive()
	enc, dec, err := codec.New(s, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	first := x.first
	if first == nil {
		first = s.NewFrame()
	}
	sent, got := make([]encoders.Ref, x.back+1), make([]encoders.Ref, x.back+1)
	for i := range sent {
		sent[i].Frame, got[i].Frame = first, first
	}
	var out []byte
	for i, f := range x.frames {
		to, from := i%len(sent), (i+1)%len(sent)
		var memo encoders.Memo
		if out, memo, err = enc.Encode(out[:0], f, sent[from:from+1], sent[to].Memo, nil); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		sent[to] = encoders.Ref{Frame: f, Memo: memo}
		total += len(out)
		if i > 200*x.back { // decoding takes as long as encoding
			continue
		}
		back := &frame.Frame{Tick: f.Tick}
		if memo, err = dec.Decode(back, out, got[from:from+1], nil); err != nil || !back.Equal(f) {
			t.Fatalf("frame %d decoded differently, error %v", i, err)
		}
		got[to] = encoders.Ref{Frame: back, Memo: memo}
	}
	return total
}

// Hints never hurt: with them a table takes at most 1 % and 64 bytes more than without, whether they are
// right, wrong or useless.
func TestHintsNeverHurt(t *testing.T) {
	schemas, frames := testkit.ChooseLong(200, 30, 10), testkit.ChooseLong(2000, 500, 120)
	check := func(name string, make func(t *testing.T, back int) hintedTable, ages ...int) {
		for _, back := range ages {
			t.Run(fmt.Sprintf("%s, %d back", name, back), func(t *testing.T) {
				t.Parallel()
				x := make(t, back)
				plain, hinted := x.encode(t, withoutHints(x.schema)), x.encode(t, x.schema)
				t.Logf("%d bytes, with hints %d: %+.2f %%", plain, hinted, 100*(float64(hinted)/float64(plain)-1))
				if hinted > plain+plain/100+64 {
					t.Errorf("%d bytes, with hints %d", plain, hinted)
				}
			})
		}
	}
	for _, o := range []tankOptions{{Hints: "t"}, {Hints: "p"}, {Hints: "x"}, {Hints: "P"}, {Hints: "tpxP"}, {Hints: "p", Living: true}, {Hints: "tpxP", Living: true},
		{Hints: "x", Velocity: true}, {Hints: "tpxP", Velocity: true}, {Hints: "tpx", Velocity: true, Living: true}} {
		check(fmt.Sprintf("tanks %+v", o), func(_ *testing.T, back int) hintedTable {
			return hintedTable{schema: tankSchema(o), frames: tankFrames(frames, o), back: back}
		}, 1, 6)
	}
	for _, name := range []string{"oa-ctf.dm_71", "oa-dm4.dm_71", "tw-ctf2.table", "tw-dm1.table"} {
		check(name, func(t *testing.T, back int) hintedTable { return openMatch(t, name, frames, back) }, 1, 6)
	}
	check("cubes", func(t *testing.T, back int) hintedTable {
		s := frame.Cubes(frame.WalkoffCubes)
		for axis, f := range []int{5, 6, 7} {
			s.Fields[f].Hint = frame.Hint{Role: frame.Position, Group: 1, Axis: uint8(axis)}
		}
		return hintedTable{schema: s, frames: recording.Load(t, "charlie", min(frames, 600)), back: back}
	}, recording.BaselineAge)
	for n := range schemas {
		check(fmt.Sprint("random ", n), func(_ *testing.T, back int) hintedTable {
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			s := randomTable(rng)
			return hintedTable{schema: s, frames: play(rng, s, frames), back: back}
		}, 1+n%2*5)
	}
}

// openMatch returns the first frames of a match.
func openMatch(t *testing.T, name string, frames, back int) hintedTable {
	src, err := dataset.Open(t.Context(), testkit.Match(t, name), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	x := hintedTable{schema: src.Schema(), first: src.Schema().NewFrame(), back: back}
	src.Initial(x.first)
	for i := range frames {
		f := x.schema.NewFrame()
		if err := src.Next(f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		f.Tick = uint32(i + 1)
		x.frames = append(x.frames, f)
	}
	return x
}

// The ways in which the values of a field of a random table move.
const (
	constant   = iota
	walk       // small random steps
	glide      // with a speed that changes now and then
	integral   // as much as the field before says
	jump       // to any value, now and then
	countDown  // by one, and back to the start
	behaviours // their number
)

// randomTable returns a random schema with random hints, of which half fit the fields.
func randomTable(rng *rand.Rand) *frame.Schema {
	s := &frame.Schema{Name: "random", Item: "row", TickHz: 20, Rows: 1 + rng.IntN(30)}
	floats := rng.IntN(3) == 0
	for i := range 2 + rng.IntN(10) {
		f := frame.Field{Name: fmt.Sprint("f", i), Min: -(1 << rng.IntN(18)), Max: 1 << rng.IntN(18), Scale: 0.01}
		switch k := rng.IntN(10); {
		case k == 0:
			f.Kind, f.Min, f.Max = frame.Flag, 0, 1
		case k == 1:
			f.Kind, f.Min, f.Max = frame.Enum, 0, int32(1+rng.IntN(20))
		case k == 2:
			f.Kind = frame.Bits
		case k == 3:
			f.Kind, f.Min, f.Max = frame.Angle, 0, 3599
		case floats && k < 8:
			f.Kind = frame.Float32
		}
		if rng.IntN(2) == 0 {
			f.Hint = frame.Hint{Role: frame.Role(rng.IntN(7)), Group: uint8(rng.IntN(3)), Axis: uint8(rng.IntN(3)), Rides: uint8(rng.IntN(3)),
				Rate: []float64{0, 0.05, 1}[rng.IntN(3)], Drag: []float64{0, 0, 0.01}[rng.IntN(3)], Turn: []float64{0, 0, 360}[rng.IntN(3)]}
		}
		s.Fields = append(s.Fields, f)
	}
	for row := 0; rng.IntN(3) == 0 && row < s.Rows; row += 2 {
		first := rng.IntN(len(s.Fields))
		s.Parts = append(s.Parts, frame.Part{Name: "p", Row: row, Rows: min(2, s.Rows-row), Field: first, Size: 1 + rng.IntN(len(s.Fields)-first)})
	}
	return s
}

// play returns frames of a random table, whose fields move in one of the ways above. In some tables rows
// come and go.
func play(rng *rand.Rand, s *frame.Schema, frames int) (out []*frame.Frame) {
	n := len(s.Fields)
	ways, comeAndGo, activity := make([]int, n), rng.IntN(2) == 0, rng.Float64()
	for k := range ways {
		ways[k] = rng.IntN(behaviours)
	}
	values, speeds, present := make([]float64, s.Rows*n), make([]float64, s.Rows*n), make([]bool, s.Rows)
	last := s.NewFrame()
	for tick := range frames {
		f := &frame.Frame{Tick: uint32(tick + 1), Table: append([]int32(nil), last.Table...)}
		for row := range s.Rows {
			p := s.PartForRow(row)
			present[row] = present[row] != (rng.IntN(50) == 0) || !comeAndGo
			for k := p.Field; k < p.Field+p.Size; k++ {
				at, fd := row*n+k, &s.Fields[k]
				low, span := fd.Span()
				v, speed := &values[at], &speeds[at]
				switch {
				case rng.Float64() > activity:
					continue
				case ways[k] == walk:
					*v += rng.NormFloat64() * 3
				case ways[k] == glide:
					if rng.IntN(20) == 0 {
						*speed = rng.NormFloat64() * 20
					}
					*v += *speed
				case ways[k] == integral && k > 0:
					*v += values[at-1] / 20
				case ways[k] == jump && rng.IntN(10) == 0:
					*v = float64(low) + rng.Float64()*float64(span)
				case ways[k] == countDown:
					if *v--; *v < 0 {
						*v = 100
					}
				}
				switch fd.Kind {
				case frame.Float32:
					*v = min(max(*v, -1e6), 1e6)
					f.Table[at] = int32(math.Float32bits(float32(*v)))
				case frame.Angle:
					*v -= float64(int64(*v)/3600) * 3600
					f.Table[at] = (int32(*v) + 3600) % 3600
				default:
					*v = min(max(*v, float64(low)), float64(low)+float64(span))
					f.Table[at] = int32(int64(*v))
				}
			}
			if !present[row] {
				clear(f.Table[row*n:][:n])
			}
		}
		out, last = append(out, f), f
	}
	return out
}

// withoutHints returns s without its hints and parts; s itself if it has none.
func withoutHints(s *frame.Schema) *frame.Schema {
	plain := *s
	plain.Fields, plain.Parts = slices.Clone(s.Fields), nil
	same := len(s.Parts) == 0
	for i := range plain.Fields {
		same = same && plain.Fields[i].Hint == frame.Hint{}
		plain.Fields[i].Hint = frame.Hint{}
	}
	if same {
		return s
	}
	return &plain
}
