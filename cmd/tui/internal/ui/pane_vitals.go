package ui

import (
	"strconv"

	"wirelab/experiment"
)

// vitalsPane is the line that never leaves a small screen.
type vitalsPane struct {
	lane experiment.Lane
	item string
	seen bool
}

func (p *vitalsPane) name() string { return "Vitals" }

func (p *vitalsPane) observe(v sight) bool {
	lane := v.lane()
	if p.seen && !v.slow && lane.Totals.Wrong == p.lane.Totals.Wrong {
		return false
	}
	p.lane, p.item, p.seen = *lane, v.snap.Item, true
	return true
}

func (p *vitalsPane) draw(c *canvas, th *theme, _ bool) {
	r, t := p.lane.Recent, p.lane.Totals
	lost := 0.0
	if t.Sent > 0 {
		lost = 100 * float64(t.Lost) / float64(t.Sent)
	}
	failed := t.Failures.NoBaseline + t.Failures.Corrupt + t.Failures.UnknownCodec
	failInk, wrongInk := inkValue, inkValue
	if failed > 0 {
		failInk = inkNoBase
	}
	if t.Wrong > 0 {
		wrongInk = inkAlarm
	}
	end := []span{{inkDim, "failed "}, {failInk, strconv.FormatInt(failed, 10)}, {inkDim, "  wrong "}, {wrongInk, strconv.FormatInt(t.Wrong, 10)}}
	room := c.w - 2
	for _, s := range end {
		room -= textWidth(s.text)
	}
	c.spans(1, 0, room-1,
		span{inkPayload, "payload "}, span{inkValue, fixed(r.PayloadKbps, 1)},
		span{inkWire, "  wire "}, span{inkValue, fixed(r.WireKbps, 1)}, span{inkDim, " kbps  "},
		span{inkRatio, fixed(r.BitsPerChanged, 1)}, span{inkDim, " bits/" + p.item},
		span{inkDim, "  lost "}, span{inkValue, fixed(lost, 1)}, span{inkDim, "%"})
	c.spans(1+room, 0, c.w, end...)
}
