package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
	"wirelab/internal/units"
)

// Limit is the largest allowed regression of a figure.
type Limit struct {
	Key   string  // key of the figure
	Share float64 // allowed regression as a share of the base value: 0.02 allows 2 %
}

// Difference is the change of a figure between two reports, at one point of their sweeps.
type Difference struct {
	Set  map[string]string `json:"set,omitempty"` // settings of the point, without the seed
	Key  string            `json:"figure"`        // key of the figure
	Base figures.Figure    `json:"base"`          // mean over the seeds in the base report; unknown if a run has no data
	New  figures.Figure    `json:"new"`           // mean over the seeds in the new report; unknown if a run has no data
	// Share is (New - Base) / |Base|; unknown if either is unknown or Base is 0. Lo and Hi are the
	// bounds of its 95 % confidence interval over pairs of runs with the same seed; unknown for fewer
	// than two pairs.
	Share figures.Figure `json:"share"`
	Lo    figures.Figure `json:"share_lo"`
	Hi    figures.Figure `json:"share_hi"`
	// Approximate means that the interval may contain the true share in less or more than 95 % of cases; see
	// figures.IsApproximate.
	Approximate bool     `json:"approximate,omitempty"`
	Pairs       int      `json:"pairs"`                    // pairs of runs with the same seed
	Max         *float64 `json:"max_regression,omitempty"` // Limit.Share; nil without a limit
	Worse       bool     `json:"regression"`               // worse by more than Max, or unknown in one report
}

// settingDifference is a setting that differs between two reports.
type settingDifference struct {
	Key  string `json:"key"`
	Base string `json:"base"` // "" if unset
	New  string `json:"new"`
	// IsUnlike means that the setting describes the data, the duration or the link, so that the figures are of
	// different things.
	IsUnlike bool `json:"unlike,omitempty"`
}

// Comparison is the comparison of two reports.
type Comparison struct {
	Differences []Difference        `json:"differences"`
	Settings    []settingDifference `json:"settings,omitempty"` // of the first point that both reports have
	// Stretches of reports of a single run between changes; Differences are of whole runs.
	Stretches []Stretch `json:"stretches,omitempty"`
	// Names of the points that only one of the reports has.
	OnlyBase []string `json:"only_base,omitempty"`
	OnlyNew  []string `json:"only_new,omitempty"`
}

// Stretch is a part of a run with one encoder and one setting of the links.
type Stretch struct {
	Report string `json:"report"` // "base" or "new"
	Name   string `json:"name"`   // see meters.StretchNames
	meters.StretchFigures
}

// Regressions returns the differences that exceed their limits.
func (c *Comparison) Regressions() (list []Difference) {
	for _, d := range c.Differences {
		if d.Worse {
			list = append(list, d)
		}
	}
	return list
}

// Compare compares the figures of two reports at each point of their sweeps. Points with the same
// settings correspond; two reports of a single run are compared whatever their settings, which the
// result lists if they differ. If both reports have runs of a point with the same seed, only these pairs
// are compared. If limits is not empty, only its figures are compared.
func Compare(baseReport, newReport *Report, limits []Limit) *Comparison {
	out := &Comparison{Differences: []Difference{}}
	basePoints, newPoints := GroupByPoint(baseReport.Runs), GroupByPoint(newReport.Runs)
	if len(baseReport.Runs) == 1 && len(newReport.Runs) == 1 { // make the two points correspond
		newPoints[0].Set, newPoints[0].Name = basePoints[0].Set, basePoints[0].Name
		out.addStretches("base", baseReport.Runs[0])
		out.addStretches("new", newReport.Runs[0])
	}
	byName := map[string]*point{} // new points without a base point so far
	for i := range newPoints {
		byName[newPoints[i].Name] = &newPoints[i]
	}
	for i := range basePoints {
		newPoint := byName[basePoints[i].Name]
		if newPoint == nil {
			out.OnlyBase = append(out.OnlyBase, cmp.Or(basePoints[i].Name, singleName))
			continue
		}
		delete(byName, newPoint.Name)
		if len(out.Differences) == 0 {
			out.Settings = differingSettings(basePoints[i].Runs[0], newPoint.Runs[0])
		}
		out.Differences = append(out.Differences, comparePoint(&basePoints[i], newPoint, limits)...)
	}
	for i := range newPoints {
		if byName[newPoints[i].Name] != nil {
			out.OnlyNew = append(out.OnlyNew, cmp.Or(newPoints[i].Name, singleName))
		}
	}
	return out
}

// addStretches adds the stretches of a run. name is Stretch.Report.
func (c *Comparison) addStretches(name string, r *engine.Result) {
	names := meters.StretchNames(r.Stretches)
	for i, s := range r.Stretches {
		c.Stretches = append(c.Stretches, Stretch{name, names[i], s})
	}
}

// singleName names the point of a report that is not of a sweep.
const singleName = "a single run"

// differingSettings returns the settings of two runs that differ, by key. It returns nil if a
// configuration cannot be read, because a file is missing.
func differingSettings(baseRun, newRun *engine.Result) (out []settingDifference) {
	baseSettings, newSettings := settingsOf(baseRun), settingsOf(newRun)
	if baseSettings == nil || newSettings == nil {
		return nil
	}
	sameFiles := baseSettings[filesKey] != "" && baseSettings[filesKey] == newSettings[filesKey]
	for _, key := range SortedKeys([]map[string]string{baseSettings, newSettings}) {
		d := settingDifference{Key: key, Base: baseSettings[key], New: newSettings[key]}
		if d.Base == d.New {
			continue
		}
		isMoved := sameFiles && (key == "data.source" || strings.HasSuffix(key, "_trace")) // another path to the same file
		isRelevant := key == "duration" || key == filesKey || config.IsCondition(key) && !isMoved
		d.IsUnlike = isRelevant && d.Base != "" && d.New != ""
		out = append(out, d)
	}
	return out
}

// filesKey is the key of the hashes of all files that a run read its data and links from.
const filesKey = "sha256 of files"

// settingsOf returns the settings of a run by key, with its duration, which is the measured one if the
// run had no end or was interrupted, and its changes, with a key of their own for those of the link. It
// returns nil if the configuration cannot be read.
func settingsOf(r *engine.Result) map[string]string {
	c, err := r.Config.Config("")
	if err != nil {
		return nil
	}
	out := c.Settings()
	out["duration"] = c.Duration.String()
	if c.Duration == 0 || r.Interrupted {
		out["duration"] = r.DurationNS.String()
	}
	for _, f := range r.Files {
		out[filesKey] += f.SHA256
	}
	changes := map[string][]string{"changes": nil, "link.changes": nil}
	for _, made := range r.Changes {
		key := "changes"
		if slices.ContainsFunc(made.Change.Keys(), config.IsCondition) {
			key = "link.changes"
		}
		changes[key] = append(changes[key], made.T.String()+" "+made.Change.Label())
	}
	for key, list := range changes {
		out[key] = cmp.Or(strings.Join(list, ", "), "none")
	}
	return out
}

// point contains the runs at one point of a sweep, which differ only in the seed.
type point struct {
	Set  map[string]string // settings, without the seed
	Name string            // PointName of Set
	Runs []*engine.Result
}

// GroupByPoint groups the runs of a sweep by point, in the order of their first runs.
func GroupByPoint(runs []*engine.Result) (out []point) {
	indexByName := map[string]int{}
	for _, r := range runs {
		set := maps.Clone(r.Set)
		delete(set, "seed")
		name := PointName(set)
		if _, known := indexByName[name]; !known {
			indexByName[name] = len(out)
			out = append(out, point{Set: set, Name: name})
		}
		out[indexByName[name]].Runs = append(out[indexByName[name]].Runs, r)
	}
	return out
}

// PointName returns the name of the point of a sweep with the given settings, such as "a=1 b=2".
func PointName(set map[string]string) string { return SetText(set, "=", " ") }

// SetText formats settings in the order of their keys. With " = " and ", " the result is
// "a = 1, b = 2".
func SetText(set map[string]string, equals, separator string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, k+equals+set[k])
	}
	return strings.Join(parts, separator)
}

// comparePoint compares the runs of two reports at a point: only the pairs with the same seed, or all runs
// if no seeds are the same.
func comparePoint(basePoint, newPoint *point, limits []Limit) (out []Difference) {
	pairs := pairBySeed(basePoint.Runs, newPoint.Runs)
	baseRuns, newRuns := basePoint.Runs, newPoint.Runs
	if len(pairs) > 0 {
		baseRuns, newRuns = nil, nil
		for _, p := range pairs {
			baseRuns, newRuns = append(baseRuns, p[0]), append(newRuns, p[1])
		}
	}
	baseFigures, newFigures := flatten(totalsOf(baseRuns)), flatten(totalsOf(newRuns))
	for _, key := range comparedKeys(baseFigures, newFigures, limits) {
		d := Difference{Set: basePoint.Set, Key: key, Pairs: len(pairs)}
		d.setMeans(figureColumn(baseFigures, key), figureColumn(newFigures, key), len(pairs) > 0)
		for i := range limits {
			if limits[i].Key == key {
				d.applyLimit(limits[i].Share)
			}
		}
		out = append(out, d)
	}
	return out
}

// pairBySeed returns the pairs of a base run and a new run with the same seed.
func pairBySeed(baseRuns, newRuns []*engine.Result) (out [][2]*engine.Result) {
	bySeed := map[uint64]*engine.Result{}
	for _, r := range newRuns {
		bySeed[r.Seed] = r
	}
	for _, r := range baseRuns {
		if newRun := bySeed[r.Seed]; newRun != nil {
			out = append(out, [2]*engine.Result{r, newRun})
			delete(bySeed, r.Seed) // each run belongs to one pair
		}
	}
	return out
}

// totalsOf returns the totals of each run.
func totalsOf(runs []*engine.Result) []*figures.Totals {
	out := make([]*figures.Totals, len(runs))
	for i, r := range runs {
		out[i] = &r.Totals
	}
	return out
}

// comparedKeys returns the keys of the figures to compare: those with limits or, without limits, all
// keys in a and b.
func comparedKeys(a, b []map[string]float64, limits []Limit) (keys []string) {
	for _, l := range limits {
		keys = append(keys, l.Key)
	}
	if len(limits) > 0 {
		return keys
	}
	return SortedKeys(slices.Concat(a, b))
}

// SortedKeys returns the distinct keys of all maps, sorted.
func SortedKeys[V any](list []map[string]V) []string {
	all := map[string]V{}
	for _, m := range list {
		maps.Copy(all, m)
	}
	return slices.Sorted(maps.Keys(all))
}

// figureColumn returns the figure of each run; NaN if the run does not have the figure.
func figureColumn(runs []map[string]float64, key string) []float64 {
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

// setMeans sets d.Base and d.New to the means of a figure in the base runs and in the new runs, and
// d.Share to their difference relative to the base. With at least two pairs it also sets d.Lo and d.Hi,
// the confidence interval of d.Share, unless it would reach below -100 % for a figure that cannot be
// negative. baseValues and newValues contain the figure of each run, NaN if unknown, which makes the
// mean unknown. arePairs means that baseValues[i] and newValues[i] have the same seed.
func (d *Difference) setMeans(baseValues, newValues []float64, arePairs bool) {
	a, b := paired.MeanOf(baseValues).Estimate, paired.MeanOf(newValues).Estimate // the means
	d.Base, d.New = figures.Finite(a), figures.Finite(b)
	if a == 0 {
		if a == 0 && b == 0 { // no change; any other change from 0 has no relative size
			d.Share = figures.Known(0)
		}
		return
	}
	d.Share = figures.Finite((b - a) / math.Abs(a)) // unknown if a mean is
	if !arePairs || len(baseValues) < 2 {
		return
	}
	shares := make([]float64, len(baseValues))
	for i := range baseValues {
		shares[i] = (newValues[i] - baseValues[i]) / math.Abs(a)
	}
	m := paired.MeanOf(shares)
	isImpossible := m.Lo < -1 && min(a, b) >= 0 // a figure that is not negative cannot fall by more than 100 %
	if m.Known && !isImpossible {
		d.Lo, d.Hi = figures.Known(m.Lo), figures.Known(m.Hi)
		isApproximate := figures.IsApproximate(d.Key, baseValues) || figures.IsApproximate(d.Key, newValues)
		d.Approximate = isApproximate && m.Lo < m.Hi // equal shares have an exact interval
	}
}

// Interval returns the change as a mean of shares with its interval, if known.
func (d *Difference) Interval() figures.Mean {
	m := figures.Mean{Mean: d.Share.Or(0), Approximate: d.Approximate}
	lo, hasLo := d.Lo.Value()
	hi, hasHi := d.Hi.Value()
	if hasLo && hasHi {
		m.Lo = &lo
		m.Hi = &hi
	}
	return m
}

// applyLimit sets d.Max to maxShare, and d.Worse if the figure is worse by more than this share of the
// base, or unknown. A figure without a better direction may change by at most maxShare either way.
func (d *Difference) applyLimit(maxShare float64) {
	d.Max = &maxShare
	a, hasBase := d.Base.Value()
	b, hasNew := d.New.Value()
	if !hasBase || !hasNew {
		d.Worse = true
		return
	}
	up, down := b-a, a-b // the increase and the decrease; the one that is an improvement is set to 0
	switch figures.Find(d.Key).Better {
	case figures.LessIsBetter:
		down = 0
	case figures.MoreIsBetter:
		up = 0
	}
	const rounding = 1e-12 // tolerance for rounding errors: a change from 50 to 51 does not exceed 2 %
	d.Worse = max(up, down) > maxShare*math.Abs(a)*(1+rounding)
}

// Text describes the change of the figure: "143.2 -> 150.1, +4.80 % (+4.10 to +5.50)". The 95 %
// confidence interval is in parentheses, if known, with the mark of figures.Mean.Doubt. The change in
// percent is left out if it is unknown.
func (d *Difference) Text() string {
	text := fmt.Sprintf("%s -> %s", formatFigure(d.Base), formatFigure(d.New))
	share, ok := d.Share.Value()
	if !ok {
		return text
	}
	text += fmt.Sprintf(", %+.2f %%", 100*share)
	m := d.Interval()
	if m.Lo != nil {
		text += fmt.Sprintf(" (%+.2f to %+.2f%s)", 100**m.Lo, 100**m.Hi, m.Doubt(0))
	}
	return text
}

// formatFigure formats a figure with at most four decimals; "-" if it is unknown.
func formatFigure(f figures.Figure) string {
	v, ok := f.Value()
	if !ok {
		return "-"
	}
	return units.Trimmed(v, 4)
}

// MarshalJSON implements json.Marshaler: it adds the number of regressions.
func (c *Comparison) MarshalJSON() ([]byte, error) {
	type plain Comparison // without MarshalJSON, which would call itself
	return json.Marshal(struct {
		*plain
		Regressions int `json:"regressions"`
	}{(*plain)(c), len(c.Regressions())})
}
