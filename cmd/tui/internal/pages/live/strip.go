package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/tour"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// strip shows the last packets as one marker each. Like the beam of an oscilloscope, new packets
// overwrite the oldest ones in place: a packet does not move while it is visible, and a redraw
// changes few cells.
type strip struct {
	packets      []packetlog.Record
	newest       uint64         // sequence of the newest packet
	totals       figures.Totals // as drawn; updated twice per second
	decoded      int64          // packets decoded so far, as last observed; to detect changes
	inFlight     int64          // packets in flight, as last observed; to detect changes
	selected     uint64         // sequence of the selected packet
	hasSelection bool
	capacity     int  // cells of the strip as last drawn
	width        int  // cells of a row of the strip as last drawn
	dirty        bool // the selection changed since the last redraw
	linkStatus   panes.LinkStatusLine
	ticks        int // since the last redraw
}

func (p *strip) Name() string { return "Packets" }

// ticksPerRedraw returns the ticks between two redraws of the strip: three, and more in proportion to
// its width, because each redraw costs output to the terminal.
func (p *strip) ticksPerRedraw() int {
	const normalWidth = 100
	return 3 * max(p.width, normalWidth) / normalWidth
}

// Observe implements room.Observer. While time advances the strip is redrawn at most every ticksPerRedraw
// ticks. It reports no change if the newest packet and the counts of outcomes are the same.
func (p *strip) Observe(v room.View) bool {
	lane := v.ActiveLane()
	p.linkStatus.Observe(v) // shown with the next redraw of the strip
	if v.RedrawDue || p.totals.Sent == 0 {
		p.totals = lane.Totals // shown with the next redraw of the strip
	}
	p.ticks++
	if len(p.packets) > 0 && !p.dirty && v.Running() && p.ticks < p.ticksPerRedraw() {
		return false
	}
	n := len(lane.Packets)
	same := n == len(p.packets) && (n == 0 || room.SamePacketState(&lane.Packets[n-1], &p.packets[n-1])) &&
		lane.Totals.Decoded == p.decoded && lane.Totals.InFlight == p.inFlight
	if same && !p.dirty {
		return false
	}
	p.packets, p.decoded, p.inFlight, p.dirty, p.ticks = lane.Packets, lane.Totals.Decoded, lane.Totals.InFlight, false, 0
	p.newest = 0
	for i := range p.packets {
		p.newest = max(p.newest, p.packets[i].Seq)
	}
	return true
}

// Move moves the cursor by dx packets and dy rows.
func (p *strip) Move(dx, dy int) room.Request {
	p.moveCursor(dx + dy*p.rowLength())
	return room.Request{}
}

// Wheel implements room.Wheeler. The packets are in the order of reading: down is newer.
func (p *strip) Wheel(_, _, notches int) room.Request {
	p.moveCursor(-notches)
	return room.Request{}
}

func (p *strip) ChosenPacket() (packetlog.ID, bool) {
	return packetlog.ID{Seq: p.selected}, p.hasSelection
}

func (p *strip) Light(s tour.Spot) bool { return s == tour.OnPackets }

func (p *strip) Arrows() [][2]string { return [][2]string{{"↑↓", "row"}, {"←→", "packet"}} }

func (p *strip) KeyHelp(key string) string {
	return map[string]string{"up": "a row up or down", "left": "older, newer"}[key]
}

// moveCursor moves the cursor by n packets. Without a selection it starts at the newest packet.
func (p *strip) moveCursor(n int) {
	if len(p.packets) == 0 {
		return
	}
	if !p.hasSelection {
		p.hasSelection, p.selected = true, p.newest
	}
	moved := int64(p.selected) + int64(n)
	p.selected = uint64(min(max(moved, int64(p.oldest())), int64(p.newest)))
	p.dirty = true
}

// Release clears the selection.
func (p *strip) Release() room.Request {
	p.hasSelection, p.dirty = false, true
	return room.Request{}
}

// oldest returns the first sequence that the strip shows. One cell is left for the marker after the newest
// packet.
func (p *strip) oldest() uint64 {
	first := p.packets[0].Seq
	if visible := uint64(max(p.capacity-1, 1)); p.newest+1 > visible {
		first = max(first, p.newest+1-visible)
	}
	return first
}

// Draw implements room.Pane: the strip, a line about the selected packet or the outcomes below it and, if
// the pane is tall enough, a table of the outcomes. It sets width and capacity.
func (p *strip) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	w, rows := max(c.W-4, 0), max(c.H-3, 0)
	if w*rows > engine.ShownPackets {
		rows = max(engine.ShownPackets/w, 1)
	}
	p.width, p.capacity = w, w*rows
	c.Frame(th, focused, "Packets", p.legend(th, look.TitleSpace(c.W, "Packets"))...)
	p.linkStatus.Draw(c, 0)
	if p.capacity < 2 || len(p.packets) == 0 {
		return
	}
	p.drawStrip(c, th, w)
	c.Spans(2, rows+1, w, p.detailSpans(th, w)...)
	if y := rows + 3; y < c.H-2 {
		p.drawTable(c, th, y)
	}
}

// outcomeCounts returns the outcomes of the whole run, most important first.
func (p *strip) outcomeCounts() []outcomeCount {
	t := p.totals
	list := []outcomeCount{{packetlog.Decoded, t.Decoded}, {packetlog.Lost, t.Lost}, {packetlog.NoBaseline, t.Failures.NoBaseline},
		{packetlog.Corrupt, t.Failures.Corrupt}, {packetlog.Stale, t.Stale}, {packetlog.Duplicate, t.Duplicate},
		{packetlog.UnknownCodec, t.Failures.UnknownCodec}, {packetlog.Wrong, t.Wrong}}
	if t.Remote != nil { // only over a network can an outcome be unknown
		const afterLost = 2
		list = slices.Insert(list, afterLost, outcomeCount{packetlog.Unknown, t.Unknown})
	}
	return list
}

// outcomeCount is the number of packets with one outcome.
type outcomeCount struct {
	outcome packetlog.Outcome
	count   int64
}

// styledName returns the style of an outcome and its name according to word. Wrong is styled as an alarm
// only if its count is above 0.
func (e outcomeCount) styledName(word func(packetlog.Outcome) string) (look.Style, string) {
	if e.outcome == packetlog.Wrong && e.count == 0 {
		return look.Dim, strings.ToLower(word(e.outcome))
	}
	return look.OutcomeStyle(e.outcome), word(e.outcome)
}

// drawTable draws a row per outcome from row y on: marker, name, count and a bar. The border has the loss in percent.
func (p *strip) drawTable(c *look.Canvas, th *look.Theme, y int) {
	const nameX, nameWidth = 4, 16
	const countEnd = nameX + nameWidth + 10
	const barX = countEnd + 2
	outcomes, sum := p.outcomeCounts(), int64(0)
	for _, o := range outcomes {
		sum += o.count
	}
	for _, o := range outcomes {
		if y >= c.H-1 {
			return
		}
		share := float64(o.count) / float64(max(sum, 1))
		style, name := o.styledName(look.OutcomeName)
		c.Set(2, y, style, th.Outcome[o.outcome])
		c.Clip(nameX, y, nameWidth, look.Plain, name)
		c.TextRight(countEnd, y, look.Value, strconv.FormatInt(o.count, 10))
		c.Fill(barX, y, int(share*float64(max(c.W-2-barX, 0))+0.5), style, th.Block)
		y++
	}
}

// legend explains the markers of the strip in at most maxWidth columns: all outcomes in their order, with full or short
// names, or as many as fit, first those that occurred.
func (p *strip) legend(th *look.Theme, maxWidth int) []look.Span {
	counts := p.outcomeCounts()
	groups := func(word func(packetlog.Outcome) string) (list [][]look.Span) {
		for i, o := range counts {
			gap := "  "
			if i == 0 {
				gap = ""
			}
			style, name := o.styledName(word)
			list = append(list, []look.Span{style.Span(gap + string(th.Outcome[o.outcome])), look.Dim.Span(" " + name)})
		}
		return list
	}
	full, short := slices.Concat(groups(look.OutcomeName)...), slices.Concat(groups(look.ShortOutcomeName)...)
	slices.SortStableFunc(counts, func(a, b outcomeCount) int { return int(min(b.count, 1) - min(a.count, 1)) })
	return look.Fit(maxWidth, full, short, look.FitGroups(maxWidth, groups(look.ShortOutcomeName)))
}

// severity returns the rank of an outcome, the higher the more severe: of a packet and its copies, which
// share one cell, the most severe outcome is shown.
func severity(o packetlog.Outcome) int {
	order := [packetlog.NumOutcomes]int{packetlog.InFlight: 0, packetlog.Decoded: 1, packetlog.Duplicate: 2,
		packetlog.Stale: 3, packetlog.Lost: 4, packetlog.Unknown: 4,
		packetlog.NoBaseline: 5, packetlog.Corrupt: 6, packetlog.UnknownCodec: 7, packetlog.Wrong: 8}
	if o < packetlog.NumOutcomes {
		return order[o]
	}
	return 0
}

// drawStrip draws the packet with sequence s in cell s modulo the capacity, in rows of w cells. The cell
// after the newest packet has a marker, and brackets enclose the selected packet.
func (p *strip) drawStrip(c *look.Canvas, th *look.Theme, w int) {
	capacity := uint64(p.capacity)
	drawn := make([]int, p.capacity) // severity of the outcome drawn in each cell, plus 1; 0 means none
	oldest := p.oldest()
	for i := range p.packets {
		r := &p.packets[i]
		if r.Seq < oldest {
			continue
		}
		cell := int(r.Seq % capacity)
		if s := severity(r.Outcome) + 1; s > drawn[cell] {
			drawn[cell] = s
			c.Set(2+cell%w, 1+cell/w, look.OutcomeStyle(r.Outcome), th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)])
		}
	}
	nextCell := int((p.newest + 1) % capacity)
	c.Set(2+nextCell%w, 1+nextCell/w, look.Dim, th.Sweep)
	if p.hasSelection {
		cell := int(p.selected % capacity)
		c.Set(1+cell%w, 1+cell/w, look.Chosen, '[')
		c.Set(3+cell%w, 1+cell/w, look.Chosen, ']')
	}
}

// detailSpans returns the line below the strip: the selected packet, or the outcomes of the whole run that
// occurred, with decoded and lost packets in any case.
func (p *strip) detailSpans(th *look.Theme, maxWidth int) []look.Span {
	if p.hasSelection {
		for i := range p.packets {
			if r := &p.packets[i]; r.Seq == p.selected && r.Copy == 0 {
				return describePacket(th, r)
			}
		}
		return look.Labelled(fmt.Sprintf("packet %d is no longer stored", p.selected))
	}
	groups := [][]look.Span{{look.Dim.Span("total")}}
	for _, o := range p.outcomeCounts() {
		if o.count == 0 && o.outcome != packetlog.Decoded && o.outcome != packetlog.Lost {
			continue
		}
		groups = append(groups, []look.Span{look.OutcomeStyle(o.outcome).Span("  " + string(th.Outcome[o.outcome])),
			look.Value.Span(" " + strconv.FormatInt(o.count, 10)),
			look.Dim.Span(" " + look.OutcomeName(o.outcome))})
	}
	return look.FitGroups(maxWidth, groups)
}

// describePacket describes a packet in one line.
func describePacket(th *look.Theme, r *packetlog.Record) []look.Span {
	dot := " " + th.Dot + " "
	base := "initial state"
	if r.Baseline > 0 {
		base = fmt.Sprintf("baseline age %d", r.Baseline)
	}
	outcome := look.OutcomeText(r)
	if r.Arrived > 0 {
		outcome += fmt.Sprintf(", took %d ms", (r.Arrived - r.Sent).Milliseconds())
	}
	return []look.Span{
		look.Value.Span(fmt.Sprintf("#%d", r.Seq)),
		look.OutcomeStyle(r.Outcome).Span(" " + th.OutcomeSymbol(r.Outcome) + " " + outcome),
		look.Dim.Span(dot + "sent "), look.Plain.Span(look.FormatTime(r.Sent)),
		look.Dim.Span(dot), look.Plain.Span(fmt.Sprintf("%d", r.Payload)), look.Dim.Span(fmt.Sprintf(" B (wire %d)", r.Wire)),
		look.Dim.Span(dot), look.Plain.Span(fmt.Sprintf("%d", r.Changed)), look.Dim.Span(" changed" + dot + base + dot + r.Encoder),
	}
}

// rowLength returns the number of packets in a row of the strip.
func (p *strip) rowLength() int { return max(p.width, 1) }

// Click selects the packet at (x, y) of the pane. The packet with sequence s is in cell s modulo the
// capacity, so the cell determines age, the number of packets after it.
func (p *strip) Click(x, y int) (r room.Request) {
	cell := x - 2 + (y-1)*p.width
	if len(p.packets) == 0 || x < 2 || x >= 2+p.width || y < 1 || cell < 0 || cell >= p.capacity {
		return r
	}
	capacity := uint64(p.capacity)
	age := (p.newest%capacity + capacity - uint64(cell)) % capacity
	if age > p.newest || p.newest-age < p.oldest() {
		return r
	}
	p.hasSelection, p.selected, p.dirty = true, p.newest-age, true
	return r
}
