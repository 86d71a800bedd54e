package panes

import (
	"cmp"
	"fmt"
	"math"
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
func NewTransport() *Transport { return &Transport{Charts{Selected: -1}} }

func (p *Transport) Name() string { return "Loop" }

// transportCharts returns all charts, the most important first.
func (p *Transport) transportCharts() []timeChart {
	tickMS := 0.0
	if p.schema != nil && p.schema.TickHz > 0 {
		tickMS = 1000 / float64(p.schema.TickHz)
	}
	m := p.Lane.Totals.Messages
	inStream := m != nil && strings.HasPrefix(m.Delivery, "stream") // snapshots have no acks of their own
	perSecond := func(n int) float64 { return float64(n) * room.PerSecond }
	return []timeChart{
		{title: "Rate kbps, " + room.MeanText, floor: 10, lines: []timeLine{
			{name: "used", style: look.Wire, value: func(s *meters.Sample) float64 { return kbps(s.WireBits) }},
			{name: "line", stroke: chart.Dashed, style: look.Budget, loose: true, value: func(s *meters.Sample) float64 {
				return known(float64(s.Transport.LineBps)/1000, s.Transport.LineBps > 0)
			}},
			{name: "target", stroke: chart.Dotted, style: look.Ratio, loose: true, value: func(s *meters.Sample) float64 {
				return known(float64(s.TargetBps)/1000, s.TargetBps > 0)
			}}}},
		{title: "Round trip and baseline, ms", floor: 50, reduce: chart.Max, empty: "no ack of a packet has arrived", lines: []timeLine{
			{name: "round trip", style: look.Payload, value: func(s *meters.Sample) float64 {
				return known(units.Milliseconds(s.Transport.RoundTripPeak), s.Transport.RoundTrip > 0)
			}},
			{name: "baseline age", stroke: chart.Dashed, style: look.Ratio, value: func(s *meters.Sample) float64 {
				return known(tickMS*float64(s.BaselineAge)/float64(max(s.Referenced, 1)), s.Referenced > 0 && tickMS > 0)
			}}}},
		{title: "Packet bytes, " + room.MeanText, floor: 100, lines: []timeLine{
			{name: "with headers", style: look.Wire, value: func(s *meters.Sample) float64 {
				return known(float64(s.WireBits)/8/float64(max(s.Sent, 1)), s.Sent > 0)
			}}}},
		{title: "Queue KB", floor: 1, reduce: chart.Max, empty: "no bottleneck: /down rate 500kbit sets one", lines: p.queueLines()},
		{title: "Messages under way", floor: 4, reduce: chart.Max, empty: "none: see [messages]", lines: []timeLine{
			{name: "not delivered", style: look.Copy, value: func(s *meters.Sample) float64 {
				return known(float64(s.UnderWay), m != nil)
			}}}},
		{title: "Acks and skips/s, " + room.MeanText, floor: 10, empty: "no acks of snapshots", lines: []timeLine{
			{name: "acks", style: look.Good, value: func(s *meters.Sample) float64 {
				return known(perSecond(s.Transport.Acks), !inStream)
			}},
			{name: "held back", stroke: chart.Dashed, style: look.Warn, value: func(s *meters.Sample) float64 {
				return known(perSecond(s.Held), s.Controlled)
			}},
			{name: "repaired", stroke: chart.Dotted, style: look.Copy, value: func(s *meters.Sample) float64 {
				return known(perSecond(s.Repaired), s.Repaired > 0)
			}}}},
	}
}

// known returns v if it is known, otherwise NaN.
func known(v float64, isKnown bool) float64 {
	if !isKnown {
		return math.NaN()
	}
	return v
}

// queueLines returns the lines of the queue by owner: the game, and each flow of other traffic, or their sum if they are
// many.
func (p *Transport) queueLines() []timeLine {
	lines := []timeLine{{name: "game", style: look.Payload, value: func(s *meters.Sample) float64 {
		return known(float64(s.Queue.Bytes)/1000, s.Transport.HasQueue)
	}}}
	styles := []look.Style{look.Warn, look.Copy, look.Late}
	flows := p.Lane.Traffic
	if len(flows) > len(styles) {
		return append(lines, timeLine{name: fmt.Sprintf("%d flows", len(flows)), stroke: chart.Dashed, style: styles[0],
			value: func(s *meters.Sample) float64 { return known(float64(s.Queue.Others())/1000, len(s.Queue.Flows) > 0) }})
	}
	for i, f := range flows {
		name, _, _ := strings.Cut(f.Kind, " ")
		if len(flows) > 1 {
			name = fmt.Sprintf("%s #%d", name, i+1)
		}
		lines = append(lines, timeLine{name: name, stroke: chart.Dashed, style: styles[i],
			value: func(s *meters.Sample) float64 {
				if i >= len(s.Queue.Flows) { // before the flow was added
					return math.NaN()
				}
				return float64(s.Queue.Flows[i]) / 1000
			}})
	}
	return lines
}

// Draw implements room.Pane: the charts from top to bottom. Charts without values, and those for which there is no
// room, are one row with their figures.
func (p *Transport) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	figures := p.atCrosshair()
	visible := p.withVisibleSamples(th, c.W-2)
	list := p.transportCharts()
	const edges, axis, minRows = 1, 2, 2
	free := max((c.H-len(list)-edges-axis)/minRows, 1) // charts for which there is room
	stacked := make([]Stacked, len(list))
	for i := range list {
		k, out := &list[i], &stacked[i]
		*out = k.stacked(visible, figures, th, k.title, c.W)
		out.Focused = focused
		p.addDecisions(out.Spec)
		if i > 0 && !slices.ContainsFunc(out.Spec.Series, hasValue) {
			out.Folded, out.Legend = true, look.Fit(look.TitleSpace(c.W, k.title), []look.Span{look.Dim.Span(k.empty)}, nil)
			continue
		}
		out.Folded = free == 0
		free = max(free-1, 0)
	}
	DrawStack(c, th, stacked)
}

// addDecisions adds marks at the decisions of the send-rate controls of all lanes, with their reasons. A decision soon
// after one of the same lane for the same reason has no mark.
func (p *Transport) addDecisions(s *chart.Spec) {
	const gap = 2 * time.Second
	mark := func(l *engine.Lane) {
		if l.Control == nil {
			return
		}
		last := map[endpoint.DecisionReason]time.Duration{}
		for i := range l.Control.Decisions {
			d := &l.Control.Decisions[i]
			if at, seen := last[d.Why]; !seen || d.At-at > gap {
				s.Marks = append(s.Marks, chart.Mark{At: int64(d.At / meters.SamplePeriod), Label: l.Letter + " " + d.Why.String(), Style: chart.Style(look.Warn)})
			}
			last[d.Why] = d.Until
		}
	}
	mark(&p.Lane)
	for i := range p.shadows {
		mark(&p.shadows[i])
	}
	slices.SortStableFunc(s.Marks, func(a, b chart.Mark) int { return cmp.Compare(a.At, b.At) })
}
