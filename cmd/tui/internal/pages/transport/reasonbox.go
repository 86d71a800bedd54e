package transport

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// reasonBox shows sentences until a key is pressed. The arrow keys scroll.
type reasonBox struct {
	lines  []string
	scroll int
	width  int // of the box, set by Size
}

// wrapped returns the sentences in lines that fit the box.
func (b *reasonBox) wrapped() (out []string) {
	for _, text := range b.lines {
		out = append(out, look.Wrap(text, b.width-4)...)
	}
	return out
}

// Size implements room.Overlay.
func (b *reasonBox) Size(w, h int) (boxW, boxH int, atRight bool) {
	b.width = min(w, 100)
	return b.width, min(len(b.wrapped())+2, h), false
}

// Draw implements room.Overlay.
func (b *reasonBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, look.Focused, "Transport")
	lines, rows := b.wrapped(), c.H-2
	b.scroll = max(min(b.scroll, len(lines)-rows), 0)
	for i, line := range lines[b.scroll:min(b.scroll+rows, len(lines))] {
		c.Clip(2, 1+i, c.W-4, look.Plain, line)
	}
	c.MoreBelow(th, max(len(lines)-b.scroll-rows, 0))
}

// Key implements room.Overlay.
func (b *reasonBox) Key(msg tea.KeyMsg) room.Request {
	step := room.ReadStep(msg)
	b.scroll = max(min(b.scroll, len(b.wrapped())), 0) + step
	return room.Request{Closes: step == 0}
}
