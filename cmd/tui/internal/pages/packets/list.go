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

// list lists the packets of the run, newest at the bottom. Without a selection it follows the newest packet or, in the
// past, the one that was the newest at the time cursor; a selected packet stays in place.
type list struct {
	run          run
	rows         []uint64         // numbers of the listed records; not used if showsAll
	env          packetfilter.Env // what filters need in addition to packets
	costs        *engine.RowCosts // the rows that the packets carry; nil if not requested
	encoder      string           // the active encoder
	filter       packetfilter.Filter
	find         packetfilter.Filter // what the keys for the next and the previous match go to
	sort         room.PacketSort
	selected     packetlog.ID
	hasSelection bool
	number       uint64 // of the record of the selected packet, if isKnown
	isKnown      bool
	dirty        bool // selection or filter changed since the last Observe
	numChanges   int  // how often the list changed
	firstRow     int  // first visible row
	numRows      int  // visible rows
	linkStatus   panes.LinkStatusLine
}

func (p *list) Name() string { return "Packets" }

// Observe implements room.Observer. While time advances the list is redrawn only if a redraw is due (see
// room.View.RedrawDue) and the output can take it. In the past it changes only with the time cursor.
func (p *list) Observe(v room.View) bool {
	p.linkStatus.Observe(v) // drawn with the next change of the list
	next := newRun(v)
	rowsChanged := p.filter.NeedsRows() && p.costs != v.Snap.Carried
	same := !rowsChanged && next.past == p.run.past && next.now == p.run.now
	canRedraw := !v.Running() || v.RedrawDue && v.CanRedrawAll
	if !p.dirty && (same || !canRedraw) {
		return false
	}
	p.run = next
	p.env.RateHz = v.Cfg.Sender.RateHz
	p.encoder = v.ActiveLane().Encoder
	p.costs = v.Snap.Carried
	p.env.Carries = nil
	if p.costs != nil {
		p.env.Carries = p.costs.Carries
	}
	p.number, p.isKnown = p.run.find(p.selected)
	p.listRows()
	p.dirty = false
	p.numChanges++
	return true
}

// listRows lists the packets that match the filter, in the order of the list.
func (p *list) listRows() {
	p.dirty = true
	p.rows = nil
	if p.showsAll() {
		return
	}
	first, end := p.run.first(), p.run.end()
	for n := first; n < end; n++ {
		if p.filter.Matches(&p.env, p.run.at(n)) {
			p.rows = append(p.rows, n)
		}
	}
	field, ok := packetfilter.FindField(p.sort.Field)
	if !ok {
		return
	}
	keys := make([]float64, end-first) // packets are in ascending order of their keys
	for _, n := range p.rows {
		v, hasValue := field.Value(&p.env, p.run.at(n))
		switch {
		case !hasValue: // last
			v = math.Inf(1)
		case !p.sort.Ascending:
			v = -v
		}
		keys[n-first] = v
	}
	slices.SortStableFunc(p.rows, func(a, b uint64) int { return cmp.Compare(keys[a-first], keys[b-first]) })
}

func (p *list) isSorted() bool { return p.sort.Field != "" }

// showsAll reports whether all packets are listed in the order of sending.
func (p *list) showsAll() bool { return p.filter.SelectsAll() && !p.isSorted() }

// length returns the number of rows.
func (p *list) length() int {
	if p.showsAll() {
		return int(p.run.end() - p.run.first())
	}
	return len(p.rows)
}

// record returns the packet in a row.
func (p *list) record(row int) *packetlog.Record {
	if p.showsAll() {
		return p.run.at(p.run.first() + uint64(row))
	}
	return p.run.at(p.rows[row])
}

// rowOf returns the row of the record with the given number, and true. If it is not listed, it returns the row of the
// first record after it or, in a sorted list, the number of rows.
func (p *list) rowOf(number uint64) (row int, isListed bool) {
	switch {
	case p.showsAll():
		return int(number - p.run.first()), number < p.run.end()
	case !p.isSorted():
		return slices.BinarySearch(p.rows, number)
	}
	row = slices.Index(p.rows, number)
	if row < 0 {
		return len(p.rows), false
	}
	return row, true
}

// selectedRow is rowOf for the selected packet.
func (p *list) selectedRow() (row int, isListed bool) {
	switch {
	case p.isKnown:
		return p.rowOf(p.number)
	case p.selected.Seq < p.oldestSeq():
		return 0, false
	}
	return p.length(), false
}

// oldestSeq returns the sequence number of the oldest packet of the run that is stored; 0 if there is none.
func (p *list) oldestSeq() uint64 {
	if p.run.first() == p.run.end() {
		return 0
	}
	return p.run.at(p.run.first()).Seq
}

// newestSeq returns the sequence number of the newest packet; false if there is none.
func (p *list) newestSeq() (seq uint64, ok bool) {
	for n := p.run.end(); n > p.run.first(); n-- {
		if r := p.run.at(n - 1); r.Copy == 0 {
			return r.Seq, true
		}
	}
	return 0, false
}

// followedRow returns the row below the packet that the list follows without a selection.
func (p *list) followedRow() int {
	if p.isSorted() {
		return p.length()
	}
	row, _ := p.rowOf(p.run.endAtCursor())
	return row
}

// moveCursor moves the cursor by n rows. Without a selection it starts below the followed packet, so that -1 selects
// that packet; moving down selects it too. In a sorted list it starts at the first row. From the first row it moves to
// packets that are not stored, up to which the lab repeats the run.
func (p *list) moveCursor(n int) {
	last := p.length() - 1
	if last < 0 || n == 0 {
		return
	}
	row := p.followedRow() + min(n, -1)
	switch {
	case p.hasSelection:
		selected, _ := p.selectedRow()
		if isFirst := selected == 0 && n < 0; isFirst && p.showsAll() && p.run.first() > 0 {
			p.selectPacket(packetlog.ID{Seq: p.selected.Seq - min(p.selected.Seq, uint64(-n))})
			return
		}
		row = selected + n
	case p.isSorted():
		row = 0
	}
	p.selectPacket(p.record(min(max(row, 0), last)).ID())
}

// moveToMatch moves the cursor to the next (direction > 0) or previous listed packet that p.find selects. Without a
// selection it starts at the end of the list, or at the first row of a sorted list. It returns false if there is no
// such packet.
func (p *list) moveToMatch(direction int) bool {
	row, isListed := p.selectedRow()
	switch {
	case !p.hasSelection && p.isSorted() && direction > 0:
		row = -1
	case !p.hasSelection:
		row = p.followedRow()
	case !isListed && direction > 0:
		row-- // the row after the selected packet is the first candidate
	}
	step := 1
	if direction < 0 {
		step = -1
	}
	for row += step; row >= 0 && row < p.length(); row += step {
		if r := p.record(row); p.find.Matches(&p.env, r) {
			p.selectPacket(r.ID())
			return true
		}
	}
	return false
}

// selectPacket moves the cursor to a packet.
func (p *list) selectPacket(id packetlog.ID) {
	p.selected, p.hasSelection, p.dirty = id, true, true
	p.number, p.isKnown = p.run.find(id)
}

// release clears selection, filter and order.
func (p *list) release() {
	p.hasSelection = false
	p.filter = packetfilter.Filter{}
	p.sort = room.PacketSort{}
	p.listRows()
}

// selectedRecord returns the record of the selected packet, nil if there is none.
func (p *list) selectedRecord() *packetlog.Record {
	if !p.hasSelection || !p.isKnown {
		return nil
	}
	return p.run.at(p.number)
}

// nextFilter returns the next condition that matches at least one packet. After a typed filter, and after the last
// condition, this is the filter that selects all packets.
func (p *list) nextFilter() packetfilter.Filter {
	names := packetfilter.Conditions()
	i := slices.Index(names, p.filter.String()) // -1 for a typed filter
	for i++; i < len(names); i++ {
		f, _ := packetfilter.Parse(names[i])
		for n := p.run.end(); n > p.run.first(); n-- {
			if f.Matches(&p.env, p.run.at(n-1)) {
				return f
			}
		}
	}
	return packetfilter.Filter{}
}

// NextSort implements room.Sorter: it sorts by the size, the delay, and so on, then in the order of sending again.
func (p *list) NextSort() room.Request {
	order := []string{"", "bytes", "took", "changed", "age", "outcome"}
	next := order[(slices.Index(order, p.sort.Field)+1)%len(order)]
	p.sort = room.PacketSort{Field: next}
	p.listRows()
	return room.Request{Redraw: true}
}

// packetAt returns the packet in row y of the pane, false if row y shows no packet.
func (p *list) packetAt(y int) (packetlog.ID, bool) {
	const firstRowY = 2 // below the border and the headings
	row := p.firstRow + y - firstRowY
	if y < firstRowY || y-firstRowY >= p.numRows || row >= p.length() {
		return packetlog.ID{}, false
	}
	return p.record(row).ID(), true
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

// Draw implements room.Pane. The selected packet is in the middle. Without a selection the followed packet is in the
// last row or, in a sorted list, the first packet in the first row.
func (p *list) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	length := p.length()
	c.Frame(th, focused, "Packets", p.legend(length, look.TitleSpace(c.W, "Packets"))...)
	p.linkStatus.Draw(c)
	columns, outcomeX := p.fitColumns(c.W)
	for _, col := range columns {
		c.TextRight(col.end, 1, look.Dim, col.heading)
	}
	c.Clip(outcomeX, 1, c.W-2-outcomeX, look.Dim, "outcome")
	p.numRows = max(c.H-3, 0)
	switch {
	case p.hasSelection: // in the middle, with the packets before and after
		selected, _ := p.selectedRow()
		p.firstRow = min(selected-p.numRows/2, length-p.numRows)
	case p.isSorted():
		p.firstRow = 0
	default:
		p.firstRow = p.followedRow() - p.numRows
	}
	p.firstRow = max(p.firstRow, 0)
	for y := range min(p.numRows, length-p.firstRow) {
		p.drawRow(c, th, 2+y, p.record(p.firstRow+y), columns, outcomeX)
	}
	if length == 0 {
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
		return "It is not known which rows the packets carry, so " + filter + ". /filter and enter determine it, for the packets of the last 2 s."
	case p.costs.Limit != "":
		return "It is not known which rows the packets of " + p.encoder + " carry (" + p.costs.Limit + "), so " + filter + "."
	default:
		return "Of the packets of the last 2 s, for which the rows are known, " + filter + "."
	}
	return "none of the " + strconv.FormatUint(p.run.end()-p.run.first(), 10) + " packets matches; f changes the filter, /filter sets it"
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
	counted := append(filter[:2:2], look.Dim.Span(fmt.Sprintf("  %d of %d", n, p.run.end()-p.run.first())), look.Key.Span(order))
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
