package packets

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// details shows one packet: the reasons of its outcome, its path through the link, its baseline and
// its bit budget. Without a selection it shows the last problem, such as a packet that failed to decode or
// was unusually large.
type details struct {
	selected     packetlog.ID
	hasSelection bool

	opened      *inspector.Opened // the packet that is shown; nil if no packet is shown, or before the reply of the lab
	isProblem   bool              // opened is the last problem, not the selected packet
	reasons     []inspector.Reason
	cfg         *config.Config
	schema      *frame.Schema
	observed    bool // Observe was called
	overNetwork bool
}

func (p *details) Name() string { return "Packet" }

// Observe implements room.Observer. It shows the selected packet, or the last problem if none is
// selected: while time advances, twice per second. The lab adds the selected packet to a snapshot some time after the
// request.
func (p *details) Observe(v room.View) bool {
	const isProblem = true
	p.cfg, p.schema, p.overNetwork = v.Cfg, v.Snap.Schema, v.Snap.To != ""
	first := !p.observed
	p.observed = true
	if p.hasSelection {
		opened := v.Snap.Opened
		isRepeating := v.Snap.Past != nil
		if opened != nil && (opened.ID != p.selected || opened.Gone && isRepeating) {
			opened = nil // a packet selected before, or one up to which the run is being repeated
		}
		// The record changes when the packet arrives, and AckDue when its ack is sent.
		same := p.opened != nil && opened != nil && !p.isProblem && p.opened.ID == opened.ID && p.opened.Record == opened.Record &&
			p.opened.Inside.AckDue == opened.Inside.AckDue
		if !first && same {
			return false
		}
		p.setOpened(opened, !isProblem)
		return true
	}
	if !first && p.isProblem && v.Running() && !v.RedrawDue {
		return false
	}
	problem, ok := lastProblem(v.Snap)
	same := ok && p.opened != nil && p.isProblem && p.opened.ID == problem.Opened.ID && p.opened.Record == problem.Opened.Record
	if same || !ok && p.opened == nil && !first {
		return false
	}
	if !ok {
		p.setOpened(nil, isProblem)
		return true
	}
	p.setOpened(&problem.Opened, isProblem)
	p.reasons = []inspector.Reason{problem.Reason}
	return true
}

// setOpened sets the packet that is shown, nil for none, and its reasons. isProblem means that it is the
// last problem, not the selected packet.
func (p *details) setOpened(o *inspector.Opened, isProblem bool) {
	p.opened, p.isProblem, p.reasons = o, isProblem, nil
	if o != nil {
		p.reasons = o.Reasons()
	}
}

// lastProblem returns the newest problem of a snapshot, false if none exists.
func lastProblem(snap *engine.Snapshot) (inspector.Incident, bool) {
	list := problems(snap)
	if len(list) == 0 {
		return inspector.Incident{}, false
	}
	return list[0], true
}

// problems returns the problems of the active encoder up to snap.Now, which may be in the past, newest
// first.
func problems(snap *engine.Snapshot) (list []inspector.Incident) {
	if len(snap.Lanes) == 0 {
		return nil
	}
	for _, problem := range snap.Lanes[0].Incidents {
		if problem.T <= snap.Now {
			list = append(list, problem)
		}
	}
	return list
}

// Draw implements room.Pane: the packet, or a text without a packet.
func (p *details) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	switch {
	case p.opened == nil && p.hasSelection: // the lab has not answered yet
		c.Frame(th, focused, "Packet "+formatPacketID(p.selected))
		c.Clip(2, 1, c.W-4, look.Dim, "...")
		return
	case p.opened == nil:
		c.Frame(th, focused, "Packet")
		c.Clip(2, 1, c.W-4, look.Dim, "no problems yet; arrows select a packet")
		return
	case p.opened.Gone:
		c.Frame(th, focused, "Packet "+formatPacketID(p.opened.ID))
		text := "This packet was not sent, or the run cannot be repeated."
		if p.overNetwork {
			text = "Over a network, the details of packets are kept for five minutes, because the run cannot be repeated."
		}
		for y, line := range look.Wrap(text, c.W-4) {
			c.Clip(2, 1+y, c.W-4, look.Dim, line)
		}
		return
	}
	title := "Packet " + formatPacketID(p.opened.ID)
	switch {
	case p.isProblem && p.reasons[0].Large():
		title = "Last large packet " + formatPacketID(p.opened.ID)
	case p.isProblem:
		title = "Last problem: packet " + formatPacketID(p.opened.ID)
	}
	r := &p.opened.Record
	mark := look.OutcomeStyle(r.Outcome).Span(string(th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)]) + " " +
		look.OutcomeName(r.Outcome))
	c.Frame(th, focused, title, look.Fit(look.TitleSpace(c.W, title),
		[]look.Span{mark, look.Dim.Span("  " + look.Shorten(r.Encoder, 30))}, []look.Span{mark}, nil)...)
	p.drawBody(c, th)
}

// formatPacketID formats the sequence number, and the number of the copy if it is a duplicate.
func formatPacketID(id packetlog.ID) string {
	s := strconv.FormatUint(id.Seq, 10)
	if id.Copy > 0 {
		s += ", copy " + strconv.Itoa(id.Copy)
	}
	return s
}

// drawBody draws the sections from top to bottom, separated by empty lines if there is room: the reasons,
// the sizes, the baseline, the path through the link, and the bit budget.
func (p *details) drawBody(c *look.Canvas, th *look.Theme) {
	budget := p.opened.Inside.Spent.Budget()
	parts := panes.BudgetParts(&budget, p.schema)
	var path [][]look.Span
	for _, line := range p.pathLines(th) {
		path = append(path, look.WrapSpans(line, c.W-4)...)
	}
	baseline := p.baselineLines()
	reasons := p.reasonLines(c.W - 6)
	gap := 0                // rows between sections
	const otherRows = 4 + 3 // gaps between five sections, and up to three lines of sizes
	if c.H-2 >= len(reasons)+len(path)+len(baseline)+len(parts)+otherRows {
		gap = 1
	}
	y := 1
	drawLines := func(lines ...[]look.Span) {
		for _, line := range lines {
			if isTable := c.H-1-y > 1; isTable {
				c.Spans(2, y, c.W-4, line...)
				y++
			}
		}
	}
	drawLines(reasons...)
	y += gap
	drawLines(look.WrapSpans(p.sizeSpans(), c.W-4)...)
	y += gap
	for _, line := range baseline {
		drawLines(look.WrapSpans(line, c.W-4)...)
	}
	y += gap
	drawLines(path...)
	y += gap
	const minRows = 2 // one row would be the sum of all parts
	if c.H-1-y >= minRows {
		p.drawBits(c, th, y, &budget, parts)
	}
}

// rankByShare returns a rank for panes.LimitParts: the share of a slot.
func rankByShare(parts []panes.Part) func(slot int) float64 {
	return func(slot int) float64 {
		for i := range parts {
			if parts[i].Slot == slot {
				return parts[i].Share
			}
		}
		return 0
	}
}

// drawBits draws budget b, whose parts are parts, from row y: a row per part with bits, share and a bar.
func (p *details) drawBits(c *look.Canvas, th *look.Theme, y int, b *encoders.Budget, parts []panes.Part) {
	totalBits := float64(b.Total()) / encoders.BitUnit
	const nameWidth, bitsWidth, shareWidth = 17, 11, 9
	const bitsEnd = 2 + nameWidth + bitsWidth
	const shareEnd = bitsEnd + shareWidth
	barWidth := max(c.W-4-shareEnd, 0)
	parts = panes.LimitParts(parts, c.H-1-y, rankByShare(parts))
	names := panes.PartNames(parts, nameWidth-3) // without the swatch and gaps
	for i, part := range parts {
		c.Spans(2, y, nameWidth-1, look.SlotStyle(part.Slot).Span(string(th.Swatch(part.Slot))+" "), look.Plain.Span(names[i]))
		c.TextRight(bitsEnd, y, look.Value, units.Fixed(part.Share*totalBits, 1)+" bits")
		c.TextRight(shareEnd, y, look.Plain, units.Fixed(100*part.Share, 1)+" %")
		c.Fill(shareEnd+2, y, int(part.Share*float64(barWidth)+0.5), look.SlotStyle(part.Slot), th.Swatch(part.Slot))
		y++
	}
}
