package panes

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// TextBox shows sentences until a key is pressed. The arrow keys scroll.
type TextBox struct {
	Title  string
	Lines  []string
	scroll int
	width  int // of the box, set by Size
}

// wrapped returns the sentences in lines that fit the box.
func (b *TextBox) wrapped() (out []string) {
	for _, text := range b.Lines {
		out = append(out, look.Wrap(text, b.width-4)...)
	}
	return out
}

func (b *TextBox) Size(w, h int) (boxW, boxH int, atRight bool) {
	b.width = min(w, 100)
	return b.width, min(len(b.wrapped())+2, h), false
}

func (b *TextBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, look.Focused, b.Title)
	lines, rows := b.wrapped(), c.H-2
	b.scroll = max(min(b.scroll, len(lines)-rows), 0)
	for i, line := range lines[b.scroll:min(b.scroll+rows, len(lines))] {
		c.Clip(2, 1+i, c.W-4, look.Plain, line)
	}
	c.MoreBelow(th, max(len(lines)-b.scroll-rows, 0))
}

func (b *TextBox) Key(msg tea.KeyMsg) room.Request {
	step := room.ReadStep(msg)
	b.scroll = max(min(b.scroll, len(b.wrapped())), 0) + step
	return room.Request{Closes: step == 0}
}
