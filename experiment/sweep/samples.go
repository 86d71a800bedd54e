package sweep

import (
	"io"
	"math"
	"slices"
	"sync"

	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// samples are the figures of the runs of a sweep so far. Its methods are safe for concurrent use.
type samples struct {
	Names []string // of the figures: the main ones and those of assertions
	plan  *Plan

	mu     sync.Mutex
	values [][]float64 // by run: each figure, NaN if the run does not have it; nil until the run is done
}

// newSamples returns samples without results.
func newSamples(p *Plan) *samples {
	s := &samples{plan: p, values: make([][]float64, p.Runs())}
	for _, r := range figures.Ranked(figures.Main) {
		s.Names = append(s.Names, r.Key)
	}
	for _, a := range p.Config.Assert {
		if !slices.Contains(s.Names, a.Name) {
			s.Names = append(s.Names, a.Name)
		}
	}
	return s
}

// add stores the figures of a run.
func (s *samples) add(o Outcome) {
	byName := figures.Flatten(o.Result.Totals)
	values := make([]float64, len(s.Names))
	for i, name := range s.Names {
		value, ok := byName[name]
		if !ok {
			value = math.NaN()
		}
		values[i] = value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[o.Run] = values
}

// seeds returns the number of results of a point.
func (s *samples) seeds(point int) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.pointRuns(point) {
		if v != nil {
			n++
		}
	}
	return n
}

// pointRuns returns the figures of the runs of a point, by seed. The caller holds s.mu.
func (s *samples) pointRuns(point int) [][]float64 {
	return s.values[point*s.plan.Repeat:][:s.plan.Repeat]
}

// Values returns a figure, an index in Names, of the results of a point, without results that lack it.
func (s *samples) Values(point, figure int) (list []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.pointRuns(point) {
		if v != nil && !math.IsNaN(v[figure]) {
			list = append(list, v[figure])
		}
	}
	return list
}

// Mean returns the mean of a figure over the results of a point that have it. Without one N is 0.
func (s *samples) Mean(point, figure int) figures.Mean {
	return figures.MeanOf(s.Names[figure], s.Values(point, figure))
}

// Ratio returns the ratio of a figure of a point to that of the point reference, over the seeds
// for which both points have it. Without such a seed N is 0.
func (s *samples) Ratio(point, reference, figure int) figures.Mean {
	s.mu.Lock()
	defer s.mu.Unlock()
	var x, y []float64
	others := s.pointRuns(reference)
	for seed, v := range s.pointRuns(point) {
		if other := others[seed]; v != nil && other != nil && !math.IsNaN(v[figure]) &&
			!math.IsNaN(other[figure]) {
			x = append(x, v[figure])
			y = append(y, other[figure])
		}
	}
	if len(x) == 0 {
		return figures.Mean{}
	}
	return figures.RatioOf(s.Names[figure], x, y)
}

// writeCSV writes one row for each point of list, in this order: its settings, the number of seeds, and
// for each figure the mean and the ratio to the point reference, both with their intervals. The last
// columns are 1 for approximate intervals of the means. Unknown values are empty. referenceName is the
// name of the reference in the heads.
func (s *samples) writeCSV(w io.Writer, list []int, reference int, referenceName string) error {
	var keys, columns, marks []string
	for _, axis := range s.plan.Config.Axes() {
		keys = append(keys, axis.Key)
	}
	for _, name := range s.Names {
		columns = append(columns, name, name+".lo", name+".hi", name+".ratio_to_"+referenceName,
			name+".ratio_lo", name+".ratio_hi")
		marks = append(marks, name+".approximate")
	}
	t := texttable.New(slices.Concat(keys, []string{"seeds"}, columns, marks)...)
	for _, point := range list {
		var row []string
		for f := range s.Names {
			m, ratio := s.Mean(point, f), figures.Mean{} // the reference has no ratio to itself
			if point != reference {
				ratio = s.Ratio(point, reference, f)
			}
			row = append(append(row, csvCells(m)...), csvCells(ratio)...)
			marks[f] = ""
			if m.N > 0 && m.Approximate {
				marks[f] = "1"
			}
		}
		t.Add(valuesOf(keys, s.plan.Points[point].Set), s.seeds(point), row, marks)
	}
	return t.WriteCSV(w)
}

// csvCells returns mean, lo and hi of a figure as CSV cells, which are empty if unknown.
func csvCells(m figures.Mean) []string {
	if m.N == 0 {
		return []string{"", "", ""}
	}
	const allDigits = -1
	row := []string{units.General(m.Mean, allDigits), "", ""}
	if m.Lo != nil {
		row[1] = units.General(*m.Lo, allDigits)
		row[2] = units.General(*m.Hi, allDigits)
	}
	return row
}
