package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"wirelab/internal/texttable"
)

// choiceMetrics returns the metrics of a choice, the cost first.
func choiceMetrics(points []gridPoint) []metric {
	has := func(key string) bool {
		return slices.ContainsFunc(points, func(p gridPoint) bool { _, ok := p.Figures[key]; return ok })
	}
	cost := metric{"wire_kbps", "wire", "kbps", 1}
	if has("transfer.time_s") {
		cost = metricOf(points, "transfer.time_s")
	}
	list := []metric{cost, {starvedKey, "starved", "%", 100}}
	for _, key := range []string{errorMMKey, errorKey} {
		if has(key) {
			list = append(list, metric{key, "position error p95", metricOf(points, key).unit, 1})
		}
	}
	return append(list, metric{"age_ms.p50", "display age", "ms", 1})
}

// cheapest returns for each condition the point with the lowest cost of those whose runs did not fail. Conditions where all
// points failed are left out. conditions is the number of all conditions with more than one point; the others have no choice.
func cheapest(points []gridPoint, cost metric) (list []*gridPoint, conditions int) {
	names, groups := groupPoints(points, func(p *gridPoint) string { return shortSet(conditionOf(p)) })
	for _, name := range names {
		if len(groups[name]) < 2 {
			continue
		}
		conditions++
		best, least := (*gridPoint)(nil), math.Inf(1)
		for _, p := range groups[name] {
			if v, ok := p.Figures[cost.key]; ok && p.Failed == 0 && v.Mean < least {
				best, least = p, v.Mean
			}
		}
		if best != nil {
			list = append(list, best)
		}
	}
	return list, conditions
}

// choiceOf returns the settings of a point that do not describe its condition.
func choiceOf(p *gridPoint) map[string]string {
	return p.settings(func(k string) bool { return !isCondition(k) })
}

// addChoices adds the verdict and, if the sweep has choices that keep its assertions, the cheapest of them: to the
// headline, as tiles and as a table. Otherwise it adds what each setting costs and gives. failed has a sentence for each
// failure.
func (d *document) addChoices(points []gridPoint, failed []string) {
	asserted, failedPoints := 0, 0
	for i := range points {
		asserted += points[i].Asserted
		if points[i].Failed > 0 {
			failedPoints++
		}
	}
	switch {
	case len(failed) > 0:
		d.Verdict = failedVerdict
	case asserted > 0:
		d.Verdict = passedVerdict
	}
	metrics := choiceMetrics(points)
	list, conditions := cheapest(points, metrics[0])
	if asserted == 0 || len(list) == 0 {
		d.addTrade(points, metrics, asserted > 0)
		return
	}
	name, same := shortSet(choiceOf(list[0])), true
	for _, p := range list {
		same = same && shortSet(choiceOf(p)) == name
	}
	span := spanOf(list, metrics[0]) + " " + metrics[0].unit
	under := fmt.Sprint(conditions)
	if len(list) < conditions {
		under = fmt.Sprintf("%d of %d", len(list), conditions)
	} else if same {
		under = "all " + under
	}
	switch {
	case conditions == 1:
		d.Headline = fmt.Sprintf("%s is the cheapest of %s that keeps the assertions: %s", name, formatCount(int64(len(points)), "setting"), span)
	case same:
		d.Headline = fmt.Sprintf("%s is the cheapest setting that keeps the assertions under %s conditions: %s", name, under, span)
	default:
		d.Headline = fmt.Sprintf("The cheapest setting that keeps the assertions differs between %s conditions: %s", under, span)
	}
	if failedPoints > 0 {
		d.Headline += fmt.Sprintf("; %d of %s failed", failedPoints, formatCount(int64(len(points)), "point"))
	}
	d.Headline += "."
	for _, m := range metrics {
		if text := spanOf(list, m); text != "" {
			d.Tiles = append(d.Tiles, tile{Name: m.title, Value: text, Unit: m.unit})
		}
	}
	d.Answers = append(d.Answers, choiceSection(list, metrics))
}

// addTrade adds what each choice costs and gives, over all conditions: a headline with the cheapest and the costliest, and
// a table. A sweep without choices has a row for each condition. hasAssertions means that no setting keeps them.
func (d *document) addTrade(points []gridPoint, metrics []metric, hasAssertions bool) {
	names, groups := groupPoints(points, func(p *gridPoint) string { return shortSet(choiceOf(p)) })
	if len(names) < 2 {
		names, groups = groupPoints(points, func(p *gridPoint) string { return shortSet(p.Set) })
	}
	if len(names) < 2 {
		return
	}
	cost := func(name string) float64 { return groups[name][0].Figures[metrics[0].key].Mean } // under the first condition
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(cost(a), cost(b)) })
	titles := []string{"setting"}
	for _, m := range metrics {
		titles = append(titles, ">"+m.label())
	}
	t := newTable("Each setting under all conditions, the cheapest first", titles...)
	var texts []string // of the headline
	for i, name := range names[:min(len(names), maxListed)] {
		var spans, parts []string
		for _, m := range metrics {
			span := spanOf(groups[name], m)
			spans = append(spans, cmp.Or(span, "–"))
			if span != "" {
				parts = append(parts, span+" "+m.unit+" "+m.title)
			}
		}
		t.Add(name, spans)
		if i == 0 || i == len(names)-1 {
			texts = append(texts, name+": "+strings.Join(parts[:min(len(parts), 3)], ", "))
		}
	}
	d.Headline = strings.Join(texts, "; ") + "."
	remark := "The sweep has no assertions, so no setting is recommended."
	if hasAssertions {
		remark = "No setting keeps the assertions."
	}
	remark += " With bounds such as \"" + starvedKey + "\" = \"<= 0.01\" in [assert] this page names the cheapest setting that keeps them."
	d.Answers = append(d.Answers, section{ID: "trade", Title: "What each setting costs and gives", Tables: []table{t}, Remarks: []string{remark}})
}

// choiceSection returns a table of the choices with their metrics, by condition.
func choiceSection(list []*gridPoint, metrics []metric) section {
	const title = "Recommended setting"
	condition := conditionOf(list[0])
	keys := slices.Concat(slices.Sorted(maps.Keys(condition)), slices.Sorted(maps.Keys(choiceOf(list[0]))))
	titles := slices.Clone(keys)
	for _, m := range metrics {
		titles = append(titles, ">"+m.label())
	}
	t := newTable(title+" and its figures", titles...)
	if len(condition) > 0 {
		t.Caption += " under each condition"
	}
	for _, p := range list[:min(len(list), maxListed)] {
		var row []any
		for _, k := range keys {
			class := ""
			if !isCondition(k) {
				class = "good"
			}
			row = append(row, texttable.Cell{Text: p.Set[k], Class: class})
		}
		for _, m := range metrics {
			row = append(row, p.cell(m))
		}
		t.Add(row...)
	}
	return section{ID: "recommended", Title: title, Tables: []table{t}}
}

// spanOf returns the value of metric m as a text: "12", or "12 to 15" if the points differ; "" if no point has it.
func spanOf(points []*gridPoint, m metric) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		if v, ok := p.Figures[m.key]; ok {
			lo, hi = min(lo, v.Mean*m.scale), max(hi, v.Mean*m.scale)
		}
	}
	switch {
	case lo > hi:
		return ""
	case formatRounded(lo) == formatRounded(hi):
		return formatRounded(lo)
	}
	return formatRounded(lo) + " to " + formatRounded(hi)
}
