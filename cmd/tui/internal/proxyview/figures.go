package proxyview

import (
	"fmt"
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/trust"
	"wirelab/internal/units"
	"wirelab/lossmodel/relay"
)

// formatRate formats n events in the given seconds as a rate per second, "-" if seconds is 0.
func formatRate(n uint64, seconds float64) string {
	if seconds <= 0 {
		return "-"
	}
	if n == 0 {
		return "0"
	}
	return units.Stepped(float64(n)/seconds, 1, 10) // one decimal below 10
}

// formatQuantile formats the quantile q of h in milliseconds with the given decimals, "-" if h is empty.
func formatQuantile(h *relay.Histogram, q float64, decimals int) string {
	if h.N == 0 {
		return "-"
	}
	return units.Fixed(units.Milliseconds(h.Quantile(q)), decimals)
}

// formatSizes formats median, 95th percentile and maximum of payload sizes in bytes. relay counts a
// byte as a nanosecond there.
func formatSizes(h *relay.Histogram) string {
	if h.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d/%d", h.Quantile(0.5), h.Quantile(0.95), h.Max)
}

// formatPercent formats n of all in percent without the unit, "-" if all is 0.
func formatPercent(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	return units.Stepped(100*float64(n)/float64(all), 2, 10) // two decimals below 10, otherwise one
}

// nowLines returns the table of figures: the last two seconds, then the totals.
func (m *model) nowLines(width int) (lines [][]look.Span) {
	h := m.displayed()
	const labelWidth = 19
	w := (width - labelWidth) / 2 // of the column of a direction
	// row adds one figure for both directions; cell formats it from the last two seconds or the totals.
	row := func(name string, style look.Style, cell func(recent, total *relay.Flow) string) {
		line := []look.Span{look.Dim.Span(look.PadRight(name, labelWidth))}
		for i := range h.recent.Flows {
			text := cell(&h.recent.Flows[i], &h.snap.Totals.Flows[i])
			line = append(line, style.Span(look.PadLeft(look.Shorten(text, w-1), w)))
		}
		lines = append(lines, line)
	}
	headings := [2]string{"up", "down"}
	if w > 18 {
		headings = [2]string{"up, to the server", "down, to clients"}
	}
	lines = append(lines, []look.Span{look.Dim.Span(look.PadRight("", labelWidth)),
		directionStyles[relay.Up].Span(look.PadLeft(headings[relay.Up], w)), directionStyles[relay.Down].Span(look.PadLeft(headings[relay.Down], w))})
	row("in/s", look.Value, func(f, _ *relay.Flow) string { return formatRate(f.In, h.recentSeconds) })
	row("out/s", look.Value, func(f, _ *relay.Flow) string { return formatRate(f.Out, h.recentSeconds) })
	row("lost %", look.Lost, func(f, _ *relay.Flow) string { return formatPercent(f.Lost(), f.In+f.Copies) })
	row("delay ms p50, p95", look.Value, func(f, _ *relay.Flow) string {
		return formatQuantile(&f.Delay, 0.5, 1) + ", " + formatQuantile(&f.Delay, 0.95, 1)
	})
	row("bytes p50/p95/max", look.Value, func(f, _ *relay.Flow) string { return formatSizes(&f.Size) })
	row("payload kbps", look.Value, func(f, _ *relay.Flow) string { return units.Fixed(relay.Kbps(f.OutBytes, h.recentSeconds), 1) })
	row("duplicates/s", look.Value, func(f, _ *relay.Flow) string { return formatRate(f.Copies, h.recentSeconds) })
	row("queue", look.Value, func(f, _ *relay.Flow) string { return fmt.Sprintf("%d, %d B", f.LineQueue.Packets, f.LineQueue.Bytes) })
	row("in flight", look.Value, func(f, _ *relay.Flow) string { return fmt.Sprint(f.Queued) })
	row("in, total", look.Plain, func(_, t *relay.Flow) string { return fmt.Sprint(t.In) })
	row("lost %, total", look.Plain, func(_, t *relay.Flow) string { return formatPercent(t.Lost(), t.In+t.Copies) })
	row("damaged, total", look.Plain, func(_, t *relay.Flow) string { return fmt.Sprint(t.Damaged) })
	row("port unreachable", look.Plain, func(_, t *relay.Flow) string { return fmt.Sprint(t.Unreachable) })
	return lines
}

// trustLines returns a line for each property of the links that the controls set, with the value measured and the value
// set, and how late the proxy itself sends datagrams. Lines outside their tolerance are red and marked in words.
func (m *model) trustLines(int) (lines [][]look.Span) {
	addLine := func(ok bool, pieces ...look.Span) {
		if !ok {
			for i := range pieces {
				pieces[i].Style = look.Alarm
			}
			pieces = append(pieces, look.Alarm.Span(" NOT AS SET"))
		}
		lines = append(lines, pieces)
	}
	name := func(direction int) look.Span {
		return directionStyles[direction].Span(look.PadRight(relay.Direction(direction).String(), 5))
	}
	for direction := range m.live.recent.Flows {
		recent := &m.live.recent.Flows[direction]
		addLine(!m.late[direction], name(direction), look.Dim.Span("late p99, 2 s "), look.Value.Span(formatQuantile(&recent.Lateness, 0.99, 2)),
			look.Dim.Span(" ms"))
	}
	for _, property := range []string{"loss", "delay", "rate"} { // the order of the pane, whatever is known
		for direction := range m.checks {
			label := property
			_, links := m.rateLimit(relay.Direction(direction))
			if property == "rate" && m.target.Number == 0 && links > 1 {
				label = "rate/client" // that of the worst link, unlike loss and delay
			}
			for i := range m.checks[direction] {
				if check := &m.checks[direction][i]; check.Name == property {
					addLine(!check.Known || check.OK, append([]look.Span{name(direction)}, checkSpans(label, check)...)...)
				}
			}
		}
	}
	for direction := range m.live.recent.Flows {
		total, recent := &m.live.snap.Totals.Flows[direction], &m.live.recent.Flows[direction]
		if total.KernelDrops+total.Unsent+total.OverLimit > 0 { // a fault only if any of them are recent
			addLine(recent.KernelDrops+recent.Unsent+recent.OverLimit == 0, name(direction),
				look.Dim.Span("system dropped "), look.Value.Span(fmt.Sprint(total.KernelDrops)), look.Dim.Span(", unsent "),
				look.Value.Span(fmt.Sprint(total.Unsent)), look.Dim.Span(", overrun "), look.Value.Span(fmt.Sprint(total.OverLimit)))
		}
	}
	return lines
}

// checkSpans describes the value measured and the value set, after a label.
func checkSpans(label string, check *trust.Check) []look.Span {
	pieces := []look.Span{look.Dim.Span(look.PadRight(label+" ", 6)), look.Value.Span(panes.FormatCheck(check, check.Measured))}
	if !check.Known {
		return append(pieces, look.Dim.Span(" "+check.Unit+" (no expected value)"))
	}
	relation := "set" // of the set value to the measured one
	switch {
	case check.IsMean:
		relation = "mean set"
	case check.OK && check.Name == "rate":
		relation = "at most"
	case check.OK && math.IsInf(check.Max, 0):
		relation = "at least"
	}
	return append(pieces, look.Dim.Span(" "+check.Unit+" ("+relation+" "), look.Plain.Span(panes.FormatCheck(check, check.Set)), look.Dim.Span(")"))
}
