package bits

import (
	"math"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/dataset"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// table shows the figures of every slot over the last two seconds, for the active encoder and for
// the shadow, and the difference of both.
type table struct {
	*budgetModel
	rows           *rowList
	drawn          int // numChanges at the last Observe
	extraNameWidth int // columns of names beyond nameWidth; set by Draw
}

// Widths of the table, with a shadow and without.
const (
	widthWithShadow = 80
	widthAlone      = 59
)

// missingNameWidth returns by how many columns the longest name exceeds nameWidth. With several shadows it is 0.
func (m *budgetModel) missingNameWidth() (missing int) {
	if m.comparesSeveral() {
		return 0
	}
	for _, k := range m.slots {
		missing = max(missing, look.TextWidth(panes.SlotName(k, m.snap.Schema))-nameWidth)
	}
	return missing
}

// Columns of the table with several shadows: where the first lane begins, and the width of a lane.
const lanesLeft, laneWidth = 18, 16

// tableWidth returns the width of the table with the given number of lanes on a screen of w columns.
func tableWidth(lanes, w int) int {
	const minChartWidth = 60
	switch lanes {
	case 1:
		return widthAlone
	case 2:
		return widthWithShadow
	}
	return min(lanesLeft+lanes*laneWidth+2, max(w-minChartWidth, widthWithShadow))
}

func (p *table) Name() string { return "Bit budget" }

// slotCost is what one encoder spent on one slot: kbps, percent of the payload, bits per changed
// item and bits per packet.
type slotCost struct{ kbps, share, changed, packet float64 }

// newSlotCost returns what a lane spent in the last two seconds on slot k, a kind of content that bits are
// charged to, or on all slots if k is encoders.MaxSlots.
func newSlotCost(l *engine.Lane, k encoders.Slot) slotCost {
	r, total := &l.Recent, l.Recent.Budget.Total()
	if total <= 0 {
		// If the lane did not run then, its figures are NaN, and so are the products, which are shown
		// as "-"; otherwise the products are 0.
		return slotCost{kbps: 0 * r.PayloadKbps, share: 0 * r.PayloadKbps, changed: 0 * r.BitsPerChanged}
	}
	share := 1.0
	if k < encoders.MaxSlots {
		share = float64(r.Budget.Units[k]) / float64(total)
	}
	return slotCost{share * r.PayloadKbps, 100 * share, share * r.BitsPerChanged, share * r.BitsPerPacket}
}

// Draw implements room.Pane: a row per slot, then the payload and the verdict.
func (p *table) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	active := p.active()
	p.extraNameWidth = max(min(p.missingNameWidth(), c.W-tableWidth(len(p.shownLanes()), c.W)), 0)
	c.Frame(th, focused, p.Name(), p.heading(look.TitleSpace(c.W, p.Name()), c.H)...)
	if active == nil || len(p.slots) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, panes.NothingSentText(active))
		return
	}
	y := 0
	if p.comparesSeveral() {
		y = p.drawLaneNames(c, th)
	} else {
		y = p.drawHead(c, active, p.shadow())
	}
	visible, rest := p.visibleSlots(c.H - y - 2) // minus the border and the sum
	names := panes.SlotNames(p.slots, p.snap.Schema, nameWidth+p.extraNameWidth)
	for i, k := range p.slots {
		if slices.Contains(visible, k) {
			p.drawRow(c, th, y, tableRow{name: names[i], slots: []encoders.Slot{k}, selected: int(k) == p.selected})
			y++
		}
	}
	if len(rest) > 0 {
		p.drawRow(c, th, y, tableRow{name: p.othersName(rest), slots: rest})
		y++
	}
	p.drawRow(c, th, y, tableRow{name: "payload", slots: []encoders.Slot{encoders.MaxSlots}}) // the sum
	p.drawBelow(c, th, y+1)
}

// heading describes the figures and, if slots are hidden, the keys that show them. h is the height
// of the table.
func (p *table) heading(maxWidth, h int) []look.Span {
	order := ""
	if p.byCost {
		order = ", by cost"
	}
	figures := []look.Span{look.Dim.Span(period(p.axis.Crosshair) + order)}
	if len(p.slots) > h-4 { // minus the border, the column headings and the sum
		return look.Fit(maxWidth, append(figures[:1:1], look.Dim.Span("; "), look.Key.Span("↑↓"), look.Dim.Span(" select one of "),
			look.Value.Span(strconv.Itoa(len(p.slots)))), figures, nil)
	}
	return look.Fit(maxWidth, figures, nil)
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

// columnEnds are the right edges of the columns, from the left edge of the table: three figures of the active encoder, two
// of the shadow, and the difference. Without a shadow the fourth column has the bits per packet.
var columnEnds = [...]int{24, 32, 45, 53, 66, 77}

// endAlone is the right edge of the bits per packet without a shadow.
const endAlone = 57

// drawHead draws the column headings and returns the row below them. With a shadow, which may be nil, the
// names of the encoders are above the headings.
func (p *table) drawHead(c *look.Canvas, active, shadow *engine.Lane) (below int) {
	y := 1
	if shadow != nil {
		drawName := func(l *engine.Lane, end, groupWidth int) { // of the figures of an encoder
			x := p.extraNameWidth + end - groupWidth
			width := min(groupWidth, c.W-2-x) // less for the shadow in a narrow pane
			c.Clip(x, y, width, look.Title, look.PadLeft(look.LaneName(l.Name(), width), width))
		}
		drawName(active, columnEnds[2], 27)
		drawName(shadow, columnEnds[4], 19)
		p.drawColumn(c, columnEnds[5], y, look.Title, "difference")
		y++
	}
	per := "bits/" + p.perShort()
	headings := []string{"kbps", "share %", per, "kbps", per, "kbps"}
	if shadow == nil {
		headings = headings[:3]
		p.drawColumn(c, endAlone, y, look.Dim, "bits/packet")
	}
	for i, heading := range headings {
		p.drawColumn(c, columnEnds[i], y, look.Dim, heading)
	}
	return y + 1
}

// drawColumn writes text with its right edge at end, unless the pane is too narrow for it.
func (p *table) drawColumn(c *look.Canvas, end, y int, style look.Style, text string) {
	if end += p.extraNameWidth; end < c.W {
		c.TextRight(end, y, style, text)
	}
}

// tableRow is a row of the table: one slot, several slots, or all (encoders.MaxSlots).
type tableRow struct {
	name     string
	slots    []encoders.Slot
	selected bool
}

// sumCost returns what a lane spent on the slots of the row.
func (r *tableRow) sumCost(l *engine.Lane) (sum slotCost) {
	for _, k := range r.slots {
		s := newSlotCost(l, k)
		sum.kbps, sum.share, sum.changed, sum.packet = sum.kbps+s.kbps, sum.share+s.share, sum.changed+s.changed, sum.packet+s.packet
	}
	return sum
}

// drawRow draws row r at row y of the canvas: a swatch if it is one slot, its name, and the figures of both
// encoders with the difference, or those of the active encoder without a shadow.
func (p *table) drawRow(c *look.Canvas, th *look.Theme, y int, r tableRow) {
	if y >= c.H-1 {
		return
	}
	style, k := look.Plain, int(r.slots[0]) // k is encoders.MaxSlots for the sum
	switch {
	case r.selected:
		c.Text(1, y, look.Chosen, th.Chosen)
		style = look.Chosen
	case k == encoders.MaxSlots:
		style = look.Title
	}
	if k < encoders.MaxSlots && len(r.slots) == 1 {
		c.Set(3, y, look.SlotStyle(k), th.Swatch(k))
	}
	c.Clip(5, y, nameWidth+p.extraNameWidth, style, r.name)
	if p.comparesSeveral() {
		p.drawLaneFigures(c, y, &r)
		return
	}
	ends, activeCost := columnEnds, r.sumCost(p.active())
	p.drawColumn(c, ends[0], y, look.Value, units.Fixed(activeCost.kbps, 1))
	p.drawColumn(c, ends[1], y, look.Plain, units.Fixed(activeCost.share, 1))
	p.drawColumn(c, ends[2], y, look.Ratio, units.Fixed(activeCost.changed, 2))
	other := p.shadow()
	if other == nil {
		p.drawColumn(c, endAlone, y, look.Plain, units.Fixed(activeCost.packet, 1))
		return
	}
	shadowCost := r.sumCost(other)
	p.drawColumn(c, ends[3], y, look.Value, units.Fixed(shadowCost.kbps, 1))
	p.drawColumn(c, ends[4], y, look.Ratio, units.Fixed(shadowCost.changed, 2))
	diff := shadowCost.kbps - activeCost.kbps
	p.drawColumn(c, ends[5], y, differenceStyle(diff), units.Signed(diff, 1))
}

// differenceStyle returns the style of a difference in kbps: fewer is good. A difference that is rounded to
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
		largest, maxShare := encoders.Slot(0), -1.0
		for _, k := range p.slots {
			if share := newSlotCost(active, k).share; share > maxShare {
				largest, maxShare = k, share
			}
		}
		return active.Name() + " spends most on " + panes.SlotName(largest, p.snap.Schema) + ": " + units.Fixed(maxShare, 0) +
			" % of its bits.", " To compare it with another encoder, press v."
	}
	// MaxSlots stands for all slots.
	activeKbps, shadowKbps := newSlotCost(active, encoders.MaxSlots).kbps, newSlotCost(shadow, encoders.MaxSlots).kbps
	if activeKbps <= 0 || shadowKbps <= 0 {
		return "", ""
	}
	totalDiff := shadowKbps - activeKbps
	largest, maxDiff := encoders.Slot(0), 0.0
	for _, k := range p.slots { // only slots whose difference has the sign of the total
		if diff := newSlotCost(shadow, k).kbps - newSlotCost(active, k).kbps; diff*totalDiff > 0 && math.Abs(diff) > math.Abs(maxDiff) {
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
			parts[i] = panes.Part{Name: panes.SlotName(k, p.snap.Schema), Share: newSlotCost(l, k).share / 100, Slot: int(k)}
		}
		panes.StackedBar(c, th, 3, nameY+1, min(max(int(float64(maxWidth)*l.Recent.PayloadKbps/maxKbps), 0), maxWidth), parts)
	}
}
