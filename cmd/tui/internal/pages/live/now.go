package live

import (
	"math"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// selectGauges returns the gauges, named figures that a protocol reports about its state, of the receiver,
// or those of the sender while the receiver has none.
func selectGauges(t *figures.Totals) []encoders.Gauge {
	if len(t.Receiver) > 0 {
		return t.Receiver
	}
	return t.Sender
}

// newGaugeFigure formats a gauge. Bytes become KB, because large numbers do not fit; a number without a
// unit is a count.
func newGaugeFigure(g encoders.Gauge) figure {
	switch {
	case g.Unit == "bytes":
		return figure{look.Dim, g.Name, units.Fixed(g.Value/1000, 1), "KB"}
	case g.Unit == "":
		return figure{look.Dim, g.Name, units.Fixed(g.Value, 0), ""}
	}
	return figure{look.Dim, g.Name, units.Fixed(g.Value, 1), g.Unit}
}

// now shows the means of the last two seconds, and figures of the whole run, as numbers.
type now struct {
	item     string
	schema   *frame.Schema
	lane     engine.Lane
	observed bool      // Observe was called
	past     bool      // the time cursor is in the past
	payload  []float64 // payload bits of each sample, for the sparkline; NaN at loop points
}

func (p *now) Name() string { return "Now" }

// Observe implements room.Observer. The figures change when a slow redraw is due (see room.View.RedrawDue),
// and at once when a packet was decoded wrongly.
func (p *now) Observe(v room.View) bool {
	lane := v.ActiveLane()
	if p.observed && !v.RedrawDue && (lane.Totals.Wrong == p.lane.Totals.Wrong) {
		return false
	}
	p.item, p.schema, p.lane, p.observed, p.past = v.Snap.Item, v.Snap.Schema, *lane, true, v.Cut()
	p.payload = p.payload[:0]
	for i := range lane.Samples {
		bits := float64(lane.Samples[i].PayloadBits)
		if lane.Samples[i].CrossingLoop > 0 { // the data jump there
			bits = math.NaN()
		}
		p.payload = append(p.payload, bits)
	}
	return true
}

// figure is a formatted number with label and unit.
type figure struct {
	style              look.Style
	label, value, unit string
}

// rows returns the rows of the pane, two figures each, most important first: means of the last two
// seconds, then the link over the whole run.
func (p *now) rows() [][2]figure {
	r, t := p.lane.Recent, p.lane.Totals
	timing := p.lane.Timing
	rows := append([][2]figure{ // style, label, value, unit
		{{look.Payload, "payload", units.Fixed(r.PayloadKbps, 1), "kbps"},
			{look.Payload, "p95, 1 min", units.Fixed(r.PayloadP95Kbps, 1), "kbps"}},
		{{look.Wire, "wire", units.Fixed(r.WireKbps, 1), "kbps"}, {look.Dim, "uplink", units.Fixed(r.FeedbackKbps, 1), "kbps"}},
	}, p.itemRows()...)
	// The marker after µs means that a plugin ran recently or in the whole run.
	recentUS := "µs" + encoders.TimeMarker(r.RunsAs)
	totalUS := "µs" + timing.Mark()
	rows = append(rows, [2]figure{{look.Dim, "encode", look.FormatMicroseconds(r.EncodeUS), recentUS},
		{look.Dim, "decode", look.FormatMicroseconds(r.DecodeUS), recentUS}})
	link := linkRows(t.Network)
	if t.Remote != nil {
		link = remoteRows(&t)
	}
	return append(append(rows, link...),
		[2]figure{{look.Dim, "enc p99", look.FormatMicroseconds(timing.EncodeUS.P99), totalUS},
			{look.Dim, "dec p99", look.FormatMicroseconds(timing.DecodeUS.P99), totalUS}},
		[2]figure{{look.Dim, "extent p95", units.Fixed(t.Network.ReorderExtent.P95, 0), "pkts"},
			{look.Dim, "order delay", t.Network.OrderCostMS.Text(1), "ms"}},
		[2]figure{{look.Dim, "late", strconv.FormatInt(t.Playout.Late, 10), ""}, {look.Dim, "age p50", t.AgeMS.Of(t.AgeMS.P50).Text(0), "ms"}},
	)
}

// itemRows returns the rows about bits per item and packet sizes, and about the age of the baseline or
// the gauges of a protocol without baselines.
func (p *now) itemRows() [][2]figure {
	r, t := p.lane.Recent, p.lane.Totals
	item := p.item
	if item == "" {
		item = "item"
	}
	packet := figure{look.Dim, "mean packet", units.Fixed(meanPayloadBytes(p.lane.Samples), 0), "B"}
	rows := [][2]figure{ // style, label, value, unit
		{{look.Ratio, "per " + item, units.Fixed(r.BitsPerItem, 2), "bits"},
			{look.Ratio, "per changed", units.Fixed(r.BitsPerChanged, 1), "bits"}},
		{{look.Dim, "changed", units.Fixed(r.ChangedPerFrame, 1), words.Plural(item)}, packet},
	}
	if panes.ChangesAsWhole(p.schema) { // the figures of changed items are those of all items
		rows = [][2]figure{{rows[0][0], packet}}
	}
	gauges := selectGauges(&t)
	if len(gauges) == 0 {
		return append(rows, [2]figure{{look.Dim, "baseline age", units.Fixed(r.BaselineAgeTicks, 1), "pkts"},
			{look.Dim, "baseline age", units.Fixed(r.BaselineAgeMS, 0), "ms"}})
	}
	for i := 0; i < len(gauges); i += 2 { // two in a row
		row := [2]figure{newGaugeFigure(gauges[i])}
		if i+1 < len(gauges) {
			row[1] = newGaugeFigure(gauges[i+1])
		}
		rows = append(rows, row)
	}
	return rows
}

// meanPayloadBytes returns the mean payload of the packets of the last two seconds.
func meanPayloadBytes(all []meters.Sample) float64 {
	var bits, sent int64
	for _, s := range meters.Tail(all, room.RecentSpan) {
		bits, sent = bits+s.PayloadBits, sent+int64(s.Sent)
	}
	return float64(bits) / 8 / float64(max(sent, 1))
}

// linkRows returns the measured loss, delay, reordering and queue of a modelled link, over the whole run.
func linkRows(n figures.Network) [][2]figure {
	queue := figure{look.Dim, "queue peak", n.QueuePeakBytes.Times(1. / 1000).Text(1), "KB"}
	if n.QueuePeakBytes.Or(0) == 0 { // netem limits its queue in packets, so bytes are not counted
		queue.value, queue.unit = n.QueuePeakPackets.Text(0), "pkts"
	}
	return [][2]figure{
		{{look.Lost, "link lost", n.LossRate.Times(100).Text(2), "%"}, {look.Lost, "mean burst", n.MeanBurst.Text(2), "pkts"}},
		{{look.Dim, "delay p50", n.DelayMS.Of(n.DelayMS.P50).Text(1), "ms"},
			{look.Dim, "delay p95", n.DelayMS.Of(n.DelayMS.P95).Text(1), "ms"}},
		{{look.Dim, "reordered", n.ReorderedRatio.Times(100).Text(2), "%"}, queue},
	}
}

// remoteRows returns the measurements of a real network, as rows of two figures. The one-way delay is
// unknown, because the clocks are not synchronized; PDV, packet delay variation, is the delay in excess of
// the fastest packet (RFC 5481).
func remoteRows(t *figures.Totals) [][2]figure {
	remote, network := t.Remote, &t.Network
	// ms formats quantile v of q, which has no value without data.
	ms := func(label string, q *figures.Quantiles, v float64) figure {
		return figure{look.Dim, label, q.Of(v).Text(1), "ms"}
	}
	return [][2]figure{
		{{look.Lost, "lost", network.LossRate.Times(100).Text(2), "%"},
			{look.Lost, "no report", strconv.FormatInt(t.Unknown, 10), "pkts"}},
		{ms("RTT p50", &remote.RoundTripMS, remote.RoundTripMS.P50), {look.Dim, "jitter", remote.JitterMS.Text(1), "ms"}},
		{ms("report after", &remote.ReportedAfterMS, remote.ReportedAfterMS.P50), ms("PDV p95", &remote.SlowerMS, remote.SlowerMS.P95)},
		{{look.Dim, "reordered", network.ReorderedRatio.Times(100).Text(2), "%"}, ms("RTT p95", &remote.RoundTripMS, remote.RoundTripMS.P95)},
		{{look.Dim, "reports", remote.ReportKbps.Text(1), "kbps"}, {look.Dim, "encryption", remote.CoverKbps.Text(1), "kbps"}},
	}
}

// Draw implements room.Pane. The last row, with the wrong packets, is drawn at any height; rows before it
// that do not fit are omitted. If rows are left, a sparkline of the payload follows.
func (p *now) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	long, brief := "last 2 s; rows from link lost on: whole run", "last 2 s; from link lost on: total"
	if p.past {
		long, brief = "2 s before the cursor; rows from link lost on: until now", "2 s; from link lost on: until now"
	}
	if p.lane.Totals.Remote != nil {
		long, brief = strings.ReplaceAll(long, "link lost", "lost"), strings.ReplaceAll(brief, "link lost", "lost")
	}
	c.Frame(th, focused, "Now", look.Fit(look.TitleSpace(c.W, "Now"), []look.Span{look.Dim.Span(long)}, []look.Span{look.Dim.Span(brief)})...)
	half := (c.W - 4) / 2
	t := p.lane.Totals
	wrong := figure{look.Good, "wrong", "0", "ok"}
	if t.Wrong > 0 {
		wrong = figure{look.Alarm, "WRONG", strconv.FormatInt(t.Wrong, 10), "see top"}
	}
	rows := p.rows()
	rows = append(rows[:max(min(len(rows), c.H-3), 0)], // minus the border and the last row
		[2]figure{wrong, {look.Dim, "starved", t.Playout.StarvedRatio.Times(100).Text(2), "%"}})
	y := 1
	for _, row := range rows {
		p.drawFigure(c, 2, y, half, row[0])
		p.drawFigure(c, 2+half, y, half, row[1])
		y++
	}
	if y < c.H-2 {
		const ownMaximum = 0 // scale the sparkline to its maximum
		c.Text(2, y+1, look.Payload, chart.Spark(p.payload, min(c.W-4, 60), ownMaximum))
	}
}

// drawFigure draws figure f in w columns from (x, y): its label, its value right-aligned, and its unit if
// it fits.
func (p *now) drawFigure(c *look.Canvas, x, y, w int, f figure) {
	if y >= c.H-1 {
		return
	}
	labelWidth := min(12, w/2)
	valueWidth := min(7, w-labelWidth)
	valueStyle := look.Value
	if f.style == look.Alarm {
		valueStyle = look.Alarm
	}
	c.Clip(x, y, labelWidth, f.style, f.label)
	c.TextRight(x+labelWidth+valueWidth-1, y, valueStyle, f.value)
	if unitWidth := w - labelWidth - valueWidth - 1; look.TextWidth(f.unit) <= unitWidth { // no truncated units
		c.Text(x+labelWidth+valueWidth, y, look.Dim, f.unit)
	}
}
