package live

import (
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

// gaugesOf are what the ends of a protocol say of themselves: the receiver, which
// knows what came, or the sender until anything did.
func gaugesOf(t *figures.Totals) []encoders.Gauge {
	if len(t.Receiver) > 0 {
		return t.Receiver
	}
	return t.Sender
}

// gaugeFigure shows a gauge as a number with its name and unit.
func gaugeFigure(g encoders.Gauge) figure {
	switch {
	case g.Unit == "bytes":
		return figure{look.Dim, g.Name, units.Fixed(g.Value/1000, 1), "KB"}
	case g.Unit == "":
		return figure{look.Dim, g.Name, units.Fixed(g.Value, 0), ""}
	}
	return figure{look.Dim, g.Name, units.Fixed(g.Value, 1), g.Unit}
}

// now shows the averages of the last two seconds as numbers.
type now struct {
	item   string
	schema *frame.Schema
	lane   engine.Lane
	seen   bool
	back   bool // what is shown is over
	spark  []float64
}

func (p *now) Name() string { return "Now" }

func (p *now) Observe(v room.View) bool {
	lane := v.Lane()
	if p.seen && !v.Slow && (lane.Totals.Wrong == p.lane.Totals.Wrong) {
		return false
	}
	p.item, p.schema, p.lane, p.seen, p.back = v.Snap.Item, v.Snap.Schema, *lane, true, v.Back
	p.spark = p.spark[:0]
	for i := range lane.Samples {
		p.spark = append(p.spark, float64(lane.Samples[i].PayloadBits))
	}
	return true
}

// figure is a number with its name and unit.
type figure struct {
	ink                look.Ink
	label, value, unit string
}

// figures returns the rows of the pane, two figures each, those worth most first:
// means of the last seconds, then what the link did.
func (p *now) figures() [][2]figure {
	r, t, timing := p.lane.Recent, p.lane.Totals, p.lane.Timing
	rows := append([][2]figure{
		{{look.Payload, "payload", units.Fixed(r.PayloadKbps, 1), "kbps"},
			{look.Payload, "p95, 1 min", units.Fixed(r.PayloadP95Kbps, 1), "kbps"}},
		{{look.Wire, "wire", units.Fixed(r.WireKbps, 1), "kbps"}, {look.Dim, "uplink", units.Fixed(r.FeedbackKbps, 1), "kbps"}},
	}, p.perItem()...)
	us, all := "µs"+encoders.TimeMark(r.RunsAs), "µs"+timing.Mark()
	rows = append(rows, [2]figure{{look.Dim, "encode", units.Fixed(r.EncodeUS, 0), us},
		{look.Dim, "decode", units.Fixed(r.DecodeUS, 0), us}})
	link := networkFigures(t.Network)
	if t.Remote != nil {
		link = remoteFigures(&t)
	}
	return append(append(rows, link...),
		[2]figure{{look.Dim, "enc p99", units.Fixed(timing.EncodeUS.P99, 0), all},
			{look.Dim, "dec p99", units.Fixed(timing.DecodeUS.P99, 0), all}},
		[2]figure{{look.Dim, "extent p95", units.Fixed(t.Network.ReorderExtent.P95, 0), "pkts"},
			{look.Dim, "order costs", units.Fixed(t.Network.OrderCostMS, 1), "ms"}},
		[2]figure{{look.Dim, "late", strconv.FormatInt(t.Playout.Late, 10), ""}, {look.Dim, "age p50", t.AgeMS.Of(t.AgeMS.P50).Text(0), "ms"}},
	)
}

// perItem are the rows about what was sent, and what that rests on: a baseline, or
// what a protocol has learnt.
func (p *now) perItem() [][2]figure {
	r, t := p.lane.Recent, p.lane.Totals
	item := p.item
	if item == "" {
		item = "item"
	}
	packet := figure{look.Dim, "mean packet", units.Fixed(meanPacket(p.lane.Samples), 0), "B"}
	rows := [][2]figure{
		{{look.Ratio, "per " + item, units.Fixed(r.BitsPerItem, 2), "bits"},
			{look.Ratio, "per changed", units.Fixed(r.BitsPerChanged, 1), "bits"}},
		{{look.Dim, "changed", units.Fixed(r.ChangedPerFrame, 1), words.Plural(item)}, packet},
	}
	if panes.ChangesAsWhole(p.schema) {
		rows = [][2]figure{{rows[0][0], packet}}
	}
	gauges := gaugesOf(&t)
	if len(gauges) == 0 {
		return append(rows, [2]figure{{look.Dim, "baseline", units.Fixed(r.BaselineAgeTicks, 1), "back"},
			{look.Dim, "which is", units.Fixed(r.BaselineAgeMS, 0), "ms"}})
	}
	for i := 0; i < len(gauges); i += 2 {
		row := [2]figure{gaugeFigure(gauges[i])}
		if i+1 < len(gauges) {
			row[1] = gaugeFigure(gauges[i+1])
		}
		rows = append(rows, row)
	}
	return rows
}

// meanPacket is the mean payload of the packets of the last two seconds, in bytes.
func meanPacket(all []meters.Sample) float64 {
	var bits, sent int64
	for _, s := range meters.Tail(all, room.RecentSpan) {
		bits, sent = bits+s.PayloadBits, sent+int64(s.Sent)
	}
	return float64(bits) / 8 / float64(max(sent, 1))
}

// networkFigures are what the link did, over the whole run.
func networkFigures(n figures.Network) [][2]figure {
	queue := figure{look.Dim, "queue peak", units.Fixed(float64(n.QueuePeakBytes)/1000, 1), "KB"}
	if n.QueuePeakBytes == 0 { // a netem line counts packets only
		queue.value, queue.unit = strconv.FormatInt(n.QueuePeakPackets, 10), "pkts"
	}
	return [][2]figure{
		{{look.Lost, "link lost", n.LossRate.Times(100).Text(2), "%"}, {look.Lost, "mean burst", n.MeanBurst.Text(2), "pkts"}},
		{{look.Dim, "delay p50", n.DelayMS.Of(n.DelayMS.P50).Text(1), "ms"},
			{look.Dim, "delay p95", n.DelayMS.Of(n.DelayMS.P95).Text(1), "ms"}},
		{{look.Dim, "reordered", n.ReorderedRatio.Times(100).Text(2), "%"}, queue},
	}
}

// remoteFigures are what a real network tells: of one way there is no time to be told, only
// by how much packets took longer than the fastest.
func remoteFigures(t *figures.Totals) [][2]figure {
	x, n := t.Remote, &t.Network
	ms := func(label string, q *figures.Quantiles, v float64) figure {
		return figure{look.Dim, label, q.Of(v).Text(1), "ms"}
	}
	return [][2]figure{
		{{look.Lost, "lost", n.LossRate.Times(100).Text(2), "%"}, {look.Lost, "never heard", strconv.FormatInt(t.Unknown, 10), "pkts"}},
		{ms("round trip", &x.RoundTripMS, x.RoundTripMS.P50), {look.Dim, "jitter", x.JitterMS.Text(1), "ms"}},
		{ms("known after", &x.ReportedAfterMS, x.ReportedAfterMS.P50), ms("slower p95", &x.SlowerMS, x.SlowerMS.P95)},
		{{look.Dim, "reordered", n.ReorderedRatio.Times(100).Text(2), "%"}, ms("trip p95", &x.RoundTripMS, x.RoundTripMS.P95)},
		{{look.Dim, "lab: reports", x.ReportKbps.Text(1), "kbps"}, {look.Dim, "around game", x.CoverKbps.Text(1), "kbps"}},
	}
}

func (p *now) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	long, brief := "last 2 s; from link lost on: the whole run", "last 2 s; from link lost on: all"
	if p.back {
		long, brief = "2 s until then; from link lost on: as of now", "2 s; from link lost on: now"
	}
	if p.lane.Totals.Remote != nil {
		long, brief = strings.ReplaceAll(long, "link lost", "lost"), strings.ReplaceAll(brief, "link lost", "lost")
	}
	c.Frame(th, focused, "Now", look.Fit(look.HeadRoom(c.W, "Now"), []look.Span{look.Dim.Span(long)}, []look.Span{look.Dim.Span(brief)})...)
	half := (c.W - 4) / 2
	t := p.lane.Totals
	wrong := figure{look.Good, "wrong", "0", "ok"}
	if t.Undetected > 0 { // damage that no checksum told
		wrong = figure{look.Warn, "wrong", "0", strconv.FormatInt(t.Undetected, 10) + " undetected"}
	}
	if t.Wrong > 0 {
		wrong = figure{look.Alarm, "WRONG", strconv.FormatInt(t.Wrong, 10), "see top"}
	}
	rows := p.figures()
	rows = append(rows[:max(min(len(rows), c.H-3), 0)],
		[2]figure{wrong, {look.Dim, "starved", t.Playout.StarvedRatio.Times(100).Text(2), "%"}})
	y := 1
	for _, row := range rows {
		p.figure(c, 2, y, half, row[0])
		p.figure(c, 2+half, y, half, row[1])
		y++
	}
	if y < c.H-2 {
		c.Text(2, y+1, look.Payload, chart.Spark(p.spark, min(c.W-4, 60), 0, th.Ascii))
	}
}

// figure writes one number into w columns.
func (p *now) figure(c *look.Canvas, x, y, w int, f figure) {
	if y >= c.H-1 {
		return
	}
	label := min(12, w/2)
	number := min(7, w-label)
	k := look.Value
	if f.ink == look.Alarm {
		k = look.Alarm
	}
	c.Clip(x, y, label, f.ink, f.label)
	c.Right(x+label+number-1, y, k, f.value)
	if room := w - label - number - 1; look.TextWidth(f.unit) <= room { // half a word says nothing
		c.Text(x+label+number, y, look.Dim, f.unit)
	}
}
