package bits

import (
	"math"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// table shows the figures of every slot over the last two seconds: those of the active encoder or, with shadows, one
// figure of each lane, in the unit of the charts, and its difference to the active encoder.
type table struct {
	*budgetModel
	rows  *rowList
	drawn int // numChanges at the last Observe
}

// Widths of the table without shadows, and of its parts with them, including the gaps between columns.
const (
	widthAlone       = 64
	namesWidth       = 21 // with the edges of the table
	laneWidth        = 12
	differenceWidth  = 9
	shadowWidth      = laneWidth + differenceWidth
	widthWithShadows = 80 // at least
)

// tableWidth returns the width of the table with the given number of lanes on a screen of w columns.
func tableWidth(lanes, w int) int {
	const minChartWidth = 60
	if lanes == 1 {
		return widthAlone
	}
	return max(min(namesWidth+lanes*shadowWidth, w-minChartWidth), widthWithShadows)
}

func (p *table) Name() string { return "Bit budget" }

// share returns the part of its payload that a lane spent on slots in the last two seconds, 0 to 1; encoders.MaxSlots
// stands for all slots. It is 0 for a lane that sent nothing, and NaN for one that did not run.
func share(l *engine.Lane, slots ...encoders.Slot) float64 {
	spent := int64(0)
	for _, k := range slots {
		if k == encoders.MaxSlots {
			return 1 + 0*l.Recent.PayloadKbps
		}
		spent += l.Recent.Budget.Units[k]
	}
	return float64(spent)/float64(max(l.Recent.Budget.Total(), 1)) + 0*l.Recent.PayloadKbps
}

// kbps returns what a lane spent on slots in the last two seconds.
func kbps(l *engine.Lane, slots ...encoders.Slot) float64 {
	return share(l, slots...) * l.Recent.PayloadKbps
}

// Draw implements room.Pane: a row per slot, then the payload and the verdict.
func (p *table) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	active := p.active()
	c.Frame(th, focused, p.Name(), p.heading(c.W, c.H)...)
	if active == nil || len(p.slots) == 0 {
		c.Wrap(2, 1, c.W-4, look.Dim, panes.NothingSentText(p.snap, active))
		return
	}
	const otherRows = 3 // the frame and the titles of columns
	rows := p.tableRows(c.H - otherRows)
	selected := func(r tableRow) bool { return len(r.slots) == 1 && int(r.slots[0]) == p.selected }
	t := grid.Table{Columns: p.columns(rows, c.W), NumRows: len(rows), Cursor: slices.IndexFunc(rows, selected), Sort: -1}
	t.Draw(c, th, 1, c.H-2)
	p.drawBelow(c, th, 2+len(rows))
}

// tableRows returns at most n rows: slots, the others if there are too many, and the payload.
func (p *table) tableRows(n int) (rows []tableRow) {
	visible, rest := p.visibleSlots(n - 1)
	names := panes.SlotNames(p.slots, p.snap.Schema, nameWidth)
	for i, k := range p.slots {
		if slices.Contains(visible, k) {
			rows = append(rows, tableRow{names[i], []encoders.Slot{k}})
		}
	}
	if len(rest) > 0 {
		rows = append(rows, tableRow{p.othersName(rest), rest})
	}
	return append(rows, tableRow{"payload", []encoders.Slot{encoders.MaxSlots}})
}

// columns returns the columns of a table that is w columns wide.
func (p *table) columns(rows []tableRow, w int) []grid.Column {
	name := func(cell grid.Cell) []look.Span {
		r := &rows[cell.Row]
		switch k := r.slots[0]; {
		case k == encoders.MaxSlots:
			return []look.Span{look.Plain.Span("  "), look.Title.Span(r.name)}
		case len(r.slots) == 1:
			return []look.Span{cell.Theme.SlotMark(int(k)), look.Plain.Span(r.name)}
		}
		return grid.Text(look.Plain, "  "+r.name)
	}
	list := []grid.Column{{Width: nameWidth + 2, Min: 12, Text: name}}
	add := func(title string, width int, text func(r *tableRow) look.Span) {
		list = append(list, grid.Column{Title: title, Width: width, Right: true,
			Text: func(cell grid.Cell) []look.Span { return []look.Span{text(&rows[cell.Row])} }})
	}
	active := p.active()
	if !p.hasShadows() {
		figure := func(title string, width, digits int, style look.Style, all float64) {
			add(title, width, func(r *tableRow) look.Span { return style.Span(units.Fixed(all*share(active, r.slots...), digits)) })
		}
		recent := &active.Recent
		figure("kbps", 6, 1, look.Value, recent.PayloadKbps)
		figure("share %", 7, 1, look.Plain, 100)
		figure("bits/"+p.perShort(), 12, 2, look.Ratio, recent.BitsPerChanged)
		figure("bits/packet", 11, 1, look.Plain, recent.BitsPerPacket)
		return list
	}
	digits := 1
	if p.unit == byChanged {
		digits = 2
	}
	indices, _ := p.lanesThatFit(w)
	const maxFigure = 24
	width := min(laneWidth-2+(w-namesWidth+differenceWidth-len(indices)*shadowWidth)/len(indices), maxFigure)
	for i, index := range indices {
		l := &p.lanes[index]
		cost := func(r *tableRow) float64 { return p.unit.of(l) * share(l, r.slots...) }
		name := l.Letter + " " + look.LaneName(l.Name(), width-2-look.TextWidth(l.Letter+" "))
		add(string(look.LaneSymbol(index))+" "+name, width, func(r *tableRow) look.Span {
			return look.Value.Span(units.Fixed(cost(r), digits))
		})
		if i > 0 {
			add("vs "+active.Letter, differenceWidth-2, func(r *tableRow) look.Span {
				diff := cost(r) - p.unit.of(active)*share(active, r.slots...)
				return differenceStyle(diff).Span(units.Signed(diff, digits))
			})
		}
	}
	return list
}

// heading describes the figures and, if slots are hidden, the keys that show them. w and h are the size of the table.
func (p *table) heading(w, h int) []look.Span {
	text := period(p.axis.Crosshair)
	if p.byCost {
		text += ", by cost"
	}
	if p.hasShadows() {
		text = [numUnits]string{"kbps", "share %", "bits/" + p.perShort()}[p.unit] + ", " + text
		if _, omitted := p.lanesThatFit(w); omitted > 0 {
			text += ", without " + words.Count(omitted, "lane")
		}
	}
	figures := []look.Span{look.Dim.Span(text)}
	more := figures
	if len(p.slots) > h-4 { // minus the border, the column headings and the sum
		more = append(figures[:1:1], look.Dim.Span("; "), look.Key.Span("↑↓"), look.Dim.Span(" select one of "),
			look.Value.Span(strconv.Itoa(len(p.slots))))
	}
	return look.Fit(look.TitleSpace(w, p.Name()), more, figures, nil)
}

// period names the two seconds of the figures: those before the crosshair or, if that is 0, the last ones.
func period(crosshair time.Duration) string {
	if crosshair > 0 {
		return "mean of 2 s to " + look.FormatTime(crosshair)
	}
	return "mean of the last 2 s"
}

// nameWidth is the maximum width of a slot's name.
const nameWidth = 13

// visibleSlots returns the slots that have a row of their own in a table of n rows, and those that
// share the last row. The slots around the selected one have rows, or the largest without a selection.
func (p *table) visibleSlots(n int) (visible, rest []encoders.Slot) {
	if len(p.slots) <= n {
		return p.slots, nil
	}
	maxVisible := max(n-1, 0)
	if at := p.selectedRow(); at >= 0 {
		from := min(max(at-maxVisible/2, 0), len(p.slots)-maxVisible)
		return p.slots[from : from+maxVisible], slices.Concat(p.slots[:from], p.slots[from+maxVisible:])
	}
	return p.largestSlots(p.slots, maxVisible)
}

// tableRow is a row of the table: one slot, several slots, or all (encoders.MaxSlots).
type tableRow struct {
	name  string
	slots []encoders.Slot
}

// differenceStyle returns the style of a difference: fewer is good. A difference that is rounded to
// 0 is dim.
func differenceStyle(d float64) look.Style {
	switch {
	case math.Abs(d) < 0.05:
		return look.Dim
	case d < 0:
		return look.Good
	}
	return look.Warn
}

// drawBelow draws, in the rows from y on, the verdict in words and then a bar per encoder on a common
// scale. It draws what fits.
func (p *table) drawBelow(c *look.Canvas, th *look.Theme, y int) {
	if c.H-1-y > 4 {
		y++ // an empty row
	}
	rows, w := c.H-1-y, c.W-6
	text, more := p.verdict()
	if rounding := p.roundingOfSelected(); rounding != "" {
		text, more = rounding, ""
	}
	lines := look.Wrap(text+more, w)
	if len(lines) > rows {
		lines = look.Wrap(text, w)
	}
	if len(lines) > rows { // an incomplete sentence would mislead
		return
	}
	for _, line := range lines {
		c.Clip(3, y, c.W-5, look.Plain, line)
		y++
	}
	p.drawBars(c, th, y+1)
}

// roundingOfSelected describes what rounding to the steps of the selected field loses; "" if no field is selected, or if
// the data do not round.
func (p *table) roundingOfSelected() string {
	if p.selected < 0 {
		return ""
	}
	name := panes.SlotName(encoders.Slot(p.selected), p.snap.Schema)
	i := slices.IndexFunc(p.snap.Precision, func(x dataset.Precision) bool { return x.Field == name && x.Rounds() })
	if i < 0 {
		return ""
	}
	return p.snap.Precision[i].Sentence()
}

// verdict describes the largest slot or, with shadows, the difference of the active encoder and the cheapest of
// them, and the slot that contributes most to it. more continues text and may be omitted if there is no room. Both
// are "" if an encoder sent nothing.
func (p *table) verdict() (text, more string) {
	active, shadow := p.active(), p.cheapestShadow()
	if shadow == nil {
		if room.NoShadows(p.snap) == "" {
			more = " To compare it with another encoder, press v."
		}
		largest, maxShare := encoders.Slot(0), -1.0
		for _, k := range p.slots {
			if s := share(active, k); s > maxShare {
				largest, maxShare = k, s
			}
		}
		return active.Name() + " spends most on " + panes.SlotName(largest, p.snap.Schema) + ": " + units.Fixed(100*maxShare, 0) +
			" % of its bits.", more
	}
	activeKbps, shadowKbps := active.Recent.PayloadKbps, shadow.Recent.PayloadKbps
	if activeKbps <= 0 || shadowKbps <= 0 {
		return "", ""
	}
	totalDiff := shadowKbps - activeKbps
	largest, maxDiff := encoders.Slot(0), 0.0
	for _, k := range p.slots { // only slots whose difference has the sign of the total
		if diff := kbps(shadow, k) - kbps(active, k); diff*totalDiff > 0 && math.Abs(diff) > math.Abs(maxDiff) {
			largest, maxDiff = k, diff
		}
	}
	word := "less"
	if totalDiff > 0 {
		word = "more"
	}
	text = shadow.Name() + " uses " + units.Fixed(math.Abs(totalDiff), 1) + " kbps " + word + " than " + active.Name() + " (" +
		units.Signed(100*(shadowKbps/activeKbps-1), 0) + " %)"
	if maxDiff != 0 {
		more = ", mostly on " + panes.SlotName(largest, p.snap.Schema) + " (" + units.Signed(maxDiff, 1) + ")"
	}
	return text, more
}

// drawBars draws, for each encoder, its name and a bar of its slots below it from row y on. The length of a
// bar is in proportion to the bandwidth.
func (p *table) drawBars(c *look.Canvas, th *look.Theme, y int) {
	if c.H-1-y < 5 { // two names and bars, and an empty row between them
		return
	}
	lanes := p.shownLanes()
	maxKbps := 0.0
	for _, l := range lanes {
		maxKbps = max(maxKbps, l.Recent.PayloadKbps)
	}
	for i, l := range lanes {
		nameY := y + 3*i
		if nameY+1 >= c.H-1 || maxKbps <= 0 || math.IsInf(maxKbps, 0) {
			return
		}
		c.Spans(3, nameY, c.W-5, look.Title.Span(look.LaneName(l.Name(), 40)), look.Dim.Span("  "+units.Fixed(l.Recent.PayloadKbps, 1)+" kbps"))
		maxWidth := c.W - 6
		parts := make([]panes.Part, len(p.slots))
		for i, k := range p.slots {
			parts[i] = panes.Part{Name: panes.SlotName(k, p.snap.Schema), Share: share(l, k), Slot: int(k)}
		}
		panes.StackedBar(c, th, 3, nameY+1, min(max(int(float64(maxWidth)*l.Recent.PayloadKbps/maxKbps), 0), maxWidth), parts)
	}
}
