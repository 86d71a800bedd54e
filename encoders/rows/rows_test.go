package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rotation"
)

// A plan contains the position, rotation and shared statistics of a schema.
func TestPlan(t *testing.T) {
	p := newPlan(frame.Cubes(3), defaultMemory)
	if len(p.position) != 3 || p.position[0] != frame.CubeX || p.rotation.enumField != frame.CubeLargest ||
		p.columns[frame.CubeC].statsField != frame.CubeA {
		t.Errorf("plan of cubes: %+v", p)
	}
	none := frame.Cubes(3)
	none.Fields[frame.CubeB].Max++
	for i := range none.Fields {
		none.Fields[i].Unit = none.Fields[i].Name
	}
	if p := newPlan(none, defaultMemory); len(p.position) != 0 || p.rotation.enumField != -1 {
		t.Errorf("plan without position and rotation: %+v", p)
	}
}

// Fields survive the conversion to a rotation and back, without any of the components; extrapolate
// continues a rotation as sine and cosine do.
func TestRotation(t *testing.T) {
	p := newPlan(frame.Cubes(1), defaultMemory)
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

// nearest finds the nearest mover; of too many movers, the fastest are kept.
func TestScene(t *testing.T) {
	s := frame.Cubes(200)
	p := newPlan(s, defaultMemory)
	base, past := s.NewFrame(), newMemo(p, defaultMemory)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range base.Table {
		base.Table[i] = rng.Int32N(10000)
	}
	rows := rng.Perm(s.Rows)[:60] // the later ones are faster
	for n, row := range rows {
		past.changedRows = append(past.changedRows, int32(row))
		slot := past.claimSlot(row, &p.parts[0], base.Table[row*p.fields:])
		x := &past.slotCells(slot, &p.parts[0])[frame.CubeX]
		x.old += int32(n + 1)
		x.changes = 1
	}
	around := scene{plan: p}
	around.begin(base.Table, past)
	for row := range s.Rows {
		at, least := p.positionOf(base.Table, row), uint64(math.MaxInt64)
		for _, other := range rows[len(rows)-maxMovers:] {
			if there := p.positionOf(base.Table, other); other != row {
				least = min(least, squaredDistance(&at, &there))
			}
		}
		if got := around.nearest(base.Table, row); got != uint32(bitLength64(least)) {
			t.Fatalf("row %d: %d half octaves, want %d", row, got, bitLength64(least))
		}
	}
	around.begin(base.Table, newMemo(p, defaultMemory))
	if got := around.nearest(base.Table, 0); got != noMover {
		t.Errorf("%d half octaves without movers", got)
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

// A value is the guess plus the residual, for every kind and range; of angles the residual goes the shorter
// way round.
func TestDifference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []frame.Kind{frame.Quantity, frame.Angle} {
		for _, r := range [][2]int32{{0, 1}, {-5, 5}, {7, 7}, {-1 << 17, 1<<17 - 1}, {0, math.MaxInt32}, {math.MinInt32, 0}, {math.MinInt32, math.MaxInt32}} {
			fields := []frame.Field{{Kind: kind, Min: r[0], Max: r[1]}}
			c := newFieldPlan(fields, 0)
			for range 2000 {
				v, guess := randomValue(rng, &fields[0]), randomValue(rng, &fields[0])
				d := c.difference(int64(v), int64(guess))
				got := int64(guess + d)
				if kind == frame.Angle {
					got = c.wrapIndex(int64(guess) + int64(d))
					if abs(int64(d)) > c.period/2 {
						t.Fatalf("from %d to %d of %v by %d, the longer way round", guess, v, r, d)
					}
				}
				if got != int64(v) || c.rangePart(guess) > 15 {
					t.Fatalf("%d from %d of %v by %d comes to %d", v, guess, r, d, got)
				}
			}
		}
	}
}
