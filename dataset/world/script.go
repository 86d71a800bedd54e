package world

import (
	"fmt"
	"strings"

	"wirelab/dataset/source"
)

// Script is a way of playing the world automatically.
type Script struct {
	Name    string
	Summary string
	Seconds float64 // duration of all acts, which repeat; 0 if acts are random
	acts    []act   // empty if acts are random
}

// act is one part of a script.
type act struct {
	seconds  float64
	keys     Input    // keys held all the time
	steering steering // how the direction keys are used
	maxSpeed float64  // chasing: speed in m/s above which no direction key is held; 0 means no limit
}

// steering is the way in which the pilot uses the direction keys.
type steering uint8

const (
	noSteering steering = iota // no direction key is held
	chase                      // the pilot steers towards one cube after another
	drift                      // the pilot holds one direction after another
)

// Constructors of the acts that scripts consist of.
func restAct(seconds float64) act { return act{seconds: seconds} }
func rollAct(seconds float64) act { return act{seconds: seconds, steering: chase, maxSpeed: 12} }
func hoverAct(seconds float64) act {
	return act{seconds: seconds, steering: drift, keys: Input{Push: true}}
}
func gatherAct(seconds float64) act {
	return act{seconds: seconds, steering: chase, maxSpeed: 8, keys: Input{Pull: true}}
}

// Scripts returns all scripts, in the order of lists for users.
func Scripts() []Script {
	scripts := []Script{
		{Name: "idle", Summary: "the player falls into the grid and stays there", acts: []act{restAct(60)}},
		{Name: "roll", Summary: "rolls through the cubes", acts: []act{restAct(2), rollAct(58)}},
		{Name: "hover", Summary: "hovers through the grid and blows it apart", acts: []act{restAct(2), hoverAct(58)}},
		{Name: "katamari", Summary: "rolls and gathers up the cubes nearby", acts: []act{restAct(2), gatherAct(58)}},
		{Name: "demo", Summary: "hovers, gathers and rolls, with pauses in which everything settles", acts: []act{
			restAct(1), hoverAct(15), restAct(3), gatherAct(12), restAct(3), rollAct(9), restAct(5)}},
		{Name: "random", Summary: "mostly hovers, sometimes rolls, gathers or pauses; without end"},
	}
	for i := range scripts {
		for _, a := range scripts[i].acts {
			scripts[i].Seconds += a.seconds
		}
	}
	return scripts
}

// findScript returns the script called name, or a *source.UnknownError.
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
