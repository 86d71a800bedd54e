package transport

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// page is page 7. A large screen shows the charts on the left, and the policies and the comparison of playout policies
// on the right; a small one shows a pane at a time below the summary line.
type page struct {
	room.Panes
	charts   *panes.Transport
	policies *policies
	playouts *playouts
	summary  *room.Slot
}

// The panes, as indices of Slots.
const (
	paneCharts = iota
	panePolicies
	panePlayouts
)

func New() *page {
	p := &page{charts: panes.NewTransport(), policies: &policies{}, playouts: &playouts{}, summary: room.NewSlot(&panes.SummaryLine{})}
	for _, q := range []room.Pane{p.charts, p.policies, p.playouts} {
		p.Slots = append(p.Slots, room.NewSlot(q))
	}
	return p
}

func (p *page) Name() string { return "Transport" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	return room.ObserveAll(v, p.Slots...) || changed
}

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.Resize(w, h)
	if p.Wide() {
		p.Places = p.layOut(w, h)
		return room.RenderPlaces(th, p.Places, h, nil, nil) // no pane has keys of its own
	}
	return p.FocusedOnly(th, p.summary, w, h)
}

// layOut places the panes on a large screen. Without a comparison of playout policies, its pane is one row.
func (p *page) layOut(w, h int) []room.Place {
	rightW := room.RightColumn(w)
	leftW := w - rightW
	playoutsH := 1
	if n := p.playouts.rows(); n > 0 {
		const chartRows = 14
		playoutsH = min(n+chartRows, h*2/3)
	}
	return []room.Place{
		p.Slots[paneCharts].Place(0, 0, leftW, h),
		p.Slots[panePolicies].Place(leftW, 0, rightW, h-playoutsH),
		p.Slots[panePlayouts].Place(leftW, h-playoutsH, rightW, playoutsH),
	}
}

func (p *page) Zoom() { p.charts.NextSpan() }

func (p *page) Span() time.Duration { return p.charts.Span() }

func (p *page) Wheel(x, y, notches int) room.Request {
	if room.PlaceAt(p.Places, x, y).Slot == p.Slots[paneCharts] {
		p.charts.ZoomBy(notches)
	}
	return room.Request{}
}

// Click focuses the pane whose tab is at (x, y) on a small screen.
func (p *page) Click(x, y int) room.Request {
	const tabRow = 1 // below the summary line
	p.FocusAt(x, y, tabRow)
	return room.Request{}
}

func (p *page) Reasons() (room.Request, bool) {
	lines := p.policies.reasons()
	return room.Request{Overlay: &panes.TextBox{Title: "Transport", Lines: lines}}, len(lines) > 0
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"tab": "next pane, on a small screen",
		"x": "explain the loop, and what the policies decided"}[key]
}
