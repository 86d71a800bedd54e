package playout

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"wirelab/dataset/frame"
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
	// Unit vectors have no wrap: the blended direction is the first one, turned by a fraction of the angle between both.
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

// The errors do not depend on whether the changed rows are known or all rows are compared.
func TestErrorsOfChangedRowsAreAllErrors(t *testing.T) {
	s := &frame.Schema{Name: "table", Item: "tank", Rows: 40, TickHz: 60, Fields: []frame.Field{
		{Name: "x", Max: 1 << 20, Hint: frame.Hint{Role: frame.Position, Group: 1}}, {Name: "health", Max: 1 << 20},
		{Name: "y", Max: 1 << 20, Hint: frame.Hint{Role: frame.Position, Group: 1, Axis: 1}}, {Name: "yaw", Kind: frame.Angle, Max: 359},
		{Name: "gun", Kind: frame.Float32, Hint: frame.Hint{Turn: 360}}, {Name: "clock", Unit: "ms", Kind: frame.Angle, Max: 999}},
		Parts: []frame.Part{{Name: "tank", Row: 2, Rows: 30, Field: 0, Size: 4}, {Name: "gun", Row: 32, Rows: 5, Field: 4, Size: 1}}}
	if c := FindColumns(s); c.Interpolates(1) || c.Interpolates(5) || !c.Interpolates(2) || !c.Interpolates(4) {
		t.Errorf("%+v", c)
	}
	measure := func(exact, hermite bool) *fixture {
		rng := rand.New(rand.NewPCG(1, 2))
		table := make([]int32, s.Cells())
		r := newFixture(t, s, 10, func(f *frame.Frame) {
			for range 20 { // changes one value in 40 rows
				if i := rng.IntN(len(table)); i%6 == 4 {
					table[i] = int32(math.Float32bits(float32(rng.IntN(3600)) / 10))
				} else {
					table[i] = (table[i] + rng.Int32N(300)) % 360
				}
			}
			copy(f.Table, table)
		})
		r.display.Set(Fixed(250*time.Millisecond), Rhythm{}, hermite)
		for range 600 {
			r.tick(func(seq uint64, now time.Duration) {
				r.inexact[seq] = !exact
				if rng.IntN(10) > 0 {
					r.coming = append(r.coming, delivery{at: now + 30*time.Millisecond, seq: seq})
				}
			})
		}
		return r
	}
	for _, hermite := range []bool{false, true} {
		a, b := measure(true, hermite), measure(false, hermite)
		if a.measured.Count() == 0 || !reflect.DeepEqual(a.measured, b.measured) {
			t.Errorf("%d errors of changed rows, %d of all rows", a.measured.Count(), b.measured.Count())
		}
	}
}
