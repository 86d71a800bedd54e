package panes

import (
	"math"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/trust"
	"wirelab/internal/units"
)

// Trust is a line that says what the link was asked for and what it did, for the lower edge of a
// pane. It is red only where the two disagree by more than chance allows.
type Trust struct {
	judge  trust.Judge
	checks []trust.Check
	begin  string
	seen   bool
}

// Observe takes the newest figures when it is time for that, and reports whether they are others.
func (p *Trust) Observe(v room.View) bool {
	if p.seen && !v.Slow {
		return false
	}
	p.seen, p.begin = true, "link so far:"
	if v.Back {
		p.begin = "link, as of now:"
	}
	p.checks = p.judge.Checks(v.Lane().Link)
	slices.SortStableFunc(p.checks, func(a, b trust.Check) int { // what disagrees must not be left out
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

// Draw writes the line into the lower edge of a pane, as many figures as there is room for.
func (p *Trust) Draw(c *look.Canvas) {
	if len(p.checks) == 0 {
		return
	}
	width := c.W - 6
	begin := []look.Span{look.Dim.Span(p.begin)}
	if brief := trustFigure(&p.checks[0], false); look.SpansWidth(begin)+look.SpansWidth(brief) > width {
		begin = []look.Span{look.Dim.Span("link:")}
	}
	long, short := begin, [][]look.Span{begin}
	for i := range p.checks {
		long = append(long, trustFigure(&p.checks[i], true)...)
		short = append(short, trustFigure(&p.checks[i], false))
	}
	line := look.Fit(width, long, look.FitGroups(width, short))
	c.Spans(2, c.H-1, c.W-4, append(append([]look.Span{look.Dim.Span(" ")}, line...), look.Dim.Span(" "))...)
}

// trustFigure is one figure: what was asked for, what was done, and what chance allows.
func trustFigure(k *trust.Check, long bool) []look.Span {
	did, number := look.Value, func(v float64) string { return units.Fixed(v, trustDigits(k)) }
	if !k.OK {
		did = look.Alarm
	}
	if !k.Known {
		return []look.Span{look.Dim.Span(" " + k.Name + " "), did.Span(number(k.Measured)), look.Dim.Span(" " + k.Unit + ", no closed form")}
	}
	out := []look.Span{look.Dim.Span(" " + k.Name + " asked "), look.Plain.Span(number(k.Set)), look.Dim.Span(" did "),
		did.Span(number(k.Measured)), look.Dim.Span(" " + k.Unit)}
	if !k.OK {
		out = append(out, look.Alarm.Span(" NOT AS ASKED"))
	}
	if !long && k.OK {
		return out
	}
	switch {
	case math.IsInf(k.Most, 1):
		return append(out, look.Dim.Span(" (from "+number(k.Least)+")"))
	case math.IsInf(k.Least, -1):
		return append(out, look.Dim.Span(" (to "+number(k.Most)+")"))
	}
	return append(out, look.Dim.Span(" ("+number(k.Least)+" to "+number(k.Most)+")"))
}

// trustDigits is how exactly a figure is written.
func trustDigits(k *trust.Check) int {
	switch k.Name {
	case "loss":
		return 2
	case "delay":
		return 1
	}
	return 0
}
