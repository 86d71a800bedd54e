package proxyview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/internal/units"
	"wirelab/lossmodel/relay"
)

// summary returns the verdict on links and proxy as one line with its style, the most severe that applies:
// faults now, remarks, faults before, noticeable lateness, or none.
func (m *model) summary() (string, look.Style) {
	remarks := m.live.recent.Remarks()
	switch {
	case len(m.faults) > 0:
		return "! NOT AS SET: " + strings.Join(append(slices.Clone(m.faults), remarks...), "; "), look.Alarm
	case len(remarks) > 0:
		return "as set, but " + strings.Join(remarks, "; "), look.Warn
	case m.faultyFor > 0:
		return fmt.Sprintf("as set now; %s of %s s not exact: %s", units.Fixed(m.faultyFor.Seconds(), 0), units.Fixed(m.elapsed().Seconds(), 0), m.lastFault), look.Warn
	}
	for direction := range m.live.recent.Flows {
		if remark := m.live.recent.Flows[direction].LateRemark(relay.Direction(direction)); remark != "" {
			return "as set: " + remark, look.Plain
		}
	}
	late := "nothing sent on yet"
	switch n, p99 := m.lateness(); {
	case n > 0:
		late = "late p99 " + relay.Millis(p99) + " ms"
	case m.live.snap.Totals.Flows[relay.Up].Out+m.live.snap.Totals.Flows[relay.Down].Out > 0:
		late = "nothing sent on in the last 2 s"
	}
	return "as set: " + late, look.Good
}

// lateness returns the number of datagrams of both directions in the last recentSpan, and how late they
// left after their due time: the 99th percentile of the worse direction.
func (m *model) lateness() (n uint64, p99 time.Duration) {
	for w := range m.live.recent.Flows {
		h := &m.live.recent.Flows[w].Lateness
		n, p99 = n+h.N, max(p99, h.Quantile(0.99))
	}
	return n, p99
}

// Header implements ui.Screen: addresses, link, seed and time, and below them the verdict.
func (m *model) Header(w int) ui.Header {
	th := m.Theme()
	badge := look.Live.Span(" " + th.Play + " LIVE ")
	if m.frozen != nil {
		badge = look.Paused.Span(" " + th.Pause + " DISPLAY STOPPED ")
	}
	text, style := m.summary()
	return ui.Header{Title: m.title, Badge: badge, Below: [][]look.Span{{style.Span(look.Shorten(text, w-2))}}}
}

// title returns the first line: the addresses, the link, the seed and the time, as far as they fit
// into w columns.
func (m *model) title(w int) []look.Span {
	th := m.Theme()
	dot := look.Faint.Span("  " + th.Dot + "  ")
	route := []look.Span{look.Focus.Span("proxy"), dot, look.Plain.Span(m.proxy.Listen + " → " + m.proxy.Server)}
	clock := []look.Span{dot, look.Value.Span(look.FormatTime(m.displayed().snap.Totals.At))}
	seed := []look.Span{dot, look.Dim.Span("seed "), look.Plain.Span(fmt.Sprint(m.proxy.Live.Script.Seed))}
	title := []look.Span{dot, look.Title.Span(m.linkName())}
	var open []look.Span
	if m.proxy.Open {
		open = []look.Span{dot, look.Warn.Span("open to other machines")}
	}
	return look.Fit(w, slices.Concat(route, title, seed, clock, open), slices.Concat(route, title, clock, open),
		slices.Concat(route, clock, open), slices.Concat(route, clock), slices.Concat(clock[1:], []look.Span{dot}, route[2:])) // route[2:] is only the addresses
}

// linkName names the settings for all clients: a profile, or the title of the script and whether it was changed. Then
// it counts the clients with other settings.
func (m *model) linkName() string {
	live := m.proxy.Live
	all := live.Config(relay.Client{})
	name := live.Script.Title
	switch {
	case all.Profile != "":
		name = "profile " + all.LinkProfileText()
	case !all.SameLive(live.Script.Base):
		name = look.Shorten(name, 20) + ", changed"
	}
	name = look.Shorten(name, 30)
	switch differing := m.differing(); differing {
	case 0:
		return name
	case 1:
		return name + "; 1 client differs"
	default:
		return fmt.Sprintf("%s; %d clients differ", name, differing)
	}
}

// differs reports whether a client has settings of its own.
func (m *model) differs(client relay.Client) bool {
	all, own := m.proxy.Live.Config(relay.Client{}), m.proxy.Live.Config(client)
	return own != all && !own.SameLive(all) // the same pointer, without settings of its own, needs no comparison
}

// differing returns the number of clients with settings of their own.
func (m *model) differing() (n int) {
	for i := range m.live.snap.Clients {
		if m.differs(m.live.snap.Clients[i].Client) {
			n++
		}
	}
	return n
}

// drawVitalLine draws a line of a small screen: rate, delay and loss, whichever pane is shown.
func (m *model) drawVitalLine(c *look.Canvas) {
	h := m.displayed()
	var pieces []look.Span
	for w := range h.recent.Flows {
		f := &h.recent.Flows[w]
		pieces = append(pieces, look.Dim.Span([]string{"up ", "  down "}[w]), look.Value.Span(formatRate(f.Out, h.recentSeconds)), look.Dim.Span("/s "))
		if c.W >= 78 {
			pieces = append(pieces, look.Value.Span(units.Fixed(relay.Kbps(f.OutWire, h.recentSeconds), 0)), look.Dim.Span(" kbps "))
		}
		pieces = append(pieces, look.Value.Span(formatQuantile(&f.Delay, 0.5, 1)), look.Dim.Span(" ms "),
			look.Lost.Span(formatPercent(f.Lost(), f.In+f.Copies)+" %"))
	}
	pieces = append(pieces, look.Dim.Span(" lost"))
	c.Spans(1, 0, c.W-2, pieces...)
}
