package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/paired"
	"wirelab/internal/units"
)

// table compares all running encoders: a row each, sorted by one figure.
type table struct {
	grid.Table // the rows are the entries in the order of order; the figures are in columns from firstFigure on

	itemUnit  string // see panes.PerItemUnit
	cfg       *config.Config
	now       time.Duration // virtual time of data
	numLanes  int           // number of lanes when data was computed
	snapLanes []engine.Lane // lanes of the snapshot that was observed last
	remote    bool          // the receiver is reached over a network
	data      comparison
	sortedBy  int            // Table.Sort when order was made
	order     []int          // indices of data.entries, best first by sortFigure
	gaps      map[gapKey]gap // comparisons with the best entry
	queue     []int          // entries whose gap has to be computed
	redraws   int            // number of comparisons since the last round of gaps began

	sparkMax float64 // upper end of the sparklines, in bits per sample
}

// gapKey identifies a gap: an entry, the best entry that it is compared with, and the figure. A gap
// is shown until it is computed again.
type gapKey struct {
	entry, best string        // labels
	started     time.Duration // when the entry was added; it may be removed and added again
	figure      figure
}

func (p *table) Name() string { return "Compare" }

// redrawsPerRound is the number of slow redraws between two rounds of gaps, so that a round takes one
// second. A round computes the gap of each entry, one per tick, because each takes milliseconds.
const redrawsPerRound = 2

// Observe implements room.Observer. When a slow redraw is due (see room.View.RedrawDue), or if a lane was added or
// removed, it compares the lanes of the new snapshot; otherwise it computes the next gap that is due. A gap that was never computed
// starts a new round at once.
func (p *table) Observe(v room.View) bool {
	p.cfg, p.snapLanes, p.remote = v.Cfg, v.Snap.Lanes, v.Snap.To != ""
	changed := v.Snap.Now != p.now || len(v.Snap.Lanes) != p.numLanes
	if p.data.entries == nil || changed && (v.RedrawDue || len(v.Snap.Lanes) != p.numLanes) {
		p.itemUnit, p.now, p.numLanes = panes.PerItemUnit(v.Snap.Schema, v.Snap.Item), v.Snap.Now, len(v.Snap.Lanes)
		p.data = compare(v.Snap)
		p.setColumns()
		p.sort()
		p.redraws++
		if p.redraws >= redrawsPerRound || p.lacksInterval() {
			p.queueGaps()
		}
		return true
	}
	return p.computeNextGap()
}

// lacksInterval reports whether the gap between any entry and the best one has never been computed.
func (p *table) lacksInterval() bool {
	for _, i := range p.order {
		if _, ok := p.gaps[p.gapKeyOf(i)]; !ok && i != p.order[0] {
			return true
		}
	}
	return false
}

// gapKeyOf returns the key of the gap between entry i and the best entry by the sort figure.
func (p *table) gapKeyOf(i int) gapKey {
	r, best := &p.data.entries[i], &p.data.entries[p.order[0]]
	return gapKey{r.label(), best.label(), r.started, p.sortFigure()}
}

// computeNextGap computes the next gap that is due and reports whether there was one.
func (p *table) computeNextGap() bool {
	if len(p.queue) == 0 {
		return false
	}
	i := p.queue[0]
	p.queue = p.queue[1:]
	const maxGaps = 200 // more are mostly of encoders that were removed
	if p.gaps == nil || len(p.gaps) > maxGaps {
		p.gaps = map[gapKey]gap{}
	}
	p.gaps[p.gapKeyOf(i)] = p.data.entries[i].gapTo(&p.data.entries[p.order[0]], p.sortFigure())
	return true
}

// sort orders the entries by the sort figure; entries without a value come last. It empties the queue of
// gaps, because the best entry may be another one now.
func (p *table) sort() {
	p.order = p.order[:0]
	for i := range p.data.entries {
		p.order = append(p.order, i)
	}
	value := func(i int) float64 {
		if v := p.data.entries[i].figures[p.sortFigure()]; !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(p.order, func(i, j int) int { return cmp.Compare(value(i), value(j)) })
	p.NumRows = len(p.order)
	p.sortedBy = p.Sort
	p.queue = nil
	p.Move(0) // the cursor stays in the table
}

// queueGaps queues all gaps for computing.
func (p *table) queueGaps() { p.redraws, p.queue = 0, slices.Clone(p.order[min(1, len(p.order)):]) }

// resort sorts the entries if the sort figure was changed. The cursor stays on its encoder.
func (p *table) resort() {
	if p.Sort == p.sortedBy || len(p.order) == 0 {
		return
	}
	selected := p.order[p.Cursor]
	p.setColumns()
	p.sort()
	p.Cursor = slices.Index(p.order, selected)
	p.queueGaps()
}

// selected returns the entry under the cursor, nil if none exists.
func (p *table) selected() *entry {
	if p.Cursor >= len(p.order) {
		return nil
	}
	return p.at(p.Cursor)
}

const (
	firstFigure = 1  // the column of the first figure
	rowsAbove   = 2  // rows above the first encoder: border and titles
	rowsBelow   = 3  // rows below the last encoder: an empty row, footnote and border
	sparkWidth  = 24 // columns of a sparkline
	minEncoders = 2  // encoders that the table needs; a hint is shown with fewer
)

// sortFigure returns the figure by which the entries are sorted.
func (p *table) sortFigure() figure { return figure(p.Sort - firstFigure) }

// setColumns sets the columns: name, figures, gap to the best encoder, sparkline.
func (p *table) setColumns() {
	nameWidth := 0
	p.sparkMax = 0 // one scale for all sparklines, so that heights can be compared
	for i := range p.data.entries {
		r := &p.data.entries[i]
		nameWidth = max(nameWidth, look.TextWidth(r.label())+2) // 2 for the symbol
		p.sparkMax = max(p.sparkMax, chart.SparkTop(r.lastMinute(), sparkWidth))
	}
	p.Columns = []grid.Column{{Title: "  encoder", Width: nameWidth, Min: 16, Text: p.nameText}}
	drop := [numFigures]int{figureAge: 1, figureDecode: 3, figureEncode: 4, figureFailures: 5, figurePacket: 6, figureBits: 7, figureKbps: 8}
	for f := range p.numShown() {
		title := f.text(p.itemUnit).head
		width := max(7, look.TextWidth(title)+1) // 1 for the mark of the sort figure
		p.Columns = append(p.Columns, grid.Column{Title: title, Width: width, Drop: drop[f], Right: true, Sortable: true,
			Text: func(c grid.Cell) []look.Span { return p.figureText(c.Row, f) }})
	}
	gapTitle := "vs best, 95 % CI"
	if p.sortFigure() == figureFailures {
		gapTitle = "more than the best, 95 % CI"
	}
	scale := fmt.Sprintf("last minute, 0 to %s kbps", units.Fixed(p.sparkMax*room.PerSecond/1000, 0))
	p.Columns = append(p.Columns, grid.Column{Title: gapTitle, Width: 34, Min: 24, Text: p.gapText},
		grid.Column{Title: scale, Width: 26, Drop: 2, Text: p.sparkText})
	p.Across = p.errorText
}

// numShown returns the number of figures that have a column: all, but files have no display and no age of it.
func (p *table) numShown() figure {
	hasAge := func(r entry) bool { return !math.IsNaN(r.figures[figureAge]) }
	if slices.ContainsFunc(p.data.entries, hasAge) {
		return numFigures
	}
	return figureAge
}

// Draw implements room.Pane. With fewer than minEncoders entries it draws a hint.
func (p *table) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	sortText := p.sortFigure().text(p.itemUnit)
	c.Frame(th, focused, "Compare", look.Fit(look.TitleSpace(c.W, "Compare"), []look.Span{look.Dim.Span("by "), look.Plain.Span(sortText.long)}, nil)...)
	if len(p.order) < minEncoders {
		p.drawHint(c)
		return
	}
	p.Table.Draw(c, th, 1, c.H-1-rowsBelow)
	p.footnote(c)
}

// drawHint explains how to add encoders to a table with fewer than minEncoders.
func (p *table) drawHint(c *look.Canvas) {
	lines := []string{
		"There are no shadows to compare with the active encoder.",
		"Press v, then v again on each encoder to add it as a shadow, on the same frames and the same losses;",
		"or type /shadow NAME.",
	}
	if p.remote {
		lines = []string{"Shadows are not available over a network, because its losses cannot be repeated for a second encoder.",
			"Without --to and --udp, shadows run on the same frames and losses as the active encoder."}
	}
	y := 2
	for _, line := range lines {
		for _, part := range look.Wrap(line, c.W-4) {
			if y < c.H-1 {
				c.Clip(2, y, c.W-4, look.Plain, part)
			}
			y++
		}
	}
}

// at returns the entry in a row of the table.
func (p *table) at(row int) *entry { return &p.data.entries[p.order[row]] }

// nameText returns the symbol and the name of an entry.
func (p *table) nameText(c grid.Cell) []look.Span {
	r := p.at(c.Row)
	symbol := string(look.LaneSymbol(c.Theme, r.lane)) + " "
	return []look.Span{look.LaneStyle(r.lane).Span(symbol), look.Plain.Span(look.LaneName(r.name, r.differs, c.Width-2))}
}

// figureText returns a figure of the entry in a row.
func (p *table) figureText(row int, f figure) []look.Span {
	r, style := p.at(row), look.Plain
	if f == p.sortFigure() {
		style = look.Value
	}
	return grid.Text(style, f.format(r.figures[f])+r.timingMark(f))
}

// sparkText returns the payload of an entry over the last minute.
func (p *table) sparkText(c grid.Cell) []look.Span {
	r := p.at(c.Row)
	return grid.Text(look.LaneStyle(r.lane), chart.Spark(r.lastMinute(), sparkWidth, p.sparkMax, c.Theme.Ascii))
}

// errorText returns the error of an encoder that sends nothing; nil for others.
func (p *table) errorText(c grid.Cell) []look.Span {
	r := p.at(c.Row)
	if r.err == nil || !math.IsNaN(r.figures[p.sortFigure()]) {
		return nil
	}
	return grid.Text(look.Bad, r.err.Error())
}

// lastMinute returns the payload bits of the samples of the last minute, which a sparkline shows.
func (r *entry) lastMinute() []float64 {
	const samples = int(time.Minute / meters.SamplePeriod)
	return r.Payload[max(len(r.Payload)-samples, 0):]
}

// gapText describes the gap between the entry in a row and the best entry: why no ratio is known, or the ratio with
// its confidence interval and, if significant, the difference in the figure's unit.
func (p *table) gapText(c grid.Cell) []look.Span {
	r, by, th, maxWidth := p.at(c.Row), p.sortFigure(), c.Theme, c.Width
	v, best := r.figures[by], p.at(0).figures[by]
	switch {
	case r.absent:
		return look.Fit(maxWidth, []look.Span{look.Dim.Span("not running yet: started at " + look.FormatTime(r.started))},
			[]look.Span{look.Dim.Span("not running yet")})
	case math.IsNaN(v) || math.IsNaN(best):
		return []look.Span{look.Dim.Span("no data yet")}
	case c.Row == 0:
		return []look.Span{look.Good.Span("best")}
	}
	g := p.gaps[p.gapKeyOf(p.order[c.Row])] // without an interval if it was not computed yet
	if by == figureFailures {
		return p.failureSpans(th, v-best, &g, maxWidth)
	}
	if !g.ratio.Known {
		ratio := []look.Span{look.Plain.Span(formatRatio(th, v/best, 1, 1))} // an empty interval gives two decimals
		return look.Fit(maxWidth, append(ratio, look.Dim.Span("  too early for an interval")), append(ratio, look.Dim.Span("  too early")), ratio)
	}
	q := &g.ratio
	style := look.Value
	if !q.Significant() {
		style = look.Dim
	}
	decimals := ratioDecimals(q.Lo, q.Hi)
	withInterval := []look.Span{style.Span(formatRatio(th, q.Ratio, q.Lo, q.Hi)),
		look.Dim.Span("  " + units.Fixed(q.Lo, decimals) + " to " + units.Fixed(q.Hi, decimals))}
	ratio := withInterval[:1:1] // a capacity of 1 makes append copy
	if !q.Significant() {
		remark := look.Warn.Span("  not significant")
		return look.Fit(maxWidth, append(withInterval[:2:2], remark), append(ratio, remark), ratio)
	}
	difference := look.Plain.Span("  +" + by.format(v-best) + " " + by.text(p.itemUnit).unit)
	return look.Fit(maxWidth, append(withInterval[:2:2], difference), withInterval, ratio)
}

// failureSpans describes how many more packets per minute failed than with the best entry, with half the
// width of the confidence interval of g.
func (p *table) failureSpans(th *look.Theme, more float64, g *gap, maxWidth int) []look.Span {
	diff := look.Plain.Span("+" + units.Fixed(more, 1))
	if !g.difference.Known {
		return look.Fit(maxWidth, []look.Span{diff, look.Dim.Span("  too early for an interval")}, []look.Span{diff, look.Dim.Span("  too early")}, []look.Span{diff})
	}
	half := look.Dim.Span(" " + th.PlusMinus + " " + units.Fixed((g.difference.Hi-g.difference.Lo)/2, 1))
	if !g.isSignificant() {
		return look.Fit(maxWidth, []look.Span{look.Dim.Span(diff.Text), half, look.Warn.Span("  not significant")}, []look.Span{diff, half})
	}
	return []look.Span{diff, half}
}

// formatRatio formats the ratio v with as many decimals as its interval, lo to hi, justifies.
func formatRatio(th *look.Theme, v, lo, hi float64) string {
	return th.Times + units.Fixed(v, ratioDecimals(lo, hi))
}

// ratioDecimals returns the decimals of a ratio, two to four, the more the narrower its interval is.
func ratioDecimals(lo, hi float64) int {
	switch d := hi - lo; {
	case d >= 0.1 || d <= 0:
		return 2
	case d >= 0.005:
		return 3
	}
	return 4
}

// footnote draws, in the row above the lower border, the period of the data and the method of the intervals, or why
// there are no data yet.
func (p *table) footnote(c *look.Canvas) {
	y := c.H - 2
	span := p.data.To - p.data.From
	if len(p.data.entries[0].Payload) == 0 {
		c.Clip(2, y, c.W-4, look.Dim, "the comparison begins 1 s after the last encoder was added or swapped")
		return
	}
	parts := []string{fmt.Sprintf("common period %s", seconds(max(span, 0)))}
	if p.data.LoopSamples > 0 {
		parts[0] += fmt.Sprintf(", leaving out %s at loop points", seconds(time.Duration(p.data.LoopSamples)*meters.SamplePeriod))
	}
	if p.comparesPackets() {
		parts = append(parts, fmt.Sprintf("sizes and times: the last %d packets", p.data.packets))
	}
	parts = append(parts, "95 % CI: "+p.intervalText())
	text := strings.Join(parts, "; ")
	if look.TextWidth(text) > c.W-4 {
		text = fmt.Sprintf("common %s; 95 %% CI: %s", seconds(max(span, 0)), p.intervalText())
	}
	c.Clip(2, y, c.W-4, look.Dim, text)
}

// comparesPackets reports whether the sort figure is a quantile over packets: a size or a time.
func (p *table) comparesPackets() bool {
	return p.sortFigure() == figurePacket || p.sortFigure() == figureEncode || p.sortFigure() == figureDecode
}

// intervalText describes the method of the interval of the entry under the cursor, or of the second entry if the cursor
// is on the best, with the block length: a number of packets for sizes and times, otherwise seconds. If it is too early
// for an interval, intervalText describes how long the common period must be.
func (p *table) intervalText() string {
	g := p.gaps[p.gapKeyOf(p.order[min(max(p.Cursor, 1), len(p.order)-1)])]
	if !g.hasInterval() {
		needs := "from " + seconds(paired.MinPairs*meters.SamplePeriod) + " on"
		if p.comparesPackets() {
			needs += fmt.Sprintf(" and %d packets", paired.MinPairsForQuantile)
		}
		return needs
	}
	if p.comparesPackets() {
		return fmt.Sprintf("jackknife of ten blocks of %d packets", g.blockLength())
	}
	return "jackknife of ten blocks of " + seconds(time.Duration(g.blockLength())*meters.SamplePeriod)
}

// seconds formats d in seconds.
func seconds(d time.Duration) string { return units.Fixed(d.Seconds(), 1) + " s" }
