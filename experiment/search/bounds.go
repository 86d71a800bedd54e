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

	excess      float64 // see the function excess
	worstBreaks bool    // Worst violates the bound, which the mean may keep
}

// text describes the figure: "wrong 2.47 ± 0.27, worst 2.7".
func (r *boundResult) text() string {
	text := r.Figure + " " + r.Measured.Significant(3)
	if r.worstBreaks && r.Worst != r.Measured.Mean {
		text += ", worst " + units.Significant(r.Worst, 3)
	}
	return text
}

// excess returns the difference of the figure got and the value of bound a, divided by the larger of the
// two. It is negative if got keeps the bound.
func excess(a config.Assertion, got float64) float64 {
	distance := math.Abs(got-a.Value) / max(math.Abs(a.Value), math.Abs(got), 1e-9) // 1e-9: never divide by 0
	if a.Holds(got) {
		return -distance
	}
	return distance
}

// appliesToMeans reports whether bound a applies to the mean over the seeds. Bounds with == and != apply
// to every seed in any case: a mean does not show whether each figure is equal.
func (s *search) appliesToMeans(a config.Assertion) bool {
	return s.spec.Bounds != config.EachSeed && a.Op != "==" && a.Op != "!="
}

// worst returns the value that violates bound a most or, if none violates it, that is closest to it.
func worst(a config.Assertion, values []float64) float64 {
	return slices.MaxFunc(values, func(v, w float64) int { return cmp.Compare(excess(a, v), excess(a, w)) })
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
		values := t.values(toMinimise + 1 + b)
		if !s.appliesToMeans(a) {
			sum += max(excess(a, worst(a, values)), 0)
		} else if by := excess(a, mean(values)); by > slack {
			sum += by
		}
	}
	return sum
}

// boundResults returns what a setting measured of each bounded figure over the seeds so far, and a
// description of the bounds that it violates, or of why it has no figures; "" if it keeps all.
func (s *search) boundResults(t *trial) (list []boundResult, violations string) {
	problem := t.problem()
	var broken []string
	for b, a := range s.spec.Subject {
		r := boundResult{Figure: a.Name, Bound: a.Text()}
		if problem == "" {
			values := t.values(toMinimise + 1 + b)
			r.Measured = figures.MeanOf(a.Name, values)
			r.Worst = worst(a, values)
			got := r.Worst
			if s.appliesToMeans(a) {
				got = r.Measured.Mean
				lo, hi, known := r.Measured.Bounds()
				r.Close = known && a.Holds(lo) != a.Holds(hi)
			}
			r.Holds, r.worstBreaks = a.Holds(got), !a.Holds(r.Worst)
			r.excess = excess(a, got)
			if !r.Holds {
				broken = append(broken, r.text()+", "+missText(a, got))
			}
		}
		list = append(list, r)
	}
	return list, cmp.Or(problem, strings.Join(broken, "; "))
}

// missText describes how the figure got violates bound a.
func missText(a config.Assertion, got float64) string {
	if got != a.Value {
		return fmt.Sprintf("misses %s by %s", a.Text(), units.Significant(math.Abs(got-a.Value), 3))
	}
	relation := map[string]string{"<": "must be below", ">": "must be above", "!=": "must not be"}[a.Op]
	return relation + strings.TrimPrefix(a.Text(), a.Op)
}

// BoundsText returns "breaks" and the violations, or "ok" and the figure that is closest to its bound, unless
// every bound is met exactly. It is "" without bounds.
func (c *Candidate) BoundsText() string {
	if len(c.Bounds) == 0 {
		return ""
	}
	if c.Violations != "" {
		return "breaks: " + c.Violations
	}
	text, closest := "ok", math.Inf(-1)
	for i := range c.Bounds {
		if b := &c.Bounds[i]; b.excess < 0 && b.excess > closest {
			text = "ok: " + b.text()
			closest = b.excess
		}
	}
	return text
}
