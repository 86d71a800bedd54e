package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// mdGauges tells what the ends of a protocol know of themselves.
func mdGauges(b *strings.Builder, r *engine.Result) {
	if len(r.Totals.Sender)+len(r.Totals.Receiver) == 0 {
		return
	}
	t := texttable.New("end", "figure", ">")
	for _, end := range []struct {
		name string
		says []encoders.Gauge
	}{{"sender", r.Totals.Sender}, {"receiver", r.Totals.Receiver}} {
		for _, g := range end.says {
			t.Add(end.name, g.Name, mdGauge(g))
		}
	}
	mdTable(b, "What the ends say of themselves", t)
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
func mdItemHeads(r *Report) []string {
	first := r.Runs[0]
	if first.Totals.BitsPerCube != nil {
		return nil
	}
	heads := []string{"bits/" + mdName(first.Item)}
	if first.Totals.Transfer != nil {
		heads = append(heads, "resent", "seconds")
	} else if first.Item == "byte" {
		heads = append(heads, "ratio")
	}
	return append(heads, gaugeNames(r)...)
}

// mdItemCells are the cells of one run below them.
func mdItemCells(r *Report, run *engine.Result) []string {
	t := &run.Totals
	if t.BitsPerCube != nil {
		return nil
	}
	cells := []string{fmt.Sprintf("%.2f", t.BitsPerItem)}
	if x := t.Transfer; x != nil {
		cells = append(cells, strconv.FormatInt(x.Resent, 10), x.Verdict())
	} else if run.Item == "byte" {
		cells = append(cells, fmt.Sprintf("%.1f %%", t.BitsPerItem.Times(100.0/8)))
	}
	ends := slices.Concat(t.Sender, t.Receiver)
	for _, name := range gaugeNames(r) {
		cell := ""
		if i := slices.IndexFunc(ends, func(g encoders.Gauge) bool { return g.Name == name }); i >= 0 {
			cell = mdGauge(ends[i])
		}
		cells = append(cells, cell)
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
