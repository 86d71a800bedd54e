package file

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/units"
)

// blockLook is how the blocks of a file are shown in each state.
func blockLook(th *look.Theme, s delivery.BlockState) (look.Ink, rune) {
	signs, inks := []rune("·○◐●◉"), [...]look.Ink{look.Faint, look.Dim, look.Late, look.Good, look.Mark}
	if th.Ascii {
		signs = []rune(".-+o@")
	}
	if int(s) >= len(inks) {
		return look.Plain, ' '
	}
	return inks[s], signs[s]
}

// blockWords say what the states are, in their order.
func blockWords() []string {
	return []string{"not sent", "under way", "sent again", "there", "there after a resend"}
}

// likeness is how much alike two parts are, by the score of a matrix: a sign that
// grows with it, from nothing.
func likeness(th *look.Theme, score uint8) (look.Ink, rune) {
	bounds, signs := [...]uint8{24, 72, 140, 200}, []rune(" ·░▒▓")
	if th.Ascii {
		signs = []rune(" .:+*")
	}
	n := 0
	for n < len(bounds) && score >= bounds[n] {
		n++
	}
	return [...]look.Ink{look.Plain, look.Faint, look.Dim, look.Plain, look.Title}[n], signs[n]
}

// timeText writes a time that a transfer takes.
func timeText(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d >= time.Hour:
		return units.Fixed(d.Hours(), 1) + " h"
	case d >= 2*time.Minute:
		return strconv.Itoa(int(d.Minutes())) + ":" + strconv.Itoa(int(d.Seconds())%60 + 100)[1:] + " min"
	case d >= 10*time.Second:
		return units.Fixed(s, 1) + " s"
	}
	return units.Fixed(s, 2) + " s"
}
