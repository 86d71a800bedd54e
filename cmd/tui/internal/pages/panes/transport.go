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
type Transport struct{ Charts }

// NewTransport returns the charts.
func NewTransport() *Transport { return &Transport{Charts: Charts{Selected: -1}} }

func (p *Transport) Name() string { return "Loop" }

// HasQueue reports whether the newest sample of a lane has a bottleneck: a trace or netem limits the rate too.
func HasQueue(l *engine.Lane) bool {
	samples := l.Samples
	return len(samples) > 0 && samples[len(samples)-1].Transport.HasQueue
}

// Figures of the loop. Their means over two seconds are those of the charts and of all texts about the loop.
var (
	// ArrivedKbps is what arrived at the receiver, with all headers.
	ArrivedKbps meters.Ratio = func(s *meters.Sample) (num, den float64) {
		return float64(s.Transport.ArrivedBits) / 1000, s.Width.Seconds()
	}
	// BudgetKbps is what counts for a budget of the sender: everything except the headers of IP and UDP.
	BudgetKbps meters.Ratio = func(s *meters.Sample) (num, den float64) {
		const ipAndUDP = 8 * 28 // bits of a packet
		return float64(s.WireBits-int64(s.Sent)*ipAndUDP) / 1000, s.Width.Seconds()
	}
	// LinkKbps is the rate of the bottleneck of the downlink.
	LinkKbps meters.Ratio = func(s *meters.Sample) (num, den float64) {
		return Known(float64(s.Transport.LinkBps)/1000, s.Transport.LinkBps > 0)
	}
	// TargetKbps is the rate that the send-rate control aims at.
	TargetKbps meters.Ratio = func(s *meters.Sample) (num, den float64) {
		return Known(float64(s.TargetBps)/1000, s.TargetBps > 0)
	}
	// GameKB and OthersKB are what the queue has of the game and of other traffic.
	GameKB meters.Ratio = func(s *meters.Sample) (num, den float64) {
		return Known(float64(s.Queue.Bytes)/1000, s.Transport.HasQueue)
	}
	OthersKB meters.Ratio = func(s *meters.Sample) (num, den float64) {
		return Known(float64(s.Queue.Others())/1000, len(s.Queue.Flows) > 0)
	}
	// QueueMS is how long the link takes to send what the queue has.
	QueueMS meters.Ratio = func(s *meters.Sample) (num, den float64) {
		return Known(units.Milliseconds(s.Queue.Delay), s.Transport.HasQueue)
	}
	// RoundTripMS is the time from sending a packet to its ack, in ms: the newest of each sample.
	RoundTripMS meters.Ratio = func(s *meters.Sample) (num, den float64) {
		return Known(units.Milliseconds(s.Transport.RoundTrip), s.Transport.RoundTrip > 0)
	}
	// WireBytes is the size of a packet with headers.
	WireBytes meters.Ratio = func(s *meters.Sample) (num, den float64) { return float64(s.WireBits) / 8, float64(s.Sent) }
)

// transportCharts returns the charts that can have values, the most important first.
func (p *Transport) transportCharts() []TimeChart[meters.Sample] {
	type (
		line  = TimeLine[meters.Sample]
		ratio = Ratio[meters.Sample]
	)
	tickMS := 0.0
	if p.schema != nil && p.schema.TickHz > 0 {
		tickMS = 1000 / float64(p.schema.TickHz)
	}
	m := p.Lane.Totals.Messages
	inStream := m != nil && strings.HasPrefix(m.Delivery, "stream") // snapshots have no acks of their own
	perSecond := func(n int, isKnown bool) (num, den float64) { return Known(float64(n)*room.PerSecond, isKnown) }
	rate := TimeChart[meters.Sample]{Title: "Rate kbps", Short: "kbps", Floor: 10, Lines: []line{
		{Name: "offered", Style: look.Wire, Value: meters.WireKbps},
		{Name: "arrived", Stroke: chart.Dotted, Style: look.Good, Value: ratio(ArrivedKbps)},
		{Name: "link", Stroke: chart.Dashed, Style: look.Budget, Limit: true, Value: ratio(LinkKbps)},
		{Name: "target", Stroke: chart.Dotted, Style: look.Ratio, Limit: true, Value: ratio(TargetKbps)}}}
	if bps := p.Lane.Budget.Bps; bps > 0 {
		rate.Rules = LimitRule("budget", float64(bps)/1000)
		rate.Lines = append(rate.Lines, line{Name: "of the budget", Short: "budgeted", Stroke: chart.Dashed, Style: look.Payload, Value: ratio(BudgetKbps)})
	}
	list := []TimeChart[meters.Sample]{rate,
		{Title: "Round trip and baseline, ms", Short: "ms", Floor: 50, Lines: []line{
			{Name: "round trip", Style: look.Payload, Value: ratio(RoundTripMS)},
			{Name: "baseline age", Short: "baseline", Stroke: chart.Dashed, Style: look.Ratio, Value: func(s *meters.Sample) (num, den float64) {
				return tickMS * float64(s.BaselineAge), float64(s.Referenced)
			}}}},
		{Title: "Packet bytes", Floor: 100, Lines: []line{
			{Name: "with headers", Style: look.Wire, Value: ratio(WireBytes)}}},
	}
	if HasQueue(&p.Lane) {
		list = append(list, TimeChart[meters.Sample]{Title: "Queue KB", Floor: 1, Lines: []line{
			{Name: "game", Style: look.Payload, Value: ratio(GameKB)},
			{Name: "other traffic", Stroke: chart.Dashed, Style: look.Warn, Value: ratio(OthersKB)}}})
	}
	if m != nil {
		list = append(list, TimeChart[meters.Sample]{Title: "Messages under way", Floor: 4, Lines: []line{
			{Name: "not delivered", Style: look.Copy, Value: func(s *meters.Sample) (num, den float64) { return float64(s.UnderWay), 1 }}}})
	}
	if !inStream {
		list = append(list, TimeChart[meters.Sample]{Title: "Acks and skips/s", Short: "Acks/s", Floor: 10, Lines: []line{
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
				mark := engine.Mark{T: d.At, Label: d.Why.String(), Kind: engine.MarkNote}
				if len(p.shadows) > 0 {
					mark.Label = l.Letter + " " + mark.Label
				}
				marks = append(marks, mark)
			}
			last[d.Why] = d.Until
		}
	}
	slices.SortStableFunc(marks, func(a, b engine.Mark) int { return cmp.Compare(a.T, b.T) })
	return marks
}
