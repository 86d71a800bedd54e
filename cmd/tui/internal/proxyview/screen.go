package proxyview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/units"
	"wirelab/lossmodel/relay"
)

// The smallest screen that shows anything.
const minWidth, minHeight = 60, 15

// pane is a part of the screen.
type pane int

const (
	paneCharts pane = iota
	paneNow
	paneControls
	paneTrust
	paneClients
	paneDatagrams
	numPanes
)

func (p pane) name() string {
	return [numPanes]string{"Charts", "Now", "Controls", "Asked and done", "Clients", "Datagrams"}[p]
}

// wide reports whether all panes are in sight at once.
func (m *Model) wide() bool { return room.Wide(m.w, m.h) }

// View implements tea.Model.
func (m *Model) View() string {
	c := look.NewCanvas(m.w, m.h)
	if m.w < minWidth || m.h < minHeight {
		m.drawSmall(c)
		return strings.Join(c.Lines(m.theme), "\n")
	}
	m.drawHeader(c)
	foot := 1
	if m.line.Open {
		foot = m.line.Rows(m.w)
	}
	body := look.NewCanvas(m.w, m.h-2-foot)
	m.drawBody(body)
	if m.over != nil {
		lay(body, m.over, m)
	}
	c.Paste(0, 2, body)
	end := look.NewCanvas(m.w, foot)
	if m.line.Open {
		m.line.Draw(end, m.theme, m.context())
	} else {
		m.drawFooter(end)
	}
	c.Paste(0, m.h-foot, end)
	return strings.Join(c.Lines(m.theme), "\n")
}

// drawSmall says what matters most where there is no room.
func (m *Model) drawSmall(c *look.Canvas) {
	lines := look.Wrap(fmt.Sprintf("The proxy needs a terminal of %d x %d or more; this one is %d x %d. The traffic goes on; q ends it.",
		minWidth, minHeight, m.w, m.h), max(m.w-2, 1))
	for i, line := range lines {
		c.Text(1, i, look.Plain, line)
	}
	text, ink := m.verdict()
	for i, line := range look.Wrap(text, max(m.w-2, 1)) {
		c.Text(1, len(lines)+1+i, ink, line)
	}
}

// lay draws a box over the body.
func lay(c *look.Canvas, o room.Overlay, m *Model) {
	ow, oh, right := o.Size(c.W-room.OverlayMargin, c.H)
	ow, oh = min(ow, c.W), min(oh, c.H)
	box := look.NewCanvas(ow, oh)
	o.Draw(box, m.theme)
	x, y := (c.W-ow)/2, (c.H-oh)/2
	if right {
		x, y = c.W-ow, 0
	}
	c.Paste(x, y, box)
}

// drawBody lays the panes out: all of them, or the one that has the keys.
func (m *Model) drawBody(c *look.Canvas) {
	if !m.wide() {
		x := 1
		for p := range numPanes {
			ink, left, right := look.Dim, " ", " "
			if p == m.focus {
				ink, left, right = look.Focus, "[", "]"
			}
			name := p.name()
			if m.w < 76 {
				name = [numPanes]string{"Charts", "Now", "Controls", "Done", "Clients", "Datagrams"}[p]
			}
			x = c.Text(x, 0, ink, left+name+right)
		}
		m.drawVital(c, 1)
		m.paste(c, m.focus, 0, 2, c.W, c.H-2)
		return
	}
	right := room.RightColumn(c.W)
	left := c.W - right
	// What is worth its rows first: the controls and the figures are whole where they can be.
	list := max(min(c.H/4, 12), 5)
	m.paste(c, paneCharts, 0, 0, left, c.H-list)
	m.paste(c, paneDatagrams, 0, c.H-list, left, list)
	y, rest := 0, c.H
	few := 4 // rows of the clients, at least
	if c.H >= 36 {
		few = 6
	}
	for _, x := range []struct {
		p          pane
		want, rows int // rows that the panes below it must have
	}{{paneControls, 14, 15 + few}, {paneNow, 14, 7 + few}, {paneTrust, 9, few}, {paneClients, c.H, 0}} {
		h := min(x.want, rest-x.rows)
		if h = max(h, min(rest, 4)); x.p == paneClients {
			h = rest
		}
		m.paste(c, x.p, left, y, right, h)
		y += h
		rest -= h
	}
}

// paste draws a pane.
func (m *Model) paste(c *look.Canvas, p pane, x, y, w, h int) {
	if w < 4 || h < 3 {
		return
	}
	part := look.NewCanvas(w, h)
	focused := p == m.focus
	switch p {
	case paneCharts:
		m.drawCharts(part, focused)
	case paneNow:
		m.drawNow(part, focused)
	case paneControls:
		m.drawControls(part, focused)
	case paneTrust:
		m.drawTrust(part, focused)
	case paneClients:
		m.drawClients(part, focused)
	case paneDatagrams:
		m.drawDatagrams(part, focused)
	}
	c.Paste(x, y, part)
}

// drawControls draws the controls, and says whose links they set.
func (m *Model) drawControls(c *look.Canvas, focused bool) {
	m.controls.Draw(c, m.theme, focused)
	text := " of all clients "
	if m.client.Turn > 0 {
		text = fmt.Sprintf(" of client %d alone ", m.client.Turn)
	} else if m.proxy.Shared {
		text = " of the link that all share "
	}
	ink := look.Dim
	if m.client.Turn > 0 {
		ink = look.Warn
	}
	c.Text(2, c.H-1, ink, text)
}

// verdict says in a line whether the links do what was asked.
func (m *Model) verdict() (string, look.Ink) {
	remarks := m.live.now.Remarks()
	switch {
	case len(m.lies) > 0:
		return "! NOT AS ASKED: " + strings.Join(append(slices.Clone(m.lies), remarks...), "; "), look.Alarm
	case len(remarks) > 0:
		return "as asked, but " + strings.Join(remarks, "; "), look.Warn
	case m.lied > 0:
		return fmt.Sprintf("as asked now; not for %s s of %s: %s", units.Fixed(m.lied.Seconds(), 0), units.Fixed(m.at().Seconds(), 0), m.lie), look.Warn
	}
	late := "nothing left yet"
	if n, p99 := m.late(); n > 0 {
		late = "late p99 " + relay.Millis(p99) + " ms"
	}
	return "as asked: " + late, look.Good
}

// late is how late datagrams left of late, in the worse direction.
func (m *Model) late() (n uint64, p99 time.Duration) {
	for w := range m.live.now.Flows {
		h := &m.live.now.Flows[w].Late
		n, p99 = n+h.N, max(p99, h.Quantile(0.99))
	}
	return n, p99
}

// drawHeader says what goes where, and whether it is as asked.
func (m *Model) drawHeader(c *look.Canvas) {
	badge := look.Live.Span(" " + m.theme.Play + " LIVE ")
	if m.frozen != nil {
		badge = look.Paused.Span(" " + m.theme.Pause + " DISPLAY STOPPED ")
	}
	x := c.W - 1 - look.TextWidth(badge.Text)
	c.Spans(x, 0, c.W-x, badge)
	s := m.proxy.Live.Script
	dot := look.Faint.Span("  " + m.theme.Dot + "  ")
	arrow := " → "
	if m.theme.Ascii {
		arrow = " -> "
	}
	route := []look.Span{look.Focus.Span("proxy"), dot, look.Plain.Span(m.proxy.Listen + arrow + m.proxy.Server)}
	clock := []look.Span{dot, look.Value.Span(look.Clock(m.shown().snap.Totals.At))}
	seed := []look.Span{dot, look.Dim.Span("seed "), look.Plain.Span(fmt.Sprint(s.Seed))}
	title := []look.Span{dot, look.Title.Span(look.Short(m.linkName(), 30))}
	open := []look.Span{}
	if m.proxy.Open {
		open = []look.Span{dot, look.Warn.Span("open to other machines")}
	}
	c.Spans(1, 0, x-2, look.Fit(x-2, join(route, title, seed, clock, open), join(route, title, clock, open), join(route, clock, open), join(route, clock),
		join(route[2:], clock))...)
	text, ink := m.verdict()
	c.Clip(1, 1, c.W-2, ink, text)
}

func join(parts ...[]look.Span) (all []look.Span) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// linkName names what the links are at present.
func (m *Model) linkName() string {
	c := m.proxy.Live.Config(m.client)
	if c.Profile != "" {
		return "profile " + c.Profile
	}
	if m.told == 0 {
		return m.proxy.Live.Script.Title
	}
	return look.Short(m.proxy.Live.Script.Title, 20) + ", changed"
}

// drawVital is the line that never leaves a small screen.
func (m *Model) drawVital(c *look.Canvas, y int) {
	h := m.shown()
	var pieces []look.Span
	for w := range h.now.Flows {
		f := &h.now.Flows[w]
		pieces = append(pieces, look.Dim.Span([]string{"up ", "  down "}[w]), look.Value.Span(perSecond(f.Out, h.span)), look.Dim.Span("/s "))
		if c.W >= 78 {
			pieces = append(pieces, look.Value.Span(units.Fixed(relay.Kbps(f.OutWire, h.span), 0)), look.Dim.Span(" kbps "))
		}
		pieces = append(pieces, look.Value.Span(quantile(&f.Took, 0.5)), look.Dim.Span(" ms "),
			look.Lost.Span(share(f.Lost(), f.In+f.Copies)), look.Dim.Span(" lost"))
	}
	c.Spans(1, y, c.W-2, pieces...)
}

// drawFooter shows what there is to be told, or names the keys.
func (m *Model) drawFooter(c *look.Canvas) {
	if m.note != "" && m.at()-m.noted < noteStays {
		if m.bad {
			c.Clip(1, 0, c.W-2, look.Bad, "! "+m.note)
		} else {
			c.Clip(1, 0, c.W-2, look.Mark, m.note)
		}
		return
	}
	x := 1
	for _, pinned := range []bool{false, true} { // as many as there is room for besides those that never leave
		room := c.W - 2
		if !pinned {
			for _, b := range m.keys {
				if b.Pinned {
					room -= look.TextWidth(b.Help().Key+" "+b.Brief) + 3
				}
			}
		}
		for _, b := range m.keys {
			if b.Brief == "" || b.Pinned != pinned {
				continue
			}
			n := look.TextWidth(b.Help().Key + " " + b.Brief)
			if x > 1 {
				n += 3
			}
			if x-1+n > room {
				continue
			}
			if x > 1 {
				x = c.Text(x, 0, look.Faint, " "+m.theme.Dot+" ")
			}
			x = c.Spans(x, 0, c.W-x, look.Key.Span(b.Help().Key), look.Dim.Span(" "+b.Brief))
		}
	}
}
