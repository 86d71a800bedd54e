package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// lay draws an overlay into the middle of finished lines of w columns.
func lay(lines []string, o room.Overlay, th *look.Theme, w int) []string {
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

// splice puts a piece of n columns into a line of w columns, at column x.
func splice(line, piece string, x, n, w int) string {
	left, right := ansi.Truncate(line, x, ""), ansi.TruncateLeft(line, x+n, "")
	if ansi.StringWidth(right) > w-x-n { // half of a wide rune came along
		right = ansi.TruncateLeft(line, x+n+1, "")
	}
	off := ""
	if strings.Contains(line, "\x1b") {
		off = look.Off
	}
	// A wide rune cut in two leaves a hole on either side.
	left += off + strings.Repeat(" ", max(x-ansi.StringWidth(left), 0))
	right = strings.Repeat(" ", max(w-x-n-ansi.StringWidth(right), 0)) + right
	return left + piece + right + off
}
