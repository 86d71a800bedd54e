package packets

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment"
	"wirelab/experiment/engine/packetlog"
)

// page is page 3: the list of packets and the details of one.
type page struct {
	list        *list
	details     *details
	listSlot    *room.Slot // of list
	detailsSlot *room.Slot // of details
	summary     *room.Slot
}

// New returns the page.
func New() *page {
	p := &page{list: &list{}, details: &details{}, summary: room.NewSlot(&panes.SummaryLine{})}
	p.listSlot, p.detailsSlot = room.NewSlot(p.list), room.NewSlot(p.details)
	return p
}

func (p *page) Name() string { return "Packets" }

// Observe implements room.Observer.
func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	p.details.selected, p.details.hasSelection = p.list.selected, p.list.hasSelection
	return room.ObserveAll(v, p.listSlot, p.detailsSlot) || changed
}

// Lines implements room.Page: list and details side by side or, on a small screen, one above the
// other.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const summaryRows = 1
	lines := append(make([]string, 0, h), p.summary.Render(th, w, summaryRows, look.Unfocused)...)
	if room.Wide(w, h) {
		left := min(max(w*52/100, listWidth), listWidth+12)
		return append(lines, room.RenderPlaces(th, []room.Place{p.listSlot.Place(0, 0, left, h-summaryRows), p.detailsSlot.Place(left, 0, w-left, h-summaryRows)},
			h-summaryRows, p.list, nil)...) // nil: no pane is highlighted in addition to the focused one
	}
	upper := max((h-summaryRows)*4/10, 5)
	lines = append(lines, p.listSlot.Render(th, w, upper, look.Focused)...)
	return append(lines, p.detailsSlot.Render(th, w, h-summaryRows-upper, look.Unfocused)...)
}

// Focus selects the next filter.
func (p *page) Focus(int) { p.list.nextFilter() }

// Move selects another packet: up and down by rows, left and right by failures.
func (p *page) Move(dx, dy int) room.Request {
	if dx != 0 {
		if !p.list.moveToFailure(dx) {
			return room.Refusal(map[bool]string{false: "no earlier failure is stored", true: "no later failure is stored"}[dx > 0])
		}
	} else {
		p.list.moveCursor(dy)
	}
	return p.openSelected()
}

// openSelected requests the details of the selected packet from the lab.
func (p *page) openSelected() room.Request {
	p.redraw()
	if !p.list.hasSelection {
		return room.Request{}
	}
	id := p.list.selected
	return room.Request{Command: &experiment.Command{Open: &id}}
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

// Release clears selection and filter.
func (p *page) Release() {
	p.list.release()
	p.redraw()
}

// redraw marks both panes for redrawing.
func (p *page) redraw() {
	p.listSlot.Redraw()
	p.detailsSlot.Redraw()
}

// Click selects the packet in row y of the page, if (x, y) is in the list. Row 0 is the summary line.
func (p *page) Click(x, y int) room.Request {
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
	p.list.filter = room.FilterAll
	p.list.selectPacket(id)
	return p.openSelected()
}

func (p *page) FilterPackets(f room.Filter) { p.list.filter, p.list.dirty = f, true }

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "packet"}, {"←→", "failure"}, {"enter", "its baseline"}}
}

// KeyHelp implements room.Explainer.
func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "previous or next packet", "left": "previous or next failure",
		"enter": "the baseline of this packet", "tab": "next filter, as f", "esc": "clear selection and filter: follow the newest"}[key]
}

// Bindings implements room.Binder.
func (p *page) Bindings() []room.Binding {
	const group = "Packets, page 3"
	movePage := func(direction int) func() room.Request {
		return func() room.Request {
			p.list.moveCursor(direction * max(p.listSlot.H-4, 1))
			return p.openSelected()
		}
	}
	failure := func(direction int) func() room.Request { return func() room.Request { return p.Move(direction, 0) } }
	toEnd := func(direction int) func() room.Request {
		return func() room.Request { return p.Move(0, direction*room.ListEnd) }
	}
	next := func() room.Request {
		p.list.nextFilter()
		return room.Request{Redraw: true} // redraw at once
	}
	return []room.Binding{
		room.Bind(group, []string{"f"}, "f", "next filter: all, failed, lost, late, ...; or type /filter lost",
			next).InFooter("filter").Pin(),
		room.Bind(group, []string{"n"}, "n N", "next failure, previous failure", failure(1)),
		room.Bind(group, []string{"N"}, "", "", failure(-1)),
		room.Bind(group, []string{"pgup", "ctrl+b"}, "pgup", "a page of older packets", movePage(-1)),
		room.Bind(group, []string{"pgdown", "ctrl+f"}, "pgdn", "a page of newer packets", movePage(1)),
		room.Bind(group, []string{"home"}, "home end", "oldest packet, newest packet", toEnd(-1)),
		room.Bind(group, []string{"end"}, "", "", toEnd(1)),
	}
}
