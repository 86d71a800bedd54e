package look

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

// LaneName returns the name of a lane in at most maxWidth columns, at least 9: the encoder and, if not "",
// params, the parameters in which the lane differs from other lanes with the same encoder. If the name is too
// long, the encoder is shortened to no less than minName columns. If that does not suffice, the beginning of
// params is cut off, so that the values, which follow the names of the parameters, stay visible.
func LaneName(encoder, params string, maxWidth int) string {
	if params == "" {
		return Shorten(encoder, maxWidth)
	}
	if full := encoder + " " + params; TextWidth(full) <= maxWidth {
		return full
	}
	const minName = 6 // columns that the encoder's name keeps

	if room := maxWidth - 1 - TextWidth(params); room >= minName { // 1 for the blank
		return Shorten(encoder, room) + " " + params
	}
	runes := []rune(params)
	if keepRunes := maxWidth - 2 - minName; keepRunes > 0 && keepRunes < len(runes) { // 2 for the blank and the ellipsis
		params = "…" + string(runes[len(runes)-keepRunes:])
	}
	return Shorten(encoder, minName) + " " + params
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
