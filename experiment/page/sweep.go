package page

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// writeSweep writes the page of a sweep whose report contains the runs.
func writeSweep(w io.Writer, r *report.Report) error { return writeDocument(w, sweepDocument(r)) }

// maxAlarms is the maximum number of sentences about failed assertions at the top of a page. The section of failures
// has more.
const maxAlarms = 3

// sweepDocument returns the page of a sweep.
func sweepDocument(r *report.Report) *document {
	points := gridPoints(r.Runs)
	wrong := int64(0)
	for _, run := range r.Runs {
		wrong += run.Totals.Wrong
	}
	d := gridDocument(points, gridHeadline(points, len(r.Runs), wrong), formatCount(int64(len(r.Runs)), "run"), r.Failed(), r.Missing(),
		describeEnding(r.Reason, r.Error, r.Interrupted))
	if len(points) == 0 {
		d.Notes = []string{"No run is complete."}
		return d
	}
	first := r.Runs[0]
	c, err := first.Config.Config("")
	if err != nil {
		c = nil // with missing files
	}
	d.addConfiguration(first, c)
	last := &d.Sections[len(d.Sections)-1]
	last.Lead = append(last.Lead, "This is the configuration of the first run. The other runs differ in the swept keys.")
	d.Sections = append(d.Sections, section{ID: "again", Title: "How to reproduce", Code: []code{{"",
		"tui replay report.json     # run again and compare the digests\ntui run experiment.toml    # run again without comparing\ntui report .               # write this page again"}}})
	return d
}

// gridDocument returns the beginning of the page of a sweep: its headline, failures, charts and tables. runs is
// the number of runs as text, such as "12 runs". failed has a sentence for each failure. endings are sentences
// about an incomplete sweep; empty ones are ignored.
func gridDocument(points []gridPoint, headline, runs string, failed []string, endings ...string) *document {
	d := &document{Title: "Sweep", Headline: headline, Alarms: failed}
	d.addChoices(points, failed)
	if d.Headline != headline {
		d.Meta = []string{strings.TrimSuffix(headline, ".")}
	}
	axes := sweptAxes(points)
	for _, a := range axes {
		d.Meta = append(d.Meta, a.key+": "+strings.Join(abbreviate(a.values), ", "))
	}
	d.Meta = append(d.Meta, runs)
	if n := len(failed); n > maxAlarms {
		d.Alarms = append(failed[:maxAlarms:maxAlarms], fmt.Sprintf("and %d more, listed under Failures", n-maxAlarms))
	}
	d.Alarms = append(d.Alarms, nonEmpty(endings...)...)
	if len(points) > 0 {
		d.addGrid(points, axes)
	}
	if n := len(failed); n > maxAlarms {
		t := newTable("All "+formatCount(int64(n), "failure"), "failure")
		t.Folded = true
		for _, text := range failed[:min(n, maxListed)] {
			t.Add(text)
		}
		d.Sections = append(d.Sections, section{ID: "failures", Title: "Failures", Tables: []table{t}})
	}
	return d
}

// addGrid adds charts, heat maps, Pareto charts and the table of a grid.
func (d *document) addGrid(points []gridPoint, axes []axis) {
	ms := variedMetrics(points)
	d.addErrorCurves(points)
	d.addParetoCharts(points)
	if len(axes) > 0 {
		s := section{ID: "lines", Title: "Figures"}
		if n := maxSeeds(points); n > 1 {
			s.Lead = []string{fmt.Sprintf("Lines are means over up to %d seeds. Bands are 95 %% confidence intervals or, where these would reach below 0, the range of the seeds.", n)}
		}
		for _, m := range ms {
			d.addGridChart(points, axes, m)
		}
		s.addCharts(&d.data, 0) // all charts, from the first (0) on
		d.Sections = append(d.Sections, s)
	}
	if len(axes) > 1 {
		d.addHeatMaps(points, axes, ms)
	}
	d.addPointTable(points, ms)
}

// abbreviate returns at most eight values: the first ones, and the last one after "…" if others are omitted.
func abbreviate(values []string) []string {
	const maxShown = 8
	if len(values) <= maxShown {
		return values
	}
	return append(slices.Clone(values[:maxShown-1]), "… "+values[len(values)-1])
}

// maxSeeds returns the largest number of seeds of any point.
func maxSeeds(points []gridPoint) (seeds int) {
	for i := range points {
		seeds = max(seeds, points[i].Seeds)
	}
	return seeds
}

// gridHeadline describes the extent of a sweep in a sentence: the numbers of points and runs, and of packets that were
// decoded wrongly.
func gridHeadline(points []gridPoint, runs int, wrong int64) string {
	if len(points) == 0 {
		return "A sweep without complete runs."
	}
	text := formatCount(int64(len(points)), "point")
	if runs > len(points) {
		text += fmt.Sprintf(", %d runs", runs)
	}
	if wrong > 0 {
		return text + "; " + formatCount(wrong, "packet") + " decoded WRONG."
	}
	return text + "; nothing decoded wrong."
}

// shortSet names a point by the last words of its keys and its values.
func shortSet(set map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, keySuffix(k)+" "+set[k])
	}
	return strings.Join(parts, ", ")
}

// keySuffix returns the last word of a key, and "encoder" for encoder.name.
func keySuffix(key string) string {
	if key == "encoder.name" {
		return "encoder"
	}
	return key[strings.LastIndexByte(key, '.')+1:]
}

// maxLines is the maximum number of lines of a chart, because there are eight colours.
const maxLines = 8

// addGridChart adds a chart of a metric over the last axis, with a line for each combination of values of
// the other axes, at most maxLines.
func (d *document) addGridChart(points []gridPoint, axes []axis, m metric) {
	others, along := axes[:len(axes)-1], axes[len(axes)-1]
	c := chart{Title: m.title, Unit: m.unit, Axis: along.key}
	if along.unit != "" {
		c.Axis += ", " + along.unit
	}
	values, x := along.sorted()
	if along.isEven() {
		c.Ticks = values
	}
	names, groups := groupPoints(points, func(p *gridPoint) string { return p.shortSet(others) })
	if len(names) > maxLines {
		c.Unit += fmt.Sprintf(" (%d of %d lines)", maxLines, len(names))
		names = names[:maxLines]
	}
	var means []value
	for i, name := range names {
		lines := m.lines(groups[name], along.key, values) // the means, then the edges of the band
		means = append(means, lines[0].Y...)
		lines[0].Name = cmp.Or(name, m.title)
		for k := range lines {
			lines[k].Color = 1 + i
		}
		c.Lines = append(c.Lines, lines...)
	}
	c.Label = describeSeries(m.title, m.unit, &line{Y: means}) + ", by " + along.key + "; the table of all points has the figures"
	c.X = d.data.addAxis(x)
	d.data.Charts = append(d.data.Charts, c)
}

// sorted returns the values of the axis and their positions on it, in ascending order of the positions.
// Values that are not numbers are at positions 0, 1, 2, ...
func (a *axis) sorted() (values []string, positions []axisValue) {
	order := make([]int, len(a.values)) // indices of a.values
	for i := range order {
		order[i] = i
	}
	if a.numbers != nil {
		slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(a.numbers[i], a.numbers[k]) })
	}
	for place, i := range order {
		values = append(values, a.values[i])
		if a.isEven() {
			positions = append(positions, axisValue(place))
		} else {
			positions = append(positions, axisValue(a.numbers[i]))
		}
	}
	return values, positions
}

// lines returns the lines of a chart of metric m over the values of a swept key: the line of the means and, if
// any point has a confidence interval, the upper and the lower edge of the band of the intervals. Values
// without a point are gaps.
func (m metric) lines(points []*gridPoint, key string, values []string) []line {
	byValue := map[string]*gridPoint{}
	for _, p := range points {
		byValue[p.Set[key]] = p
	}
	mid, lo, hi := make([]value, len(values)), make([]value, len(values)), make([]value, len(values))
	hasBand := false
	for k, text := range values {
		mid[k], lo[k], hi[k] = noValue, noValue, noValue
		if p := byValue[text]; p != nil {
			if v, ok := p.Figures[m.key]; ok {
				mid[k] = value(v.Mean * m.scale)
				if from, to, known := v.Bounds(); known {
					lo[k], hi[k], hasBand = value(from*m.scale), value(to*m.scale), true
				}
			}
		}
	}
	if !hasBand {
		return []line{{Y: mid}}
	}
	return []line{{Y: mid}, {Name: "95 %, up to", Kind: "edge", Y: hi}, {Name: "from", Kind: "edge", Band: 1, Y: lo}}
}

// maxListed is the maximum number of points that a table lists.
const maxListed = 1000

// addPointTable adds a table of at most maxListed points: the settings, the seeds if there are several,
// and the metrics ms, lost and wrong.
func (d *document) addPointTable(points []gridPoint, ms []metric) {
	var keys []string
	if len(points) > 0 {
		keys = slices.Sorted(maps.Keys(points[0].Set))
	}
	names := slices.Clone(keys)
	hasSeeds := maxSeeds(points) > 1
	if hasSeeds {
		names = append(names, ">seeds")
	}
	ms = append(slices.Clone(ms), metric{"lost", "lost", "packets", 1}, metric{"wrong", "wrong", "packets", 1})
	for _, m := range ms {
		names = append(names, ">"+m.label())
	}
	t := newTable(fmt.Sprintf("All %s", formatCount(int64(len(points)), "point")), names...)
	if hasSeeds {
		t.Caption += ": mean ± half of the 95 % CI. " + intervalNotes
	}
	for i := range points {
		if i == maxListed {
			t.Caption = fmt.Sprintf("The first %s of %s; summary.csv has all", formatNumber(maxListed), formatCount(int64(len(points)), "point"))
			break
		}
		p := &points[i]
		row := p.values(keys)
		if hasSeeds {
			row = append(row, strconv.Itoa(p.Seeds))
		}
		for _, m := range ms {
			row = append(row, p.cell(m))
		}
		t.Add(row)
	}
	d.Sections = append(d.Sections, section{ID: "points", Title: "All points", Tables: []table{t}})
}

// values returns the settings of the point, in the order of keys.
func (p *gridPoint) values(keys []string) (out []string) {
	for _, k := range keys {
		out = append(out, p.Set[k])
	}
	return out
}

// intervalNotes explains the intervals that cell formats.
const intervalNotes = figures.ApproximateNote + " " + figures.RangeNote

// cell formats a metric of the point, with its interval or range if known.
func (p *gridPoint) cell(m metric) string {
	v, ok := p.Figures[m.key]
	if !ok {
		return formatFigure(figures.Figure{})
	}
	return v.Times(m.scale).Text(" ± ", formatNumber, formatNumber)
}
