package config

import (
	"fmt"
	"slices"
	"strings"
)

// Input is what somebody does who plays a live world. It is a part of a Change,
// so a session that was played replays to the same bytes. Any part of it but
// Autopilot takes the keys from the script.
type Input struct {
	Press     string `json:"press,omitempty"`     // direction keys, such as "left" or "up right": held for PressTime from now
	Hover     *bool  `json:"hover,omitempty"`     // blow away what is below
	Katamari  *bool  `json:"katamari,omitempty"`  // draw in what is around
	Autopilot *bool  `json:"autopilot,omitempty"` // the script has the keys; false lets go of them all
	Reset     bool   `json:"reset,omitempty"`     // begin the world anew, whoever plays it
}

// Directions are the keys that Press may name.
func Directions() []string { return []string{"left", "right", "up", "down"} }

// InputKeys are the keys of an Input under [[at]], with what they may be set to.
func InputKeys() []string { return []string{"press", "hover", "katamari", "autopilot", "reset"} }

// set sets one key.
func (in *Input) set(key string, value any) error {
	var on bool
	switch key {
	case "press":
		if !setText(&in.Press, value) {
			return &Error{Key: key, Problem: show(value) + " is no direction", Expected: directionsText}
		}
		in.Press = strings.Join(strings.Fields(in.Press), " ")
		return in.Check()
	case "reset":
		if !setSwitch(&on, value) || !on {
			return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: "true: begin the world anew"}
		}
		in.Reset = true
		return nil
	}
	if !setSwitch(&on, value) {
		return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: `"on" or "off"`}
	}
	switch key {
	case "hover":
		in.Hover = &on
	case "katamari":
		in.Katamari = &on
	case "autopilot":
		in.Autopilot = &on
	}
	return nil
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

// check says what is wrong with the directions, if anything is.
func (in *Input) Check() error {
	for _, word := range strings.Fields(in.Press) {
		if !slices.Contains(Directions(), word) {
			return Unknown("press", "direction", word, Directions())
		}
	}
	return nil
}

// values adds the keys of the input to a table of a change.
func (in *Input) values(m map[string]any) {
	if in.Press != "" {
		m["press"] = in.Press
	}
	if in.Reset {
		m["reset"] = true
	}
	for key, on := range map[string]*bool{"hover": in.Hover, "katamari": in.Katamari, "autopilot": in.Autopilot} {
		if on != nil {
			m[key] = *on
		}
	}
}

// label says in a few words what is done: "press left, hover on".
func (in *Input) label() []string {
	var parts []string
	if in.Reset {
		parts = append(parts, "reset the world")
	}
	parts = append(parts, in.Switches()...)
	if in.Press != "" {
		parts = append(parts, "press "+in.Press)
	}
	return parts
}

// switches is the part of the label that is worth a mark in a chart. Presses are
// too many for that, and a reset is a seam, which has a mark of its own.
func (in *Input) Switches() []string {
	var parts []string
	word := map[bool]string{false: "off", true: "on"}
	for _, s := range []struct {
		name string
		on   *bool
	}{{"autopilot", in.Autopilot}, {"hover", in.Hover}, {"katamari", in.Katamari}} {
		if s.on != nil {
			parts = append(parts, s.name+" "+word[*s.on])
		}
	}
	return parts
}

// onlyInput reports whether the change does nothing to the configuration.
func (ch *Change) OnlyInput() bool {
	rest := *ch
	rest.Input = nil
	return ch.Input != nil && rest.IsZero()
}

// onlyPress reports whether the change is a key press and nothing more.
func (ch *Change) onlyPress() bool {
	return ch.OnlyInput() && ch.Input.Press != "" && *ch.Input == Input{Press: ch.Input.Press}
}

// tell says in a few words what the first of several changes does, and how many of
// them that is: key presses in a row, of which a session that was played has
// thousands, are told of together.
func Summarise(list []StampedChange) (label string, n int) {
	for n < len(list) && list[n].Change.onlyPress() {
		n++
	}
	if n < 2 {
		return list[0].Change.Label(), 1
	}
	return fmt.Sprintf("%d presses of the arrow keys, until %.3f s", n, list[n-1].TS), n
}

// Keys names the keys that the input sets.
func (in *Input) Keys() []string {
	m := map[string]any{}
	in.values(m)
	return sortedKeys(m)
}
