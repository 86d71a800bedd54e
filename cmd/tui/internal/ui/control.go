package ui

import (
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/lossmodel"
)

// control is one thing that can be adjusted.
type control struct {
	label string
	word  string // the command that sets it
	group string // heading above the first control of a group
	sub   bool   // belongs to the control above it
	value func(*experiment.Config) string
	other func(*experiment.Config) string // the up link's value, where it differs
	// step returns the command that moves the value n rungs; false at the end of
	// the ladder.
	step    func(cfg *experiment.Config, n int) (experiment.Command, bool)
	level   func(*experiment.Config) float64 // place on the ladder, 0..1; nil: no gauge
	choices func() []choice                  // nil: a number
	help    string
}

type mainKey struct{ key, label string }

// mainKeys are the link settings that have a control, in the order of the pane;
// all others can be typed.
func mainKeys() []mainKey {
	return []mainKey{
		{"loss", "Loss"}, {"burst", "Burst"}, {"latency", "Latency"}, {"jitter", "Jitter"},
		{"reorder", "Reorder"}, {"duplicate", "Duplicate"}, {"corrupt", "Corrupt"},
		{"rate", "Rate"}, {"queue", "Queue"},
	}
}

// controls returns everything that can be adjusted under cfg, from top to
// bottom. Which there are depends on the encoder: its params come along.
func (cat *catalog) controls(cfg *experiment.Config, schema *frame.Schema) []control {
	list := append([]control{cat.encoderControl(schema)}, cat.paramControls(cfg)...)
	list = append(list, cat.profileControl())
	for _, m := range mainKeys() {
		if info, ok := cat.key(m.key); ok {
			list = append(list, linkControl(m.label, info))
		}
	}
	return append(list, playoutControl(), speedControl())
}

func (cat *catalog) encoderControl(schema *frame.Schema) control {
	return control{
		label: "Encoder", word: "encoder",
		choices: func() []choice { return cat.encoders(schema) },
		value:   func(c *experiment.Config) string { return c.Encoder.Name },
		step: func(c *experiment.Config, n int) (experiment.Command, bool) {
			name := cycle(cat.encoders(schema), c.Encoder.Name, n)
			return changeCommand(experiment.Change{Encoder: name}), name != ""
		},
	}
}

func (cat *catalog) profileControl() control {
	return control{
		label: "Profile", word: "profile", group: "Link", choices: cat.links,
		value: func(c *experiment.Config) string {
			if c.Profile == "" {
				return "none"
			}
			return c.Profile
		},
		step: func(c *experiment.Config, n int) (experiment.Command, bool) {
			name := cycle(cat.links(), c.Profile, n)
			return changeCommand(experiment.Change{Profile: name}), name != ""
		},
		help: "a ready-made pair of links; sets everything below",
	}
}

// cycle returns the choice n places after name, round and round.
func cycle(list []choice, name string, n int) string {
	if len(list) == 0 {
		return ""
	}
	i := slices.IndexFunc(list, func(c choice) bool { return c.name == name })
	if i < 0 && n > 0 {
		i = -1 // the first one comes next
	} else if i < 0 {
		i = 0
	}
	return list[((i+n)%len(list)+len(list))%len(list)].name
}

// linkControl adjusts one setting of both directions at once.
func linkControl(label string, info lossmodel.KeyInfo) control {
	key := info.Key
	get := func(s lossmodel.Spec) string {
		text, err := s.Get(key)
		if err != nil {
			return "?"
		}
		return text
	}
	c := control{
		label: label, word: key, group: "Link", help: info.Help,
		value: func(c *experiment.Config) string { return get(c.Down) },
		other: func(c *experiment.Config) string {
			if up := get(c.Up); up != get(c.Down) {
				return up
			}
			return ""
		},
		step: func(c *experiment.Config, n int) (experiment.Command, bool) {
			spec := c.Down
			if err := spec.Nudge(key, n); err != nil {
				return experiment.Command{}, false
			}
			text := get(spec)
			return changeCommand(bothWays(key, text)), text != get(c.Down)
		},
	}
	if len(info.Ladder) > 1 {
		c.level = func(c *experiment.Config) float64 { return ladderLevel(c.Down, info) }
	}
	if len(info.Choices) > 0 {
		c.choices = func() []choice { return plainChoices(info.Choices) }
	}
	return c
}

// ladderLevel says how far up its ladder a setting is. A ladder is spaced for
// the hand, so this shows more of small values than a linear gauge would.
func ladderLevel(spec lossmodel.Spec, info lossmodel.KeyInfo) float64 {
	top := float64(len(info.Ladder) - 1)
	if text, err := spec.Get(info.Key); err == nil {
		if i := slices.Index(info.Ladder, text); i >= 0 {
			return float64(i) / top
		}
	}
	now, ok := spec.Number(info.Key)
	below := 0
	for i, rung := range info.Ladder {
		probe := spec
		if !ok || rung == "off" || probe.Set(info.Key, rung) != nil {
			continue
		}
		if v, ok := probe.Number(info.Key); ok && v <= now {
			below = i
		}
	}
	return float64(below) / top
}

// playoutStep is one press on the playout delay.
const playoutStep = 5 * time.Millisecond

func playoutControl() control {
	return control{
		label: "Playout", word: "playout", group: "Run",
		value: func(c *experiment.Config) string { return c.Receiver.Playout.String() },
		step: func(c *experiment.Config, n int) (experiment.Command, bool) {
			d := max(c.Receiver.Playout+time.Duration(n)*playoutStep, 0)
			return changeCommand(experiment.Change{Playout: &d}), d != c.Receiver.Playout
		},
		help: "how long the receiver holds snapshots back, so that late ones still come in time",
	}
}

// speeds are the rungs of the speed of virtual time; 0 is as fast as it can.
func speeds() []float64 { return []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 0} }

// stepSpeed moves a speed n rungs.
func stepSpeed(now float64, n int) float64 {
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

func changeCommand(ch experiment.Change) experiment.Command { return experiment.Command{Change: &ch} }

// bothWays sets one key of both links.
func bothWays(key, value string) experiment.Change {
	return experiment.Change{Down: map[string]string{key: value}, Up: map[string]string{key: value}}
}
