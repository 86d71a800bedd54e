package crowd

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// New returns the page: on a large screen the list of clients above their figures, below them the charts on the left, and
// the baselines on the right. selectClient selects the client that is step places further in the list.
func New() (p *room.Page, selectClient func(step int) room.Request) {
	span, clients := &panes.TimeAxis{}, newClients()
	p = &room.Page{Name: "Crowd", Top: room.NewSlot(&summary{})}
	client := newClient(clients.order)
	list := p.Add(clients)[0] // first: it updates what the others show
	bars := p.Add(&strip{order: clients.order})[0]
	overTime := p.Add(&charts{TimeAxis: span})[0]
	ages := p.Add(&baselines{span: span})[0]
	packets := p.Add(client)[0]
	p.LayOut = func(w, h int) []room.Place {
		const minListH, minChartsH = 8, 13
		barsH := min(len(clients.fields)+stripRows, h-minListH-minChartsH) // one row a figure; on high screens two
		if more := len(clients.fields); h-barsH-more >= 2*(minListH+minChartsH) {
			barsH += more
		}
		listH := max((h-barsH)*2/5, minListH)
		top := listH + barsH
		rightW, restH := room.RightColumn(w), h-top
		places := []room.Place{list.Place(0, 0, w, listH), bars.Place(0, listH, w, barsH), overTime.Place(0, top, w-rightW, restH)}
		clientH := 0
		if !client.Absent() {
			clientH = restH / 2
			places = append(places, packets.Place(w-rightW, h-clientH, rightW, clientH))
		}
		return append(places, ages.Place(w-rightW, top, rightW, restH-clientH))
	}
	return p, clients.move
}

// summary is a line with the main figures.
type summary struct{ view *engine.CrowdView }

func (p *summary) Name() string { return "Summary" }

func (p *summary) Observe(v room.View) bool {
	if v.RedrawDue {
		p.view = v.Snap.Crowd
	}
	return v.RedrawDue
}

// Draw implements room.Pane. All figures but the wrong packets are those of the last two seconds.
func (p *summary) Draw(c *look.Canvas, _ *look.Theme, _ bool) {
	x := p.view
	if x == nil {
		return
	}
	now := recent(x.Samples)
	text := func(style look.Style, value, unit string) []look.Span {
		return []look.Span{style.Span(value), look.Dim.Span(" " + unit + "  ")}
	}
	groups := [][]look.Span{
		{look.Dim.Span("last 2 s  ")},
		text(look.Value, fmt.Sprint(x.Recent.Clients), "clients"),
		text(look.Value, now.perTick(float64(now.sum.Encodings)).Text(1), "encodings/tick"),
		text(look.Value, now.perTick(float64(now.sum.CPU.OfServer())/1000).Text(0), "server µs/tick"),
		text(look.Wire, now.megabits().Text(2), "Mbit/s"),
	}
	if x.Totals.Wrong == 0 {
		groups = append(groups, text(look.Value, "0", "wrong in the whole run"))
	} else {
		groups = slices.Insert(groups, 0, text(look.Alarm, fmt.Sprint(x.Totals.Wrong), "wrong in the whole run"))
	}
	c.Spans(1, 0, c.W-2, look.FitGroups(c.W-2, groups)...)
}
