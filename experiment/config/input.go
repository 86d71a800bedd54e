package config

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/internal/setting"
)

// Directions returns the names of the direction keys.
func Directions() []string { return []string{"left", "right", "up", "down"} }

// inputKeys returns the keys of a change that are actions of the player of a live world: "press" holds
// direction keys, such as "left" or "up right", for a short time, "hover" pushes cubes away from below
// the player, "katamari" attracts those around it, "autopilot" lets the script control the player, and
// "reset" restarts the world. They are part of a change, so that the replay of a played session has the
// same bytes. Any action except autopilot ends the control by the script.
func inputKeys() []string { return []string{"reset", "autopilot", "hover", "katamari", "press"} }

// isInput reports whether key is one of inputKeys.
func isInput(key string) bool { return slices.Contains(inputKeys(), key) }

// setInput sets one of inputKeys.
func (ch *Change) setInput(key string, value any) error {
	if key == "press" {
		return ch.setPress(value)
	}
	on, ok := setting.Switch.Parse(value)
	expected := `"on" or "off"`
	if key == "reset" {
		ok = ok && on // a reset cannot be switched off
		expected = "true, which restarts the world"
	}
	if !ok {
		return invalid(key, value, expected)
	}
	ch.put(key, on)
	return nil
}

// setPress sets the directions of a key press, separated by spaces.
func (ch *Change) setPress(value any) error {
	var text string
	if !setText(&text, value) {
		return invalid("press", value, directionsText)
	}
	directions := strings.Fields(text)
	for _, word := range directions {
		if !slices.Contains(Directions(), word) {
			return Unknown("press", "direction", word, Directions())
		}
	}
	ch.put("press", strings.Join(directions, " "))
	return nil
}

// directionsText describes the values of the key "press".
const directionsText = `"left", "right", "up", "down", or several of them separated by spaces`

// SwitchesLabel describes the actions that switch something on or off: autopilot, hover and katamari.
// Charts mark them; key presses are too frequent, and a reset has the mark of a loop point.
func (ch Change) SwitchesLabel() string {
	return ch.without(func(key string) bool { return !isInput(key) || key == "press" || key == "reset" }).Label()
}

// Inputs returns the actions of the player in the change.
func (ch Change) Inputs() Change { return ch.without(func(key string) bool { return !isInput(key) }) }

// OnlyInput reports whether the change consists only of actions of the player.
func (ch Change) OnlyInput() bool { return len(ch) > 0 && len(ch.Inputs()) == len(ch) }

// onlyPress reports whether the change consists only of a key press.
func (ch Change) onlyPress() bool { return len(ch) == 1 && ch[0].Key == "press" }

// Summarise describes the first change of list, which must not be empty. n is the number of changes
// described: consecutive key presses are summarised, because a played session has thousands of them.
func Summarise(list []StampedChange) (label string, n int) {
	for n < len(list) && list[n].Change.onlyPress() {
		n++
	}
	if n < 2 {
		return list[0].Change.Label(), 1
	}
	return fmt.Sprintf("%d arrow key presses, until %.3f s", n, list[n-1].TS), n
}
