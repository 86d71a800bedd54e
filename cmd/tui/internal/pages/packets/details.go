package packets

import (
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/packetfilter"
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
	repeating   *engine.Past        // the run is being repeated up to the packet; nil if it is not
	filter      packetfilter.Filter // of the list: without a selection only packets that it selects are shown
	env         *packetfilter.Env
	top         int  // the first visible line
	besideBits  bool // the bits of the packet are shown in place of the list
}

func (p *details) Name() string { return "Packet" }

// Absent implements room.Absent: beside the bits of the packet the pane cannot have the focus.
func (p *details) Absent() bool { return p.besideBits }

// Observe implements room.Observer. It shows the selected packet, or the last problem if none is
// selected: while time advances, twice per second. The lab adds the selected packet to a snapshot some time after the
// request.
func (p *details) Observe(v room.View) bool {
	const isProblem = true
	p.cfg, p.schema, p.overNetwork = v.Cfg, v.Snap.Schema, v.Snap.To != ""
	first := !p.observed
	p.observed = true
	p.repeating = nil
	if past := v.Snap.Past; p.hasSelection && past != nil && past.Snap == nil {
		p.repeating = past
	}
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
	problem, ok := p.lastProblem(v.Snap)
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
	if isSame := o != nil && p.opened != nil && o.ID == p.opened.ID; !isSame {
		p.top = 0
	}
	p.opened, p.isProblem, p.reasons = o, isProblem, nil
	if o != nil {
		p.reasons = o.Reasons()
	}
}

// lastProblem returns the newest problem of a snapshot of which the filter of the list selects the packet, false if none exists.
func (p *details) lastProblem(snap *engine.Snapshot) (inspector.Incident, bool) {
	for _, problem := range problems(snap) {
		if p.env == nil || p.filter.Matches(p.env, &problem.Opened.Record) {
			return problem, true
		}
	}
	return inspector.Incident{}, false
}

// Move scrolls by dy lines.
func (p *details) Move(_, dy int) room.Request {
	p.top += dy
	return room.Request{}
}

func (p *details) Arrows() [][2]string { return [][2]string{{"↑↓", "scroll"}} }

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
		p.drawWaiting(c)
		return
	case p.opened == nil:
		c.Frame(th, focused, "Packet")
		c.Clip(2, 1, c.W-4, look.Dim, "no trouble yet; arrows select a packet")
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
		title = "Last trouble: packet " + formatPacketID(p.opened.ID)
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

// drawWaiting draws how far the run is repeated up to the selected packet.
func (p *details) drawWaiting(c *look.Canvas) {
	text := "..."
	if past := p.repeating; past != nil {
		text = "The run is being repeated from its start up to this packet"
		if past.To > 0 {
			text += ", sent at " + look.FormatTime(past.To)
		}
		if past.Reached > 0 {
			text += "; it has reached " + look.FormatTime(past.Reached)
		}
		text += ". esc ends this."
	}
	for y, line := range look.Wrap(text, c.W-4) {
		c.Clip(2, 1+y, c.W-4, look.Dim, line)
	}
}

// drawBody draws the sections from top to bottom, separated by empty lines if there is room: the reasons, the sizes, the
// baseline, the path through the link, and the bit budget. It scrolls if they do not fit.
func (p *details) drawBody(c *look.Canvas, th *look.Theme) {
	wrap := func(lines ...[]look.Span) (list [][]look.Span) {
		for _, line := range lines {
			list = append(list, look.WrapSpans(line, c.W-4)...)
		}
		return list
	}
	sections := [][][]look.Span{p.reasonLines(c.W - 6), wrap(p.sizeSpans()), wrap(p.baselineLines()...), wrap(p.pathLines(th)...),
		p.bitLines(th, c.W-4)}
	rows := c.H - 2
	lines := slices.Concat(sections...)
	if len(lines)+len(sections)-1 <= rows {
		lines = sections[0]
		for _, section := range sections[1:] {
			lines = append(append(lines, nil), section...)
		}
	}
	p.top = min(max(p.top, 0), max(len(lines)-rows, 0))
	for y, line := range lines[p.top:min(p.top+rows, len(lines))] {
		c.Spans(2, 1+y, c.W-4, line...)
	}
	c.MoreBelow(th, len(lines)-p.top-rows)
}

// bitLines returns a line of w columns for each part of the bit budget, with its bits, its share and a bar.
func (p *details) bitLines(th *look.Theme, w int) (lines [][]look.Span) {
	const nameWidth, bitsWidth, shareWidth = 16, 12, 9
	budget := p.opened.Inside.Spent.Budget()
	totalBits := float64(budget.Total()) / encoders.BitUnit
	parts := panes.BudgetParts(&budget, p.schema)
	names := panes.PartNames(parts, nameWidth-2) // without the swatch
	barWidth := float64(max(w-nameWidth-bitsWidth-shareWidth-2, 0))
	for i, part := range parts {
		style, swatch := look.SlotStyle(part.Slot), string(th.Swatch(part.Slot))
		lines = append(lines, []look.Span{style.Span(swatch + " "), look.Plain.Span(look.PadRight(names[i], nameWidth-2)),
			look.Value.Span(look.PadLeft(units.Fixed(part.Share*totalBits, 1)+" bits", bitsWidth)),
			look.Plain.Span(look.PadLeft(units.Fixed(100*part.Share, 1)+" %", shareWidth) + "  "),
			style.Span(strings.Repeat(swatch, int(part.Share*barWidth+0.5)))})
	}
	return lines
}
