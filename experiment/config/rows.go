package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/encoders"
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/loss"
)

// Direction is the direction of the links that a row shows and sets.
type Direction uint8

// Values of Direction. BothDirections sets both links and shows the downlink.
const (
	BothDirections Direction = iota
	DownOnly
	UpOnly
)

// Link returns the link of c that is shown: the uplink for UpOnly, otherwise the downlink.
func (d Direction) Link(c *Config) *lossmodel.Spec {
	if d == UpOnly {
		return &c.Up
	}
	return &c.Down
}

// Other returns the direction of the link that Link does not return.
func (d Direction) Other() Direction {
	if d == UpOnly {
		return DownOnly
	}
	return UpOnly
}

// String returns the table of the links in a file: "link", "down" or "up".
func (d Direction) String() string { return [...]string{"link", "down", "up"}[d] }

// LinkRow returns the row of a link key for direction dir. Step moves along the key's ladder of usual values,
// or its choices; it is nil if the key has neither. Gauge is nil unless the key has a ladder.
func LinkRow(info lossmodel.KeyInfo, dir Direction) Row {
	r := Row{KeyInfo: info, Options: setting.Options(info.Choices)}
	r.Key = dir.String() + "." + info.Key
	r.Set = func(c *Config, v any) error { return c.Set(r.Key, v) }
	r.Get = func(c *Config) any { return LinkValue(c, dir, info.Key) }
	if len(info.Ladder) > 0 || len(info.Choices) > 0 {
		r.Step = func(c *Config, n int) (any, bool) {
			spec := *dir.Link(c)
			if GovernedByNetem(info) {
				// A netem line would make Nudge fail. The user gets the error when the change is applied.
				spec.Netem = lossmodel.DefaultSpec().Netem
			}
			if err := spec.Nudge(info.Key, n); err != nil {
				return nil, false
			}
			next, _ := spec.Get(info.Key)
			return next, next != LinkValue(c, dir, info.Key)
		}
	}
	if len(info.Ladder) > 1 {
		r.Gauge = func(c *Config) float64 {
			level, _ := dir.Link(c).Level(info.Key)
			return level
		}
	}
	return r
}

// LinkValue returns the value of a key of a link as text; "?" if there is no such key.
func LinkValue(c *Config, dir Direction, key string) string {
	text, err := dir.Link(c).Get(key)
	if err != nil {
		return "?"
	}
	return text
}

// GovernedByNetem reports whether a netem line (the syntax of Linux tc), if a link has one, determines the
// effect of a key, so that the key cannot be set.
func GovernedByNetem(info lossmodel.KeyInfo) bool {
	return info.Stage != "netem" && info.Stage != "mtu"
}

// A lossParam is the row of a parameter of a loss model.
type lossParam struct {
	Row
	Name string
}

// LossParamRows returns rows for the parameters of the loss model of a link. The parameters are those of the
// link in direction shown; the rows set the links of direction dir, which may be both. Models that consist only
// of a rate and a burst have no rows, because rate and burst have keys of their own. A step sets the complete
// model, so that its effect does not depend on earlier changes.
func LossParamRows(c *Config, info lossmodel.KeyInfo, shown, dir Direction) (rows []lossParam) {
	current := lossTable(shown.Link(c))
	for _, m := range info.Models {
		for _, p := range m.Params {
			isSteppable := p.Unit == "%" || p.Unit == "packets"
			if m.Name == current["model"] && current[p.Name] != nil && isSteppable {
				rows = append(rows, lossParam{lossParamRow(m.Name, p, dir), p.Name})
			}
		}
	}
	return rows
}

// lossTable returns the parameters of a link's loss model; nil if the model is only a rate and a burst.
func lossTable(s *lossmodel.Spec) loss.Table {
	if s.Loss == nil {
		return nil
	}
	table, _ := loss.Parse(s.Loss.Text())
	return table
}

// lossParamRow returns the row of parameter p of a loss model for direction dir.
func lossParamRow(model string, p lossmodel.ParamInfo, dir Direction) Row {
	r := Row{KeyInfo: setting.KeyInfo{Key: dir.String() + ".loss", Help: p.Help}}
	r.Set = func(c *Config, v any) error { return c.Set(r.Key+"."+p.Name, v) }
	r.Get = func(c *Config) any {
		if table := lossTable(dir.Link(c)); table["model"] == model {
			return table[p.Name]
		}
		return ""
	}
	r.Step = func(c *Config, n int) (any, bool) {
		now := r.Text(c)
		next := stepLossParam(p, now, n)
		// The step sets the complete model, such as "gilbert mean=5% burst=3", with one parameter replaced.
		words := strings.Fields(LinkValue(c, dir, "loss"))
		if i := slices.Index(words, p.Name+"="+now); i >= 0 {
			words[i] = p.Name + "=" + next
		}
		return strings.Join(words, " "), next != now
	}
	return r
}

// stepLossParam returns the value of parameter p after n steps from current. Percentages move along the ladder
// of the key "loss", which has its usual values. Percentages that may be negative move by 5 percentage points,
// and numbers of packets by 1.
func stepLossParam(p lossmodel.ParamInfo, current string, n int) string {
	const points, limit = 5, 95 // step and limit of percentages that may be negative
	v, err := strconv.ParseFloat(strings.TrimSuffix(current, "%"), 64)
	switch {
	case err != nil:
		return current
	case p.Unit != "%":
		return units.Fixed(max(v+float64(n), 1), 0)
	case strings.HasPrefix(p.Min, "-"):
		return units.FormatDecimal(min(max(v+float64(points*n), -limit), limit)) + "%"
	}
	probe := lossmodel.DefaultSpec() // a link that is used only to step the value of its loss
	if probe.Set("loss", current) != nil || probe.Nudge("loss", n) != nil {
		return current
	}
	next, _ := probe.Get("loss")
	return next
}

// ParamRow returns the row of a parameter of the encoder. Step is nil for text, and Gauge for parameters
// without bounds.
func ParamRow(info encoders.ParamInfo) Row {
	r := Row{KeyInfo: setting.KeyInfo{Key: "encoder.params." + info.Name, Unit: info.Unit, Help: info.Help}}
	r.Set = func(c *Config, v any) error { return c.Set(r.Key, v) }
	r.Get = func(c *Config) any {
		if v, ok := c.Encoder.Params[info.Name]; ok {
			return v
		}
		return info.Default
	}
	r.DisplayText = func(c *Config) string {
		text := r.Text(c)
		switch {
		case text == "":
			return "none"
		case info.Unit != "":
			return text + " " + info.Unit
		}
		return text
	}
	if info.Type != "string" {
		r.Step = func(c *Config, n int) (any, bool) {
			now := r.Get(c)
			next := stepParam(info, now, n)
			return next, next != now
		}
	}
	if info.Min == nil || info.Max == nil {
		return r
	}
	lo, hi := *info.Min, *info.Max
	r.Min, r.Max = fmt.Sprintf("%g", lo), fmt.Sprintf("%g", hi)
	if hi > lo {
		r.Gauge = func(c *Config) float64 {
			v, _ := toFloat(r.Get(c))
			return (v - lo) / (hi - lo)
		}
	}
	return r
}

// stepParam returns a parameter's value after n steps from current, within its bounds: integers move by 1, a
// float by 1/20 of its range (0.1 without a range), and a Boolean is inverted. Text does not change.
func stepParam(info encoders.ParamInfo, current any, n int) any {
	if b, ok := current.(bool); ok {
		return !b
	}
	v, ok := toFloat(current)
	if !ok {
		return current
	}
	step := 1.0
	if info.Type == "float" {
		step = 0.1
		if info.Min != nil && info.Max != nil {
			step = (*info.Max - *info.Min) / 20
		}
	}
	v = units.AddSteps(v, step, n)
	if info.Min != nil {
		v = math.Max(v, *info.Min)
	}
	if info.Max != nil {
		v = math.Min(v, *info.Max)
	}
	if info.Type == "float" {
		return v
	}
	return int64(v)
}
