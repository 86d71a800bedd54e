package ui

import (
	"wirelab/experiment"
	"wirelab/experiment/engine"
)

// packetsPage is page 3: the packets of the last seconds as rows, and one of them
// opened.
type packetsPage struct {
	list   *listPane
	inside *insidePane
	rows   *slot // of list
	detail *slot // of inside
	vitals *slot
}

func newPacketsPage() *packetsPage {
	p := &packetsPage{list: &listPane{}, inside: &insidePane{}, vitals: &slot{pane: &vitalsPane{}}}
	p.rows, p.detail = &slot{pane: p.list}, &slot{pane: p.inside}
	return p
}

func (p *packetsPage) name() string { return "Packets" }
func (p *packetsPage) number() int  { return 3 }

func (p *packetsPage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	p.inside.chosen, p.inside.choosing = p.list.chosen, p.list.choosing
	for _, s := range []*slot{p.rows, p.detail} {
		if s.observe(v) {
			changed = true
		}
	}
	return changed
}

func (p *packetsPage) view(th *theme, w, h int) []string {
	const above = 1
	lines := append(make([]string, 0, h), p.vitals.render(th, w, above, false)...)
	if wide(w, h) {
		left := min(max(w*52/100, listWidth), listWidth+12)
		return append(lines, join(th, []place{{p.rows, 0, 0, left, h - above}, {p.detail, left, 0, w - left, h - above}}, h-above, p.list, nil)...)
	}
	upper := max((h-above)*4/10, 5)
	lines = append(lines, p.rows.render(th, w, upper, true)...)
	return append(lines, p.detail.render(th, w, h-above-upper, false)...)
}

func (p *packetsPage) aim()  {}
func (p *packetsPage) zoom() {}

// focus lists other packets.
func (p *packetsPage) focus(int) { p.list.nextFilter() }

// move goes to another packet: with up and down to the next, to the left and right
// to the next that was of no use.
func (p *packetsPage) move(dx, dy int) wish {
	if dx != 0 {
		p.list.seekTrouble(dx)
	} else {
		p.list.step(dy)
	}
	return p.look()
}

// look asks the lab for the inside of the chosen packet.
func (p *packetsPage) look() wish {
	p.detail.fresh, p.rows.fresh = false, false
	if !p.list.choosing {
		return wish{}
	}
	id := p.list.chosen
	return wish{command: &experiment.Command{Open: &id}}
}

// enter goes to the packet that the chosen one builds on.
func (p *packetsPage) enter() wish {
	r := p.list.record(p.list.chosen)
	if !p.list.choosing || r == nil || r.Baseline == 0 {
		return wish{}
	}
	p.list.show(engine.PacketID{Seq: r.Seq - uint64(r.Baseline)})
	return p.look()
}

func (p *packetsPage) release() {
	p.list.release()
	p.detail.fresh, p.rows.fresh = false, false
}

func (p *packetsPage) click(x, y int) {
	if id, ok := p.list.at(y - 1); ok && x < p.rows.w && y-1 < p.rows.h {
		p.list.show(id)
	}
}

func (p *packetsPage) arrows() [][2]string {
	return [][2]string{{"↑↓", "packet"}, {"←→", "failure"}, {"enter", "its baseline"}}
}

func (p *packetsPage) bindings() []binding {
	const group = "Packets, page 3"
	leaf := func(keys []string, shown, help string, way int) binding {
		return bind(group, keys, shown, help, act(func(m *Model) {
			p.list.step(way * max(p.rows.h-4, 1))
			m.perform(p.look())
		}))
	}
	return []binding{
		bind(group, []string{"f"}, "f", "which packets to list: all, those of no use, lost, late, ...; /filter lost", act(func(m *Model) {
			p.list.nextFilter()
			m.page().observe(m.sight(true))
		})).inFooter("filter").pin(),
		leaf([]string{"pgup"}, "pgup", "a screenful of older packets", -1),
		leaf([]string{"pgdown"}, "pgdn", "a screenful of newer ones", 1),
	}
}

// filterPackets lists some of the packets only, on their page.
func (m *Model) filterPackets(f filter) {
	for i, p := range m.pages {
		if q, ok := p.(*packetsPage); ok {
			q.list.filter, q.list.renewed = f, true
			m.turn(i)
		}
	}
}

// openPacket shows a packet on its page.
func (m *Model) openPacket(id engine.PacketID) {
	for i, p := range m.pages {
		if q, ok := p.(*packetsPage); ok {
			q.list.filter = 0
			q.list.show(id)
			m.turn(i)
			m.perform(q.look())
		}
	}
}
