package report

import (
	"fmt"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/internal/texttable"
)

// mdComparison writes what ran side by side, over the time that all have in common.
func mdComparison(b *strings.Builder, r *engine.Result) {
	c := r.Comparison
	if c == nil || len(c.Lanes) != 1+len(r.Shadows) {
		return
	}
	fmt.Fprintf(b, "## On the same frames and losses\n\nFrom %.1f to %.1f s: as long as all of them have run, but for the first second after "+
		"one joined or was swapped", c.FromS, c.ToS)
	if c.SeamS > 0 {
		fmt.Fprintf(b, ", and %.1f s after a seam", c.SeamS)
	}
	b.WriteString(". The figures above are of the whole run.\n\n")
	t := texttable.New("encoder", ">ran from", ">payload kbps", ">times the first", "95 %", ">bits per changed", ">wrong")
	for i, l := range c.Lanes {
		from, wrong, bounds := 0.0, r.Totals.Wrong, ""
		if i > 0 {
			from, wrong, bounds = r.Shadows[i-1].FromS, r.Shadows[i-1].Totals.Wrong, "too few data"
		}
		if _, known := l.TimesLo.Value(); known {
			bounds = l.TimesLo.Text(3) + " to " + l.TimesHi.Text(3)
		}
		t.Add(mdName(l.Label), fmt.Sprintf("%.1f s", from), l.PayloadKbps.Text(1), l.Times.Text(3), bounds, l.BitsPerChanged.Text(2), wrong)
	}
	mdTable(b, "", t)
}
