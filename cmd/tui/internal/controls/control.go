package controls

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// control is a row of the table of settings as the pane shows it.
type control struct {
	config.Row
	label       string
	command     string                      // the command that sets it
	linePrefix  string                      // the text that enter begins a typed line with; "" if it is word
	group       string                      // heading above the first control of a group
	block       string                      // names the block of controls below another one that this is of
	otherRow    *config.Row                 // of the link that is not shown; nil: it is no setting of a link
	direction   config.Way                  // the links that it sets
	overridden  bool                        // a netem line decides this now
	editText    func(*config.Config) string // the text that enter puts behind the line; nil: none
	preview     *preview
	needsParams bool // an option only begins a line, to be completed
	isText      bool // the value is words
}

// The words of controls that set nothing of the configuration.
const (
	foldCommand  = "more"
	speedCommand = "speed"
)

// mainKeys are the keys of links that are always shown, in the order of the pane, each
// with its label. The others are folded away.
var mainKeys = [][2]string{
	{"loss", "Loss"}, {"burst", "Burst"}, {"latency", "Latency"}, {"jitter", "Jitter"},
	{"reorder", "Reorder"}, {"duplicate", "Duplicate"}, {"corrupt", "Corrupt"},
	{"rate", "Rate"}, {"queue", "Queue"},
}

// scope is which controls are shown, and which link they show and set.
type scope struct {
	direction config.Way
	more      bool // show those folded away too
}

// buildControls returns everything that can be adjusted under cfg, from top to
// bottom. Which there are depends on the encoder and on the loss model:
// their parameters come along.
func (cat *Catalog) buildControls(cfg *config.Config, schema *frame.Schema, sc scope) []control {
	var list []control
	if len(cat.codecs) > 0 {
		list = append(list, cat.encoderControl(schema))
	}
	if codec := cat.Codec(cfg.Encoder.Name); codec != nil {
		for _, info := range codec.ParamInfo() {
			list = append(list, control{Row: config.ParamRow(info), label: info.Name, command: "param " + info.Name, block: "params"})
		}
	}
	list = append(append(list, cat.profileControl()), cat.linkControls(cfg, sc)...)
	if len(cat.codecs) == 0 {
		return list
	}
	for _, s := range config.Controls() {
		if s.Offered == nil || s.Offered(cfg) {
			list = append(list, control{Row: s.Row, label: s.Label, command: s.Word(), group: "Run"})
		}
	}
	return append(list, control{label: "Speed", command: speedCommand, group: "Run"})
}

// linkControls returns the controls of a link.
func (cat *Catalog) linkControls(cfg *config.Config, sc scope) (list []control) {
	var shown []string
	add := func(label, key, nest string) {
		if info, ok := cat.Key(key); ok && !slices.Contains(shown, key) {
			c := linkControl(cfg, label, info, sc.direction)
			c.block = nest
			list, shown = append(list, c), append(shown, key)
		}
	}
	loss, hasLoss := cat.Key("loss")
	if sc.direction.Link(cfg).Netem.On { // it stands above the controls in whose place it decides
		add("Netem", "netem", "")
	}
	for _, m := range mainKeys {
		add(m[1], m[0], "")
		if m[0] == "loss" && hasLoss {
			list = append(list, lossParamControls(cfg, loss, sc.direction)...)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(cat.Keys), func(k lossmodel.KeyInfo) bool { return slices.Contains(shown, k.Key) })
	if len(rest) == 0 {
		return list
	}
	list = append(list, foldControl(rest, sc))
	if !sc.more {
		return list
	}
	if len(loss.Models) > 0 {
		list = append(list, lossModelControl(cfg, loss, sc.direction))
	}
	for _, k := range rest {
		add(k.Key, k.Key, foldCommand)
	}
	return list
}

// linkControl adjusts one setting of a link, or of both at once.
func linkControl(cfg *config.Config, label string, info lossmodel.KeyInfo, direction config.Way) control {
	c := control{Row: config.LinkRow(info, direction), label: label, command: info.Key, linePrefix: directionPrefix(direction) + info.Key, group: "Link",
		direction: direction, overridden: config.GovernedByNetem(info) && direction.Link(cfg).Netem.On,
		isText: len(info.Ladder) == 0 && len(info.Choices) == 0}
	other := config.LinkRow(info, direction.Other())
	c.otherRow = &other
	if c.isText || len(info.Models) > 0 {
		c.editText = func(cfg *config.Config) string { return editableText(c.Text(cfg)) }
	}
	return c
}

// directionPrefix is the word that makes a typed setting one for a way.
func directionPrefix(direction config.Way) string {
	if direction == config.BothWays {
		return ""
	}
	return direction.String() + " "
}

// editableText returns a value that is edited rather than typed again; "" for others.
func editableText(text string) string {
	if number, _ := units.Split(text); text == "off" || number != "" && !strings.Contains(text, " ") {
		return ""
	}
	return text
}

// lossParamControls are the parameters of the loss model.
func lossParamControls(cfg *config.Config, loss lossmodel.KeyInfo, direction config.Way) (list []control) {
	others := config.LossParamRows(cfg, loss, direction, direction.Other())
	for i, r := range config.LossParamRows(cfg, loss, direction, direction) {
		list = append(list, control{Row: r.Row, label: r.Name, command: loss.Key + "." + r.Name, linePrefix: directionPrefix(direction) + loss.Key,
			group: "Link", block: loss.Key, direction: direction, otherRow: &others[i].Row, overridden: direction.Link(cfg).Netem.On,
			editText: func(c *config.Config) string { return config.LinkValue(c, direction, loss.Key) }})
	}
	return list
}

// lossModelControl picks a loss model; its parameters are then typed.
func lossModelControl(cfg *config.Config, loss lossmodel.KeyInfo, direction config.Way) control {
	c := control{label: "loss model", command: "loss model", linePrefix: directionPrefix(direction) + loss.Key,
		group: "Link", block: foldCommand, needsParams: true, overridden: direction.Link(cfg).Netem.On}
	c.Help = "how losses come; a model has parameters of its own, which are then typed"
	c.Get = func(c *config.Config) any {
		if m := direction.Link(c).Loss; m != nil {
			return m.Model()
		}
		return "none"
	}
	for _, m := range loss.Models {
		c.Options = append(c.Options, setting.Option{Name: m.Name, Summary: m.Summary})
	}
	return c
}

// foldControl is the row that stands for the settings folded away. It shows how
// many of them differ from their defaults.
func foldControl(rest []lossmodel.KeyInfo, sc scope) control {
	c := control{label: "More", command: foldCommand, group: "Link", isText: true}
	c.Help = "every other setting of the link: models of loss, bursts, the line, the shape of the jitter, " +
		"spikes, traces, tc's netem"
	c.Get = func(c *config.Config) any {
		if sc.more {
			return "link settings, enter folds them away"
		}
		set := 0
		for _, k := range rest {
			if text, _ := sc.direction.Link(c).Get(k.Key); text != k.Default {
				set++
			}
		}
		if set > 0 {
			return fmt.Sprintf("link settings: %d, %d of them set", len(rest), set)
		}
		return fmt.Sprintf("link settings: %d, enter opens", len(rest))
	}
	return c
}

func (cat *Catalog) encoderControl(schema *frame.Schema) control {
	c := control{label: "Encoder", command: "encoder"}
	c.Get = func(c *config.Config) any { return c.Encoder.Name }
	return c.withOptions("encoder.name", cat.Encoders(schema))
}

func (cat *Catalog) profileControl() control {
	c := control{label: "Profile", command: "profile", group: "Link", preview: &preview{lines: cat.describeProfile}}
	c.Help = "a ready-made pair of links; sets everything below"
	c.Get = func(c *config.Config) any {
		if c.Profile == "" {
			return "none"
		}
		return c.Profile
	}
	return c.withOptions("profile", cat.Links())
}

// withOptions makes c set a key to one of several options, round and round.
func (c control) withOptions(key string, options []setting.Option) control {
	c.Key, c.Options = key, options
	c.Step = func(cfg *config.Config, n int) (any, bool) {
		name := setting.Cycle(options, c.Text(cfg), n)
		return name, name != ""
	}
	return c
}

// stepCommand returns the command that moves the value n rungs; false at the end of the ladder.
func (c *control) stepCommand(cfg *config.Config, n int) (experiment.Command, bool) {
	if c.Step == nil {
		return experiment.Command{}, false
	}
	v, ok := c.Step(cfg, n)
	if !ok {
		return experiment.Command{}, false
	}
	return ChangeCommand(config.NewChange(c.Key, v)), true
}

// typedPrefix returns what enter begins a line with.
func (c *control) typedPrefix() string {
	if c.linePrefix != "" {
		return c.linePrefix
	}
	return c.command
}

// newPicker returns the options as a list to pick from.
func (c *control) newPicker(cfg *config.Config) *picker {
	p := NewPicker(c.label, c.typedPrefix(), c.Options, c.Text(cfg))
	p.preview, p.needsParams = c.preview, c.needsParams
	return p
}

// EncoderList is the list of encoders to choose from.
func (cat *Catalog) EncoderList(cfg *config.Config, schema *frame.Schema) *picker {
	c := cat.encoderControl(schema)
	p := c.newPicker(cfg)
	p.shadows = append([]string{}, ShadowNames(cfg)...)
	p.card = &encoderCard{cat: cat, cfg: cfg}
	return p
}

// NextEncoder is the change to the encoder n places further on; false if there is
// none.
func (cat *Catalog) NextEncoder(cfg *config.Config, schema *frame.Schema, n int) (experiment.Command, bool) {
	c := cat.encoderControl(schema)
	return c.stepCommand(cfg, n)
}

// ProfileList is the list of link profiles to choose from.
func (cat *Catalog) ProfileList(cfg *config.Config) *picker {
	c := cat.profileControl()
	c.label = "Link profile"
	return c.newPicker(cfg)
}

// ChangeCommand is the command that makes a change.
func ChangeCommand(ch config.Change) experiment.Command { return experiment.Command{Change: &ch} }

// speeds are the rungs of the speed of virtual time; 0 is as fast as it can.
var speeds = []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 0}

// StepSpeed moves a speed n rungs.
func StepSpeed(current float64, n int) float64 {
	i := len(speeds) - 1
	if current > 0 {
		for i = 0; i < len(speeds)-2 && speeds[i+1] <= current; {
			i++
		}
	}
	return speeds[min(max(i+n, 0), len(speeds)-1)]
}
