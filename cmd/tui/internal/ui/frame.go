package ui

// span is text in one ink.
type span struct {
	ink  ink
	text string
}

// spans writes pieces of text one after the other, in at most n columns, and
// returns the column after them.
func (c *canvas) spans(x, y, n int, pieces ...span) int {
	end := min(x+n, c.w)
	for _, p := range pieces {
		x = c.clip(x, y, end-x, p.ink, p.text)
	}
	return x
}

// spansWidth is how many columns pieces of text take.
func spansWidth(pieces []span) int {
	n := 0
	for _, p := range pieces {
		n += textWidth(p.text)
	}
	return n
}

// fit returns the first of several ways to say something that takes at most n
// columns, the last if none does: shorter words, rather than words cut off.
func fit(n int, ways ...[]span) []span {
	for _, pieces := range ways[:len(ways)-1] {
		if spansWidth(pieces) <= n {
			return pieces
		}
	}
	return ways[len(ways)-1]
}

// uncut returns the first of several groups of pieces that fit n columns
// together: none of them is cut in two.
func uncut(n int, groups [][]span) []span {
	var out []span
	for _, g := range groups {
		if n -= spansWidth(g); n < 0 {
			break
		}
		out = append(out, g...)
	}
	return out
}

// headRoom is how many columns an edge of w has for what follows a title.
func headRoom(w int, title string) int { return max(w-8-textWidth(title), 0) }

// frame draws a border around the canvas with a title in its upper edge.
func (c *canvas) frame(th *theme, focused bool, title string, more ...span) {
	b := th.border
	line, head, upper := inkBorder, inkTitle, b.Top
	if focused { // colour may be missing
		line, head, upper = inkFocus, inkFocus, th.strong
	}
	c.edge(0, line, b.TopLeft, upper, b.TopRight)
	c.edge(c.h-1, line, b.BottomLeft, b.Bottom, b.BottomRight)
	for y := 1; y < c.h-1; y++ {
		c.text(0, y, line, b.Left)
		c.text(c.w-1, y, line, b.Right)
	}
	c.heading(0, head, title, more...)
}

// divider draws an inner edge with a title across a framed canvas.
func (c *canvas) divider(th *theme, y int, focused bool, title string, more ...span) {
	line, head := inkBorder, inkTitle
	if focused {
		line, head = inkFocus, inkFocus
	}
	c.edge(y, line, th.border.MiddleLeft, th.border.Top, th.border.MiddleRight)
	c.heading(y, head, title, more...)
}

func (c *canvas) edge(y int, k ink, left, middle, right string) {
	for x := 1; x < c.w-1; x++ {
		c.text(x, y, k, middle)
	}
	c.text(0, y, k, left)
	c.text(c.w-1, y, k, right)
}

// heading writes a title into the edge at row y, with a blank at either side.
func (c *canvas) heading(y int, k ink, title string, more ...span) {
	pieces := append([]span{{k, " " + title + " "}}, more...)
	if len(more) > 0 {
		pieces[0].text += " "
		pieces = append(pieces, span{inkPlain, " "})
	}
	c.spans(2, y, c.w-4, pieces...)
}
