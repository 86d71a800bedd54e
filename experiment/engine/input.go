package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/dataset/world"
	"wirelab/experiment/config"
)

// PressTime is how long a direction key that was pressed counts as held, in
// virtual time. A terminal tells of a key that is pressed and, while it is held,
// of repeats; that it was let go nobody hears. So a press holds the key for a
// while and a repeat extends it.
const PressTime = 150 * time.Millisecond

// opposite of each direction: to press one lets go of the other.
var opposite = [...]int{1, 0, 3, 2}

// hands are the keys of a live world as the session holds them.
type heldKeys struct {
	manual          bool             // the script does not have them
	until           [4]time.Duration // when each direction, in the order of Directions, is let go
	hover, katamari bool
}

// take carries out an input at now.
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

// keys returns what is held in the frame that is due at now.
func (h *heldKeys) keys(now time.Duration) world.Input {
	held := func(i int) bool { return now < h.until[i] }
	return world.Input{Left: held(0), Right: held(1), Up: held(2), Down: held(3), Push: h.hover, Pull: h.katamari}
}

// playable says why nobody can play the source by ch, nil if somebody can.
func (s *Session) playable(ch config.Change) error {
	if s.steered != nil {
		return nil
	}
	at := slices.IndexFunc(ch, func(x config.Value) bool { return slices.Contains(config.InputKeys(), x.Key) })
	return &config.Error{Key: ch[at].Key, Problem: fmt.Sprintf("nobody can play %s: it is a recording", s.config.Data.Source), Expected: `the live world: data "world"`}
}

// play takes an input over. The source hears of it with its next frame.
func (s *Session) play(now time.Duration, in *config.Input) {
	if in.Reset {
		s.steered.Reset()
	}
	if !s.keys.manual { // whoever takes the keys from the script goes on as it did
		keys := s.steered.Keys()
		s.keys.hover, s.keys.katamari = keys.Push, keys.Pull
	}
	s.keys.take(now, in)
	if in.Autopilot != nil && *in.Autopilot {
		s.steered.Autopilot(true)
	}
}

// steer presses the keys for the frame that is due at now.
func (s *Session) steer(now time.Duration) {
	if s.steered != nil && s.keys.manual {
		s.steered.Hold(s.keys.keys(now))
	}
}
