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
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// table has a row for each encoder of this run, sorted by one figure, then the stretches of this run
// between changes, then the saved reports.
type table struct {
	grid.Table
	folder
	chart        *panes.Charts         // the chart of the figure
	shadowChoice *panes.SelectedShadow // the shadow that all pages compare with the active encoder

	cfg          *config.Config
	lanes        []engine.Lane // of the snapshot that was observed last
	noShadows    string        // see room.NoShadows
	now          time.Duration // virtual time of data
	isCut        bool          // data are of the samples up to the time cursor: see room.View.Cut
	item         string        // of the data, such as "cube"
	itemUnit     string        // see panes.PerItemUnit
	data         comparison
	thisRun      *run
	rows         []*row
	referenceKey string  // the key of the row chosen as the reference; "" means the best lane
	reference    *row    // the row that others are compared with
	sparkMax     float64 // upper end of the sparklines, in bits per sample
	version      int     // the number of changes of rows
	drawn        int     // version at the last Observe
}

func (p *table) Name() string { return "Compare" }

// Observe implements room.Observer. When a slow redraw is due (see room.View.RedrawDue), if a lane was added or removed,
// or if the lab has repeated the run up to the time cursor, it compares the lanes of the new snapshot.
func (p *table) Observe(v room.View) bool {
	p.observe(v)
	isOther := len(v.Snap.Lanes) != len(p.lanes) || v.Cut() != p.isCut
	isDue := v.RedrawDue && v.Snap.Now != p.now
	p.isCut = v.Cut()
	p.cfg, p.lanes, p.noShadows = v.Cfg, v.Snap.Lanes, room.NoShadows(v.Snap)
	if p.rows == nil || isOther || isDue {
		p.now = v.Snap.Now
		p.item = v.Snap.Item
		p.itemUnit = panes.PerItemUnit(v.Snap.Schema, v.Snap.Item)
		p.data = compareLanes(v.Snap)
		p.updateThisRun(v)
		p.data.IsRun = p.data.IsRun && !p.isCut // only then the totals are those of the period
		if p.data.IsRun {
			p.data.rows[0].figures.replace(p.thisRun.figures())
		}
		p.arrange()
	}
	changed := p.version != p.drawn
	p.drawn = p.version
	return changed
}

// updateThisRun sets p.thisRun to the figures of a snapshot. Its settings and what was compared with them remain
// until a setting is changed, because they take a while.
func (p *table) updateThisRun(v room.View) {
	next := newThisRun(v)
	if p.thisRun == nil || p.thisRun.settingsID != next.settingsID {
		p.thisRun = next
		return
	}
	next.settings = p.thisRun.settings
	*p.thisRun = *next
}

// newThisRun returns this run without its settings.
func newThisRun(v room.View) *run {
	snap := v.Newest()
	x := &run{length: snap.Now}
	x.Name = "this run"
	var changed []time.Duration
	for i := range snap.Log {
		changed = append(changed, snap.Log[i].T)
	}
	x.settingsID = fmt.Sprint(v.Cfg.Data.Source, v.Cfg.Seed, changed)
	if len(snap.Lanes) > 0 {
		l := &snap.Lanes[0]
		x.totals, x.timing, x.stretches = l.Totals, l.Timing, l.Stretches
	}
	if snap.Crowd != nil {
		x.totals = snap.Crowd.Totals
	}
	return x
}

// arrange makes the rows. The cursor stays on its row.
func (p *table) arrange() {
	var selected string
	if r := p.selected(); r != nil {
		selected = r.key
	}
	p.rows = slices.Clone(p.data.rows)
	by := p.sortFigure()
	slices.SortStableFunc(p.rows, func(a, b *row) int { return a.compare(b, by) })
	if len(p.rows) == 0 { // a crowd
		r := &row{key: p.thisRun.Name, timing: p.thisRun.timing}
		r.name = p.cfg.Encoder.Name + ", " + sumOfClients(p.cfg.Crowd.Clients)
		r.figures = p.thisRun.figures()
		p.rows = append(p.rows, r)
	}
	if stretches := p.thisRun.stretches; len(stretches) > 0 {
		p.rows = append(p.rows, newHeading("stretches of this run between changes of encoder or link"))
		p.rows = append(p.rows, stretchRows("", stretches, nil)...)
	}
	hasReports := len(p.list)+len(p.opened) > 0
	if hasReports && p.thisRun.settings == nil { // they take a while
		p.thisRun.settings = p.cfg.Settings()
	}
	if p.dir != "" || len(p.opened) > 0 {
		p.rows = append(p.rows, p.folder.rows(p.thisRun, by)...)
	}
	p.NumRows = len(p.rows)
	if i := p.indexOf(selected); i >= 0 {
		p.Cursor = i
	}
	p.moveCursor(0)
	p.reference = p.rows[max(p.indexOf(p.referenceKey), 0)]
	p.setColumns()
	for _, r := range p.data.rows {
		r.gap = gap{}
		if p.reference.isLane && r != p.reference {
			r.gap = r.lanes.gapTo(&p.reference.lanes, by)
		}
	}
	p.version++
}

// indexOf returns the index of the row with a key, -1 if none exists.
func (p *table) indexOf(key string) int {
	return slices.IndexFunc(p.rows, func(r *row) bool { return r.key == key })
}

// selected returns the row under the cursor, nil before the first snapshot.
func (p *table) selected() *row {
	if len(p.rows) == 0 {
		return nil
	}
	return p.rows[p.Cursor]
}

// moveCursor moves the cursor by n rows. It passes over headings.
func (p *table) moveCursor(n int) {
	before := p.Cursor
	p.Table.Move(n)
	for p.rows[p.Cursor].heading != "" && !p.rows[p.Cursor].isToggle {
		at := p.Cursor
		if p.Table.Move(cmp.Compare(n, 0)); p.Cursor == at {
			p.Cursor = min(before, at-1)
		}
	}
}

const (
	firstFigure   = 1  // the column of the first figure
	sparkWidth    = 24 // columns of a sparkline
	minuteSamples = int(time.Minute / meters.SamplePeriod)
)

// sortFigure returns the figure by which the lanes are sorted.
func (p *table) sortFigure() figure { return figure(p.Sort - firstFigure) }

// setColumns sets the columns: name, figures, gap to the reference, sparkline or data of a report.
func (p *table) setColumns() {
	nameWidth := 0
	p.sparkMax = 0 // one scale for all sparklines, so that heights can be compared
	hasAge := false
	for _, r := range p.rows {
		nameWidth = max(nameWidth, look.TextWidth(r.name)+2) // 2 for the symbol
		p.sparkMax = max(p.sparkMax, chart.SparkTop(r.lanes.lastMinute(), sparkWidth))
		hasAge = hasAge || !math.IsNaN(r.figures[figureAge])
	}
	shown := figureAge
	if hasAge { // files have no display
		shown = numFigures
	}
	minName := len("  11-29 08:17:05 auto")
	if len(p.data.rows) == 0 { // the name of a crowd contains the number of clients
		minName = 28
	}
	p.Columns = []grid.Column{{Title: "  encoder", Width: nameWidth, Min: minName, Text: p.nameText}}
	for f := range shown {
		text := f.text(p.itemUnit)
		width := max(7, look.TextWidth(text.head)+1) // 1 for the mark of the sort figure
		p.Columns = append(p.Columns, grid.Column{Title: text.head, Width: width, Drop: text.drop, Right: true,
			Sortable: true, Text: func(c grid.Cell) []look.Span { return p.figureCell(c.Row, f) }})
	}
	versus := "vs best, 95 % CI"
	if p.referenceKey != "" {
		versus = "vs " + strings.TrimSpace(p.reference.name)
	}
	scale := fmt.Sprintf("last minute, 0 to %s kbps", units.Fixed(p.sparkMax*room.PerSecond/1000, 0))
	if p.sparkMax == 0 {
		scale = "data and link"
	}
	gapWidth := look.TextWidth(versus)
	if len(p.data.rows) > 1 {
		gapWidth = 42 // of a ratio with its interval
	}
	p.Columns = append(p.Columns, grid.Column{Title: versus, Width: gapWidth, Min: 29, Text: p.gapCell},
		grid.Column{Title: scale, Width: 26, Drop: 2, Text: p.lastCell})
	p.Across = p.wholeRow
}

// Draw implements room.Pane.
func (p *table) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	gap := &p.Columns[len(p.Columns)-2]
	for i := range p.rows {
		text := p.gapCell(grid.Cell{Row: i, Width: grid.Rest, Theme: th})
		gap.Width = max(gap.Width, look.SpansWidth(text))
	}
	c.FitFrame(th, focused, p.Name(), look.Labelled("by "+p.sortFigure().text(p.itemUnit).long))
	drawWithNotes(c, th, &p.Table, p.footnote(c.W), max(c.H-p.NumRows-otherRows, 1))
}

// otherRows are the rows of a pane besides those of its table and the notes below it: borders and titles.
const otherRows = 3

// drawWithNotes draws a table and, below it, lines of text, at most maxLines.
func drawWithNotes(c *look.Canvas, th *look.Theme, t *grid.Table, notes []string, maxLines int) {
	notes = notes[:min(len(notes), max(maxLines, 0))]
	t.Draw(c, th, 1, c.H-2-len(notes))
	for i, line := range notes {
		c.Clip(3, c.H-1-len(notes)+i, c.W-5, look.Dim, line)
	}
}

// nameText returns the symbol and the name of a row.
func (p *table) nameText(c grid.Cell) []look.Span {
	r := p.rows[c.Row]
	if !r.isLane {
		return grid.Text(look.Plain, "  "+r.name)
	}
	symbol := string(look.LaneSymbol(r.lane)) + " "
	name := look.LaneName(r.name, c.Width-2)
	return []look.Span{look.LaneStyle(r.lane).Span(symbol), look.Plain.Span(name)}
}

// figureCell returns a figure of a row.
func (p *table) figureCell(i int, f figure) []look.Span {
	style := look.Plain
	if f == p.sortFigure() {
		style = look.Value
	}
	return grid.Text(style, p.rows[i].figureText(f))
}

// lastCell returns the payload of a lane over the last minute, or data and link of a report.
func (p *table) lastCell(c grid.Cell) []look.Span {
	r := p.rows[c.Row]
	if !r.isLane {
		return grid.Text(look.Dim, r.about)
	}
	spark := chart.Spark(r.lanes.lastMinute(), sparkWidth, p.sparkMax)
	return grid.Text(look.LaneStyle(r.lane), spark)
}

// wholeRow returns a heading, or the name of a row with its error if it has no figures; nil for other rows.
func (p *table) wholeRow(c grid.Cell) []look.Span {
	r := p.rows[c.Row]
	switch {
	case r.heading != "":
		return grid.Text(look.Title, r.heading)
	case r.err != nil && math.IsNaN(r.figures[figureKbps]):
		return append(p.nameText(c), errorStyle(r.err).Span("  "+r.err.Error()))
	}
	return nil
}

// gapCell compares a row with the reference: why no ratio is known, or the ratio with its confidence
// interval and, if that is significant, the difference. Failures have the difference instead of the ratio.
func (p *table) gapCell(c grid.Cell) []look.Span {
	r, by := p.rows[c.Row], p.sortFigure()
	v, base := r.figures[by], p.reference.figures[by]
	isPaired := r.isLane && p.reference.isLane
	switch {
	case r.absent:
		text := grid.Text(look.Dim, "not running yet")
		started := look.Dim.Span(": started at " + look.FormatTime(r.began))
		return look.Fit(c.Width, append(text, started), text)
	case r.isLane && math.IsNaN(v):
		return grid.Text(look.Dim, "no data yet")
	case r == p.reference && p.referenceKey == "" && len(p.data.rows) > 1:
		best := grid.Text(look.Good, "best on the same frames")
		return look.Fit(c.Width, best, grid.Text(look.Good, "best"))
	case r == p.reference:
		return grid.Text(look.Value, "reference")
	case r.stretch != nil && r.stretch.isShort:
		return grid.Text(look.Dim, "too short")
	case r.stretch != nil && r.stretch.link != "":
		return look.Fit(c.Width, grid.Text(look.Dim, r.stretch.link+"; other frames"), grid.Text(look.Dim, r.stretch.link))
	case r.stretch != nil || p.reference.stretch != nil:
		return grid.Text(look.Dim, "other frames")
	case math.IsNaN(v) && !isPaired:
		return grid.Text(look.Dim, "-")
	case math.IsNaN(v) || math.IsNaN(base):
		return grid.Text(look.Dim, "no data yet")
	}
	if other := p.unlike(r); !isPaired && other != "" {
		return grid.Text(look.Dim, other)
	}
	g := r.gap
	style, word := look.Good, "better"
	if v > base { // less is better for all figures
		style, word = look.Warn, "worse"
	}
	remark := word + " by " + by.format(math.Abs(v-base))
	switch {
	case !isPaired:
		style = look.Plain
	case !g.known:
		style, word, remark = look.Plain, "too early", "too early for an interval"
	case !g.significant:
		style, word, remark = look.Dim, "", "not significant"
	}
	decimals := 1
	text := "+" + units.Fixed(v-base, decimals)
	if by != figureFailures {
		decimals = ratioDecimals(g.lo, g.hi)
		text = c.Theme.Times + units.Fixed(v/base, decimals)
	}
	interval := ""
	if g.known {
		interval = "  " + units.Fixed(g.lo, decimals) + " to " + units.Fixed(g.hi, decimals)
	}
	spans := func(rest string) []look.Span { return []look.Span{style.Span(text), look.Dim.Span(rest)} }
	return look.Fit(c.Width, spans(interval+"  "+remark), spans(interval+"  "+word), spans("  "+word), spans(""))
}

// unlike returns why a row and the reference cannot be compared, as tui compare refuses them; "" if they can.
func (p *table) unlike(r *row) string {
	return cmp.Or(r.report, p.thisRun).unlike(cmp.Or(p.reference.report, p.thisRun))
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

// footnote describes the period of the data and the method of the intervals, or what adds lanes, in lines for a pane of
// the given width.
func (p *table) footnote(width int) []string { return look.Wrap(p.noteText(width-5), width-5) }

// noteText returns the text of the footnote, in at most maxWidth columns if possible.
func (p *table) noteText(maxWidth int) string {
	isAlone := len(p.data.rows) < 2
	switch {
	case isAlone && (p.data.IsRun || p.noShadows != ""):
		return cmp.Or(p.noShadows, "no shadows yet: v adds an encoder on the same frames and losses")
	case p.data.To <= p.data.From:
		return "the comparison begins 1 s after the last encoder was added or swapped"
	case isAlone:
		return "figures since " + look.FormatTime(p.data.From) + "; v adds a shadow"
	}
	period := seconds(max(p.data.To-p.data.From, 0))
	long := "common period " + period
	if p.data.LoopSamples > 0 {
		leftOut := time.Duration(p.data.LoopSamples) * meters.SamplePeriod
		long += ", leaving out " + seconds(leftOut) + " at loop points"
	}
	if p.comparesPackets() {
		long += fmt.Sprintf("; times: the last %d packets", p.data.packets)
	}
	interval := "; 95 % CI: " + p.intervalText()
	if look.TextWidth(long+interval) > maxWidth {
		long = "common " + period
	}
	return long + interval
}

// comparesPackets reports whether the sort figure is a median over packets: a time.
func (p *table) comparesPackets() bool {
	_, isRatio := (&laneData{}).ratio(p.sortFigure())
	return !isRatio
}

// intervalText describes the method of the interval of the row under the cursor, or of the first one that
// has an interval, with the block length: a number of packets for times, otherwise seconds. If it
// is too early for an interval, intervalText describes how long the common period must be.
func (p *table) intervalText() string {
	g := p.selected().gap
	for _, r := range p.data.rows {
		if !g.known {
			g = r.gap
		}
	}
	minPeriod := seconds(paired.MinPairs * meters.SamplePeriod)
	switch {
	case !g.known && p.comparesPackets():
		return fmt.Sprintf("from %s on and %d packets", minPeriod, paired.MinPairsForQuantile)
	case !g.known:
		return "from " + minPeriod + " on"
	case p.comparesPackets():
		return fmt.Sprintf("jackknife of ten blocks of %d packets", g.block)
	}
	return "jackknife of ten blocks of " + seconds(time.Duration(g.block)*meters.SamplePeriod)
}

// seconds formats d in seconds.
func seconds(d time.Duration) string { return units.Fixed(d.Seconds(), 1) + " s" }

// Work implements room.Worker. It reads the folder, and the visible reports.
func (p *table) Work() (read func() (storeResult func())) {
	var visible []report.SavedReport
	from, to := p.Visible()
	for _, r := range p.rows[min(from, len(p.rows)):min(to, len(p.rows))] {
		if r.saved.Path != "" {
			visible = append(visible, r.saved)
		}
	}
	if !p.showAll {
		visible = append(visible, p.list[:min(len(p.list), maxCompared)]...)
	}
	return p.work(visible, p.arrange)
}
