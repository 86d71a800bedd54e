package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/escape"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/internal/words"

	"github.com/guptarohit/asciigraph"
)

//go:embed markdown.tmpl
var markdownTemplate string

// markdown returns the templates of report.md: "run" for an *engine.Result, and "sweep" for a *Report. The
// function charts draws nothing; writeMarkdown, which has the data of the charts, replaces it.
var markdown = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"setting": func(r *engine.Result, table, key string) string { return escape.Markdown(SettingOf(r, table, key)) },
		"ending":  mdEnding,
		"plural":  words.Plural,
		"name":    escape.Markdown,
		"gauge":   mdGauge,
		"known":   func(f figures.Figure) bool { _, ok := f.Value(); return ok },
		"percent": mdPercent,
		"ratio":   func(x, y int) float64 { return figures.RatioOrZero(float64(x), float64(y)) },
		"perPacket": func(bits float64, packets int64) float64 {
			return bits / max(1, float64(packets))
		},
		"lanes":          Lanes,
		"lanesCompared":  lanesCompared,
		"allLanes":       allLanes,
		"budgets":        mdBudgets,
		"changes":        mdChanges,
		"costsPerChange": CostsPerChange,
		"hasPlayout":     HasPlayout,
		"charts":         func(*engine.Result) []mdChart { return nil },
		"joinNames":      mdJoin,
		"place":          settingValues,
		"rounding":       RoundingRows,
		"sweepKeys":      func(r *Report) []string { return slices.Sorted(maps.Keys(r.Runs[0].Set)) },
		"sweepTable":     sweepTable,
	}).Parse(markdownTemplate))
})

// writeMarkdown writes report.md for a run: the settings, the results, and the charts as text.
func writeMarkdown(w io.Writer, r *engine.Result, samples *curves) error {
	t, err := markdown().Clone()
	if err != nil {
		return err
	}
	t.Funcs(template.FuncMap{"charts": func(r *engine.Result) []mdChart { return mdCharts(r, samples) }})
	return executeMarkdown(w, t, "run", r)
}

// writeSweepMarkdown writes report.md for a sweep: tables that compare the runs.
func writeSweepMarkdown(w io.Writer, r *Report) error {
	return executeMarkdown(w, markdown(), "sweep", r)
}

// executeMarkdown executes a template. It writes nothing if the template fails.
func executeMarkdown(w io.Writer, t *template.Template, name string, data any) error {
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mdEnding returns a sentence, after a space, about how a run ended; empty if the run is complete and all
// assertions hold. problem is the error that ended the run, or empty.
func mdEnding(why engine.Ending, problem string, interrupted bool) string {
	const until = " these are the results until then."
	switch {
	case problem != "":
		return " Stopped by an error: " + escape.Markdown(strings.ReplaceAll(problem, "\n", "; ")) + ";" + until
	case why == engine.Unfinished:
		return " Still running, or killed:" + until
	case interrupted:
		return " Interrupted:" + until
	case why == engine.Unmet:
		return " An assertion was not met."
	}
	return ""
}

// mdPercent formats a share, which is a float64 or a figures.Figure, in percent.
func mdPercent(decimals int, share any) string {
	if f, ok := share.(figures.Figure); ok {
		return f.Times(100).Text(decimals) + " %"
	}
	return fmt.Sprintf("%.*f %%", decimals, 100*share.(float64))
}

// mdGauge formats a gauge with its unit.
func mdGauge(g encoders.Gauge) string {
	return strings.TrimSpace(units.Significant(g.Value, 3) + " " + g.Unit)
}

// mdJoin joins the cells of a row of a Markdown table, each escaped.
func mdJoin(cells []string) string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = escape.Markdown(cell)
	}
	return strings.Join(escaped, " | ")
}

// mdChange is a row of the table of changes.
type mdChange struct {
	At    float64 // seconds
	Label string
}

// mdChanges returns the rows of the table of changes. Similar consecutive changes, such as those of a
// drag, share a row.
func mdChanges(changes []config.StampedChange) (list []mdChange) {
	for i := 0; i < len(changes); {
		label, n := config.Summarise(changes[i:])
		list = append(list, mdChange{changes[i].TS, label})
		i += n
	}
	return list
}

// comparedLane is a row of the table that compares lanes.
type comparedLane struct {
	engine.ComparedLane
	FromS  float64 // when the lane joined or its encoder was swapped last, in seconds
	Bounds string  // 95 % confidence interval of the ratio to the first lane
	Wrong  int64
}

// lanesCompared returns the rows of the table that compares lanes; none without shadows.
func lanesCompared(r *engine.Result) (list []comparedLane) {
	if c := r.Comparison; c != nil && len(c.Lanes) == 1+r.Running() {
		for i, l := range c.Lanes {
			row := comparedLane{ComparedLane: l, Wrong: r.Totals.Wrong} // the first lane has no bounds
			if n := len(r.Stretches); n > 0 && i == 0 {
				row.FromS = r.Stretches[n-1].FromS
			}
			if i > 0 {
				shadow := &r.Shadows[i-1]
				row.FromS, row.Wrong, row.Bounds = shadow.FromS, shadow.Totals.Wrong, "too few data"
			}
			if _, known := l.TimesLo.Value(); known {
				row.Bounds = l.TimesLo.Text(3) + " to " + l.TimesHi.Text(3)
			}
			list = append(list, row)
		}
	}
	return list
}

// mdLane is a row of the table of all lanes.
type mdLane struct {
	Lane, Encoders string
	FromS, ToS     float64 // seconds
	*figures.Totals
}

// allLanes returns the rows of the table of all lanes; none without shadows.
func allLanes(r *engine.Result) (list []mdLane) {
	if len(r.Shadows) == 0 {
		return nil
	}
	list = []mdLane{{r.Lane, r.Encoders(), 0, r.DurationS, &r.Totals}}
	for i := range r.Shadows {
		s := &r.Shadows[i]
		list = append(list, mdLane{s.Lane, cmp.Or(s.Label, s.Encoder), s.FromS, cmp.Or(s.ToS, r.DurationS), &s.Totals})
	}
	return list
}

// chartedCurve is a curve that report.md charts.
type chartedCurve struct {
	curve
	title string
}

// chartedCurves returns the curves that report.md charts: three for all runs, and those of the display
// that are not zero throughout.
func chartedCurves(r *engine.Result) []chartedCurve {
	p := &r.Totals.Playout
	const mean = ", 2 s mean"
	list := []chartedCurve{{payloadCurve, "Payload, kbps" + mean}}
	if CostsPerChange(r) {
		list = append(list, chartedCurve{changedCurve, "Bits per changed " + r.Item + mean})
	}
	list = append(list, chartedCurve{failureCurve, "Decode failures per second" + mean})
	if p.StarvedRatio.Or(0) > 0 {
		list = append(list, chartedCurve{starvedCurve, "Display ticks starved, %" + mean})
	}
	if p.Late > 0 {
		list = append(list, chartedCurve{lateCurve, "Late snapshots per second" + mean})
	}
	if p.PositionErrorMM != nil && p.PositionErrorMM.Max > 0 {
		list = append(list, chartedCurve{positionCurve, "Largest position error of a displayed cube, mm"})
	}
	if p.OrientationErrorDeg != nil && p.OrientationErrorDeg.Max > 0 {
		list = append(list, chartedCurve{orientationCurve, "Largest rotation error of a displayed cube, degrees"})
	}
	if p.PositionError != nil && p.PositionError.Max > 0 {
		list = append(list, chartedCurve{positionCurve, "Largest position error of a displayed " + withUnit(r.Item, p.PositionErrorUnit)})
	}
	if p.AngleError != nil && p.AngleError.Max > 0 {
		list = append(list, chartedCurve{orientationCurve, "Largest angle error of a displayed " + withUnit(r.Item, p.AngleErrorUnit)})
	}
	return list
}

// withUnit returns text, followed by a unit if there is one.
func withUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + ", " + unit
}

// mdChart is a chart as text.
type mdChart struct{ Title, Plot string }

// mdCharts returns the charts of a run; none if it has no samples.
func mdCharts(r *engine.Result, data *curves) (list []mdChart) {
	if data.end == data.begin { // no samples
		return nil
	}
	for _, x := range chartedCurves(r) {
		hasPeaks := x.curve >= firstPeakCurve
		var loops []float64 // the data jump at loop points, which makes packets large
		if x.curve == payloadCurve || x.curve == changedCurve {
			loops = data.series(loopCurve)
		}
		list = append(list, mdChart{x.title, plot(data.series(x.curve), loops, hasPeaks, data.begin, data.end)})
	}
	return list
}

// plot returns a chart of v as text, with a scale that starts at 0. It reduces v to the width of the
// chart: to maxima if peaks is set, otherwise to means. from and to are the time range of v. Values at loop points,
// where loops is positive, do not set the scale; the caption lists their times. loops may be nil.
func plot(v, loops []float64, peaks bool, from, to time.Duration) string {
	const width, height = 72, 10
	n := min(width, len(v))
	v = bucket(v, n, peaks)
	caption := fmt.Sprintf("%.1f to %.1f s", from.Seconds(), to.Seconds())
	if loops != nil {
		const usePeaks = true
		if times := cutLoopPoints(v, bucket(loops, n, usePeaks), from, to); times != "" {
			caption += "; loop point at " + times + ", higher values cut off"
		}
	}
	for i := range v {
		if math.IsInf(v[i], 0) {
			v[i] = math.NaN() // asciigraph leaves a gap; it panics for infinite values
		}
	}
	top := slices.Max(v)
	if top <= 0 || math.IsNaN(top) {
		top = 1 // asciigraph needs a finite range above 0
	}
	return asciigraph.Plot(v, asciigraph.Height(height), asciigraph.Precision(1), asciigraph.LowerBound(0), asciigraph.UpperBound(top),
		asciigraph.Caption(caption))
}

// cutLoopPoints limits the values of v at loop points, where loops is positive, to the maximum of the others, if there
// are others. It returns the times of the loop points, such as "12.5, 27.1 s"; "" if there are none. from and to are the
// time range of v.
func cutLoopPoints(v, loops []float64, from, to time.Duration) (times string) {
	top := math.Inf(-1)
	for i := range v {
		if loops[i] == 0 {
			top = max(top, v[i])
		}
	}
	const maxTimes = 5
	var list []string
	for i := range v {
		if loops[i] == 0 {
			continue
		}
		if i == 0 || loops[i-1] == 0 {
			at := from + time.Duration(float64(to-from)*float64(i)/float64(len(v)))
			list = append(list, fmt.Sprintf("%.1f", at.Seconds()))
		}
		if !math.IsInf(top, -1) {
			v[i] = min(v[i], top)
		}
	}
	switch {
	case len(list) == 0:
		return ""
	case len(list) > maxTimes:
		return strings.Join(list[:maxTimes], ", ") + fmt.Sprintf(" s and %d more", len(list)-maxTimes)
	}
	return strings.Join(list, ", ") + " s"
}

// bucket divides v into n parts and returns one value for each: its maximum if peaks is true, otherwise its
// mean. v must have at least n values.
func bucket(v []float64, n int, peaks bool) []float64 {
	out := make([]float64, n)
	for i := range out {
		part := v[i*len(v)/n : (i+1)*len(v)/n]
		if peaks {
			out[i] = slices.Max(part)
			continue
		}
		for _, x := range part {
			out[i] += x / float64(len(part))
		}
	}
	return out
}

// sweepTable returns the table that compares the runs of a sweep, one row for each. The first columns are
// the settings of the sweep, by key. A sweep without settings, which only an edited report contains, has
// the number of each run instead, from 1.
func sweepTable(r *Report) string {
	keys := slices.Sorted(maps.Keys(r.Runs[0].Set))
	identifiers := keys
	if len(keys) == 0 {
		identifiers = []string{"run"}
	}
	list := texttable.New(slices.Concat(identifiers, texttable.Numbers("payload kbps", "wire kbps", "p95 bytes", "decoded", "lost",
		"failures", "wrong"), texttable.Numbers(mdItemHeads(r)...))...)
	for i, run := range r.Runs {
		cells := settingValues(run, keys)
		if len(keys) == 0 {
			cells = []string{strconv.Itoa(i + 1)}
		}
		if run.Interrupted {
			cells[len(cells)-1] += fmt.Sprintf(" (interrupted after %.1f s)", run.DurationS)
		}
		t := &run.Totals
		list.Add(cells, t.PayloadKbps, t.WireKbps, fmt.Sprintf("%.0f", t.PacketBytes.P95), t.Decoded, t.Lost, t.Failed(), t.Wrong,
			mdItemCells(r, run))
	}
	var b strings.Builder
	list.WriteMarkdown(&b)
	return b.String()
}

// mdItemHeads returns the additional columns of a sweep over data that are not cubes: bits per item, and
// the gauges of encoders and decoders.
func mdItemHeads(r *Report) []string {
	first := r.Runs[0]
	if first.Totals.BitsPerCube != nil {
		return nil
	}
	heads := []string{"bits/" + first.Item}
	if first.Totals.Transfer != nil {
		heads = append(heads, "resent", "seconds")
	} else if first.Item == "byte" {
		heads = append(heads, "ratio") // compressed size of messages, as a share of their bytes
	}
	return append(heads, gaugeNames(r)...)
}

// mdItemCells returns the cells of one run in the columns of mdItemHeads.
func mdItemCells(r *Report, run *engine.Result) []string {
	t := &run.Totals
	if t.BitsPerCube != nil {
		return nil
	}
	cells := []string{fmt.Sprintf("%.2f", t.BitsPerItem)}
	if x := t.Transfer; x != nil {
		cells = append(cells, strconv.FormatInt(x.Resent, 10), x.Verdict())
	} else if run.Item == "byte" {
		cells = append(cells, fmt.Sprintf("%.1f %%", t.BitsPerItem.Times(100.0/8))) // bits sent per byte, as a percentage of 8
	}
	gauges := slices.Concat(t.Sender, t.Receiver)
	for _, name := range gaugeNames(r) {
		cell := ""
		if i := slices.IndexFunc(gauges, func(g encoders.Gauge) bool { return g.Name == name }); i >= 0 {
			cell = mdGauge(gauges[i])
		}
		cells = append(cells, cell)
	}
	return cells
}

// gaugeNames returns the distinct names of the gauges of all runs, in the order of the runs: of each, the
// gauges of the encoder, then those of the decoder.
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

// settingValues returns the values of the settings with the given keys in a run of a sweep, in this order.
func settingValues(run *engine.Result, keys []string) []string {
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = run.Set[k]
	}
	return values
}
