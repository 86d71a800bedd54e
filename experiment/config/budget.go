package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/view"
	"wirelab/internal/units"
)

// HasBudget reports whether packets contain as many rows as a budget allows: that of the sender or that
// of a crowd.
func (c *Config) HasBudget() bool { return c.Sender.Budget > 0 || c.Crowd.Budget > 0 }

// hasBudget reports whether the sender has a budget.
func hasBudget(c *Config) bool { return c.Sender.Budget > 0 }

// parsePoint parses three coordinates, such as "0 0 1".
func parsePoint(text string) (point [3]float64, err error) {
	words := strings.Fields(text)
	if len(words) != len(point) {
		return point, errInvalid
	}
	for i, word := range words {
		point[i], err = strconv.ParseFloat(word, 64)
		if err != nil || !(math.Abs(point[i]) <= 1e9) { // also NaN
			return point, errInvalid
		}
	}
	return point, nil
}

// pointText returns the text for parsePoint.
func pointText(p [3]float64) string {
	var words []string
	for _, v := range p {
		words = append(words, units.FormatDecimal(v))
	}
	return strings.Join(words, " ")
}

// SendBudget returns the budget of the sender; the zero Budget if there is none.
func (c *Config) SendBudget() endpoint.Budget {
	if c.Sender.Budget == 0 {
		return endpoint.Budget{}
	}
	return c.budgetOf(c.Sender.Budget)
}

// CrowdBudget returns the budget that the clients of a crowd share; Bps is 0 if there is none.
func (c *Config) CrowdBudget() endpoint.Budget { return c.budgetOf(c.Crowd.Budget) }

// budgetOf returns a budget of the given rate.
func (c *Config) budgetOf(bps int64) endpoint.Budget {
	return endpoint.Budget{Bps: bps, Burst: c.Sender.BudgetBurst, Priority: c.Sender.Priority,
		Weights: c.Sender.Weights, Interest: c.Interest, Player: c.Player}
}

// FirstBudgetKey returns the key of the budget of the first lane that has one, or else of that of a
// crowd; "" if there is no budget.
func (c *Config) FirstBudgetKey() string {
	for i, lane := range c.Lanes() {
		if lane.Sender.Budget > 0 {
			return c.LaneKey(i, BudgetKey)
		}
	}
	if c.Crowd.Budget > 0 {
		return CrowdBudgetKey
	}
	return ""
}

// checkBudget checks that the other settings allow the budgets.
func (c *Config) checkBudget() error {
	if key := c.FirstBudgetKey(); key != "" && c.Messages.IsStream() {
		return refuse(key, "a stream has no acks of packets, which a budget needs",
			`off, or another messages.delivery than "stream"`)
	}
	return nil
}

// CheckBudgetFits returns an error if the other settings do not allow the budgets, also after a change,
// or if frames of schema s cannot be sent in parts, or do not have what the weights, the priority and the
// interest name.
func (c *Config) CheckBudgetFits(s *frame.Schema) error {
	if err := c.checkBudget(); err != nil {
		return err
	}
	if err := c.Sender.Weights.Check(s); err != nil {
		return ErrorAt(weightsKey, err)
	}
	switch key := c.FirstBudgetKey(); {
	case key != "" && (s.Delivery != frame.Latest || s.Rows == 0):
		return refuse(key, "a budget leaves out rows of a table until later, and these data must arrive as a whole",
			"off, or snapshots such as cubes and tables")
	case c.Interest.Radius > 0 && !view.HasPositions(s):
		return refuse(radiusKey, s.Name+" has no positions",
			`0, or data with positions, which fields with role = "place" have in a schema`)
	case c.Interest.Row > s.Rows && c.Interest != defaultConfig().Interest:
		return refuse(interestRowKey, fmt.Sprintf("%d is not a row of the data", c.Interest.Row),
			fmt.Sprintf("0 (interest.point) to %d", s.Rows))
	}
	return nil
}

// varies reports whether a setting differs between lanes, or variesInTime.
func (c *Config) varies(key string) bool {
	return c.variesInTime(key) || slices.ContainsFunc(c.Shadows, func(e Encoder) bool { return e.hasOwn(key) })
}

// variesInTime reports whether a setting changes during the run, or from run to run of a sweep or a search.
func (c *Config) variesInTime(key string) bool {
	_, name, isLink := cutDirection(key)
	sets := func(other string) bool { // whether the key other may set key
		isTable := strings.HasPrefix(other+".", key+".")
		return isTable || isLink && (other == "profile" || strings.HasPrefix(other+".", strings.TrimSuffix("link."+name, ".")+"."))
	}
	return slices.ContainsFunc(c.varied, sets) ||
		slices.ContainsFunc(c.At, func(at StampedChange) bool { return slices.ContainsFunc(at.Change.Keys(), sets) }) ||
		slices.ContainsFunc(c.Sweep, func(a Axis) bool { return sets(a.Key) }) ||
		slices.ContainsFunc(c.Search.Over, func(r Range) bool { return sets(r.Key) })
}
