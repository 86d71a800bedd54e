package playout

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
)

// Angles are blended the shorter way around, also where they wrap.
func TestBetweenWraps(t *testing.T) {
	degrees := frame.Field{Kind: frame.Angle, Min: 0, Max: 719, Scale: 0.5} // 0 to 359.5
	signed := frame.Field{Kind: frame.Angle, Min: -180, Max: 179}
	for _, c := range []struct {
		f            *frame.Field
		a, b         int32
		weight, want float64
	}{
		{&degrees, 700, 20, 0.5, 0}, {&degrees, 20, 700, 0.25, 5}, {&degrees, 700, 20, 0.25, 355}, {&degrees, 0, 180, 0.5, 45},
		{&degrees, 719, 0, 0.5, 359.75}, {&signed, 170, -170, 0.5, -180}, {&signed, -170, 170, 0.25, -175}, {&signed, 10, 30, 0.5, 20},
		{&frame.Field{Max: 100, Scale: 0.1}, 10, 20, 0.5, 1.5}, // a quantity
	} {
		if got := Between(c.f, c.a, c.b, c.weight); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v of the way from %d to %d: %v, expected %v", c.weight, c.a, c.b, got, c.want)
		}
	}
	// Unit vectors have no wrap: the blended direction is the first one, turned by a fraction of the angle
	// between both.
	rng := rand.New(rand.NewPCG(28, 6))
	for range 10000 {
		f := frame.Field{Kind: frame.Angle, Min: -rng.Int32N(1000), Scale: math.Exp(rng.Float64()*6 - 3)}
		f.Max = f.Min + 2 + rng.Int32N(5000)
		turn := float64(f.Max-f.Min+1) * f.Scale
		if rng.IntN(3) == 0 {
			f = frame.Field{Kind: frame.Float32, Hint: frame.Hint{Turn: turn}}
		}
		value := func() int32 {
			if f.Kind == frame.Float32 {
				return int32(math.Float32bits(float32((rng.Float64() - 0.3) * 3 * turn)))
			}
			return f.Min + rng.Int32N(f.Max-f.Min+1)
		}
		a, b, weight := value(), value(), rng.Float64()
		radians := func(v float64) float64 { return v / turn * 2 * math.Pi }
		from, to := radians(f.InUnits(a)), radians(f.InUnits(b))
		between := math.Atan2(math.Cos(from)*math.Sin(to)-math.Sin(from)*math.Cos(to), math.Cos(from)*math.Cos(to)+math.Sin(from)*math.Sin(to))
		if math.Abs(between) > math.Pi-1e-4 {
			continue // both ways around are equally short
		}
		got := Between(&f, a, b, weight)
		want := from + between*weight
		if d := math.Hypot(math.Cos(radians(got))-math.Cos(want), math.Sin(radians(got))-math.Sin(want)); d > 1e-6 {
			t.Fatalf("%+v: %v of the way from %d to %d is %v, off by %v", f, weight, a, b, got, d)
		}
		if lowest := f.InUnits(f.Min); f.Kind == frame.Angle && (got < lowest-1e-9 || got > lowest+turn+1e-9) {
			t.Fatalf("%v is outside of the turn from %v to %v", got, lowest, lowest+turn)
		}
	}
}

// Positions and angles of the parts of a table are interpolated, and times that wrap are not.
func TestFindColumns(t *testing.T) {
	s := referenceTable()
	s.Fields = append(s.Fields, frame.Field{Name: "gun", Kind: frame.Float32, Hint: frame.Hint{Turn: 360}},
		frame.Field{Name: "clock", Unit: "ms", Kind: frame.Angle, Max: 999}, frame.Field{Name: "weight", Unit: "kg", Hint: frame.Hint{Role: frame.Position}},
		frame.Field{Name: "depth", Unit: "m", Kind: frame.Float32, Hint: frame.Hint{Role: frame.Position, Group: 3}},
		frame.Field{Name: "side", Unit: "m", Kind: frame.Flag, Hint: frame.Hint{Role: frame.Position, Group: 4}})
	s.Parts[1].Size = 6
	want := []bool{columnX: true, columnY: true, columnYaw: true, columnHeight: true, columns: true, columns + 3: true, columns + 4: false}
	c := FindColumns(s)
	for i, name := range s.Fields {
		if c.Interpolates(i) != want[i] {
			t.Errorf("%s: %t", name.Name, !want[i])
		}
	}
	s.Delivery = frame.Unreliable
	if FindColumns(s) != nil || FindColumns(frame.Cubes(1)) != nil || FindColumns(&frame.Schema{Fields: s.Fields[:2]}) != nil {
		t.Error("messages, cubes or flags are interpolated as a table")
	}
}

// The copies of a table are cut off unless it has positions, which are drawn as a map. Nothing is displayed
// before the first snapshot arrives, and a Counter counts the same ticks.
func TestFramesAreCutOff(t *testing.T) {
	for _, role := range []frame.Role{frame.NoRole, frame.Position} {
		s := &frame.Schema{Rows: maxCells + 3, TickHz: 60, Fields: []frame.Field{{Name: "x", Max: 9, Hint: frame.Hint{Role: role}}}}
		c, h := endpoint.Cadence{TickHz: 60, RateHz: 60}, frame.NewHistory(8)
		d, counter := New(s, c, h, nil), NewCounter(c, h)
		sent := s.NewFrame()
		if f := d.Frames(s, sent, 0); f.Shown != nil || len(f.Sent.Table) != map[frame.Role]int{frame.NoRole: maxCells, frame.Position: s.Rows}[role] {
			t.Errorf("role %v: %d cells are copied", role, len(f.Sent.Table))
		}
		h.Put(0).Frame.CopyFrom(sent)
		counter.Arrive(0, 0)
		counter.Tick(time.Second / 60)
		if n := counter.Counts(); n.Shown != 1 || n.Starved != 1 {
			t.Errorf("%+v are counted", n)
		}
	}
}
