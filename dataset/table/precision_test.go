package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
)

// precisionOf reads all records of a file and returns the precision of the field called name.
func precisionOf(t *testing.T, schema, file, records, name string) source.Precision {
	t.Helper()
	s, err := layoutOf(t, schema).Open(fileOf(t, file, []byte(records)), false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for f := s.Schema().NewFrame(); s.Next(f) == nil; {
	}
	for _, p := range s.Precision() {
		if p.Field == name {
			return p
		}
	}
	t.Fatalf("no field is called %s", name)
	return source.Precision{}
}

// Rounding errors of known sequences are those of their closed forms.
func TestPrecision(t *testing.T) {
	const head = "item = \"a\"\nrate_hz = 20\nrows = 1\n[[field]]\nname = \"v\"\n"
	count := func(n int, format string, value func(i int) float64) string { // a column of n values
		b := strings.Builder{}
		b.WriteString("v\n")
		for i := range n {
			fmt.Fprintf(&b, format+"\n", value(i))
		}
		return b.String()
	}
	thousandths := func(i int) float64 { return float64(i-5000) / 1000 }
	for _, c := range []struct {
		name, field, records string
		max, mean, p99       float64
	}{
		// Ten thousandths a step have the errors 0, 1, 2, 3, 4, 5, 4, 3, 2, 1.
		{"thousandths", "kind = \"quantity\"\nrange = [-5, 5]\nscale = 0.01", count(10000, "%.3f", thousandths), 0.005, 0.0025, 0.005},
		{"an angle that wraps", "kind = \"angle\"\nrange = [0, 1]\nscale = 0.01", count(10000, "%.3f", thousandths), 0.005, 0.0025, 0.005},
		// Hundredths are whole steps: nothing is lost, though 3*0.01 is not 0.03 in float64.
		{"whole steps", "kind = \"quantity\"\nrange = [-100, 100]\nscale = 0.01", count(10000, "%.2f", func(i int) float64 { return float64(i-5000) / 100 }), 0, 0, 0},
		{"integers", "kind = \"quantity\"\nrange = [0, 9999]", count(10000, "%.0f", func(i int) float64 { return float64(i) }), 0, 0, 0},
		// One value of 50 is off by 0.4, the others by 0.1: the 99th percentile is that of the one.
		{"rare errors", "kind = \"quantity\"\nrange = [0, 5000]", count(5000, "%.1f", func(i int) float64 {
			if i%50 == 0 {
				return float64(i) + 0.4
			}
			return float64(i) + 0.1
		}), 0.4, (0.4 + 49*0.1) / 50, 0.4},
		// Near 2^24 floats are whole numbers, so 0.25 is lost of each value.
		{"float32", "kind = \"float32\"", count(1000, "%.2f", func(i int) float64 { return float64(1<<23+i) + 0.25 }), 0.25, 0.25, 0.25},
		{"exact floats", "kind = \"float32\"", count(1000, "%.2f", func(i int) float64 { return float64(i) / 4 }), 0, 0, 0},
		{"a flag", "kind = \"flag\"", count(10, "%.0f", func(i int) float64 { return float64(i % 2) }), 0, 0, 0},
	} {
		p := precisionOf(t, head+c.field+"\n", "a.csv", c.records, "v")
		near := func(got *float64, want, relative float64) bool {
			return got != nil && math.Abs(*got-want) <= relative*want
		}
		if !near(p.Max, c.max, 1e-9) || !near(p.Mean, c.mean, 1e-9) || !near(p.P99, c.p99, 0.01) {
			t.Errorf("%s: max %v, mean %v, p99 %v, expected %v, %v, %v", c.name, *p.Max, *p.Mean, *p.P99, c.max, c.mean, c.p99)
		}
	}
	// In packed records the game has rounded before: unknown unless a step is one unit.
	frames := string(packedBytes([][]int32{{50, 0, 60, 1}}))
	if p := precisionOf(t, two, "a.bin", frames, "x"); p.Max != nil || p.Mean != nil || p.P99 != nil {
		t.Errorf("packed steps of %v: %v, expected unknown errors", p.Scale, *p.Max)
	}
	if p := precisionOf(t, two, "a.bin", frames, "on"); p.Max == nil || *p.Max != 0 {
		t.Error("a packed flag has an unknown error, expected 0")
	}
}

// With a tolerance no value of the range differs by more from the frame, for any range, kind, unit and value.
func TestTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 5))
	conversions := []struct {
		unit, tolerance string // of the field, of the key
		size            float64
	}{{"m", "m", 1}, {"m", "cm", 0.01}, {"cm", "mm", 0.1}, {"rad", "deg", math.Pi / 180}, {"deg", "deg", 1}, {"m/s", "km/h", 1 / 3.6}, {"", "", 1}, {"hp", "", 1}}
	for range 2000 {
		c := conversions[rng.IntN(len(conversions))]
		kind := []string{"quantity", "angle"}[rng.IntN(2)]
		lo := (rng.Float64() - 0.5) * 2000
		span := math.Exp(rng.Float64() * 8)
		number := span * math.Exp(-rng.Float64()*14-1.5) / c.size
		number, _ = parseDecimal([]byte(fmt.Sprintf("%.6f", number+1e-6)))
		limit := number * c.size // in the unit of the field
		schema := fmt.Sprintf("item = \"a\"\nrate_hz = 1\nrows = 1\n[[field]]\nname = \"v\"\nkind = %q\nrange = [%.9f, %.9f]\ntolerance = \"%.6f %s\"\n",
			kind, lo, lo+span, number, c.tolerance)
		if c.unit != "" {
			schema += fmt.Sprintf("unit = %q\n", c.unit)
		}
		l, err := ParseLayout("a.toml", []byte(schema))
		if err != nil {
			t.Fatalf("%v in\n%s", err, schema)
		}
		f := &l.Schema.Fields[0]
		for i := range 20 {
			logged := lo + span*rng.Float64()
			if i < 2 {
				logged = lo + span*float64(i) // the ends of the range
			}
			text := fmt.Sprintf("%.9f", logged)
			step, err := parseCell([]byte(text), f, nil)
			if err != nil {
				t.Fatalf("%s is refused: %v in\n%s", text, err, schema)
			}
			off := math.Abs(float64(step)*f.Scale - logged)
			if kind == "angle" { // the shorter way around
				off = math.Abs(math.Remainder(off, span))
			}
			if off > limit*(1+1e-8)+1e-8 {
				t.Fatalf("%s becomes %v, which is off by %v of %v %s, in\n%s", text, float64(step)*f.Scale, off, limit, c.unit, schema)
			}
		}
		again, err := ParseLayout("b.toml", l.Describe())
		if err != nil || again.Schema.Fields[0].Min != f.Min || again.Schema.Fields[0].Max != f.Max {
			t.Fatalf("described as\n%s\n%v", l.Describe(), err)
		}
	}
}

// The scale of a tolerance is the largest one, and a turn is a whole number of steps.
func TestScaleOfTolerance(t *testing.T) {
	for _, c := range []struct {
		text      string
		scale     float64
		min, max  int32
		wantError string
	}{
		{"kind = \"quantity\"\nrange = [-50, 50]\nunit = \"m\"\ntolerance = \"1 cm\"", 0.02, -2500, 2500, ""},
		{"kind = \"quantity\"\nrange = [-50, 50]\nunit = \"m\"\ntolerance = 0.01", 0.02, -2500, 2500, ""},
		{"kind = \"quantity\"\nrange = [0, 100]\ntolerance = \"0.5\"", 1, 0, 100, ""},
		{"kind = \"quantity\"\nrange = [0, 1]\ntolerance = 0.2", 0.4, 0, 3, ""}, // 1 is nearest to 1.2
		{"kind = \"angle\"\nrange = [0, 360]\nunit = \"deg\"\ntolerance = \"0.25 deg\"", 0.5, 0, 719, ""},
		{"kind = \"angle\"\nrange = [0, 360]\nunit = \"deg\"\ntolerance = 25", 45, 0, 7, ""}, // of 50 deg 7.2 are a turn
		{"kind = \"angle\"\nrange = [0, 6.283185307179586]\nunit = \"rad\"\ntolerance = \"1 deg\"", math.Pi / 90, 0, 179, ""},
		{"kind = \"quantity\"\nrange = [0, 1]\nscale = 0.1\ntolerance = 1", 0, 0, 0,
			"a.toml:9: field[0].tolerance: is a second way to set the steps, next to scale; expected one of both keys"},
		{"kind = \"quantity\"\nrange = [0, 1]\nunit = \"m\"\ntolerance = \"1 deg\"", 0, 0, 0,
			"a.toml:9: field[0].tolerance: \"1 deg\" has no value in the unit of the field, \"m\"; expected the largest rounding error in m or a unit that converts to it, such as \"0.5 m\""},
		{"kind = \"quantity\"\nrange = [0, 1]\ntolerance = \"1 cm\"", 0, 0, 0, "a.toml:8: field[0].tolerance: \"1 cm\" has no value in the unit of the field, \"\""},
		{"kind = \"quantity\"\nrange = [0, 1]\ntolerance = 0", 0, 0, 0, "a.toml:8: field[0].tolerance: 0 is not valid"},
		{"kind = \"quantity\"\nrange = [0, 1]\ntolerance = \"-1\"", 0, 0, 0, "a.toml:8: field[0].tolerance: \"-1\" is not valid"},
		{"kind = \"float32\"\ntolerance = 1", 0, 0, 0, "a.toml:7: field[0].tolerance: is not valid for a float32; expected nothing"},
		{"kind = \"flag\"\ntolerance = 1", 0, 0, 0, "a.toml:7: field[0].tolerance: is not valid for a flag"},
		{"kind = \"enum\"\nrange = [0, 9]\ntolerance = 1", 0, 0, 0, "a.toml:8: field[0].tolerance: is not valid for an enum"},
	} {
		l, err := ParseLayout("a.toml", []byte("item = \"a\"\nrate_hz = 1\nrows = 1\n[[field]]\nname = \"v\"\n"+c.text+"\n"))
		if c.wantError != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.wantError) {
				t.Errorf("%s\ngives the error %v,\nexpected       %s", c.text, err, c.wantError)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if f := l.Schema.Fields[0]; math.Abs(f.Scale/c.scale-1) > 1e-12 || f.Min != c.min || f.Max != c.max {
			t.Errorf("%s: scale %v, %d to %d, expected %v, %d to %d", c.text, f.Scale, f.Min, f.Max, c.scale, c.min, c.max)
		} else if again, err := ParseLayout("b.toml", l.Describe()); f.Tolerance == 0 || f.Kind == frame.Quantity && !reflect.DeepEqual(again, l) {
			t.Errorf("%s is described as\n%s%v", c.text, l.Describe(), err)
		}
	}
}

// The tolerance of a place is that of the distance over its axes, and the residuals of frames are what was rounded off.
func TestToleranceOfPlaces(t *testing.T) {
	schema, records := "item = \"a\"\nrate_hz = 20\nrows = 1\n", "x,y,z,v\n"
	for i, name := range []string{"x", "y", "z", "v"} {
		schema += fmt.Sprintf("[[field]]\nname = %q\nkind = \"quantity\"\nrange = [-9, 9]\nunit = \"m\"\ntolerance = \"30 cm\"\n", name)
		if i < 3 {
			schema += fmt.Sprintf("role = \"place\"\ngroup = 1\naxis = %d\n", i)
		}
	}
	rng := rand.New(rand.NewPCG(40, 2))
	var want [][4]float64
	for range 5000 {
		var v [4]float64
		for i := range v {
			v[i] = 18*rng.Float64() - 9
		}
		want = append(want, v)
		records += fmt.Sprintf("%v,%v,%v,%v\n", v[0], v[1], v[2], v[3])
	}
	s, err := layoutOf(t, schema).Open(fileOf(t, "a.csv", []byte(records)), false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, largest, alone := s.Schema().NewFrame(), 0.0, 0.0
	for n := 0; s.Next(f) == nil; n++ {
		square := 0.0
		for i, v := range want[n] {
			e := v - s.Schema().Fields[i].InUnits(f.Table[i])
			if math.Abs(e-float64(f.Residual[i])) > 1e-6 {
				t.Fatalf("frame %d, column %d: residual %v, expected %v", n, i, f.Residual[i], e)
			}
			if i < 3 {
				square += e * e
			} else {
				alone = max(alone, math.Abs(e))
			}
		}
		largest = max(largest, math.Sqrt(square))
	}
	if largest > 0.3 || largest < 0.27 || alone > 0.3 || alone < 0.299 {
		t.Errorf("a place is rounded by %v at most, another field by %v; expected 0.3", largest, alone)
	}
}
