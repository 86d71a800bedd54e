package page

import (
	"fmt"
	"io"
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

// WriteComparison writes a page that compares at least two reports: their configurations, figures and
// charts. The first report is the base. If any of them is a sweep, all are compared as sweeps. Each element
// of list must have a Report.
func WriteComparison(w io.Writer, list []*Loaded) error {
	d := &document{Title: "Comparison of reports"}
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
	return writeDocument(w, d)
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
			base = initialEncoder(l.Report.Runs[0])
		}
		out[i] = string(rune('A'+i)) + " " + truncate(base, 40)
	}
	return out
}

// compareRuns adds the sections of a comparison of single runs.
func (d *document) compareRuns(list []*Loaded, names []string) {
	runs := make([]*run, len(list))
	for i, l := range list {
		runs[i] = l.Run
	}
	d.Headline = comparisonHeadline(runs, names)
	s := section{ID: "runs", Title: "Runs"}
	t := newTable("Summary of each report", "report", "result", ">seed", ">seconds")
	for i, r := range runs {
		c, err := r.Result.Config.Config("")
		if err != nil {
			c = nil // with missing files; the headline then omits what depends on it
		}
		t.Add(names[i], runHeadline(r.Result, describeLink(r.Result, c)), r.Result.Seed, formatNumber(r.Result.DurationS))
	}
	s.Tables = append(s.Tables, t)
	d.Sections = append(d.Sections, s)
	d.compareConfigurations(runResults(runs), names)
	d.compareFigures(runs, names)
	d.compareCharts(runs, names)
	d.compareBits(runs, names)
}

func runResults(runs []*run) []*engine.Result {
	out := make([]*engine.Result, len(runs))
	for i, r := range runs {
		out[i] = r.Result
	}
	return out
}

// comparisonHeadline compares the payload of each run with that of the first in a sentence, and mentions
// whether the seeds are the same.
func comparisonHeadline(runs []*run, names []string) string {
	first := runs[0].Result.Totals.PayloadKbps
	text := fmt.Sprintf("%s uses %s kbps", names[0], formatRounded(first))
	for i, r := range runs[1:] {
		v := r.Result.Totals.PayloadKbps
		text += fmt.Sprintf("; %s %s", names[1+i], formatRounded(v))
		switch {
		case first <= 0: // no percentage of 0
		case v < first:
			text += ", " + formatPercent((first-v)/first) + " less"
		case v > first:
			text += ", " + formatPercent((v-first)/first) + " more"
		default:
			text += ", the same"
		}
	}
	sameSeed := !slices.ContainsFunc(runs, func(r *run) bool { return r.Result.Seed != runs[0].Result.Seed })
	if sameSeed {
		return text + "; with the same seed."
	}
	return text + "; with different seeds, so part of the difference is due to chance."
}

// compareConfigurations adds a table of the settings that differ between runs, with a row for the number
// of changes during the runs, and remarks about configurations that cannot be read.
func (d *document) compareConfigurations(runs []*engine.Result, names []string) {
	s := section{ID: "configuration", Title: "Differences in the configuration"}
	settings := make([]map[string]string, len(runs)) // values by key; nil if the configuration cannot be read
	for i, r := range runs {
		if c, err := r.Config.Config(""); err == nil {
			settings[i] = c.Settings()
		} else {
			s.Lead = append(s.Lead, names[i]+": its configuration cannot be read by this version.")
		}
	}
	t := newTable("Settings that differ", append([]string{"key"}, names...)...)
	for _, k := range report.SortedKeys(settings) {
		row, differs := []any{k}, false // the key, then the value in each run
		for i := range settings {
			v, has := settings[i][k]
			if !has {
				v = "–"
			}
			differs = differs || i > 0 && v != row[1] // row[1] is the value in the first run
			row = append(row, v)
		}
		if differs {
			t.Add(row...)
		}
	}
	hasChanges := slices.ContainsFunc(runs, func(r *engine.Result) bool { return len(r.Changes) > 0 })
	if hasChanges {
		row := []any{"changes during the run"}
		for _, r := range runs {
			row = append(row, len(r.Changes))
		}
		t.Add(row...)
	}
	if len(t.Rows) == 0 {
		s.Lead = append(s.Lead, "All settings are the same.")
	} else {
		s.Tables = []table{t}
	}
	d.Sections = append(d.Sections, s)
}

// mainKeys are the keys of the most important figures, in the order of the table.
var mainKeys = []string{"payload_kbps", "wire_kbps", "feedback_kbps", "bits_per_item", "bits_per_changed_cube", "packet_bytes.p50",
	"packet_bytes.p95", "packet_bytes.max", "baseline_age_ticks.p50", "lost", "stale", "failures.no_baseline", "failures.corrupt",
	"failures.unknown_codec", "wrong", "over_budget_ratio", "network.delay_ms.p95", "playout.starved_ratio", "playout.freezes",
	"playout.late", "age_ms.p50", "playout.position_error_mm.p95", "playout.position_error.p95",
	"playout.angle_error.p95", "transfer.time_s", "transfer.resent"}

// compareFigures adds a table of mainKeys and a collapsed one of all figures. Each run after the first
// has a column with the change to the first run and, for runs with the same seed, its paired interval.
func (d *document) compareFigures(runs []*run, names []string) {
	values := make([]map[string]float64, len(runs)) // figures of each run by key
	for i, r := range runs {
		values[i] = figures.Flatten(r.Result.Totals)
	}
	columns := []string{"figure", "unit"}
	for i, name := range names {
		columns = append(columns, ">"+name)
		if i > 0 {
			columns = append(columns, ">vs "+names[0][:1]) // a name begins with the letter of its report
		}
	}
	// build returns a table with a row for each of keys that any run has.
	build := func(caption string, keys []string) table {
		t := newTable(caption, columns...)
		for _, k := range keys {
			row, anyHas := []any{k, figures.Find(k).Unit}, false
			for i := range runs {
				v, has := values[i][k]
				anyHas = anyHas || has
				if !has {
					v = math.NaN() // formatted as "–"
				}
				row = append(row, formatNumber(v))
				if i > 0 {
					base, hasBase := values[0][k]
					row = append(row, formatChange(k, base, v, has && hasBase, pairedInterval(runs[0], runs[i], k)))
				}
			}
			if anyHas {
				t.Add(row...)
			}
		}
		return t
	}
	s := section{ID: "figures", Title: "Differences in figures", Tables: []table{build("Main figures", mainKeys)}}
	if pairedInterval(runs[0], runs[1], "payload_kbps") != "" {
		s.Lead = []string{"Brackets contain the 95 % confidence interval. The runs have the same seed, so equal periods of time are compared (paired block jackknife)."}
	}
	rest := build("All figures, by key", report.SortedKeys(values))
	rest.Folded = true
	s.Tables = append(s.Tables, rest)
	d.Sections = append(d.Sections, s)
}

// formatChange formats the change of figure key from base to v, in percent if base is not 0. interval is a text
// that is appended, such as the confidence interval; it may be empty. known means that both runs have the
// figure. The CSS class of the cell marks a change of at least 0.05 % as good or bad, unless neither more nor
// less of the figure is better.
func formatChange(key string, base, v float64, known bool, interval string) texttable.Cell {
	switch {
	case !known:
		return texttable.Cell{Text: "–"}
	case v == base:
		return texttable.Cell{Text: "="}
	}
	c := texttable.Cell{Text: formatNumber(v - base)}
	negligible := math.Abs(v-base) < 0.0005*math.Abs(base)
	if base != 0 {
		c.Text = fmt.Sprintf("%+.2f %%", 100*(v-base)/math.Abs(base))
	} else if v > 0 {
		c.Text = "+" + c.Text
	}
	c.Text += interval
	switch dir := figures.Find(key).Better; {
	case dir == figures.Neither || negligible: // no class
	case (v < base) == (dir == figures.LessIsBetter):
		c.Class = "good"
	default:
		c.Class = "bad"
	}
	return c
}

// compareCharts adds charts with one line per run.
func (d *document) compareCharts(runs []*run, names []string) {
	// mean returns a function that computes a line of means of a figure; scale is the factor to the unit of the chart.
	mean := func(figure ratio, scale float64) func([]point) line {
		return func(points []point) line { return line{}.withMean(points, figure, scale) }
	}
	var all []point
	for _, r := range runs { // the means of the longest run may be over more than two seconds
		if points := r.points(); len(all) == 0 || len(points) > 0 && points[0].width > all[0].width {
			all = points
		}
	}
	period := describeMean(all)
	const hasLoops = true
	d.compareChart(runs, names, "Payload"+period, "kbps", hasLoops, mean(payloadKbps, 1))
	d.compareChart(runs, names, "Bits per changed "+runs[0].Result.Item+period, "bits", hasLoops, mean(bitsPerChanged, 1))
	d.compareChart(runs, names, "Packets failed or lost"+period, "per second", !hasLoops, mean(failedOrLostRate, 1))
	d.compareChart(runs, names, "Age of the baseline"+period, "ticks", !hasLoops, mean(baselineAge, 1))
	d.compareChart(runs, names, "Display starved"+period, "% of display ticks", !hasLoops, mean(starvedShare, 100))
	d.compareChart(runs, names, "Maximum position error", "mm", !hasLoops, func(points []point) line {
		return line{}.withRatio(points, positionMM, 1)
	})
	if len(d.data.Charts) == 0 {
		return
	}
	s := section{ID: "charts", Title: "Differences over time"}
	s.addCharts(&d.data, 0) // all charts, from the first (0) on
	d.Sections = append(d.Sections, s)
}

// compareChart adds a chart of a figure with a line per run. newLine computes the values of a line and their mean from
// the points of a run; hasLoops is set if loop points of the recording must not set the scale. The X values are all points
// in time of all runs, because the samples of the runs may have different periods. compareChart adds nothing if the
// figure is 0 or unknown everywhere.
func (d *document) compareChart(runs []*run, names []string, title, unit string, hasLoops bool, newLine func([]point) line) {
	times := map[float64]bool{}
	hasData := false
	lines, allPoints := make([]line, len(runs)), make([][]point, len(runs))
	for i, r := range runs {
		allPoints[i] = r.points()
		lines[i] = newLine(allPoints[i])
		lines[i].Name, lines[i].Color = names[i], 1+i
		for k, p := range allPoints[i] {
			times[p.until] = true
			v := float64(lines[i].Y[k])
			hasData = hasData || !math.IsNaN(v) && v != 0
		}
	}
	if !hasData {
		return
	}
	until := slices.Sorted(maps.Keys(times))
	x := make([]axisValue, len(until))
	for i, t := range until {
		x[i] = axisValue(t)
	}
	c := chart{Title: title, Unit: unit, Axis: "s"}
	for i, l := range lines {
		points, loops := allPoints[i], []int(nil)
		if hasLoops {
			loops = loopPoints(points)
		}
		y, k := make([]value, len(until)), 0 // k: index of the point that covers t, since both are in order of time
		for j, t := range until {            // a point covers the time from until-width to until
			for k < len(points) && points[k].until < t {
				k++
			}
			y[j] = noValue
			if k < len(points) && t > points[k].until-points[k].width {
				y[j] = l.Y[k]
				if _, isLoop := slices.BinarySearch(loops, k); isLoop {
					c.Loops = append(c.Loops, j)
				}
			}
		}
		l.Y = y
		c.Lines = append(c.Lines, l)
		if i == 0 {
			c.Label = describeSeries(names[0]+": "+title, unit, &l)
		} else {
			c.Label += "; " + describeSeries(names[i], unit, &l)
		}
	}
	slices.Sort(c.Loops)
	c.Loops = slices.Compact(c.Loops)
	c.X, c.Top = d.data.addAxis(x), scaleTop(c.Lines, c.Loops)
	d.data.Charts = append(d.data.Charts, c)
}

// compareBits adds a table of the bit budgets of all runs: a row per part, in the order in which the parts
// first occur.
func (d *document) compareBits(runs []*run, names []string) {
	var parts []string
	for _, r := range runs {
		for _, b := range r.Result.Budget {
			if !slices.Contains(parts, b.Name()) {
				parts = append(parts, b.Name())
			}
		}
	}
	if len(parts) == 0 {
		return
	}
	columns := []string{"part"}
	for _, name := range names {
		columns = append(columns, ">"+name+", bits per packet", ">share")
	}
	t := newTable("Payload bits by part", columns...)
	for _, part := range parts {
		row := []any{part}
		for _, r := range runs {
			bits, share := "–", "–"
			for _, b := range r.Result.Budget {
				if b.Name() == part {
					bits, share = formatNumber(figures.RatioOrZero(b.Bits, float64(r.Result.Totals.Sent))), formatPercent(b.Share)
				}
			}
			row = append(row, bits, share)
		}
		t.Add(row...)
	}
	d.Sections = append(d.Sections, section{ID: "bits", Title: "Bit budget", Tables: []table{t}})
}

// reportKey is the key of the axis that distinguishes several sweeps on a page.
const reportKey = "report"

// compareSweeps draws several sweeps as one grid with the report as an additional axis, and compares
// each with the first, point by point.
func (d *document) compareSweeps(list []*Loaded, names []string) {
	var points []gridPoint
	firstRuns := make([]*engine.Result, len(list)) // of each report, for its configuration
	for i, l := range list {
		firstRuns[i] = l.Report.Runs[0]
		for _, p := range gridPoints(l.Report.Runs) {
			set := maps.Clone(p.Set)
			if set == nil {
				set = map[string]string{}
			}
			set[reportKey] = names[i]
			p.Set = set
			points = append(points, p)
		}
	}
	d.Headline = fmt.Sprintf("%d reports of sweeps, %s.", len(list), formatCount(int64(len(points)), "point"))
	d.compareConfigurations(firstRuns, names)
	d.Sections[len(d.Sections)-1].Lead = append(d.Sections[len(d.Sections)-1].Lead, "This is the configuration of the first run of each report. The other runs differ in the swept keys.")
	for i, l := range list[1:] {
		d.comparePoints(list[0].Report, l.Report, names[0], names[1+i])
	}
	d.addGrid(points, sweptAxes(points))
}

// comparePoints adds a comparison of two sweeps, named baseName and nowName: for each point of the grid and
// each main figure, the change between pairs of runs with the same seed, and the points that only one of
// the sweeps has.
func (d *document) comparePoints(base, now *report.Report, baseName, nowName string) {
	var limits []report.Limit
	for _, k := range []string{"payload_kbps", "bits_per_item", "playout.starved_ratio", "playout.position_error_mm.p95", "lost", "wrong"} {
		limits = append(limits, report.Limit{Key: k, Share: math.Inf(1)}) // selects the figure; no change exceeds the limit
	}
	compared := report.Compare(base, now, limits)
	s := section{ID: "compared-" + strings.ToLower(nowName[:1]), Title: nowName + " vs " + baseName}
	t := newTable("Pairs of runs with the same seed", "point", "figure", ">"+baseName, ">"+nowName, ">change", ">95 % CI", ">pairs")
	for i := range compared.Differences {
		diff := &compared.Differences[i]
		if len(t.Rows) >= maxListed {
			t.Caption += fmt.Sprintf("; the first %d rows", maxListed)
			break
		}
		a, hasA := diff.Base.Value()
		b, hasB := diff.New.Value()
		if !hasA && !hasB {
			continue
		}
		interval := "–"
		if lo, ok := diff.Lo.Value(); ok {
			interval = fmt.Sprintf("%+.2f to %+.2f %%", 100*lo, 100*diff.Hi.Or(lo))
		}
		const noInterval = "" // it has a column of its own
		t.Add(shortSet(diff.Set), diff.Key, formatFigure(diff.Base), formatFigure(diff.New),
			formatChange(diff.Key, a, b, hasA && hasB, noInterval), interval, diff.Pairs)
	}
	for _, only := range []struct {
		name string
		list []string
	}{{baseName, compared.OnlyBase}, {nowName, compared.OnlyNew}} {
		if n := len(only.list); n > 0 {
			s.Lead = append(s.Lead, fmt.Sprintf("%s of %s missing in the other report: %s.", formatCount(int64(n), "point"), only.name, strings.Join(abbreviate(only.list), "; ")))
		}
	}
	if len(t.Rows) > 0 {
		s.Tables = []table{t}
	}
	d.Sections = append(d.Sections, s)
}
