package report

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// comparison is the pane that compares two runs: their figures with the differences, and the
// settings that differ.
type comparison struct {
	item        string
	left, right *run // nil: none chosen
	top         int  // rows scrolled away
	rows        int  // as last drawn, and how many of them fit
	room        int
}

func (p *comparison) Name() string { return "Beside" }

// row is one line of the pane: a text across, or cells.
type row struct {
	text  []look.Span
	cells [4]look.Span // label, left, right, difference
}

// scroll moves what is in sight.
func (p *comparison) scroll(n int) { p.top = min(max(p.top+n, 0), max(p.rows-p.room, 0)) }

func (p *comparison) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Beside", p.title()...)
	if p.left == nil {
		return
	}
	rows := p.lines(th, c.W-4)
	p.rows, p.room = len(rows), max(c.H-2, 0)
	p.scroll(0)
	cell := cellWidth(c.W - 4)
	for y, r := range rows[p.top:] {
		if y >= p.room {
			break
		}
		if r.text != nil {
			c.Spans(2, y+1, c.W-4, r.text...)
			continue
		}
		right := c.W - 2
		for i := 3; i > 0; i-- {
			text := r.cells[i].Text
			if look.TextWidth(text) >= cell {
				text = look.Truncate(text, cell-2) + "…"
			}
			c.Right(right, y+1, r.cells[i].Ink, text)
			right -= cell
		}
		c.Clip(2, y+1, max(right-3, 0), r.cells[0].Ink, r.cells[0].Text)
	}
	c.More(th, p.rows-p.top-p.room)
}

func (p *comparison) title() []look.Span {
	if p.right == nil || p.left == nil {
		return nil
	}
	return []look.Span{look.Plain.Span(p.left.name), look.Dim.Span(" and "), look.Plain.Span(p.right.name)}
}

// cellWidth is how wide the columns of figures are in a pane of w columns.
func cellWidth(w int) int { return min(max(w/5, 9), 18) }

// lines is all that the pane has to say.
func (p *comparison) lines(th *look.Theme, w int) []row {
	across := func(k look.Ink, text string) (out []row) {
		for _, line := range look.Wrap(text, max(w, 1)) {
			out = append(out, row{text: []look.Span{k.Span(line)}})
		}
		return out
	}
	for _, d := range []*run{p.left, p.right} {
		if d != nil && d.trouble != "" {
			return append(across(look.Bad, d.trouble), across(look.Dim, "Choose another one; esc goes back to this run.")...)
		}
	}
	var rows []row
	for _, d := range []*run{p.left, p.right} {
		if d != nil && d.note != "" {
			rows = append(rows, across(look.Warn, d.name+": "+d.note)...)
		}
	}
	rows = append(rows, p.figures()...)
	if p.right == nil {
		return append(append(rows, row{text: []look.Span{{}}}),
			across(look.Dim, "Choose a saved report, and its figures stand beside these.")...)
	}
	if p.unlike() {
		rows = append(rows, across(look.Warn, "One ran longer than the other: part of the difference may be what went on in the "+
			"data meanwhile.")...)
	}
	rows = append(rows, row{text: []look.Span{{}}})
	rows = append(rows, p.settings(th, cellWidth(w))...)
	rows = append(rows, row{text: []look.Span{{}}})
	for _, d := range []*run{p.left, p.right} {
		text := d.short() + ": " + words.Count(len(d.changes), "change") + " on the way"
		if len(d.shadows) > 0 {
			text += "; beside it ran " + strings.Join(d.shadows, ", ")
		}
		rows = append(rows, across(look.Dim, text)...)
	}
	return rows
}

// unlike reports whether the two saw so different lengths of the data that their
// figures do not compare.
func (p *comparison) unlike() bool {
	const much = 1.1
	a, b := p.left.length.Seconds(), p.right.length.Seconds()
	return max(a, b) > much*min(a, b)
}

// figures is the table of what both measured.
func (p *comparison) figures() []row {
	head := row{cells: [4]look.Span{{}, look.Dim.Span(p.left.short())}}
	if p.right != nil {
		head.cells[2], head.cells[3] = look.Dim.Span(p.right.short()), look.Dim.Span("difference")
	}
	rows := []row{head}
	for _, m := range readings(p.itemName()) {
		row := row{cells: [4]look.Span{look.Plain.Span(m.label)}}
		a, okA := m.of(p.left)
		if okA {
			row.cells[1] = look.Value.Span(units.Fixed(a, m.digits) + m.mark(p.left))
		} else {
			row.cells[1] = look.Dim.Span("-")
		}
		if p.right != nil {
			b, okB := m.of(p.right)
			if okB {
				row.cells[2] = look.Value.Span(units.Fixed(b, m.digits) + m.mark(p.right))
			} else {
				row.cells[2] = look.Dim.Span("-")
			}
			if okA && okB {
				row.cells[3] = apart(a, b, m.digits)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// apart is how much larger b is than a.
func apart(a, b float64, digits int) look.Span {
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

func (p *comparison) itemName() string {
	if p.item == "" {
		return "item"
	}
	return p.item
}

// settings is what the two were set to differently.
func (p *comparison) settings(th *look.Theme, cell int) []row {
	if p.left.settings == nil || p.right.settings == nil {
		return nil
	}
	list := differing(p.left, p.right)
	if len(list) == 0 {
		return []row{{text: []look.Span{look.Dim.Span("Both end with the very same configuration.")}}}
	}
	rows := []row{{text: []look.Span{look.Title.Span("What they are set to differently at their ends")}}}
	value := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	for _, s := range list {
		if a, b := value(s.a), value(s.b); max(look.TextWidth(a), look.TextWidth(b)) < cell {
			rows = append(rows, row{cells: [4]look.Span{look.Plain.Span(s.key), look.Value.Span(a), look.Value.Span(b), {}}})
			continue
		}
		rows = append(rows, row{text: []look.Span{
			look.Plain.Span(s.key + "  "), look.Dim.Span(p.left.short() + " "), look.Value.Span(value(s.a)),
			look.Dim.Span("  " + th.Dot + "  " + p.right.short() + " "), look.Value.Span(value(s.b))}})
	}
	return rows
}
