package walkoff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/encoders"
	encodertable "wirelab/encoders/table"
)

// walkSchema is the schema of walkLog; scale is that of x and y.
func walkSchema(scale float64) string {
	text := "item = \"tank\"\nrate_hz = 20\nrows = 4\n"
	for _, name := range []string{"x", "y"} {
		text += fmt.Sprintf("[[field]]\nname = %q\nkind = \"quantity\"\nrange = [-90, 90]\nunit = \"m\"\nscale = %v\n", name, scale)
	}
	return text + "[[field]]\nname = \"yaw\"\nkind = \"angle\"\nrange = [0, 360]\nscale = 0.5\nunit = \"deg\"\n"
}

// walkLog returns random walks of four tanks, with positions of two decimals.
func walkLog() string {
	rng := rand.New(rand.NewPCG(28, 7))
	var b strings.Builder
	b.WriteString("x,y,yaw\n")
	var at [4][3]float64
	for range 200 {
		for i := range at {
			p := &at[i]
			p[0], p[1], p[2] = p[0]+rng.Float64()-0.5, p[1]+rng.Float64()-0.5, p[2]+10*rng.Float64()
			fmt.Fprintf(&b, "%.2f,%.2f,%.4f\n", p[0], p[1], math.Mod(p[2], 360))
		}
	}
	return b.String()
}

// write writes a schema and the records of walkLog, and returns the layout and the path of the records.
func write(t *testing.T, schema string) (*table.Layout, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "walk.csv")
	noError(t, os.WriteFile(path, []byte(walkLog()), 0o600))
	l := must(table.ParseLayout("walk.toml", []byte(schema)))
	return l, path
}

// newSearch returns a search for the scales of groups of fields with the given tolerances.
func newSearch(t *testing.T, groups map[float64][]int) *ScaleSearch {
	t.Helper()
	codec := must(encodertable.ByName("delta-adaptive"))
	l, path := write(t, walkSchema(0.01))
	s := &ScaleSearch{Spec: "walk", Layout: l, Path: path, Codec: codec, Clock: func() time.Duration { return 0 }}
	for _, i := range []float64{0.015, 1} {
		if indices := groups[i]; indices != nil {
			s.Groups = append(s.Groups, NewScaleGroup(l.Schema, indices, i))
		}
	}
	return s
}

// A log in hundredths can be rounded to multiples of 0.03, which are at most 0.01 off on each axis and
// 0.0141 on two. That is coarser than the 0.0212 with which no distance is above 0.015. The sizes are
// those of a walk-off with a schema that has the scale.
func TestCheapestScale(t *testing.T) {
	s := newSearch(t, map[float64][]int{0.015: {0, 1}, 1: {2}})
	r := must(s.Run(t.Context()))
	place, yaw := r.Groups[0], r.Groups[1]
	if math.Abs(place.BestScale-0.03) > 1e-12 || place.Scale != 0.01 || yaw.BestScale != 2 || r.BestKbps >= r.Kbps {
		t.Errorf("%+v", r)
	}
	for _, g := range r.Groups {
		last := 0.0
		for _, p := range g.Curve {
			if p.Scale <= last || p.Max > p.Scale/2*math.Sqrt(float64(len(g.Fields)))*(1+1e-8) || p.Mean > p.Max || p.P99 > p.Max || p.Within != (p.Max <= g.Tolerance*(1+1e-8)) {
				t.Errorf("%v: %+v after %v", g.Fields, p, last)
			}
			if p.Within && p.Kbps < r.BestKbps && g.BestScale != p.Scale && g.Fields[0] == "yaw" {
				t.Errorf("%v: %+v is cheaper than the best, %v kbps", g.Fields, p, r.BestKbps)
			}
			last = p.Scale
			if p.Scale == 0.03 && math.Abs(p.Max-0.01*math.Sqrt2) > 1e-9 {
				t.Errorf("multiples of 0.03 are %v off", p.Max)
			}
		}
	}
	// The angles are uniform: a quarter of the scale is lost on average.
	for _, p := range yaw.Curve {
		if math.Abs(p.Mean/(p.Scale/4)-1) > 0.1 {
			t.Errorf("steps of %v deg lose %v on average, expected %v", p.Scale, p.Mean, p.Scale/4)
		}
	}
	l, path := write(t, strings.Replace(walkSchema(0.03), "scale = 0.5", "scale = 2", 1))
	open := func() (dataset.Source, error) { return l.Open(path, false) }
	board := must(Run(t.Context(), "walk", open, []*encoders.Codec{s.Codec}, Options{Clock: s.Clock}))
	if got := board.Results[0].Kbps; got != r.BestKbps || board.Dataset.Frames != r.Frames {
		t.Errorf("%v kbps, the walk-off has %v", r.BestKbps, got)
	}
}

// A search whose tolerance no scale keeps ends with a sentence.
func TestImpossibleSearches(t *testing.T) {
	s := newSearch(t, map[float64][]int{1: {2}})
	s.Groups[0].Tolerance = 1e-11
	if _, err := s.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "no scale of [yaw] keeps the tolerance 1e-11 deg") {
		t.Error(err)
	}
}

// The axes of a position have one error, which is a distance: those with one group, or else two or three
// quantities with a unit. Without a tolerance it is that of the scale.
func TestAxes(t *testing.T) {
	s := &frame.Schema{}
	for _, f := range []struct {
		name, unit string
		group      uint8
	}{{"x1", "m", 1}, {"x2", "m", 2}, {"y1", "m", 1}, {"z1", "cm", 1}, {"w", "m", 0}, {"ammo", "", 0}, {"y2", "m", 2}} {
		field := frame.Field{Name: f.name, Unit: f.unit, Scale: 0.5, Max: 9}
		if f.group > 0 {
			field.Hint = frame.Hint{Role: frame.Position, Group: f.group}
		}
		s.Fields = append(s.Fields, field)
	}
	for _, c := range []struct {
		columns []int
		axes    string
		largest float64
	}{{[]int{0, 1, 2, 6, 4}, "[[x1 y1] [x2 y2] [w]]", 0.25 * math.Sqrt2}, {[]int{4}, "[[w]]", 0.25}, {[]int{4, 4, 4}, "[[w w w]]", 0.25 * math.Sqrt(3)},
		{[]int{5, 5}, "[[ammo] [ammo]]", 0.25}, {[]int{4, 4, 4, 4}, "[[w] [w] [w] [w]]", 0.25}, {[]int{0, 3}, "[[x1] [z1]]", 0.25}} {
		if g := NewScaleGroup(s, c.columns, 0); fmt.Sprint(g.Axes) != c.axes || math.Abs(g.Tolerance-c.largest) > 1e-12 {
			t.Errorf("columns %v: axes %v, tolerance %v, expected %s and %v", c.columns, g.Axes, g.Tolerance, c.axes, c.largest)
		}
	}
}
