package packets

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// list lists the packets, newest at the bottom. Without a selection it follows the newest packet; a
// selected packet stays in place while it is stored.
type list struct {
	packets      []packetlog.Record // as last observed
	rateHz       int                // packets per second, which converts ages to ms
	filter       room.Filter
	selected     packetlog.ID
	hasSelection bool
	dirty        bool // selection or filter changed since the last Observe
	firstRow     int  // first visible row
	numRows      int  // visible rows
	linkStatus   panes.LinkStatusLine
}

func (p *list) Name() string { return "Packets" }

// Observe implements room.Observer. While time advances the list is redrawn only if a redraw is due (see
// room.View.RedrawDue) and the output can take it. Comparing the first and the last packet detects every change: packets
// are only added at the end and removed at the beginning.
func (p *list) Observe(v room.View) bool {
	lane := v.ActiveLane()
	p.linkStatus.Observe(v) // drawn with the next change of the list
	n := len(lane.Packets)
	same := n == len(p.packets) && (n == 0 || room.SamePacketState(&lane.Packets[n-1], &p.packets[n-1]) && &lane.Packets[0] == &p.packets[0])
	canRedraw := p.packets == nil || !v.Running() || v.RedrawDue && v.CanRedrawAll
	if !p.dirty && (same || !canRedraw) {
		return false
	}
	p.dirty = false
	p.packets, p.rateHz = lane.Packets, v.Cfg.Sender.RateHz
	return true
}

// filtered returns the indices of the packets that match the filter.
func (p *list) filtered() []int {
	out := make([]int, 0, len(p.packets))
	for i := range p.packets {
		if p.filter.Matches(&p.packets[i]) {
			out = append(out, i)
		}
	}
	return out
}

// selectedRow returns the index in filtered of the selected packet or, if the filter excludes it, of the
// first packet after it.
func (p *list) selectedRow(filtered []int) int {
	for row, i := range filtered {
		r := &p.packets[i]
		if r.Seq > p.selected.Seq && r.Copy == 0 || r.ID() == p.selected {
			return row
		}
	}
	return len(filtered) - 1
}

// moveCursor moves the cursor by n rows. Without a selection it starts below the newest packet, so that
// -1 selects the newest one; moving down selects that too.
func (p *list) moveCursor(n int) {
	filtered := p.filtered()
	if len(filtered) == 0 || n == 0 {
		return
	}
	row := len(filtered) + min(n, -1)
	if p.hasSelection {
		row = p.selectedRow(filtered) + n
	}
	row = min(max(row, 0), len(filtered)-1)
	r := &p.packets[filtered[row]]
	p.selectPacket(r.ID())
}

// moveToFailure moves the cursor to the next (direction > 0) or previous failed packet that matches the
// filter. Without a selection it starts at the end of the list. It does nothing if there is no such packet.
func (p *list) moveToFailure(direction int) (found bool) {
	start := len(p.packets)
	if p.hasSelection {
		if i := p.findIndex(p.selected); i >= 0 {
			start = i
		}
	} else if direction > 0 {
		return false // nothing is newer than the newest
	}
	step := 1
	if direction < 0 {
		step = -1
	}
	for i := start + step; i >= 0 && i < len(p.packets); i += step {
		if r := &p.packets[i]; room.IsFailure(r) && (p.filter == room.FilterAll || p.filter.Matches(r)) {
			p.selectPacket(r.ID())
			return true
		}
	}
	return false
}

// selectPacket moves the cursor to a packet.
func (p *list) selectPacket(id packetlog.ID) { p.selected, p.hasSelection, p.dirty = id, true, true }

// release clears selection and filter.
func (p *list) release() { p.hasSelection, p.dirty, p.filter = false, true, room.FilterAll }

// findPacket returns a packet of the list, nil if it is not stored.
func (p *list) findPacket(id packetlog.ID) *packetlog.Record {
	if i := p.findIndex(id); i >= 0 {
		return &p.packets[i]
	}
	return nil
}

// findIndex returns the index of a packet, -1 if it is not stored.
func (p *list) findIndex(id packetlog.ID) int {
	for i := range p.packets {
		if p.packets[i].ID() == id {
			return i
		}
	}
	return -1
}

// nextFilter selects the next filter that matches at least one packet. The filter for all packets counts as
// matching even without packets.
func (p *list) nextFilter() {
	p.dirty = true
	for range room.NumFilters {
		p.filter = (p.filter + 1) % room.NumFilters
		if p.filter == room.FilterAll || len(p.filtered()) > 0 {
			return
		}
	}
}

// packetAt returns the packet in row y of the pane, false if there is none.
func (p *list) packetAt(y int) (packetlog.ID, bool) {
	filtered := p.filtered()
	const firstRowY = 2 // below the border and the headings
	i := p.firstRow + y - firstRowY
	if y < firstRowY || y-firstRowY >= p.numRows || i < 0 || i >= len(filtered) {
		return packetlog.ID{}, false
	}
	r := &p.packets[filtered[i]]
	return r.ID(), true
}

// listWidth is the width of the list with all columns.
const listWidth = 82

// listColumn is one column of the list: its right edge, heading and cells.
type listColumn struct {
	end     int
	heading string
	cell    func(r *packetlog.Record) (string, look.Style)
}

// minOutcomeWidth is the minimum width of the outcome, the most important column, with margins.
const minOutcomeWidth = 16

// fitColumns returns the columns of the list that fit into w columns of the screen in addition to the
// outcome, and the left edge of the outcome. The least important columns are omitted first.
func (p *list) fitColumns(w int) (fitting []listColumn, outcomeX int) {
	fitting = p.columns()
	for _, heading := range []string{"ms old", "chg", "sent", "baseline"} { // the least important first
		if fitting[len(fitting)-1].end+2+minOutcomeWidth <= w {
			break
		}
		i := slices.IndexFunc(fitting, func(c listColumn) bool { return c.heading == heading })
		removedWidth := fitting[i].end - fitting[i-1].end
		fitting = slices.Delete(fitting, i, i+1)
		for k := i; k < len(fitting); k++ {
			fitting[k].end -= removedWidth
		}
	}
	return fitting, fitting[len(fitting)-1].end + 2
}

// columns returns all columns except the outcome: sequence, age of the baseline in packets and in ms,
// payload bytes, changed items, time of sending, and delay. A copy has "+" and its number after the
// sequence; a packet in flight has the delay after which it is due.
func (p *list) columns() []listColumn {
	plain := func(s string) (string, look.Style) { return s, look.Plain }
	return []listColumn{ // column of the right edge, heading, function that returns a cell's text and style
		{11, "packet", func(r *packetlog.Record) (string, look.Style) {
			s := strconv.FormatUint(r.Seq, 10)
			if r.Copy > 0 {
				s += "+" + strconv.Itoa(r.Copy)
			}
			return s, look.Value
		}},
		{20, "baseline", func(r *packetlog.Record) (string, look.Style) {
			if r.Baseline == 0 {
				return "initial", look.Dim
			}
			return plain("-" + strconv.Itoa(r.Baseline))
		}},
		{27, "ms old", func(r *packetlog.Record) (string, look.Style) {
			if r.Baseline == 0 || p.rateHz <= 0 {
				return "", look.Dim
			}
			return plain(strconv.Itoa(r.Baseline * 1000 / p.rateHz))
		}},
		{34, "bytes", func(r *packetlog.Record) (string, look.Style) { return strconv.Itoa(r.Payload), look.Payload }},
		{41, "chg", func(r *packetlog.Record) (string, look.Style) { return plain(strconv.Itoa(r.Changed)) }},
		{52, "sent", func(r *packetlog.Record) (string, look.Style) { return formatTime(r.Sent), look.Dim }},
		{62, "took ms", func(r *packetlog.Record) (string, look.Style) {
			switch {
			case r.Outcome == packetlog.Lost, r.Outcome == packetlog.Unknown, r.Outcome == packetlog.InFlight && r.Due == 0:
				return "-", look.Dim // unknown; over a network also before the arrival
			case r.Outcome == packetlog.InFlight:
				return "due " + units.Fixed(float64(r.Due-r.Sent)/1e6, 0), look.Dim
			}
			return plain(units.Fixed(float64(r.Arrived-r.Sent)/1e6, 1))
		}},
	}
}

// Draw implements room.Pane. The selected packet is in the middle, or the newest packet in the last
// row.
func (p *list) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	filtered := p.filtered()
	c.Frame(th, focused, "Packets", p.legend(th, len(filtered), look.TitleSpace(c.W, "Packets"))...)
	p.linkStatus.Draw(c)
	columns, outcomeX := p.fitColumns(c.W)
	for _, col := range columns {
		c.TextRight(col.end, 1, look.Dim, col.heading)
	}
	c.Clip(outcomeX, 1, c.W-2-outcomeX, look.Dim, "outcome")
	p.numRows = max(c.H-3, 0)
	p.firstRow = max(len(filtered)-p.numRows, 0)
	if p.hasSelection { // in the middle, with the packets before and after
		p.firstRow = min(max(p.selectedRow(filtered)-p.numRows/2, 0), p.firstRow)
	}
	for y := range min(p.numRows, len(filtered)-p.firstRow) {
		p.drawRow(c, th, 2+y, &p.packets[filtered[p.firstRow+y]], columns, outcomeX)
	}
	if len(filtered) == 0 {
		c.Clip(2, 2, c.W-4, look.Dim, "none of the "+strconv.Itoa(len(p.packets))+" stored packets matches; f changes the filter")
	}
}

// legend returns the filter, the number n of packets that match it, and which packet the list follows, in
// at most maxWidth columns.
func (p *list) legend(th *look.Theme, n, maxWidth int) []look.Span {
	out := []look.Span{look.Dim.Span("filter "), look.Key.Span(p.filter.String())}
	counted := append(out[:2:2], look.Dim.Span(fmt.Sprintf("  %d of %d", n, len(p.packets))))
	if p.hasSelection {
		return look.Fit(maxWidth, append(counted[:3:3], look.Dim.Span("  esc: follow the newest")), counted, out, nil)
	}
	return look.Fit(maxWidth, append(counted[:3:3], look.Dim.Span("  following the newest")), counted, out, nil)
}

// drawRow draws packet r at row y. outcomeX is the left edge of the outcome.
func (p *list) drawRow(c *look.Canvas, th *look.Theme, y int, r *packetlog.Record, columns []listColumn, outcomeX int) {
	isSelected := p.hasSelection && r.ID() == p.selected
	if isSelected {
		c.Text(1, y, look.Chosen, th.Chosen)
	}
	for _, col := range columns {
		text, style := col.cell(r)
		if isSelected && style == look.Dim {
			style = look.Plain
		}
		c.TextRight(col.end, y, style, text)
	}
	style := look.OutcomeStyle(r.Outcome)
	x := c.Text(outcomeX, y, style, string(th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)])+" ")
	word := look.OutcomeName(r.Outcome)
	if r.Outcome == packetlog.Lost {
		word += ": " + r.Cause.String()
	}
	if r.Outcome == packetlog.Decoded && !isSelected {
		style = look.Dim
	}
	c.Clip(x, y, c.W-1-x, style, word)
}

// formatTime writes virtual time as minutes, seconds and milliseconds.
func formatTime(t time.Duration) string {
	t = max(t, 0)
	return fmt.Sprintf("%02d:%02d.%03d", t/time.Minute%1000, t/time.Second%60, t/time.Millisecond%1000)
}
