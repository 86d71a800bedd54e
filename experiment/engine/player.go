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
// reports presses and repeats of a key but not its release, so a press holds the key for pressTime,
// and each repeat extends this.
const pressTime = 150 * time.Millisecond

// opposite maps the index of each of config.Directions to the index of the opposite direction.
// Pressing a direction releases its opposite.
var opposite = [...]int{1, 0, 3, 2}

// player passes the user's input to a live cube world.
type player struct {
	source          dataset.Steered  // nil if the source accepts no input
	manual          bool             // the user plays, not the world's script
	heldUntil       [4]time.Duration // when each of config.Directions is released
	hover, katamari bool             // modes of the player's cube: push other cubes away, pull them along
}

// checkInput returns an error if the source accepts no input. ch must contain an action of the player.
func (p *player) checkInput(c *config.Config, ch config.Change) error {
	if p.source != nil {
		return nil
	}
	return &config.Error{Key: ch.Inputs().Keys()[0],
		Problem:  fmt.Sprintf("%s accepts no input: it is not a live world", c.Data.Source),
		Expected: `data "world"`}
}

// apply applies the actions of ch at now: a reset of the world, held keys, modes, and the switch between
// the user and the world's script. Held keys reach the source with the next frame; see steer.
func (p *player) apply(now time.Duration, ch config.Change) {
	if ch.Value("reset") != nil {
		p.source.Reset()
	}
	if !p.manual { // a user who takes over begins with the modes that the script has set
		keys := p.source.Keys()
		p.hover, p.katamari = keys.Push, keys.Pull
	}
	p.applyKeys(now, ch)
	if ch.Value("autopilot") == true {
		p.source.Autopilot(true)
	}
}

// applyKeys updates the held keys and the modes. Any key or mode makes the input manual.
func (p *player) applyKeys(now time.Duration, ch config.Change) {
	if on := ch.Value("autopilot"); on != nil { // releases all keys and ends the modes
		*p = player{source: p.source, manual: on == false}
	}
	for i, word := range config.Directions() {
		if slices.Contains(strings.Fields(ch.Text("press")), word) {
			p.heldUntil[i], p.heldUntil[opposite[i]] = now+pressTime, 0
			p.manual = true
		}
	}
	if on := ch.Value("hover"); on != nil {
		p.hover, p.manual = on == true, true
	}
	if on := ch.Value("katamari"); on != nil {
		p.katamari, p.manual = on == true, true
	}
}

// steer passes the keys held at now to the source, if the user plays.
func (p *player) steer(now time.Duration) {
	if p.source == nil || !p.manual {
		return
	}
	held := func(i int) bool { return now < p.heldUntil[i] }
	p.source.Hold(world.Input{Left: held(0), Right: held(1), Up: held(2), Down: held(3), Push: p.hover, Pull: p.katamari})
}
