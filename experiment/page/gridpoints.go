package page

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// gridPoint is a point of a sweep's grid: its settings and its figures over all seeds.
type gridPoint struct {
	Set     map[string]string       // the values of the swept keys, without the seed
	Seeds   int                     // number of runs, one per seed
	Figures map[string]figures.Mean // by key
	Units   map[string]string       // of the figures whose unit depends on the data, by key

	errors map[string]map[uint64]float64 // by key and seed: the errors of errorMetrics, of each run; nil for a summary

	Asserted, Failed int // assertions of the runs, and runs that failed
}

// gridPoints groups the runs of a sweep into points, in the order of the runs.
func gridPoints(runs []*engine.Result) []gridPoint {
	var out []gridPoint
	for _, group := range report.GroupByPoint(runs) {
		p := gridPoint{Set: group.Set, Seeds: len(group.Runs), Figures: map[string]figures.Mean{}, Units: UnitsOf(&group.Runs[0].Totals)}
		values := map[string][]float64{}
		for _, r := range group.Runs {
			p.Asserted += len(r.Assertions)
			if len((&report.Report{Runs: []*engine.Result{r}}).Failed()) > 0 {
				p.Failed++
			}
			all := figuresByKey(&r.Totals)
			addTickTimes(all, r.Timing.TickUS)
			for key, v := range all {
				values[key] = append(values[key], v)
			}
			p.addErrors(all, r.Seed)
		}
		for key, v := range values {
			if m := figures.MeanOf(key, v); m.N > 0 {
				p.Figures[key] = m
			}
		}
		out = append(out, p)
	}
	return out
}

// UnitsOf returns the units, by key, of those figures of a run whose unit depends on the data.
func UnitsOf(t *figures.Totals) map[string]string {
	return map[string]string{errorKey: t.Playout.PositionErrorUnit, "playout.angle_error.p95": t.Playout.AngleErrorUnit}
}

// addErrors stores the errors of a run with a budget, of which all are the figures by key.
func (p *gridPoint) addErrors(all map[string]float64, seed uint64) {
	for _, m := range errorMetrics {
		v, ok := all[m.key]
		if !ok {
			continue
		}
		if p.errors == nil {
			p.errors = map[string]map[uint64]float64{}
		}
		if p.errors[m.key] == nil {
			p.errors[m.key] = map[uint64]float64{}
		}
		p.errors[m.key][seed] = v
	}
}

// groupPoints groups points by the result of name. names are in the order of their first points.
func groupPoints(points []gridPoint, name func(*gridPoint) string) (names []string, groups map[string][]*gridPoint) {
	groups = map[string][]*gridPoint{}
	for i := range points {
		n := name(&points[i])
		if groups[n] == nil {
			names = append(names, n)
		}
		groups[n] = append(groups[n], &points[i])
	}
	return names, groups
}

// shortSet names the point by its values of the given axes, "" without axes.
func (p *gridPoint) shortSet(axes []axis) string {
	return shortSet(p.settings(func(key string) bool {
		return slices.ContainsFunc(axes, func(a axis) bool { return a.key == key })
	}))
}

// failedKey is the key of the sum of all failures, which figures.Flatten does not return.
const failedKey = "failures"

// Keys of figures that policies of redundancy and of messages change.
const (
	missedKey   = "redundancy.missed_100ms_ratio"
	deliveryKey = "messages.delivery_ms.p99"
)

// Keys of the figures that show how well the display follows.
const (
	starvedKey = "playout.starved_ratio"
	errorMMKey = "playout.position_error_mm.p95"
	errorKey   = "playout.position_error.p95"
)

// figuresByKey returns the figures of t by key: those of figures.Flatten, and the sum of the failures by failedKey.
func figuresByKey(t *figures.Totals) map[string]float64 {
	all := figures.Flatten(*t)
	all[failedKey] = float64(t.Failed())
	return all
}

// metric is a figure that is drawn for sweeps. Its values are multiplied by scale.
type metric struct {
	key, title, unit string
	scale            float64
}

// heading returns the title with a capital letter.
func (m metric) heading() string { return strings.ToUpper(m.title[:1]) + m.title[1:] }

// label returns the title with the unit, if any.
func (m metric) label() string {
	if m.unit == "" {
		return m.title
	}
	return m.title + ", " + m.unit
}

// drawnMetrics are the figures of sweeps that are drawn, without their cost. Errors of tables are in a unit of the data.
var drawnMetrics = []metric{ // key, title, unit, factor from the figure to the unit
	{"transfer.time_s", "transfer time of the file", "s", 1},
	{"bits_per_changed_cube", "bits per changed cube", "bits", 1},
	{"bits_per_item", "bits per item", "bits", 1},
	{starvedKey, "display starved", "% of display ticks", 100},
	{errorMMKey, "position error of moving cubes, p95", "mm", 1},
	{errorKey, "position error, p95", "units of the data", 1},
	{"playout.angle_error.p95", "angle error, p95", "units of the data", 1},
	{"network.delay_ms.p95", "delay, p95", "ms", 1},
	{"baseline_age_ticks.p50", "age of the baseline, median", "ticks", 1},
	{failedKey, "packets that failed", "packets", 1},
	{missedKey, "packets not at the receiver within 100 ms", "%", 100},
	{deliveryKey, "delivery of messages, p99", "ms", 1},
	{"crowd.encodings_per_tick", "encodings a tick", "encodings", 1},
	{encodeTimeKey, "encoding a tick, wall clock", "µs of one core", 1},
	{serverTimeKey, "acks, baselines and headers a tick, wall clock", "µs of one core", 1},
	{"crowd.p50.payload_kbps", "payload of a client, median", "kbps", 1},
	{"crowd.p95.payload_kbps", "payload of a client, p95", "kbps", 1},
	{"crowd.p95.playout.starved_ratio", "display starved, p95 of clients", "% of display ticks", 100},
	{"crowd.p95.age_ms", "age of the displayed state, p95 of clients", "ms", 1},
}

// metricOf returns the metric with the given key, one of drawnMetrics. Errors of tables get the unit that points have.
func metricOf(points []gridPoint, key string) metric {
	m := drawnMetrics[slices.IndexFunc(drawnMetrics, func(m metric) bool { return m.key == key })]
	if len(points) > 0 {
		m.unit = cmp.Or(points[0].Units[key], m.unit)
	}
	return m
}

// variedMetrics returns the metrics to draw: those with data that are not equal at all points. The
// cost is always drawn.
func variedMetrics(points []gridPoint) (out []metric) {
	cost := costOf(points)
	for _, m := range append([]metric{cost}, drawnMetrics...) {
		if m.key == "bits_per_item" && slices.ContainsFunc(out, func(x metric) bool { return x.key == "bits_per_changed_cube" }) {
			continue // bits per changed cube describe the same more precisely
		}
		if m.key != cost.key {
			m = metricOf(points, m.key)
		}
		var list []float64
		for i := range points {
			if v, ok := points[i].Figures[m.key]; ok {
				list = append(list, v.Mean)
			}
		}
		if len(list) > 0 && (slices.Min(list) != slices.Max(list) || m.key == cost.key) {
			m.title = m.heading()
			out = append(out, m)
		}
	}
	return out
}

// axis is a swept key with its values in the order of the points.
type axis struct {
	key     string
	values  []string
	numbers []float64 // the values as numbers; nil if any is not a number
	unit    string
}

// isEven reports whether the values are at equal distances in charts: if they are not numbers, and numbers of clients,
// which usually are powers of ten.
func (a *axis) isEven() bool { return a.numbers == nil || a.key == "crowd.clients" }

// sweptAxes returns the keys that differ among points as axes. Axes that are not numeric are first; numeric
// ones follow in ascending order of their number of values, because charts use the last axes as X and Y.
func sweptAxes(points []gridPoint) (out []axis) {
	if len(points) == 0 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(points[0].Set)) {
		a := axis{key: key}
		for i := range points {
			if v := points[i].Set[key]; !slices.Contains(a.values, v) && len(a.values) < maxValues {
				a.values = append(a.values, v)
			}
		}
		if len(a.values) > 1 {
			a.numbers, a.unit = parseNumbers(a.values)
			out = append(out, a)
		}
	}
	numericValues := func(a axis) int { return len(a.numbers) } // 0 if the axis is not numeric
	slices.SortStableFunc(out, func(a, b axis) int { return cmp.Compare(numericValues(a), numericValues(b)) })
	return out
}

// maxValues is the maximum number of values of an axis that are drawn.
const maxValues = 200

// parseNumbers parses values that are numbers with a common unit after the last digit, or durations. It
// returns nil if they are neither.
func parseNumbers(values []string) (numbers []float64, unit string) {
	for i, v := range values {
		end := strings.LastIndexFunc(v, func(r rune) bool { return r >= '0' && r <= '9' }) + 1
		x, err := strconv.ParseFloat(v[:end], 64)
		if err != nil || i > 0 && v[end:] != unit {
			return parseDurations(values)
		}
		numbers, unit = append(numbers, x), v[end:]
	}
	return numbers, strings.TrimSpace(unit)
}

// parseDurations parses durations and returns them in milliseconds; nil if any is not a duration.
func parseDurations(values []string) (numbers []float64, unit string) {
	for _, v := range values {
		d, err := time.ParseDuration(v)
		if err != nil {
			return nil, ""
		}
		numbers = append(numbers, float64(d)/float64(time.Millisecond))
	}
	return numbers, "ms"
}
