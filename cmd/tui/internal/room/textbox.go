package room

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
)

// TextBox is an overlay with a text, which the arrow keys scroll.
type TextBox struct {
	Title    string
	Text     func(w int) [][]look.Span // the text in lines of at most w columns
	MaxWidth int                       // the largest width of the box; 0 for 100
	Keys     []Binding                 // further keys
	OnClose  Request                   // is requested when the box closes

	scroll int // the first visible line
	below  int // number of lines below the last visible one
}

// Paragraphs returns the text of a TextBox: paragraphs, which are wrapped.
func Paragraphs(texts ...string) func(w int) [][]look.Span {
	return func(w int) (lines [][]look.Span) {
		for _, text := range texts {
			for _, line := range look.Wrap(text, w) {
				lines = append(lines, []look.Span{look.Plain.Span(line)})
			}
		}
		return lines
	}
}

// textMargin is the number of columns of a TextBox that its text does not use.
const textMargin = 4

// Size implements Overlay.
func (b *TextBox) Size(w, h int) (boxW, boxH int, beside bool) {
	boxW = min(w, cmp.Or(b.MaxWidth, 100))
	return boxW, min(len(b.Text(boxW-textMargin))+2, h), false
}

// Draw implements Overlay.
func (b *TextBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, look.Focused, b.Title)
	lines, rows := b.Text(c.W-textMargin), c.H-2
	b.scroll = max(min(b.scroll, len(lines)-rows), 0)
	b.below = max(len(lines)-b.scroll-rows, 0)
	for i, line := range lines[b.scroll : len(lines)-b.below] {
		c.Spans(2, 1+i, c.W-textMargin, line...)
	}
	c.MoreBelow(th, b.below)
}

// Key implements Overlay. Draw limits the scrolling.
func (b *TextBox) Key(msg tea.KeyMsg) Request {
	if k := FindBinding(b.Keys, msg); k != nil {
		return k.Press(msg)
	}
	step := ReadStep(msg)
	b.scroll = max(b.scroll+step, 0)
	if !ClosesBox(msg) {
		return Request{}
	}
	r := b.OnClose
	r.Closes = true
	return r
}

// Bindings returns the keys of the box, for the footer and the help.
func (b *TextBox) Bindings() []Binding {
	list := slices.Clone(b.Keys)
	if b.scroll+b.below > 0 {
		list = append(list, OverlayKey("↑↓", "scroll", "scroll the text; j and k do too"))
	}
	return append(list, OverlayKey("esc", "close", "close the box"))
}
