package room

import (
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
)

// TextBox is an overlay that shows paragraphs until a key is pressed that does not scroll.
type TextBox struct {
	Title  string
	Lines  []string // paragraphs, which are wrapped
	scroll int
	width  int // of the box, set by Size
}

// wrapped returns the paragraphs in lines that fit the box.
func (b *TextBox) wrapped() (out []string) {
	for _, text := range b.Lines {
		out = append(out, look.Wrap(text, b.width-4)...)
	}
	return out
}

// Size implements Overlay.
func (b *TextBox) Size(w, h int) (boxW, boxH int, beside bool) {
	b.width = min(w, 100)
	return b.width, min(len(b.wrapped())+2, h), false
}

// Draw implements Overlay.
func (b *TextBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, look.Focused, b.Title)
	lines, rows := b.wrapped(), c.H-2
	b.scroll = max(min(b.scroll, len(lines)-rows), 0)
	for i, line := range lines[b.scroll:min(b.scroll+rows, len(lines))] {
		c.Clip(2, 1+i, c.W-4, look.Plain, line)
	}
	c.MoreBelow(th, max(len(lines)-b.scroll-rows, 0))
}

// Key implements Overlay.
func (b *TextBox) Key(msg tea.KeyMsg) Request {
	step := ReadStep(msg)
	b.scroll = max(min(b.scroll, len(b.wrapped())), 0) + step
	return Request{Closes: step == 0}
}
