package packets

import (
	"slices"
	"strconv"
	"strings"

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
// was unusually large, of those that the filter of the list selects.
type details struct {
	page *packets

	opened      *inspector.Opened // the packet that is shown; nil if no packet is shown, or before the reply of the lab
	isProblem   bool              // opened is the last problem, not the selected packet
	reasons     []inspector.Reason
	cfg         *config.Config // nil before the first Observe
	schema      *frame.Schema
	overNetwork bool
	repeating   *engine.Past // the run is being repeated up to the packet; nil if it is not
	top         int          // the first visible line
}

func (p *details) Name() string { return "Packet" }

// Absent implements room.Absent: beside the bits of the packet the pane cannot have the focus.
func (p *details) Absent() bool { return p.page.bits.on }

// Observe implements room.Observer. It shows the selected packet, or the last problem if none is
// selected: while time advances, twice per second. The lab adds the selected packet to a snapshot some time after the
// request.
func (p *details) Observe(v room.View) bool {
	first := p.cfg == nil
	p.cfg, p.schema, p.overNetwork = v.Cfg, v.Snap.Schema, v.Snap.To != ""
	isProblem := !p.page.hasSelection
	p.repeating = nil
	if past := v.Snap.Past; !isProblem && past != nil && past.Snap == nil {
		p.repeating = past
	}
	isEarly := isProblem && p.isProblem && v.Running() && !v.RedrawDue
	if isEarly && !first {
		return false
	}
	before := p.opened
	opened, reasons := p.find(v.Snap)
	if opened == nil && before == nil && isProblem && !first {
		return false
	}
	isSame := opened != nil && before != nil && opened.ID == before.ID
	// The record changes when the packet arrives, and AckDue when its ack is sent.
	if isSame && isProblem == p.isProblem && opened.Record == before.Record && opened.Inside.AckDue == before.Inside.AckDue {
		return false
	}
	if !isSame {
		p.top = 0
	}
	p.opened, p.isProblem, p.reasons = opened, isProblem, reasons
	return true
}

// find returns the selected packet or, without a selection, the newest problem of which the filter of the list selects the
// packet, with its reasons; nil if there is none.
func (p *details) find(snap *engine.Snapshot) (*inspector.Opened, []inspector.Reason) {
	if p.page.hasSelection {
		opened, isRepeating := snap.Opened, snap.Past != nil
		if opened == nil || opened.ID != p.page.selected || opened.Gone && isRepeating {
			return nil, nil // the lab shows a packet selected before, or repeats the run up to the packet
		}
		return opened, opened.Reasons()
	}
	for _, problem := range problems(snap) {
		if p.page.filter.Matches(&p.page.env, &problem.Opened.Record) {
			return &problem.Opened, []inspector.Reason{problem.Reason}
		}
	}
	return nil, nil
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
	if text := p.missingText(); text != "" {
		title := p.Name()
		if p.page.hasSelection {
			title += " " + formatPacketID(p.page.selected)
		}
		c.Frame(th, focused, title)
		c.Wrap(2, 1, c.W-4, look.Dim, text)
		return
	}
	title := "Packet "
	if p.isProblem {
		title = "Last problem: packet "
	}
	title += formatPacketID(p.opened.ID)
	r := &p.opened.Record
	outcome := outcomeSpans(th, r)
	both := append(outcome[:2:2], look.Dim.Span("  "+look.Shorten(r.Encoder, 30)))
	c.FitFrame(th, focused, title, both, outcome)
	p.drawBody(c, th)
}

// missingText explains why no packet is shown; "" if one is.
func (p *details) missingText() string {
	switch past := p.repeating; {
	case p.opened == nil && !p.page.hasSelection:
		return "no problem yet; arrows select a packet"
	case p.opened == nil && past == nil: // the lab has not answered yet
		return "..."
	case p.opened == nil:
		return panes.RepeatingText(past)
	case p.opened.Gone && p.overNetwork:
		return "Over a network, the details of packets are kept for five minutes, because the run cannot be repeated."
	case p.opened.Gone:
		return "This packet was not sent, or the run cannot be repeated."
	}
	return ""
}

// formatPacketID formats the sequence number, and the number of the copy if it is a duplicate.
func formatPacketID(id packetlog.ID) string {
	s := strconv.FormatUint(id.Seq, 10)
	if id.Copy > 0 {
		s += ", copy " + strconv.Itoa(id.Copy)
	}
	return s
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
		lines = append(lines, []look.Span{th.SlotMark(part.Slot), look.Plain.Span(look.PadRight(names[i], nameWidth-2)),
			look.Value.Span(look.PadLeft(units.Fixed(part.Share*totalBits, 1)+" bits", bitsWidth)),
			look.Plain.Span(look.PadLeft(units.Fixed(100*part.Share, 1)+" %", shareWidth) + "  "),
			style.Span(strings.Repeat(swatch, int(part.Share*barWidth+0.5)))})
	}
	return lines
}
