package page

import (
	"fmt"
	"math"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
)

// digits writes a number with about four digits and commas between the thousands.
func digits(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v == math.Trunc(v):
		return units.Group(units.Fixed(v, 0))
	}
	return units.Group(units.Stepped(v, 3, 10, 100, 1000))
}

// round writes a number as one says it: 143, 14.3, 1.4, 0.14.
func round(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return digits(math.Round(v))
	case a >= 10:
		return units.FormatDecimal(math.Round(v*10) / 10)
	case a >= 0.01:
		return units.General(v, 2)
	}
	return units.Fixed(v, 3)
}

// figure writes a figure, "–" if there is none.
func figure(f figures.Figure) string { return f.In(digits, "–") }

// share writes a share, "–" if there is none.
func share(f figures.Figure) string { return f.In(percent, "–") }

// percent writes a share.
func percent(share float64) string {
	switch p := 100 * share; {
	case p == 0:
		return "0 %"
	case math.Abs(p) < 0.01:
		return "< 0.01 %"
	default:
		return round(p) + " %"
	}
}

// count writes a number of things, with commas between the thousands: "2,880 packets".
func count(n int64, noun string) string {
	if n != 1 {
		noun = words.Plural(noun)
	}
	return digits(float64(n)) + " " + noun
}

// encoderOf is the name of the encoder that a run began with.
func encoderOf(r *engine.Result) string { return report.SettingOf(r, "encoder", "name") }

// headline says what came out of a run, in a sentence.
func headline(r *engine.Result, c *config.Config) string {
	t := &r.Totals
	var b strings.Builder
	b.WriteString(encoderOf(r) + laterEncoders(r))
	if x := t.Transfer; x != nil {
		if x.TimeS != nil {
			fmt.Fprintf(&b, " brings the file across in %s s", digits(*x.TimeS))
		} else {
			b.WriteString(" did not bring the file across: " + x.Verdict())
		}
	} else {
		takes := " takes"
		if b.Len() > len(encoderOf(r)) {
			takes = " take"
		}
		fmt.Fprintf(&b, "%s %s kbps", takes, round(t.PayloadKbps))
	}
	b.WriteString(" " + overWhat(r, c) + "; ")
	parts := []string{"nothing decoded wrong"}
	if t.Wrong > 0 {
		parts[0] = count(t.Wrong, "packet") + " decoded WRONG"
	}
	if n := t.Failed(); n > 0 {
		parts = append(parts, count(n, "packet")+" could not be decoded")
	}
	if t.BitsPerCube != nil {
		if starved, known := t.Playout.StarvedRatio.Value(); known {
			if starved > 0 {
				parts = append(parts, percent(starved)+" starved")
			} else {
				parts = append(parts, "never starved")
			}
		}
	}
	b.WriteString(strings.Join(parts, "; ") + ".")
	return b.String()
}

// laterEncoders names those that took over during the run.
func laterEncoders(r *engine.Result) string {
	var names []string
	last := encoderOf(r)
	for i := range r.Changes {
		if name := r.Changes[i].Change.Encoder; name != "" && name != last {
			names, last = append(names, name), name
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 2:
		return fmt.Sprintf(" and, in turn, %d others", len(names))
	}
	return ", then " + strings.Join(names, ", then ")
}

// overWhat says what link it was.
func overWhat(r *engine.Result, c *config.Config) string {
	text := "over a link of its own"
	if c != nil {
		text = linkWords(c)
	}
	changed := false
	for i := range r.Changes {
		changed = changed || r.Changes[i].Change.Down != nil || r.Changes[i].Change.Profile != ""
	}
	lost, known := r.Totals.Network.LossRate.Value()
	switch {
	case changed:
		text += ", changed on the way,"
		if known {
			text += " with " + percent(lost) + " lost"
		}
	case known && (lost > 0 || c != nil && c.Down.Loss != lossmodel.DefaultSpec().Loss):
		text += " with " + percent(lost) + " loss"
	}
	return text
}

// linkWords names a link by its profile, or by what is set on it.
func linkWords(c *config.Config) string {
	for _, p := range lossmodel.Profiles() {
		down, up := p.Down, p.Up
		down.Loss, up.Loss = c.Down.Loss, c.Up.Loss
		if down != c.Down || up != c.Up {
			continue
		}
		if p.Name == "perfect" {
			if c.Down.Loss == p.Down.Loss {
				return "over a perfect link"
			}
			return "over a link without delay"
		}
		return "over " + p.Name
	}
	if latency, err := c.Down.Get("latency"); err == nil && latency != "0ms" {
		text := "over a link of " + spaced(latency)
		if jitter, err := c.Down.Get("jitter"); err == nil && jitter != "0ms" {
			text += " ± " + spaced(jitter)
		}
		return text
	}
	return "over a link of its own"
}

// spaced puts a space between a number and its unit.
func spaced(text string) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i > 0 {
		return text[:i] + " " + text[i:]
	}
	return text
}

// ending says what a reader must know of how a run ended; "" if it ended well.
func ending(why engine.Ending, what string, interrupted bool) string {
	const until = " This is what was measured until then."
	switch {
	case what != "":
		return "Broken off: " + what + "." + until
	case why == engine.Unfinished:
		return "It is still running, or was killed." + until
	case interrupted || why == engine.Interrupted:
		return "It was interrupted." + until
	}
	return ""
}
