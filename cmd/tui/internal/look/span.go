package look

import "strings"

// Span is text in one style.
type Span struct {
	Style Style
	Text  string
}

// Span returns text in this style.
func (k Style) Span(text string) Span { return Span{k, text} }

// Labelled returns text in which labels and values alternate, a label first. Empty parts are left out.
func Labelled(parts ...string) (out []Span) {
	for i, part := range parts {
		style := Dim
		if i%2 == 1 {
			style = Value
		}
		if part != "" {
			out = append(out, style.Span(part))
		}
	}
	return out
}

// Spans writes pieces of text one after the other in at most n columns, and returns the column
// after them.
func (c *Canvas) Spans(x, y, n int, pieces ...Span) int {
	end := min(x+n, c.W)
	for _, p := range pieces {
		x = c.Clip(x, y, end-x, p.Style, p.Text)
	}
	return x
}

// SpansText returns the text of pieces without styles.
func SpansText(pieces []Span) string {
	var text strings.Builder
	for _, p := range pieces {
		text.WriteString(p.Text)
	}
	return text.String()
}

// SpansWidth returns the width of pieces in columns.
func SpansWidth(pieces []Span) int {
	n := 0
	for _, p := range pieces {
		n += TextWidth(p.Text)
	}
	return n
}

// Fit returns the first of several texts that takes at most n columns, or the last if none does.
// Callers pass variants in order of decreasing length, so that no word is cut off.
func Fit(n int, variants ...[]Span) []Span {
	for _, pieces := range variants[:len(variants)-1] {
		if SpansWidth(pieces) <= n {
			return pieces
		}
	}
	return variants[len(variants)-1]
}

// FitGroups joins the leading groups of pieces that together fit in n columns. It
// includes a group as a whole or not at all.
func FitGroups(n int, groups [][]Span) []Span {
	var out []Span
	for _, g := range groups {
		n -= SpansWidth(g)
		if n < 0 {
			break
		}
		out = append(out, g...)
	}
	return out
}

// TitleSpace returns the number of columns that remain for further text after the title in the upper
// edge of a Frame, on a canvas that is w columns wide: all but two at each side and four blanks,
// see drawTitle.
func TitleSpace(w int, title string) int { return max(w-8-TextWidth(title), 0) }

// Focused and Unfocused are arguments for the parameter focused of Frame and of the functions that draw panes.
const (
	Focused   = true
	Unfocused = false
)

// Frame draws a border around the canvas, with the title and then the further text more in its
// upper edge. A focused frame has another colour and another upper edge, which is visible without
// colours too.
func (c *Canvas) Frame(th *Theme, focused bool, title string, more ...Span) {
	b := th.Border
	lineStyle, titleStyle, topEdge := Border, Title, b.Top
	if focused {
		lineStyle, titleStyle, topEdge = Focus, Focus, th.focusTop
	}
	c.drawEdge(0, lineStyle, b.TopLeft, topEdge, b.TopRight)
	c.drawEdge(c.H-1, lineStyle, b.BottomLeft, b.Bottom, b.BottomRight)
	for y := 1; y < c.H-1; y++ {
		c.Text(0, y, lineStyle, b.Left)
		c.Text(c.W-1, y, lineStyle, b.Right)
	}
	c.drawTitle(0, titleStyle, title, more...)
}

// FitFrame draws a Frame with the first of several further texts that fits beside the title, or with none.
func (c *Canvas) FitFrame(th *Theme, focused bool, title string, texts ...[]Span) {
	c.Frame(th, focused, title, Fit(TitleSpace(c.W, title), append(texts, nil)...)...)
}

// Divider draws a line at row y across a framed canvas, with the title and then the further text
// more in it.
func (c *Canvas) Divider(th *Theme, y int, focused bool, title string, more ...Span) {
	lineStyle, titleStyle := Border, Title
	if focused {
		lineStyle, titleStyle = Focus, Focus
	}
	c.drawEdge(y, lineStyle, th.Border.MiddleLeft, th.Border.Top, th.Border.MiddleRight)
	c.drawTitle(y, titleStyle, title, more...)
}

// drawEdge draws a horizontal line at row y: left and right at its ends, middle between them.
func (c *Canvas) drawEdge(y int, style Style, left, middle, right string) {
	for x := 1; x < c.W-1; x++ {
		c.Text(x, y, style, middle)
	}
	c.Text(0, y, style, left)
	c.Text(c.W-1, y, style, right)
}

// drawTitle writes a title and then more into the edge at row y, from column 2 to the second last:
// a blank before the title, two between title and more, and one after more.
func (c *Canvas) drawTitle(y int, style Style, title string, more ...Span) {
	pieces := append([]Span{style.Span(" " + title + " ")}, more...)
	if len(more) > 0 {
		pieces[0].Text += " "
		pieces = append(pieces, Plain.Span(" "))
	}
	c.Spans(2, y, c.W-4, pieces...)
}
