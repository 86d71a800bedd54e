package controls

import (
	"slices"
	"strconv"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
)

// fewHz is up to how many snapshots a second the cubic makes a visible
// difference: its control is shown then.
const fewHz = 30

// playoutControls are the controls of the receiver's display and, at low rates,
// of how often snapshots are sent.
func playoutControls(cfg *config.Config) []control {
	list := []control{playoutControl()}
	few := cfg.Sender.RateHz/cfg.Sender.Every <= fewHz
	if few || cfg.Receiver.Interpolation != config.Linear {
		list = append(list, interpolationControl())
	}
	if few || cfg.Sender.Every > 1 {
		list = append(list, everyControl())
	}
	return list
}

// SendSteps are the rungs of SenderConfig.Every, from all to one in sixty.
func SendSteps() []int { return []int{1, 2, 3, 4, 6, 10, 12, 20, 30, 60} }

// everyControl chooses how many of the snapshots are sent: more to the right.
func everyControl() control {
	place := func(c *config.Config) int {
		i, _ := slices.BinarySearch(SendSteps(), c.Sender.Every)
		return i
	}
	last := len(SendSteps()) - 1
	return control{
		label: "Send", word: "every", group: "Run",
		value: func(c *config.Config) string {
			return strconv.FormatFloat(float64(c.Sender.RateHz)/float64(c.Sender.Every), 'f', -1, 64) + " /s"
		},
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			every := SendSteps()[min(max(place(c)-n, 0), last)]
			return ChangeCommand(config.Change{Every: every}), every != c.Sender.Every
		},
		level: func(c *config.Config) float64 { return 1 - float64(place(c))/float64(last) },
		help:  "snapshots sent a second: every so many-th of those that are made",
	}
}

// playoutStep is one press on the playout delay.
const playoutStep = 5 * time.Millisecond

func playoutControl() control {
	return control{
		label: "Playout", word: "playout", group: "Run",
		value: func(c *config.Config) string { return c.Receiver.Playout.String() },
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			d := max(c.Receiver.Playout+time.Duration(n)*playoutStep, 0)
			return ChangeCommand(config.Change{Playout: &d}), d != c.Receiver.Playout
		},
		help: "how long the receiver holds snapshots back: three intervals and the jitter outlast two losses in a row. Its display " +
			"slows down or hurries to a new delay, it never jumps back",
	}
}

// interpolationControl chooses how the receiver's display moves from one snapshot
// to the next.
func interpolationControl() control {
	return control{
		label: "Blend", word: "interpolation", group: "Run", choices: interpolations,
		value: func(c *config.Config) string { return c.Receiver.Interpolation.String() },
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			name := cycle(interpolations(), c.Receiver.Interpolation.String(), n)
			return ChangeCommand(config.Change{Interpolation: name}), true
		},
		help: "how the receiver's display moves from one snapshot to the next",
	}
}

func interpolations() []Choice {
	says := map[config.Interpolation]string{
		config.Linear:  "on the straight line",
		config.Hermite: "on a cubic, with velocities reckoned from the snapshots around: for low rates",
	}
	var list []Choice
	for i, name := range config.Interpolations() {
		list = append(list, Choice{name, says[config.Interpolation(i)]})
	}
	return list
}
