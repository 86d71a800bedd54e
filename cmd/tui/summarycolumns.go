package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// writeItemSweep prints one row for each point of the grid where no cubes were sent:
// the bits per item, of bytes their share of eight, the times, and what the ends of a
// protocol say of themselves.
func writeItemSweep(w io.Writer, r *report.Report, keys []string) {
	first := r.Runs[0]
	heads := append(slices.Clone(keys), ">bits/"+first.Item)
	if first.Item == "byte" {
		heads = append(heads, ">ratio %")
	}
	heads = append(heads, ">payload kbps", ">wire kbps", ">decoded", ">lost", ">failed", ">wrong", ">encode µs", ">decode µs")
	names := gaugeNames(r)
	for _, name := range names {
		heads = append(heads, ">"+name)
	}
	g := newGrid(heads...)
	for _, run := range r.Runs {
		t := run.Totals
		cells := append(sweepCells(run, keys), fmt.Sprintf("%.2f", t.BitsPerItem))
		if first.Item == "byte" {
			cells = append(cells, fmt.Sprintf("%.1f", t.BitsPerItem.Times(100.0/8)))
		}
		cells = append(cells, t.PayloadKbps, t.WireKbps, t.Decoded, t.Lost, t.Failed(), t.Wrong,
			fmt.Sprintf("%.1f", run.Timing.EncodeUS.P50), fmt.Sprintf("%.1f", run.Timing.DecodeUS.P50))
		g.row(append(cells, gaugeCells(&t, names)...)...)
	}
	g.write(w, 0)
}

// gauges are what the ends of a protocol say of themselves: the sender what both know,
// and what the receiver knows besides.
func gauges(t *figures.Totals) []encoders.Gauge {
	list := slices.Clone(t.Sender)
	for _, g := range t.Receiver {
		if !slices.ContainsFunc(list, func(o encoders.Gauge) bool { return o.Name == g.Name }) {
			list = append(list, g)
		}
	}
	return list
}

// gaugeNames names the gauges of all runs, with their units.
func gaugeNames(r *report.Report) []string {
	var names []string
	for _, run := range r.Runs {
		for _, g := range gauges(&run.Totals) {
			if name := gaugeName(g); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func gaugeName(g encoders.Gauge) string { return strings.TrimSpace(g.Name + " " + g.Unit) }

// gaugeCells are the cells of one run below gaugeNames.
func gaugeCells(t *figures.Totals, names []string) []any {
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = "-"
	}
	for _, g := range gauges(t) {
		cells[slices.Index(names, gaugeName(g))] = gaugeValue(g)
	}
	return cells
}

// gaugeValue shows a gauge with three digits or more.
func gaugeValue(g encoders.Gauge) string {
	if g.Value >= 1000 {
		return fmt.Sprintf("%.0f", g.Value)
	}
	return fmt.Sprintf("%.3g", g.Value)
}

// writeGauges tells what the ends say of themselves in a line.
func writeGauges(w io.Writer, list []encoders.Gauge) {
	parts := make([]string, len(list))
	for i, g := range list {
		parts[i] = strings.TrimSpace(g.Name + " " + gaugeValue(g) + " " + g.Unit)
	}
	fmt.Fprintf(w, "the ends  %s\n", strings.Join(parts, ", "))
}

// many counts things: "1 call", "500 bytes".
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
