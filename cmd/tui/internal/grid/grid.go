// Package grid draws tables: columns with titles, rows with a cursor, and a mark at the title of the column
// by which the rows are sorted.
//
// A pane contains a Table, sets its columns and its number of rows, and passes keys and clicks to Move,
// SortNext and Click. The table does not sort: the pane orders the rows by the column Sort.
package grid

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
)

// Column is a column of a table.
type Column struct {
	Title    string
	Width    int  // of the cells, at most; use Rest for a column that takes the space that others leave
	Min      int  // to which the column shrinks if there is too little space; 0 means that it keeps its width
	Drop     int  // without enough space, columns with the lowest number are left out first; 0 means never
	Right    bool // cells and title end at the right edge of the column
	Sortable bool // the rows can be sorted by the column

	// Text returns the text of a cell. Text that is too long is cut off. The table may change the styles.
	Text func(Cell) []look.Span
}

// Cell is a cell of a column.
type Cell struct {
	Row, Width int
	Theme      *look.Theme
}

// Rest is the width of a column that takes the space that the others leave.
const Rest = 1000

// Text returns a cell with text in one style.
func Text(style look.Style, text string) []look.Span { return []look.Span{style.Span(text)} }

// Table is a table. Draw shows the rows around the cursor.
type Table struct {
	Columns  []Column
	NumRows  int
	Cursor   int  // the selected row; -1 for none
	Centered bool // the selected row is in the middle if possible; otherwise the table scrolls little
	First    int  // the first visible row; Draw changes it to show the cursor
	Sort     int  // the index of the column by which the rows are sorted; -1 for none
	Upward   bool // the smallest value is first
	// Across returns the text that a row has instead of cells; nil for a row with cells. It may be nil.
	Across func(Cell) []look.Span

	top, rows int    // where the rows were drawn, below the titles, and the number of rows that fit
	places    []span // of the columns, as last drawn
}

// span is the place of a column: its left edge and its width; a width of 0 means that it is left out.
type span struct{ x, width int }

const (
	left = 3 // the left edge of the first column, after the border and the mark of the cursor
	gap  = 2 // between columns
)

// Move moves the cursor by n rows.
func (t *Table) Move(n int) { t.Cursor = min(max(t.Cursor+n, 0), t.NumRows-1) }

// Visible returns the rows that were drawn last, up to the one before to.
func (t *Table) Visible() (from, to int) { return t.First, min(t.First+t.rows, t.NumRows) }

// SortNext selects the next column (1) or the previous one (-1) by which rows can be sorted, cyclically.
func (t *Table) SortNext(step int) {
	n := len(t.Columns)
	for range n {
		t.Sort = (t.Sort + step + n) % n
		if t.Columns[t.Sort].Sortable {
			return
		}
	}
}

// Click handles a click at (x, y) of the canvas that was passed to Draw: it selects the row there, or sorts
// by the column whose title is there.
func (t *Table) Click(x, y int) {
	row := t.First + y - t.top
	switch {
	case y >= t.top && y < t.top+t.rows && row < t.NumRows:
		t.Cursor = row
	case y == t.top-t.TitleRows():
		for i, p := range t.places {
			if t.Columns[i].Sortable && x >= p.x-gap && x < p.x+p.width {
				t.Sort = i
			}
		}
	}
}

// TitleRows returns the number of rows that the titles take: none if no column has a title.
func (t *Table) TitleRows() int {
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Title != "" }) {
		return 1
	}
	return 0
}

// Draw draws the titles, if any, at row y of a framed canvas and the rows below them, in h rows. It notes the number of
// rows that do not fit in the lower edge of the frame.
func (t *Table) Draw(c *look.Canvas, th *look.Theme, y, h int) {
	t.top = y + t.TitleRows()
	t.rows = max(h-t.TitleRows(), 0)
	t.places = t.layOut(c.W - 1 - left)
	t.scroll()
	for i := range t.places {
		style, title := look.Dim, t.Columns[i].Title
		if i == t.Sort {
			style, title = look.Focus, t.sortMark(th)+title
		}
		t.drawCell(c, i, y, Text(style, title))
	}
	from, to := t.Visible()
	for row := from; row < to; row++ {
		t.drawRow(c, th, row, t.top+row-from)
	}
	c.MoreBelow(th, t.NumRows-t.First-t.rows)
}

// sortMark returns the mark before the title of the column by which the rows are sorted.
func (t *Table) sortMark(th *look.Theme) string {
	if t.Upward {
		return th.Rising
	}
	return th.Falling
}

// scroll sets t.First so that the cursor is visible and no row below the last one is empty without need.
func (t *Table) scroll() {
	switch {
	case t.Cursor < 0:
	case t.Centered:
		t.First = t.Cursor - t.rows/2
	default:
		t.First = min(max(t.First, t.Cursor-t.rows+1), t.Cursor)
	}
	t.First = max(min(t.First, t.NumRows-t.rows), 0)
}

// drawRow draws a row at y.
func (t *Table) drawRow(c *look.Canvas, th *look.Theme, row, y int) {
	selected := row == t.Cursor
	if selected {
		c.Text(1, y, look.Chosen, th.Chosen)
	}
	if t.Across != nil {
		width := c.W - 1 - left
		if text := t.Across(Cell{row, width, th}); text != nil {
			c.Spans(left, y, width, text...)
			return
		}
	}
	for i, p := range t.places {
		if p.width == 0 {
			continue
		}
		text := t.Columns[i].Text(Cell{row, p.width, th})
		if selected {
			markText(text)
		}
		t.drawCell(c, i, y, text)
	}
}

// markText gives plain and dim text the style of the selected row.
func markText(text []look.Span) {
	for i := range text {
		if text[i].Style == look.Plain || text[i].Style == look.Dim {
			text[i].Style = look.Chosen
		}
	}
}

// drawCell draws text at the place of column i in row y.
func (t *Table) drawCell(c *look.Canvas, i, y int, text []look.Span) {
	p := t.places[i]
	x := p.x
	if t.Columns[i].Right {
		x += max(p.width-look.SpansWidth(text), 0)
	}
	c.Spans(x, y, min(p.x+p.width, c.W-1)-x, text...)
}

// layOut returns the places of the columns in a table that is w columns wide. First all columns that shrink
// have their least width. If that is too much, columns are left out. If space is left, the narrowest column
// that is not at its full width grows first. The column by which rows are sorted is never left out. If all
// of that does not suffice, the last columns are cut off.
func (t *Table) layOut(w int) []span {
	places := make([]span, len(t.Columns))
	needed := -gap
	for i, col := range t.Columns {
		places[i].width = col.Width
		if col.Min > 0 {
			places[i].width = min(col.Min, col.Width)
		}
		needed += places[i].width + gap
	}
	for needed > w {
		i := t.nextDropped(places)
		if i < 0 {
			break
		}
		needed -= places[i].width + gap
		places[i].width = 0
	}
	for ; needed < w; needed++ {
		narrowest := -1
		for i, p := range places {
			grows := p.width > 0 && p.width < t.Columns[i].Width
			if grows && (narrowest < 0 || p.width < places[narrowest].width) {
				narrowest = i
			}
		}
		if narrowest < 0 {
			break
		}
		places[narrowest].width++
	}
	x := left
	for i := range places {
		places[i].x = x
		places[i].width = max(min(places[i].width, left+w-x), 0)
		if places[i].width > 0 {
			x += places[i].width + gap
		}
	}
	return places
}

// nextDropped returns the column that is left out next; -1 if none can be.
func (t *Table) nextDropped(places []span) int {
	next := -1
	for i, col := range t.Columns {
		canDrop := col.Drop > 0 && places[i].width > 0 && i != t.Sort
		if canDrop && (next < 0 || col.Drop < t.Columns[next].Drop) {
			next = i
		}
	}
	return next
}
