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

// table is the table of all encoders that run side by side.
type table struct {
	by     figure
	chosen int // row

	per    string // what bits are divided by
	cfg    *config.Config
	now    time.Duration
	lanes  int
	all    []engine.Lane // as last seen
	remote bool          // the receiver is over a network
	data   comparison
	order  []int          // of the entries: the leader first
	gaps   map[gapKey]gap // to the leader
	queue  []int          // entries whose interval is due
	looks  int            // at the clock, since the intervals were last begun

	columns []column // as last drawn
	tallest float64  // bits a sample at the top of the small charts
}

// gapKey names an interval: an encoder, the leader that it is compared with, and
// the figure. The last interval known stays until it is worked out again.
type gapKey struct {
	entry, leader string
	began         time.Duration
	by            figure
}

// column is where a figure stands in the table.
type column struct {
	f    figure
	x, w int
}

func (p *table) Name() string { return "Compare" }

// gapsEvery is how many redraws of what moves all the time pass between two
// rounds of intervals: a second. One interval is worked out a tick.
const gapsEvery = 2

func (p *table) Observe(v room.View) bool {
	p.cfg, p.all, p.remote = v.Cfg, v.Snap.Lanes, v.Snap.To != ""
	moved := v.Snap.Now != p.now || len(v.Snap.Lanes) != p.lanes
	if p.data.entries == nil || moved && (v.Slow || len(v.Snap.Lanes) != p.lanes) {
		p.per, p.now, p.lanes = panes.PerItemUnit(v.Snap.Schema, v.Snap.Item), v.Snap.Now, len(v.Snap.Lanes)
		p.data = compare(v.Snap)
		p.sort()
		p.looks++
		if p.looks >= gapsEvery || p.unknown() {
			p.looks, p.queue = 0, slices.Clone(p.order[min(1, len(p.order)):])
		}
		return true
	}
	return p.settle()
}

// unknown reports whether some interval has never been worked out.
func (p *table) unknown() bool {
	for _, i := range p.order {
		if _, ok := p.gaps[p.key(i)]; !ok && i != p.order[0] {
			return true
		}
	}
	return false
}

func (p *table) key(i int) gapKey {
	r, leader := &p.data.entries[i], &p.data.entries[p.order[0]]
	return gapKey{r.label(), leader.label(), r.began, p.by}
}

// settle works out the next interval that is due; it reports whether there was one.
func (p *table) settle() bool {
	if len(p.queue) == 0 {
		return false
	}
	i := p.queue[0]
	p.queue = p.queue[1:]
	if p.gaps == nil || len(p.gaps) > 200 { // of encoders that have long left
		p.gaps = map[gapKey]gap{}
	}
	p.gaps[p.key(i)] = p.data.entries[i].gapTo(&p.data.entries[p.order[0]], p.by)
	return true
}

// sort puts the entries in order of the figure; those that have none come last.
func (p *table) sort() {
	p.order = p.order[:0]
	for i := range p.data.entries {
		p.order = append(p.order, i)
	}
	value := func(i int) float64 {
		if v := p.data.entries[i].figures[p.by]; !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(p.order, func(i, j int) int { return cmp.Compare(value(i), value(j)) })
	p.chosen = min(p.chosen, max(len(p.order)-1, 0))
	p.queue = nil
}

// rank sorts by another figure.
func (p *table) rank(f figure) {
	if f == p.by || len(p.order) == 0 {
		return
	}
	at := p.order[p.chosen]
	p.by = f
	p.sort()
	p.chosen = slices.Index(p.order, at) // the cursor stays with its encoder
	p.queue = slices.Clone(p.order[1:])
}

// picked is the entry under the cursor, nil if there is none.
func (p *table) picked() *entry {
	if p.chosen >= len(p.order) {
		return nil
	}
	return &p.data.entries[p.order[p.chosen]]
}

const (
	compareTop   = 3  // rows above the first encoder
	figureWidth  = 10 // of a column
	leastGap     = 26 // of what lies between an encoder and the leader: room for the bounds
	usualGap     = 34
	widestGap    = 46
	sparkWidth   = 24
	sparkRoom    = 28 // with what stands above it
	compareTail  = 3  // rows below the last one
	leastToShare = 2  // encoders
)

func (p *table) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	text := p.by.text(p.per)
	c.Frame(th, focused, "Compare", look.Dim.Span("by "), look.Plain.Span(text.long))
	if len(p.order) < leastToShare {
		p.invite(c, th)
		return
	}
	name := p.nameWidth(c.W)
	gapAt, sparkAt := p.arrange(c.W, name)
	p.heads(c, th, gapAt, sparkAt)
	room := max(c.H-compareTop-compareTail+1, 1)
	first := min(max(p.chosen-room+1, 0), max(len(p.order)-room, 0))
	for y := 0; y < room && first+y < len(p.order); y++ {
		p.row(c, th, compareTop-1+y, first+y, name, gapAt, sparkAt)
	}
	c.More(th, len(p.order)-first-room)
	p.footnote(c, th)
}

// invite says how to fill the table.
func (p *table) invite(c *look.Canvas, th *look.Theme) {
	lines := []string{
		"Nothing runs beside the encoder under the keys yet.",
		"Press v, and v again on each encoder that is to run beside it, on the very same frames and the very same losses;",
		"or type /shadow NAME.",
	}
	if p.remote {
		lines = []string{"Over a network nothing runs beside the encoder: it treats no two packets alike.",
			"Without --to and --udp, encoders run beside each other on the very same frames and losses."}
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

// has reports whether any encoder has a figure.
func (p *table) has(f figure) bool {
	return slices.ContainsFunc(p.data.entries, func(r entry) bool { return !math.IsNaN(r.figures[f]) })
}

// nameWidth is how many columns signs and names take.
func (p *table) nameWidth(w int) int {
	n := 0
	for i := range p.data.entries {
		n = max(n, look.TextWidth(p.data.entries[i].label()))
	}
	return min(n+6, max(w/3, 16))
}

// arrange says which columns there is room for: that of the figure sorted by, what lies
// between an encoder and the leader, then the others by what they are worth, then the small
// charts; what is left goes to the gap. -1: none.
func (p *table) arrange(w, name int) (gapAt, sparkAt int) {
	room := w - 3 - name - figureWidth - leastGap
	show := [numFigures]bool{}
	show[p.by] = true
	for _, f := range [numFigures]figure{figureKbps, figureBits, figurePacket, figureFailures, figureEncode, figureDecode} {
		if !show[f] && room >= figureWidth {
			show[f], room = true, room-figureWidth
		}
	}
	if room >= figureWidth+sparkRoom+usualGap-leastGap && p.has(figureAge) {
		show[figureAge], room = true, room-figureWidth
	}
	p.columns = p.columns[:0]
	x := 1 + name
	for f := range numFigures {
		if show[f] {
			p.columns = append(p.columns, column{f, x, figureWidth})
			x += figureWidth
		}
	}
	gapAt, sparkAt = x+2, -1
	if w-gapAt < 12 {
		gapAt = -1
	}
	if room >= sparkRoom+usualGap-leastGap {
		sparkAt = min(gapAt+widestGap+2, w-2-sparkRoom)
	}
	return gapAt, sparkAt
}

func (p *table) heads(c *look.Canvas, th *look.Theme, gapAt, sparkAt int) {
	c.Text(6, 1, look.Dim, "encoder")
	for _, col := range p.columns {
		k, head := look.Dim, col.f.text(p.per).head
		if col.f == p.by {
			k, head = look.Focus, th.Sorted+head
		}
		c.Right(col.x+col.w, 1, k, head)
	}
	if gapAt >= 0 {
		end := c.W - 2
		if sparkAt >= 0 {
			end = sparkAt - 2
		}
		c.Spans(gapAt, 1, end-gapAt, look.Fit(end-gapAt, words(p.by)...)...)
	}
	if sparkAt >= 0 {
		// All rows have one scale: what looks twice as high is.
		p.tallest = 0
		for i := range p.data.entries {
			p.tallest = max(p.tallest, chart.SparkTop(p.lastMinute(&p.data.entries[i]), sparkWidth))
		}
		c.Clip(sparkAt, 1, c.W-1-sparkAt, look.Dim, fmt.Sprintf("last minute, 0 to %s kbps", units.Fixed(p.tallest*room.PerSecond/1000, 0)))
	}
}

// row writes one encoder.
func (p *table) row(c *look.Canvas, th *look.Theme, y, at, name, gapAt, sparkAt int) {
	r := &p.data.entries[p.order[at]]
	k := look.Plain
	if at == p.chosen {
		k = look.Chosen
		c.Text(2, y, k, th.Chosen)
	}
	c.Set(4, y, look.LaneInk(r.lane), look.LaneSign(th, r.lane))
	c.Clip(6, y, name-5, k, look.LaneName(r.name, r.differs, name-6))
	for _, col := range p.columns {
		v := look.Plain
		if col.f == p.by {
			v = look.Value
		}
		c.Right(col.x+col.w, y, v, col.f.write(r.figures[col.f])+r.mark(col.f))
	}
	if math.IsNaN(r.figures[p.by]) && r.err != nil {
		sparkAt = -1 // its place is for what went wrong
	}
	if sparkAt >= 0 {
		c.Clip(sparkAt, y, c.W-2-sparkAt, look.LaneInk(r.lane), chart.Spark(p.lastMinute(r), min(sparkWidth, c.W-2-sparkAt), p.tallest, th.Ascii))
	}
	end := c.W - 2
	if sparkAt >= 0 {
		end = sparkAt - 2
	}
	if gapAt >= 0 {
		c.Spans(gapAt, y, end-gapAt, p.gap(th, at, r, end-gapAt)...)
	}
}

// lastMinute is what the small charts show.
func (p *table) lastMinute(r *entry) []float64 {
	const samples = int(time.Minute / meters.SamplePeriod)
	return r.Payload[max(len(r.Payload)-samples, 0):]
}

// words are what stands above the gaps, longest first.
func words(by figure) [][]look.Span {
	texts := []string{"times the leader, and its bounds", "times the leader"}
	if by == figureFailures {
		texts = []string{"more than the leader"}
	}
	var out [][]look.Span
	for _, t := range texts {
		out = append(out, []look.Span{look.Dim.Span(t)})
	}
	return out
}

// gap writes what lies between an entry and the leader, as much as there is room for.
func (p *table) gap(th *look.Theme, at int, r *entry, room int) []look.Span {
	leader := &p.data.entries[p.order[0]]
	v, best := r.figures[p.by], leader.figures[p.by]
	switch {
	case r.absent:
		return look.Fit(room, []look.Span{look.Dim.Span("was not there yet: joined at " + look.Clock(r.began))},
			[]look.Span{look.Dim.Span("was not there yet")})
	case math.IsNaN(v) && r.err != nil:
		return []look.Span{look.Bad.Span(r.err.Error())}
	case math.IsNaN(v) || math.IsNaN(best):
		return []look.Span{look.Dim.Span("nothing measured yet")}
	case at == 0:
		return []look.Span{look.Good.Span("leads")}
	}
	g := p.gaps[p.key(p.order[at])]
	if p.by == figureFailures {
		return p.moreFailures(th, v-best, &g, room)
	}
	if !g.times.Known {
		n := []look.Span{look.Plain.Span(multiple(th, v/best, 1, 1))}
		return look.Fit(room, append(n, look.Dim.Span("  too early to say how surely")), append(n, look.Dim.Span("  too early")), n)
	}
	q := &g.times
	ink := look.Value
	if !q.Significant() {
		ink = look.Dim
	}
	times := []look.Span{ink.Span(multiple(th, q.Times, q.Lo, q.Hi)),
		look.Dim.Span("  " + units.Fixed(q.Lo, decimals(q.Lo, q.Hi)) + " to " + units.Fixed(q.Hi, decimals(q.Lo, q.Hi)))}
	if !q.Significant() {
		return look.Fit(room, append(times[:2:2], look.Warn.Span("  not told apart")), append(times[:1:1], look.Warn.Span("  not told apart")),
			times[:1])
	}
	text := p.by.text(p.per)
	more := look.Plain.Span("  +" + p.by.write(v-best) + " " + text.unit)
	return look.Fit(room, append(times[:2:2], more), times, times[:1])
}

// moreFailures writes how many packets more than the leader's could not be decoded.
func (p *table) moreFailures(th *look.Theme, more float64, g *gap, room int) []look.Span {
	diff := look.Plain.Span("+" + units.Fixed(more, 1))
	if !g.apart.Known {
		return look.Fit(room, []look.Span{diff, look.Dim.Span("  too early to say how surely")}, []look.Span{diff})
	}
	half := look.Dim.Span(" " + th.PlusMinus + " " + units.Fixed((g.apart.Hi-g.apart.Lo)/2, 1))
	if !g.sure() {
		return look.Fit(room, []look.Span{look.Dim.Span(diff.Text), half, look.Warn.Span("  not told apart")}, []look.Span{diff, half})
	}
	return []look.Span{diff, half}
}

// multiple writes how many times as much, as exactly as it is known.
func multiple(th *look.Theme, v, lo, hi float64) string {
	return th.Times + units.Fixed(v, decimals(lo, hi))
}

// decimals is how exactly a quotient is written: its bounds must not look alike.
func decimals(lo, hi float64) int {
	switch d := hi - lo; {
	case d >= 0.1 || d <= 0:
		return 2
	case d >= 0.005:
		return 3
	}
	return 4
}

// footnote says what the figures rest on.
func (p *table) footnote(c *look.Canvas, th *look.Theme) {
	y := c.H - 2
	span := p.data.To - p.data.From
	if len(p.data.entries[0].Payload) == 0 {
		c.Clip(2, y, c.W-4, look.Dim, "the comparison begins a second after the last of them has joined or was swapped")
		return
	}
	parts := []string{fmt.Sprintf("over the %s that all have in common", seconds(max(span, 0)))}
	if p.data.Seams > 0 {
		parts[0] += fmt.Sprintf(", %s after a seam left out", seconds(time.Duration(p.data.Seams)*meters.SamplePeriod))
	}
	if p.by == figurePacket || p.by == figureEncode || p.by == figureDecode {
		parts = append(parts, fmt.Sprintf("sizes and times: the last %d packets", p.data.packets))
	}
	parts = append(parts, "bounds: 95 %, paired block bootstrap"+p.blocks())
	text := strings.Join(parts, "; ")
	if look.TextWidth(text) > c.W-4 {
		text = fmt.Sprintf("common %s; bounds 95 %%, paired block bootstrap%s", seconds(max(span, 0)), p.blocks())
	}
	c.Clip(2, y, c.W-4, look.Dim, text)
}

// blocks says how long the blocks were, for the encoder under the cursor or, for
// the leader, for the one after it.
func (p *table) blocks() string {
	g := p.gaps[p.key(p.order[min(max(p.chosen, 1), len(p.order)-1)])]
	if !g.known() {
		least := paired.LeastPairs
		if p.by == figureFailures {
			least = paired.MinPairs
		}
		return fmt.Sprintf(" from %s on", seconds(time.Duration(least)*meters.SamplePeriod))
	}
	if p.by == figurePacket || p.by == figureEncode || p.by == figureDecode {
		return fmt.Sprintf(", blocks of %d", g.block())
	}
	return ", blocks of " + seconds(time.Duration(g.block())*meters.SamplePeriod)
}

// seconds writes a length of time for reading.
func seconds(d time.Duration) string { return units.Fixed(d.Seconds(), 1) + " s" }

// point chooses what is at a place of the pane: a row, or a column's head.
func (p *table) point(x, y, h int) {
	if y == 1 {
		for _, col := range p.columns {
			if x >= col.x && x < col.x+col.w {
				p.rank(col.f)
			}
		}
		return
	}
	room := max(h-compareTop-compareTail+1, 1)
	first := min(max(p.chosen-room+1, 0), max(len(p.order)-room, 0))
	if at := first + y - (compareTop - 1); y >= compareTop-1 && at < len(p.order) {
		p.chosen = at
	}
}
