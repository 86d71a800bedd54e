package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rotation"
)

// columnsOf are columns of every kind and of awkward ranges.
func columnsOf() []fieldPlan {
	var fields []frame.Field
	for _, r := range [][2]int32{{0, 1}, {-5, 5}, {7, 7}, {-1 << 17, 1<<17 - 1}, {0, math.MaxInt32}, {math.MinInt32, 0},
		{math.MinInt32, math.MaxInt32}} {
		fields = append(fields, frame.Field{Kind: frame.Quantity, Min: r[0], Max: r[1]},
			frame.Field{Kind: frame.Angle, Min: r[0], Max: r[1]})
	}
	fields = append(fields, frame.Field{Kind: frame.Float32})
	return newPlan(&frame.Schema{Rows: 1, Fields: fields}).cols
}

// valueOf is any value of a column.
func valueOf(rng *rand.Rand, c *fieldPlan) int32 {
	switch rng.IntN(6) {
	case 0:
		return c.Min
	case 1:
		return int32(uint32(c.Min) + c.Span)
	}
	return int32(uint32(c.Min) + uint32(rng.Uint64N(uint64(c.Span)+1)))
}

// A value is its guess and what that misses by, whatever the kind and the range; and
// wherever a shift leads, it is a value.
func TestArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, c := range columnsOf() {
		for range 2000 {
			v, guess := valueOf(rng, &c), valueOf(rng, &c)
			if got := c.add(guess, c.difference(v, guess)); got != v {
				t.Fatalf("column %d: %d from %d by %d comes to %d", i, v, guess, c.difference(v, guess), got)
			}
			for _, shift := range []int32{c.shift(guess, v), int32(rng.Uint32()), math.MinInt32} {
				for _, s := range []int32{shift, c.half(shift), c.scaled(shift, 6, 7), c.scaled(shift, 255, 1)} {
					if at := c.apply(guess, s); c.Raw(at) > c.Span {
						t.Fatalf("column %d: %d leads from %d to %d", i, s, guess, at)
					}
				}
			}
			if off := c.difference(v, guess); c.kind == frame.Angle && c.Span < math.MaxInt32 &&
				uint64(magnitude(off)) > (uint64(c.Span)+1)/2 {
				t.Fatalf("column %d: from %d to %d by %d, the longer way round", i, guess, v, off)
			}
			if c.kind == frame.Quantity && c.Span < math.MaxInt32 {
				if up, down := c.room(guess); int64(v)-int64(guess) > int64(up) || int64(guess)-int64(v) > int64(down) ||
					c.part(guess) > 15 {
					t.Fatalf("column %d: no room from %d to %d", i, guess, v)
				}
			}
		}
	}
}

// Floats are ordered as their bits are, and a shift of one is its difference.
func TestFloats(t *testing.T) {
	c := fieldPlan{kind: frame.Float32, Range: column.Range{Span: math.MaxUint32}}
	bitsOf := func(v float64) int32 { return int32(math.Float32bits(float32(v))) }
	list := []float64{math.Inf(-1), -3e38, -1, -1e-40, 0, 1e-40, 1, 1.5, 3e38, math.Inf(1)}
	for i, v := range list[1:] {
		if ordered(bitsOf(v)) <= ordered(bitsOf(list[i])) {
			t.Errorf("%g does not come after %g", v, list[i])
		}
	}
	if got := c.apply(bitsOf(1.5), c.scaled(c.shift(bitsOf(1), bitsOf(1.5)), 2, 6)); got != bitsOf(3) {
		t.Errorf("from 1 to 1.5 in 2 ticks leads to %g in 6 more, want 3", float(got))
	}
	if got := c.apply(bitsOf(3e38), bitsOf(3e38)); got != bitsOf(3e38) {
		t.Errorf("beyond all floats lies %g", float(got))
	}
}

// What is read off a schema.
func TestPlan(t *testing.T) {
	p := newPlan(frame.Cubes(3))
	if len(p.place) != 3 || p.place[0] != frame.CubeX || p.turn.at != frame.CubeLargest ||
		p.cols[frame.CubeC].class != frame.CubeA || len(p.states) != 1 {
		t.Errorf("of cubes: %+v", p)
	}
	none := frame.Cubes(3)
	none.Fields[frame.CubeB].Max++
	for i := range none.Fields {
		none.Fields[i].Unit = none.Fields[i].Name
	}
	if p := newPlan(none); len(p.place) != 0 || p.turn.at != -1 {
		t.Errorf("of what has no place and no rotation: %+v", p)
	}
}

// Fields are the rotation that they came from, seen from any side; and what turns goes
// on turning, as sine and cosine have it.
func TestRotation(t *testing.T) {
	p := newPlan(frame.Cubes(1))
	at := func(angle float64) rotation.Quaternion {
		s, axis := math.Sin(angle/2), [3]float64{2. / 7, -3. / 7, 6. / 7}
		return rotation.Quaternion{axis[0] * s, axis[1] * s, axis[2] * s, math.Cos(angle / 2)}
	}
	near := func(a, b rotation.Quaternion) float64 {
		dot := a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]
		return 1 - math.Abs(dot)
	}
	for angle := -6.0; angle < 6; angle += 0.1 {
		q := at(angle)
		first, second := q.Largest()
		if math.Abs(q[first]) < math.Abs(q[second]) {
			t.Fatalf("%v ranks %d before %d", q, first, second)
		}
		fields := p.turn.components(&q, first)
		back := p.turn.Decode(int32(first), fields[:])
		if again := p.turn.components(&back, first); again != fields || near(q, back) > 1e-4 {
			t.Fatalf("%v is %v, is %v", q, fields, again)
		}
		from := at(angle - 0.3)
		if got, want := extrapolate(&from, &q, 1), at(angle+0.3); near(got, want) > 1e-12 {
			t.Fatalf("from %v by %v to %v, want %v", from, q, got, want)
		}
		if got, want := extrapolate(&from, &q, 2.5), at(angle+0.75); near(got, want) > 1e-4 {
			t.Fatalf("two and a half times as far from %v by %v to %v, want %v", from, q, got, want)
		}
	}
}

// The nearest of the movers is the nearest; of too many, the fastest are looked at.
func TestScene(t *testing.T) {
	s := frame.Cubes(200)
	p, base, past := newPlan(s), s.NewFrame(), &memo{}
	rng := rand.New(rand.NewPCG(3, 4))
	for row := range s.Rows {
		for k := range 3 {
			base.Table[row*frame.CubeFields+frame.CubeX+k] = rng.Int32N(10000)
		}
	}
	for n, row := range rng.Perm(s.Rows)[:60] {
		past.appendStep(row, frame.CubeFields).shift[frame.CubeX] = int32(n + 1)
	}
	var around scene
	around.begin(p, base, past)
	if len(around.movers) != maxMovers || around.movers[around.top].speed != 60 {
		t.Fatalf("%d movers, the fastest %+v", len(around.movers), around.movers[around.top])
	}
	for row := range s.Rows {
		best, at := uint64(math.MaxUint64), around.places[row]
		for n, other := range past.moved[60-maxMovers:] {
			if past.step(60-maxMovers+n, p.fields).shift[frame.CubeX] > 0 && int(other) != row {
				there := around.places[other]
				best = min(best, distance2(&at, &there))
			}
		}
		if nearest, _ := around.distances(row, &at, slices.Contains(past.moved, int32(row))); nearest != uint32(length64(best)) {
			t.Fatalf("row %d: %d half octaves, want %d", row, nearest, length64(best))
		}
	}
}

// Vector instructions find the distance that plain Go does, however many movers there are and
// however far away.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		s := frame.Cubes(1 + rng.IntN(60))
		p, base, past, far := newPlan(s), s.NewFrame(), &memo{}, int32(1)<<rng.IntN(31)
		for i := range base.Table {
			base.Table[i] = rng.Int32N(far) - rng.Int32N(far)
		}
		for _, row := range rng.Perm(s.Rows)[:rng.IntN(s.Rows+1)] {
			past.appendStep(row, frame.CubeFields).shift[frame.CubeX] = rng.Int32N(100)
		}
		var around scene
		around.begin(p, base, past)
		if len(around.nearest) > 0 && far > 1<<30 {
			t.Fatalf("vector instructions are to multiply %d", far)
		}
		for row, n := range around.nearest {
			best := uint64(math.MaxUint64)
			for i := range around.movers {
				best = min(best, distance2(&around.places[row], &around.movers[i].at))
			}
			if int(n) != length64(best) {
				t.Fatalf("row %d: %d half octaves to one of %d movers, want %d", row, n, len(around.movers), length64(best))
			}
		}
	}
}

func length64(v uint64) (n int) {
	for ; v > 0; v >>= 1 {
		n++
	}
	return n
}

// Rows that never change soon cost next to nothing, whatever their number; and a row
// that always does is told apart from them.
func TestRestIsCheap(t *testing.T) {
	s := &frame.Schema{Name: "t", Item: "row", Rows: 2000, TickHz: 30, Fields: []frame.Field{{Name: "v", Max: 1000}}}
	c := DeltaAdaptive()
	enc, _, err := c.New(s, c.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	var memo encoders.Memo
	base, size := s.NewFrame(), 0
	for n := range 200 {
		cur := s.NewFrame()
		cur.Tick = uint32(n + 1)
		if n > 100 {
			cur.Table[1234] = int32(n) % 1000
		}
		var out []byte
		if out, memo, err = enc.Encode(nil, cur, []encoders.Ref{{Frame: base, Memo: memo}}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if base, size = cur, len(out); n == 100 && size > 1 {
			t.Errorf("2000 rows at rest take %d bytes", size)
		}
	}
	if size > 3 {
		t.Errorf("one row of 2000 that counts up takes %d bytes", size)
	}
}
