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
	Press     string // direction keys, such as "left" or "up right": held for a while from now
	Hover     *bool  // blow away what is below
	Katamari  *bool  // draw in what is around
	Autopilot *bool  // the script has the keys; false lets go of them all
	Reset     bool   // begin the world anew, whoever plays it
}

// Directions are the keys that Press may name.
func Directions() []string { return []string{"left", "right", "up", "down"} }

// InputKeys are the keys of an Input under [[at]], with what they may be set to.
func InputKeys() []string { return []string{"press", "hover", "katamari", "autopilot", "reset"} }

// setInput notes one key of an input.
func (ch *Change) setInput(key string, value any) error {
	var text string
	var on bool
	switch {
	case key == "press" && !setText(&text, value):
		return &Error{Key: key, Problem: show(value) + " is no direction", Expected: directionsText}
	case key == "press":
		text = strings.Join(strings.Fields(text), " ")
		ch.put(key, text)
		return checkPress(text)
	case key == "reset" && (!setSwitch(&on, value) || !on):
		return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: "true: begin the world anew"}
	case !setSwitch(&on, value):
		return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: `"on" or "off"`}
	}
	ch.put(key, on)
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

// checkPress says what is wrong with the directions, if anything is.
func checkPress(text string) error {
	for _, word := range strings.Fields(text) {
		if !slices.Contains(Directions(), word) {
			return Unknown("press", "direction", word, Directions())
		}
	}
	return nil
}

// Input returns what the change does to the keys of a live world; nil if nothing.
func (ch Change) Input() *Input {
	if !slices.ContainsFunc(ch, isInput) {
		return nil
	}
	in := &Input{Press: ch.Text("press"), Reset: ch.Has("reset")}
	for key, dst := range map[string]**bool{"hover": &in.Hover, "katamari": &in.Katamari, "autopilot": &in.Autopilot} {
		if v, ok := ch.Get(key); ok {
			on := v == true
			*dst = &on
		}
	}
	return in
}

func isInput(x Value) bool { return slices.Contains(InputKeys(), x.Key) }

// inputPart is what somebody does who plays. It leaves the configuration alone.
func inputPart() part {
	return part{
		owns:  func(key string) bool { return slices.Contains(InputKeys(), key) },
		apply: func(*Config, Change) error { return nil },
		label: func(values Change) (words []string) {
			if values.Has("reset") {
				words = append(words, "reset the world")
			}
			words = append(words, values.Switches()...)
			if keys := values.Text("press"); keys != "" {
				words = append(words, "press "+keys)
			}
			return words
		},
		write: func(values Change, m map[string]any) {
			for _, x := range values {
				m[x.Key] = x.Value
			}
		},
	}
}

// Switches is the part of an input's label that is worth a mark in a chart. Presses are
// too many for that, and a reset is a seam, which has a mark of its own.
func (ch Change) Switches() (words []string) {
	for _, key := range []string{"autopilot", "hover", "katamari"} {
		if v, ok := ch.Get(key); ok {
			words = append(words, key+" "+map[bool]string{false: "off", true: "on"}[v == true])
		}
	}
	return words
}

// OnlyInput reports whether the change does nothing to the configuration but play.
func (ch Change) OnlyInput() bool {
	return len(ch) > 0 && !slices.ContainsFunc(ch, func(x Value) bool { return !isInput(x) })
}

// onlyPress reports whether the change is a key press and nothing more.
func (ch Change) onlyPress() bool { return len(ch) == 1 && ch[0].Key == "press" }

// Summarise says in a few words what the first of several changes does, and how many of
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
