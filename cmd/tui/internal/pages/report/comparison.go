package report

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// comparison is the pane that compares two runs: their figures with differences, and the settings
// that differ. Without a second run it shows the figures of one.
type comparison struct {
	item        string
	left, right *run // nil if none is selected
	changed     bool // it must be drawn again
	firstRow    int  // first visible row
	numRows     int  // rows of the content, as last drawn
	visibleRows int  // rows of the pane for content, as last drawn
}

func (p *comparison) Name() string { return "Comparison" }

func (p *comparison) Observe(room.View) bool {
	changed := p.changed
	p.changed = false
	return changed
}

// Move scrolls the comparison.
func (p *comparison) Move(dx, dy int) room.Request {
	p.scroll(dy + dx)
	return room.Request{}
}

func (p *comparison) Arrows() [][2]string { return [][2]string{{"↑↓", "scroll"}} }

// row is one line of the pane: either a text over the whole width, or four cells.
type row struct {
	text  []look.Span
	cells [4]look.Span // label, left, right, difference
}

// scroll scrolls down by n rows, or up if n is negative. scroll(0) keeps the position within the content.
func (p *comparison) scroll(n int) {
	p.firstRow = min(max(p.firstRow+n, 0), max(p.numRows-p.visibleRows, 0))
}

// Draw implements room.Pane: the label of a row at the left, its other cells as right-aligned columns
// of equal width.
func (p *comparison) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Comparison", p.title()...)
	if p.left == nil {
		return
	}
	rows := p.lines(th, c.W-4)
	p.numRows, p.visibleRows = len(rows), max(c.H-2, 0)
	p.scroll(0) // the content may be shorter now
	cell := cellWidth(c.W - 4)
	for y, r := range rows[p.firstRow:] {
		if y >= p.visibleRows {
			break
		}
		if r.text != nil {
			c.Spans(2, y+1, c.W-4, r.text...)
			continue
		}
		right := c.W - 2
		for i := 3; i > 0; i-- { // the columns from right to left
			text := r.cells[i].Text
			if look.TextWidth(text) >= cell {
				text = look.Truncate(text, cell-2) + "…"
			}
			c.TextRight(right, y+1, r.cells[i].Style, text)
			right -= cell
		}
		c.Clip(2, y+1, max(right-3, 0), r.cells[0].Style, r.cells[0].Text)
	}
	c.MoreBelow(th, p.numRows-p.firstRow-p.visibleRows)
}

// title names the two runs, nil if there is only one.
func (p *comparison) title() []look.Span {
	if p.right == nil || p.left == nil {
		return nil
	}
	return []look.Span{look.Plain.Span(p.left.name), look.Dim.Span(" vs "), look.Plain.Span(p.right.name)}
}

// cellWidth returns the width of a column of figures in a pane of w columns.
func cellWidth(w int) int { return min(max(w/5, 9), 18) }

// lines returns the content of the pane for w columns: the error of an unreadable report, or remarks,
// figures, settings that differ, and the changes and shadows of each run.
func (p *comparison) lines(th *look.Theme, w int) []row {
	// across returns wrapped text over the whole width.
	across := func(style look.Style, text string) (out []row) {
		for _, line := range look.Wrap(text, max(w, 1)) {
			out = append(out, row{text: []look.Span{style.Span(line)}})
		}
		return out
	}
	for _, r := range []*run{p.left, p.right} {
		if r != nil && r.readError != "" {
			return append(across(look.Bad, r.readError), across(look.Dim, "Select another report; esc returns to this run.")...)
		}
	}
	var rows []row
	blank := row{text: []look.Span{{}}}
	for _, r := range []*run{p.left, p.right} {
		if r != nil && r.note != "" {
			rows = append(rows, across(look.Warn, r.name+": "+r.note)...)
		}
	}
	rows = append(rows, p.figureRows()...)
	if p.right == nil {
		return append(append(rows, blank), across(look.Dim, "Select a saved report to compare it with this run.")...)
	}
	if p.lengthsDiffer() {
		rows = append(rows, across(look.Warn, "The runs have different lengths: part of the difference may be due to "+
			"the data.")...)
	}
	rows = append(rows, blank)
	rows = append(rows, p.settingRows(th, cellWidth(w))...)
	rows = append(rows, blank)
	for _, r := range []*run{p.left, p.right} {
		text := r.shortName() + ": " + words.Count(len(r.changes), "change") + " during the run"
		if len(r.shadows) > 0 {
			text += "; shadows: " + strings.Join(r.shadows, ", ")
		}
		rows = append(rows, across(look.Dim, text)...)
	}
	return rows
}

// lengthsDiffer reports whether the lengths of the runs differ by more than 10 %, so that their figures
// are not comparable.
func (p *comparison) lengthsDiffer() bool {
	const maxRatio = 1.1
	a, b := p.left.length.Seconds(), p.right.length.Seconds()
	return max(a, b) > maxRatio*min(a, b)
}

// figureRows returns the table of figures of one or both runs. A figure that a run does not have is "-".
func (p *comparison) figureRows() []row {
	headings := row{cells: [4]look.Span{{}, look.Dim.Span(p.left.shortName())}}
	if p.right != nil {
		headings.cells[2], headings.cells[3] = look.Dim.Span(p.right.shortName()), look.Dim.Span("difference")
	}
	rows := []row{headings}
	for _, m := range runFigures(p.itemName()) {
		figureRow := row{cells: [4]look.Span{look.Plain.Span(m.label)}}
		a, okA := m.value(p.left)
		if okA {
			figureRow.cells[1] = look.Value.Span(units.Fixed(a, m.digits) + m.timingMark(p.left))
		} else {
			figureRow.cells[1] = look.Dim.Span("-")
		}
		if p.right != nil {
			b, okB := m.value(p.right)
			if okB {
				figureRow.cells[2] = look.Value.Span(units.Fixed(b, m.digits) + m.timingMark(p.right))
			} else {
				figureRow.cells[2] = look.Dim.Span("-")
			}
			if okA && okB {
				figureRow.cells[3] = formatDifference(a, b, m.digits)
			}
		}
		rows = append(rows, figureRow)
	}
	return rows
}

// formatDifference formats b-a with the given decimals, "=" if it is rounded to 0. Figures with decimals
// also have the change in percent of a, unless a is 0; counts and percentiles in whole units do not.
func formatDifference(a, b float64, digits int) look.Span {
	text := units.Fixed(b-a, digits)
	zero := units.Fixed(0, digits)
	switch {
	case text == zero || text == "-"+zero:
		return look.Faint.Span("=")
	case b > a:
		text = "+" + text
	default:
		text = "−" + strings.TrimPrefix(text, "-")
	}
	if a > 0 && digits > 0 {
		text += strings.Replace(fmt.Sprintf(" (%+.0f %%)", 100*(b/a-1)), "-", "−", 1)
	}
	return look.Plain.Span(text)
}

// itemName returns the name of an item of the data, such as "cube".
func (p *comparison) itemName() string {
	if p.item == "" {
		return "item"
	}
	return p.item
}

// settingRows returns the settings that differ at the end of the runs, nil if those of a run are
// unknown. cell is the width of a column; longer values get a line of their own.
func (p *comparison) settingRows(th *look.Theme, cell int) []row {
	if p.left.settings == nil || p.right.settings == nil {
		return nil
	}
	list := differingSettings(p.left, p.right)
	if len(list) == 0 {
		return []row{{text: []look.Span{look.Dim.Span("Both runs ended with the same configuration.")}}}
	}
	rows := []row{{text: []look.Span{look.Title.Span("Settings that differ at the end of the runs")}}}
	orNone := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	for _, s := range list {
		if a, b := orNone(s.a), orNone(s.b); max(look.TextWidth(a), look.TextWidth(b)) < cell {
			rows = append(rows, row{cells: [4]look.Span{look.Plain.Span(s.key), look.Value.Span(a), look.Value.Span(b), {}}})
			continue
		}
		rows = append(rows, row{text: []look.Span{
			look.Plain.Span(s.key + "  "), look.Dim.Span(p.left.shortName() + " "), look.Value.Span(orNone(s.a)),
			look.Dim.Span("  " + th.Dot + "  " + p.right.shortName() + " "), look.Value.Span(orNone(s.b))}})
	}
	return rows
}
