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
	"wirelab/internal/policy"
	"wirelab/internal/units"
)

// BudgetKey is the key of the budget of the sender.
const BudgetKey = "sender.budget"

// noBudget is the value of a budget for none.
const noBudget = "off"

// Limits of a budget.
const (
	minSendBudget = 1000          // bits per second
	maxSendBudget = 1_000_000_000 // bits per second
	maxBurst      = 16_000        // packets, in thousandths
)

// rateRow returns the row of a budget in bits per second; 0 is "off".
func rateRow(key, example string, field func(*Config) *int64) Row {
	return scalarRow(key, fmt.Sprintf(`1 kbit/s to 1 Gbit/s, such as %q, or "off"`, example), func(c *Config) any { return sendBudgetText(*field(c)) },
		func(c *Config, v any) bool {
			text, isText := v.(string)
			if isText && text == noBudget {
				*field(c) = 0
				return true
			}
			bps, ok := units.ParseRate(text)
			if !ok || bps < minSendBudget || bps > maxSendBudget {
				return false
			}
			*field(c) = bps
			return true
		})
}

// sendBudgetRow returns the row of sender.budget.
func sendBudgetRow() Row {
	levels := []int64{0, 8_000, 16_000, 24_000, 32_000, 45_000, 64_000, 96_000, 128_000, 192_000, 256_000, 512_000, 1_000_000}
	r := rateRow(BudgetKey, "64kbit", func(c *Config) *int64 { return &c.Sender.Budget })
	r.Help = "limit of headers and payloads that is kept: each packet contains the rows of the highest priority that fit"
	r.DisplayText = func(c *Config) string { return sendBudgetText(c.Sender.Budget) }
	return withLadder(r, len(levels), func(c *Config) int {
		index := 0
		for index+1 < len(levels) && levels[index+1] <= c.Sender.Budget {
			index++
		}
		return index
	}, func(i int) any { return sendBudgetText(levels[i]) })
}

// sendBudgetText returns the text of a budget in bits per second; 0 is "off".
func sendBudgetText(bps int64) string {
	if bps == 0 {
		return noBudget
	}
	return units.FormatRate(bps)
}

// burstRow returns the row of sender.budget_burst.
func burstRow() Row {
	r := scalarRow(burstKey, "1 to 16 packets", func(c *Config) any { return float64(c.Sender.BudgetBurst) / 1000 },
		func(c *Config, v any) bool {
			packets, ok := number(v)
			if !ok || !(packets >= 1 && packets <= maxBurst/1000) {
				return false
			}
			c.Sender.BudgetBurst = int64(math.Round(packets * 1000))
			return true
		})
	r.Help = "most that a packet may take, in packets of the budget: with 1, no 100 ms exceed it; more lets a packet use what earlier ones left"
	return r
}

// number returns the value of a number of a file or of a command.
func number(v any) (float64, bool) {
	f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	return f, err == nil && !math.IsNaN(f)
}

// priorityRow returns the row of sender.priority.
func priorityRow() Row {
	r := policyRow(priorityKey, view.Policies, view.Policies[0].Name, func(c *Config) *policy.Policy { return &c.Sender.Priority })
	r.Help = "which rows a packet contains if the budget does not allow all"
	return r
}

// CrowdBudgetKey is the key of the budget that all clients of a crowd share.
const CrowdBudgetKey = "crowd.budget"

func crowdBudgetRow() Row {
	r := rateRow(CrowdBudgetKey, "10mbit", func(c *Config) *int64 { return &c.Crowd.Budget })
	r.Help = "budget that all clients of a crowd share: those that have something to send get the same, and leave to the others what they do not need"
	return r
}

// HasBudget reports whether packets contain as many rows as a budget allows: that of the sender or that of a crowd.
func (c *Config) HasBudget() bool { return c.Sender.Budget > 0 || c.Crowd.Budget > 0 }

// hasBudget reports whether the sender has a budget.
func hasBudget(c *Config) bool { return c.Sender.Budget > 0 }

// Needs of the settings that shape a budget.
const (
	anyBudget   = "sender.budget or crowd.budget"
	usesWeights = "sender.priority != round-robin"
	usesChanges = "sender.priority != newest-change"
)

// budgetSettings returns the settings of a budget that can change during a session.
func budgetSettings() []scalarSetting {
	return []scalarSetting{
		{Row: sendBudgetRow(), Short: "send_budget", Args: "RATE|off", Completions: []string{noBudget}, Label: "Limit", Position: 5,
			CommandHelp: "budget that is kept: packets contain the rows that fit", IsShown: hasBudget,
			omit: func(c *Config) bool { return c.Sender.Budget == 0 }},
		{Row: withNeeds(burstRow(), anyBudget), Short: "budget_burst", Args: "PACKETS", CommandHelp: "packets of the budget that one packet may take",
			omit: func(c *Config) bool { return c.Sender.BudgetBurst == defaultBurst }},
		{Row: withNeeds(priorityRow(), anyBudget), Short: "priority", Args: "POLICY", Policies: view.Policies, CommandHelp: "which rows go first under a budget",
			omit: func(c *Config) bool { return c.Sender.Priority.Name() == "" }},
		{Row: withNeeds(weightsRow(), anyBudget, usesWeights, usesChanges), Short: "weights", Args: "NAME=FACTOR,...|off", Completions: []string{noBudget},
			CommandHelp: "weights of fields and of groups of rows under a budget, such as position=2, interacting:1=4",
			omit:        func(c *Config) bool { return c.Sender.Weights == view.Weights{} }},
		{Row: withNeeds(crowdBudgetRow(), "crowd.clients"), Short: "crowd_budget", Args: "RATE|off", Completions: []string{noBudget},
			CommandHelp: "budget that all clients of a crowd share", omit: func(c *Config) bool { return c.Crowd.Budget == 0 }},
	}
}

// Keys of the settings that shape a budget.
const (
	priorityKey = "sender.priority"
	weightsKey  = "sender.weights"
	burstKey    = "sender.budget_burst"

	radiusKey      = "interest.radius"
	interestRowKey = "interest.row"
	pointKey       = "interest.point"
	falloffKey     = "interest.falloff"
)

// weightsRow returns the row of sender.weights.
func weightsRow() Row {
	const expected = `weights of fields and of groups of rows, such as "x=2, class:tank=0.5", or "off"`
	r := scalarRow(weightsKey, expected, func(c *Config) any { return c.Sender.Weights.String() }, nil)
	r.Set = func(c *Config, v any) error {
		text, ok := v.(string)
		if !ok {
			return errorUnless(false, weightsKey, v, invalidValue, expected)
		}
		w, err := view.ParseWeights(text)
		if err == nil {
			c.Sender.Weights = w
		}
		return ErrorAt(weightsKey, err)
	}
	r.Help = "factors of the errors of fields, and of the priorities of the rows with a value of a flag or an enum"
	return r
}

// defaultBurst is the default of sender.budget_burst.
const defaultBurst = 1000

// defaultInterest is the interest of an empty file. Its radius of 0 means everywhere.
var defaultInterest = view.Interest{Row: 1, Falloff: 1}

// interestSettings returns the settings of the area that matters to a client.
func interestSettings() []scalarSetting {
	none := func(c *Config) bool { return c.Interest == defaultInterest }
	point := scalarRow(pointKey, `three coordinates such as "0 0 1"`, func(c *Config) any { return pointText(c.Interest.Point) },
		func(c *Config, v any) bool {
			words := strings.Fields(fmt.Sprint(v))
			if len(words) != 3 {
				return false
			}
			for i, word := range words {
				value, ok := number(word)
				if !ok || math.Abs(value) > 1e9 {
					return false
				}
				c.Interest.Point[i] = value
			}
			return true
		})
	radius := scalarRow(radiusKey, "0 (everywhere) to 1000000, in the unit of the positions", func(c *Config) any { return c.Interest.Radius },
		func(c *Config, v any) bool {
			value, ok := number(v)
			if !ok || !(value >= 0 && value <= 1e6) {
				return false
			}
			c.Interest.Radius = value
			return true
		})
	row := intRow(interestRowKey, "0 (interest.point) or the number of a row, from 1", 0, 65_535, func(c *Config) *int { return &c.Interest.Row })
	falloff := intRow(falloffKey, "1 to 8", 1, 8, func(c *Config) *int { return &c.Interest.Falloff })
	return []scalarSetting{
		{Row: withNeeds(radius, anyBudget, usesWeights, usesChanges), omit: none},
		{Row: withNeeds(row, anyBudget, radiusKey), omit: none},
		{Row: withNeeds(point, anyBudget, radiusKey, "interest.row = 0"), omit: none},
		{Row: withNeeds(falloff, anyBudget, radiusKey), omit: none},
	}
}

func pointText(p [3]float64) string {
	return strings.Join([]string{units.FormatDecimal(p[0]), units.FormatDecimal(p[1]), units.FormatDecimal(p[2])}, " ")
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
	return endpoint.Budget{Bps: bps, Burst: c.Sender.BudgetBurst, Priority: c.Sender.Priority, Weights: c.Sender.Weights, Interest: c.Interest}
}

// FirstBudgetKey returns the key of the budget of the first lane that has one, or else of that of a crowd; "" if there is no
// budget.
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
	key := c.FirstBudgetKey()
	switch {
	case key == "":
		return nil
	case c.HasMessages() && c.Messages.IsStream():
		return &Error{Key: key, Problem: "a stream has no acks of packets, which a budget needs", Expected: `off, or another messages.delivery than "stream"`}
	}
	return nil
}

// CheckBudgetFits returns an error if the other settings do not allow the budgets, also after a change, or if frames of
// schema s cannot be sent in parts, or do not have what the weights, the priority and the interest name.
func (c *Config) CheckBudgetFits(s *frame.Schema) error {
	if err := c.checkBudget(); err != nil {
		return err
	}
	if err := c.Sender.Weights.Check(s); err != nil {
		return ErrorAt(weightsKey, err)
	}
	switch key := c.FirstBudgetKey(); {
	case key != "" && (s.Delivery != frame.Latest || s.Rows == 0):
		return &Error{Key: key, Problem: "a budget leaves out rows of a table until later, and these data must arrive as a whole",
			Expected: "off, or snapshots such as cubes and tables"}
	case c.Interest.Radius > 0 && !view.HasPositions(s):
		return &Error{Key: radiusKey, Problem: s.Name + " has no positions", Expected: `0, or data with positions, which fields with role = "place" have in a schema`}
	case c.Interest.Row > s.Rows && c.Interest != defaultInterest:
		return &Error{Key: interestRowKey, Problem: fmt.Sprintf("%d is not a row of the data", c.Interest.Row), Expected: fmt.Sprintf("0 (interest.point) to %d", s.Rows)}
	}
	return nil
}

// varies reports whether a setting differs between lanes, or variesInTime.
func (c *Config) varies(key string) bool {
	return c.variesInTime(key) || slices.ContainsFunc(c.Shadows, func(e Encoder) bool { return e.hasOwn(key) })
}

// variesInTime reports whether a setting changes during the run, or from run to run of a sweep or a search.
func (c *Config) variesInTime(key string) bool {
	dir, name, _ := strings.Cut(key, ".")
	isLink := dir == "down" || dir == "up"
	sets := func(other string) bool { // whether the key other may set key
		isTable := strings.HasPrefix(other+".", key+".")
		return isTable || isLink && (other == "profile" || strings.HasPrefix(other+".", strings.TrimSuffix("link."+name, ".")+"."))
	}
	return slices.ContainsFunc(c.varied, sets) ||
		slices.ContainsFunc(c.At, func(at StampedChange) bool { return slices.ContainsFunc(at.Change.Keys(), sets) }) ||
		slices.ContainsFunc(c.Sweep, func(a Axis) bool { return sets(a.Key) }) ||
		slices.ContainsFunc(c.Search.Over, func(r Range) bool { return sets(r.Key) })
}
