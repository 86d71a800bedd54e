package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// drawOverlay returns lines, of w columns each, with an overlay drawn over their middle or their
// right end. It returns lines unchanged if there is no room for a frame with content.
func drawOverlay(lines []string, o room.Overlay, th *look.Theme, w int) []string {
	ow, oh, right := o.Size(w-room.OverlayMargin, len(lines)-2)
	ow, oh = min(ow, w), min(oh, len(lines))
	if ow < 4 || oh < 3 {
		return lines
	}
	c := look.NewCanvas(ow, oh)
	o.Draw(c, th)
	out := append([]string(nil), lines...)
	x, y := (w-ow)/2, (len(lines)-oh)/2
	if right {
		x, y = w-ow, 0
	}
	for i, line := range c.Lines(th) {
		out[y+i] = splice(out[y+i], line, x, ow, w)
	}
	return out
}

// splice replaces n columns of a line of w columns, from column x on, by piece.
func splice(line, piece string, x, n, w int) string {
	left, right := ansi.Truncate(line, x, ""), ansi.TruncateLeft(line, x+n, "")
	if ansi.StringWidth(right) > w-x-n { // the cut is within a wide rune
		right = ansi.TruncateLeft(line, x+n+1, "")
	}
	reset := ""
	if strings.Contains(line, "\x1b") {
		reset = look.Off
	}
	// Where a wide rune was cut, fill its other half with a blank.
	left += reset + strings.Repeat(" ", max(x-ansi.StringWidth(left), 0))
	right = strings.Repeat(" ", max(w-x-n-ansi.StringWidth(right), 0)) + right
	return left + piece + right + reset
}
