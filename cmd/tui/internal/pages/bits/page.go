package bits

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// page is page 2: what the bits were spent on, over time and in figures, of
// the encoder under the keys and of a shadow beside it.
type page struct {
	account *account
	stacks  [2]*stack // of the encoder under the keys, and of the shadow
	table   *room.Slot
	charts  [2]*room.Slot
	summary *room.Slot
	w, h    int
}

// New returns the page. It shares with others which shadow stands beside.
func New(second *panes.Second) *page {
	p := &page{account: &account{second: second, chosen: -1}, summary: room.NewSlot(&panes.SummaryLine{})}
	p.table = room.NewSlot(&table{p.account})
	for i := range p.stacks {
		p.stacks[i] = &stack{account: p.account, which: i}
		p.charts[i] = room.NewSlot(p.stacks[i])
	}
	return p
}

func (p *page) Name() string { return "Bits" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	if p.account.observe(v) {
		p.renew()
	}
	return changed || !p.table.Fresh
}

// renew has everything drawn anew.
func (p *page) renew() {
	p.table.Redraw()
	p.charts[0].Redraw()
	p.charts[1].Redraw()
}

// retally has it drawn anew of another time, or with another shadow.
func (p *page) retally() {
	p.account.tally()
	p.renew()
}

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.w, p.h = w, h
	if room.Wide(w, h) {
		return room.Join(th, p.arrange(w, h), h, nil, nil)
	}
	const above = 1
	rows := len(p.account.parts) + 5 // of the table, with its edges, head, sum and verdict
	rows = min(max(rows, 8), (h-above)*6/10)
	at := p.charts[0]
	if p.account.alone && p.account.other() != nil {
		at = p.charts[1]
	}
	lines := append(make([]string, 0, h), p.summary.Render(th, w, above, false)...)
	lines = append(lines, at.Render(th, w, h-above-rows, false)...)
	return append(lines, p.table.Render(th, w, rows, false)...)
}

// arrange places the panes on a large screen: the charts one below the other, the
// figures beside them.
func (p *page) arrange(w, h int) []room.Place {
	right := accountWidth
	if p.account.other() == nil {
		right = accountAlone
	}
	left := w - right
	if p.account.other() == nil {
		return []room.Place{p.charts[0].At(0, 0, left, h), p.table.At(left, 0, right, h)}
	}
	upper := (h + 1) / 2
	return []room.Place{p.charts[0].At(0, 0, left, upper), p.charts[1].At(0, upper, left, h-upper), p.table.At(left, 0, right, h)}
}

// Focus goes to the next shadow; where there is one chart, also to the encoder
// under the keys itself.
func (p *page) Focus(step int) {
	a := p.account
	n := len(a.lanes)
	switch {
	case n < 2:
		return
	case !room.Wide(p.w, p.h):
		at := 0
		if a.alone {
			at = a.second.Index(a.lanes)
		}
		at = (at + n + step) % n
		a.alone = at > 0
		a.second.Select(a.lanes, at)
	default:
		a.second.Next(a.lanes, step)
	}
	p.retally()
}

func (p *page) Move(dx, dy int) room.Request {
	if dy != 0 {
		p.account.choose(dy)
	}
	if dx != 0 {
		p.account.turn(dx)
	}
	p.renew()
	return room.Request{}
}

// Enter shows the chosen part by itself, and all of them again.
func (p *page) Enter() room.Request {
	if p.account.chosen >= 0 {
		p.account.solo = !p.account.solo
		p.renew()
	}
	return room.Request{}
}

func (p *page) Release() {
	p.account.chosen, p.account.solo = -1, false
	p.renew()
}

func (p *page) Zoom() {
	p.account.zoom = (p.account.zoom + 1) % len(panes.ChartSpans())
	p.retally()
}

func (p *page) Bindings() []room.Binding {
	next := func() room.Request {
		if len(p.account.lanes) < 3 {
			return room.Request{Say: "w puts another shadow beside; there are no two of them: v adds one"}
		}
		p.account.second.Next(p.account.lanes, 1)
		p.retally()
		return room.Request{}
	}
	return []room.Binding{room.Bind("Bits, page 2", []string{"w"}, "w", "which shadow stands beside", next)}
}

func (p *page) Arrows() [][2]string {
	if p.account.chosen < 0 {
		return [][2]string{{"↑↓", "field"}, {"←→", "kbps, share, per changed"}}
	}
	return [][2]string{{"↑↓", "field"}, {"enter", "alone"}, {"←→", "kbps, share, per changed"}}
}

func (p *page) Means(key string) string {
	return map[string]string{"up": "choose a field", "left": "kbps, share of the bits, or bits per changed item",
		"enter": "the chosen field alone, and all again", "tab": "the next encoder beside", "z": "how much time; dots or lines; the axis stays at zero",
		"esc": "all fields again"}[key]
}
