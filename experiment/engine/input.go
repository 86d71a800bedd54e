package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/dataset/world"
	"wirelab/experiment/config"
)

// PressTime is how long a press of a direction key counts as held, in virtual time. A
// terminal reports presses and repeats of a key but not its release. So a press holds
// the key for PressTime, and each repeat extends that.
const PressTime = 150 * time.Millisecond

// opposite is the index of the opposite of each direction. Pressing a direction
// releases its opposite.
var opposite = [...]int{1, 0, 3, 2}

// heldKeys are the keys that the session holds down in a live world.
type heldKeys struct {
	manual          bool             // the user has the keys, not the script
	until           [4]time.Duration // when each of config.Directions is released
	hover, katamari bool
}

// take applies an input at now.
func (h *heldKeys) take(now time.Duration, in *config.Input) {
	if in.Autopilot != nil {
		*h = heldKeys{manual: !*in.Autopilot}
	}
	if in.Press == "" && in.Hover == nil && in.Katamari == nil {
		return
	}
	h.manual = true
	for i, word := range config.Directions() {
		if slices.Contains(strings.Fields(in.Press), word) {
			h.until[i], h.until[opposite[i]] = now+PressTime, 0
		}
	}
	if in.Hover != nil {
		h.hover = *in.Hover
	}
	if in.Katamari != nil {
		h.katamari = *in.Katamari
	}
}

// keys returns the keys held in the frame that is due at now.
func (h *heldKeys) keys(now time.Duration) world.Input {
	held := func(i int) bool { return now < h.until[i] }
	return world.Input{Left: held(0), Right: held(1), Up: held(2), Down: held(3), Push: h.hover, Pull: h.katamari}
}

// playable returns an error if the source takes no player input such as ch.
func (s *Session) playable(ch config.Change) error {
	if s.steered != nil {
		return nil
	}
	at := slices.IndexFunc(ch, func(x config.Value) bool { return slices.Contains(config.InputKeys(), x.Key) })
	return &config.Error{Key: ch[at].Key, Problem: fmt.Sprintf("nobody can play %s: it is a recording", s.config.Data.Source),
		Expected: `the live world: data "world"`}
}

// play applies an input. It reaches the source with the next frame.
func (s *Session) play(now time.Duration, in *config.Input) {
	if in.Reset {
		s.steered.Reset()
	}
	if !s.keys.manual { // the user begins with the script's modes
		keys := s.steered.Keys()
		s.keys.hover, s.keys.katamari = keys.Push, keys.Pull
	}
	s.keys.take(now, in)
	if in.Autopilot != nil && *in.Autopilot {
		s.steered.Autopilot(true)
	}
}

// steer passes the held keys to the source for the frame that is due at now.
func (s *Session) steer(now time.Duration) {
	if s.steered != nil && s.keys.manual {
		s.steered.Hold(s.keys.keys(now))
	}
}
