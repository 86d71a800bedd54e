// Package picture draws the text of a terminal screen, with its colours, as an SVG image.
//
// Braille, block and box characters are drawn as shapes, so that charts look the same whatever fonts
// the viewer has. Other characters are text in a monospace font, stretched to the width of their cells.
package picture

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/cellbuf"
)

// Size of a character cell, and distance of the text's baseline from its top, in units of the image.
const (
	cellWidth, cellHeight = 8, 16
	baseline              = 12
)

// Colours of the screen where its text sets none.
type defaultColors struct{ foreground, background string }

var (
	onDark  = defaultColors{foreground: "#d0d0d0", background: "#121212"}
	onLight = defaultColors{foreground: "#262626", background: "#ffffff"}
)

// SVG returns an image of a screen of w columns and h rows. screen is its text, in lines, with SGR
// sequences for the colours; dark means that the background of the terminal is dark.
func SVG(screen string, w, h int, dark bool) []byte {
	cells := cellbuf.NewBuffer(w, h)
	cellbuf.SetContent(cells, strings.ReplaceAll(screen, "\n", "\r\n"))
	defaults := onLight
	if dark {
		defaults = onDark
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" font-family="monospace" font-size="13">`+"\n",
		w*cellWidth, h*cellHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", defaults.background)
	for y := range h {
		for x := 0; x < w; {
			r := nextRun(cells, x, y, w)
			r.draw(&b, r.colors(defaults))
			x += r.width
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// A run is consecutive cells of a row that have the same style and are all text or all shapes.
type run struct {
	x, y, width int // in cells
	style       cellbuf.Style
	text        string // the characters, of which wide ones take two cells
	isShapes    bool   // the characters are drawn as shapes
}

// nextRun returns the run that begins at column x of row y in a screen of w columns.
func nextRun(cells *cellbuf.Buffer, x, y, w int) run {
	r := run{x: x, y: y}
	for x < w {
		c := cells.Cell(x, y)
		text, width, style := " ", 1, cellbuf.Style{}
		if c != nil && c.Rune != 0 {
			text, width, style = c.String(), max(c.Width, 1), c.Style
		}
		shape := c != nil && isShape(c.Rune)
		if r.width == 0 {
			r.style, r.isShapes = style, shape
		} else if shape != r.isShapes || !style.Equal(&r.style) {
			break
		}
		r.text += text
		r.width += width
		x += width
	}
	return r
}

// runColors are the colours of a run, in the notation of SVG; background is "" for that of the screen.
type runColors struct{ foreground, background string }

// colors returns the colours of the run; reversed runs have foreground and background exchanged.
func (r *run) colors(defaults defaultColors) runColors {
	c := runColors{colorText(r.style.Fg, defaults.foreground), colorText(r.style.Bg, "")}
	if r.style.Attrs.Contains(cellbuf.ReverseAttr) {
		background := c.background
		if background == "" {
			background = defaults.background
		}
		c.foreground, c.background = background, c.foreground
	}
	return c
}

// colorText returns a colour as #rrggbb, or unset if the style does not set it.
func colorText(c ansi.Color, unset string) string {
	if c == nil {
		return unset
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// draw appends the elements of the run: the background, then the text or the shapes.
func (r *run) draw(b *bytes.Buffer, c runColors) {
	x, y := r.x*cellWidth, r.y*cellHeight
	if c.background != "" {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, r.width*cellWidth, cellHeight, c.background)
	}
	attributes := ""
	if r.style.Attrs.Contains(cellbuf.FaintAttr) {
		attributes += ` opacity="0.6"`
	}
	switch text := strings.TrimRight(r.text, " "); {
	case text == "":
	case r.isShapes:
		drawShapes(b, []rune(r.text), x, y, c.foreground, attributes)
	default:
		if r.style.Attrs.Contains(cellbuf.BoldAttr) {
			attributes += ` font-weight="bold"`
		}
		if r.style.UlStyle != cellbuf.NoUnderline {
			attributes += ` text-decoration="underline"`
		}
		width := (r.width - (len(r.text) - len(text))) * cellWidth // blanks take one byte and one cell each
		fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
			x, y+baseline, width, c.foreground, attributes, html.EscapeString(text))
	}
}
