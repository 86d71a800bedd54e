package page

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// Point is a point of a grid of settings over its seeds. The grid is that of a sweep, of several saved
// sweeps, or of a search.
type Point struct {
	Set      map[string]string       `json:"set"`                // the values of the varied keys, without the seed
	Seeds    int                     `json:"seeds"`              // number of completed runs
	Asserted int                     `json:"asserted,omitempty"` // assertions of these runs
	Failed   int                     `json:"failed,omitempty"`   // runs that failed, by an assertion or otherwise
	Figures  map[string]figures.Mean `json:"figures"`            // by key
	// Ratio contains the ratios of the figures to those of the first point, over common seeds.
	Ratio map[string]figures.Mean `json:"ratio_to_first,omitempty"`

	seeds  []uint64             // of the runs; nil if only means are known
	values map[string][]float64 // figures of the runs that have them, by key
}

// grid is the points of a grid of settings, and the units, by key, of the figures whose unit depends on
// the data.
type grid struct {
	points []*Point
	units  map[string]string
}

// newGrid groups the runs of a sweep into points, in the order of the runs.
func newGrid(runs []*engine.Result) *grid {
	g := &grid{}
	for _, group := range report.GroupByPoint(runs) {
		p := &Point{Set: group.Set, Seeds: len(group.Runs), Figures: map[string]figures.Mean{},
			values: map[string][]float64{}}
		g.units = figures.UnitsOf(&group.Runs[0].Totals)
		for _, r := range group.Runs {
			p.Asserted += len(r.Assertions)
			if len(report.Failures(r)) > 0 {
				p.Failed++
			}
			p.seeds = append(p.seeds, r.Seed)
			all := figures.Flatten(r.Totals)
			addTickTimes(all, r.Timing.TickUS)
			for key, v := range all {
				p.values[key] = append(p.values[key], v)
			}
		}
		for key, v := range p.values {
			if m := figures.MeanOf(key, v); m.N > 0 {
				p.Figures[key] = m
			}
		}
		g.points = append(g.points, p)
	}
	return g
}

// ratioTo returns the ratio of a figure to that of q, with its interval if both were run with the same
// seeds.
func (p *Point) ratioTo(q *Point, key string) figures.Mean {
	x := p.values[key]
	y := q.values[key]
	if len(x) > 0 && len(x) == len(y) && slices.Equal(p.seeds, q.seeds) {
		return figures.RatioOf(key, x, y)
	}
	return figures.EstimateRatio([]float64{p.Figures[key].Mean}, []float64{q.Figures[key].Mean})
}

// Keys of figures that grids are compared by.
const (
	payloadKey  = "payload_kbps"
	wireKey     = "wire_kbps"
	transferKey = "transfer.time_s"
	starvedKey  = "playout.starved_ratio"
	lossKey     = "network.loss_rate"
	errorMMKey  = "playout.position_error_mm.p95"
	errorKey    = "playout.position_error.p95"
	missedKey   = "redundancy.missed_100ms_ratio"
	deliveryKey = "messages.delivery_ms.p99"
	ageKey      = "age_ms.p50"
)

// drawnKeys are the figures that charts of grids show in addition to those of the highest rank.
var drawnKeys = []string{"bits_per_changed_cube", "network.delay_ms.p95", "baseline_age_ticks.p50", missedKey,
	deliveryKey, "crowd.encodings_per_tick", encodeTimeKey, serverTimeKey, "crowd.p50.payload_kbps",
	"crowd.p95.payload_kbps", "crowd.p95.playout.starved_ratio", "crowd.p95.age_ms"}

// metric returns the description of a figure, with the unit that it has in the grid.
func (g *grid) metric(key string) figures.Row {
	m := figures.Find(key)
	for _, row := range figures.RowsOf(figures.CrowdTiming{}) {
		if tickKey+row.Key == key {
			m = row
			m.Key = key
		}
	}
	m.Unit = cmp.Or(g.units[key], m.Unit)
	return m
}

// has reports whether any point has the figure.
func (g *grid) has(key string) bool {
	return slices.ContainsFunc(g.points, func(p *Point) bool { _, ok := p.Figures[key]; return ok })
}

// varied returns the figures of list that differ between points, each once, with the units of the grid.
func (g *grid) varied(list []figures.Row) (out []figures.Row) {
	for _, m := range list {
		lo, hi := span(g.points, &m)
		isSame := func(x figures.Row) bool { return x.Key == m.Key }
		if lo < hi && !slices.ContainsFunc(out, isSame) {
			out = append(out, g.metric(m.Key))
		}
	}
	return out
}

// heading returns a title with a capital letter.
func heading(title string) string { return strings.ToUpper(title[:1]) + title[1:] }

// value returns the mean of a figure in the unit of m, NaN if the point does not have it.
func (p *Point) value(m *figures.Row) float64 {
	v, ok := p.Figures[m.Key]
	if !ok {
		return math.NaN()
	}
	return v.Mean * m.Scale()
}

// cell formats a figure of the point, with its interval or range if known.
func (p *Point) cell(m *figures.Row) string { return formatMean(m, p.Figures[m.Key]) }

// intervalNotes explains the intervals that cell formats.
const intervalNotes = figures.ApproximateNote + " " + figures.RangeNote

// span returns the least and the largest value of a figure, in the unit of m; lo > hi if no point has it.
func span(points []*Point, m *figures.Row) (lo, hi float64) {
	lo = math.Inf(1)
	hi = math.Inf(-1)
	for _, p := range points {
		if v := p.value(m); !math.IsNaN(v) {
			lo = min(lo, v)
			hi = max(hi, v)
		}
	}
	return lo, hi
}

// spanText returns the value of a figure as a text: "12", or "12 to 15" if the points differ; "-" if no
// point has it.
func spanText(points []*Point, m *figures.Row) string {
	lo, hi := span(points, m)
	format := func(v float64) string { return units.Fixed(v, m.Decimals) }
	switch {
	case lo > hi:
		return "-"
	case format(lo) == format(hi):
		return format(lo)
	}
	return format(lo) + " to " + format(hi)
}

// isCondition reports whether a key is part of the condition of a point: the seed, or what
// config.IsCondition names. Other keys are the choice of the point. Points are compared only under the
// same condition.
func isCondition(key string) bool { return key == "seed" || config.IsCondition(key) }

func isChoice(key string) bool { return !isCondition(key) }

// settings names the settings of the point whose keys are selected, such as "encoder rotor, loss 5%".
func (p *Point) settings(selected func(key string) bool) string {
	set := maps.Clone(p.Set)
	maps.DeleteFunc(set, func(k, _ string) bool { return !selected(k) })
	return shortSet(set)
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

// group is the points that have some settings in common.
type group struct {
	name   string // of these settings
	points []*Point
}

// groupPoints groups points by the settings whose keys are selected, in the order of their first points.
func groupPoints(points []*Point, selected func(key string) bool) (list []*group) {
	byName := map[string]*group{}
	for _, p := range points {
		name := p.settings(selected)
		g := byName[name]
		if g == nil {
			g = &group{name: name}
			byName[name] = g
			list = append(list, g)
		}
		g.points = append(g.points, p)
	}
	return list
}

// keys returns the keys of the settings of all points: those of conditions, then the others.
func (g *grid) keys() []string {
	if len(g.points) == 0 {
		return nil
	}
	all := slices.Sorted(maps.Keys(g.points[0].Set))
	choices := slices.DeleteFunc(slices.Clone(all), isCondition)
	return append(slices.DeleteFunc(all, isChoice), choices...)
}

// newTable returns a table with a row for each of at most maxListed points: the settings, and the metrics.
// withSeeds adds the number of seeds.
func (g *grid) newTable(caption string, points []*Point, metrics []figures.Row, withSeeds bool) *table {
	keys := g.keys()
	titles := slices.Clone(keys)
	if withSeeds {
		titles = append(titles, ">seeds")
	}
	titles = append(titles, labels(metrics)...)
	if n := len(points); n > maxListed {
		caption += "; the first " + formatNumber(maxListed) + " of " + formatNumber(float64(n)) +
			", summary.csv has all"
		points = points[:maxListed]
	}
	t := newTable(caption, titles...)
	for _, p := range points {
		var row []any
		for _, k := range keys {
			row = append(row, p.Set[k])
		}
		if withSeeds {
			row = append(row, p.Seeds)
		}
		for _, m := range metrics {
			row = append(row, p.cell(&m))
		}
		t.add(row...)
	}
	return t
}

// maxListed is the maximum number of points that a table lists.
const maxListed = 1000

// maxSeeds returns the largest number of seeds of any point.
func (g *grid) maxSeeds() (seeds int) {
	for _, p := range g.points {
		seeds = max(seeds, p.Seeds)
	}
	return seeds
}

// axis is a swept key with its values: in ascending order if they are numbers, else in the order of the
// points.
type axis struct {
	key, unit string
	values    []string
	positions map[string]float64 // of the values in charts
	ticks     []string           // the values if their positions are 0, 1, 2, ...; else nil
}

// axes returns the keys that differ among points as axes. Axes that are not numeric are first; numeric
// ones follow in ascending order of their number of values, because charts use the last axes as X and Y.
func (g *grid) axes() (out []axis) {
	numericValues := map[string]int{} // by key; 0 if the axis is not numeric
	for _, key := range slices.Sorted(slices.Values(g.keys())) {
		a := axis{key: key, positions: map[string]float64{}}
		for _, p := range g.points {
			if v := p.Set[key]; !slices.Contains(a.values, v) && len(a.values) < maxValues {
				a.values = append(a.values, v)
			}
		}
		if len(a.values) < 2 {
			continue
		}
		numbers, unit := parseNumbers(a.values)
		if numbers != nil {
			slices.SortStableFunc(a.values, func(x, y string) int { return cmp.Compare(numbers[x], numbers[y]) })
			numericValues[key] = len(a.values)
			a.unit = unit
			a.positions = numbers
		}
		if numbers == nil || key == "crowd.clients" { // numbers of clients usually are powers of ten
			a.ticks = a.values
			for i, v := range a.values {
				a.positions[v] = float64(i)
			}
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b axis) int { return cmp.Compare(numericValues[a.key], numericValues[b.key]) })
	return out
}

// maxValues is the maximum number of values of an axis that are drawn.
const maxValues = 200

// parseNumbers parses values that are numbers with a common unit after the last digit. It returns nil if
// they are not.
func parseNumbers(values []string) (numbers map[string]float64, unit string) {
	numbers = map[string]float64{}
	for i, v := range values {
		end := strings.LastIndexFunc(v, func(r rune) bool { return r >= '0' && r <= '9' }) + 1
		x, err := strconv.ParseFloat(v[:end], 64)
		if i == 0 {
			unit = v[end:]
		}
		if err != nil || v[end:] != unit {
			return nil, ""
		}
		numbers[v] = x
	}
	return numbers, strings.TrimSpace(unit)
}
