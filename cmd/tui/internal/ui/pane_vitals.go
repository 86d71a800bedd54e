package ui

import (
	"strconv"

	"wirelab/experiment/engine"
)

// vitalsPane is the line that never leaves a small screen.
type vitalsPane struct {
	lane engine.Lane
	per  string // what bits are divided by
	seen bool
}

func (p *vitalsPane) name() string { return "Vitals" }

func (p *vitalsPane) observe(v sight) bool {
	lane := v.lane()
	if p.seen && !v.slow && lane.Totals.Wrong == p.lane.Totals.Wrong {
		return false
	}
	p.lane, p.per, p.seen = *lane, perShort(v.snap.Schema, v.snap.Item), true
	return true
}

// draw writes the payload first and what went wrong last. Where the line is too
// short for all of it whole figures go, those worth least first.
func (p *vitalsPane) draw(c *canvas, th *theme, _ bool) {
	wire, perChanged, wrong := true, true, true
	for _, part := range []*bool{&wire, &wrong, &perChanged} {
		if p.width(wire, perChanged, wrong) <= c.w-2 {
			break
		}
		*part = part == &wrong && p.lane.Totals.Wrong > 0
	}
	end := p.ends(wrong)
	room := c.w - 2 - spansWidth(end)
	c.spans(1, 0, room-1, p.costs(wire, perChanged)...)
	c.spans(1+room, 0, c.w, end...)
}

// width is how many columns the line needs with or without some of its figures.
// It allows for the bandwidth to grow: a figure must not come and go with it.
func (p *vitalsPane) width(wire, perChanged, wrong bool) int {
	slack := func(v float64) int { return max(len("999.9")-len(fixed(v, 1)), 0) }
	n := spansWidth(p.costs(wire, perChanged)) + 1 + spansWidth(p.ends(wrong)) + slack(p.lane.Recent.PayloadKbps)
	if wire {
		n += slack(p.lane.Recent.WireKbps)
	}
	return n
}

// costs are the figures of the last two seconds.
func (p *vitalsPane) costs(wire, perChanged bool) []span {
	r := p.lane.Recent
	out := []span{{inkPayload, "payload "}, {inkValue, fixed(r.PayloadKbps, 1)}}
	if wire {
		out = append(out, span{inkWire, "  wire "}, span{inkValue, fixed(r.WireKbps, 1)})
	}
	out = append(out, span{inkDim, " kbps"})
	if perChanged {
		k := inkRatio
		if !enoughLately(&r) {
			k = inkDim
		}
		out = append(out, span{k, "  " + fixed(r.BitsPerChanged, 1)}, span{inkDim, " bits/" + p.per})
	}
	return append(out, span{inkDim, "  lost "}, span{inkValue, padLeft(fixed(lostLately(p.lane.Samples), 0), 2)}, span{inkDim, "%"})
}

// lostLately is the percentage of packets lost in the last two seconds: what
// somebody sees who moves the loss.
func lostLately(all []engine.Sample) float64 {
	lost, sent := 0, 0
	for _, s := range all[max(len(all)-int(recentSpan/engine.SamplePeriod), 0):] {
		lost, sent = lost+s.Outcomes[engine.Lost], sent+s.Sent
	}
	return 100 * float64(lost) / float64(max(sent, 1))
}

// ends counts the packets that arrived and were of no use, or worse.
func (p *vitalsPane) ends(wrong bool) []span {
	t := p.lane.Totals
	failed := failedSoFar(&t)
	failInk, wrongInk := inkValue, inkValue
	if failed > 0 {
		failInk = inkNoBase
	}
	if t.Wrong > 0 {
		wrongInk = inkAlarm
	}
	out := []span{{inkDim, "failed "}, {failInk, strconv.FormatInt(failed, 10)}}
	if wrong {
		out = append(out, span{inkDim, "  wrong "}, span{wrongInk, strconv.FormatInt(t.Wrong, 10)})
	}
	return out
}
