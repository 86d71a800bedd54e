package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// boundResult is a bound with the figure that a setting measured.
type boundResult struct {
	Figure string `json:"figure"`
	Bound  string `json:"bound"` // operator and value

	// Measured is the mean over the seeds with its interval. Worst is the figure of the seed that violates the
	// bound most or, if none violates it, that is closest to it. Both are 0 if a run does not have the figure.
	Measured figures.Mean `json:"measured"`
	Worst    float64      `json:"worst"`
	Holds    bool         `json:"holds"`

	// Close means that the interval of the mean contains the bound: more seeds may change Holds.
	Close bool `json:"close,omitempty"`

	margin      float64 // see distance
	worstBreaks bool    // Worst violates the bound, which the mean may keep
}

// excess returns by how much the figure got violates bound a, see distance; 0 if got keeps the bound.
func excess(a config.Assertion, got float64) float64 {
	if a.Holds(got) {
		return 0
	}
	return distance(a, got)
}

// distance returns the difference of the figure got and the value of bound a, divided by the larger of
// the two.
func distance(a config.Assertion, got float64) float64 {
	return math.Abs(got-a.Value) / max(math.Abs(a.Value), math.Abs(got), 1e-9) // 1e-9: never divide by 0
}

// appliesToMeans reports whether bound a applies to the mean over the seeds. Bounds with == and != apply
// to every seed in any case: a mean does not show whether each figure is equal.
func (s *search) appliesToMeans(a config.Assertion) bool {
	return s.spec.Bounds != config.EachSeed && a.Op != "==" && a.Op != "!="
}

// firstSlack is the excess of a mean over its bound that does not count with a single seed: the figure
// is twice its bound.
const firstSlack = 0.5

// violation returns by how much a setting violates the bounds over the seeds so far: the sum of the
// excesses of the means or, of bounds that apply to every seed, of the largest excesses. It is 0 if the
// setting keeps the bounds, and infinite if it cannot be run and measured. As long as seeds are missing,
// a small excess of a mean does not count, because the other seeds may compensate it.
func (s *search) violation(t *trial) (sum float64) {
	if t.problem() != "" {
		return math.Inf(1)
	}
	n := float64(len(t.runs))
	slack := firstSlack / math.Sqrt(n) * max(1-n/float64(s.seeds), 0)
	for b, a := range s.spec.Subject {
		list := t.bounded(b)
		if s.appliesToMeans(a) {
			if by := excess(a, mean(list)); by > slack {
				sum += by
			}
			continue
		}
		largest := 0.0
		for _, got := range list {
			largest = max(largest, excess(a, got))
		}
		sum += largest
	}
	return sum
}

// boundResults returns what a setting measured of each bounded figure over the seeds so far, and a
// description of the bounds that it violates, or of why it has no figures; "" if it keeps all.
func (s *search) boundResults(t *trial) (list []boundResult, violations string) {
	var broken []string
	for b, a := range s.spec.Subject {
		r := boundResult{Figure: a.Name, Bound: a.Text()}
		if t.problem() != "" {
			list = append(list, r)
			continue
		}
		values := t.bounded(b)
		r.Measured = figures.MeanOf(a.Name, values)
		r.Worst = slices.MaxFunc(values, func(v, w float64) int { // the largest excess, then the smallest distance
			return cmp.Or(cmp.Compare(excess(a, v), excess(a, w)), cmp.Compare(distance(a, w), distance(a, v)))
		})
		got, seed := r.Worst, ""
		if s.appliesToMeans(a) {
			got = r.Measured.Mean
			lo, hi, known := r.Measured.Bounds()
			r.Close = known && a.Holds(lo) != a.Holds(hi)
		} else if len(values) > 1 {
			seed = " with the worst seed"
		}
		r.Holds, r.margin, r.worstBreaks = a.Holds(got), distance(a, got), !a.Holds(r.Worst)
		if !r.Holds {
			broken = append(broken, fmt.Sprintf("%s is %s%s", r.Figure, units.Significant(got, 4), seed))
		}
		list = append(list, r)
	}
	return list, cmp.Or(t.problem(), strings.Join(broken, ", "))
}

// BoundsText returns "ok" or "breaks" with the figures: of the bounds that the candidate breaks or, if
// it keeps all, of the one that it is closest to, unless that is met exactly. It is "" without bounds.
func (c *Candidate) BoundsText() string {
	if len(c.Bounds) == 0 {
		return ""
	}
	measured := func(b *boundResult) string {
		text := b.Figure + " " + b.Measured.Significant(3)
		if b.worstBreaks && b.Worst != b.Measured.Mean {
			text += ", worst " + units.Significant(b.Worst, 3)
		}
		return text
	}
	var broken []string
	closest := -1
	for i := range c.Bounds {
		b := &c.Bounds[i]
		if !b.Holds {
			broken = append(broken, measured(b))
		} else if b.margin > 0 && (closest < 0 || b.margin < c.Bounds[closest].margin) {
			closest = i
		}
	}
	switch {
	case len(broken) > 0 && c.Bounds[0].Measured.N == 0:
		return "breaks: " + c.Violations // it could not be run, or lacks a figure
	case len(broken) > 0:
		return "breaks: " + strings.Join(broken, ", ")
	case closest >= 0:
		return "ok: " + measured(&c.Bounds[closest])
	}
	return "ok"
}
