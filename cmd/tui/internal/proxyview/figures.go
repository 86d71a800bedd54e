package proxyview

import (
	"fmt"
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
	"wirelab/lossmodel/relay"
)

// perSecond writes a count as a rate.
func perSecond(n uint64, span float64) string {
	if span <= 0 {
		return "-"
	}
	if n == 0 {
		return "0"
	}
	return units.Stepped(float64(n)/span, 1, 10)
}

// quantile writes one in milliseconds.
func quantile(h *relay.Histogram, q float64) string {
	if h.N == 0 {
		return "-"
	}
	return units.Stepped(units.Milliseconds(h.Quantile(q)), 2, 100, 100)
}

// sizes writes the sizes of payloads in bytes.
func sizes(h *relay.Histogram) string {
	if h.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d/%d", h.Quantile(0.5), h.Quantile(0.95), h.Max)
}

// share writes n of all in percent.
func share(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	return units.Stepped(100*float64(n)/float64(all), 2, 10) + " %"
}

// percent writes n of all in percent in three letters at most.
func percent(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	if n == 0 {
		return "0"
	}
	return units.Stepped(100*float64(n)/float64(all), 1, 9.95)
}

// drawNow is the table of figures: of the last two seconds, and below them those of all time.
func (m *model) drawNow(c *look.Canvas, focused bool) {
	h := m.shown()
	c.Frame(m.Theme(), focused, "Now", look.Dim.Span("of the last 2 s"))
	label := 19
	w := (c.W - 4 - label) / 2
	y := 1
	row := func(name string, ink look.Ink, cell func(f, all *relay.Flow) string) {
		if y >= c.H-1 {
			return
		}
		c.Clip(2, y, label-1, look.Dim, name)
		for i := range h.now.Flows {
			text := cell(&h.now.Flows[i], &h.snap.Totals.Flows[i])
			c.Right(2+label+(i+1)*w, y, ink, look.Short(text, w-1))
		}
		y++
	}
	heads := [2]string{"up", "down"}
	if w > 18 {
		heads = [2]string{"up, to the server", "down, to clients"}
	}
	for i, head := range heads {
		c.Right(2+label+(i+1)*w, y, wayInks[i], head)
	}
	y++
	row("in /s", look.Value, func(f, _ *relay.Flow) string { return perSecond(f.In, h.span) })
	row("out /s", look.Value, func(f, _ *relay.Flow) string { return perSecond(f.Out, h.span) })
	row("lost", look.Lost, func(f, _ *relay.Flow) string { return share(f.Lost(), f.In+f.Copies) })
	row("delay ms p50, p95", look.Value, func(f, _ *relay.Flow) string { return quantile(&f.Took, 0.5) + ", " + quantile(&f.Took, 0.95) })
	row("bytes p50/p95/max", look.Value, func(f, _ *relay.Flow) string { return sizes(&f.Size) })
	row("kbps of payload", look.Value, func(f, _ *relay.Flow) string { return units.Fixed(relay.Kbps(f.OutBytes, h.span), 1) })
	row("copies made /s", look.Value, func(f, _ *relay.Flow) string { return perSecond(f.Copies, h.span) })
	row("queue", look.Value, func(f, _ *relay.Flow) string { return fmt.Sprintf("%d, %d B", f.Line.Packets, f.Line.Bytes) })
	row("under way", look.Value, func(f, _ *relay.Flow) string { return fmt.Sprint(f.Queued) })
	row("in, all the time", look.Plain, func(_, t *relay.Flow) string { return fmt.Sprint(t.In) })
	row("lost, all the time", look.Plain, func(_, t *relay.Flow) string { return share(t.Lost(), t.In+t.Copies) })
	row("ICMP: nobody there", look.Plain, func(_, t *relay.Flow) string { return fmt.Sprint(t.Gone) })
}

// drawTrust says what was asked of the links and what they did, and how late the proxy itself
// was; red and in words where they disagree.
func (m *model) drawTrust(c *look.Canvas, focused bool) {
	c.Frame(m.Theme(), focused, "Asked and done", look.Dim.Span("since the last change"))
	var bad, good [][]look.Span
	put := func(ok bool, pieces ...look.Span) {
		if ok {
			good = append(good, pieces)
			return
		}
		for i := range pieces {
			pieces[i].Ink = look.Alarm
		}
		bad = append(bad, append(pieces, look.Alarm.Span(" NOT AS ASKED")))
	}
	m.lateness(put)
	for w := range m.checks {
		for i := range m.checks[w] {
			k := &m.checks[w][i]
			pieces := []look.Span{wayInks[w].Span(look.PadRight(relay.Way(w).String(), 5)), look.Dim.Span(look.PadRight(k.Name, 6))}
			did := look.Value.Span(figure(k, k.Measured))
			if !k.Known {
				put(true, append(pieces, look.Dim.Span("did "), did, look.Dim.Span(" "+k.Unit+"; no closed form for it"))...)
				continue
			}
			pieces = append(pieces, look.Dim.Span("asked "), look.Plain.Span(figure(k, k.Set)), look.Dim.Span(" did "), did, look.Dim.Span(" "+k.Unit))
			if k.OK && (math.IsInf(k.Most, 0) || k.Name == "rate") {
				pieces = append(pieces, look.Dim.Span(map[bool]string{true: " or less", false: " or more"}[k.Name == "rate"]))
			}
			put(k.OK, pieces...)
		}
	}
	for i, line := range append(bad, good...) { // what disagrees must not be left out
		if i < c.H-2 {
			c.Spans(2, 1+i, c.W-4, line...)
		}
	}
}

// lateness says how late the proxy itself was, and what the system did not take.
func (m *model) lateness(put func(ok bool, pieces ...look.Span)) {
	for w := range m.live.now.Flows {
		all, now := &m.live.snap.Totals.Flows[w], &m.live.now.Flows[w]
		name := wayInks[w].Span(look.PadRight(relay.Way(w).String(), 5))
		late := []look.Span{name, look.Dim.Span("late  p50 "), look.Value.Span(quantile(&now.Late, 0.5)), look.Dim.Span(" p99 "),
			look.Value.Span(quantile(&now.Late, 0.99)), look.Dim.Span(" ms")}
		ok := now.Late.Quantile(0.99) <= relay.Tolerated
		if ok {
			late = append(late, look.Dim.Span(", max ever "), look.Value.Span(quantile(&all.Late, 1)))
		}
		put(ok, late...)
		if all.Missed+all.Unsent+all.Overrun > 0 {
			put(now.Missed+now.Unsent+now.Overrun == 0, name, look.Dim.Span("system dropped "), look.Value.Span(fmt.Sprint(all.Missed)), look.Dim.Span(", unsent "),
				look.Value.Span(fmt.Sprint(all.Unsent)), look.Dim.Span(", no room "), look.Value.Span(fmt.Sprint(all.Overrun)))
		}
	}
}
