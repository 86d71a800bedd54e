package transport

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// policies shows what limits the flow of each lane, a table of the policies that are set with their figures, and the log
// of the send-rate controls.
type policies struct {
	cfg    *config.Config
	snap   *engine.Snapshot
	past   bool // the time cursor is in the past; totals are those of the run up to now
	scroll int  // rows of the table, or entries of the log, above the first one that is shown
}

func (p *policies) Name() string { return "Policies" }

// Move scrolls the table if it does not fit, or the log.
func (p *policies) Move(_, dy int) room.Request {
	p.scroll = max(p.scroll+dy, 0)
	return room.Request{}
}

func (p *policies) Arrows() [][2]string { return [][2]string{{"↑↓", "scroll"}} }

// Observe implements room.Observer: the figures change when a slow redraw is due (see room.View.RedrawDue).
func (p *policies) Observe(v room.View) bool {
	if !v.RedrawDue {
		return false
	}
	p.cfg, p.snap, p.past = v.Cfg, v.Snap, v.Cut()
	return true
}

// flows returns the lanes that have samples, the active one first.
func (p *policies) flows() (list []flow) {
	for i := range p.snap.Lanes {
		l := &p.snap.Lanes[i]
		if recent := meters.Tail(l.Samples, room.RecentSpan); len(recent) > 0 {
			list = append(list, flow{l, p.cfg, recent, meters.Sum(recent)})
		}
	}
	return list
}

// row is a row of the table: a figure with the name of its policy, in the last two seconds and in the run.
type row struct{ label, recent, run string }

// rows returns the figures of a lane.
func (p *policies) rows(f *flow) (rows []row) {
	add := func(label, recent, run string) { rows = append(rows, row{label, recent, run}) }
	t := &f.Totals
	add("offered, kbps", f.text(meters.WireKbps), units.Fixed(t.WireKbps, 0))
	add("arrived, kbps", f.text(panes.ArrivedKbps), "")
	if panes.HasQueue(f.Lane) {
		name := "droptail"
		if d := p.cfg.Down.Rate.Discipline; d.Name() != "" {
			name = d.Label()
		}
		add("link, kbps", f.text(panes.LinkKbps), "")
		add("queue "+name+", KB", units.Fixed(f.mean(panes.GameKB)+f.mean(panes.OthersKB), 0), "")
		add("  largest", "", t.Network.QueuePeakBytes.FormatWith(units.Bytes, "-"))
		add("  dropped", fmt.Sprint(f.sum.LostBy[lossmodel.Queue]), fmt.Sprint(t.LostBy[lossmodel.Queue]))
	}
	for i, x := range f.Traffic {
		name := "traffic " + x.Label
		if len(f.Traffic) > 1 {
			name += fmt.Sprintf(" %d", i+1)
		}
		add(name+", kbps", "", x.Mbps.Times(1000).Text(0))
	}
	if x := f.Control; x != nil {
		add("send rate "+x.Policy.Label()+", held back", fmt.Sprint(f.sum.Held), fmt.Sprint(x.Held))
		if x.TargetBps > 0 {
			add("  target, kbps", f.text(panes.TargetKbps), "")
		}
	}
	if r := t.Redundancy; r != nil {
		add("redundancy "+r.Policy+", repaired", fmt.Sprint(f.sum.Repaired), fmt.Sprint(r.Repaired))
		add("  added, kbps", "", units.Fixed(r.OverheadKbps, 0))
	}
	if m := t.Messages; m != nil {
		add("messages "+m.Delivery+", under way now", fmt.Sprint(f.UnderWay), "")
		add("  delivery p99, ms", "", units.Fixed(m.DeliveryMS.P99, 0))
	}
	x := panes.FiguresOf(f.Lane, p.snap.Item)
	add("playout "+p.cfg.Playout().Label(), "", "")
	for _, key := range []string{"playout.starved_ratio", "age_ms.p50"} {
		add("  "+x.Label(key), strings.Trim(x.Recent(key), "-"), x.Run(key))
	}
	return rows
}

func (p *policies) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.FitFrame(th, focused, p.Name(), look.Labelled("x explains"))
	flows := p.flows()
	if len(flows) == 0 {
		return
	}
	y := 1
	for i := range flows {
		y = c.Wrap(2, y, c.W-4, look.Value, p.limitText(&flows[i]))
		if i > 0 { // only the box has the figures of the other lanes
			continue
		}
		y = c.Wrap(2, y, c.W-4, look.Plain, flows[i].reason())
		if _, advice := panes.Starvation(flows[i].Lane, p.snap.Now, p.cfg); advice != "" {
			y = c.Wrap(2, y, c.W-4, look.Late, "Display starved: "+advice)
		}
	}
	y = max(y, len(flows)+5) // so that what follows does not move
	heading, run := "figure", "run"
	if len(flows) > 1 {
		heading += " of lane " + flows[0].Letter
	}
	if p.past {
		run = "until now"
	}
	rows := p.rows(&flows[0])
	value := func(text func(row) string) func(grid.Cell) []look.Span {
		return func(c grid.Cell) []look.Span { return grid.Text(look.Value, text(rows[c.Row])) }
	}
	t := grid.Table{NumRows: len(rows), Cursor: -1, Sort: -1, Columns: []grid.Column{
		{Title: heading, Width: grid.Rest, Min: 20, Text: func(c grid.Cell) []look.Span { return grid.Text(look.Plain, rows[c.Row].label) }},
		{Title: "last 2 s", Width: 8, Right: true, Text: value(func(r row) string { return r.recent })},
		{Title: run, Width: 9, Right: true, Text: value(func(r row) string { return r.run })}}}
	t.First = p.scroll
	t.Draw(c, th, y, min(len(rows)+1, c.H-1-y))
	y += len(rows) + 2
	log := p.log()
	switch {
	case y >= c.H-1: // the arrows scroll the table
		p.scroll = t.First
	case len(log) > 0:
		p.scroll = min(p.scroll, len(log)-1)
		lines := []string{"decisions, newest first:"}
		for _, text := range log[p.scroll:] {
			lines = append(lines, look.Wrap(text, c.W-4)...)
		}
		for i, line := range lines[:min(len(lines), c.H-1-y)] {
			c.Clip(2, y+i, c.W-4, look.Plain, line)
		}
	}
}

// limitText returns a sentence about what limits the flow of a lane, which it names if there are several.
func (p *policies) limitText(f *flow) string {
	if len(p.snap.Lanes) > 1 {
		return "Lane " + f.Letter + ", " + f.Name() + ", limited by: " + f.limit()
	}
	return "Limited by: " + f.limit()
}

// Reasons implements room.Reasoner.
func (p *policies) Reasons() (room.Request, bool) {
	lines := []string{}
	for _, f := range p.flows() {
		lines = append(lines, p.limitText(&f)+". "+f.reason())
		cause, advice := panes.Starvation(f.Lane, p.snap.Now, p.cfg)
		lines = append(append(lines, f.advice()...), cause+advice)
		if text := f.explainLoop(p.snap.Schema); text != "" {
			lines = append(lines, "Loop: "+text)
		}
	}
	title := "Flow at " + look.FormatTime(p.snap.Now) + ", last 2 s unless stated"
	return room.Request{Overlay: &room.TextBox{Title: title, Text: room.Paragraphs(lines...)}}, len(lines) > 0
}

func (p *policies) KeyHelp(key string) string {
	return map[string]string{"x": "explain what limits the flow", "up": "scroll figures, decisions"}[key]
}

// log returns the newest decisions of the send-rate controls of all lanes, newest first.
func (p *policies) log() (texts []string) {
	for i := range p.snap.Lanes {
		l := &p.snap.Lanes[i]
		if l.Control == nil {
			continue
		}
		const newest = 30
		list := l.Control.Decisions
		for _, d := range slices.Backward(list[max(len(list)-newest, 0):]) {
			at, end := look.FormatTime(d.At), look.FormatTime(d.Until)
			if d.Held > 1 && at != end {
				at += "-" + end
			}
			if len(p.snap.Lanes) > 1 {
				at += ", lane " + l.Letter
			}
			text := at + "  " + d.Text()
			if d.Held > 1 {
				text += fmt.Sprintf("; %d snapshots", d.Held)
			}
			texts = append(texts, text)
		}
	}
	return texts
}
