package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// drawOverlay returns lines, of w columns each, with an overlay drawn over their middle or, if the
// overlay requests it, over their right end. It returns lines unchanged if there is no room for a
// frame with content.
func drawOverlay(lines []string, o room.Overlay, th *look.Theme, w int) []string {
	const minWidth, minHeight = 4, 3 // a frame around two columns of one row
	width, height, atRight := o.Size(w-room.OverlayMargin, len(lines)-2)
	width, height = min(width, w), min(height, len(lines))
	if width < minWidth || height < minHeight {
		return lines
	}
	c := look.NewCanvas(width, height)
	o.Draw(c, th)
	out := append([]string(nil), lines...)
	x, y := (w-width)/2, (len(lines)-height)/2
	if atRight {
		x, y = w-width, 0
	}
	for i, line := range c.Lines(th) {
		out[y+i] = splice(out[y+i], line, x, width, w)
	}
	return out
}

// splice replaces n columns of a line of w columns, from column x on, by piece. Both may contain
// escape sequences; the style of the line before x does not extend into piece.
func splice(line, piece string, x, n, w int) string {
	left, right := ansi.Truncate(line, x, ""), ansi.TruncateLeft(line, x+n, "")
	if ansi.StringWidth(right) > w-x-n { // the cut is within a wide rune
		right = ansi.TruncateLeft(line, x+n+1, "")
	}
	reset := "" // ends the style at the cut, if the line has styles
	if strings.Contains(line, "\x1b") {
		reset = look.Off
	}
	// Where a wide rune was cut, fill its other half with a blank.
	left += reset + strings.Repeat(" ", max(x-ansi.StringWidth(left), 0))
	right = strings.Repeat(" ", max(w-x-n-ansi.StringWidth(right), 0)) + right
	return left + piece + right + reset
}
