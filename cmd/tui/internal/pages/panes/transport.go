package panes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// Transport shows charts of the loop between queue, round trip, baseline and packet size over one time axis.
type Transport struct {
	Charts
	hasQueue, hasMessages bool // the settings give the charts of queue and messages something to show
}

// NewTransport returns the charts.
func NewTransport() *Transport { return &Transport{Charts: Charts{Selected: -1}} }

func (p *Transport) Name() string { return "Loop" }

// Observe implements room.Observer.
func (p *Transport) Observe(v room.View) bool {
	p.hasMessages = v.Cfg.HasMessages()
	p.hasQueue = v.Cfg.Down.Rate.BitsPerSecond > 0 || HasQueue(v.ActiveLane())
	return p.Charts.Observe(v)
}

// HasQueue reports whether the newest sample of a lane has a bottleneck: a trace or netem limits the rate too.
func HasQueue(l *engine.Lane) bool {
	samples := l.Samples
	return len(samples) > 0 && samples[len(samples)-1].Transport.HasQueue
}

// RoundTripMS is the time from sending a packet to its ack, in ms: the newest of each sample.
var RoundTripMS meters.Ratio = func(s *meters.Sample) (num, den float64) {
	return Known(units.Milliseconds(s.Transport.RoundTrip), s.Transport.RoundTrip > 0)
}

// WireBytes is the size of a packet with headers.
func WireBytes(s *meters.Sample) (num, den float64) { return float64(s.WireBits) / 8, float64(s.Sent) }

// transportCharts returns the charts that can have values, the most important first.
func (p *Transport) transportCharts() []TimeChart[meters.Sample] {
	type line = TimeLine[meters.Sample]
	tickMS := 0.0
	if p.schema != nil && p.schema.TickHz > 0 {
		tickMS = 1000 / float64(p.schema.TickHz)
	}
	m := p.Lane.Totals.Messages
	inStream := m != nil && strings.HasPrefix(m.Delivery, "stream") // snapshots have no acks of their own
	perSecond := func(n int, isKnown bool) (num, den float64) { return Known(float64(n)*room.PerSecond, isKnown) }
	list := []TimeChart[meters.Sample]{
		{Title: "Rate kbps", Floor: 10, Lines: []line{
			{Name: "used", Style: look.Wire, Value: meters.WireKbps},
			{Name: "line", Stroke: chart.Dashed, Style: look.Budget, Limit: true, Value: func(s *meters.Sample) (num, den float64) {
				return Known(float64(s.Transport.LineBps)/1000, s.Transport.LineBps > 0)
			}},
			{Name: "target", Stroke: chart.Dotted, Style: look.Ratio, Limit: true, Value: func(s *meters.Sample) (num, den float64) {
				return Known(float64(s.TargetBps)/1000, s.TargetBps > 0)
			}}}},
		{Title: "Round trip and baseline, ms", Floor: 50, Lines: []line{
			{Name: "round trip", Style: look.Payload, Value: Ratio[meters.Sample](RoundTripMS)},
			{Name: "baseline age", Stroke: chart.Dashed, Style: look.Ratio, Value: func(s *meters.Sample) (num, den float64) {
				return tickMS * float64(s.BaselineAge), float64(s.Referenced)
			}}}},
		{Title: "Packet bytes", Floor: 100, Lines: []line{
			{Name: "with headers", Style: look.Wire, Value: WireBytes}}},
	}
	if p.hasQueue {
		list = append(list, TimeChart[meters.Sample]{Title: "Queue KB", Floor: 1, Lines: []line{
			{Name: "game", Style: look.Payload, Value: func(s *meters.Sample) (num, den float64) {
				return Known(float64(s.Queue.Bytes)/1000, s.Transport.HasQueue)
			}},
			{Name: "other traffic", Stroke: chart.Dashed, Style: look.Warn, Value: func(s *meters.Sample) (num, den float64) {
				return Known(float64(s.Queue.Others())/1000, len(s.Queue.Flows) > 0)
			}}}})
	}
	if p.hasMessages {
		list = append(list, TimeChart[meters.Sample]{Title: "Messages under way", Floor: 4, Lines: []line{
			{Name: "not delivered", Style: look.Copy, Value: func(s *meters.Sample) (num, den float64) { return Known(float64(s.UnderWay), m != nil) }}}})
	}
	if !inStream {
		list = append(list, TimeChart[meters.Sample]{Title: "Acks and skips/s", Floor: 10, Lines: []line{
			{Name: "acks", Style: look.Good, Value: func(s *meters.Sample) (num, den float64) { return perSecond(s.Transport.Acks, true) }},
			{Name: "held back", Stroke: chart.Dashed, Style: look.Warn, Value: func(s *meters.Sample) (num, den float64) { return perSecond(s.Held, s.Controlled) }},
			{Name: "repaired", Stroke: chart.Dotted, Style: look.Copy, Value: func(s *meters.Sample) (num, den float64) {
				return perSecond(s.Repaired, s.Repaired > 0)
			}}}})
	}
	return list
}

// Draw implements room.Pane: the charts from top to bottom.
func (p *Transport) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	list := p.transportCharts()
	for i := range list {
		list[i].Focused = focused
	}
	t := p.samples()
	axis := p.TimeAxis
	axis.Marks = p.withDecisions()
	t.TimeAxis = &axis
	t.Draw(c, th, list)
}

// withDecisions returns the marks, and further ones at the decisions of the send-rate controls of all lanes, with their
// reasons. A decision soon after one of the same lane for the same reason has no mark.
func (p *Transport) withDecisions() []engine.Mark {
	const gap = 2 * time.Second
	marks := slices.Clone(p.Marks)
	for _, l := range append([]engine.Lane{p.Lane}, p.shadows...) {
		if l.Control == nil {
			continue
		}
		last := map[endpoint.DecisionReason]time.Duration{}
		for i := range l.Control.Decisions {
			d := &l.Control.Decisions[i]
			if at, seen := last[d.Why]; !seen || d.At-at > gap {
				marks = append(marks, engine.Mark{T: d.At, Label: l.Letter + " " + d.Why.String(), Kind: engine.MarkNote})
			}
			last[d.Why] = d.Until
		}
	}
	slices.SortStableFunc(marks, func(a, b engine.Mark) int { return cmp.Compare(a.T, b.T) })
	return marks
}
