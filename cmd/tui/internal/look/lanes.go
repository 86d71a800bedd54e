package look

import (
	"slices"
	"strings"
)

// numShadowStyles is the number of shadows with a colour and a symbol of their own.
const numShadowStyles = 7

// ShadowStyle returns the style of shadow i. Styles repeat after numShadowStyles shadows.
func ShadowStyle(i int) Style { return shadow + Style(i%numShadowStyles) }

// shadowColors returns colours that differ from each other and from those of the active encoder.
func shadowColors() [numShadowStyles]adaptiveColor {
	return [numShadowStyles]adaptiveColor{ // dark, dark16, light, light16
		{"215", "11", "130", "3"}, {"211", "13", "162", "5"}, {"117", "12", "26", "4"},
		{"149", "10", "64", "2"}, {"183", "5", "55", "5"}, {"250", "7", "240", "8"}, {"229", "15", "58", "0"},
	}
}

// ShadowSymbol returns the symbol of shadow i in charts and tables. Symbols repeat after
// numShadowStyles shadows.
func ShadowSymbol(i int) rune {
	symbols := []rune("○△□◇▽☆◎")
	return symbols[i%len(symbols)]
}

// LaneName returns the name of a lane, such as "rotor xy_large=12" or "B rotor xy_large=12", in at most maxWidth columns, at least 9. If the name is too
// long, it shortens the names of the parameters, then the name of the encoder, and then cuts off the beginning
// of the parameters, so that the values, in which lanes differ, stay visible.
func LaneName(name string, maxWidth int) string {
	const minKey, minEncoder = 3, 6 // columns that the name of a parameter and that of the encoder keep
	words := strings.Fields(name)
	first := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "=") })
	if first < 0 {
		return Shorten(name, maxWidth)
	}
	encoder, settings, params := strings.Join(words[:first], " "), words[first:], ""
	for width := maxWidth; TextWidth(name) > maxWidth && width >= minKey; width-- {
		params = shortenKeys(settings, width)
		name = encoder + " " + params
	}
	if TextWidth(name) <= maxWidth {
		return name
	}
	if room := maxWidth - TextWidth(" "+params); room >= minEncoder {
		return Shorten(encoder, room) + " " + params
	}
	runes := []rune(params)
	if keepRunes := maxWidth - TextWidth(" …") - minEncoder; keepRunes > 0 && keepRunes < len(runes) {
		params = "…" + string(runes[len(runes)-keepRunes:])
	}
	return Shorten(encoder, minEncoder) + " " + params
}

// shortenKeys returns settings, such as "xy_large=12", with names of at most width columns each.
func shortenKeys(settings []string, width int) string {
	short := make([]string, len(settings))
	for i, setting := range settings {
		key, value, hasValue := strings.Cut(setting, "=")
		if hasValue {
			setting = shortMiddle(key, width, width/2) + "=" + value
		}
		short[i] = setting
	}
	return strings.Join(short, " ")
}

// LaneSymbol returns the symbol of lane i; lane 0 is the active encoder.
func LaneSymbol(i int) rune {
	if i == 0 {
		return '●' // as a decoded packet
	}
	return ShadowSymbol(i - 1)
}

// LaneStyle returns the style of lane i; lane 0 is the active encoder.
func LaneStyle(i int) Style {
	if i == 0 {
		return Payload
	}
	return ShadowStyle(i - 1)
}
