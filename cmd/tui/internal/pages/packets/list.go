package packets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/container"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// list lists the packets, newest at the bottom. Without a selection it follows the newest packet; a
// selected packet stays in place while it is stored.
type list struct {
	packets      []packetlog.Record // as last observed
	env          packetfilter.Env   // what filters need in addition to packets
	costs        *engine.RowCosts   // the rows that the packets carry; nil if not requested
	encoder      string             // the active encoder
	filter       packetfilter.Filter
	find         packetfilter.Filter // what the keys for the next and the previous match go to
	sort         room.PacketSort
	selected     packetlog.ID
	hasSelection bool
	canContinue  bool // the packets are of the past, so that others follow
	dirty        bool // selection or filter changed since the last Observe
	numChanges   int  // how often the list changed
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
	rowsChanged := p.filter.NeedsRows() && p.costs != v.Snap.Carried
	same := !rowsChanged && n == len(p.packets) && (n == 0 || room.SamePacketState(&lane.Packets[n-1], &p.packets[n-1]) && &lane.Packets[0] == &p.packets[0])
	canRedraw := p.packets == nil || !v.Running() || v.RedrawDue && v.CanRedrawAll
	if !p.dirty && (same || !canRedraw) {
		return false
	}
	p.dirty, p.canContinue = false, v.Past
	p.packets, p.env.RateHz, p.encoder = lane.Packets, v.Cfg.Sender.RateHz, lane.Encoder
	p.costs, p.env.Carries = v.Snap.Carried, nil
	if p.costs != nil {
		p.env.Carries = p.costs.Carries
	}
	return true
}

// listed returns the indices of the packets that match the filter, in the order of the list.
func (p *list) listed() []int {
	out := make([]int, 0, len(p.packets))
	for i := range p.packets {
		if p.filter.Matches(&p.env, &p.packets[i]) {
			out = append(out, i)
		}
	}
	field, ok := packetfilter.FindField(p.sort.Field)
	if !ok {
		return out
	}
	keys := make([]float64, len(p.packets)) // packets are in ascending order of their keys
	for _, i := range out {
		v, hasValue := field.Value(&p.env, &p.packets[i])
		switch {
		case !hasValue: // last
			keys[i] = math.Inf(1)
		case p.sort.Ascending:
			keys[i] = v
		default:
			keys[i] = -v
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return out
}

// selectedRow returns the index of the selected packet in listed, and true. If the filter excludes the packet, it
// returns the index of the first packet after it, or the number of rows without such a packet, and false.
func (p *list) selectedRow(listed []int) (row int, isListed bool) {
	next := len(listed)
	for row, i := range listed {
		r := &p.packets[i]
		switch {
		case r.ID() == p.selected:
			return row, true
		case next == len(listed) && r.Seq > p.selected.Seq && r.Copy == 0:
			next = row
		}
	}
	return next, false
}

// moveCursor moves the cursor by n rows. Without a selection it starts below the newest packet, so that
// -1 selects the newest one; moving down selects that too. In a sorted list it starts at the first row. From the first or
// the last row of a list of all packets it moves to packets that are not listed, up to which the lab repeats the run.
func (p *list) moveCursor(n int) {
	listed := p.listed()
	if len(listed) == 0 || n == 0 {
		return
	}
	row := len(listed) + min(n, -1)
	switch {
	case p.hasSelection:
		selected, _ := p.selectedRow(listed)
		row = selected + n
		if p.moveBeyond(listed, selected, n) {
			return
		}
	case p.sort.Field != "":
		row = 0
	}
	p.selectPacket(p.packets[listed[min(max(row, 0), len(listed)-1)]].ID())
}

// moveBeyond selects the packet n before the first row or the one after the last row, if the cursor is there and the
// list has all packets in the order of sending. It reports whether it did.
func (p *list) moveBeyond(listed []int, selected, n int) bool {
	if !p.filter.SelectsAll() || p.sort.Field != "" {
		return false
	}
	seq := p.selected.Seq
	switch {
	case n < 0 && selected == 0 && seq > 0:
		seq -= min(seq, uint64(-n))
	case n > 0 && selected >= len(listed)-1 && p.canContinue:
		seq++
	default:
		return false
	}
	p.selectPacket(packetlog.ID{Seq: seq})
	return true
}

// moveToMatch moves the cursor to the next (direction > 0) or previous listed packet that p.find selects. Without a
// selection it starts at the end of the list. It returns false if there is no such packet.
func (p *list) moveToMatch(direction int) bool {
	listed := p.listed()
	row := len(listed)
	selected, isListed := p.selectedRow(listed)
	switch isSorted := p.sort.Field != ""; {
	case p.hasSelection && isListed:
		row = selected
	case isSorted && direction > 0: // a sorted list shows its first rows
		row = -1
	case isSorted: // start at the end
	case p.hasSelection && direction > 0:
		row = selected - 1 // the row after the selected packet is the first candidate
	case p.hasSelection:
		row = selected
	}
	step := 1
	if direction < 0 {
		step = -1
	}
	for row += step; row >= 0 && row < len(listed); row += step {
		if r := &p.packets[listed[row]]; p.find.Matches(&p.env, r) {
			p.selectPacket(r.ID())
			return true
		}
	}
	return false
}

// selectPacket moves the cursor to a packet.
func (p *list) selectPacket(id packetlog.ID) { p.selected, p.hasSelection, p.dirty = id, true, true }

// release clears selection, filter and order.
func (p *list) release() {
	p.hasSelection, p.dirty, p.filter, p.sort = false, true, packetfilter.Filter{}, room.PacketSort{}
}

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

// nextFilter returns the next condition that matches at least one packet. After a typed filter, and after the last
// condition, this is the filter that selects all packets.
func (p *list) nextFilter() packetfilter.Filter {
	names := packetfilter.Conditions()
	i := slices.Index(names, p.filter.String()) // -1 for a typed filter
	for i++; i < len(names); i++ {
		f, _ := packetfilter.Parse(names[i])
		if f.SelectsAll() || slices.ContainsFunc(p.packets, func(r packetlog.Record) bool { return f.Matches(&p.env, &r) }) {
			return f
		}
	}
	return packetfilter.Filter{}
}

// nextSort sorts by the next column: the order of sending, the size, the delay, and so on.
func (p *list) nextSort() {
	order := []string{"", "bytes", "took", "changed", "age", "outcome"}
	p.sort, p.dirty = room.PacketSort{Field: order[(slices.Index(order, p.sort.Field)+1)%len(order)]}, true
}

// packetAt returns the packet in row y of the pane, false if row y shows no packet.
func (p *list) packetAt(y int) (packetlog.ID, bool) {
	listed := p.listed()
	const firstRowY = 2 // below the border and the headings
	i := p.firstRow + y - firstRowY
	if y < firstRowY || y-firstRowY >= p.numRows || i < 0 || i >= len(listed) {
		return packetlog.ID{}, false
	}
	r := &p.packets[listed[i]]
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
			if r.Baseline == 0 || p.env.RateHz <= 0 {
				return "", look.Dim
			}
			return plain(strconv.Itoa(r.Baseline * 1000 / p.env.RateHz))
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

// Draw implements room.Pane. The selected packet is in the middle. Without a selection the newest packet is in the
// last row or, in a sorted list, the first packet in the first row.
func (p *list) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	listed := p.listed()
	c.Frame(th, focused, "Packets", p.legend(len(listed), look.TitleSpace(c.W, "Packets"))...)
	p.linkStatus.Draw(c)
	columns, outcomeX := p.fitColumns(c.W)
	for _, col := range columns {
		c.TextRight(col.end, 1, look.Dim, col.heading)
	}
	c.Clip(outcomeX, 1, c.W-2-outcomeX, look.Dim, "outcome")
	p.numRows = max(c.H-3, 0)
	p.firstRow = max(len(listed)-p.numRows, 0)
	if p.hasSelection { // in the middle, with the packets before and after
		selected, _ := p.selectedRow(listed)
		p.firstRow = min(max(selected-p.numRows/2, 0), p.firstRow)
	} else if p.sort.Field != "" {
		p.firstRow = 0
	}
	for y := range min(p.numRows, len(listed)-p.firstRow) {
		p.drawRow(c, th, 2+y, &p.packets[listed[p.firstRow+y]], columns, outcomeX)
	}
	if len(listed) == 0 {
		for y, line := range look.Wrap(p.emptyText(), c.W-4) {
			c.Clip(2, 2+y, c.W-4, look.Dim, line)
		}
	}
}

// emptyText explains why no packet is listed.
func (p *list) emptyText() string {
	switch filter := "the filter \"" + p.filter.String() + "\" matches none"; {
	case !p.filter.NeedsRows():
	case p.costs == nil:
		return "It is not known which rows the packets carry, so " + filter + ". F and enter determine it, for the packets of the last 2 s."
	case p.costs.Limit != "":
		return "It is not known which rows the packets of " + p.encoder + " carry (" + p.costs.Limit + "), so " + filter + "."
	default:
		return "Of the packets of the last 2 s, for which the rows are known, " + filter + "."
	}
	return "none of the " + strconv.Itoa(len(p.packets)) + " stored packets matches; f changes the filter, F edits it"
}

// legend returns the filter, the number n of packets that match it, the order, and which packet the list follows,
// in at most maxWidth columns.
func (p *list) legend(n, maxWidth int) []look.Span {
	filter := []look.Span{look.Dim.Span("filter "), look.Key.Span(p.filter.String())}
	order := ""
	if p.sort.Field != "" {
		order = "  by " + p.sort.Field + map[bool]string{true: " up", false: " down"}[p.sort.Ascending]
	}
	sorted := append(filter[:2:2], look.Key.Span(order))
	counted := append(filter[:2:2], look.Dim.Span(fmt.Sprintf("  %d of %d", n, len(p.packets))), look.Key.Span(order))
	following := "  following the newest"
	switch {
	case p.hasSelection:
		following = "  esc: follow the newest"
	case order != "":
		following = "  esc: order of sending"
	}
	return look.Fit(maxWidth, append(counted[:4:4], look.Dim.Span(following)), counted, sorted,
		[]look.Span{look.Key.Span(look.Shorten(p.filter.String(), maxWidth))}, nil)
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
	if r.Repair != container.NotRepaired {
		word += ", repaired"
	} else if r.Outcome == packetlog.Decoded && !isSelected {
		style = look.Dim
	}
	c.Clip(x, y, c.W-1-x, style, word)
}

// formatTime writes virtual time as minutes, seconds and milliseconds.
func formatTime(t time.Duration) string {
	t = max(t, 0)
	return fmt.Sprintf("%02d:%02d.%03d", t/time.Minute%1000, t/time.Second%60, t/time.Millisecond%1000)
}
