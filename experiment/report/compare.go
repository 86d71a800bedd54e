package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
	"wirelab/internal/units"
)

// Limit is how much worse a figure may be: by a share of what it was.
type Limit struct {
	Key   string
	Share float64
}

// Difference is a figure of two reports at one point of their sweeps.
type Difference struct {
	Set  map[string]string `json:"set,omitempty"` // the point; without the seed
	Key  string            `json:"figure"`
	Base figures.Figure    `json:"base"` // the mean over the seeds
	New  figures.Figure    `json:"new"`
	// Share is by how much the new one is larger, as a share of the base; none if there is
	// nothing to compare, or the base is 0. Lo and Hi are its interval of 95 % over pairs of runs with
	// the same seed, none for fewer than two pairs.
	Share figures.Figure `json:"share"`
	Lo    figures.Figure `json:"share_lo"`
	Hi    figures.Figure `json:"share_hi"`
	Pairs int            `json:"pairs"` // runs of both with the same seed
	Max   *float64       `json:"max_regression,omitempty"`
	Worse bool           `json:"regression"` // by more than Max, or no longer measured
}

// Comparison sets two reports side by side.
type Comparison struct {
	Differences []Difference `json:"differences"`
	// Points that only one of the two has.
	OnlyBase []string `json:"only_base,omitempty"`
	OnlyNew  []string `json:"only_new,omitempty"`
}

// Regressions returns the differences that are worse than allowed.
func (c *Comparison) Regressions() (list []Difference) {
	for _, d := range c.Differences {
		if d.Worse {
			list = append(list, d)
		}
	}
	return list
}

// Compare compares the figures of two reports, point by point of their sweeps. Points are
// the same if the same was set there; two reports of one run each are compared whatever
// was set. Runs with the same seed are pairs: if there are any, only they count. With
// limits only those figures are compared.
func Compare(base, now *Report, limits []Limit) *Comparison {
	out := &Comparison{Differences: []Difference{}}
	was, is := PointsOf(base.Runs), PointsOf(now.Runs)
	if len(base.Runs) == 1 && len(now.Runs) == 1 {
		is[0].Set, is[0].Name = was[0].Set, was[0].Name
	}
	byName := map[string]*point{}
	for i := range is {
		byName[is[i].Name] = &is[i]
	}
	for i := range was {
		p := byName[was[i].Name]
		if p == nil {
			out.OnlyBase = append(out.OnlyBase, was[i].Name)
			continue
		}
		delete(byName, p.Name)
		out.Differences = append(out.Differences, comparePoint(&was[i], p, limits)...)
	}
	for i := range is {
		if byName[is[i].Name] != nil {
			out.OnlyNew = append(out.OnlyNew, is[i].Name)
		}
	}
	return out
}

// point holds the runs at one point of a sweep, which differ only in the seed.
type point struct {
	Set  map[string]string // without the seed
	Name string
	Runs []*engine.Result
}

// PointsOf groups the runs of a sweep by points, in the order in which they come.
func PointsOf(runs []*engine.Result) (out []point) {
	at := map[string]int{}
	for _, r := range runs {
		set := maps.Clone(r.Set)
		delete(set, "seed")
		name := PointName(set)
		if _, known := at[name]; !known {
			at[name] = len(out)
			out = append(out, point{Set: set, Name: name})
		}
		out[at[name]].Runs = append(out[at[name]].Runs, r)
	}
	return out
}

// PointName names a point of a sweep by what is set there.
func PointName(set map[string]string) string { return SetText(set, "=", " ") }

// SetText lists settings in the order of their keys: with " = " and ", ", as "a = 1, b = 2".
func SetText(set map[string]string, equals, separator string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, k+equals+set[k])
	}
	return strings.Join(parts, separator)
}

// comparePoint compares the runs at a point.
func comparePoint(was, is *point, limits []Limit) (out []Difference) {
	pairs := pairsOf(was.Runs, is.Runs)
	before, after := was.Runs, is.Runs
	if len(pairs) > 0 {
		before, after = nil, nil
		for _, p := range pairs {
			before, after = append(before, p[0]), append(after, p[1])
		}
	}
	a, b := flat(before), flat(after)
	for _, key := range keysOf(a, b, limits) {
		d := Difference{Set: was.Set, Key: key, Pairs: len(pairs)}
		d.compare(column(a, key), column(b, key), len(pairs) > 0)
		for i := range limits {
			if limits[i].Key == key {
				d.judge(limits[i].Share)
			}
		}
		out = append(out, d)
	}
	return out
}

// pairsOf pairs runs that have the same seed.
func pairsOf(was, is []*engine.Result) (out [][2]*engine.Result) {
	bySeed := map[uint64]*engine.Result{}
	for _, r := range is {
		bySeed[r.Seed] = r
	}
	for _, r := range was {
		if x := bySeed[r.Seed]; x != nil {
			out = append(out, [2]*engine.Result{r, x})
			delete(bySeed, r.Seed)
		}
	}
	return out
}

func flat(runs []*engine.Result) []map[string]float64 {
	out := make([]map[string]float64, len(runs))
	for i, r := range runs {
		out[i] = figures.Of(r.Totals)
	}
	return out
}

// keysOf lists the figures to compare: those with limits, or all that there are.
func keysOf(a, b []map[string]float64, limits []Limit) (keys []string) {
	for _, l := range limits {
		keys = append(keys, l.Key)
	}
	if len(limits) > 0 {
		return keys
	}
	return KeysOf(slices.Concat(a, b))
}

// KeysOf returns the keys of all maps, sorted.
func KeysOf[V any](list []map[string]V) []string {
	all := map[string]V{}
	for _, m := range list {
		maps.Copy(all, m)
	}
	return slices.Sorted(maps.Keys(all))
}

// column returns a figure of each run, not a number where a run has none.
func column(runs []map[string]float64, key string) []float64 {
	out := make([]float64, len(runs))
	for i, m := range runs {
		v, ok := m[key]
		if !ok {
			v = math.NaN()
		}
		out[i] = v
	}
	return out
}

// compare fills in the means and how far they are apart. A mean over seeds of which one has
// no figure is none.
func (d *Difference) compare(was, is []float64, arePairs bool) {
	a, b := paired.MeanOf(was).Diff, paired.MeanOf(is).Diff
	d.Base, d.New = figures.Finite(a), figures.Finite(b)
	if math.IsNaN(a) || math.IsNaN(b) || a == 0 {
		if a == 0 && b == 0 {
			d.Share = figures.Known(0)
		}
		return
	}
	d.Share = figures.Finite((b - a) / math.Abs(a))
	if !arePairs || len(was) < 2 {
		return
	}
	moved := make([]float64, len(was))
	for i := range was {
		moved[i] = (is[i] - was[i]) / math.Abs(a)
	}
	if m := paired.MeanOf(moved); m.Known {
		d.Lo, d.Hi = figures.Known(m.Lo), figures.Known(m.Hi)
	}
}

// judge decides whether the figure is worse by more than a share. One of which neither
// direction is better must not move further than that. Where there are no data nothing is
// known, and that does not hold.
func (d *Difference) judge(most float64) {
	d.Max = &most
	a, hasBase := d.Base.Value()
	b, hasNew := d.New.Value()
	if !hasBase || !hasNew {
		d.Worse = true
		return
	}
	up, down := b-a, a-b
	switch figures.DirectionOf(d.Key) {
	case figures.LessIsBetter:
		down = 0
	case figures.MoreIsBetter:
		up = 0
	}
	const rounding = 1e-12 // 2 % of 50 is not more than 2 %
	d.Worse = max(up, down) > most*math.Abs(a)*(1+rounding)
}

// Words says what became of the figure: "143.2 -> 150.1, +4.8 % (4.1 to 5.5)".
func (d *Difference) Words() string {
	text := fmt.Sprintf("%s -> %s", number(d.Base), number(d.New))
	share, ok := d.Share.Value()
	if !ok {
		return text
	}
	text += fmt.Sprintf(", %+.2f %%", 100*share)
	lo, ok := d.Lo.Value()
	if hi, also := d.Hi.Value(); ok && also {
		text += fmt.Sprintf(" (%+.2f to %+.2f)", 100*lo, 100*hi)
	}
	return text
}

// number writes a figure with at most four decimals, "-" if it has no value.
func number(f figures.Figure) string {
	v, ok := f.Value()
	if !ok {
		return "-"
	}
	return units.Trimmed(v, 4)
}

// MarshalJSON implements json.Marshaler.
func (c *Comparison) MarshalJSON() ([]byte, error) {
	type plain Comparison
	return json.Marshal(struct {
		*plain
		Regressions int `json:"regressions"`
	}{(*plain)(c), len(c.Regressions())})
}
