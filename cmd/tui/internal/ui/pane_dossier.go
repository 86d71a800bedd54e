package ui

import (
	"fmt"
	"strconv"
	"strings"
)

// dossierPane holds two runs against each other: figures side by side with their
// differences, and what the two were set to differently.
type dossierPane struct {
	item        string
	left, right *dossier // nil: none chosen
	top         int      // rows scrolled away
	rows        int      // as last drawn, and how many of them fit
	room        int
}

func (p *dossierPane) name() string { return "Beside" }

func (p *dossierPane) observe(sight) bool { return false } // the page says when

// row is one line of the pane: a text across, or cells.
type dossierRow struct {
	text  []span
	cells [4]span // label, left, right, difference
}

// scroll moves what is in sight.
func (p *dossierPane) scroll(n int) { p.top = min(max(p.top+n, 0), max(p.rows-p.room, 0)) }

func (p *dossierPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Beside", p.title()...)
	if p.left == nil {
		return
	}
	rows := p.lines(th, c.w-4)
	p.rows, p.room = len(rows), max(c.h-2, 0)
	p.scroll(0)
	cell := cellWidth(c.w - 4)
	for y, r := range rows[p.top:] {
		if y >= p.room {
			break
		}
		if r.text != nil {
			c.spans(2, y+1, c.w-4, r.text...)
			continue
		}
		right := c.w - 2
		for i := 3; i > 0; i-- {
			text := r.cells[i].text
			if textWidth(text) >= cell {
				text = truncate(text, cell-2) + "…"
			}
			c.right(right, y+1, r.cells[i].ink, text)
			right -= cell
		}
		c.clip(2, y+1, max(right-3, 0), r.cells[0].ink, r.cells[0].text)
	}
	if rest := p.rows - p.top - p.room; rest > 0 {
		c.right(c.w-2, c.h-1, inkDim, fmt.Sprintf(" %d more %s ", rest, th.down))
	}
}

func (p *dossierPane) title() []span {
	if p.right == nil || p.left == nil {
		return nil
	}
	return []span{{inkPlain, p.left.name}, {inkDim, " and "}, {inkPlain, p.right.name}}
}

// cellWidth is how wide the columns of figures are in a pane of w columns.
func cellWidth(w int) int { return min(max(w/5, 9), 18) }

// lines is all that the pane has to say.
func (p *dossierPane) lines(th *theme, w int) []dossierRow {
	across := func(k ink, text string) (out []dossierRow) {
		for _, line := range wrap(text, max(w, 1)) {
			out = append(out, dossierRow{text: []span{{k, line}}})
		}
		return out
	}
	for _, d := range []*dossier{p.left, p.right} {
		if d != nil && d.trouble != "" {
			return append(across(inkBad, d.trouble), across(inkDim, "Choose another one; esc goes back to this run.")...)
		}
	}
	var rows []dossierRow
	for _, d := range []*dossier{p.left, p.right} {
		if d != nil && d.note != "" {
			rows = append(rows, across(inkWarn, d.name+": "+d.note)...)
		}
	}
	rows = append(rows, p.figures()...)
	if p.right == nil {
		return append(append(rows, dossierRow{text: []span{{}}}), across(inkDim, "Choose a saved report, and its figures stand beside these.")...)
	}
	rows = append(rows, dossierRow{text: []span{{}}})
	rows = append(rows, p.settings(th, cellWidth(w))...)
	rows = append(rows, dossierRow{text: []span{{}}})
	for _, d := range []*dossier{p.left, p.right} {
		text := d.short() + ": " + counted(len(d.changes), "change") + " on the way"
		if len(d.beside) > 0 {
			text += "; beside it ran " + strings.Join(d.beside, ", ")
		}
		rows = append(rows, across(inkDim, text)...)
	}
	return rows
}

// figures is the table of what both measured.
func (p *dossierPane) figures() []dossierRow {
	head := dossierRow{cells: [4]span{{}, {inkDim, p.left.short()}}}
	if p.right != nil {
		head.cells[2], head.cells[3] = span{inkDim, p.right.short()}, span{inkDim, "difference"}
	}
	rows := []dossierRow{head}
	for _, m := range readings(p.itemName()) {
		row := dossierRow{cells: [4]span{{inkPlain, m.label}}}
		a, okA := m.of(p.left)
		if okA {
			row.cells[1] = span{inkValue, fixed(a, m.digits)}
		}
		if p.right != nil {
			b, okB := m.of(p.right)
			if okB {
				row.cells[2] = span{inkValue, fixed(b, m.digits)}
			}
			if okA && okB {
				row.cells[3] = apart(a, b, m.digits)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// apart is how much larger b is than a.
func apart(a, b float64, digits int) span {
	text := fixed(b-a, digits)
	zero := fixed(0, digits)
	switch {
	case text == zero || text == "-"+zero:
		return span{inkFaint, "="}
	case b > a:
		text = "+" + text
	default:
		text = "−" + strings.TrimPrefix(text, "-")
	}
	if a > 0 && digits > 0 {
		text += strings.Replace(fmt.Sprintf(" (%+.0f %%)", 100*(b/a-1)), "-", "−", 1)
	}
	return span{inkPlain, text}
}

func (p *dossierPane) itemName() string {
	if p.item == "" {
		return "item"
	}
	return p.item
}

// settings is what the two were set to differently.
func (p *dossierPane) settings(th *theme, cell int) []dossierRow {
	list := differing(p.left, p.right)
	if p.left.settings == nil || p.right.settings == nil {
		return nil
	}
	if len(list) == 0 {
		return []dossierRow{{text: []span{{inkDim, "Both end with the very same configuration."}}}}
	}
	rows := []dossierRow{{text: []span{{inkTitle, "What they are set to differently at their ends"}}}}
	value := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	for _, s := range list {
		if a, b := value(s.a), value(s.b); max(textWidth(a), textWidth(b)) < cell {
			rows = append(rows, dossierRow{cells: [4]span{{inkPlain, s.key}, {inkValue, a}, {inkValue, b}, {}}})
			continue
		}
		rows = append(rows, dossierRow{text: []span{
			{inkPlain, s.key + "  "}, {inkDim, p.left.short() + " "}, {inkValue, value(s.a)},
			{inkDim, "  " + th.dot + "  " + p.right.short() + " "}, {inkValue, value(s.b)}}})
	}
	return rows
}
