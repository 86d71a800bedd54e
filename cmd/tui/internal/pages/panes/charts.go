package panes

import (
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/lockstep"
	"wirelab/internal/units"
)

// Charts shows bandwidth, bits per changed item and decode failures over one time axis, with a
// mark at each change.
type Charts struct {
	TimeAxis
	line    float64       // budget_line in kbps, which nothing enforces; 0 means none
	item    string        // name of an item, such as "cube"; "" means unknown
	schema  *frame.Schema // nil if unknown
	Lane    engine.Lane   // the active encoder
	shadows []engine.Lane

	Selected     int  // the highlighted chart, one of the indices below; -1 means none
	OnlySelected bool // show only the selected chart
	OfRun        bool // the figures above the charts are means of the run, not of the last two seconds
	InTour       bool // the guided tour is open: the span is at most 30 s, and a single chart is highlighted
}

func (p *Charts) Name() string {
	if p.OnlySelected && p.Selected == RatioChart {
		return "Ratio"
	}
	return "Charts"
}

// Observe implements room.Observer. See TimeAxis.Observe.
func (p *Charts) Observe(v room.View) bool {
	lane := v.ActiveLane()
	isOther := len(p.shadows) != len(v.Shadows()) || v.Cfg.BudgetKbps != p.line || lane.Budget != p.Lane.Budget
	p.Changed = p.Changed || isOther
	if !p.TimeAxis.Observe(v, EndOf(lane.Samples), len(lane.Samples)) {
		return false
	}
	p.item, p.schema, p.line = v.Snap.Item, v.Snap.Schema, v.Cfg.BudgetKbps
	p.Lane, p.shadows = *lane, v.Shadows()
	return true
}

// The charts, as indices of charts.
const (
	BandwidthChart = iota
	ItemChart
	FailureChart
	// RatioChart shows the payload of each shadow divided by that of the active encoder, sample by
	// sample. Because both encode the same frames, differences of a few percent are visible that
	// the bandwidth chart hides.
	RatioChart
)

// samples returns what the charts show of the lanes. The samples of the warm-up of a shadow are not shown.
func (p *Charts) samples() *TimeCharts[meters.Sample] {
	t := &TimeCharts[meters.Sample]{TimeAxis: &p.TimeAxis, Samples: p.Lane.Samples, Lane: laneTitle(&p.Lane), OfRun: p.OfRun, LoopPoints: LoopPoints}
	for i := range p.shadows {
		t.Shadows = append(t.Shadows, Shadow[meters.Sample]{i, laneTitle(&p.shadows[i]), lockstep.AfterWarmUp(&p.shadows[i])})
	}
	return t
}

// charts returns the charts of the page Live, by the indices above.
func (p *Charts) charts(th *look.Theme) []TimeChart[meters.Sample] {
	bandwidth := TimeChart[meters.Sample]{Title: "Bandwidth kbps", Short: "kbps", Floor: 10, Decimals: 1, Lines: []TimeLine[meters.Sample]{
		{Name: "payload", Style: look.Payload, Value: meters.PayloadKbps}}}
	perItem := TimeChart[meters.Sample]{Title: "Bits per " + p.perItem(), Short: "Bits/" + PerItemShort(p.perItem()), Floor: 10,
		Decimals: 1, Lines: []TimeLine[meters.Sample]{{Style: look.Ratio, Value: bitsPerChanged, Figure: bitsPerChangedText}}}
	if len(p.shadows) > 0 { // further lines of the active encoder would crowd the charts
		bandwidth.Title, bandwidth.Lines[0].Name = "Payload kbps", ""
	} else {
		bandwidth.Lines = append(bandwidth.Lines, TimeLine[meters.Sample]{Name: "wire", Style: look.Wire, Stroke: chart.Dashed, Value: meters.WireKbps})
		if !ChangesAsWhole(p.schema) {
			perItem.Lines = append(perItem.Lines, TimeLine[meters.Sample]{Name: "per " + p.itemName(), Style: look.Dim, Figure: bitsPerItemText})
		}
	}
	bandwidth.Rules = append(LimitRule("budget", float64(p.Lane.Budget.Bps)/1000), LimitRule("budget line", p.line)...)
	return []TimeChart[meters.Sample]{BandwidthChart: bandwidth, ItemChart: perItem, FailureChart: p.failureChart(th)}
}

// laneTitle returns the letter and the name of a lane.
func laneTitle(l *engine.Lane) string { return l.Letter + " " + l.Name() }

// LimitRule returns the rule of a limit in a chart of rates; nil if kbps is 0, which means no limit.
func LimitRule(name string, kbps float64) []chart.Rule {
	if kbps == 0 {
		return nil
	}
	return []chart.Rule{{Value: kbps, Style: chart.Style(look.Budget), Name: name + " " + units.Trimmed(kbps, 1)}}
}

// bitsPerChanged returns bits per changed item. A sample whose packets contain all items, changed or not, has no value,
// which is a gap in the line.
func bitsPerChanged(s *meters.Sample) (num, den float64) {
	if !s.CostsPerChange() {
		return 0, 0
	}
	return meters.BitsPerChanged(s)
}

// bitsPerChangedText returns bits per changed item as all pages show it: over all samples.
func bitsPerChangedText(recent []meters.Sample) string {
	const tickHz = 0 // only ages need it
	r := meters.MeanOf(recent, tickHz)
	return FormatBitsPerItem(perChangedOf(&r))
}

// bitsPerItemText returns bits per item, changed or not.
func bitsPerItemText(recent []meters.Sample) string {
	return meters.Ratio(meters.BitsPerItem).Of(recent).Text(2)
}

// failureChart returns the chart of decode failures per second: by cause or, with shadows, one line for each encoder.
func (p *Charts) failureChart(th *look.Theme) TimeChart[meters.Sample] {
	total := p.Lane.Totals.Failed()
	k := TimeChart[meters.Sample]{Title: "Decode failures/s", Short: "Fail/s", Floor: 4, Decimals: 1, MaxRows: 5, After: totalLegend(total)}
	if len(p.shadows) > 0 {
		k.Lines = []TimeLine[meters.Sample]{{Style: look.Corrupt,
			Value: func(s *meters.Sample) (num, den float64) { return float64(s.Failed()), s.Width.Seconds() }}}
		return k
	}
	for i, outcome := range []packetlog.Outcome{packetlog.NoBaseline, packetlog.Corrupt, packetlog.UnknownCodec} {
		if outcome == packetlog.UnknownCodec && p.Lane.Totals.Failures.UnknownCodec == 0 {
			continue // rare
		}
		k.Lines = append(k.Lines, TimeLine[meters.Sample]{Name: look.OutcomeName(outcome), Short: look.ShortOutcomeName(outcome), Symbol: th.Outcome[outcome],
			Style: look.OutcomeStyle(outcome), Stroke: chart.Stroke(i), Silent: total > 0 && *outcome.In(&p.Lane.Totals.Counts) == 0,
			Value: func(s *meters.Sample) (num, den float64) { return float64(*outcome.In(&s.Counts)), s.Width.Seconds() }})
	}
	return k
}

// totalLegend returns the end of a legend with a count of the whole run.
func totalLegend(n int64) [][]look.Span {
	return [][]look.Span{{look.Dim.Span("  " + strconv.FormatInt(n, 10) + " in total")}, nil}
}

// ratioSample is the payload of a lane and that of the active encoder in a period without a loop point.
type ratioSample struct{ own, active float64 }

func (s *ratioSample) ratio() (num, den float64) { return s.own, s.active }

// ratioChart returns RatioChart and its samples. The active encoder is the line at 1.
func (p *Charts) ratioChart() (*TimeCharts[ratioSample], TimeChart[ratioSample]) {
	samplesOf := func(l *engine.Lane) (list []ratioSample) {
		ratios, weights := lockstep.RatioBySample(l, &p.Lane)
		for i := range ratios {
			list = append(list, ratioSample{ratios[i] * weights[i], weights[i]})
		}
		return list
	}
	t := &TimeCharts[ratioSample]{TimeAxis: &p.TimeAxis, Lane: laneTitle(&p.Lane), Samples: slices.Repeat([]ratioSample{{1, 1}}, len(p.Lane.Samples))}
	for i := range p.shadows {
		t.Shadows = append(t.Shadows, Shadow[ratioSample]{i, laneTitle(&p.shadows[i]), samplesOf(&p.shadows[i])})
	}
	return t, TimeChart[ratioSample]{Title: "Payload ratio", Short: "Ratio", Fit: true, Decimals: 3,
		Lines: []TimeLine[ratioSample]{{Style: look.Payload, Value: (*ratioSample).ratio}}}
}

// Draw implements room.Pane: the charts of the page Live, stacked, or only the selected chart. The selected
// one of several charts has a marker before its title.
func (p *Charts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p.MaxSpan = 0
	if p.InTour {
		p.MaxSpan = 30 * time.Second
	}
	if p.OnlySelected && p.Selected == RatioChart {
		t, k := p.ratioChart()
		k.Focused = focused
		t.Draw(c, th, []TimeChart[ratioSample]{k})
		return
	}
	all := p.charts(th)
	if p.OnlySelected && p.Selected >= 0 {
		all = all[p.Selected : p.Selected+1]
		all[0].MaxRows = 0
		all[0].Focused = focused || p.InTour // the tour always highlights its chart
	} else {
		for i := range all {
			all[i].Focused = focused && (p.Selected < 0 || p.Selected == i)
		}
		if p.Selected >= 0 {
			all[p.Selected].Title = th.Chosen + " " + all[p.Selected].Title
		}
	}
	p.samples().Draw(c, th, all)
}

// perItem names what ItemChart counts bits per, such as "changed cube".
func (p *Charts) perItem() string {
	if p.item == "" {
		return "changed item"
	}
	return PerItemUnit(p.schema, p.item)
}

// itemName returns the glossary's name of an item, such as "cube".
func (p *Charts) itemName() string {
	if p.item == "" {
		return "item"
	}
	return p.item
}
