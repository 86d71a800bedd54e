package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/world"
	"wirelab/experiment/config"
)

// pressTime is how long a press of a direction key counts as held, in virtual time. A terminal
// reports presses and repeats of a key but not its release. So a press holds the key for
// pressTime, and each repeat extends that.
const pressTime = 150 * time.Millisecond

// opposite is the index of the opposite of each direction. Pressing a direction releases its
// opposite.
var opposite = [...]int{1, 0, 3, 2}

// player is the user's input to a live world.
type player struct {
	source          dataset.Steered  // nil if the source takes no input
	manual          bool             // the user has the keys, not the script
	heldUntil       [4]time.Duration // when each of config.Directions is released
	hover, katamari bool
}

// check returns an error if the source takes no input; ch contains some.
func (p *player) check(c *config.Config, ch config.Change) error {
	if p.source != nil {
		return nil
	}
	return &config.Error{Key: config.Change{Input: ch.Input}.Keys()[0], Problem: fmt.Sprintf("nobody can play %s: it is a recording", c.Data.Source),
		Expected: `the live world: data "world"`}
}

// apply applies an input at now. It reaches the source with the next frame.
func (p *player) apply(now time.Duration, in *config.Input) {
	if in.Reset {
		p.source.Reset()
	}
	if !p.manual { // the user begins with the script's modes
		keys := p.source.Keys()
		p.hover, p.katamari = keys.Push, keys.Pull
	}
	p.hold(now, in)
	if in.Autopilot != nil && *in.Autopilot {
		p.source.Autopilot(true)
	}
}

// hold changes the keys that are held.
func (p *player) hold(now time.Duration, in *config.Input) {
	if in.Autopilot != nil {
		*p = player{source: p.source, manual: !*in.Autopilot}
	}
	if in.Press == "" && in.Hover == nil && in.Katamari == nil {
		return
	}
	p.manual = true
	for i, word := range config.Directions() {
		if slices.Contains(strings.Fields(in.Press), word) {
			p.heldUntil[i], p.heldUntil[opposite[i]] = now+pressTime, 0
		}
	}
	if in.Hover != nil {
		p.hover = *in.Hover
	}
	if in.Katamari != nil {
		p.katamari = *in.Katamari
	}
}

// steer passes the held keys to the source for the frame that is due at now.
func (p *player) steer(now time.Duration) {
	if p.source == nil || !p.manual {
		return
	}
	held := func(i int) bool { return now < p.heldUntil[i] }
	p.source.Hold(world.Input{Left: held(0), Right: held(1), Up: held(2), Down: held(3), Push: p.hover, Pull: p.katamari})
}
