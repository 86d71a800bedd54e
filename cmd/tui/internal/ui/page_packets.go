package ui

import "wirelab/experiment"

// packetsPage is page 3: the packets of the last seconds as rows, and one of them
// opened.
type packetsPage struct {
	base
	list   *listPane
	inside *insidePane
	rows   *slot // of list
	detail *slot // of inside
	vitals *slot
}

func newPacketsPage() *packetsPage {
	p := &packetsPage{list: &listPane{}, inside: &insidePane{}, vitals: newSlot(&vitalsPane{})}
	p.rows, p.detail = newSlot(p.list), newSlot(p.inside)
	return p
}

func (p *packetsPage) name() string { return "Packets" }

func (p *packetsPage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	p.inside.chosen, p.inside.choosing = p.list.chosen, p.list.choosing
	return observeAll(v, p.rows, p.detail) || changed
}

func (p *packetsPage) view(th *theme, w, h int) []string {
	const above = 1
	lines := append(make([]string, 0, h), p.vitals.render(th, w, above, false)...)
	if wide(w, h) {
		left := min(max(w*52/100, listWidth), listWidth+12)
		return append(lines, join(th, []place{p.rows.at(0, 0, left, h-above), p.detail.at(left, 0, w-left, h-above)}, h-above, p.list, nil)...)
	}
	upper := max((h-above)*4/10, 5)
	lines = append(lines, p.rows.render(th, w, upper, true)...)
	return append(lines, p.detail.render(th, w, h-above-upper, false)...)
}

// focus lists other packets.
func (p *packetsPage) focus(int) { p.list.nextFilter() }

// move goes to another packet: with up and down to the next, to the left and right
// to the next that was of no use.
func (p *packetsPage) move(dx, dy int) request {
	if dx != 0 {
		p.list.seekTrouble(dx)
	} else {
		p.list.step(dy)
	}
	return p.look()
}

// look asks the lab for the inside of the chosen packet.
func (p *packetsPage) look() request {
	p.redraw()
	if !p.list.choosing {
		return request{}
	}
	id := p.list.chosen
	return request{command: &experiment.Command{Open: &id}}
}

// enter goes to the packet that the chosen one builds on.
func (p *packetsPage) enter() request {
	r := p.list.record(p.list.chosen)
	if !p.list.choosing || r == nil || r.Baseline == 0 {
		return request{}
	}
	p.list.show(experiment.PacketID{Seq: r.Seq - uint64(r.Baseline)})
	return p.look()
}

func (p *packetsPage) release() {
	p.list.release()
	p.redraw()
}

func (p *packetsPage) redraw() {
	p.rows.redraw()
	p.detail.redraw()
}

func (p *packetsPage) click(x, y int) request {
	if id, ok := p.list.at(y - 1); ok && x < p.rows.w && y-1 < p.rows.h {
		p.list.show(id)
	}
	return p.look()
}

// showPacket implements packetPage.
func (p *packetsPage) showPacket(id experiment.PacketID) request {
	p.list.filter = filterAll
	p.list.show(id)
	return p.look()
}

// filterPackets implements packetPage.
func (p *packetsPage) filterPackets(f filter) { p.list.filter, p.list.renewed = f, true }

func (p *packetsPage) arrows() [][2]string {
	return [][2]string{{"↑↓", "packet"}, {"←→", "failure"}, {"enter", "its baseline"}}
}

func (p *packetsPage) bindings() []binding {
	const group = "Packets, page 3"
	leaf := func(way int) func() request {
		return func() request {
			p.list.step(way * max(p.rows.h-4, 1))
			return p.look()
		}
	}
	next := func() request {
		p.list.nextFilter()
		return request{renew: true}
	}
	return []binding{
		bind(group, []string{"f"}, "f", "which packets to list: all, those of no use, lost, late, ...; /filter lost", next).inFooter("filter").pin(),
		bind(group, []string{"pgup"}, "pgup", "a screenful of older packets", leaf(-1)),
		bind(group, []string{"pgdown"}, "pgdn", "a screenful of newer ones", leaf(1)),
	}
}
