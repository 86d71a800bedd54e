package compare

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	htmlpage "wirelab/experiment/page"
	"wirelab/experiment/report"
)

// New returns the page: all running encoders and the saved reports of folder dir in a table; below it a
// chart of one figure and one of payload ratios to the active encoder, or the figures of the selected
// report; and the changes of this run. dir is "" if there are no reports. The shadow selected on the page
// is stored in shadowChoice, so that other pages show it next to the active encoder.
func New(shadowChoice *panes.SelectedShadow, dir string) *room.Page {
	p := &room.Page{Name: "Compare", Top: room.NewSlot(&panes.SummaryLine{}), TopIfWide: true}
	chart := &panes.Charts{OnlySelected: true}
	changes := &panes.Changes{}
	rows := &table{chart: chart, shadowChoice: shadowChoice}
	rows.Sort, rows.Upward = firstFigure, true
	rows.folder = folder{dir: dir, listDue: true, runs: map[string]*run{}}
	figures := &details{of: rows}
	s := p.Add(rows, figures, chart, &panes.Charts{OnlySelected: true, Selected: panes.RatioChart}, changes)
	p.LayOut = func(w, h int) []room.Place {
		const minTable, minRowsForBoth, wide, minHeightOfCharts = 7, 20, 104, 18
		y := min(len(rows.rows)+otherRows+len(rows.footnote(w)), max(h/2, minTable))
		if h < minHeightOfCharts && figures.Absent() { // without Changes, and without a chart of a few rows
			return []room.Place{s[0].Place(0, 0, w, h)}
		}
		if len(rows.lanes) == 0 && figures.Absent() { // a crowd has no charts
			return []room.Place{s[0].Place(0, 0, w, h)}
		}
		places := []room.Place{s[0].Place(0, 0, w, y)}
		if !figures.Absent() {
			return append(places, s[1].Place(0, y, w, h-y))
		}
		left, bottom := w, h
		switch {
		case w >= wide:
			left = w * 6 / 10
		case !changes.Absent():
			bottom -= max((h-y)/3, 3)
		}
		upper := bottom - y
		if len(rows.lanes) < 2 || upper < minRowsForBoth || chart.Selected == panes.RatioChart {
			places = append(places, s[2].Place(0, y, left, upper))
		} else {
			half := (upper + 1) / 2
			places = append(places, s[2].Place(0, y, left, half), s[3].Place(0, y+half, left, upper-half))
		}
		switch {
		case left < w:
			places = append(places, s[4].Place(left, y, w-left, h-y))
		case bottom < h:
			places = append(places, s[4].Place(0, bottom, w, h-bottom))
		}
		return places
	}
	p.Small = p.LayOut
	return p
}

// Move selects another row if dy is not 0, and another figure to sort by if dx is not 0.
func (p *table) Move(dx, dy int) room.Request {
	if len(p.rows) == 0 {
		return room.Request{}
	}
	if dy != 0 {
		p.moveCursor(dy)
		p.selectShadow()
	}
	if dx != 0 {
		p.SortNext(dx)
		p.sortChanged()
	}
	return room.Request{}
}

// NextSort sorts by the next figure.
func (p *table) NextSort() room.Request { return p.Move(1, 0) }

// sortChanged sorts the rows again, and shows the chart of the figure.
func (p *table) sortChanged() {
	p.arrange()
	p.chart.Selected = chartForFigure(p.sortFigure())
}

// selectShadow makes the shadow under the cursor the one that other pages compare with the active encoder.
// If the cursor is elsewhere, their choice stays.
func (p *table) selectShadow() {
	p.version++ // the figures of another report are shown
	if r := p.selected(); r.isLane {
		p.shadowChoice.Select(p.lanes, r.lane)
	}
}

// chartForFigure returns the chart of a figure, BandwidthChart if the figure has none.
func chartForFigure(f figure) int {
	switch f {
	case figureBits:
		return panes.ItemChart
	case figureFailures:
		return panes.FailureChart
	}
	return panes.BandwidthChart
}

// NextFigure shows the next chart. The chart of ratios needs a shadow.
func (p *table) NextFigure() room.Request {
	charts := []int{panes.BandwidthChart, panes.ItemChart, panes.FailureChart, panes.RatioChart}
	if len(p.lanes) < 2 {
		charts = charts[:3]
	}
	at := slices.Index(charts, p.chart.Selected)
	p.chart.Selected = charts[(at+1)%len(charts)]
	return room.Request{}
}

// NextReference makes the selected row the reference that others are compared with, or the best encoder if
// the row is the reference already.
func (p *table) NextReference() room.Request {
	r := p.selected()
	if r == nil {
		return room.Refusal("there is nothing to compare yet")
	}
	if r.key == p.referenceKey {
		return p.Release()
	}
	p.referenceKey = r.key
	p.arrange()
	return room.Request{Notice: "rows are compared with " + strings.TrimSpace(r.name)}
}

// Release makes the best encoder the reference again.
func (p *table) Release() room.Request {
	p.referenceKey = ""
	if len(p.rows) > 0 {
		p.arrange()
	}
	return room.Request{}
}

// Enter makes the selected shadow the active encoder, and the active encoder a shadow; or it opens the
// charts of the selected report; or it goes to the start of the selected stretch of this run. It does nothing on the
// active encoder, or on a shadow whose removal was requested already.
func (p *table) Enter() room.Request {
	r := p.selected()
	switch {
	case r != nil && r.isToggle:
		p.showAll = !p.showAll
		p.arrange()
		return room.Request{}
	case r != nil && r.report != nil:
		return p.openCharts(r.report)
	case r != nil && r.stretch != nil:
		start := time.Duration(r.stretch.from * float64(time.Second))
		return room.Request{Line: "seek " + look.FormatTime(start)}
	case r == nil || len(p.cfg.Shadows) == 0:
		return room.Refusal("there are no shadows; v adds one")
	case !r.isLane || r.lane == 0:
		return room.Refusal("this encoder is active already; up and down select a shadow or a report")
	case r.lane > len(p.cfg.Shadows):
		return room.Refusal("this shadow is being removed")
	}
	active, chosen := p.cfg.Encoder, p.cfg.Shadows[r.lane-1]
	ch := config.NewChange("encoder.name", chosen.Name, "encoder.params", chosen.Params)
	ch = ch.Merge(p.removal(chosen))
	if !slices.ContainsFunc(p.cfg.Shadows, active.Equal) {
		ch = ch.Merge(config.NewChange("shadow", []config.Encoder{active}))
	}
	return room.Change(ch)
}

// removal returns the change that removes one shadow. The setting shadow_off removes all shadows with a
// name, so the change then adds again those with the same name and other parameters.
func (p *table) removal(removed config.Encoder) config.Change {
	ch := config.NewChange("shadow_off", []string{removed.Name})
	var others []config.Encoder
	for _, e := range p.cfg.Shadows {
		if e.Name == removed.Name && !e.Equal(removed) {
			others = append(others, e.Clone())
		}
	}
	if len(others) > 0 {
		ch = ch.Merge(config.NewChange("shadow", others))
	}
	return ch
}

// removeSelected removes the selected shadow. Nothing happens if its removal was requested already.
func (p *table) removeSelected() room.Request {
	r := p.selected()
	switch {
	case r == nil || !r.isLane || r.lane == 0:
		return room.Refusal("only shadows can be removed; to remove a report, remove its folder")
	case r.lane > len(p.cfg.Shadows):
		return room.Refusal("this shadow is being removed")
	}
	return room.Change(p.removal(p.cfg.Shadows[r.lane-1]))
}

// WriteHTML writes the report.html of the selected report and shows its path. It runs in the background,
// because a long report takes a while to read.
func (p *table) WriteHTML() room.Request {
	r := p.selected()
	if r == nil || r.report == nil {
		return room.Refusal("select a saved report first")
	}
	saved := r.report.SavedReport
	return room.Request{Notice: "writing the HTML page of " + saved.Name, Program: func() tea.Msg {
		out, err := htmlpage.SavePage(nil, saved.Path) // nil: the file system of the operating system
		if err != nil {
			return room.NoticeMsg{Text: err.Error(), IsError: true}
		}
		return room.NoticeMsg{Text: "HTML page: " + out}
	}}
}

// ShowReport implements room.ReportLister: it selects a report, which may be in another folder.
func (p *table) ShowReport(path string) room.Request {
	if err := p.open(path); err != nil {
		return room.Refusal(err.Error())
	}
	p.showAll = p.showAll || !slices.ContainsFunc(p.opened, func(s report.SavedReport) bool { return s.Path == path })
	p.arrange()
	p.Cursor = max(p.indexOf(path), 0)
	return room.Request{}
}

// Selection implements room.Copier: the path of the selected report, or the figures of the selected encoder
// as "name value" in each line.
func (p *table) Selection() string {
	r := p.selected()
	switch {
	case r == nil:
		return ""
	case r.report != nil:
		return r.report.Path
	}
	text := r.name + "\n"
	for f := range numFigures {
		text += f.text("item").long + " " + r.figureText(f) + "\n"
	}
	return text
}

// Click selects a row, or sorts by the column whose title is at (x, y).
func (p *table) Click(x, y int) room.Request {
	by := p.Sort
	p.Table.Click(x, y)
	if p.Sort != by {
		p.sortChanged()
	}
	return p.Move(0, 0)
}

func (p *table) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "sort by"}}
}

func (p *table) KeyHelp(key string) string {
	return map[string]string{"up": "select an encoder or a report", "left": "sort by another figure",
		"enter": "swap to a shadow, or open the report",
		"S":     "sort the encoders by the next figure", "c": "next chart: bandwidth, bits, failures, ratio",
		"r": "compare with the selected row, or the best"}[key]
}

// Bindings implements room.Binder. The command shadow without arguments opens the list of encoders, in which
// shadows are added.
func (p *table) Bindings() []room.Binding {
	unable := func() bool { return p.noShadows != "" }
	return []room.Binding{
		room.Bind("v", "add a shadow", func() room.Request { return room.Request{Line: "shadow"} }).InFooter("add shadow").Pin().Unless(unable),
		room.Bind("delete backspace", "remove the selected shadow", p.removeSelected).InFooter("remove").Pin().Unless(unable),
	}
}
