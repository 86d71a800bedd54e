package packets

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment"
	"wirelab/experiment/engine/packetlog"
)

// page is page 3: the packets of the last seconds as rows, and one of them
// opened.
type page struct {
	list    *list
	inside  *details
	rows    *room.Slot // of list
	detail  *room.Slot // of inside
	summary *room.Slot
}

// New returns the page.
func New() *page {
	p := &page{list: &list{}, inside: &details{}, summary: room.NewSlot(&panes.SummaryLine{})}
	p.rows, p.detail = room.NewSlot(p.list), room.NewSlot(p.inside)
	return p
}

func (p *page) Name() string { return "Packets" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	p.inside.chosen, p.inside.choosing = p.list.chosen, p.list.choosing
	return room.ObserveAll(v, p.rows, p.detail) || changed
}

func (p *page) Lines(th *look.Theme, w, h int) []string {
	const above = 1
	lines := append(make([]string, 0, h), p.summary.Render(th, w, above, false)...)
	if room.Wide(w, h) {
		left := min(max(w*52/100, listWidth), listWidth+12)
		return append(lines, room.Join(th, []room.Place{p.rows.At(0, 0, left, h-above), p.detail.At(left, 0, w-left, h-above)},
			h-above, p.list, nil)...)
	}
	upper := max((h-above)*4/10, 5)
	lines = append(lines, p.rows.Render(th, w, upper, true)...)
	return append(lines, p.detail.Render(th, w, h-above-upper, false)...)
}

// Focus lists other packets.
func (p *page) Focus(int) { p.list.nextFilter() }

// Move goes to another packet: with up and down to the next, to the left and right
// to the next that was of no use.
func (p *page) Move(dx, dy int) room.Request {
	if dx != 0 {
		p.list.seekTrouble(dx)
	} else {
		p.list.step(dy)
	}
	return p.look()
}

// look asks the lab for the inside of the chosen packet.
func (p *page) look() room.Request {
	p.redraw()
	if !p.list.choosing {
		return room.Request{}
	}
	id := p.list.chosen
	return room.Request{Command: &experiment.Command{Open: &id}}
}

// Enter goes to the packet that the chosen one builds on.
func (p *page) Enter() room.Request {
	r := p.list.record(p.list.chosen)
	if !p.list.choosing || r == nil || r.Baseline == 0 {
		return room.Request{}
	}
	p.list.show(packetlog.ID{Seq: r.Seq - uint64(r.Baseline)})
	return p.look()
}

func (p *page) Release() {
	p.list.release()
	p.redraw()
}

func (p *page) redraw() {
	p.rows.Redraw()
	p.detail.Redraw()
}

func (p *page) Click(x, y int) room.Request {
	if id, ok := p.list.at(y - 1); ok && x < p.rows.W && y-1 < p.rows.H {
		p.list.show(id)
	}
	return p.look()
}

func (p *page) ShowPacket(id packetlog.ID) room.Request {
	p.list.filter = room.FilterAll
	p.list.show(id)
	return p.look()
}

func (p *page) FilterPackets(f room.Filter) { p.list.filter, p.list.renewed = f, true }

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "packet"}, {"←→", "failure"}, {"enter", "its baseline"}}
}

func (p *page) Means(key string) string {
	return map[string]string{"up": "the packet before, the one after", "left": "the failure before, the one after",
		"enter": "the packet that this one builds on", "tab": "other packets, as f", "esc": "let go: follow the newest of all"}[key]
}

func (p *page) Bindings() []room.Binding {
	const group = "Packets, page 3"
	leaf := func(way int) func() room.Request {
		return func() room.Request {
			p.list.step(way * max(p.rows.H-4, 1))
			return p.look()
		}
	}
	failure := func(way int) func() room.Request { return func() room.Request { return p.Move(way, 0) } }
	end := func(way int) func() room.Request { return func() room.Request { return p.Move(0, way*room.Far) } }
	next := func() room.Request {
		p.list.nextFilter()
		return room.Request{Renew: true}
	}
	return []room.Binding{
		room.Bind(group, []string{"f"}, "f", "which packets to list: all, those of no use, lost, late, ...; /filter lost",
			next).InFooter("filter").Pin(),
		room.Bind(group, []string{"n"}, "n N", "the next failure, the one before", failure(1)),
		room.Bind(group, []string{"N"}, "", "", failure(-1)),
		room.Bind(group, []string{"pgup", "ctrl+b"}, "pgup", "a screenful of older packets", leaf(-1)),
		room.Bind(group, []string{"pgdown", "ctrl+f"}, "pgdn", "a screenful of newer ones", leaf(1)),
		room.Bind(group, []string{"home"}, "home end", "the oldest packet listed, the newest", end(-1)),
		room.Bind(group, []string{"end"}, "", "", end(1)),
	}
}
