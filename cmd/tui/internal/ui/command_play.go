package ui

import (
	"slices"
	"strings"

	"wirelab/experiment/config"
)

// playVerbs are the typed commands that play the live world: what the keys of the
// world's page do, with the switches by value.
func playVerbs() []verb {
	list := []verb{{name: "press", args: "DIRECTION...", help: "play the world: push the player left, right, up or down", parse: parseInput("press"),
		complete: func(_ desk, before []string) []string {
			return slices.DeleteFunc(config.Directions(), func(d string) bool { return slices.Contains(before, d) })
		}}}
	for _, s := range [][2]string{
		{"hover", "play the world: fly, and blow away what is below"},
		{"katamari", "play the world: draw in what is around"},
		{"autopilot", "let the script play the world, or nobody"},
	} {
		list = append(list, verb{name: s[0], args: "on|off", help: s[1], parse: parseInput(s[0]),
			complete: func(_ desk, before []string) []string { return firstOnly(before, []string{"on", "off"}) }})
	}
	return append(list, verb{name: "reset", help: "play the world: all cubes back in the grid", parse: parseReset})
}

// parseInput reads the arguments as the value of a key of an input.
func parseInput(key string) func([]string) (order, error) {
	return func(args []string) (order, error) {
		if len(args) == 0 {
			return order{}, errUsage
		}
		var ch config.Change
		if err := ch.Set(key, strings.ToLower(strings.Join(args, " "))); err != nil {
			return order{}, err
		}
		return changeOrder(ch), nil
	}
}

func parseReset(args []string) (order, error) {
	if len(args) != 0 {
		return order{}, errUsage
	}
	return changeOrder(config.Change{Input: &config.Input{Reset: true}}), nil
}
