package file

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/units"
)

// blockStyle returns style and marker of a block state; a blank if the state is invalid.
func blockStyle(th *look.Theme, s delivery.BlockState) (style look.Style, marker rune) {
	markers, styles := []rune("·○◐●◉"), [...]look.Style{look.Faint, look.Dim, look.Late, look.Good, look.Mark}
	if th.Ascii {
		markers = []rune(".-+o@")
	}
	if int(s) >= len(styles) {
		return look.Plain, ' '
	}
	return styles[s], markers[s]
}

// blockStateNames returns the names of the states, by delivery.BlockState.
func blockStateNames() []string {
	return []string{"not sent", "in flight", "resent", "delivered", "delivered after a resend"}
}

// formatSeconds formats the duration of a transfer of s seconds.
func formatSeconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d >= time.Hour:
		return units.Fixed(d.Hours(), 1) + " h"
	case d >= 2*time.Minute: // minutes:seconds, the seconds with two digits
		return strconv.Itoa(int(d.Minutes())) + ":" + strconv.Itoa(int(d.Seconds())%60 + 100)[1:] + " min"
	case d >= 10*time.Second:
		return units.Fixed(s, 1) + " s"
	}
	return units.Fixed(s, 2) + " s"
}
