package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Input is what a player of a live world does. It is a part of a Change,
// so a session that was played replays to the same bytes. Any part of it but
// Autopilot takes the keys from the script.
type Input struct {
	Press     string `json:"press,omitempty"`     // direction keys, such as "left" or "up right": held for a while from now
	Hover     *bool  `json:"hover,omitempty"`     // blow away what is below
	Katamari  *bool  `json:"katamari,omitempty"`  // draw in what is around
	Autopilot *bool  `json:"autopilot,omitempty"` // true: the script has the keys; false: the player, who holds none
	Reset     bool   `json:"reset,omitempty"`     // begin the world again
}

// Directions are the keys that Press may name.
func Directions() []string { return []string{"left", "right", "up", "down"} }

// inputKeys are the keys of an Input under [[at]].
func inputKeys() []string { return []string{"press", "hover", "katamari", "autopilot", "reset"} }

// members lists what the input sets, in the order of inputKeys; in may be nil.
func (in *Input) members() []member {
	if in == nil {
		return nil
	}
	list := []member{{"press", in.Press, in.Press != ""}}
	for _, key := range []string{"hover", "katamari", "autopilot"} {
		if on := *in.toggle(key); on != nil {
			list = append(list, member{key, *on, true})
		}
	}
	list = append(list, member{"reset", true, in.Reset})
	return slices.DeleteFunc(list, func(m member) bool { return !m.set })
}

// toggle returns the field of a key that is on or off.
func (in *Input) toggle(key string) **bool {
	switch key {
	case "hover":
		return &in.Hover
	case "katamari":
		return &in.Katamari
	}
	return &in.Autopilot
}

// then returns the input that does what in and then next do; both may be nil.
func (in *Input) then(next *Input) *Input {
	if in == nil || next == nil {
		return cmp.Or(next, in)
	}
	out := *in
	out.Press, out.Reset = cmp.Or(next.Press, in.Press), in.Reset || next.Reset
	for _, key := range []string{"hover", "katamari", "autopilot"} {
		dst := out.toggle(key)
		*dst = cmp.Or(*next.toggle(key), *dst)
	}
	return &out
}

// setInput sets one key of an input.
func (ch *Change) setInput(key string, value any) error {
	var next Input
	var on bool
	switch {
	case key == "press":
		if !setText(&next.Press, value) {
			return &Error{Key: key, Problem: show(value) + " is no direction", Expected: directionsText}
		}
		next.Press = strings.Join(strings.Fields(next.Press), " ")
	case key == "reset" && (!setSwitch(&on, value) || !on):
		return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: "true: begin the world anew"}
	case key == "reset":
		next.Reset = true
	case !setSwitch(&on, value):
		return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: `"on" or "off"`}
	default:
		*next.toggle(key) = &on
	}
	ch.Input = ch.Input.then(&next)
	return checkPress(next.Press)
}

const directionsText = `"left", "right", "up", "down", or several of them with a space between`

// setSwitch is setBool that understands "on" and "off" as well.
func setSwitch(dst *bool, v any) bool {
	switch v {
	case "on":
		v = true
	case "off":
		v = false
	}
	return setBool(dst, v)
}

// checkPress returns an error if text names a direction that does not exist.
func checkPress(text string) error {
	for _, word := range strings.Fields(text) {
		if !slices.Contains(Directions(), word) {
			return Unknown("press", "direction", word, Directions())
		}
	}
	return nil
}

// labels describes the input in a few words; in may be nil.
func (in *Input) labels() (words []string) {
	if in == nil {
		return nil
	}
	if in.Reset {
		words = append(words, "reset the world")
	}
	words = append(words, in.Switches()...)
	if in.Press != "" {
		words = append(words, "press "+in.Press)
	}
	return words
}

// Switches is the part of an input's label that is worth a mark in a chart. Presses are
// too many for that, and a reset is a loop point, which has a mark of its own. in may be nil.
func (in *Input) Switches() (words []string) {
	if in == nil {
		return nil
	}
	for _, key := range []string{"autopilot", "hover", "katamari"} {
		if on := *in.toggle(key); on != nil {
			words = append(words, key+" "+map[bool]string{false: "off", true: "on"}[*on])
		}
	}
	return words
}

// OnlyInput reports whether the change does nothing to the configuration but play.
func (ch Change) OnlyInput() bool { return ch.Input != nil && len(ch.members()) == 1 }

// onlyPress reports whether the change is a key press and nothing more.
func (ch Change) onlyPress() bool {
	return ch.OnlyInput() && *ch.Input == Input{Press: ch.Input.Press}
}

// Summarise describes in a few words what the first of several changes does, and how many of
// them that is: key presses in a row count as one, since a session that was played has
// thousands.
func Summarise(list []StampedChange) (label string, n int) {
	for n < len(list) && list[n].Change.onlyPress() {
		n++
	}
	if n < 2 {
		return list[0].Change.Label(), 1
	}
	return fmt.Sprintf("%d presses of the arrow keys, until %.3f s", n, list[n-1].TS), n
}
