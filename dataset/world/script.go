package world

import (
	"fmt"
	"strings"

	"wirelab/dataset/source"
)

// Script describes one way of playing the world without a person.
type Script struct {
	Name    string
	Summary string
	Seconds float64 // one round of it; 0 if it has no rounds
	acts    []act
}

// act is one stretch of a script.
type act struct {
	seconds float64
	hold    Input   // keys held throughout
	style   style   // how direction keys are pressed as well
	pace    float64 // chasing: metres per second above which they are let go; 0: never
}

// style is how the pilot steers.
type style uint8

const (
	stay  style = iota // no direction keys
	chase              // from one place to another
	drift              // one direction after another
)

// The acts that scripts are made of.
func rest(seconds float64) act { return act{seconds: seconds} }
func roll(seconds float64) act { return act{seconds: seconds, style: chase, pace: 12} }
func hovering(seconds float64) act {
	return act{seconds: seconds, style: drift, hold: Input{Push: true}}
}
func gather(seconds float64) act {
	return act{seconds: seconds, style: chase, pace: 8, hold: Input{Pull: true}}
}

// Scripts lists the scripts there are.
func Scripts() []Script {
	scripts := []Script{
		{Name: "idle", Summary: "the player falls into the grid and stays there", acts: []act{rest(60)}},
		{Name: "roll", Summary: "rolls through the cubes", acts: []act{rest(2), roll(58)}},
		{Name: "hover", Summary: "hovers through the grid and blows it apart", acts: []act{rest(2), hovering(58)}},
		{Name: "katamari", Summary: "rolls and gathers up what is near", acts: []act{rest(2), gather(58)}},
		{Name: "demo", Summary: "each in turn, the liveliest first, with pauses in which everything settles", acts: []act{
			rest(1), hovering(15), rest(3), gather(12), rest(3), roll(9), rest(5)}},
		{Name: "random", Summary: "mostly hovers, now and then rolls, gathers or pauses; for ever"},
	}
	for i := range scripts {
		for _, a := range scripts[i].acts {
			scripts[i].Seconds += a.seconds
		}
	}
	return scripts
}

// findScript returns the script called name.
func findScript(name string) (Script, error) {
	var known []string
	for _, s := range Scripts() {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	text := fmt.Sprintf("script %q: unknown, expected one of %s", name, strings.Join(known, ", "))
	return Script{}, &source.UnknownError{Text: text, Name: name, Known: known}
}
