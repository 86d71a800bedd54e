package panes

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// SummaryLine is one line with the main figures of the active encoder.
type SummaryLine struct {
	lane engine.Lane
	per  string // unit of "bits per ..."
	seen bool   // Observe was called

	clients int // of a crowd, which has no lane; 0 without a crowd
}

func (p *SummaryLine) Name() string { return "Summary" }

// Observe implements room.Observer. The line changes when a slow redraw is due (see room.View.RedrawDue),
// and at once when a packet was decoded wrongly.
func (p *SummaryLine) Observe(v room.View) bool {
	lane := v.ActiveLane()
	if v.Snap.Crowd != nil {
		p.clients = len(v.Snap.Crowd.Clients)
	}
	if p.seen && !v.RedrawDue && lane.Totals.Wrong == p.lane.Totals.Wrong {
		return false
	}
	p.lane, p.per, p.seen = *lane, PerItemShort(v.Snap.Schema, v.Snap.Item), true
	return true
}

// Draw draws the payload first and the failures last. If the line is too long, it omits whole
// figures, the least important first; a wrong count above 0 is never omitted.
func (p *SummaryLine) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	if p.clients > 0 {
		c.Clip(1, 0, c.W-2, look.Dim, "a crowd of "+words.Count(p.clients, "client")+": the page Crowd has its figures")
		return
	}
	wire, perChanged, wrong := true, true, true                  // the optional figures that are drawn
	for _, figure := range []*bool{&wire, &wrong, &perChanged} { // the least important first
		if p.width(wire, perChanged, wrong) <= c.W-2 {
			break
		}
		isNeeded := figure == &wrong && p.lane.Totals.Wrong > 0
		*figure = isNeeded
	}
	failures := p.failureSpans(wrong)
	trafficWidth := c.W - 2 - look.SpansWidth(failures)
	c.Spans(1, 0, trafficWidth-1, p.trafficSpans(wire, perChanged)...)
	c.Spans(1+trafficWidth, 0, c.W, failures...)
}

// width returns the columns that the line needs; wire, perChanged and wrong select the optional figures.
// It reserves columns for bandwidths up to 999.9, so that figures do not appear and disappear with the
// bandwidth.
func (p *SummaryLine) width(wire, perChanged, wrong bool) int {
	slack := func(v float64) int { return max(len("999.9")-len(units.Fixed(v, 1)), 0) }
	n := look.SpansWidth(p.trafficSpans(wire, perChanged)) + 1 + look.SpansWidth(p.failureSpans(wrong)) + slack(p.lane.Recent.PayloadKbps)
	if wire {
		n += slack(p.lane.Recent.WireKbps)
	}
	return n
}

// trafficSpans returns the figures of the last two seconds: payload, lost packets and, if wire and
// perChanged are set, wire bandwidth and bits per changed item.
func (p *SummaryLine) trafficSpans(wire, perChanged bool) []look.Span {
	r := p.lane.Recent
	out := []look.Span{look.Payload.Span("payload "), look.Value.Span(units.Fixed(r.PayloadKbps, 1))}
	if wire {
		out = append(out, look.Wire.Span("  wire "), look.Value.Span(units.Fixed(r.WireKbps, 1)))
	}
	out = append(out, look.Dim.Span(" kbps"))
	if perChanged {
		style := look.Ratio
		if !enoughChangedRecently(&r) {
			style = look.Dim
		}
		out = append(out, style.Span("  "+FormatBitsPerItem(r.BitsPerChanged)), look.Dim.Span(" bits/"+p.per))
	}
	return append(out, look.Dim.Span("  lost "), look.Value.Span(look.PadLeft(units.Fixed(recentLossPercent(p.lane.Samples), 0), 2)),
		look.Dim.Span("%"))
}

// recentLossPercent returns the percentage of packets lost in the last two seconds, a period short
// enough to follow a change of the loss setting. Packets of unknown outcome, sent over a network that
// did not report them, count as lost.
func recentLossPercent(all []meters.Sample) float64 {
	lost, sent := int64(0), int64(0)
	for _, s := range meters.Tail(all, room.RecentSpan) {
		lost, sent = lost+s.Lost+s.Unknown, sent+s.Sent
	}
	return 100 * float64(lost) / float64(max(sent, 1))
}

// failureSpans returns the number of packets that failed to decode and, if wrong is set, of those
// decoded wrongly.
func (p *SummaryLine) failureSpans(wrong bool) []look.Span {
	t := p.lane.Totals
	failed := t.Failed()
	failedStyle, wrongStyle := look.Value, look.Value
	if failed > 0 {
		failedStyle = look.NoBase
	}
	if t.Wrong > 0 {
		wrongStyle = look.Alarm
	}
	out := []look.Span{look.Dim.Span("failed "), failedStyle.Span(strconv.FormatInt(failed, 10))}
	if wrong {
		out = append(out, look.Dim.Span("  wrong "), wrongStyle.Span(strconv.FormatInt(t.Wrong, 10)))
	}
	return out
}
