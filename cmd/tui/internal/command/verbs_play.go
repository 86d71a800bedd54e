package command

import (
	"slices"
	"strings"

	"wirelab/experiment/config"
)

// playVerbs are the typed commands that play the live world: what the keys of the
// world's page do, with the switches by value.
func playVerbs() []Verb {
	list := []Verb{{Name: "press", Args: "DIRECTION...", Help: "play the world: left, right, up, down",
		parse: parseInput("press"),
		complete: func(_ Context, before []string) []string {
			return slices.DeleteFunc(config.Directions(), func(d string) bool { return slices.Contains(before, d) })
		}}}
	for _, s := range [][2]string{
		{"hover", "play the world: fly, and blow away what is below"},
		{"katamari", "play the world: draw in what is around"},
		{"autopilot", "let the script play the world, or nobody"},
	} {
		list = append(list, Verb{Name: s[0], Args: "on|off", Help: s[1], parse: parseInput(s[0]),
			complete: func(_ Context, before []string) []string { return firstOnly(before, []string{"on", "off"}) }})
	}
	return append(list, Verb{Name: "reset", Help: "play the world: all cubes back in the grid", parse: parseReset})
}

// parseInput reads the arguments as the value of a key of an input.
func parseInput(key string) func([]string) (Order, error) {
	return func(args []string) (Order, error) {
		if len(args) == 0 {
			return Order{}, errUsage
		}
		var ch config.Change
		if err := ch.Set(key, strings.ToLower(strings.Join(args, " "))); err != nil {
			return Order{}, err
		}
		return changeOrder(ch), nil
	}
}

func parseReset(args []string) (Order, error) {
	if len(args) != 0 {
		return Order{}, errUsage
	}
	return changeOrder(config.NewChange("reset", true)), nil
}
