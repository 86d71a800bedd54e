package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// pageLines returns the page in h lines with the overlay, if one is open: beside the page, or over its middle.
func (s *Shell) pageLines(h int) []string {
	page := s.page()
	if s.overlay == nil {
		page.Squeezed = false
		return page.Lines(s.theme, s.w, h)
	}
	boxW, boxH, beside := s.overlay.Size(s.w, h)
	page.Squeezed = beside
	if !beside {
		return drawOverlay(page.Lines(s.theme, s.w, h), s.overlay, s.theme, s.w, boxW, boxH)
	}
	lines := page.Lines(s.theme, s.w-boxW, h)
	c := look.NewCanvas(boxW, h)
	s.overlay.Draw(c, s.theme)
	for i, line := range c.Lines(s.theme) {
		lines[i] += line
	}
	return lines
}

// drawOverlay returns lines, of w columns each, with an overlay of width x height drawn over their middle. It returns
// lines unchanged if there is no room for a frame with content.
func drawOverlay(lines []string, o room.Overlay, th *look.Theme, w, width, height int) []string {
	const minWidth, minHeight = 4, 3 // a frame around two columns of one row
	width = min(width, w)
	height = min(height, len(lines))
	if width < minWidth || height < minHeight {
		return lines
	}
	c := look.NewCanvas(width, height)
	o.Draw(c, th)
	x, y := (w-width)/2, (len(lines)-height)/2
	for i, line := range c.Lines(th) {
		lines[y+i] = splice(lines[y+i], line, x, width, w)
	}
	return lines
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
