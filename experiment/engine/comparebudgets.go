package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// BudgetComparison compares what the receivers of lanes with a budget show, over the interval in which all
// of these lanes ran with their present settings.
type BudgetComparison struct {
	FromS float64 `json:"from_s"` // start in seconds: WarmUp after a lane joined, or an encoder or a budget changed
	ToS   float64 `json:"to_s"`
	// LeftOutS are the seconds of the interval that do not count, because a lane had still to send what
	// changed when it joined or the recording restarted: see meters.View.Jump.
	LeftOutS float64      `json:"left_out_s"`
	Unit     string       `json:"unit"` // of errors: mm for cubes, steps for other rows
	Lanes    []BudgetLane `json:"lanes"`
}

// BudgetLane is one lane of a BudgetComparison.
type BudgetLane struct {
	Lane      string         `json:"lane"` // letter
	Encoder   string         `json:"encoder"`
	Label     string         `json:"label"`      // Lane.Name
	Policy    string         `json:"policy"`     // without parameters that have their default
	LimitKbps float64        `json:"limit_kbps"` // the budget
	UsedKbps  figures.Figure `json:"used_kbps"`
	MeanError figures.Figure `json:"mean_error"` // of rows that changed in the last 100 ms, against the source's newest frame
	IsBest    bool           `json:"is_best"`    // has the least error of the lanes with the same limit, of which there are others
	// VsBest is the ratio of the error to that of the lane with the least error of those with the same
	// limit, for the other ones. VsBestLo and VsBestHi are the bounds of its 95 % confidence interval;
	// unknown if there are too few data.
	VsBest   figures.Figure `json:"vs_best"`
	VsBestLo figures.Figure `json:"vs_best_lo"`
	VsBestHi figures.Figure `json:"vs_best_hi"`
}

// Period describes the interval and what it leaves out. FromS and ToS have the given number of decimals.
func (c *BudgetComparison) Period(decimals int) string {
	text := "from " + units.Fixed(c.FromS, decimals) + " to " + units.Fixed(c.ToS, decimals) + " s"
	if c.LeftOutS > 0 {
		text += ", without " + units.Fixed(c.LeftOutS, 1) + " s of catching up"
	}
	return text
}

// ByLimit returns the indices of the lanes of each limit, in ascending order of the limits: the lane with
// the least error first, lanes without a known error last.
func (c *BudgetComparison) ByLimit() (groups [][]int) {
	order := make([]int, len(c.Lanes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x := &c.Lanes[a]
		y := &c.Lanes[b]
		byLimit := cmp.Compare(x.LimitKbps, y.LimitKbps)
		return cmp.Or(byLimit, cmp.Compare(x.MeanError.Or(math.Inf(1)), y.MeanError.Or(math.Inf(1))))
	})
	for k, i := range order {
		if k == 0 || c.Lanes[order[k-1]].LimitKbps != c.Lanes[i].LimitKbps {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], i)
	}
	return groups
}

// Name returns the policy of lane i and, if the lanes have several encoders, its encoder.
func (c *BudgetComparison) Name(i int) string {
	l := &c.Lanes[i]
	if slices.ContainsFunc(c.Lanes, func(o BudgetLane) bool { return o.Encoder != l.Encoder }) {
		return l.Encoder + " " + l.Policy
	}
	return l.Policy
}

// RatioText returns VsBest as text: "best" for the best lane of a limit, and "" if the lane is the only one.
func (l *BudgetLane) RatioText() string {
	if l.IsBest {
		return "best"
	}
	return l.VsBest.FormatWith(func(v float64) string { return units.Fixed(v, 2) }, "")
}

// Interval returns the bounds of VsBest as text; "" if they are unknown.
func (l *BudgetLane) Interval() string {
	if _, known := l.VsBestLo.Value(); !known {
		return ""
	}
	return l.VsBestLo.Text(2) + " to " + l.VsBestHi.Text(2)
}

// Findings returns a sentence for each limit that several lanes have: which of them has the least error,
// and how certain its difference to the next one is.
func (c *BudgetComparison) Findings() (sentences []string) {
	for _, group := range c.ByLimit() {
		if len(group) < 2 {
			continue
		}
		best := &c.Lanes[group[0]] // ByLimit sorts each group by error
		next := &c.Lanes[group[1]]
		if _, known := next.VsBest.Value(); !known {
			continue
		}
		text := fmt.Sprintf("At %s kbit/s, %s (lane %s) has the least error: %s %s. ",
			units.Trimmed(best.LimitKbps, 1), c.Name(group[0]), best.Lane, best.MeanError.Text(0), c.Unit)
		text += fmt.Sprintf("The error of %s (%s), the next, is %s times as large",
			c.Name(group[1]), next.Lane, next.VsBest.Text(2))
		switch lo, known := next.VsBestLo.Value(); {
		case !known:
			text += "; too few data for a confidence interval."
		case lo > 1:
			text += fmt.Sprintf(" (95 %% CI %s).", next.Interval())
		default:
			text += fmt.Sprintf(" (95 %% CI %s), which chance may explain.", next.Interval())
		}
		sentences = append(sentences, text)
	}
	return sentences
}
