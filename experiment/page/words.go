package page

import (
	"math"
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// formatNumber formats v with about four significant digits and commas between thousands, "–" if v is
// not finite.
func formatNumber(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case math.Abs(v-math.Round(v)) <= 1e-9*math.Abs(v): // an integer, but for rounding errors
		return units.Group(units.Fixed(v, 0))
	}
	return units.Group(units.Stepped(v, 3, 10, 100, 1000))
}

// formatFigure formats a figure, "–" if it has no data.
func formatFigure(f figures.Figure) string { return f.FormatWith(formatNumber, "–") }

// figureText formats a figure with its unit.
func figureText(key string, v float64) string {
	row := figures.Find(key)
	return strings.TrimSpace(row.Text(v) + " " + row.Unit)
}

// formatCount formats a count with its noun: "2,880 packets".
func formatCount(n int64, noun string) string {
	if n != 1 {
		noun = words.Plural(noun)
	}
	return formatNumber(float64(n)) + " " + noun
}

// verdictOf returns the verdict of assertions and failures. A run may also fail without assertions.
func verdictOf(assertions, failures int) string {
	switch {
	case failures > 0:
		return failedVerdict
	case assertions > 0:
		return passedVerdict
	}
	return ""
}

// runHeadline summarizes a run in a sentence, such as "adaptive: 214 kbps; nothing decoded wrong; never
// starved."
func runHeadline(r *engine.Result) string {
	t := &r.Totals
	text := r.Encoders() + ": "
	if len(r.Stretches) > 0 {
		text += "mean "
	}
	text += figureText(payloadKey, t.PayloadKbps)
	if x := t.Transfer; x != nil {
		text = r.Encoders() + " did not transfer the file: " + x.Verdict()
		if x.TimeS != nil { // complete
			text = r.Encoders() + " transferred the file in " + figureText(transferKey, *x.TimeS)
		}
	}
	parts := []string{text, "nothing decoded wrong"}
	if t.Wrong > 0 {
		parts[1] = formatCount(t.Wrong, "packet") + " decoded WRONG"
	}
	if n := t.Failed(); n > 0 {
		parts = append(parts, formatCount(n, "packet")+" could not be decoded")
	}
	if starved, known := t.Playout.StarvedRatio.Value(); known && starved > 0 {
		parts = append(parts, figureText(starvedKey, starved)+" starved")
	} else if known {
		parts = append(parts, "never starved")
	}
	return strings.Join(parts, "; ") + "."
}

// linkText describes the links of a configuration; "" if c is nil.
func linkText(c *config.Config) string {
	if c == nil {
		return ""
	}
	text := c.LinkText()
	if strings.HasPrefix(text, "link.") { // the key of a setting for both directions
		return text
	}
	return "link " + text
}

// linkFact describes the links of a run, including changes during the run; "" if they are unknown.
func linkFact(x *engine.Result) string {
	c := configOf(x)
	if c == nil {
		return ""
	}
	text := linkText(c)
	if n := len(c.Clients); n == 1 {
		text += ", 1 client with settings of its own"
	} else if n > 1 {
		text += ", " + formatCount(int64(n), "client") + " with settings of their own"
	}
	setsLinks := func(made config.StampedChange) bool { return made.Change.SetsLinks() }
	if !slices.ContainsFunc(x.Changes, setsLinks) {
		return text
	}
	text += ", changed during the run"
	if loss, known := x.Totals.Network.LossRate.Value(); known {
		text += ", with " + figureText(lossKey, loss) + " lost"
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
