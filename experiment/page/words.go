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

// formatNumber formats v with about four significant digits and commas between thousands, "–" if v is
// not finite.
func formatNumber(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v == math.Trunc(v):
		return units.Group(units.Fixed(v, 0))
	}
	return units.Group(units.Stepped(v, 3, 10, 100, 1000))
}

// formatRounded formats v with two or three significant digits for prose: 143, 14.3, 1.4, 0.14.
func formatRounded(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return formatNumber(math.Round(v))
	case a >= 10:
		return units.FormatDecimal(math.Round(v*10) / 10)
	case a >= 0.01:
		return units.General(v, 2)
	}
	return units.Fixed(v, 3)
}

// formatFigure formats a figure, "–" if it has no data.
func formatFigure(f figures.Figure) string { return f.FormatWith(formatNumber, "–") }

// formatShare formats a share in percent, "–" if it has no data.
func formatShare(f figures.Figure) string { return f.FormatWith(formatPercent, "–") }

// formatPercent formats a share of 1 in percent.
func formatPercent(share float64) string {
	switch p := 100 * share; {
	case p == 0:
		return "0 %"
	case math.Abs(p) < 0.01:
		return "< 0.01 %"
	default:
		return formatRounded(p) + " %"
	}
}

// formatCount formats a count with its noun: "2,880 packets".
func formatCount(n int64, noun string) string {
	if n != 1 {
		noun = words.Plural(noun)
	}
	return formatNumber(float64(n)) + " " + noun
}

// initialEncoder returns the encoder at the start of a run.
func initialEncoder(r *engine.Result) string { return report.SettingOf(r, "encoder", "name") }

// verdict returns the verdict of a run and how it begins the headline: the number of assertions, or the first one that
// does not hold. failures is the number of failures, which a run may also have without assertions.
func verdict(assertions []engine.AssertionResult, failures int) (verdict, text string) {
	if len(assertions) == 0 {
		if failures > 0 {
			return failedVerdict, ""
		}
		return "", ""
	}
	for _, a := range assertions {
		if a.Holds && !a.Absent {
			continue
		}
		text = fmt.Sprintf("%s is %s, not %s", a.Name, formatFigure(a.Got), a.Bound)
		if a.Absent {
			text = "no data for " + a.Name + " " + a.Bound
		}
		if failures > 1 {
			text += fmt.Sprintf(", and %d more", failures-1)
		}
		return failedVerdict, text + "; "
	}
	if failures > 0 {
		return failedVerdict, ""
	}
	if len(assertions) == 1 {
		return passedVerdict, "the assertion holds; "
	}
	return passedVerdict, fmt.Sprintf("all %d assertions hold; ", len(assertions))
}

// runHeadline summarizes a run in a sentence, such as "adaptive uses 214 kbps over a link of 50 ms with
// 5 % loss; nothing decoded wrong; never starved." link describes the link; "" leaves it out.
func runHeadline(r *engine.Result, link string) string {
	t := &r.Totals
	var b strings.Builder
	b.WriteString(initialEncoder(r) + laterEncoders(r))
	if x := t.Transfer; x != nil {
		if x.TimeS != nil { // complete
			fmt.Fprintf(&b, " transferred the file in %s s", formatNumber(*x.TimeS))
		} else {
			b.WriteString(" did not transfer the file: " + x.Verdict())
		}
	} else {
		verb := " uses"
		if b.Len() > len(initialEncoder(r)) { // several encoders
			verb = " use"
		}
		fmt.Fprintf(&b, "%s %s kbps", verb, formatRounded(t.PayloadKbps))
	}
	if link != "" {
		b.WriteString(" " + link)
	}
	b.WriteString("; ")
	parts := []string{"nothing decoded wrong"}
	if t.Wrong > 0 {
		parts[0] = formatCount(t.Wrong, "packet") + " decoded WRONG"
	}
	if n := t.Failed(); n > 0 {
		parts = append(parts, formatCount(n, "packet")+" could not be decoded")
	}
	if starved, known := t.Playout.StarvedRatio.Value(); known && starved > 0 {
		parts = append(parts, formatPercent(starved)+" starved")
	} else if known {
		parts = append(parts, "never starved")
	}
	b.WriteString(strings.Join(parts, "; ") + ".")
	return b.String()
}

// laterEncoders names the encoders that replaced the initial one during the run, as a phrase that follows
// its name; "" if there are none.
func laterEncoders(r *engine.Result) string {
	var names []string
	current := initialEncoder(r)
	for i := range r.Changes {
		if name := r.Changes[i].Change.Encoder(); name != "" && name != current {
			names, current = append(names, name), name
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 2:
		return fmt.Sprintf(" and then %d others", len(names))
	}
	return ", then " + strings.Join(names, ", then ")
}

// describeLink describes the link and its measured loss, as a phrase that begins with "over". The loss is
// omitted if it is 0 and was not set, and the profile if c, the configuration, is nil.
func describeLink(r *engine.Result, c *config.Config) string {
	text := "over a custom link"
	if c != nil {
		text = linkName(c)
	}
	changed := false
	for i := range r.Changes {
		changed = changed || r.Changes[i].Change.SetsLinks()
	}
	lost, known := r.Totals.Network.LossRate.Value()
	switch {
	case changed:
		text += ", changed during the run,"
		if known {
			text += " with " + formatPercent(lost) + " lost"
		}
	case known && (lost > 0 || c != nil && c.Down.Loss != lossmodel.DefaultSpec().Loss):
		text += " with " + formatPercent(lost) + " loss"
	}
	return text
}

// linkName describes a link by its profile, or by its latency and jitter, as a phrase that begins with "over". A
// link that differs from a profile only in the loss gets the name of the profile, because the sentence then
// continues with the loss.
func linkName(c *config.Config) string {
	for _, p := range lossmodel.Profiles() {
		down, up := p.Down, p.Up
		down.Loss, up.Loss = c.Down.Loss, c.Up.Loss // ignore the loss
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
		text := "over a link of " + spaceUnit(latency)
		if jitter, err := c.Down.Get("jitter"); err == nil && jitter != "0ms" {
			text += " ± " + spaceUnit(jitter)
		}
		return text
	}
	return "over a custom link"
}

// spaceUnit puts a space between a number and its unit.
func spaceUnit(text string) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i > 0 {
		return text[:i] + " " + text[i:]
	}
	return text
}

// describeEnding explains why a run is incomplete, "" if it is complete.
func describeEnding(reason engine.Ending, errText string, interrupted bool) string {
	const until = " The figures are those up to that time."
	switch {
	case errText != "":
		return "The run failed: " + errText + "." + until
	case reason == engine.Unfinished:
		return "The run is still in progress, or was killed." + until
	case interrupted || reason == engine.Interrupted:
		return "The run was interrupted." + until
	}
	return ""
}
