package report

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// mdGauges tells what the ends of a protocol know of themselves.
func mdGauges(b *strings.Builder, r *engine.Result) {
	if len(r.Totals.Sender)+len(r.Totals.Receiver) == 0 {
		return
	}
	b.WriteString("## What the ends say of themselves\n\n| end | figure | |\n|---|---|---:|\n")
	for _, end := range []struct {
		name string
		says []encoders.Gauge
	}{{"sender", r.Totals.Sender}, {"receiver", r.Totals.Receiver}} {
		for _, g := range end.says {
			fmt.Fprintf(b, "| %s | %s | %s |\n", end.name, g.Name, mdGauge(g))
		}
	}
	b.WriteString("\n")
}

// mdGauge is a gauge with its unit.
func mdGauge(g encoders.Gauge) string {
	return strings.TrimSpace(units.Significant(g.Value, 3) + " " + g.Unit)
}

// mdName is a name from a schema as it may stand in a table, whatever is in it.
func mdName(name string) string {
	return strings.NewReplacer("|", "&#124;", "<", "&lt;", "&", "&amp;").Replace(name)
}

// mdItemHeads are the columns of a sweep that are not of cubes: bits per item, and
// what the ends of a protocol say, the receiver's first.
func mdItemHeads(r *Report) string {
	if r.Runs[0].Totals.BitsPerCube != nil {
		return ""
	}
	heads := " bits/" + mdName(r.Runs[0].Item) + " |"
	if r.Runs[0].Item == "byte" && r.Runs[0].Totals.Transfer == nil {
		heads += " ratio |"
	}
	if r.Runs[0].Totals.Transfer != nil {
		heads += " resent | seconds |"
	}
	for _, name := range gaugeNames(r) {
		heads += " " + name + " |"
	}
	return heads
}

// mdItemCells are the cells of one run below them.
func mdItemCells(r *Report, run *engine.Result) string {
	if run.Totals.BitsPerCube != nil {
		return ""
	}
	cells := fmt.Sprintf(" %.2f |", run.Totals.BitsPerItem)
	if run.Item == "byte" && run.Totals.Transfer == nil {
		cells += fmt.Sprintf(" %.1f %% |", run.Totals.BitsPerItem.Times(100.0/8))
	}
	if x := run.Totals.Transfer; x != nil {
		cells += fmt.Sprintf(" %d | %s |", x.Resent, x.Verdict())
	}
	for _, name := range gaugeNames(r) {
		cell := ""
		for _, g := range slices.Concat(run.Totals.Sender, run.Totals.Receiver) {
			if g.Name == name {
				cell = mdGauge(g)
				break
			}
		}
		cells += " " + cell + " |"
	}
	return cells
}

// gaugeNames lists what either end of any run says of itself.
func gaugeNames(r *Report) []string {
	var names []string
	for _, run := range r.Runs {
		for _, g := range slices.Concat(run.Totals.Sender, run.Totals.Receiver) {
			if !slices.Contains(names, g.Name) {
				names = append(names, g.Name)
			}
		}
	}
	return names
}
