package compare

import (
	"slices"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// encoders is the table of all running encoders with its keys.
type encoders struct {
	table
	charts       *panes.Charts         // the chart of the figure that the table is sorted by
	shadowChoice *panes.SelectedShadow // the shadow that all pages compare with the active encoder
	chartChoice  charts                // selected with c
	chartRows    int                   // height below the table, for one chart or both
}

// New returns the page: all running encoders in a table, a chart of the figure that the table is sorted
// by, and a chart of payload ratios to the active encoder. The shadow selected on it is stored in
// shadowChoice, so that other pages show it next to the active encoder.
func New(shadowChoice *panes.SelectedShadow) *room.Page {
	p := &room.Page{Name: "Compare", Top: room.NewSlot(&panes.SummaryLine{}), TopIfWide: true}
	table := &encoders{table: table{Table: grid.Table{Sort: firstFigure}}, charts: &panes.Charts{OnlySelected: true}, shadowChoice: shadowChoice}
	s := p.Add(table, table.charts, &panes.Charts{OnlySelected: true, Selected: panes.RatioChart})
	p.LayOut = func(w, h int) []room.Place {
		const hintRows = 7 // height of a table with a hint instead of entries
		neededRows := max(len(table.order), 1) + rowsAbove + rowsBelow
		if len(table.order) < minEncoders {
			neededRows = hintRows
		}
		y := min(neededRows, max(h/2, hintRows)) // at most half of the page, but never less than the hint needs
		rows := h - y
		table.chartRows = rows
		places := []room.Place{s[0].Place(0, 0, w, y)}
		switch table.visibleCharts(rows) {
		case bothCharts:
			upper := (rows + 1) / 2
			return append(places, s[1].Place(0, y, w, upper), s[2].Place(0, y+upper, w, rows-upper))
		case ratioChart:
			return append(places, s[2].Place(0, y, w, rows))
		}
		return append(places, s[1].Place(0, y, w, rows))
	}
	p.Small = p.LayOut
	return p
}

// charts selects which of the charts are shown.
type charts uint8

const (
	bothCharts charts = iota // only the figure's chart if both do not fit
	figureChart
	ratioChart
	numCharts
)

// visibleCharts returns which charts are shown below the table, in the given number of rows.
func (p *encoders) visibleCharts(rows int) charts {
	const minRowsForBoth = 20
	switch {
	case len(p.order) < minEncoders, // no ratios without a second encoder
		p.chartChoice == bothCharts && rows < minRowsForBoth:
		return figureChart
	}
	return p.chartChoice
}

// nextChartChoice selects the next choice: both charts, the chart of the figure, the ratio chart. Without a second
// encoder there is no ratio, and it returns a notice.
// On a page too small for both charts it skips the chart of the figure, which is shown already.
func (p *encoders) nextChartChoice() room.Request {
	if len(p.order) < minEncoders {
		return room.Refusal("the chart of ratios needs a shadow; v adds one")
	}
	isReduced := p.visibleCharts(p.chartRows) == figureChart && p.chartChoice == bothCharts
	p.chartChoice = (p.chartChoice + 1) % numCharts
	if isReduced && p.chartChoice == figureChart {
		p.chartChoice = ratioChart
	}
	return room.Request{}
}

// Move selects another encoder if dy is not 0, and another figure to sort by if dx is not 0.
func (p *encoders) Move(dx, dy int) room.Request {
	p.Table.Move(dy)
	if dx != 0 {
		p.NextSort(dx)
	}
	p.update()
	return room.Request{}
}

// update applies a new cursor or a new column to sort by.
func (p *encoders) update() {
	p.resort()
	p.storeSelection()
	p.charts.Selected = chartForFigure(p.sortFigure())
}

// storeSelection makes the shadow under the cursor the one that other pages compare with the active
// encoder. If the cursor is on the active encoder, their choice stays.
func (p *encoders) storeSelection() {
	if r := p.selected(); r != nil {
		p.shadowChoice.Select(p.snapLanes, r.lane)
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

// Enter makes the selected shadow the active encoder, and the active encoder a shadow. It does nothing
// on the active encoder, or on a shadow whose removal was requested already.
func (p *encoders) Enter() room.Request {
	r := p.selected()
	switch {
	case r == nil || len(p.cfg.Shadows) == 0:
		return room.Refusal("there are no shadows; v adds one")
	case r.lane == 0:
		return room.Refusal("this encoder is active already; ↑ and ↓ select a shadow")
	case r.lane > len(p.cfg.Shadows):
		return room.Refusal("this shadow is being removed")
	}
	active, chosen := p.cfg.Encoder, p.cfg.Shadows[r.lane-1]
	ch := config.NewChange("encoder.name", chosen.Name, "encoder.params", chosen.Params).Merge(p.removal(chosen))
	if !slices.ContainsFunc(p.cfg.Shadows, active.Equal) {
		ch = ch.Merge(config.NewChange("shadow", []config.Encoder{active}))
	}
	return room.Change(ch)
}

// removal returns the change that removes one shadow. The setting shadow_off removes all shadows with a
// name, so the change then adds again those with the same name and other parameters.
func (p *encoders) removal(removed config.Encoder) config.Change {
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
func (p *encoders) removeSelected() room.Request {
	r := p.selected()
	if r == nil || r.lane == 0 {
		return room.Request{Notice: "the active encoder cannot be removed; select a shadow", IsError: true}
	}
	if r.lane > len(p.cfg.Shadows) {
		return room.Refusal("this shadow is being removed")
	}
	return room.Change(p.removal(p.cfg.Shadows[r.lane-1]))
}

// Selection implements room.Copier: the figures of the selected encoder, as "heading value" in each line.
func (p *encoders) Selection() string {
	r := p.selected()
	if r == nil {
		return ""
	}
	text := r.label() + "\n"
	for f := range numFigures {
		name := f.text("item").long
		text += name + " " + f.format(r.figures[f]) + r.timingMark(f) + "\n"
	}
	return text
}

// Click selects an encoder, or sorts by the column whose heading is at (x, y).
func (p *encoders) Click(x, y int) room.Request {
	p.Table.Click(x, y)
	p.update()
	return room.Request{}
}

func (p *encoders) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "sort by"}}
}

func (p *encoders) KeyHelp(key string) string {
	return map[string]string{"up": "select an encoder", "left": "sort by another figure",
		"enter": "make the selected shadow the active encoder; the active encoder becomes a shadow"}[key]
}

// Bindings implements room.Binder. The command encoder without arguments opens the list of encoders, in which
// shadows are added and removed.
func (p *encoders) Bindings() []room.Binding {
	return []room.Binding{
		room.Bind("v", "add or remove shadows",
			func() room.Request { return room.Request{Line: "encoder"} }).InFooter("shadows").Pin(),
		room.Bind("c", "charts: the sort figure, the payload ratio to the active encoder, or both",
			p.nextChartChoice).InFooter("charts"),
		room.Bind("delete backspace", "remove the selected shadow", p.removeSelected).InFooter("remove"),
	}
}
