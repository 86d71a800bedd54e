package page

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
)

// MaxCompared is the maximum number of reports on a page, one for each colour.
const MaxCompared = 8

// Compare returns a document that compares at least two reports: their configurations, figures and
// charts. The first report is the base. If any of them is a sweep, all are compared as sweeps. Each
// element of list must have a Report.
func Compare(list []*Loaded) *Document {
	d := &Document{Title: "Comparison of reports"}
	names := reportNames(list)
	onlyRuns := !slices.ContainsFunc(list, func(l *Loaded) bool { return l.Run == nil })
	for i, l := range list {
		d.Meta = append(d.Meta, names[i]+": "+l.Path)
		for _, text := range l.Report.Failed() {
			if len(d.Alarms) < maxAlarms {
				d.Alarms = append(d.Alarms, names[i]+": "+text)
			}
		}
		if l.Run != nil {
			for _, text := range l.Run.Missing {
				d.Notes = append(d.Notes, names[i]+": "+text)
			}
		}
	}
	if onlyRuns { // all reports are of single runs
		d.compareRuns(list, names)
	} else {
		d.compareSweeps(list, names)
	}
	return d
}

// reportNames returns a name for each report: a letter, which is distinct, and the name of its file or
// folder, or its encoder if the path ends in no name.
func reportNames(list []*Loaded) []string {
	out := make([]string, len(list))
	for i, l := range list {
		path := filepath.Clean(l.Path)
		if filepath.Base(path) == "report.json" {
			path = filepath.Dir(path)
		}
		base := filepath.Base(path)
		if base == "." || base == string(filepath.Separator) || base == ".." {
			base = l.Report.Runs[0].Encoders()
		}
		out[i] = string(rune('A'+i)) + " " + truncate(base, 40)
	}
	return out
}

// compareRuns adds the sections of a comparison of single runs.
func (d *Document) compareRuns(list []*Loaded, names []string) {
	runs := make([]*run, len(list))
	results := make([]*engine.Result, len(list))
	columns := make([]measured, len(list))
	t := newTable("Summary of each report", "report", "result", ">seed", ">seconds")
	for i, l := range list {
		runs[i] = l.Run
		results[i] = l.Run.Result
		interval := func(key string) string { return pairedInterval(runs[0], l.Run, key) }
		name := names[i]
		if len(results[i].Stretches) > 0 {
			name += ", whole run"
		}
		columns[i] = measured{name, &results[i].Totals, interval}
		t.add(names[i], runHeadline(results[i]), results[i].Seed, results[i].DurationS)
	}
	d.Headline = comparisonHeadline(results, names)
	d.add("runs", "Runs", t)
	d.compareConfigurations(results, names)
	lead := ""
	if pairedInterval(runs[0], runs[1], payloadKey) != "" {
		lead = "Brackets contain the 95 % confidence interval. The runs have the same seed, so equal " +
			"periods of time are compared (paired block jackknife)."
	}
	d.addFigures("Differences in figures", columns, paragraph(lead), stretchTable(names, results))
	d.compareCharts(runs, names)
	d.addBits(names, results)
}

// comparisonHeadline compares the payload of each run with that of the first in a sentence, and mentions
// whether the seeds are the same.
func comparisonHeadline(runs []*engine.Result, names []string) string {
	payload := figures.Find(payloadKey)
	first := runs[0].Totals.PayloadKbps
	text := names[0] + " uses " + figureText(payloadKey, first)
	sameSeed := true
	for i, r := range runs[1:] {
		v := r.Totals.PayloadKbps
		change := formatChange(&payload, first, v, true, "")
		text += fmt.Sprintf("; %s %s (%s)", names[1+i], payload.Text(v), change.Text)
		sameSeed = sameSeed && r.Seed == runs[0].Seed
	}
	if sameSeed {
		return text + "; with the same seed."
	}
	return text + "; with different seeds, so part of the difference is due to chance."
}

// compareConfigurations adds notes, and a table of the settings that differ between runs and of the
// numbers of changes during the runs.
func (d *Document) compareConfigurations(runs []*engine.Result, names []string, notes ...block) {
	settings := make([]map[string]string, len(runs)) // values by key; nil if the configuration cannot be read
	for i, r := range runs {
		if c := configOf(r); c != nil {
			settings[i] = c.Settings()
			settings[i]["changes during the run"] = fmt.Sprint(len(r.Changes))
		} else {
			notes = append(notes, paragraph(names[i]+": its configuration cannot be read by this version."))
		}
	}
	t := differingSettings("Settings that differ", names, settings)
	if t.isEmpty() {
		notes = append(notes, paragraph("All settings are the same."))
	}
	d.add("configuration", "Differences in the configuration", append(notes, t)...)
}

// measured is a column of a table of figures: a run, or a lane of a run.
type measured struct {
	name   string
	totals *figures.Totals
	// interval returns the interval of the change of a figure to the first column, such as " (-12.9 to
	// -11.4)"; "" if it is unknown. It may be nil.
	interval func(key string) string
}

// addFigures adds a section with blocks, a table of the main figures and a folded one of all figures. Each of columns
// after the first has a column with the change to the first one.
func (d *Document) addFigures(title string, columns []measured, blocks ...block) {
	heads := []string{"figure"}
	var totals []*figures.Totals
	for i, c := range columns {
		totals = append(totals, c.totals)
		if len(columns) == 1 {
			heads = append(heads, ">measured")
			continue
		}
		heads = append(heads, ">"+c.name)
		if i > 0 {
			heads = append(heads, ">vs first")
		}
	}
	main := figureRows("With the keys that assertions use", heads, report.KnownFigures(figures.Main, totals), columns)
	all := figureRows("All figures, by key", heads, report.KnownFigures(figures.Listed, totals), columns)
	all.Folded = true
	d.add("figures", title, append(blocks, main, all)...)
}

// figureRows returns a table with a row for each figure, and its key in the last column.
func figureRows(caption string, heads []string, rows []figures.Row, columns []measured) *table {
	values := make([]map[string]float64, len(columns))
	for i, c := range columns {
		values[i] = figures.Flatten(c.totals)
	}
	t := newTable(caption, append(heads, "key")...)
	for i := range rows {
		x := &rows[i]
		row := []any{x.Label()}
		base, hasBase := values[0][x.Key]
		for k, c := range columns {
			v, known := values[k][x.Key]
			text := "-"
			if known {
				text = x.Text(v)
			}
			row = append(row, text)
			if k == 0 {
				continue
			}
			interval := ""
			if c.interval != nil {
				interval = c.interval(x.Key)
			}
			row = append(row, formatChange(x, base, v, known && hasBase, interval))
		}
		t.add(append(row, x.Key)...)
	}
	return t
}

// formatChange formats the change of a figure from base to v, in percent if base is not 0. interval is a
// text that is appended, such as the confidence interval; it may be empty. known means that both runs
// have the figure. The CSS class of the cell marks a change of at least 0.05 % as good or bad, unless
// neither more nor less of the figure is better.
func formatChange(x *figures.Row, base, v float64, known bool, interval string) texttable.Cell {
	switch {
	case !known:
		return texttable.Cell{Text: "-"}
	case v == base:
		return texttable.Cell{Text: "="}
	}
	c := texttable.Cell{Text: x.Text(v - base)}
	isNegligible := math.Abs(v-base) < 0.0005*math.Abs(base)
	if base != 0 {
		c.Text = fmt.Sprintf("%+.2f %%", 100*(v-base)/math.Abs(base))
	} else if v > 0 {
		c.Text = "+" + c.Text
	}
	c.Text += interval
	switch {
	case x.Better == figures.Neither || isNegligible: // no class
	case (v < base) == (x.Better == figures.LessIsBetter):
		c.Class = "good"
	default:
		c.Class = "bad"
	}
	return c
}

// compareCharts adds a chart of each figure over time, with a line per run.
func (d *Document) compareCharts(runs []*run, names []string) {
	var list charts
	for _, t := range runs[0].charted() {
		title := t.title
		for _, figure := range t.lines {
			if len(t.lines) > 1 {
				t.title = title + ": " + figure.name
			}
			single := t
			single.lines = nil
			for i, r := range runs {
				single.lines = append(single.lines, timeLine{names[i], 1 + i, figure.of, r.points()})
			}
			if c := single.draw(); c != nil {
				list = append(list, c)
			}
		}
	}
	d.add("charts", "Differences over time", list)
}

// reportKey is the key of the axis that distinguishes several sweeps on a page.
const reportKey = "report"

// compareSweeps draws several sweeps as one grid with the report as an additional axis, and compares
// each with the first, point by point.
func (d *Document) compareSweeps(list []*Loaded, names []string) {
	all := &grid{}
	grids := make([]*grid, len(list))
	firstRuns := make([]*engine.Result, len(list)) // of each report, for its configuration
	for i, l := range list {
		firstRuns[i] = l.Report.Runs[0]
		g := newGrid(l.Report.Runs)
		grids[i] = g
		all.units = g.units
		for _, p := range g.points {
			set := map[string]string{reportKey: names[i]}
			maps.Copy(set, p.Set)
			p.Set = set
		}
		all.points = append(all.points, g.points...)
	}
	d.Headline = fmt.Sprintf("%d reports of sweeps, %s.", len(list),
		formatCount(int64(len(all.points)), "point"))
	d.compareConfigurations(firstRuns, names,
		paragraph("This is the configuration of the first run of each report. The other runs differ in "+
			"the swept keys."))
	for i, g := range grids[1:] {
		d.comparePoints(grids[0], g, names[0], names[1+i])
	}
	d.addGrid(all)
}

// comparePoints adds a comparison of the grids of two sweeps, named baseName and nowName: for each point
// of both and each main figure the ratio between them, over pairs of runs with the same seed.
func (d *Document) comparePoints(base, now *grid, baseName, nowName string) {
	t := newTable("Pairs of runs with the same seed", "point", "figure", ">"+baseName, ">"+nowName,
		">change", ">95 % CI of the ratio")
	name := func(p *Point) string { return p.settings(func(key string) bool { return key != reportKey }) }
	other := map[string]*Point{}
	for _, p := range now.points {
		other[name(p)] = p
	}
	for _, p := range base.points {
		q := other[name(p)]
		for _, x := range figures.Ranked(figures.Narrow) {
			a := p.Figures[x.Key]
			if q == nil || a.N+q.Figures[x.Key].N == 0 || len(t.Rows) == maxListed {
				continue
			}
			b := q.Figures[x.Key]
			const noInterval = "" // it has a column of its own
			change := formatChange(&x, a.Mean, b.Mean, a.N > 0 && b.N > 0, noInterval)
			t.add(name(p), x.Label(), p.cell(&x), q.cell(&x), change, q.ratioTo(p, x.Key).Significant(4))
		}
	}
	d.add("compared-"+strings.ToLower(nowName[:1]), nowName+" vs "+baseName, t)
}
