package config

import (
	"cmp"
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

// linkTables are the tables of the links in a file by direction.
var linkTables = []string{"link", "down", "up"}

// String returns the table of the links in a file: "link", "down" or "up".
func (d Direction) String() string { return linkTables[d] }

// cutDirection splits "down.loss" into DownOnly and "loss". ok is false if key is of no link.
func cutDirection(key string) (dir Direction, name string, ok bool) {
	table, name, _ := strings.Cut(key, ".")
	i := slices.Index(linkTables, table)
	return Direction(max(i, 0)), name, i >= 0
}

// links returns the links of a direction.
func (d Direction) links(c *Config) []*lossmodel.Spec {
	return [][]*lossmodel.Spec{{&c.Down, &c.Up}, {&c.Down}, {&c.Up}}[d]
}

// LinkRow returns the row of a link key for direction dir.
func LinkRow(info lossmodel.KeyInfo, dir Direction) Row {
	return Row{Key: dir.String() + "." + info.Key, Short: info.Key, Label: info.Key, Help: info.Help, Options: setting.Options(info.Choices),
		Field: func(c *Config) any { return linkField{c, info, dir} }}
}

// linkField is the field of a key of the links of a direction.
type linkField struct {
	config *Config
	info   lossmodel.KeyInfo
	dir    Direction
}

func (f linkField) String() string        { return LinkValue(f.config, f.dir, f.info.Key) }
func (f linkField) Set(text string) error { return f.config.Set(f.dir.String()+"."+f.info.Key, text) }

func (f linkField) HasSteps() bool { return len(f.info.Ladder)+len(f.info.Choices) > 0 }

func (f linkField) Step(n int) (any, bool) {
	spec := *f.dir.Link(f.config)
	if GovernedByNetem(f.info) {
		// A netem line would make Nudge fail. The user gets the error when the change is applied.
		spec.Netem = lossmodel.DefaultSpec().Netem
	}
	if err := spec.Nudge(f.info.Key, n); err != nil {
		return nil, false
	}
	next, _ := spec.Get(f.info.Key)
	return next, next != f.String()
}

func (f linkField) Level() (float64, bool) { return f.dir.Link(f.config).Level(f.info.Key) }

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

// LossParamRows returns rows for the parameters of the loss model of a link. The parameters are those of
// the link in direction shown; the rows set the links of direction dir, which may be both. Models that
// consist only of a rate and a burst have no rows, because rate and burst have keys of their own. A step
// sets the complete model, so that its effect does not depend on earlier changes.
func LossParamRows(c *Config, info lossmodel.KeyInfo, shown, dir Direction) (rows []Row) {
	current := lossTable(shown.Link(c))
	for _, m := range info.Models {
		for _, p := range m.Params {
			isSteppable := p.Unit == "%" || p.Unit == "packets"
			if m.Name == current["model"] && current[p.Name] != nil && isSteppable {
				rows = append(rows, Row{Key: dir.String() + ".loss", Short: "loss." + p.Name, Label: p.Name, Help: p.Help,
					Field: func(c *Config) any { return lossParamField{c, m.Name, p, dir} }})
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

// lossParamField is the field of a parameter of a loss model.
type lossParamField struct {
	config *Config
	model  string
	param  lossmodel.ParamInfo
	dir    Direction
}

func (f lossParamField) Set(text string) error {
	return f.config.Set(f.dir.String()+".loss."+f.param.Name, text)
}

// String returns the value; "" if the link has another model.
func (f lossParamField) String() string {
	if table := lossTable(f.dir.Link(f.config)); table["model"] == f.model {
		return fmt.Sprint(table[f.param.Name])
	}
	return ""
}

func (f lossParamField) HasSteps() bool { return true }

// Step sets the complete model, such as "gilbert mean=5% burst=3", with one parameter replaced.
func (f lossParamField) Step(n int) (any, bool) {
	now := f.String()
	next := stepLossParam(f.param, now, n)
	words := strings.Fields(LinkValue(f.config, f.dir, "loss"))
	if i := slices.Index(words, f.param.Name+"="+now); i >= 0 {
		words[i] = f.param.Name + "=" + next
	}
	return strings.Join(words, " "), next != now
}

// stepLossParam returns the value of parameter p after n steps from current. Percentages move along the
// ladder of the key "loss", which has its usual values. Percentages that may be negative move by 5
// percentage points, and numbers of packets by 1.
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

// ParamRow returns the row of a parameter of the encoder.
func ParamRow(info encoders.ParamInfo) Row {
	r := Row{Key: paramsPrefix + info.Name, Short: "param " + info.Name, Label: info.Name, Unit: info.Unit, Help: info.Help,
		Field: func(c *Config) any { return paramField{&c.Encoder, info} }}
	if lo, hi := bounds(info); !math.IsInf(hi-lo, 0) {
		r.Min, r.Max = lo, hi
	}
	return r
}

// paramField is the field of a parameter of the encoder.
type paramField struct {
	encoder *Encoder
	info    encoders.ParamInfo
}

func (f paramField) String() string { return fmt.Sprint(f.value()) }
func (f paramField) Label() string  { return cmp.Or(f.String(), "none") }
func (f paramField) Set(text string) error {
	return f.encoder.set(paramsPrefix+f.info.Name, "params."+f.info.Name, text)
}

// value returns the value that was set, or the default.
func (f paramField) value() any {
	if v, ok := f.encoder.Params[f.info.Name]; ok {
		return v
	}
	return f.info.Default
}

func (f paramField) HasSteps() bool { return f.info.Type != "string" }

func (f paramField) Step(n int) (any, bool) {
	now := f.value()
	next := stepParam(f.info, now, n)
	return next, next != now
}

func (f paramField) Level() (float64, bool) {
	lo, hi := bounds(f.info)
	if math.IsInf(hi-lo, 0) || hi <= lo {
		return 0, false
	}
	v, _ := toFloat(f.value())
	return (v - lo) / (hi - lo), true
}

// bounds returns the smallest and the largest value of a parameter, an infinity if there is none.
func bounds(info encoders.ParamInfo) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if info.Min != nil {
		lo = *info.Min
	}
	if info.Max != nil {
		hi = *info.Max
	}
	return lo, hi
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
	lo, hi := bounds(info)
	if info.Type != "float" {
		return int64(min(max(v+float64(n), lo), hi))
	}
	step := (hi - lo) / 20
	if math.IsInf(step, 0) {
		step = 0.1
	}
	return min(max(units.AddSteps(v, step, n), lo), hi)
}
