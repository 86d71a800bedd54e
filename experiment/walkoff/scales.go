package walkoff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/encoders"
	"wirelab/internal/wallclock"
)

// ScaleGroup is a set of fields that share a scale, such as the coordinates of a position.
type ScaleGroup struct {
	Fields    []string     `json:"fields"`
	Unit      string       `json:"unit"`
	Tolerance float64      `json:"tolerance"`  // the largest rounding error that is allowed; of axes it is a distance
	Scale     float64      `json:"scale"`      // of the schema
	BestScale float64      `json:"best_scale"` // the one with the smallest size within the tolerance
	Curve     []scalePoint `json:"curve"`      // in order of the scale

	Axes [][]string `json:"axes"` // the fields of each point: the axes of a position, or a field alone

	indices  []int   // of Fields in the schema
	points   [][]int // of Axes in the schema
	diagonal float64 // largest error of a point, relative to the largest one of an axis
}

// scalePoint is one scale of a group. The other groups have the scales that were the best so far.
type scalePoint struct {
	Scale  float64 `json:"scale"`
	Max    float64 `json:"max"` // rounding errors: the largest of each figure over ScaleGroup.Axes
	Mean   float64 `json:"mean"`
	P99    float64 `json:"p99"`
	Kbps   float64 `json:"kbps"`
	Within bool    `json:"within"` // Max is at most the tolerance
}

// ScaleSearch finds the cheapest scales of the fields of a table under given tolerances. It encodes the
// table with each scale that it tries, and measures the rounding errors of the same frames. Its exported
// fields must be set.
type ScaleSearch struct {
	Spec     string // name of the data, for errors
	Layout   *table.Layout
	Path     string // of the records, which must be text
	Codec    *encoders.Codec
	Frames   int // number of frames to encode, as in Options; 0 means all
	Clock    wallclock.Clock
	Progress func(done, total float64) // called after each scale; total is an estimate
	Groups   []ScaleGroup              // with their tolerances; see NewScaleGroup

	scales      map[int]float64 // by field: the best so far
	done, total float64
}

// ScaleResult is what a search has found. Sizes are by the rules of a walk-off.
type ScaleResult struct {
	Frames   int          `json:"frames"`
	Kbps     float64      `json:"kbps"`      // with the scales of the schema
	BestKbps float64      `json:"best_kbps"` // with the best scales
	Groups   []ScaleGroup `json:"groups"`
}

// NewScaleGroup returns a group of fields of s, which must be quantities or angles. A tolerance of 0
// means the largest error of the scale in s. Two or three quantities with a unit are the axes of a
// position if no role says otherwise.
func NewScaleGroup(s *frame.Schema, indices []int, tolerance float64) ScaleGroup {
	first := &s.Fields[indices[0]]
	g := ScaleGroup{Fields: s.Names(indices), Unit: first.Unit, Tolerance: tolerance, Scale: first.Step(),
		indices: indices, points: s.Points(indices)}
	if len(indices) <= 3 && first.Kind == frame.Quantity && first.Unit != "" &&
		first.Hint.Role == frame.NoRole {
		g.points = [][]int{indices}
	}
	for _, axes := range g.points {
		g.Axes = append(g.Axes, s.Names(axes))
		g.diagonal = max(g.diagonal, math.Sqrt(float64(len(axes))))
	}
	if tolerance == 0 {
		g.Tolerance = g.Scale / 2 * g.diagonal
	}
	return g
}

// safeScale returns the largest scale that never rounds by more than the tolerance.
func (g *ScaleGroup) safeScale() float64 { return 2 * g.Tolerance / g.diagonal }

// scaleCost is the size and the rounding errors of the table with certain scales.
type scaleCost struct {
	frames    int
	kbps      float64
	precision []dataset.Precision
}

// Run measures the scales of every group, one group after the other, and keeps the best of each.
func (s *ScaleSearch) Run(ctx context.Context) (*ScaleResult, error) {
	s.total = float64(1 + len(s.Groups)*(len(ladder)+2))
	before, err := s.measure(ctx, nil)
	if err != nil {
		return nil, err
	}
	r := &ScaleResult{Frames: before.frames, Kbps: before.kbps, Groups: s.Groups}
	grids, err := s.findGrids(ctx)
	if err != nil {
		return nil, err
	}
	s.scales = map[int]float64{}
	for i := range s.Groups {
		s.setScale(s.scales, &s.Groups[i], s.Groups[i].safeScale())
	}
	for i := range s.Groups {
		if r.BestKbps, err = s.searchGroup(ctx, &s.Groups[i], grids[i]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// setScale sets the scale of all fields of a group in scales.
func (s *ScaleSearch) setScale(scales map[int]float64, g *ScaleGroup, scale float64) {
	for _, i := range g.indices {
		scales[i] = scale
	}
}

// ladder are the scales of a curve, relative to ScaleGroup.safeScale.
var ladder = []float64{1. / 8, 1. / 4, 1. / 2, 1, 2, 4, 8}

// searchGroup measures the scales of a group, sets its curve and its best scale, and returns the size
// with it. grid is a number of which all values of the group are multiples; 0 if none is known.
func (s *ScaleSearch) searchGroup(ctx context.Context, g *ScaleGroup, grid float64) (kbps float64,
	err error) {
	var candidates []float64
	for _, factor := range ladder {
		candidates = append(candidates, factor*g.safeScale())
	}
	candidates = append(candidates, g.Scale)
	if grid > 0 {
		// With a scale of 2n+1 grid steps, a multiple of the grid is at most n of them from a multiple of the
		// scale. The largest n within the tolerance allows a scale above the safe one.
		candidates = append(candidates, grid*(2*math.Floor(g.safeScale()/2/grid+1e-9)+1))
	}
	slices.Sort(candidates)
	candidates = slices.CompactFunc(candidates, equalScales)
	for _, scale := range candidates {
		p, err := s.measurePoint(ctx, g, scale)
		if errors.Is(err, errImpossible) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if n := len(g.Curve); n > 0 && equalScales(p.Scale, g.Curve[n-1].Scale) {
			continue // scales of angles that divide the turn may coincide
		}
		g.Curve = append(g.Curve, p)
		if p.Within && (g.BestScale == 0 || p.Kbps < kbps) {
			g.BestScale, kbps = p.Scale, p.Kbps
		}
	}
	if g.BestScale == 0 {
		return 0, fmt.Errorf("no scale of %v keeps the tolerance %g %s", g.Fields, g.Tolerance, g.Unit)
	}
	s.setScale(s.scales, g, g.BestScale)
	return kbps, nil
}

// equalScales reports whether two scales are equal but for rounding errors.
func equalScales(a, b float64) bool { return math.Abs(a/b-1) < 1e-9 }

// measurePoint measures one scale of a group, with the best scales so far of the others.
func (s *ScaleSearch) measurePoint(ctx context.Context, g *ScaleGroup, scale float64) (p scalePoint,
	err error) {
	scales := maps.Clone(s.scales)
	s.setScale(scales, g, scale)
	m, err := s.measure(ctx, scales)
	if err != nil {
		return p, err
	}
	p.Kbps = m.kbps
	for _, axes := range g.Axes {
		name := strings.Join(axes, ", ")
		x := &m.precision[slices.IndexFunc(m.precision,
			func(p dataset.Precision) bool { return p.Field == name })]
		if x.Max == nil {
			return p, fmt.Errorf("%s: the rounding errors of %s are unknown", s.Spec, x.Field)
		}
		p.Scale, p.Max, p.Mean, p.P99 = x.Scale, max(p.Max, *x.Max), max(p.Mean, *x.Mean), max(p.P99, *x.P99)
	}
	p.Within = p.Max <= g.Tolerance*(1+1e-8) // figures have nine digits
	return p, nil
}

// errImpossible means that a field cannot have a scale: its range would have less than two steps, or too
// many.
var errImpossible = errors.New("impossible scale")

// open returns an opener of the table with the given scales.
func (s *ScaleSearch) open(scales map[int]float64) (Open, error) {
	l, err := s.Layout.Rescaled(scales)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errImpossible, err)
	}
	l.Axes = nil
	for i := range s.Groups {
		for _, axes := range s.Groups[i].points {
			if len(axes) > 1 {
				l.Axes = append(l.Axes, axes)
			}
		}
	}
	return func() (dataset.Source, error) { return l.Open(s.Path, false) }, nil
}

// measure encodes the table with the given scales, and reports progress.
func (s *ScaleSearch) measure(ctx context.Context, scales map[int]float64) (m scaleCost, err error) {
	open, err := s.open(scales)
	if err != nil {
		return m, err
	}
	board, err := Run(ctx, s.Spec, open, []*encoders.Codec{s.Codec}, Options{Frames: s.Frames,
		Clock: s.Clock})
	if err != nil {
		return m, err
	}
	if failed := board.Failed(); len(failed) > 0 {
		return m, errors.New(failed[0])
	}
	s.done++
	if s.Progress != nil {
		s.Progress(min(s.done, s.total), s.total) // total is an estimate that done may exceed
	}
	data := &board.Dataset
	return scaleCost{frames: data.Frames, kbps: board.Results[0].Kbps, precision: data.Precision}, nil
}

// findGrids returns for each group the largest power of ten of which all values are multiples, at least
// a hundredth of the tolerance; 0 if no power is found. Logs are often written with a fixed number of
// decimals. For angles it is 0.
func (s *ScaleSearch) findGrids(ctx context.Context) ([]float64, error) {
	const below = 100 // of the tolerance: a finer grid saves nothing
	grids := make([]float64, len(s.Groups))
	for exp := 3; exp >= -9; exp-- {
		step := math.Pow10(exp)
		scales := map[int]float64{}
		for i := range s.Groups {
			g := &s.Groups[i]
			if grids[i] > 0 || step < g.Tolerance/below ||
				s.Layout.Schema.Fields[g.indices[0]].Kind != frame.Quantity {
				continue
			}
			own := map[int]float64{}
			s.setScale(own, g, step)
			if _, err := s.Layout.Rescaled(own); err == nil {
				s.setScale(scales, g, step)
			}
		}
		if len(scales) == 0 {
			continue
		}
		precision, err := s.readErrors(ctx, scales)
		if err != nil {
			return nil, err
		}
		for i := range s.Groups {
			g := &s.Groups[i]
			exact := func(k int) bool { return precision[k].Max != nil && *precision[k].Max == 0 }
			if _, tried := scales[g.indices[0]]; tried && !slices.ContainsFunc(g.indices,
				func(k int) bool { return !exact(k) }) {
				grids[i] = step
			}
		}
	}
	return grids, nil
}

// readErrors returns the rounding errors of the table with the given scales, without encoding it.
func (s *ScaleSearch) readErrors(ctx context.Context, scales map[int]float64) ([]dataset.Precision, error) {
	open, err := s.open(scales)
	if err != nil {
		return nil, err
	}
	src, err := open()
	if err != nil {
		return nil, err
	}
	defer src.(io.Closer).Close()
	f := src.Schema().NewFrame()
	if _, err := dataset.Read(ctx, src, f, max(s.Frames-Delay, 0),
		func(int) error { return nil }); err != nil {
		return nil, err
	}
	return src.(dataset.Rounded).Precision(), nil
}
