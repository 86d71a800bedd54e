package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// strip shows the last packets as one marker each. Like the beam of an oscilloscope, new packets
// overwrite the oldest ones in place: a packet does not move while it is visible, and a redraw
// changes few cells.
type strip struct {
	packets      []packetlog.Record
	newest       uint64
	totals       figures.Totals // as drawn; updated twice per second
	decoded      int64          // as last observed
	inFlight     int64
	selected     uint64 // sequence of the selected packet
	hasSelection bool
	capacity     int // cells of the strip as last drawn
	width        int
	dirty        bool
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

// Observe implements room.Observer. While time advances the strip is redrawn every ticksPerRedraw
// ticks.
func (p *strip) Observe(v room.View) bool {
	lane := v.ActiveLane()
	p.linkStatus.Observe(v) // shown with the next redraw of the strip
	if v.Slow || p.totals.Sent == 0 {
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

// moveCursor moves the cursor by n packets. Without a selection it starts at the newest packet.
func (p *strip) moveCursor(n int) {
	if len(p.packets) == 0 {
		return
	}
	if !p.hasSelection {
		p.hasSelection, p.selected = true, p.newest
	}
	oldest := p.oldest()
	at := int64(p.selected) + int64(n)
	p.selected = uint64(min(max(at, int64(oldest)), int64(p.newest)))
	p.dirty = true
}

// release clears the selection.
func (p *strip) release() { p.hasSelection, p.dirty = false, true }

// oldest returns the first sequence that the strip shows.
func (p *strip) oldest() uint64 {
	first := p.packets[0].Seq
	if room := uint64(max(p.capacity-1, 1)); p.newest+1 > room {
		first = max(first, p.newest+1-room)
	}
	return first
}

// Draw implements room.Pane: the strip, the line below it and, if the pane is tall enough, a table.
func (p *strip) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	w, rows := max(c.W-4, 0), max(c.H-3, 0)
	if w*rows > maxShown {
		rows = max(maxShown/w, 1)
	}
	p.width, p.capacity = w, w*rows
	c.Frame(th, focused, "Packets", p.legend(th, look.HeadRoom(c.W, "Packets"))...)
	p.linkStatus.Draw(c)
	if p.capacity < 2 || len(p.packets) == 0 {
		return
	}
	p.drawStrip(c, th, w)
	c.Spans(2, rows+1, w, p.detailSpans(th, w)...)
	if y := rows + 3; y < c.H-2 {
		p.drawTable(c, th, y)
	}
}

// maxShown bounds the strip: the lab stores 600 packets.
const maxShown = 600

// outcomeCounts returns the outcomes of the whole run, most important first.
func (p *strip) outcomeCounts() []outcomeCount {
	t := p.totals
	list := []outcomeCount{{packetlog.Decoded, t.Decoded}, {packetlog.Lost, t.Lost}, {packetlog.NoBaseline, t.Failures.NoBaseline},
		{packetlog.Corrupt, t.Failures.Corrupt}, {packetlog.Tainted, t.Tainted}, {packetlog.UnknownCodec, t.Failures.UnknownCodec},
		{packetlog.Stale, t.Stale}, {packetlog.Duplicate, t.Duplicate}, {packetlog.Wrong, t.Wrong}}
	if t.Remote != nil { // modelled links know the outcome of every packet
		list = slices.Insert(list, 2, outcomeCount{packetlog.Unknown, t.Unknown})
	}
	return list
}

// outcomeCount is the number of packets with one outcome.
type outcomeCount struct {
	outcome packetlog.Outcome
	count   int64
}

// styledName returns style and name of an outcome. Wrong is styled as an alarm only if its count is
// above 0.
func (e outcomeCount) styledName(word func(packetlog.Outcome) string) (look.Ink, string) {
	if e.outcome == packetlog.Wrong && e.count == 0 {
		return look.Dim, strings.ToLower(word(e.outcome))
	}
	return look.OutcomeInk(e.outcome), word(e.outcome)
}

// drawTable draws the outcomes with counts and shares from row y.
func (p *strip) drawTable(c *look.Canvas, th *look.Theme, y int) {
	const word, count, share = 16, 10, 9
	ends, sum := p.outcomeCounts(), int64(0)
	for _, e := range ends {
		sum += e.count
	}
	for _, e := range ends {
		if y >= c.H-1 {
			return
		}
		part := float64(e.count) / float64(max(sum, 1))
		k, name := e.styledName(look.OutcomeWord)
		c.Set(2, y, k, th.Outcome[e.outcome])
		c.Clip(4, y, word, look.Plain, name)
		c.Right(4+word+count, y, look.Value, strconv.FormatInt(e.count, 10))
		c.Right(4+word+count+share, y, look.Plain, units.Fixed(100*part, 2)+" %")
		x := 4 + word + count + share + 2
		c.Fill(x, y, int(part*float64(max(c.W-2-x, 0))+0.5), k, th.Block)
		y++
	}
}

// legend explains the markers of the strip in at most maxWidth columns: first the outcomes that occurred,
// then the others.
func (p *strip) legend(th *look.Theme, maxWidth int) []look.Span {
	names := func(word func(packetlog.Outcome) string, occurred bool) (out [][]look.Span) {
		for _, e := range p.outcomeCounts() {
			if (e.count > 0) == occurred {
				k, name := e.styledName(word)
				out = append(out, []look.Span{k.Span("  " + string(th.Outcome[e.outcome])), look.Dim.Span(" " + name)})
			}
		}
		return out
	}
	last := []look.Span{look.Dim.Span(fmt.Sprintf("last %d", max(p.capacity-1, 0)))}
	line := func(word func(packetlog.Outcome) string) []look.Span {
		return append(last[:1:1], slices.Concat(names(word, true)...)...)
	}
	known := look.Fit(maxWidth, line(look.OutcomeWord), line(look.OutcomeShort),
		look.FitGroups(maxWidth, append([][]look.Span{last}, names(look.OutcomeShort, true)...)))
	return append(known, look.FitGroups(maxWidth-look.SpansWidth(known), names(look.OutcomeWord, false))...)
}

// severity orders outcomes: of a packet and its copies, which share one cell, the most severe outcome
// is shown.
func severity(o packetlog.Outcome) int {
	order := [packetlog.NumOutcomes]int{packetlog.InFlight: 0, packetlog.Decoded: 1, packetlog.Duplicate: 2,
		packetlog.Stale: 3, packetlog.Lost: 4, packetlog.Unknown: 4,
		packetlog.NoBaseline: 5, packetlog.Corrupt: 6, packetlog.UnknownCodec: 7, packetlog.Tainted: 8, packetlog.Wrong: 9}
	if o < packetlog.NumOutcomes {
		return order[o]
	}
	return 0
}

// drawStrip draws the packet with sequence s in cell s modulo the capacity, in rows of w cells.
func (p *strip) drawStrip(c *look.Canvas, th *look.Theme, w int) {
	size := uint64(p.capacity)
	weight := make([]int, p.capacity)
	oldest := p.oldest()
	for i := range p.packets {
		r := &p.packets[i]
		if r.Seq < oldest {
			continue
		}
		at := int(r.Seq % size)
		if g := severity(r.Outcome) + 1; g > weight[at] {
			weight[at] = g
			c.Set(2+at%w, 1+at/w, look.OutcomeInk(r.Outcome), th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)])
		}
	}
	beam := int((p.newest + 1) % size)
	c.Set(2+beam%w, 1+beam/w, look.Dim, th.Sweep)
	if p.hasSelection {
		at := int(p.selected % size)
		c.Set(1+at%w, 1+at/w, look.Chosen, '[')
		c.Set(3+at%w, 1+at/w, look.Chosen, ']')
	}
}

// detailSpans returns the line below the strip: the selected packet, or the outcomes of the whole run.
func (p *strip) detailSpans(th *look.Theme, maxWidth int) []look.Span {
	if p.hasSelection {
		for i := range p.packets {
			if r := &p.packets[i]; r.Seq == p.selected && r.Copy == 0 {
				return describePacket(th, r)
			}
		}
		return []look.Span{look.Dim.Span(fmt.Sprintf("packet %d is no longer stored", p.selected))}
	}
	groups := [][]look.Span{{look.Dim.Span("total")}}
	for _, e := range p.outcomeCounts() {
		if e.count == 0 && e.outcome != packetlog.Decoded && e.outcome != packetlog.Lost {
			continue
		}
		groups = append(groups, []look.Span{look.OutcomeInk(e.outcome).Span("  " + string(th.Outcome[e.outcome])),
			look.Value.Span(" " + strconv.FormatInt(e.count, 10)),
			look.Dim.Span(" " + look.OutcomeWord(e.outcome))})
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
	outcome := look.OutcomeWord(r.Outcome)
	switch {
	case r.Outcome == packetlog.Lost:
		outcome = "lost: " + lossmodel.Cause(r.Cause).String()
	case r.Arrived > 0:
		outcome += fmt.Sprintf(" after %d ms", (r.Arrived - r.Sent).Milliseconds())
	}
	return []look.Span{
		look.Value.Span(fmt.Sprintf("#%d", r.Seq)),
		look.OutcomeInk(r.Outcome).Span(" " + string(th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)]) + " " + outcome),
		look.Dim.Span(dot + "sent "), look.Plain.Span(look.Clock(r.Sent)),
		look.Dim.Span(dot), look.Plain.Span(fmt.Sprintf("%d", r.Payload)), look.Dim.Span(fmt.Sprintf(" B (wire %d)", r.Wire)),
		look.Dim.Span(dot), look.Plain.Span(fmt.Sprintf("%d", r.Changed)), look.Dim.Span(" changed" + dot + base + dot + r.Encoder),
	}
}

// rowLength returns the number of packets in a row of the strip.
func (p *strip) rowLength() int { return max(p.width, 1) }

// clickAt selects the packet at (x, y) of the pane. The packet with sequence s is in cell s modulo the
// capacity; age is how many packets it is older than the newest.
func (p *strip) clickAt(x, y int) {
	cell := x - 2 + (y-1)*p.width
	if len(p.packets) == 0 || x < 2 || x >= 2+p.width || y < 1 || cell < 0 || cell >= p.capacity {
		return
	}
	capacity := uint64(p.capacity)
	age := (p.newest%capacity + capacity - uint64(cell)) % capacity
	if age > p.newest || p.newest-age < p.oldest() {
		return
	}
	p.hasSelection, p.selected, p.dirty = true, p.newest-age, true
}
