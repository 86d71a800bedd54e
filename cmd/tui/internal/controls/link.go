package controls

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// Direction is which link a setting is for.
type Direction uint8

const (
	BothDirections Direction = iota
	DownOnly
	UpOnly
)

// Of returns the link that is shown: for both it is the one to the receiver.
func (d Direction) Of(c *config.Config) *lossmodel.Spec {
	if d == UpOnly {
		return &c.Up
	}
	return &c.Down
}

// away is the link that is not shown.
func (d Direction) away() Direction {
	if d == UpOnly {
		return DownOnly
	}
	return UpOnly
}

// prefix is the word that makes a typed setting one for d.
func (d Direction) prefix() string { return [...]string{"", "down ", "up "}[d] }

// Set is the change that sets a key of the links that d names.
func (d Direction) Set(key, value string) config.Change {
	switch d {
	case UpOnly:
		return config.NewChange("up."+key, value)
	case DownOnly:
		return config.NewChange("down."+key, value)
	}
	return config.NewChange("down."+key, value, "up."+key, value)
}

// textOf returns the value of a key.
func textOf(s *lossmodel.Spec, key string) string {
	text, err := s.Get(key)
	if err != nil {
		return "?"
	}
	return text
}

// governed reports whether a netem line decides what a key says.
func governed(info lossmodel.KeyInfo) bool {
	return info.Stage != "netem" && info.Stage != "mtu" && info.Key != "checksum"
}

// linkControl adjusts one setting of a link, or of both at once.
func linkControl(label string, info lossmodel.KeyInfo, way Direction) control {
	key := info.Key
	c := control{
		label: label, word: key, line: way.prefix() + key, group: "Link", help: info.Help, away: way.away(),
		words: len(info.Ladder) == 0 && len(info.Choices) == 0,
		value: func(c *config.Config) string { return textOf(way.Of(c), key) },
		other: func(c *config.Config) string {
			if there := textOf(way.away().Of(c), key); there != textOf(way.Of(c), key) {
				return there
			}
			return ""
		},
		held: func(c *config.Config) bool { return governed(info) && way.Of(c).Netem.On },
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			spec := *way.Of(c)
			if spec.Netem.On && governed(info) {
				spec.Netem = lossmodel.DefaultSpec().Netem // the engine refuses it, and says why
			}
			if err := spec.Nudge(key, n); err != nil {
				return experiment.Command{}, false
			}
			text := textOf(&spec, key)
			return ChangeCommand(way.Set(key, text)), text != textOf(way.Of(c), key)
		},
	}
	if c.words || len(info.Models) > 0 {
		c.now = func(cfg *config.Config) string { return wordsOf(c.value(cfg)) }
	}
	if c.words {
		c.step = nil
	}
	if len(info.Ladder) > 1 {
		c.level = func(c *config.Config) float64 { return ladderLevel(*way.Of(c), info) }
	}
	if len(info.Choices) > 0 {
		c.choices = func() []Choice { return plainChoices(info.Choices) }
	}
	return c
}

// wordsOf returns a value that is worth mending rather than typing anew.
func wordsOf(text string) string {
	if number, _ := look.SplitUnit(text); text == "off" || number != "" && !strings.Contains(text, " ") {
		return ""
	}
	return text
}

// ladderLevel says how far up its ladder a setting is. A ladder is spaced for
// the hand, so this shows more of small values than a linear gauge would.
func ladderLevel(spec lossmodel.Spec, info lossmodel.KeyInfo) float64 {
	spec.Netem = lossmodel.DefaultSpec().Netem // it would refuse the rungs
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
