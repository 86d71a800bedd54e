package ui

import (
	"strconv"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// nowPane shows the averages of the last two seconds as numbers.
type nowPane struct {
	item   string
	schema *frame.Schema
	lane   engine.Lane
	seen   bool
	back   bool // what is shown is over
	spark  []float64
}

func (p *nowPane) name() string { return "Now" }

func (p *nowPane) observe(v sight) bool {
	lane := v.lane()
	if p.seen && !v.slow && (lane.Totals.Wrong == p.lane.Totals.Wrong) {
		return false
	}
	p.item, p.schema, p.lane, p.seen, p.back = v.snap.Item, v.snap.Schema, *lane, true, v.back
	p.spark = p.spark[:0]
	for i := range lane.Samples {
		p.spark = append(p.spark, float64(lane.Samples[i].PayloadBits))
	}
	return true
}

// figure is a number with its name and unit.
type figure struct {
	ink                ink
	label, value, unit string
}

// figures returns the rows of the pane, two figures each, those worth most first:
// means of the last seconds, then what the link did.
func (p *nowPane) figures() [][2]figure {
	r, t, timing := p.lane.Recent, p.lane.Totals, p.lane.Timing
	rows := append([][2]figure{
		{{inkPayload, "payload", fixed(r.PayloadKbps, 1), "kbps"}, {inkPayload, "p95, 1 min", fixed(r.PayloadP95Kbps, 1), "kbps"}},
		{{inkWire, "wire", fixed(r.WireKbps, 1), "kbps"}, {inkDim, "uplink", fixed(r.FeedbackKbps, 1), "kbps"}},
	}, p.perItem()...)
	rows = append(rows, [2]figure{{inkDim, "encode", fixed(r.EncodeUS, 0), "µs"}, {inkDim, "decode", fixed(r.DecodeUS, 0), "µs"}})
	return append(append(rows, networkFigures(t.Network)...),
		[2]figure{{inkDim, "enc p99", fixed(timing.EncodeUS.P99, 0), "µs"}, {inkDim, "dec p99", fixed(timing.DecodeUS.P99, 0), "µs"}},
		[2]figure{{inkDim, "extent p95", fixed(t.Network.ReorderExtent.P95, 0), "pkts"}, {inkDim, "order costs", fixed(t.Network.OrderCostMS, 1), "ms"}},
		[2]figure{{inkDim, "late", strconv.FormatInt(t.Playout.Late, 10), ""}, {}},
	)
}

// perItem are the rows about what was sent, and what that rests on: a baseline, or
// what a protocol has learnt.
func (p *nowPane) perItem() [][2]figure {
	r, t := p.lane.Recent, p.lane.Totals
	item := p.item
	if item == "" {
		item = "item"
	}
	packet := figure{inkDim, "mean packet", fixed(meanPacket(p.lane.Samples), 0), "B"}
	rows := [][2]figure{
		{{inkRatio, "per " + item, fixed(r.BitsPerItem, 2), "bits"}, {inkRatio, "per changed", fixed(r.BitsPerChanged, 1), "bits"}},
		{{inkDim, "changed", fixed(r.ChangedPerFrame, 1), item + "s"}, packet},
	}
	if newsAll(p.schema) {
		rows = [][2]figure{{rows[0][0], packet}}
	}
	gauges := gaugesOf(&t)
	if len(gauges) == 0 {
		return append(rows, [2]figure{{inkDim, "baseline", fixed(r.BaselineAgeTicks, 1), "back"}, {inkDim, "which is", fixed(r.BaselineAgeMS, 0), "ms"}})
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
func meanPacket(all []engine.Sample) float64 {
	var bits, sent int64
	for _, s := range all[max(len(all)-int(recentSpan/engine.SamplePeriod), 0):] {
		bits, sent = bits+s.PayloadBits, sent+int64(s.Sent)
	}
	return float64(bits) / 8 / float64(max(sent, 1))
}

// networkFigures are what the link did, over the whole run.
func networkFigures(n figures.Network) [][2]figure {
	queue := figure{inkDim, "queue peak", fixed(float64(n.QueuePeakBytes)/1000, 1), "KB"}
	if n.QueuePeakBytes == 0 { // a netem line counts packets only
		queue.value, queue.unit = strconv.FormatInt(n.QueuePeakPackets, 10), "pkts"
	}
	return [][2]figure{
		{{inkLost, "link lost", fixed(100*n.LossRate, 2), "%"}, {inkLost, "mean burst", fixed(n.MeanBurst, 2), "pkts"}},
		{{inkDim, "delay p50", fixed(n.DelayMS.P50, 1), "ms"}, {inkDim, "delay p95", fixed(n.DelayMS.P95, 1), "ms"}},
		{{inkDim, "reordered", fixed(100*n.ReorderedRatio, 2), "%"}, queue},
	}
}

func (p *nowPane) draw(c *canvas, th *theme, focused bool) {
	long, brief := "last 2 s; from link lost on: the whole run", "last 2 s; from link lost on: all"
	if p.back {
		long, brief = "2 s until then; from link lost on: as of now", "2 s; from link lost on: now"
	}
	c.frame(th, focused, "Now", fit(headRoom(c.w, "Now"), []span{{inkDim, long}}, []span{{inkDim, brief}})...)
	half := (c.w - 4) / 2
	t := p.lane.Totals
	wrong := figure{inkGood, "wrong", "0", "ok"}
	if t.Wrong > 0 {
		wrong = figure{inkAlarm, "WRONG", strconv.FormatInt(t.Wrong, 10), "see top"}
	}
	rows := p.figures()
	rows = append(rows[:max(min(len(rows), c.h-3), 0)], [2]figure{wrong, {inkDim, "starved", fixed(100*t.Playout.StarvedRatio, 2), "%"}})
	y := 1
	for _, row := range rows {
		p.figure(c, 2, y, half, row[0])
		p.figure(c, 2+half, y, half, row[1])
		y++
	}
	if y < c.h-2 {
		c.text(2, y+1, inkPayload, chart.Spark(p.spark, min(c.w-4, 60), th.ascii))
	}
}

// figure writes one number into w columns.
func (p *nowPane) figure(c *canvas, x, y, w int, f figure) {
	if y >= c.h-1 {
		return
	}
	label := min(12, w/2)
	number := min(7, w-label)
	k := inkValue
	if f.ink == inkAlarm {
		k = inkAlarm
	}
	c.clip(x, y, label, f.ink, f.label)
	c.right(x+label+number-1, y, k, f.value)
	if room := w - label - number - 1; textWidth(f.unit) <= room { // half a word says nothing
		c.text(x+label+number, y, inkDim, f.unit)
	}
}
