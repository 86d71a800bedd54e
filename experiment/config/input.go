package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Input is an action of the player of a live world. It is part of a Change, so that the replay of a
// played session has the same bytes. Any action except Autopilot ends the control by the script.
type Input struct {
	Press     string `json:"press,omitempty"`     // direction keys, such as "left" or "up right", held for a short time
	Hover     *bool  `json:"hover,omitempty"`     // push cubes away from below the player
	Katamari  *bool  `json:"katamari,omitempty"`  // attract the cubes around the player
	Autopilot *bool  `json:"autopilot,omitempty"` // true: the script controls the player; false: the keys do, none is pressed
	Reset     bool   `json:"reset,omitempty"`     // restart the world
}

// Directions returns the names of the direction keys.
func Directions() []string { return []string{"left", "right", "up", "down"} }

// inputKeys returns the keys that set an Input in an [[at]] table of the configuration, a scripted change.
func inputKeys() []string { return []string{"press", "hover", "katamari", "autopilot", "reset"} }

// members returns the values that the input sets, in the order of inputKeys. in may be nil.
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

// toggle returns the address of the field of a key with a Boolean value: hover, katamari or autopilot. The field
// is nil if the input does not set it.
func (in *Input) toggle(key string) **bool {
	switch key {
	case "hover":
		return &in.Hover
	case "katamari":
		return &in.Katamari
	}
	return &in.Autopilot
}

// then returns the input that has the effect of in followed by next. Both may be nil, which means no input.
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
			return &Error{Key: key, Problem: quoteValue(value) + " is not a direction", Expected: directionsText}
		}
		next.Press = strings.Join(strings.Fields(next.Press), " ")
	case key == "reset" && (!setSwitch(&on, value) || !on):
		return &Error{Key: key, Problem: quoteValue(value) + " " + invalidValue, Expected: "true, which restarts the world"}
	case key == "reset":
		next.Reset = true
	case !setSwitch(&on, value):
		return &Error{Key: key, Problem: quoteValue(value) + " " + invalidValue, Expected: `"on" or "off"`}
	default:
		*next.toggle(key) = &on
	}
	ch.Input = ch.Input.then(&next)
	return checkPress(next.Press)
}

// directionsText describes the values of Input.Press.
const directionsText = `"left", "right", "up", "down", or several of them separated by spaces`

// setSwitch stores the Boolean v in dst, like setBool, but v may also be "on" or "off".
func setSwitch(dst *bool, v any) bool {
	switch v {
	case "on":
		v = true
	case "off":
		v = false
	}
	return setBool(dst, v)
}

// checkPress returns an error if text contains an unknown direction.
func checkPress(text string) error {
	for _, word := range strings.Fields(text) {
		if !slices.Contains(Directions(), word) {
			return Unknown("press", "direction", word, Directions())
		}
	}
	return nil
}

// labels describes the input briefly. in may be nil.
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

// Switches returns the part of an input's label that is shown as a mark in charts. Key presses are too
// frequent, and a reset is a loop point, which has its own mark. in may be nil.
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

// OnlyInput reports whether the change consists only of an input.
func (ch Change) OnlyInput() bool { return ch.Input != nil && len(ch.members()) == 1 }

// onlyPress reports whether the change consists only of a key press.
func (ch Change) onlyPress() bool {
	return ch.OnlyInput() && *ch.Input == Input{Press: ch.Input.Press}
}

// Summarise describes the first change of list, which must not be empty. n is the number of changes described:
// consecutive key presses are summarised, because a played session has thousands of them.
func Summarise(list []StampedChange) (label string, n int) {
	for n < len(list) && list[n].Change.onlyPress() {
		n++
	}
	if n < 2 {
		return list[0].Change.Label(), 1
	}
	return fmt.Sprintf("%d arrow key presses, until %.3f s", n, list[n-1].TS), n
}
