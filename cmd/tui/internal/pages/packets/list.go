package packets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
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
	table        grid.Table
	nothingSent  string   // why the run has no packets
	sortFields   []string // by column; notSorted if the list is not sorted by it
	linkStatus   panes.LinkStatusLine
}

func (p *list) Name() string { return "Packets" }

// Observe implements room.Observer. While time advances the list is redrawn only if a redraw is due (see
// room.View.RedrawDue) and the output can take it. In the past it changes only with the time cursor.
func (p *list) Observe(v room.View) bool {
	p.linkStatus.Observe(v) // drawn with the next change of the list
	next := newRun(v)
	nothingSent := panes.NothingSentText(v.Snap, v.ActiveLane())
	rowsChanged := p.filter.NeedsRows() && p.costs != v.Snap.Carried
	same := !rowsChanged && next.past == p.run.past && next.now == p.run.now && next.client == p.run.client && p.nothingSent == nothingSent
	canRedraw := !v.Running() || v.RedrawDue && v.CanRedrawAll
	if !p.dirty && (same || !canRedraw) {
		return false
	}
	p.run, p.nothingSent = next, nothingSent
	p.env.RateHz = v.Cfg.Sender.RateHz
	p.encoder = v.ActiveLane().Encoder
	p.costs = v.Snap.Carried
	p.env.Carries = nil
	if p.costs != nil {
		p.env.Carries = p.costs.Carries
	}
	if p.hasSelection {
		p.number, p.isKnown = p.run.find(p.selected)
	}
	p.listRows()
	p.dirty = false
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
	if !p.isSorted() {
		return
	}
	keys := make([]float64, end-first) // packets are in ascending order of their keys
	for _, n := range p.rows {
		v := packetfilter.Value(p.sort.Field, &p.env, p.run.at(n))
		switch {
		case math.IsNaN(v): // last
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

// followedRow returns the row below the packet that the list follows without a selection: the newest one with an outcome.
func (p *list) followedRow() int {
	if p.isSorted() {
		return p.length()
	}
	end := p.run.endAtCursor()
	for end > p.run.first()+1 && p.run.at(end-1).Outcome == packetlog.InFlight {
		end--
	}
	row, _ := p.rowOf(end)
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

// NextSort implements room.Sorter: it sorts by the next column, after the last one in the order of sending again.
func (p *list) NextSort() room.Request {
	p.table.SortNext(1)
	return p.sortByColumn()
}

// sortByColumn sorts by the column table.Sort.
func (p *list) sortByColumn() room.Request {
	p.sort = room.PacketSort{Field: p.sortFields[p.table.Sort]}
	p.listRows()
	return room.Request{Redraw: true}
}

// click selects the packet at (x, y) of the pane, or sorts by the column whose title is there. It reports whether it
// selected a packet.
func (p *list) click(x, y int) bool {
	column := p.table.Sort
	p.table.Cursor = -1
	p.table.Click(x, y)
	if p.table.Sort != column {
		p.sortByColumn()
	}
	if p.table.Cursor < 0 {
		return false
	}
	p.selectPacket(p.record(p.table.Cursor).ID())
	return true
}

// listWidth is the width of the list with all columns.
const listWidth = 85

// notSorted is the element of list.sortFields of a column by which the list is not sorted.
const notSorted = "-"

// setColumns sets the columns. A copy has "+" and its number after the sequence number; a packet in flight has the
// delay after which it is due.
func (p *list) setColumns() {
	plain := func(text string) []look.Span { return grid.Text(look.Plain, text) }
	add := func(title string, width, drop int, sortField string, text func(r *packetlog.Record) []look.Span) {
		p.table.Columns = append(p.table.Columns, grid.Column{Title: title, Width: width, Drop: drop,
			Right: true, Sortable: sortField != notSorted,
			Text: func(cell grid.Cell) []look.Span { return text(p.record(cell.Row)) }})
		p.sortFields = append(p.sortFields, sortField)
	}
	add("packet", 7, 0, "", func(r *packetlog.Record) []look.Span {
		text := strconv.FormatUint(r.Seq, 10)
		if r.Copy > 0 {
			text += "+" + strconv.Itoa(r.Copy)
		}
		return grid.Text(look.Value, text)
	})
	add("baseline", 8, 4, notSorted, func(r *packetlog.Record) []look.Span {
		if r.Baseline == 0 {
			return grid.Text(look.Dim, "initial")
		}
		return plain("-" + strconv.Itoa(r.Baseline))
	})
	add("ms old", 7, 1, "age", func(r *packetlog.Record) []look.Span {
		if r.Baseline == 0 || p.env.RateHz <= 0 {
			return nil
		}
		return plain(strconv.Itoa(r.Baseline * 1000 / p.env.RateHz))
	})
	add("bytes", 6, 0, "bytes", func(r *packetlog.Record) []look.Span {
		return grid.Text(look.Payload, strconv.Itoa(r.Payload))
	})
	add("chg", 4, 2, "changed", func(r *packetlog.Record) []look.Span {
		return plain(strconv.Itoa(r.Changed))
	})
	add("sent", 9, 3, notSorted, func(r *packetlog.Record) []look.Span {
		return grid.Text(look.Dim, formatTime(r.Sent))
	})
	add("took ms", 8, 0, "took", func(r *packetlog.Record) []look.Span {
		switch {
		case r.Outcome == packetlog.Lost, r.Outcome == packetlog.Unknown, r.Outcome == packetlog.InFlight && r.Due == 0:
			return grid.Text(look.Dim, "-") // unknown; over a network also before the arrival
		case r.Outcome == packetlog.InFlight:
			return grid.Text(look.Dim, "due "+units.Fixed(units.Milliseconds(r.Due-r.Sent), 0))
		}
		return plain(units.Fixed(units.Milliseconds(r.Arrived-r.Sent), 1))
	})
	p.table.Columns = append(p.table.Columns, grid.Column{Title: "outcome", Width: grid.Rest, Min: 16, Sortable: true,
		Text: func(c grid.Cell) []look.Span { return outcomeSpans(c.Theme, p.record(c.Row)) }})
	p.sortFields = append(p.sortFields, "outcome")
}

// outcomeSpans returns the symbol and the text of a packet's outcome.
func outcomeSpans(th *look.Theme, r *packetlog.Record) []look.Span {
	style := look.OutcomeStyle(r.Outcome)
	textStyle := style
	switch {
	case r.Late > 0:
		textStyle = look.Late
	case r.Outcome == packetlog.Decoded && r.RepairedBy() == "":
		textStyle = look.Dim
	}
	return []look.Span{style.Span(th.OutcomeSymbol(r.Outcome) + " "), textStyle.Span(look.OutcomeText(r))}
}

// Draw implements room.Pane. The selected packet is in the middle. Without a selection the followed packet is in the
// last row or, in a sorted list, the first packet in the first row.
func (p *list) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	t := &p.table
	t.NumRows = p.length()
	t.Sort = slices.Index(p.sortFields, p.sort.Field)
	t.Upward = p.sort.Ascending
	t.Cursor = -1
	t.Centered = true
	row, isListed := p.selectedRow()
	rows := c.H - 3
	switch {
	case p.hasSelection && isListed:
		t.Cursor = row
	case p.hasSelection:
		t.First = row - rows/2
	case p.isSorted():
		t.First = 0
	default:
		t.First = p.followedRow() - rows
	}
	c.Frame(th, focused, "Packets", p.legend(t.NumRows, look.TitleSpace(c.W, "Packets"))...)
	t.Draw(c, th, 1, c.H-2)
	countWidth := 0 // of the number of packets below
	if _, to := t.Visible(); to < t.NumRows {
		countWidth = look.TextWidth(fmt.Sprintf(" %d more  ", t.NumRows-to)) + 2
	}
	p.linkStatus.Draw(c, countWidth)
	if t.NumRows == 0 {
		c.Wrap(2, 2, c.W-4, look.Dim, p.emptyText())
	}
}

// emptyText explains why no packet is listed.
func (p *list) emptyText() string {
	switch filter := "the filter \"" + p.filter.String() + "\" matches none"; {
	case p.run.end() == 0:
		return p.nothingSent
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

// legend returns the filter, the number n of packets that match it, the order if it is not that of a column, and which
// packet the list follows, in at most maxWidth columns.
func (p *list) legend(n, maxWidth int) []look.Span {
	filter := []look.Span{look.Dim.Span("filter "), look.Key.Span(p.filter.String())}
	counted := append(filter[:2:2], look.Dim.Span(fmt.Sprintf("  %d of %d", n, p.run.end()-p.run.first())))
	if p.table.Sort < 0 {
		counted = append(counted, look.Key.Span("  by "+p.sort.Field))
	}
	following := "  following the newest"
	switch {
	case p.hasSelection:
		following = "  esc: follow the newest"
	case p.isSorted():
		following = "  esc: order of sending"
	case p.run.inPast:
		following = "  at " + look.FormatTime(p.run.now)
	}
	return look.Fit(maxWidth, append(counted[:len(counted):len(counted)], look.Dim.Span(following)), counted, filter,
		[]look.Span{look.Key.Span(look.Shorten(p.filter.String(), maxWidth))}, nil)
}

// formatTime writes virtual time as minutes, seconds and milliseconds.
func formatTime(t time.Duration) string {
	t = max(t, 0)
	return fmt.Sprintf("%02d:%02d.%03d", t/time.Minute%1000, t/time.Second%60, t/time.Millisecond%1000)
}
