package page

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// writeSweep writes the page of a sweep.
func writeSweep(w io.Writer, r *report.Report) error { return write(w, sweepDocument(r)) }

// maxAlarms bounds the sentences about what did not hold.
const maxAlarms = 20

func sweepDocument(r *report.Report) *document {
	points := pointsOf(r.Runs)
	wrong := int64(0)
	for _, run := range r.Runs {
		wrong += run.Totals.Wrong
	}
	d := gridDocument(points, gridHeadline(points, len(r.Runs), wrong), count(int64(len(r.Runs)), "run"), r.Failed(), r.Missing(),
		ending(r.Reason, r.Error, r.Interrupted))
	if len(points) == 0 {
		d.Notes = []string{"No run was finished."}
		return d
	}
	first := r.Runs[0]
	c, err := first.Config.Config("")
	if err != nil {
		c = nil
	}
	d.configuration(first, c)
	last := &d.Sections[len(d.Sections)-1]
	last.Lead = append(last.Lead, "Of the first run; what was swept differs in the others.")
	d.Sections = append(d.Sections, section{ID: "again", Title: "How to run it again", Code: []code{{"",
		"tui replay report.json     # all of it once more, and demands the same bytes\ntui run experiment.toml    # without asking\ntui report .               # makes this page anew"}}})
	return d
}

// gridDocument begins the page of a grid. runs counts the runs in words, failed has a sentence for
// each failure, and endings, unless empty, describe how the sweep ended.
func gridDocument(points []gridPoint, headline, runs string, failed []string, endings ...string) *document {
	d := &document{Title: "Sweep", Headline: headline, Alarms: failed}
	axes := axesOf(points)
	for _, a := range axes {
		d.Meta = append(d.Meta, a.key+": "+strings.Join(brief(a.values), ", "))
	}
	d.Meta = append(d.Meta, runs)
	if n := len(failed); n > maxAlarms {
		d.Alarms = append(failed[:maxAlarms:maxAlarms], fmt.Sprintf("and %d more", n-maxAlarms))
	}
	d.Alarms = append(d.Alarms, notEmpty(endings...)...)
	if len(points) > 0 {
		d.sweep(points, axes)
	}
	return d
}

// sweep adds what there is to see of a grid.
func (d *document) sweep(points []gridPoint, axes []axis) {
	ms := metrics(points)
	if len(axes) > 0 {
		s := section{ID: "lines", Title: "Figure by figure"}
		if n := seeds(points); n > 1 {
			s.Lead = []string{fmt.Sprintf("Lines are means over up to %d seeds, bands their intervals of 95 %% (Student).", n)}
		}
		for _, m := range ms {
			d.gridChart(points, axes, m)
		}
		s.show(&d.data, 0)
		d.Sections = append(d.Sections, s)
	}
	if len(axes) > 1 {
		d.heat(points, axes, ms)
	}
	d.pareto(points)
	d.pointTable(points, ms)
}

// brief lists at most eight values.
func brief(values []string) []string {
	const most = 8
	if len(values) <= most {
		return values
	}
	return append(slices.Clone(values[:most-1]), "… "+values[len(values)-1])
}

func seeds(points []gridPoint) (most int) {
	for i := range points {
		most = max(most, points[i].Seeds)
	}
	return most
}

// gridHeadline says what came out of a grid, in a sentence.
func gridHeadline(points []gridPoint, runs int, wrong int64) string {
	if len(points) == 0 {
		return "A sweep of which no run was finished."
	}
	least, most := math.Inf(1), math.Inf(-1)
	var cheapest, dearest *gridPoint
	for i := range points {
		if v, ok := points[i].Figures[cost]; ok {
			if v.Diff < least {
				least, cheapest = v.Diff, &points[i]
			}
			if v.Diff > most {
				most, dearest = v.Diff, &points[i]
			}
		}
	}
	text := count(int64(len(points)), "point")
	if runs > len(points) {
		text += fmt.Sprintf(", %d runs", runs)
	}
	if cheapest != nil && dearest != nil && len(points) > 1 {
		text += fmt.Sprintf(": from %s kbps (%s) to %s kbps (%s)", round(least), shortSet(cheapest.Set), round(most), shortSet(dearest.Set))
	}
	if wrong > 0 {
		return text + "; " + count(wrong, "packet") + " decoded WRONG."
	}
	return text + "; nothing decoded wrong."
}

// shortSet names a point by its values alone.
func shortSet(set map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, lastWord(k)+" "+set[k])
	}
	return strings.Join(parts, ", ")
}

func lastWord(key string) string {
	if key == "encoder.name" {
		return "encoder"
	}
	return key[strings.LastIndexByte(key, '.')+1:]
}

// maxLines bounds the lines of a chart: there are eight inks.
const maxLines = 8

// gridChart draws a figure over the last axis, a line for each combination of the others.
func (d *document) gridChart(points []gridPoint, axes []axis, m metric) {
	others, along := axes[:len(axes)-1], axes[len(axes)-1]
	c := chart{Title: m.title, Unit: m.unit, Axis: along.key}
	if along.unit != "" {
		c.Axis += ", " + along.unit
	}
	if along.at == nil {
		c.Ticks = along.values
	}
	values, x := along.sorted()
	names, groups := grouped(points, func(p *gridPoint) string { return p.shortSet(others) })
	if len(names) > maxLines {
		c.Unit += fmt.Sprintf(" (%d of %d lines)", maxLines, len(names))
		names = names[:maxLines]
	}
	var means []value
	for i, name := range names {
		lines := m.lines(groups[name], along.key, values)
		means = append(means, lines[0].Y...)
		lines[0].Name = cmp.Or(name, m.title)
		for k := range lines {
			lines[k].Ink = 1 + i
		}
		c.Lines = append(c.Lines, lines...)
	}
	c.Label = label(m.title, m.unit, means) + ", by " + along.key + "; the table of all points has the figures"
	c.X = d.data.axis(x)
	d.data.Charts = append(d.data.Charts, c)
}

// sorted returns the values of the axis in the order of their places, and these.
func (a *axis) sorted() (values []string, at []place) {
	order := make([]int, len(a.values))
	for i := range order {
		order[i] = i
	}
	if a.at != nil {
		slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(a.at[i], a.at[k]) })
	}
	for _, i := range order {
		values = append(values, a.values[i])
		if a.at == nil {
			at = append(at, place(i))
		} else {
			at = append(at, place(a.at[i]))
		}
	}
	return values, at
}

// lines returns the line of the means of points over the values of a key and, if any point has
// an interval, the edges of the band.
func (m metric) lines(points []*gridPoint, key string, values []string) []line {
	at := map[string]*gridPoint{}
	for _, p := range points {
		at[p.Set[key]] = p
	}
	mid, lo, hi := make([]value, len(values)), make([]value, len(values)), make([]value, len(values))
	banded := false
	for k, text := range values {
		mid[k], lo[k], hi[k] = none, none, none
		if p := at[text]; p != nil {
			if v, ok := p.Figures[m.key]; ok {
				mid[k] = value(v.Diff * m.times)
				if v.Known {
					lo[k], hi[k], banded = value(max(v.Lo, 0)*m.times), value(v.Hi*m.times), true // none can be negative
				}
			}
		}
	}
	if !banded {
		return []line{{Y: mid}}
	}
	return []line{{Y: mid}, {Name: "95 %, up to", Kind: "edge", Y: hi}, {Name: "from", Kind: "edge", Band: 1, Y: lo}}
}

// maxListed bounds the table of points.
const maxListed = 1000

// pointTable lists the points with their figures.
func (d *document) pointTable(points []gridPoint, ms []metric) {
	var keys []string
	if len(points) > 0 {
		keys = slices.Sorted(maps.Keys(points[0].Set))
	}
	names := slices.Clone(keys)
	many := seeds(points) > 1
	if many {
		names = append(names, ">seeds")
	}
	ms = append(slices.Clone(ms), metric{"lost", "lost", "", 1}, metric{"wrong", "wrong", "", 1})
	for _, m := range ms {
		name := ">" + m.title
		if m.unit != "" {
			name += ", " + m.unit
		}
		names = append(names, name)
	}
	t := newTable(fmt.Sprintf("All %s", count(int64(len(points)), "point")), names...)
	if many {
		t.Caption += ": means, ± half of the interval of 95 %"
	}
	for i := range points {
		if i == maxListed {
			t.Caption = fmt.Sprintf("The first %s of %s; summary.csv has all", digits(maxListed), count(int64(len(points)), "point"))
			break
		}
		p := &points[i]
		row := p.values(keys)
		if many {
			row = append(row, strconv.Itoa(p.Seeds))
		}
		for _, m := range ms {
			row = append(row, p.cell(m))
		}
		t.Add(row)
	}
	d.Sections = append(d.Sections, section{ID: "points", Title: "All points", Tables: []table{t}})
}

// values returns what is set at the point, in the order of keys.
func (p *gridPoint) values(keys []string) (out []string) {
	for _, k := range keys {
		out = append(out, p.Set[k])
	}
	return out
}

func (p *gridPoint) cell(m metric) string {
	v, ok := p.Figures[m.key]
	if !ok {
		return figure(figures.Figure{})
	}
	text := digits(v.Diff * m.times)
	if v.Known {
		text += " ± " + digits((v.Hi-v.Diff)*m.times)
	}
	return text
}
