package proxyview

import (
	"fmt"
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
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

// formatQuantile formats the quantile q of h in milliseconds, "-" if h is empty.
func formatQuantile(h *relay.Histogram, q float64) string {
	if h.N == 0 {
		return "-"
	}
	return units.Stepped(units.Milliseconds(h.Quantile(q)), 2, 100, 100) // two decimals below 100, otherwise none
}

// formatSizes formats median, 95th percentile and maximum of payload sizes in bytes. relay counts a
// byte as a nanosecond there.
func formatSizes(h *relay.Histogram) string {
	if h.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d/%d", h.Quantile(0.5), h.Quantile(0.95), h.Max)
}

// formatShare formats n of all in percent with the unit, "-" if all is 0.
func formatShare(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	return units.Stepped(100*float64(n)/float64(all), 2, 10) + " %" // two decimals below 10, otherwise one
}

// formatPercent formats n of all in percent without the unit, in at most three characters.
func formatPercent(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	if n == 0 {
		return "0"
	}
	return units.Stepped(100*float64(n)/float64(all), 1, 9.95) // one decimal unless it rounds to 10
}

// drawNow draws the table of figures: the last two seconds, then the totals.
func (m *model) drawNow(c *look.Canvas, focused bool) {
	h := m.displayed()
	c.Frame(m.Theme(), focused, "Now", look.Dim.Span("all clients, last 2 s"))
	const labelWidth = 19
	w := (c.W - 4 - labelWidth) / 2 // of the column of a direction
	columnEnd := func(direction int) int { return 2 + labelWidth + (direction+1)*w }
	y := 1
	// row draws one figure for both directions; cell formats it from the last two seconds or the totals.
	row := func(name string, style look.Style, cell func(recent, total *relay.Flow) string) {
		if y >= c.H-1 {
			return
		}
		c.Clip(2, y, labelWidth-1, look.Dim, name)
		for i := range h.recent.Flows {
			text := cell(&h.recent.Flows[i], &h.snap.Totals.Flows[i])
			c.TextRight(columnEnd(i), y, style, look.Shorten(text, w-1))
		}
		y++
	}
	headings := [2]string{"up", "down"}
	if w > 18 {
		headings = [2]string{"up, to the server", "down, to clients"}
	}
	for i, heading := range headings {
		c.TextRight(columnEnd(i), y, directionStyles[i], heading)
	}
	y++
	row("in/s", look.Value, func(f, _ *relay.Flow) string { return formatRate(f.In, h.recentSeconds) })
	row("out/s", look.Value, func(f, _ *relay.Flow) string { return formatRate(f.Out, h.recentSeconds) })
	row("lost", look.Lost, func(f, _ *relay.Flow) string { return formatShare(f.Lost(), f.In+f.Copies) })
	if flows := &h.snap.Totals.Flows; flows[relay.Up].Damaged+flows[relay.Down].Damaged > 0 {
		row("damaged, total", look.Corrupt, func(_, t *relay.Flow) string { return fmt.Sprint(t.Damaged) })
	}
	row("delay ms p50, p95", look.Value, func(f, _ *relay.Flow) string {
		return formatQuantile(&f.Delay, 0.5) + ", " + formatQuantile(&f.Delay, 0.95)
	})
	row("bytes p50/p95/max", look.Value, func(f, _ *relay.Flow) string { return formatSizes(&f.Size) })
	row("payload kbps", look.Value, func(f, _ *relay.Flow) string { return units.Fixed(relay.Kbps(f.OutBytes, h.recentSeconds), 1) })
	row("duplicates/s", look.Value, func(f, _ *relay.Flow) string { return formatRate(f.Copies, h.recentSeconds) })
	row("queue", look.Value, func(f, _ *relay.Flow) string { return fmt.Sprintf("%d, %d B", f.LineQueue.Packets, f.LineQueue.Bytes) })
	row("in flight", look.Value, func(f, _ *relay.Flow) string { return fmt.Sprint(f.Queued) })
	row("in, total", look.Plain, func(_, t *relay.Flow) string { return fmt.Sprint(t.In) })
	row("lost, total", look.Plain, func(_, t *relay.Flow) string { return formatShare(t.Lost(), t.In+t.Copies) })
	row("port unreachable", look.Plain, func(_, t *relay.Flow) string { return fmt.Sprint(t.Unreachable) })
}

// drawTrust draws, for each property of the links that the controls set, the value measured and the value set, and how
// late the proxy itself sends datagrams. Lines outside their tolerance come first, in red and marked in words.
func (m *model) drawTrust(c *look.Canvas, focused bool) {
	owner := "all clients"
	if m.target.Number > 0 {
		owner = fmt.Sprintf("client %d", m.target.Number)
	}
	c.Frame(m.Theme(), focused, "Set and measured", look.Dim.Span(owner+", since last set"))
	var bad, good [][]look.Span
	addLine := func(ok bool, pieces ...look.Span) {
		if ok {
			good = append(good, pieces)
			return
		}
		for i := range pieces {
			pieces[i].Style = look.Alarm
		}
		bad = append(bad, append(pieces, look.Alarm.Span(" NOT AS SET")))
	}
	m.addLateness(addLine)
	for direction := range m.checks {
		for i := range m.checks[direction] {
			check := &m.checks[direction][i]
			pieces := []look.Span{directionStyles[direction].Span(look.PadRight(relay.Direction(direction).String(), 5)),
				look.Dim.Span(look.PadRight(check.Name, 6))}
			measured := look.Value.Span(panes.FormatCheck(check, check.Measured))
			if !check.Known {
				const ok = true // nothing to compare with
				addLine(ok, append(pieces, measured, look.Dim.Span(" "+check.Unit+" (no expected value)"))...)
				continue
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
			addLine(check.OK, append(pieces, measured, look.Dim.Span(" "+check.Unit+" ("+relation+" "),
				look.Plain.Span(panes.FormatCheck(check, check.Set)), look.Dim.Span(")"))...)
		}
	}
	for i, line := range append(bad, good...) { // faults first: they must be visible
		if i < c.H-2 {
			c.Spans(2, 1+i, c.W-4, line...)
		}
	}
}

// addLateness adds, for each direction, how late datagrams left after their due time, and the
// datagrams that the operating system dropped.
func (m *model) addLateness(addLine func(ok bool, pieces ...look.Span)) {
	for direction := range m.live.recent.Flows {
		total, recent := &m.live.snap.Totals.Flows[direction], &m.live.recent.Flows[direction]
		name := directionStyles[direction].Span(look.PadRight(relay.Direction(direction).String(), 5))
		late := []look.Span{name, look.Dim.Span("late  p50 "), look.Value.Span(formatQuantile(&recent.Lateness, 0.5)), look.Dim.Span(" p99 "),
			look.Value.Span(formatQuantile(&recent.Lateness, 0.99)), look.Dim.Span(" ms")}
		ok := !m.late[direction]
		if ok {
			const maximum = 1 // the largest quantile
			late = append(late, look.Dim.Span(", max "), look.Value.Span(formatQuantile(&total.Lateness, maximum)))
		}
		addLine(ok, late...)
		if total.KernelDrops+total.Unsent+total.OverLimit > 0 { // a fault only if any of them are recent
			addLine(recent.KernelDrops+recent.Unsent+recent.OverLimit == 0, name,
				look.Dim.Span("system dropped "), look.Value.Span(fmt.Sprint(total.KernelDrops)), look.Dim.Span(", unsent "),
				look.Value.Span(fmt.Sprint(total.Unsent)), look.Dim.Span(", overrun "), look.Value.Span(fmt.Sprint(total.OverLimit)))
		}
	}
}
