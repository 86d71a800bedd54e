package controls

import (
	"slices"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
)

// control is one thing that can be adjusted.
type control struct {
	label string
	word  string // the command that sets it
	line  string // what enter begins a typed line with, if it is not the word
	group string // heading above the first control of a group
	nest  string // names the block of controls below another one that this is of
	value func(*config.Config) string
	other func(*config.Config) string // the value of the link that is not shown, where it differs
	away  Direction                   // which link that is
	held  func(*config.Config) bool   // a netem line decides this now
	now   func(*config.Config) string // what enter puts behind the line, to be mended; nil: nothing
	// step returns the command that moves the value n rungs; false at the end of
	// the ladder.
	step    func(cfg *config.Config, n int) (experiment.Command, bool)
	level   func(*config.Config) float64 // place on the ladder, 0..1; nil: no gauge
	choices func() []Choice              // nil: a number, or words to type
	preview previewer
	begins  bool // what is chosen only begins a line, to be typed on
	words   bool // the value is words
	help    string
	cat     *Catalog // of the encoder's control only
}

// typed returns what enter begins a line with.
func (c *control) typed() string {
	if c.line != "" {
		return c.line
	}
	return c.word
}

// list returns the choices as a list to pick from.
func (c *control) list(cfg *config.Config) *Picker {
	p := NewPicker(c.label, c.typed(), c.choices(), c.value(cfg))
	p.preview, p.begins = c.preview, c.begins
	if c.word == "encoder" {
		p.beside = append([]string{}, ShadowNames(cfg)...)
		p.card = &encoderCard{cat: c.cat, cfg: cfg}
	}
	return p
}

type mainKey struct{ key, label string }

// mainKeys are the link settings that are always shown, in the order of the pane.
// All others are folded away: see link_more.go.
func mainKeys() []mainKey {
	return []mainKey{
		{"loss", "Loss"}, {"burst", "Burst"}, {"latency", "Latency"}, {"jitter", "Jitter"},
		{"reorder", "Reorder"}, {"duplicate", "Duplicate"}, {"corrupt", "Corrupt"},
		{"rate", "Rate"}, {"queue", "Queue"},
	}
}

// scope says which controls are shown, and which link they show and set.
type scope struct {
	way  Direction
	more bool // those folded away too
}

// controls returns everything that can be adjusted under cfg, from top to
// bottom. Which there are depends on the encoder and on the model of losses:
// their params come along.
func (cat *Catalog) controls(cfg *config.Config, schema *frame.Schema, sc scope) []control {
	var list []control
	if !cat.LinksOnly() {
		list = append([]control{cat.encoderControl(schema)}, cat.paramControls(cfg)...)
	}
	list = append(list, cat.profileControl())
	netem, ok := cat.Key("netem")
	netemAbove := ok && sc.way.Of(cfg).Netem.On // it decides: it stands above what it stands in for
	if netemAbove {
		list = append(list, linkControl("Netem", netem, sc.way))
	}
	for _, m := range mainKeys() {
		if info, ok := cat.Key(m.key); ok {
			list = append(list, linkControl(m.label, info, sc.way))
			if m.key == "loss" {
				list = append(list, lossParamControls(cfg, info, sc.way)...)
			}
		}
	}
	list = append(list, cat.moreControls(sc, netemAbove)...)
	if cat.LinksOnly() {
		return list
	}
	return append(append(list, settingControls(cfg)...), speedControl())
}

func (cat *Catalog) encoderControl(schema *frame.Schema) control {
	return control{
		label: "Encoder", word: "encoder", cat: cat,
		choices: func() []Choice { return cat.Encoders(schema) },
		value:   func(c *config.Config) string { return c.Encoder.Name },
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			name := cycle(cat.Encoders(schema), c.Encoder.Name, n)
			return ChangeCommand(config.NewChange("encoder.name", name)), name != ""
		},
	}
}

func (cat *Catalog) profileControl() control {
	return control{
		label: "Profile", word: "profile", group: "Link", choices: cat.Links, preview: cat.previewLink,
		value: func(c *config.Config) string {
			if c.Profile == "" {
				return "none"
			}
			return c.Profile
		},
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			name := cycle(cat.Links(), c.Profile, n)
			return ChangeCommand(config.NewChange("profile", name)), name != ""
		},
		help: "a ready-made pair of links; sets everything below",
	}
}

// cycle returns the choice n places after name, round and round.
func cycle(list []Choice, name string, n int) string {
	if len(list) == 0 {
		return ""
	}
	i := slices.IndexFunc(list, func(c Choice) bool { return c.name == name })
	if i < 0 && n > 0 {
		i = -1 // the first one comes next
	} else if i < 0 {
		i = 0
	}
	return list[((i+n)%len(list)+len(list))%len(list)].name
}

// speeds are the rungs of the speed of virtual time; 0 is as fast as it can.
func speeds() []float64 { return []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 0} }

// StepSpeed moves a speed n rungs.
func StepSpeed(now float64, n int) float64 {
	all := speeds()
	at := len(all) - 1
	if now > 0 {
		for at = 0; at < len(all)-2 && all[at+1] <= now; {
			at++
		}
	}
	return all[min(max(at+n, 0), len(all)-1)]
}

// speedControl stands for the speed, which belongs to the runner and not to the
// configuration: its value and its steps are filled in by the pane.
func speedControl() control { return control{label: "Speed", word: "speed", group: "Run"} }

// EncoderList is the list of encoders to choose from.
func (cat *Catalog) EncoderList(cfg *config.Config, schema *frame.Schema) *Picker {
	c := cat.encoderControl(schema)
	return c.list(cfg)
}

// NextEncoder is the change to the encoder n places further on; false if there is
// none.
func (cat *Catalog) NextEncoder(cfg *config.Config, schema *frame.Schema, n int) (experiment.Command, bool) {
	return cat.encoderControl(schema).step(cfg, n)
}

// ProfileList is the list of link profiles to choose from.
func (cat *Catalog) ProfileList(cfg *config.Config) *Picker {
	c := cat.profileControl()
	list := c.list(cfg)
	list.title = "Link profile"
	return list
}

// ChangeCommand is the command that makes a change.
func ChangeCommand(ch config.Change) experiment.Command { return experiment.Command{Change: &ch} }
