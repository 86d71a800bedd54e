package crowd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/crowd"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// clients is the list of clients with what limits each.
type clients struct {
	*order
	table grid.Table
	keys  []string // of figures, by column; "" for the others
	cfg   *config.Config
	snap  *engine.Snapshot
}

// The columns of the list before those of figures.
const (
	columnClient = iota
	columnLimit
	columnLink
	numOtherColumns
)

// listedFigure is a figure with a column in the list.
type listedFigure struct {
	key, title string
	drop       int // grid.Column.Drop
}

// minFigureWidth is the smallest width of a column with a figure.
const minFigureWidth = 7

var listedFigures = []listedFigure{
	{roundTrip, "trip ms", 9}, {"loss_ratio", "loss %", 8}, {"age_ms", "age ms", 7}, {"playout.starved_ratio", "starved %", 6},
	{"view.error", "error mm", 5}, {"payload_kbps", "kbps", 3}, {"baseline_age_ticks", "base ticks", 1},
}

// roundTrip is the key of the figure that orders the list at first: the lab selects the client with the longest one.
const roundTrip = "round_trip_ms"

// newClients returns the list, the client with the longest round trip first.
func newClients() *clients {
	p := &clients{order: &order{clientTable: &clientTable{}, selected: -1}, keys: []string{numOtherColumns: roundTrip}}
	const minLimitWidth = 30
	p.table = grid.Table{Cursor: -1, Sort: numOtherColumns, Columns: []grid.Column{
		{Title: "client", Width: 6, Right: true, Text: func(c grid.Cell) []look.Span {
			return grid.Text(look.Plain, strconv.Itoa(p.sorted[c.Row]+1))
		}},
		{Title: "limited by", Width: grid.Rest, Min: minLimitWidth, Sortable: true, Text: func(c grid.Cell) []look.Span {
			return []look.Span{p.limitSpan(p.sorted[c.Row])}
		}},
		{Title: "link as set, one way", Width: 42, Drop: 4, Text: func(c grid.Cell) []look.Span {
			return grid.Text(look.Dim, crowd.LinkText(p.cfg, p.sorted[c.Row]+1))
		}},
	}}
	p.values = func() []float64 {
		if field := p.field(p.keys[p.table.Sort]); field >= 0 {
			return p.columns[field].values
		}
		return p.severity
	}
	return p
}

// setColumns sets the columns of the figures that the clients have.
func (p *clients) setColumns() {
	p.keys = p.keys[:numOtherColumns]
	p.table.Columns = p.table.Columns[:numOtherColumns]
	for _, f := range listedFigures {
		k := p.field(f.key)
		if k < 0 {
			continue
		}
		p.keys = append(p.keys, f.key)
		p.table.Columns = append(p.table.Columns, grid.Column{Title: f.title, Width: max(len(f.title)+1, minFigureWidth), Drop: f.drop, Right: true,
			Sortable: true, Text: func(c grid.Cell) []look.Span {
				return grid.Text(look.Value, p.fields[k].Text(&p.view.Clients[p.sorted[c.Row]]))
			}})
	}
	p.table.Sort = min(p.table.Sort, len(p.keys)-1)
}

func (p *clients) Name() string { return "Clients" }

func (p *clients) Observe(v room.View) bool {
	if !v.RedrawDue && (p.chosen || v.Snap.Crowd.Selected == p.selected+1) {
		return false
	}
	p.cfg, p.snap = v.Cfg, v.Snap
	p.update(v)
	if len(p.table.Columns) == numOtherColumns || (p.field("view.error") >= 0) != slices.Contains(p.keys, "view.error") {
		p.setColumns()
	}
	return true
}

// Move selects another client; if the selected one is not visible, the first visible one.
func (p *clients) Move(_, dy int) room.Request {
	if p.table.Cursor < 0 {
		return p.choose(p.table.First)
	}
	return p.move(dy)
}

func (p *clients) Arrows() [][2]string { return [][2]string{{"↑↓", "client"}} }

// Click selects a client, or sorts by the column whose title was clicked.
func (p *clients) Click(x, y int) room.Request {
	before := p.table.Sort
	p.table.Click(x, y)
	if p.table.Sort != before {
		p.sort()
		return room.Request{Redraw: true}
	}
	return p.choose(p.table.Cursor)
}

// Enter shows the newest packet of the selected client on the page of packets.
func (p *clients) Enter() room.Request {
	x := p.snap.Crowd
	if x.NoClient != "" {
		return room.Refusal("no packets bit by bit: " + x.NoClient)
	}
	if len(x.Packets) == 0 {
		return room.Refusal("the client has no packets yet")
	}
	return room.Request{Packet: &packetlog.ID{Seq: x.Packets[len(x.Packets)-1].Seq}}
}

// NextSort orders the clients by the next column.
func (p *clients) NextSort() room.Request {
	p.table.SortNext(1)
	p.sort()
	return room.Request{Notice: "clients by " + p.table.Columns[p.table.Sort].Title, Redraw: true}
}

func (p *clients) KeyHelp(key string) string {
	return map[string]string{"tab": "next pane", "up": "select the previous or next client", "enter": "the packets of the selected client",
		"S": "sort the clients by the next column", "x": "explain who is worst off, and the limits"}[key]
}

// Selection implements room.Copier: the selected client, what limits it, and its link.
func (p *clients) Selection() string {
	if p.place() < 0 {
		return ""
	}
	return fmt.Sprintf("client %d  %s  link: %s", p.selected+1, p.limitSpan(p.selected).Text, crowd.LinkText(p.cfg, p.selected+1))
}

func (p *clients) Reasons() (room.Request, bool) {
	if p.snap == nil {
		return room.Request{}, false
	}
	lines := append(p.worstOff(), explain(p.clientTable)...)
	title := "Crowd, the last 2 s before " + look.FormatTime(p.renewed)
	return room.Request{Overlay: &room.TextBox{Title: title, Text: room.Paragraphs(lines...)}}, len(lines) > 0
}

func (p *clients) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	number := strconv.Itoa(len(p.sorted)) + " clients"
	about := number + "; S sorts, 2 to 4 show the selected one"
	if x := p.snap.Crowd; x.NoClient != "" {
		about = "no pages of one client: " + x.NoClient
	}
	c.FitFrame(th, focused, "Clients, last 2 s", look.Labelled(about), look.Labelled(number))
	p.table.NumRows = len(p.sorted)
	p.table.Cursor = p.place()
	if !p.chosen && p.table.Cursor >= c.H-3 { // the first rows stay visible
		p.table.Cursor = -1
		p.table.First = 0
	}
	p.table.Draw(c, th, 1, c.H-2)
	if above := p.table.First; above > 0 {
		c.Text(2, c.H-1, look.Dim, fmt.Sprintf(" %d above %s ", above, th.Up))
	}
}

// limits are the figures that can limit a client, and the least medians that they are compared with.
var limits = []struct {
	key   string
	least float64
}{{roundTrip, 20}, {"loss_ratio", 0.01}, {"view.used_ratio", 0.45}}

// minSeverity is the multiple of the median from which a figure limits a client.
const minSeverity = 2

// findLimits sets t.limits and t.severity.
func (t *clientTable) findLimits() {
	t.limits = t.limits[:0]
	t.severity = t.severity[:0]
	for i := range t.view.Clients {
		worst, most := -1, 0.0
		for _, l := range limits {
			k := t.field(l.key)
			if k < 0 {
				continue
			}
			median := t.fields[k].Of(&t.view.Recent.P50).Or(0)
			if times := t.columns[k].values[i] / max(median, l.least); times > most {
				worst, most = k, times
			}
		}
		if most < minSeverity {
			worst = -1
		}
		t.limits = append(t.limits, worst)
		t.severity = append(t.severity, most)
	}
}

// field returns the index of a figure in t.fields; -1 if the clients do not have it.
func (t *clientTable) field(key string) int {
	for i := range t.fields {
		if t.fields[i].Key == key {
			return i
		}
	}
	return -1
}

// phrase returns a figure of a client with its unit, and the median of all clients.
func (t *clientTable) phrase(field *figures.ClientField, client int) string {
	name, unit, _ := strings.Cut(field.Label(), ", ")
	return fmt.Sprintf("%s %s %s (median %s)", name, field.Text(&t.view.Clients[client]), unit, field.Text(&t.view.Recent.P50))
}

// limitSpan returns what limits a client.
func (t *clientTable) limitSpan(client int) look.Span {
	k := t.limits[client]
	if k < 0 {
		return look.Dim.Span("nothing: near the medians")
	}
	return look.Plain.Span(t.phrase(&t.fields[k], client))
}
