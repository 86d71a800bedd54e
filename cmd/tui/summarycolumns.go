package main

import (
	"fmt"

	"slices"

	"wirelab/encoders"
	"wirelab/experiment"
)

// itemColumns are the columns of a sweep that depend on what was sent: of cubes none,
// they are told by their kbps; of all else the bits per item, their share of the eight
// bits of a byte, the times, and what the ends of a protocol say of themselves.
func itemColumns(r *experiment.Report) []string {
	first := r.Runs[0]
	if first.Totals.BitsPerCube != nil {
		return nil
	}
	heads := []string{">bits/" + first.Item}
	if first.Item == "byte" {
		heads = append(heads, ">ratio %")
	}
	heads = append(heads, ">encode µs", ">decode µs")
	for _, g := range gaugeColumns(r) {
		heads = append(heads, ">"+g)
	}
	return heads
}

// gaugeColumns names what either end of any run says of itself, the sender's first.
func gaugeColumns(r *experiment.Report) []string {
	var names []string
	for _, run := range r.Runs {
		for _, g := range slices.Concat(run.Totals.Sender, run.Totals.Receiver) {
			if !slices.Contains(names, gaugeName(g)) {
				names = append(names, gaugeName(g))
			}
		}
	}
	return names
}

func gaugeName(g encoders.Gauge) string {
	if g.Unit == "" {
		return g.Name
	}
	return g.Name + " " + g.Unit
}

// itemCells are the cells of one run under itemColumns.
func itemCells(r *experiment.Report, run *experiment.Result) []any {
	if run.Totals.BitsPerCube != nil {
		return nil
	}
	cells := []any{fmt.Sprintf("%.2f", run.Totals.BitsPerItem)}
	if run.Item == "byte" {
		cells = append(cells, fmt.Sprintf("%.1f", 100*run.Totals.BitsPerItem/8))
	}
	cells = append(cells, fmt.Sprintf("%.1f", run.Timing.EncodeUS.P50), fmt.Sprintf("%.1f", run.Timing.DecodeUS.P50))
	said := map[string]string{}
	for _, g := range slices.Concat(run.Totals.Receiver, run.Totals.Sender) { // the sender's counts where both say
		said[gaugeName(g)] = fmt.Sprintf("%.4g", g.Value)
		if g.Value >= 1000 {
			said[gaugeName(g)] = fmt.Sprintf("%.0f", g.Value)
		}
	}
	for _, name := range gaugeColumns(r) {
		cells = append(cells, said[name])
	}
	return cells
}
