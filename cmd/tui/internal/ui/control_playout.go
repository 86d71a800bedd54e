package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/experiment"
)

// fewHz is how few snapshots a second are few: the cubic makes a difference that
// can be seen, and its control appears.
const fewHz = 30

// playoutControls are those of the receiver's display.
func playoutControls(cfg *experiment.Config) []control {
	list := []control{playoutControl()}
	if cfg.Sender.RateHz <= fewHz || cfg.Receiver.Interpolation != experiment.Linear {
		list = append(list, interpolationControl())
	}
	return list
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
		help: "how long the receiver holds snapshots back: three intervals and the jitter outlast two losses in a row. Its display slows down or hurries to a new delay, it never jumps back",
	}
}

// interpolationControl chooses how the receiver's display moves from one snapshot
// to the next.
func interpolationControl() control {
	return control{
		label: "Blend", word: "interpolation", group: "Run", choices: interpolations,
		value: func(c *experiment.Config) string { return c.Receiver.Interpolation.String() },
		step: func(c *experiment.Config, n int) (experiment.Command, bool) {
			name := cycle(interpolations(), c.Receiver.Interpolation.String(), n)
			return changeCommand(experiment.Change{Interpolation: name}), true
		},
		help: "how the receiver's display moves from one snapshot to the next",
	}
}

func interpolations() []choice {
	says := map[experiment.Interpolation]string{
		experiment.Linear:  "on the straight line",
		experiment.Hermite: "on a cubic, with velocities reckoned from the snapshots around: for low rates",
	}
	var list []choice
	for i, name := range experiment.Interpolations() {
		list = append(list, choice{name, says[experiment.Interpolation(i)]})
	}
	return list
}

// parseInterpolation reads "interpolation hermite".
func parseInterpolation(args []string) (order, error) {
	if len(args) != 1 {
		return order{}, errUsage
	}
	names := experiment.Interpolations()
	if name := strings.ToLower(args[0]); slices.Contains(names, name) {
		return changeOrder(experiment.Change{Interpolation: name}), nil
	}
	return order{}, fmt.Errorf("expected one of %s", strings.Join(names, ", "))
}

func completeInterpolation(_ desk, before []string) []string {
	return firstOnly(before, experiment.Interpolations())
}
