package compare

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// details is the pane that compares the selected report with the reference, or with this run if the
// reference is a lane: all main figures, then the settings that differ. It has a row for each line.
type details struct {
	grid.Table
	of      *table
	version int // table.version when the rows were made
	rows    [][4]look.Span
	notes   []string
}

func (p *details) Name() string { return "Figures" }

func (p *details) Absent() bool {
	r := p.of.selected()
	return r == nil || r.report == nil
}

// base returns the run that the selected report is compared with.
func (p *details) base() *run {
	if base := p.of.reference.report; base != nil && base != p.of.selected().report {
		return base
	}
	return p.of.thisRun
}

func (p *details) Observe(room.View) bool {
	if p.Absent() || p.version == p.of.version {
		return false
	}
	p.version = p.of.version
	p.rows, p.notes = nil, nil
	if p.of.selected().report.err == nil {
		p.compare(p.base(), p.of.selected().report)
	}
	return true
}

// compare makes the rows of a comparison of two runs.
func (p *details) compare(a, b *run) {
	add := func(label, left, right string, difference look.Span) {
		cells := [4]look.Span{look.Plain.Span(label), look.Value.Span(left), look.Value.Span(right), difference}
		p.rows = append(p.rows, cells)
	}
	isLike := a.unlike(b) == ""
	totals := []*figures.Totals{&a.totals, &b.totals}
	left, right := figures.Flatten(totals[0]), figures.Flatten(totals[1])
	for _, f := range report.KnownFigures(figures.Main, totals) {
		x, okA := left[f.Key]
		y, okB := right[f.Key]
		text := func(v float64, known bool) string {
			if !known {
				return "-"
			}
			return f.Text(v)
		}
		difference := look.Span{}
		if okA && okB {
			difference = formatDifference(&f, x, y, isLike)
		}
		add(f.Label(), text(x, okA), text(y, okB), difference)
	}
	for _, key := range report.SortedKeys([]map[string]string{a.settings, b.settings}) {
		x, y := a.settings[key], b.settings[key]
		areKnown := a.settings != nil && b.settings != nil
		if x != y && areKnown {
			add(key, cmp.Or(x, "none"), cmp.Or(y, "none"), look.Dim.Span("setting"))
		}
	}
	if long, short := max(a.length, b.length), min(a.length, b.length); 10*long > 11*short {
		p.notes = append(p.notes, "the runs have different lengths, so part of the difference may be due to the data")
	}
	p.notes = append(p.notes, b.notes...)
}

// formatDifference formats the difference of two values of a figure, "=" if it is rounded to 0. Figures
// with decimals also have the change in percent of a, unless they are percentages or the change rounds to 0. A word follows if one of the values is
// better and the runs are alike.
func formatDifference(f *figures.Row, a, b float64, isLike bool) look.Span {
	text := f.Text(math.Abs(b - a))
	if strings.Trim(text, "0.") == "" {
		return look.Faint.Span("=")
	}
	sign := "+"
	if b < a {
		sign = "−"
	}
	text = sign + text
	hasPercent := a > 0 && f.Decimals > 0 && f.Unit != "%"
	percent := units.Fixed(100*math.Abs(b/a-1), 0)
	if hasPercent && percent != "0" {
		text += fmt.Sprintf(" (%s%s %%)", sign, percent)
	}
	const negligible = 0.005 // of a
	switch {
	case !isLike, f.Better == figures.Neither, math.Abs(b-a) < negligible*math.Abs(a):
		return look.Plain.Span(text)
	case (b < a) == (f.Better == figures.LessIsBetter):
		return look.Good.Span(text + " better")
	}
	return look.Warn.Span(text + " worse")
}

func (p *details) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	if p.Absent() {
		return
	}
	r := p.of.selected().report
	names := []look.Span{look.Plain.Span(r.Name), look.Dim.Span(" vs " + p.base().Name + ", whole runs")}
	c.FitFrame(th, focused, p.Name(), names, names[:1])
	if r.err != nil {
		c.Wrap(2, 1, c.W-4, errorStyle(r.err), r.err.Error())
		return
	}
	p.NumRows = len(p.rows)
	cell := func(i int) func(grid.Cell) []look.Span {
		return func(c grid.Cell) []look.Span { return []look.Span{p.rows[c.Row][i]} }
	}
	p.Columns = []grid.Column{{Title: "figure or setting", Width: 40, Min: 28, Text: cell(0)},
		{Title: p.base().Name, Width: 24, Min: 9, Right: true, Text: cell(1)},
		{Title: r.Name, Width: 24, Min: 9, Right: true, Text: cell(2)},
		{Title: "right minus left", Width: 24, Min: 20, Drop: 1, Right: true, Text: cell(3)}}
	p.Sort = -1
	notes := look.Wrap(strings.Join(p.notes, "; "), c.W-5)
	const minRows = 6 // of the table with its titles, and borders
	drawWithNotes(c, th, &p.Table, notes, c.H-minRows-2)
}

// Move moves the cursor.
func (p *details) Move(_, dy int) room.Request {
	p.Table.Move(dy)
	return room.Request{}
}

// Click selects a row.
func (p *details) Click(x, y int) room.Request {
	p.Table.Click(x, y)
	return room.Request{}
}
