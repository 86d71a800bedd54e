package packets

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/live"
)

// page is page 3: the list of packets and the details of one.
type page struct {
	list        *list
	details     *details
	listSlot    *room.Slot // of list
	detailsSlot *room.Slot // of details
	sizesSlot   *room.Slot // of sizes
	summary     *room.Slot
	bits        *bitView
	maximised   maximised
}

// maximised is which of the panes fills the page.
type maximised uint8

const (
	bothPanes maximised = iota
	listOnly
	detailsOnly
	numMaximised
)

func New() *page {
	p := &page{list: &list{find: packetfilter.Trouble()}, details: &details{}, summary: room.NewSlot(&panes.SummaryLine{}), bits: newBitView()}
	p.listSlot, p.detailsSlot, p.sizesSlot = room.NewSlot(p.list), room.NewSlot(p.details), room.NewSlot(sizes{p.list})
	return p
}

func (p *page) Name() string { return "Packets" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	p.details.selected, p.details.hasSelection = p.list.selected, p.list.hasSelection
	changed = p.bits.observe(v) || changed
	changed = room.ObserveAll(v, p.listSlot, p.detailsSlot) || changed
	if !p.listSlot.UpToDate {
		p.sizesSlot.Redraw()
	}
	return changed
}

// Lines implements room.Page: list and details side by side or, on a small screen, one above the
// other.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const summaryRows = 1
	lines := append(make([]string, 0, h), p.summary.Render(th, w, summaryRows, look.Unfocused)...)
	if p.bits.on {
		return append(lines, p.bits.lines(th, w, h-summaryRows, p.detailsSlot)...)
	}
	if p.maximised != bothPanes {
		slot := map[maximised]*room.Slot{listOnly: p.listSlot, detailsOnly: p.detailsSlot}[p.maximised]
		return append(lines, slot.Render(th, w, h-summaryRows, look.Focused)...)
	}
	const minDetailsWidth = 52 // for the sentence about a packet; a narrower pane is below the list instead
	if left := min(max(w*52/100, listWidth), listWidth+12); room.Wide(w, h) && w-left >= minDetailsWidth {
		rows, lower := h-summaryRows, sizesRows(h-summaryRows)
		places := []room.Place{p.listSlot.Place(0, 0, left, rows), p.detailsSlot.Place(left, 0, w-left, rows-lower)}
		if lower > 0 {
			places = append(places, p.sizesSlot.Place(left, rows-lower, w-left, lower))
		}
		return append(lines, room.RenderPlaces(th, places, rows, p.list, nil)...) // nil: no pane is highlighted in addition to the focused one
	}
	upper := max((h-summaryRows)*4/10, 5)
	lines = append(lines, p.listSlot.Render(th, w, upper, look.Focused)...)
	return append(lines, p.detailsSlot.Render(th, w, h-summaryRows-upper, look.Unfocused)...)
}

// Move selects another packet: up and down by rows, left and right by matches of /search, which are failures at first.
// In the view of bits it moves the cursor.
func (p *page) Move(dx, dy int) room.Request {
	if p.bits.on {
		p.bits.move(dx, dy)
		return room.Request{}
	}
	if dx != 0 {
		return p.moveToMatch(dx)
	} else {
		p.list.moveCursor(dy)
	}
	return p.openSelected()
}

// moveToMatch selects the next match of /search (direction > 0) or the previous one.
func (p *page) moveToMatch(direction int) room.Request {
	if !p.list.moveToMatch(direction) {
		if p.findsFailures() {
			return room.Refusal("no " + map[bool]string{true: "later", false: "earlier"}[direction > 0] + " failure is listed; /search changes what n and N go to")
		}
		where := map[bool]string{true: "after", false: "before"}[direction > 0]
		return room.Refusal("no listed packet " + where + " this one matches " + p.list.find.String() + "; /search changes what n and N go to")
	}
	return p.openSelected()
}

// findsFailures reports whether n and N go to failures, because no other search is set.
func (p *page) findsFailures() bool { return p.list.find.String() == packetfilter.Trouble().String() }

// openSelected requests the details of the selected packet from the lab.
func (p *page) openSelected() room.Request {
	p.redraw()
	if !p.list.hasSelection {
		return room.Request{}
	}
	id := p.list.selected
	c := &live.Command{Open: &id}
	p.traceSelected(c)
	return room.Request{Command: c}
}

// Enter selects the baseline of the selected packet.
func (p *page) Enter() room.Request {
	r := p.list.findPacket(p.list.selected)
	switch {
	case !p.list.hasSelection:
		return room.Refusal("no packet is selected; ↑ and ↓ select one")
	case r == nil:
		return room.Refusal("the selected packet is no longer stored")
	case r.Baseline == 0:
		return room.Refusal("the baseline of this packet is the initial state, which is not a packet")
	}
	p.list.selectPacket(packetlog.ID{Seq: r.Seq - uint64(r.Baseline)})
	return p.openSelected()
}

// Release leaves the view of bits or, in the list, clears selection and filter, and ends the measurement of row costs
// that the filter needs.
func (p *page) Release() room.Request {
	p.redraw()
	if p.bits.on {
		p.bits.on = false
		return room.Request{}
	}
	request := p.setFilter(packetfilter.Filter{})
	p.list.release()
	return request
}

// setFilter changes the filter. It requests which rows packets carry from the lab if the filter needs them, and ends that
// request if only the filter before needed them.
func (p *page) setFilter(f packetfilter.Filter) room.Request {
	needed, needs := p.list.filter.NeedsRows(), f.NeedsRows()
	p.list.filter, p.list.dirty = f, true
	if needs || needed {
		return room.Request{Command: &live.Command{Carried: &needs}, Redraw: true}
	}
	return room.Request{Redraw: true}
}

// redraw marks all panes for redrawing.
func (p *page) redraw() {
	p.listSlot.Redraw()
	p.detailsSlot.Redraw()
	p.sizesSlot.Redraw()
	p.bits.redraw()
}

// Maximise implements room.Maximiser: the list alone, then the details alone, then both.
func (p *page) Maximise() { p.maximised = (p.maximised + 1) % numMaximised }

// Click selects the packet in row y of the page, if (x, y) is in the list. Row 0 is the summary line.
func (p *page) Click(x, y int) room.Request {
	if p.bits.on {
		p.bits.bits.click(x, y-1)
		p.redraw()
		return room.Request{}
	}
	if p.maximised == detailsOnly {
		return room.Request{}
	}
	if id, ok := p.list.packetAt(y - 1); ok && x < p.listSlot.W && y-1 < p.listSlot.H {
		p.list.selectPacket(id)
	}
	return p.openSelected()
}

// Wheel implements room.Wheeler: over the list, which is below the line of figures, it selects another packet.
func (p *page) Wheel(x, y, notches int) room.Request {
	const summaryRows = 1
	if y < summaryRows || y >= summaryRows+p.listSlot.H || x >= p.listSlot.W {
		return room.Request{}
	}
	return p.Move(0, -notches)
}

// ShowPacket implements room.PacketPage: it selects a packet and removes the filter.
func (p *page) ShowPacket(id packetlog.ID) room.Request {
	unfiltered := p.setFilter(packetfilter.Filter{})
	p.list.selectPacket(id)
	r := p.openSelected()
	if unfiltered.Command != nil {
		r.Command.Carried = unfiltered.Command.Carried
	}
	return r
}

func (p *page) ListPackets(o room.PacketOrder) (room.Request, error) {
	p.list.dirty = true
	switch {
	case o.Filter != nil:
		return p.setFilter(*o.Filter), nil
	case o.Find != nil:
		p.list.find = *o.Find
		p.list.hasSelection = false // the first match from the end of the list that is visible
		if p.list.sort.Field != "" {
			return p.moveToMatch(1), nil
		}
		return p.moveToMatch(-1), nil
	case o.Sort != nil:
		p.list.sort = *o.Sort
	case o.Number != nil:
		return p.ShowPacket(packetlog.ID{Seq: *o.Number}), nil
	case o.Export != "":
		return p.export(o.Export)
	}
	return room.Request{Redraw: true}, nil
}

// Arrows implements room.Hinter. In the list the arrows to the left and right go to failures or, with a search, matches.
func (p *page) Arrows() [][2]string {
	if p.bits.on {
		return [][2]string{{"←→", "field"}, {"↑↓", "row"}, {"[ ]", "byte"}}
	}
	target := "failure"
	if !p.findsFailures() {
		target = "match"
	}
	return [][2]string{{"↑↓", "packet"}, {"←→", target}, {"enter", "its baseline"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "previous or next packet", "left": "previous or next failure, as N n",
		"enter": "the baseline of this packet", "esc": "clear selection, filter and order: follow the newest"}[key]
}

func (p *page) Bindings() []room.Binding {
	const group = "Packets, page 3"
	movePage := func(direction int) func() room.Request {
		return func() room.Request {
			if p.bits.on {
				p.bits.scroll(direction)
				return room.Request{}
			}
			p.list.moveCursor(direction * max(p.listSlot.H-4, 1))
			return p.openSelected()
		}
	}
	match := func(direction int) func() room.Request {
		return func() room.Request { return p.moveToMatch(direction) }
	}
	sort := func(change func()) func() room.Request {
		return func() room.Request {
			change()
			return room.Request{Redraw: true}
		}
	}
	toEnd := func(direction int) func() room.Request {
		return func() room.Request { return p.Move(0, direction*room.ListEnd) }
	}
	next := func() room.Request { return p.setFilter(p.list.nextFilter()) }
	return append(p.bitBindings(), []room.Binding{
		room.Bind(group, []string{"f", "tab", "shift+tab"}, "f", "next filter: all, failed, lost, late, ...; or type /filter lost",
			next).InFooter("filter").Pin(),
		room.Bind(group, []string{"n"}, "n N", "next, previous failure, or match of /search", match(1)),
		room.Bind(group, []string{"N"}, "", "", match(-1)),
		room.Bind(group, []string{"o"}, "o O", "sort by another column; reverse",
			sort(p.list.nextSort)).InFooter("sort"),
		room.Bind(group, []string{"O"}, "", "", sort(func() { p.list.sort.Ascending, p.list.dirty = !p.list.sort.Ascending, true })),
		room.Bind(group, []string{"w"}, "w", "export the list as CSV or pcapng",
			func() room.Request { return room.Request{Edit: "export packets.csv"} }).InFooter("export"),
		room.Bind(group, []string{"pgup", "ctrl+b"}, "pgup", "a page older, newer", movePage(-1)),
		room.Bind(group, []string{"pgdown", "ctrl+f"}, "", "", movePage(1)),
		room.Bind(group, []string{"home"}, "home end", "oldest packet, newest packet", toEnd(-1)),
		room.Bind(group, []string{"end"}, "", "", toEnd(1)),
	}...)
}
