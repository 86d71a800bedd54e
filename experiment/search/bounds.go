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

// distance returns the difference of the figure got and the value of bound a, divided by the larger of the two.
func distance(a config.Assertion, got float64) float64 {
	return math.Abs(got-a.Value) / max(math.Abs(a.Value), math.Abs(got), 1e-9) // 1e-9: never divide by 0
}

// appliesToMeans reports whether bound a applies to the mean over the seeds. Bounds with == and != apply to every
// seed in any case: a mean does not show whether each figure is equal.
func (s *search) appliesToMeans(a config.Assertion) bool {
	return s.spec.Bounds != config.EachSeed && a.Op != "==" && a.Op != "!="
}

// boundedBySeed returns the figure of bound b, an index of spec.Subject, of setting x for each of the first seeds with
// which the setting was run for the whole duration. It is the counterpart of figureBySeed.
func (s *search) boundedBySeed(x setting, b, seeds int) (list []float64) {
	for seed := range seeds {
		if v, ok := s.outcomes[jobKey(completeRun(x, seed))]; ok && b < len(v.Bounded) {
			list = append(list, v.Bounded[b])
		}
	}
	return list
}

// violation returns by how much setting x violates the bounds over the first seeds with which it was run for the whole
// duration; 0 if it keeps them. It is the largest violation with any seed, see outcome.Violation, or, if bounds apply to
// means, the sum of the excesses of the means. It is infinite if x cannot be run, or lacks a figure.
func (s *search) violation(x setting, seeds int) (sum float64) {
	worst := 0.0
	for seed := range seeds { // 0 for seeds with which x was not run
		worst = max(worst, s.outcomeOf(completeRun(x, seed)).Violation)
	}
	if worst == 0 || math.IsInf(worst, 1) || s.spec.Bounds == config.EachSeed || len(s.spec.Subject) == 0 {
		return worst
	}
	for b, a := range s.spec.Subject {
		list := s.boundedBySeed(x, b, seeds)
		if s.appliesToMeans(a) {
			sum += excess(a, figures.EstimateMean(list).Mean)
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

// isBroken reports whether setting x violates the bounds over the first seeds, and further seeds are unlikely to
// change that: none is left, a bound that applies to every seed is violated, or a mean over at least three seeds is
// beyond its bound by more than the width of its 95 % interval. Half the width is not enough, because the test is
// repeated with each seed and for many settings.
func (s *search) isBroken(x setting, seeds int) bool {
	n := len(s.figureBySeed(x, 0, seeds))
	switch violation := s.violation(x, seeds); {
	case violation == 0 || n == 0:
		return false
	case n == s.spec.Seeds || math.IsInf(violation, 1) || s.spec.Bounds == config.EachSeed:
		return true
	}
	for b, a := range s.spec.Subject {
		list := s.boundedBySeed(x, b, seeds)
		if !s.appliesToMeans(a) {
			if slices.ContainsFunc(list, func(got float64) bool { return !a.Holds(got) }) {
				return true
			}
			continue
		}
		m := figures.EstimateMean(list)
		// 2 Lo - Mean and 2 Hi - Mean are the ends of an interval that is twice as wide.
		if n >= 3 && m.Lo != nil && !a.Holds(2**m.Lo-m.Mean) && !a.Holds(2**m.Hi-m.Mean) {
			return true
		}
	}
	return false
}

// boundResults returns what setting x measured of each bounded figure, over all seeds so far.
func (s *search) boundResults(x setting) []boundResult {
	out := []boundResult{}
	for b, a := range s.spec.Subject {
		r := boundResult{Figure: a.Name, Bound: a.Text()}
		list := s.boundedBySeed(x, b, s.spec.Seeds)
		if len(list) == 0 || finiteOrNil(list) == nil {
			out = append(out, r)
			continue
		}
		r.Measured = figures.MeanOf(a.Name, list)
		r.Worst = slices.MaxFunc(list, func(v, w float64) int { // the largest excess, then the smallest distance
			return cmp.Or(cmp.Compare(excess(a, v), excess(a, w)), cmp.Compare(distance(a, w), distance(a, v)))
		})
		got := r.Worst
		if s.appliesToMeans(a) {
			got = r.Measured.Mean
			lo, hi, known := r.Measured.Bounds()
			r.Close = known && a.Holds(lo) != a.Holds(hi)
		}
		r.Holds, r.margin = a.Holds(got), distance(a, got)
		r.worstBreaks = !a.Holds(r.Worst)
		out = append(out, r)
	}
	return out
}

// violationText describes the bounds that setting x violates; empty if it violates none.
func (s *search) violationText(x setting) string {
	if s.violation(x, s.spec.Seeds) == 0 {
		return ""
	}
	var parts []string
	for b, r := range s.boundResults(x) {
		if r.Holds {
			continue
		}
		got, seed := r.Worst, ""
		if s.appliesToMeans(s.spec.Subject[b]) {
			got = r.Measured.Mean
		} else if r.Measured.N > 1 {
			seed = " with the worst seed"
		}
		parts = append(parts, fmt.Sprintf("%s is %s%s", r.Figure, units.Significant(got, 4), seed))
	}
	if worst := s.worstOutcome(x); math.IsInf(worst.Violation, 1) || len(parts) == 0 {
		return worst.Reason // it cannot be run, or lacks a figure
	}
	return strings.Join(parts, ", ")
}

// worstOutcome returns the outcome of the seed with which setting x violates the bounds most.
func (s *search) worstOutcome(x setting) (worst outcome) {
	for seed := range s.spec.Seeds {
		if v := s.outcomeOf(completeRun(x, seed)); v.Violation > worst.Violation {
			worst = v
		}
	}
	return worst
}

// BoundsText returns "ok" or "breaks" with the figures: of the bounds that the candidate breaks or, if it keeps all, of
// the one that it is closest to, unless that is met exactly. It is "" without bounds.
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
