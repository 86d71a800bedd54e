package ui

import "wirelab/experiment"

// shadowInks is how many shadows have a colour of their own, and a sign.
const shadowInks = 6

func shadowInk(i int) ink { return inkShadow + ink(i%shadowInks) }

// shadowTones are told apart from each other, and from the lines of the encoder
// under the keys.
func shadowTones() [shadowInks]tone {
	return [shadowInks]tone{
		{"215", "11", "130", "3"}, {"211", "13", "162", "5"}, {"117", "12", "26", "4"},
		{"149", "10", "64", "2"}, {"183", "5", "55", "5"}, {"250", "7", "240", "8"},
	}
}

// shadowSign is what marks the i-th shadow's lines and rows.
func shadowSign(th *theme, i int) rune {
	signs := []rune("○△□◇▽☆")
	if th.ascii {
		signs = []rune("%A#*V@")
	}
	return signs[i%len(signs)]
}

// laneSign and laneInk are those of any lane: the first is the one under the keys.
func laneSign(th *theme, i int) rune {
	if i == 0 {
		return th.outcome[experiment.Decoded]
	}
	return shadowSign(th, i-1)
}

func laneInk(i int) ink {
	if i == 0 {
		return inkPayload
	}
	return shadowInk(i - 1)
}
