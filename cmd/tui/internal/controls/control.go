package controls

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/live"
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// control is a setting in the pane: its row of the configuration, which gets and sets the value,
// with what the pane needs in addition. Row.Short, the command that sets the value, identifies the control.
type control struct {
	config.Row         // zero in part for controls that are no settings, see foldCommand and speedCommand
	linePrefix  string // start of the line that Enter opens; "" means Short
	edit        string // what Enter puts after linePrefix
	group       string // heading above the first control of a group
	block       string // the control under which this one is indented; "" for none
	other       string // the value on the other link; "" if this is no setting of a link
	overridden  bool   // a netem line currently overrides this setting
	needsParams bool   // choosing an option opens a line to type its parameters
	isText      bool   // the value is text rather than a number
}

// The commands of controls that are not settings of the configuration.
const (
	foldCommand  = "more"  // shows or hides the less used settings of links; no command of this name can be typed
	speedCommand = "speed" // sets the speed of virtual time
)

// mainKeys lists the link settings that are always shown, in the order of the pane. The other settings are only shown with
// scope.more.
var mainKeys = []string{"loss", "burst", "latency", "jitter", "reorder", "duplicate", "corrupt", "rate", "queue"}

// scope selects the controls to show, and the link that they show and set.
type scope struct {
	direction config.Direction
	more      bool // also show the less used settings
}

// buildControls returns the controls for cfg, from top to bottom: encoder, its parameters, profile,
// links, run. They depend on the encoder and on the loss model, because the parameters of both
// have controls of their own. A proxy has only the profile and the links.
func (cat *Catalog) buildControls(cfg *config.Config, schema *frame.Schema, sc scope) []control {
	var list []control
	if len(cat.codecs) > 0 {
		list = append(list, cat.encoderControl(schema))
	}
	if codec := cat.Codec(cfg.Encoder.Name); codec != nil {
		for _, info := range codec.ParamInfo() {
			list = append(list, control{Row: config.ParamRow(info), block: "params"})
		}
	}
	list = append(append(list, cat.profileControl()), cat.linkControls(cfg, sc)...)
	if len(cat.codecs) == 0 {
		return list
	}
	for _, r := range cfg.Controls() {
		list = append(list, control{Row: *r, group: "Run"})
	}
	return append(list, control{Row: config.Row{Label: "Speed", Short: speedCommand}, group: "Run"})
}

// linkControls returns the controls of the links in sc: mainKeys, then the control that unfolds
// the less used settings, then, if sc.more is set, these settings.
func (cat *Catalog) linkControls(cfg *config.Config, sc scope) (list []control) {
	keys := mainKeys
	if sc.direction.Link(cfg).Netem.On { // shown above the controls that it overrides
		keys = slices.Concat([]string{"netem"}, keys)
	}
	loss, _ := cat.Key("loss")
	for _, key := range keys {
		info, ok := cat.Key(key)
		if !ok {
			continue
		}
		c := linkControl(cfg, info, sc.direction)
		c.Label = strings.ToUpper(key[:1]) + key[1:]
		list = append(list, c)
		if key == loss.Key {
			list = append(list, lossParamControls(cfg, loss, sc.direction)...)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(cat.Keys), func(k lossmodel.KeyInfo) bool { return slices.Contains(keys, k.Key) })
	if len(rest) == 0 {
		return list
	}
	list = append(list, foldControl(cfg, rest, sc))
	if !sc.more {
		return list
	}
	if len(loss.Models) > 0 {
		list = append(list, lossModelControl(cfg, loss, sc.direction))
	}
	for _, info := range rest {
		c := linkControl(cfg, info, sc.direction)
		c.block = foldCommand
		list = append(list, c)
	}
	return list
}

// linkControl returns the control of the setting that info describes, of one link or of both. A
// setting with neither a ladder of values to step through nor choices is edited as text.
func linkControl(cfg *config.Config, info lossmodel.KeyInfo, direction config.Direction) control {
	c := control{Row: config.LinkRow(info, direction), linePrefix: linePrefix(info.Key, direction), group: "Link",
		other:      config.LinkValue(cfg, direction.Other(), info.Key),
		overridden: config.GovernedByNetem(info) && direction.Link(cfg).Netem.On,
		isText:     len(info.Ladder) == 0 && len(info.Choices) == 0}
	if c.isText || len(info.Models) > 0 { // values that are long to type
		c.edit = editableText(c.Text(cfg))
	}
	return c
}

// linePrefix returns the command that sets a key of the links of a direction, without the value: "loss", "down loss".
func linePrefix(key string, direction config.Direction) string {
	return strings.TrimPrefix(direction.String()+" "+key, "link ")
}

// editableText returns the initial text of the line in which a value is typed: text, the current
// value, if it is worth editing, such as a netem line. It returns "" for "off" and for single
// numbers, which are quicker to type again.
func editableText(text string) string {
	if number, _ := units.Split(text); text == "off" || number != "" && !strings.Contains(text, " ") {
		return ""
	}
	return text
}

// lossParamControls returns a control for each parameter of the current loss model.
func lossParamControls(cfg *config.Config, loss lossmodel.KeyInfo, direction config.Direction) (list []control) {
	// Both calls list the parameters of the model of one link; the rows show that link, or the other one.
	others := config.LossParamRows(cfg, loss, direction, direction.Other())
	for i, r := range config.LossParamRows(cfg, loss, direction, direction) {
		list = append(list, control{Row: r, linePrefix: linePrefix(loss.Key, direction), edit: config.LinkValue(cfg, direction, loss.Key),
			group: "Link", block: loss.Key, other: others[i].Text(cfg), overridden: direction.Link(cfg).Netem.On})
	}
	return list
}

// lossModelControl returns the control that selects a loss model. Its parameters must then be
// typed.
func lossModelControl(cfg *config.Config, loss lossmodel.KeyInfo, direction config.Direction) control {
	link, name := direction.Link(cfg), "none"
	if link.Loss != nil {
		name = link.Loss.Model()
	}
	c := textControl("loss model", "loss model", name, "how losses are distributed; type the parameters of the model after its name")
	c.linePrefix = linePrefix(loss.Key, direction)
	c.block = foldCommand
	c.needsParams = true
	c.overridden = link.Netem.On
	for _, m := range loss.Models {
		c.Options = append(c.Options, setting.Option{Name: m.Name, Summary: m.Summary})
	}
	return c
}

// foldControl returns the control that shows or hides the less used settings, rest. Its value is a
// text that contains their number and, while they are hidden, those that are not at their default.
func foldControl(cfg *config.Config, rest []lossmodel.KeyInfo, sc scope) control {
	return textControl("More", foldCommand, foldText(cfg, rest, sc), "all other settings of the link: loss models, bursts, bandwidth, "+
		"distribution of the jitter, delay spikes, traces, netem")
}

// textControl returns a control of the links that is no setting and shows a text.
func textControl(label, command, text, help string) control {
	return control{Row: config.Row{Label: label, Short: command, Help: help, Field: func(*config.Config) any { return &text }},
		group: "Link", isText: true}
}

// foldText returns the value of foldControl.
func foldText(current *config.Config, rest []lossmodel.KeyInfo, sc scope) string {
	if sc.more {
		return "link settings, enter hides them"
	}
	var changed []string
	for _, k := range rest {
		if text, _ := sc.direction.Link(current).Get(k.Key); text != k.Default {
			changed = append(changed, fmt.Sprintf("%s %s (default %s)", k.Key, text, cmp.Or(k.Default, "none")))
		}
	}
	if len(changed) > 0 {
		return fmt.Sprintf("%d of %d changed: %s", len(changed), len(rest), strings.Join(changed, ", "))
	}
	return fmt.Sprintf("link settings: %d, enter shows them", len(rest))
}

// encoderControl returns the control that selects the encoder.
func (cat *Catalog) encoderControl(schema *frame.Schema) control {
	return control{Row: config.Row{Key: "encoder.name", Label: "Encoder", Short: "encoder", Options: cat.Encoders(schema),
		Field: func(current *config.Config) any { return &current.Encoder.Name }}}
}

// profileControl returns the control that selects the link profile. Its value is the profile, also if a link was changed.
func (cat *Catalog) profileControl() control {
	return control{group: "Link", Row: config.Row{Key: "profile", Label: "Profile", Short: "profile", Options: cat.Links(),
		Help: "a predefined pair of links; sets all link settings below", Field: func(current *config.Config) any {
			p, _ := current.LinkProfile()
			return &p.Name
		}, Display: (*config.Config).LinkProfileText}}
}

// stepCommand returns the command that moves the value by n steps, down if n is negative; false if
// the control cannot be stepped or has no value there.
func (c *control) stepCommand(cfg *config.Config, n int) (cmd live.Command, ok bool) {
	if !c.canStep(cfg) {
		return cmd, false
	}
	v, ok := c.Step(cfg, n)
	if ok {
		cmd = ChangeCommand(config.NewChange(c.Key, v))
	}
	return cmd, ok
}

// isSetting reports whether the value is read from the configuration.
func (c *control) isSetting() bool { return c.Short != speedCommand }

// canStep reports whether the control is that of a key with values to step through.
func (c *control) canStep(cfg *config.Config) bool { return c.Key != "" && c.HasSteps(cfg) }

// typedPrefix returns the start of the line that Enter opens.
func (c *control) typedPrefix() string { return cmp.Or(c.linePrefix, c.Short) }

// newPicker returns a list to choose one of the options of c from.
func (c *control) newPicker(cfg *config.Config) *Picker {
	b := NewPicker(c.Label, c.typedPrefix(), c.Options, c.Text(cfg))
	if c.needsParams {
		b.Enter = func(i int) room.Request {
			return room.Request{Closes: true, Edit: c.typedPrefix() + " " + c.Options[i].Name + " "}
		}
	}
	return b
}

// NextEncoder returns the command that makes the encoder n positions after the active one in the
// list active; false if no encoder supports schema.
func (cat *Catalog) NextEncoder(cfg *config.Config, schema *frame.Schema, n int) (live.Command, bool) {
	c := cat.encoderControl(schema)
	return c.stepCommand(cfg, n)
}

// ChangeCommand returns the command that makes a change.
func ChangeCommand(ch config.Change) live.Command { return live.Command{Change: &ch} }

// speeds are the steps of the speed of virtual time; 0 means as fast as possible.
var speeds = []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 0}

// StepSpeed returns the speed n steps of speeds above the current one, or below it if n is
// negative. A speed between two steps counts as the lower one. 0 means as fast as possible.
func StepSpeed(current float64, n int) float64 {
	i := len(speeds) - 1 // the index of 0, the fastest speed
	if current > 0 {
		for i = 0; i < len(speeds)-2 && speeds[i+1] <= current; { // up to the last finite speed
			i++
		}
	}
	return speeds[min(max(i+n, 0), len(speeds)-1)]
}
