package crowd

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/crowd"
	"wirelab/experiment/figures"
	"wirelab/experiment/live"
)

// clients is the strip of all clients: a row for each figure, and in each row a bar for each client or, if there are more
// clients than columns, for the worst of several. The clients are ordered by one of the figures.
type clients struct {
	*clientTable
	order    int   // index in clientTable.fields by which the clients are ordered
	sorted   []int // indices of the clients that were in the game in the time of the figures, in order
	selected int   // index of the selected client; -1 if none
	chosen   bool  // the user has selected it; otherwise the lab does
	width    int   // columns of the strip on the screen, as last drawn

	cfg     *config.Config
	packets *client // the packets of the selected client

	focusPackets, focusClients func() // focus that pane, and this one
}

// hasBudget reports whether the clients have figures of a budget.
func (p *clients) hasBudget() bool { return p.fields[len(p.fields)-1].IsOfBudget() }

// fixedRows returns the number of rows of the pane that do not belong to a figure: the edges, the headings, the mark of
// the selected client, the worst client, and the selected one, which takes two rows if it has figures of a budget.
func (p *clients) fixedRows() int {
	if p.hasBudget() {
		return 7
	}
	return 6
}

func (p *clients) Name() string { return "Clients" }

// Move selects a client: dx in columns of the strip, dy in clients.
func (p *clients) Move(dx, dy int) room.Request {
	return p.choose(p.move(dx*p.perColumn() + dy))
}

// choose returns the request for the packets of the client with the given number, from 1; none if it is 0.
func (p *clients) choose(number int) room.Request {
	if number == 0 {
		return room.Request{}
	}
	p.chosen = true
	p.packets.scroll = 0
	return room.Request{Command: &live.Command{Client: number}}
}

func (p *clients) Click(x, _ int) room.Request {
	if p.view == nil {
		return room.Request{}
	}
	return p.choose(p.selectColumn(x))
}

// Enter focuses the packets of the selected client.
func (p *clients) Enter() room.Request {
	p.focusPackets()
	return room.Request{}
}

func (p *clients) Release() room.Request {
	p.focusClients()
	return room.Request{}
}

// NextSort orders the clients by the next figure.
func (p *clients) NextSort() room.Request {
	p.order = (p.order + 1) % max(len(p.fields), 1)
	p.sort()
	r := room.Request{Notice: "clients by " + p.fields[p.order].Label(), Redraw: true}
	if worst := p.columns[p.order].worst; !p.chosen && worst >= 0 {
		r.Command = &live.Command{Client: worst + 1}
	}
	return r
}

func (p *clients) Arrows() [][2]string { return [][2]string{{"←→", "client"}} }

func (p *clients) KeyHelp(key string) string {
	return map[string]string{"tab": "next pane", "up": "select the previous or next client; or scroll its packets",
		"left": "select a client further left or right", "enter": "show the packets of the selected client",
		"esc": "back to the clients", "S": "sort the clients by the next figure", "x": "explain what a tick costs and what limits the server"}[key]
}

// Selection implements room.Copier: the figures of the selected client.
func (p *clients) Selection() string { return look.SpansText(p.clientFigures(p.selected)) }

func (p *clients) Reasons() (room.Request, bool) {
	lines := explain(p.clientTable)
	return room.Request{Overlay: &room.TextBox{Title: "Crowd", Lines: lines}}, len(lines) > 0
}

func (p *clients) Observe(v room.View) bool {
	if p.sorted != nil && !v.RedrawDue {
		return false
	}
	if p.sorted == nil { // round trips are the most useful order, since all clients differ
		p.order = slices.IndexFunc(figures.ClientFieldsOf(nil), func(f figures.ClientField) bool { return f.Key == "round_trip_ms" })
		p.sorted = []int{}
	}
	p.cfg = v.Cfg
	p.update(v.Snap.Crowd)
	if !p.chosen {
		p.selected = p.view.Selected - 1
	}
	if p.order >= len(p.fields) { // a run without a budget has fewer figures
		p.order = 0
	}
	p.sort()
	return true
}

// sort orders the clients, those with equal figures by number.
func (p *clients) sort() {
	all := p.view.Clients
	// The order changes little, so the clients that stay remain in it.
	p.sorted = slices.DeleteFunc(p.sorted, func(i int) bool { return i >= len(all) || !all[i].WasInGame() })
	if len(p.sorted) != p.view.Recent.Clients {
		p.sorted = p.sorted[:0]
		for i := range all {
			if all[i].WasInGame() {
				p.sorted = append(p.sorted, i)
			}
		}
	}
	if p.selected >= len(all) {
		p.selected = -1
	}
	values := p.columns[p.order].values
	slices.SortFunc(p.sorted, func(a, b int) int { return cmp.Or(cmp.Compare(values[a], values[b]), a-b) })
}

// placesAt returns the range of places in the order whose clients column x of the strip shows: one client in several columns,
// or several clients in one column.
func (p *clients) placesAt(x int) (from, to int) {
	n, columns := len(p.sorted), max(p.width, 1)
	from = x * n / columns
	return from, max((x+1)*n/columns, from+1)
}

// perColumn returns the largest number of clients in a column of the strip.
func (p *clients) perColumn() int {
	columns := max(p.width, 1)
	return max((len(p.sorted)+columns-1)/columns, 1)
}

// move selects the client that is n places further right in the strip, and returns its number. Without a selection it
// begins at the left edge. It returns 0 if there are no clients.
func (p *clients) move(n int) (number int) {
	if len(p.sorted) == 0 {
		return 0
	}
	place := slices.Index(p.sorted, p.selected) // -1 if none is selected
	place = min(max(place+n, 0), len(p.sorted)-1)
	p.selected = p.sorted[place]
	return p.selected + 1
}

// selectColumn selects the first client in column x of the pane, and returns its number; 0 if none is there.
func (p *clients) selectColumn(x int) (number int) {
	column := x - stripX
	if column < 0 || column >= p.width || len(p.sorted) == 0 {
		return 0
	}
	from, _ := p.placesAt(column)
	p.selected = p.sorted[from]
	return p.selected + 1
}

// stripX is the first column of the strip; before it are the names of the figures.
const stripX = 22

func (p *clients) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p.width = c.W - stripX - 2
	hasQuantiles := c.W >= 100
	if hasQuantiles {
		p.width -= quantilesW
		quantileHeads(c, stripX+p.width)
	}
	title := fmt.Sprintf("Clients by %s, last %.0f s", p.fields[p.order].Label(), p.view.Span.Seconds())
	each := "a bar for each client"
	if n := p.perColumn(); n > 1 {
		each = fmt.Sprintf("a bar for the worst of %d", n)
	}
	count := strconv.Itoa(len(p.sorted)) + " clients"
	about, since := count+"; "+each+"; S: next order", ""
	if p.hasBudget() {
		since = "; freezes, error p95, row ages and waits since the start"
	}
	c.Frame(th, focused, title, look.Fit(look.TitleSpace(c.W, title), []look.Span{look.Dim.Span(about + since)}, []look.Span{look.Dim.Span(about)},
		[]look.Span{look.Dim.Span(count)}, nil)...)
	free := max(c.H-p.fixedRows(), 1)
	rows := max(free/len(p.fields), 1) // of each figure
	visible := min(free/rows, len(p.fields))
	first := max(p.order+1-visible, 0) // the figure of the order is visible
	y := 2
	for i := first; i < first+visible; i++ {
		style := look.Dim
		if i == p.order {
			style = look.Plain
		}
		c.Clip(2, y+rows-1, stripX-3, style, p.fields[i].Label())
		p.drawRow(c, th, y, rows, &p.columns[i])
		if hasQuantiles {
			p.drawQuantiles(c, stripX+p.width, y+rows-1, i)
		}
		y += rows
	}
	p.drawSelected(c, th, y)
}

// drawRow draws the bars of a figure at row y, rows high.
func (p *clients) drawRow(c *look.Canvas, th *look.Theme, y, rows int, column *tableColumn) {
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	for x := range p.width {
		worst := -1.0
		from, to := p.placesAt(x)
		for _, client := range p.sorted[from:min(to, len(p.sorted))] {
			worst = max(worst, column.values[client])
		}
		if worst <= 0 {
			continue
		}
		share := worst / column.hi
		eighths := max(int(math.Round(share*float64(8*rows))), 1)
		style := look.Heat + look.Style(min(int(share*look.NumHeats), look.NumHeats-1))
		for k := range rows { // from below
			if level := min(eighths-8*k, 8); level > 0 {
				c.Set(stripX+x, y+rows-1-k, style, blocks[level])
			}
		}
	}
}

// drawSelected marks the selected client below the strip, at row y, and draws the figures of the worst client and of the
// selected one in the next rows.
func (p *clients) drawSelected(c *look.Canvas, th *look.Theme, y int) {
	place := slices.Index(p.sorted, p.selected)
	for x := range p.width {
		if from, to := p.placesAt(x); place >= from && place < to {
			c.Text(stripX+x, y, look.Chosen, th.Up)
			break
		}
	}
	worst := p.columns[p.order].worst
	lines := look.WrapSpans(append([]look.Span{look.Warn.Span("worst: ")}, p.clientFigures(worst)...), c.W-4)
	if place >= 0 && worst != p.selected {
		lines = append(lines[:1], look.WrapSpans(p.clientFigures(p.selected), c.W-4)...)
	}
	for i, line := range lines {
		if y+1+i < c.H-1 {
			c.Spans(2, y+1+i, c.W-4, line...)
		}
	}
}

// clientFigures returns the number of a client, the figure of the order, the settings of its link, and its other
// figures except those that are 0. Without such a client it says so.
func (p *clients) clientFigures(client int) []look.Span {
	if p.view == nil || client < 0 || client >= len(p.view.Clients) {
		return []look.Span{look.Dim.Span("no client, all are at 0")}
	}
	figure := func(i int) []look.Span {
		field := &p.fields[i]
		return []look.Span{look.Dim.Span("  " + field.Label() + " "), look.Value.Span(field.Text(&p.view.Clients[client]))}
	}
	out := append([]look.Span{look.Chosen.Span("client " + strconv.Itoa(client+1))}, figure(p.order)...)
	out = append(out, look.Dim.Span("  link: "), look.Plain.Span(crowd.LinkText(p.cfg, client+1)))
	for i := range p.fields {
		if i != p.order && p.columns[i].values[client] > 0 {
			out = append(out, figure(i)...)
		}
	}
	return out
}
