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

// testColumns returns fields of every kind, with extreme ranges.
func testColumns() []fieldPlan {
	var fields []frame.Field
	for _, r := range [][2]int32{{0, 1}, {-5, 5}, {7, 7}, {-1 << 17, 1<<17 - 1}, {0, math.MaxInt32}, {math.MinInt32, 0},
		{math.MinInt32, math.MaxInt32}} {
		fields = append(fields, frame.Field{Kind: frame.Quantity, Min: r[0], Max: r[1]},
			frame.Field{Kind: frame.Angle, Min: r[0], Max: r[1]})
	}
	fields = append(fields, frame.Field{Kind: frame.Float32})
	return newPlan(&frame.Schema{Rows: 1, Fields: fields}).columns
}

// randomValue returns a value in the range of a field.
func randomValue(rng *rand.Rand, c *fieldPlan) int32 {
	switch rng.IntN(6) {
	case 0:
		return c.Min
	case 1:
		return int32(uint32(c.Min) + c.Span)
	}
	return int32(uint32(c.Min) + uint32(rng.Uint64N(uint64(c.Span)+1)))
}

// A value is its prediction plus the residual, for every kind and range; and applying any delta
// gives a value in the range.
func TestArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, c := range testColumns() {
		for range 2000 {
			v, guess := randomValue(rng, &c), randomValue(rng, &c)
			if got := c.addResidual(guess, c.difference(v, guess)); got != v {
				t.Fatalf("column %d: %d from %d by %d comes to %d", i, v, guess, c.difference(v, guess), got)
			}
			for _, shift := range []int32{c.delta(guess, v), int32(rng.Uint32()), math.MinInt32} {
				for _, s := range []int32{shift, c.halveDelta(shift), c.scaleDelta(shift, 6, 7), c.scaleDelta(shift, 255, 1)} {
					if at := c.apply(guess, s); c.Raw(at) > c.Span {
						t.Fatalf("column %d: %d leads from %d to %d", i, s, guess, at)
					}
				}
			}
			if off := c.difference(v, guess); c.kind == frame.Angle && c.Span < math.MaxInt32 &&
				uint64(abs(off)) > (uint64(c.Span)+1)/2 {
				t.Fatalf("column %d: from %d to %d by %d, the longer way round", i, guess, v, off)
			}
			if c.kind == frame.Quantity && c.Span < math.MaxInt32 {
				if up, down := c.residualBounds(guess); int64(v)-int64(guess) > int64(up) || int64(guess)-int64(v) > int64(down) ||
					c.rangePart(guess) > 15 {
					t.Fatalf("column %d: residualBounds excludes the residual from %d to %d", i, guess, v)
				}
			}
		}
	}
}

// orderedFloat preserves the order of floats, and the delta of floats is their difference.
func TestFloats(t *testing.T) {
	c := fieldPlan{kind: frame.Float32, Range: column.Range{Span: math.MaxUint32}}
	bitsOf := func(v float64) int32 { return int32(math.Float32bits(float32(v))) }
	list := []float64{math.Inf(-1), -3e38, -1, -1e-40, 0, 1e-40, 1, 1.5, 3e38, math.Inf(1)}
	for i, v := range list[1:] {
		if orderedFloat(bitsOf(v)) <= orderedFloat(bitsOf(list[i])) {
			t.Errorf("%g does not come after %g", v, list[i])
		}
	}
	if got := c.apply(bitsOf(1.5), c.scaleDelta(c.delta(bitsOf(1), bitsOf(1.5)), 2, 6)); got != bitsOf(3) {
		t.Errorf("from 1 to 1.5 in 2 ticks leads to %g in 6 more, want 3", float(got))
	}
	if got := c.apply(bitsOf(3e38), bitsOf(3e38)); got != bitsOf(3e38) {
		t.Errorf("the delta to an infinite float gives %g", float(got))
	}
}

// A plan contains the position, rotation and shared statistics of a schema.
func TestPlan(t *testing.T) {
	p := newPlan(frame.Cubes(3))
	if len(p.position) != 3 || p.position[0] != frame.CubeX || p.rotation.enumField != frame.CubeLargest ||
		p.columns[frame.CubeC].statsField != frame.CubeA || len(p.rowFlags) != 1 {
		t.Errorf("plan of cubes: %+v", p)
	}
	none := frame.Cubes(3)
	none.Fields[frame.CubeB].Max++
	for i := range none.Fields {
		none.Fields[i].Unit = none.Fields[i].Name
	}
	if p := newPlan(none); len(p.position) != 0 || p.rotation.enumField != -1 {
		t.Errorf("plan without position and rotation: %+v", p)
	}
}

// Fields survive the conversion to a rotation and back, without any of the components; extrapolate
// continues a rotation as sine and cosine do.
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
		fields := p.rotation.components(&q, first)
		back := p.rotation.Decode(int32(first), fields[:])
		if again := p.rotation.components(&back, first); again != fields || near(q, back) > 1e-4 {
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

// distances finds the nearest mover; of too many movers, the fastest are kept.
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
		past.appendMotion(row, frame.CubeFields).delta[frame.CubeX] = int32(n + 1)
	}
	var around scene
	around.begin(p, base, past)
	if len(around.movers) != maxMovers || around.movers[around.fastestIndex].speed != 60 {
		t.Fatalf("%d movers, the fastest %+v", len(around.movers), around.movers[around.fastestIndex])
	}
	for row := range s.Rows {
		best, at := uint64(math.MaxUint64), around.positions[row]
		for n, other := range past.changedRows[60-maxMovers:] {
			if past.motionAt(60-maxMovers+n, p.fields).delta[frame.CubeX] > 0 && int(other) != row {
				there := around.positions[other]
				best = min(best, squaredDistance(&at, &there))
			}
		}
		if nearest, _ := around.distances(row, &at, slices.Contains(past.changedRows, int32(row))); nearest != uint32(bitLength64(best)) {
			t.Fatalf("row %d: %d half octaves, want %d", row, nearest, bitLength64(best))
		}
	}
}

// The vector routine finds the same distances as the Go code, for any number and distance of
// movers.
func TestNearestMatchesGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		s := frame.Cubes(1 + rng.IntN(60))
		p, base, past, far := newPlan(s), s.NewFrame(), &memo{}, int32(1)<<rng.IntN(31)
		for i := range base.Table {
			base.Table[i] = rng.Int32N(far) - rng.Int32N(far)
		}
		for _, row := range rng.Perm(s.Rows)[:rng.IntN(s.Rows+1)] {
			past.appendMotion(row, frame.CubeFields).delta[frame.CubeX] = rng.Int32N(100)
		}
		var around scene
		around.begin(p, base, past)
		if len(around.nearestDistance) > 0 && far > 1<<30 {
			t.Fatalf("the vector routine gets coordinate %d", far)
		}
		for row, n := range around.nearestDistance {
			best := uint64(math.MaxUint64)
			for i := range around.movers {
				best = min(best, squaredDistance(&around.positions[row], &around.movers[i].position))
			}
			if int(n) != bitLength64(best) {
				t.Fatalf("row %d: %d half octaves to one of %d movers, want %d", row, n, len(around.movers), bitLength64(best))
			}
		}
	}
}

func bitLength64(v uint64) (n int) {
	for ; v > 0; v >>= 1 {
		n++
	}
	return n
}

// The cost of rows that never change approaches zero, and a row that always changes does not raise
// it.
func TestUnchangedRowsAreCheap(t *testing.T) {
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
			t.Errorf("2000 unchanged rows take %d bytes", size)
		}
	}
	if size > 3 {
		t.Errorf("one row of 2000 that counts up takes %d bytes", size)
	}
}
