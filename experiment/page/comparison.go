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

// MaxBeside is how many reports fit on a page side by side: as many as there are inks.
const MaxBeside = 8

// WriteComparison writes a page with several reports side by side: what differs in their
// configurations, in their figures, in their charts. Each must have a Report.
func WriteComparison(w io.Writer, list []*Loaded) error {
	d := &document{Title: "Reports side by side"}
	names := reportNames(list)
	alone := !slices.ContainsFunc(list, func(l *Loaded) bool { return l.Run == nil })
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
	if alone {
		d.compareRuns(list, names)
	} else {
		d.compareSweeps(list, names)
	}
	return write(w, d)
}

// reportNames gives each report a letter and a name.
func reportNames(list []*Loaded) []string {
	out := make([]string, len(list))
	for i, l := range list {
		path := filepath.Clean(l.Path)
		if filepath.Base(path) == "report.json" {
			path = filepath.Dir(path)
		}
		base := filepath.Base(path)
		if base == "." || base == string(filepath.Separator) || base == ".." {
			base = encoderOf(l.Report.Runs[0])
		}
		out[i] = string(rune('A'+i)) + " " + cut(base, 40)
	}
	return out
}

func (d *document) compareRuns(list []*Loaded, names []string) {
	runs := make([]*run, len(list))
	for i, l := range list {
		runs[i] = l.Run
	}
	d.Headline = comparisonHeadline(runs, names)
	s := section{ID: "runs", Title: "What was run"}
	t := newTable("Each report in a sentence", "report", "what came out", ">seed", ">seconds")
	for i, r := range runs {
		c, err := r.Result.Config.Config("")
		if err != nil {
			c = nil
		}
		t.Add(names[i], headline(r.Result, c), r.Result.Seed, digits(r.Result.DurationS))
	}
	s.Tables = append(s.Tables, t)
	d.Sections = append(d.Sections, s)
	d.configurations(resultsOf(runs), names)
	d.compareFigures(runs, names)
	d.compareCharts(runs, names)
	d.compareBits(runs, names)
}

func resultsOf(runs []*run) []*engine.Result {
	out := make([]*engine.Result, len(runs))
	for i, r := range runs {
		out[i] = r.Result
	}
	return out
}

// comparisonHeadline compares the payload of the others with that of the first.
func comparisonHeadline(runs []*run, names []string) string {
	first := runs[0].Result.Totals.PayloadKbps
	text := fmt.Sprintf("%s takes %s kbps", names[0], round(first))
	for i, r := range runs[1:] {
		v := r.Result.Totals.PayloadKbps
		text += fmt.Sprintf("; %s %s", names[1+i], round(v))
		switch {
		case first <= 0:
		case v < first:
			text += ", " + percent((first-v)/first) + " less"
		case v > first:
			text += ", " + percent((v-first)/first) + " more"
		default:
			text += ", the same"
		}
	}
	same := !slices.ContainsFunc(runs, func(r *run) bool { return r.Result.Seed != runs[0].Result.Seed })
	if same {
		return text + "; under the same seed."
	}
	return text + "; under seeds of their own, so that some of it is luck."
}

// configurations says what was set otherwise.
func (d *document) configurations(runs []*engine.Result, names []string) {
	s := section{ID: "configuration", Title: "What differs in the configuration"}
	all := make([]map[string]string, len(runs))
	for i, r := range runs {
		if c, err := r.Config.Config(""); err == nil {
			all[i] = c.Settings()
		} else {
			s.Lead = append(s.Lead, names[i]+": this program cannot read its configuration.")
		}
	}
	t := newTable("Settings that are not the same everywhere", append([]string{"key"}, names...)...)
	for _, k := range report.KeysOf(all) {
		row, differs := []any{k}, false
		for i := range all {
			v, has := all[i][k]
			if !has {
				v = "–"
			}
			differs = differs || v != row[min(1, len(row)-1)] && i > 0
			row = append(row, v)
		}
		if differs {
			t.Add(row...)
		}
	}
	changes := slices.ContainsFunc(runs, func(r *engine.Result) bool { return len(r.Changes) > 0 })
	if changes {
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

// mainKeys are the figures that come first, in this order.
var mainKeys = []string{"payload_kbps", "wire_kbps", "feedback_kbps", "bits_per_item", "bits_per_changed_cube", "packet_bytes.p50",
	"packet_bytes.p95", "packet_bytes.max", "baseline_age_ticks.p50", "lost", "stale", "failures.no_baseline", "failures.corrupt",
	"failures.unknown_codec", "tainted", "wrong", "over_budget_ratio", "network.delay_ms.p95", "playout.starved_ratio", "playout.freezes",
	"playout.late", "playout.behind_ms", "playout.position_error_mm.p95", "transfer.time_s", "transfer.resent"}

// compareFigures writes the figures side by side: the most important ones, then all.
func (d *document) compareFigures(runs []*run, names []string) {
	all := make([]map[string]float64, len(runs))
	for i, r := range runs {
		all[i] = figures.Of(r.Result.Totals)
	}
	columns := []string{"figure", "unit"}
	for i, name := range names {
		columns = append(columns, ">"+name)
		if i > 0 {
			columns = append(columns, ">to "+names[0][:1])
		}
	}
	build := func(caption string, list []string) table {
		t := newTable(caption, columns...)
		for _, k := range list {
			row, any := []any{k, figures.UnitOf(k)}, false
			for i := range runs {
				v, has := all[i][k]
				any = any || has
				if !has {
					v = math.NaN()
				}
				row = append(row, digits(v))
				if i > 0 {
					base, hasBase := all[0][k]
					row = append(row, move(k, base, v, has && hasBase, pairedInterval(runs[0], runs[i], k)))
				}
			}
			if any {
				t.Add(row...)
			}
		}
		return t
	}
	s := section{ID: "figures", Title: "What differs in figures", Tables: []table{build("The figures that matter most", mainKeys)}}
	if pairedInterval(runs[0], runs[1], "payload_kbps") != "" {
		s.Lead = []string{"In brackets stands the interval of 95 %: the runs have the same seed, so that each stretch of time is compared with the same stretch of the other (block bootstrap)."}
	}
	rest := build("Every figure by its key", report.KeysOf(all))
	rest.Folded = true
	s.Tables = append(s.Tables, rest)
	d.Sections = append(d.Sections, s)
}

// move says by how much a figure is another, and whether that is better.
func move(key string, base, v float64, known bool, interval string) texttable.Cell {
	switch {
	case !known:
		return texttable.Cell{Text: "–"}
	case v == base:
		return texttable.Cell{Text: "="}
	}
	c := texttable.Cell{Text: digits(v - base)}
	little := math.Abs(v-base) < 0.0005*math.Abs(base)
	if base != 0 {
		c.Text = fmt.Sprintf("%+.2f %%", 100*(v-base)/math.Abs(base))
	} else if v > 0 {
		c.Text = "+" + c.Text
	}
	c.Text += interval
	switch dir := figures.DirectionOf(key); {
	case dir == figures.Neither || little:
	case (v < base) == (dir == figures.LessIsBetter):
		c.Class = "good"
	default:
		c.Class = "bad"
	}
	return c
}

// compareCharts draws the runs over each other.
func (d *document) compareCharts(runs []*run, names []string) {
	d.compareChart(runs, names, "Payload", "kbps", payloadKbps, 1)
	d.compareChart(runs, names, "Bits per changed "+runs[0].Result.Item, "bits", bitsPerChanged, 1)
	d.compareChart(runs, names, "Packets that failed or were lost", "a second", uselessRate, 1)
	d.compareChart(runs, names, "Age of the baseline", "ticks", baselineAge, 1)
	d.compareChart(runs, names, "Display starved", "% of its ticks", starvedShare, 100)
	d.compareChart(runs, names, "The worst shown cube is off by", "mm", positionMM, 1)
	if len(d.data.Charts) == 0 {
		return
	}
	s := section{ID: "charts", Title: "What differs in charts"}
	s.show(&d.data, 0)
	d.Sections = append(d.Sections, s)
}

// compareChart draws one figure of all runs, at the moments that any of them has.
func (d *document) compareChart(runs []*run, names []string, title, unit string, of ratio, times float64) {
	moments := map[float64]bool{}
	some := false
	for _, r := range runs {
		for _, p := range r.Rows.series.all() {
			moments[p.until] = true
			v := over(of(&p))
			some = some || !math.IsNaN(v) && v != 0
		}
	}
	if !some {
		return
	}
	until := slices.Sorted(maps.Keys(moments))
	x := make([]place, len(until))
	for i, t := range until {
		x[i] = place(t)
	}
	c := chart{Title: title, Unit: unit, Axis: "s"}
	for i, r := range runs {
		points := r.Rows.series.all()
		y, k := make([]value, len(until)), 0
		for j, t := range until { // a point holds from its beginning to its end
			for k < len(points) && points[k].until < t {
				k++
			}
			y[j] = none
			if k < len(points) && t > points[k].until-points[k].width {
				y[j] = value(times * over(of(&points[k])))
			}
		}
		c.Lines = append(c.Lines, line{Name: names[i], Ink: 1 + i, Y: y})
		if i == 0 {
			c.Label = label(names[0]+": "+title, unit, y)
		} else {
			c.Label += "; " + label(names[i], unit, y)
		}
	}
	c.X, c.Top = d.data.axis(x), top(c.Lines)
	d.data.Charts = append(d.data.Charts, c)
}

// compareBits compares what the bits were spent on.
func (d *document) compareBits(runs []*run, names []string) {
	var slots []string
	for _, r := range runs {
		for _, b := range r.Result.Budget {
			if !slices.Contains(slots, b.Name()) {
				slots = append(slots, b.Name())
			}
		}
	}
	if len(slots) == 0 {
		return
	}
	columns := []string{"part"}
	for _, name := range names {
		columns = append(columns, ">"+name+", bits a packet", ">share")
	}
	t := newTable("Bits of the payload by what they were spent on", columns...)
	for _, slot := range slots {
		row := []any{slot}
		for _, r := range runs {
			bits, share := "–", "–"
			for _, b := range r.Result.Budget {
				if b.Name() == slot {
					bits, share = digits(figures.Ratio(b.Bits, float64(r.Result.Totals.Sent))), percent(b.Share)
				}
			}
			row = append(row, bits, share)
		}
		t.Add(row...)
	}
	d.Sections = append(d.Sections, section{ID: "bits", Title: "Where the bits go", Tables: []table{t}})
}

// reportKey is the axis that several sweeps on a page differ in.
const reportKey = "report"

// compareSweeps draws sweeps as one grid in which the report is a further axis, and compares
// the others with the first, point by point.
func (d *document) compareSweeps(list []*Loaded, names []string) {
	var points []gridPoint
	firsts := make([]*engine.Result, len(list))
	for i, l := range list {
		firsts[i] = l.Report.Runs[0]
		for _, p := range pointsOf(l.Report.Runs) {
			set := maps.Clone(p.Set)
			if set == nil {
				set = map[string]string{}
			}
			set[reportKey] = names[i]
			p.Set = set
			points = append(points, p)
		}
	}
	d.Headline = fmt.Sprintf("%d reports of sweeps, %s.", len(list), count(int64(len(points)), "point"))
	d.configurations(firsts, names)
	d.Sections[len(d.Sections)-1].Lead = append(d.Sections[len(d.Sections)-1].Lead, "Of the first run of each; what was swept differs in the others.")
	for i, l := range list[1:] {
		d.comparePoints(list[0].Report, l.Report, names[0], names[1+i])
	}
	d.sweep(points, axesOf(points))
}

// comparePoints compares two sweeps, point by point, by pairs of the same seed.
func (d *document) comparePoints(base, now *report.Report, was, is string) {
	var limits []report.Limit
	for _, k := range []string{"payload_kbps", "bits_per_item", "playout.starved_ratio", "playout.position_error_mm.p95", "lost", "wrong"} {
		limits = append(limits, report.Limit{Key: k, Share: math.Inf(1)})
	}
	x := report.Compare(base, now, limits)
	s := section{ID: "compared-" + strings.ToLower(is[:1]), Title: is + " against " + was}
	t := newTable("By pairs of runs with the same seed", "point", "figure", ">"+was, ">"+is, ">change", ">interval of 95 %", ">pairs")
	for i := range x.Differences {
		y := &x.Differences[i]
		if len(t.Rows) >= maxListed {
			t.Caption += fmt.Sprintf("; the first %d rows", maxListed)
			break
		}
		a, hasA := y.Base.Value()
		b, hasB := y.New.Value()
		if !hasA && !hasB {
			continue
		}
		interval := "–"
		if lo, ok := y.Lo.Value(); ok {
			interval = fmt.Sprintf("%+.2f to %+.2f %%", 100*lo, 100*y.Hi.Or(lo))
		}
		t.Add(shortSet(y.Set), y.Key, figure(y.Base), figure(y.New), move(y.Key, a, b, hasA && hasB, ""), interval, y.Pairs)
	}
	for _, only := range []struct {
		name string
		list []string
	}{{was, x.OnlyBase}, {is, x.OnlyNew}} {
		if n := len(only.list); n > 0 {
			s.Lead = append(s.Lead, fmt.Sprintf("%s of %s are not in the other: %s.", count(int64(n), "point"), only.name, strings.Join(brief(only.list), "; ")))
		}
	}
	if len(t.Rows) > 0 {
		s.Tables = []table{t}
	}
	d.Sections = append(d.Sections, s)
}
