package panes

import (
	"math"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/figures"
	"wirelab/experiment/trust"
	"wirelab/internal/units"
)

// LinkStatusLine compares the measured loss, delay and rate of the modelled link with their settings,
// in one line for the lower edge of a pane. A value outside the interval in which a correct link
// lies is red.
type LinkStatusLine struct {
	judge  trust.Verifier // decides which values are outside
	checks []trust.Check  // failed checks first
	prefix string         // "link, run", or "link, to cursor" while the time cursor is in the past
}

// Observe implements room.Observer. It repeats the checks when a slow redraw is due (see room.View.RedrawDue), and
// reports whether there are figures to draw.
func (p *LinkStatusLine) Observe(v room.View) bool {
	if !v.RedrawDue {
		return false
	}
	p.prefix = "link, run"
	if v.Past {
		p.prefix = "link, to cursor"
	}
	p.checks = nil
	if !v.Cut() { // otherwise the sums are those of the present
		p.checks = p.judge.Checks(v.ActiveLane().Link)
	}
	slices.SortStableFunc(p.checks, func(a, b trust.Check) int { // failed checks first, so that they are visible
		switch {
		case a.OK == b.OK:
			return 0
		case b.OK:
			return -1
		}
		return 1
	})
	return len(p.checks) > 0
}

// Draw draws as many figures as fit into the lower edge of a pane.
// The last columns, the number of which is reserved, are left for another text.
func (p *LinkStatusLine) Draw(c *look.Canvas, reserved int) {
	if len(p.checks) == 0 {
		return
	}
	width := c.W - 6 - reserved
	prefix := look.Labelled(p.prefix)
	if firstCheck := checkSpans(&p.checks[0], onlySet); look.SpansWidth(prefix)+look.SpansWidth(firstCheck) > width {
		prefix = look.Labelled("link")
	}
	var variants [withInterval + 1][][]look.Span // by detail
	for detail := range variants {
		variants[detail] = [][]look.Span{prefix}
		for i := range p.checks {
			variants[detail] = append(variants[detail], checkSpans(&p.checks[i], detail))
		}
	}
	line := look.Fit(width, slices.Concat(variants[withInterval]...), slices.Concat(variants[withFragments]...),
		look.FitGroups(width, variants[onlySet])) // as many as fit
	c.Spans(2, c.H-1, c.W-4, slices.Concat(look.Labelled(" "), line, look.Labelled(" "))...)
}

// Details of a check, each with those before it. A check that failed has all.
const (
	onlySet       = iota
	withFragments // the loss expected of packets in several fragments
	withInterval  // the interval in which a correct link lies; an edge may be infinite
)

// checkSpans formats one check, such as "delay 32.1 ms (set 32.0)", or "(mean set 32.0)" after a change. A rate is the
// used part of what is set.
func checkSpans(check *trust.Check, detail int) []look.Span {
	style, number := look.Value, func(v float64) string { return FormatCheck(check, v) }
	if !check.OK {
		style = look.Alarm
	}
	out := []look.Span{look.Dim.Span("  " + check.Name + " "), style.Span(number(check.Measured)), look.Dim.Span(" " + check.Unit)}
	switch {
	case !check.Known:
		return append(out, look.Dim.Span(" (no expected value)"))
	case check.OK && check.Name == "rate":
		return append(out, look.Dim.Span(" of "), look.Plain.Span(number(check.Set)), look.Dim.Span(" used"))
	case !check.OK:
		out, detail = append(out, look.Alarm.Span(" NOT AS SET")), withInterval
	}
	label := " (set "
	if check.IsMean {
		label = " (mean set "
	}
	out = append(out, look.Dim.Span(label), look.Plain.Span(number(check.Set)))
	if expected := number(check.Expected); detail >= withFragments && expected != number(check.Set) {
		out = append(out, look.Dim.Span(", with fragments "), look.Plain.Span(expected))
	}
	if detail >= withInterval {
		interval := ", expected " + number(check.Min) + " to " + number(check.Max)
		switch {
		case math.IsInf(check.Max, 1):
			interval = ", expected at least " + number(check.Min)
		case math.IsInf(check.Min, -1):
			interval = ", expected at most " + number(check.Max)
		}
		out = append(out, look.Dim.Span(interval))
	}
	return append(out, look.Dim.Span(")"))
}

// FormatCheck formats a value of a check as the table of figures does, rates without decimals.
func FormatCheck(check *trust.Check, v float64) string {
	key := map[string]string{"loss": "network.loss_rate", "delay": "network.delay_ms.p50"}[check.Name]
	return units.Fixed(v, figures.Find(key).Decimals)
}
