package live

import (
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// now is a table of figures: the means of the last two seconds, and the values of the run up to the time cursor. A figure that exists for
// one of them only has one value.
type now struct {
	grid.Table
	item   string
	schema *frame.Schema
	lane   engine.Lane
	past   bool // the time cursor is in the past
	noRun  bool // the sums up to the time cursor are not known
}

func (p *now) Name() string { return "Now" }

// Observe implements room.Observer. The figures change when a slow redraw is due (see room.View.RedrawDue),
// and at once when a packet was decoded wrongly.
func (p *now) Observe(v room.View) bool {
	lane := v.ActiveLane()
	if !v.RedrawDue && lane.Totals.Wrong == p.lane.Totals.Wrong {
		return false
	}
	p.item, p.schema, p.lane = v.Snap.Item, v.Snap.Schema, *lane
	p.past, p.noRun = v.Past, v.Cut()
	return true
}

// nowRow is a row of the table.
type nowRow struct {
	label, recent, run string
	style              look.Style
}

// rows returns the rows of the table that have a value, the most important first.
func (p *now) rows(f *panes.LaneFigures) (rows []nowRow) {
	add := func(style look.Style, keys ...string) {
		for _, key := range keys {
			r := nowRow{f.Label(key), f.Recent(key), f.Run(key), style}
			if strings.Trim(r.recent+r.run, "-") != "" {
				rows = append(rows, r)
			}
		}
	}
	add(look.Payload, "payload_kbps")
	add(look.Wire, "wire_kbps")
	if !panes.ChangesAsWhole(p.schema) { // otherwise the figures of changed items are those of all items
		add(look.Ratio, "bits_per_changed_cube")
	}
	add(look.Lost, "network.loss_rate")
	delays := []string{"network.delay_ms.p50", "network.delay_ms.p95"}
	if p.lane.Totals.Remote != nil { // without synchronised clocks the one-way delay is unknown
		delays = []string{"remote.round_trip_ms.p50", "remote.jitter_ms", "remote.slower_ms.p95", "unknown"}
	}
	add(look.Dim, delays[0], "playout.starved_ratio", panes.EncodeTime, panes.DecodeTime)
	add(look.Ratio, "bits_per_item")
	if gauges := selectGauges(&p.lane.Totals); len(gauges) > 0 {
		for _, g := range gauges {
			rows = append(rows, gaugeRow(g))
		}
	} else {
		add(look.Dim, panes.MeanBaselineAge)
	}
	add(look.Dim, panes.MeanPacket, "feedback_kbps")
	add(look.Dim, delays[1:]...)
	add(look.Dim, "age_ms.p50", "network.reordered_ratio", "network.mean_burst", "network.queue_peak_bytes", "playout.late", "network.order_cost_ms")
	return rows
}

// selectGauges returns the gauges, named figures that a protocol reports about its state, of the receiver,
// or those of the sender while the receiver has none.
func selectGauges(t *figures.Totals) []encoders.Gauge {
	if len(t.Receiver) > 0 {
		return t.Receiver
	}
	return t.Sender
}

// gaugeRow returns the row of a gauge. Bytes become KB, because large numbers do not fit; a number without a
// unit is a count.
func gaugeRow(g encoders.Gauge) nowRow {
	r := nowRow{label: g.Name + ", " + g.Unit, run: units.Fixed(g.Value, 1), style: look.Dim}
	switch g.Unit {
	case "bytes":
		r.label, r.run = g.Name+", KB", units.Fixed(g.Value/1000, 1)
	case "":
		r.label, r.run = g.Name, units.Fixed(g.Value, 0)
	}
	return r
}

// Draw implements room.Pane. The last row, with the wrong packets, is drawn at any height; rows before it
// that do not fit are omitted.
func (p *now) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	f := panes.FiguresOf(&p.lane, p.item)
	run := "whole run"
	if p.past {
		run = "to cursor"
	}
	const fixedRows = 4 // the border, the headings and the last row
	c.Frame(th, focused, "Now")
	rows := p.rows(f)
	rows = rows[:max(min(len(rows), c.H-fixedRows), 0)]
	wrong := nowRow{label: f.Label("wrong"), run: f.Run("wrong"), style: look.Good}
	if p.lane.Totals.Wrong > 0 {
		wrong.label, wrong.style = strings.ToUpper(wrong.label)+": see top", look.Alarm
	}
	rows = append(rows, wrong)
	label := func(cell grid.Cell) []look.Span {
		r := &rows[cell.Row]
		return grid.Text(r.style, r.label)
	}
	values := func(title string, text func(r *nowRow) string) grid.Column {
		const width = 9
		draw := func(cell grid.Cell) []look.Span {
			r := &rows[cell.Row]
			if r.style == look.Alarm {
				return grid.Text(look.Alarm, text(r))
			}
			return grid.Text(look.Value, text(r))
		}
		return grid.Column{Title: title, Width: width, Right: true, Text: draw}
	}
	p.Columns = []grid.Column{
		{Title: "figure", Width: grid.Rest, Min: 1, Text: label},
		values("last 2 s", func(r *nowRow) string { return r.recent }),
		values(run, func(r *nowRow) string {
			if p.noRun && r.run != "" {
				return "-"
			}
			return r.run
		}),
	}
	p.NumRows = len(rows)
	p.Cursor, p.Sort = -1, -1
	p.Table.Draw(c, th, 1, c.H-2)
}
