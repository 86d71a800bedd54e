package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/chart"
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
	sortFigure figure
	cursor     int // selected row, an index in order

	itemUnit  string // see panes.PerItemUnit
	cfg       *config.Config
	now       time.Duration // virtual time of data
	numLanes  int           // number of lanes when data was computed
	snapLanes []engine.Lane // lanes of the snapshot that was observed last
	remote    bool          // the receiver is reached over a network
	data      comparison
	order     []int          // indices of data.entries, best first by sortFigure
	gaps      map[gapKey]gap // comparisons with the best entry
	queue     []int          // entries whose gap has to be computed
	redraws   int            // number of comparisons since the last round of gaps began

	columns  []column // as last drawn
	height   int      // of the pane, as last drawn
	sparkMax float64  // upper end of the sparklines, in bits per sample
}

// gapKey identifies a gap: an entry, the best entry that it is compared with, and the figure. A gap
// is shown until it is computed again.
type gapKey struct {
	entry, best string        // labels
	started     time.Duration // when the entry was added; it may be removed and added again
	figure      figure
}

// column is a column of the table: its figure, left edge and width.
type column struct {
	figure figure
	x, w   int
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
		p.sort()
		p.redraws++
		if p.redraws >= redrawsPerRound || p.lacksInterval() {
			p.redraws, p.queue = 0, slices.Clone(p.order[min(1, len(p.order)):]) // all but the best
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
	return gapKey{r.label(), best.label(), r.started, p.sortFigure}
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
	p.gaps[p.gapKeyOf(i)] = p.data.entries[i].gapTo(&p.data.entries[p.order[0]], p.sortFigure)
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
		if v := p.data.entries[i].figures[p.sortFigure]; !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(p.order, func(i, j int) int { return cmp.Compare(value(i), value(j)) })
	p.cursor = min(p.cursor, max(len(p.order)-1, 0))
	p.queue = nil
}

// sortBy makes f the sort figure, sorts, and queues all gaps for computing.
func (p *table) sortBy(f figure) {
	if f == p.sortFigure || len(p.order) == 0 {
		return
	}
	selected := p.order[p.cursor]
	p.sortFigure = f
	p.sort()
	p.cursor = slices.Index(p.order, selected) // the cursor stays on its encoder
	p.queue = slices.Clone(p.order[1:])
}

// selected returns the entry under the cursor, nil if none exists.
func (p *table) selected() *entry {
	if p.cursor >= len(p.order) {
		return nil
	}
	return &p.data.entries[p.order[p.cursor]]
}

// Sizes of the table, in columns and rows.
const (
	rowsAbove         = 2  // rows above the first encoder: border and headings
	figureWidth       = 10 // columns of a figure
	minGapWidth       = 26 // columns of the gap: ratio and interval
	preferredGapWidth = 34 // columns of the gap from which on there are sparklines
	maxGapWidth       = 46
	sparkWidth        = 24 // columns of a sparkline
	sparkColumn       = 28 // columns of a sparkline with its heading
	rowsBelow         = 3  // rows below the last encoder: an empty row, footnote and border
	minEncoders       = 2  // encoders that the table needs; a hint is shown with fewer
)

// Draw implements room.Pane. With fewer than minEncoders entries it draws a hint.
func (p *table) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p.height = c.H
	sortText := p.sortFigure.text(p.itemUnit)
	c.Frame(th, focused, "Compare", look.Fit(look.TitleSpace(c.W, "Compare"), []look.Span{look.Dim.Span("by "), look.Plain.Span(sortText.long)}, nil)...)
	if len(p.order) < minEncoders {
		p.drawHint(c, th)
		return
	}
	nameWidth := p.nameWidth(c.W)
	gapAt, sparkAt := p.layOut(c.W, nameWidth)
	p.drawHeads(c, th, gapAt, sparkAt)
	rows := visibleRows(c.H)
	first := p.firstVisible(rows)
	for y := 0; y < rows && first+y < len(p.order); y++ {
		p.drawRow(c, th, rowsAbove+y, first+y, nameWidth, gapAt, sparkAt)
	}
	c.MoreBelow(th, len(p.order)-first-rows)
	p.footnote(c, th)
}

// visibleRows returns the number of entries that a table of h rows shows.
func visibleRows(h int) int { return max(h-rowsAbove-rowsBelow, 1) }

// firstVisible returns the rank of the entry in the first row of a table that shows the given number of
// entries: the table is scrolled down just enough to show the cursor.
func (p *table) firstVisible(rows int) int {
	return min(max(p.cursor-rows+1, 0), max(len(p.order)-rows, 0))
}

// drawHint explains how to add encoders to a table with fewer than minEncoders.
func (p *table) drawHint(c *look.Canvas, th *look.Theme) {
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

// hasFigure reports whether any entry has a value of figure f.
func (p *table) hasFigure(f figure) bool {
	return slices.ContainsFunc(p.data.entries, func(r entry) bool { return !math.IsNaN(r.figures[f]) })
}

// nameWidth returns the columns for markers and names in a table that is w columns wide.
func (p *table) nameWidth(w int) int {
	n := 0
	for i := range p.data.entries {
		n = max(n, look.TextWidth(p.data.entries[i].label()))
	}
	return min(n+6, max(w/3, 16)) // 6 columns for the markers; at most a third of the table
}

// layOut sets p.columns to the figures that fit into w columns after nameWidth columns for the names:
// the sort figure, the gap, the other figures by importance, then the sparklines. The age is shown only
// if there is room for the sparklines too. It returns the left edges of the gap and of the sparklines;
// -1 means that they do not fit.
func (p *table) layOut(w, nameWidth int) (gapAt, sparkAt int) {
	const margins = 3                                           // the borders, and a column before the names
	free := w - margins - nameWidth - figureWidth - minGapWidth // columns left after the sort figure and the gap
	const sparkRoom = sparkColumn + preferredGapWidth - minGapWidth
	show := [numFigures]bool{}
	show[p.sortFigure] = true
	for _, f := range []figure{figureKbps, figureBits, figurePacket, figureFailures, figureEncode, figureDecode} {
		if !show[f] && free >= figureWidth {
			show[f], free = true, free-figureWidth
		}
	}
	if free >= figureWidth+sparkRoom && p.hasFigure(figureAge) {
		show[figureAge], free = true, free-figureWidth
	}
	p.columns = p.columns[:0]
	x := 1 + nameWidth
	for f := range numFigures {
		if show[f] {
			p.columns = append(p.columns, column{f, x, figureWidth})
			x += figureWidth
		}
	}
	gapAt, sparkAt = x+2, -1
	if w-gapAt < 12 { // too narrow for a ratio
		gapAt = -1
	}
	if free >= sparkRoom {
		sparkAt = min(gapAt+maxGapWidth+2, w-2-sparkColumn)
	}
	return gapAt, sparkAt
}

// drawHeads draws the column headings, and sets p.sparkMax, the scale in the heading of the sparklines.
// gapAt and sparkAt are as in layOut.
func (p *table) drawHeads(c *look.Canvas, th *look.Theme, gapAt, sparkAt int) {
	c.Text(6, 1, look.Dim, "encoder")
	for _, col := range p.columns {
		style, head := look.Dim, col.figure.text(p.itemUnit).head
		if col.figure == p.sortFigure {
			style, head = look.Focus, th.Sorted+head
		}
		c.TextRight(col.x+col.w, 1, style, head)
	}
	if gapAt >= 0 {
		end := c.W - 2
		if sparkAt >= 0 {
			end = sparkAt - 2
		}
		c.Spans(gapAt, 1, end-gapAt, look.Fit(end-gapAt, gapHeadings(p.sortFigure)...)...)
	}
	if sparkAt >= 0 {
		// All rows share one scale, so that heights can be compared.
		p.sparkMax = 0
		for i := range p.data.entries {
			p.sparkMax = max(p.sparkMax, chart.SparkTop(p.lastMinute(&p.data.entries[i]), sparkWidth))
		}
		c.Clip(sparkAt, 1, c.W-1-sparkAt, look.Dim, fmt.Sprintf("last minute, 0 to %s kbps", units.Fixed(p.sparkMax*room.PerSecond/1000, 0)))
	}
}

// drawRow draws the entry of the given rank, 0 for the best, at row y. The other parameters are the
// layout; see layOut.
func (p *table) drawRow(c *look.Canvas, th *look.Theme, y, rank, nameWidth, gapAt, sparkAt int) {
	r := &p.data.entries[p.order[rank]]
	style := look.Plain
	if rank == p.cursor {
		style = look.Chosen
		c.Text(2, y, style, th.Chosen)
	}
	const symbolX, nameX = 4, 6
	c.Set(symbolX, y, look.LaneStyle(r.lane), look.LaneSymbol(th, r.lane))
	c.Clip(nameX, y, nameWidth+1-nameX, style, look.LaneName(r.name, r.differs, nameWidth-nameX))
	for _, col := range p.columns {
		figureStyle := look.Plain
		if col.figure == p.sortFigure {
			figureStyle = look.Value
		}
		c.TextRight(col.x+col.w, y, figureStyle, col.figure.format(r.figures[col.figure])+r.timingMark(col.figure))
	}
	if math.IsNaN(r.figures[p.sortFigure]) && r.err != nil {
		sparkAt = -1 // the error message needs the columns
	}
	if sparkAt >= 0 {
		c.Clip(sparkAt, y, c.W-2-sparkAt, look.LaneStyle(r.lane), chart.Spark(p.lastMinute(r), min(sparkWidth, c.W-2-sparkAt), p.sparkMax, th.Ascii))
	}
	end := c.W - 2
	if sparkAt >= 0 {
		end = sparkAt - 2
	}
	if gapAt >= 0 {
		c.Spans(gapAt, y, end-gapAt, p.gapSpans(th, rank, r, end-gapAt)...)
	}
}

// lastMinute returns the payload bits of the samples of the last minute, which a sparkline shows.
func (p *table) lastMinute(r *entry) []float64 {
	const samples = int(time.Minute / meters.SamplePeriod)
	return r.Payload[max(len(r.Payload)-samples, 0):]
}

// gapHeadings returns the headings of the gap column, longest first.
func gapHeadings(by figure) [][]look.Span {
	texts := []string{"vs best, 95 % CI", "vs best"}
	if by == figureFailures {
		texts = []string{"more than the best, 95 % CI", "vs best"}
	}
	var out [][]look.Span
	for _, t := range texts {
		out = append(out, []look.Span{look.Dim.Span(t)})
	}
	return out
}

// gapSpans describes the gap between entry r, which has the given rank, and the best entry, in at most
// maxWidth columns: why no ratio is known, or the ratio with its confidence interval and, if significant,
// the difference in the figure's unit.
func (p *table) gapSpans(th *look.Theme, rank int, r *entry, maxWidth int) []look.Span {
	v, best := r.figures[p.sortFigure], p.data.entries[p.order[0]].figures[p.sortFigure]
	switch {
	case r.absent:
		return look.Fit(maxWidth, []look.Span{look.Dim.Span("not running yet: started at " + look.FormatTime(r.started))},
			[]look.Span{look.Dim.Span("not running yet")})
	case math.IsNaN(v) && r.err != nil:
		return []look.Span{look.Bad.Span(r.err.Error())}
	case math.IsNaN(v) || math.IsNaN(best):
		return []look.Span{look.Dim.Span("no data yet")}
	case rank == 0:
		return []look.Span{look.Good.Span("best")}
	}
	g := p.gaps[p.gapKeyOf(p.order[rank])] // without an interval if it was not computed yet
	if p.sortFigure == figureFailures {
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
	difference := look.Plain.Span("  +" + p.sortFigure.format(v-best) + " " + p.sortFigure.text(p.itemUnit).unit)
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
func (p *table) footnote(c *look.Canvas, th *look.Theme) {
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
	return p.sortFigure == figurePacket || p.sortFigure == figureEncode || p.sortFigure == figureDecode
}

// intervalText describes the method of the interval of the entry under the cursor, or of the second entry if the cursor
// is on the best, with the block length: a number of packets for sizes and times, otherwise seconds. If it is too early
// for an interval, intervalText describes how long the common period must be.
func (p *table) intervalText() string {
	g := p.gaps[p.gapKeyOf(p.order[min(max(p.cursor, 1), len(p.order)-1)])]
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

// clickAt handles a click at (x, y): it selects a row, or sorts by a column.
func (p *table) clickAt(x, y int) {
	if y == 1 { // the headings
		for _, col := range p.columns {
			if x >= col.x && x < col.x+col.w {
				p.sortBy(col.figure)
			}
		}
		return
	}
	if rank := p.firstVisible(visibleRows(p.height)) + y - rowsAbove; y >= rowsAbove && rank < len(p.order) {
		p.cursor = rank
	}
}
