package look

import (
	"wirelab/experiment/engine/packetlog"
)

// numShadowStyles is how many shadows have a colour of their own, and a sign.
const numShadowStyles = 6

// ShadowInk is the colour of the i-th shadow.
func ShadowInk(i int) Ink { return shadow + Ink(i%numShadowStyles) }

// shadowColors are told apart from each other, and from the lines of the encoder
// under the keys.
func shadowColors() [numShadowStyles]adaptiveColor {
	return [numShadowStyles]adaptiveColor{
		{"215", "11", "130", "3"}, {"211", "13", "162", "5"}, {"117", "12", "26", "4"},
		{"149", "10", "64", "2"}, {"183", "5", "55", "5"}, {"250", "7", "240", "8"},
	}
}

// ShadowSign is what marks the i-th shadow's lines and rows.
func ShadowSign(th *Theme, i int) rune {
	signs := []rune("○△□◇▽☆")
	if th.Ascii {
		signs = []rune("%A#*V@")
	}
	return signs[i%len(signs)]
}

// LaneName names a lane in at most w columns: its encoder, and the params that tell it
// from others of that encoder. These are kept longest, from their end.
func LaneName(encoder, params string, w int) string {
	if params == "" {
		return Short(encoder, w)
	}
	if full := encoder + " " + params; TextWidth(full) <= w {
		return full
	}
	const minName = 6 // of the encoder
	if room := w - 1 - TextWidth(params); room >= minName {
		return Short(encoder, room) + " " + params
	}
	value := []rune(params)
	if keep := w - 2 - minName; keep > 0 && keep < len(value) {
		params = "…" + string(value[len(value)-keep:])
	}
	return Short(encoder, minName) + " " + params
}

// LaneSign and laneInk are those of any lane: the first is the one under the keys.
func LaneSign(th *Theme, i int) rune {
	if i == 0 {
		return th.Outcome[packetlog.Decoded]
	}
	return ShadowSign(th, i-1)
}

// LaneInk is the colour of a lane.
func LaneInk(i int) Ink {
	if i == 0 {
		return Payload
	}
	return ShadowInk(i - 1)
}
