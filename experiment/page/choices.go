package page

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"wirelab/experiment/config"
	"wirelab/internal/texttable"
)

// choice is the cheapest point of a sweep under a condition; see byCondition.
type choice struct {
	set       map[string]string // the choice: the values of the keys that do not describe the condition
	condition map[string]string
	point     *gridPoint
}

// choiceMetrics returns the metrics of a choice, the cost first.
func choiceMetrics(points []gridPoint) []metric {
	cost := metric{"wire_kbps", "wire", "kbps", 1}
	if slices.ContainsFunc(points, func(p gridPoint) bool { _, ok := p.Figures["transfer.time_s"]; return ok }) {
		cost = metric{"transfer.time_s", "transfer time of the file", "s", 1}
	}
	return []metric{cost, {"playout.starved_ratio", "starved", "%", 100}, {"age_ms.p50", "display age", "ms", 1}}
}

// cheapest returns for each condition the point with the lowest cost of those whose runs did not fail. Conditions with
// a single point, or where all points failed, have no choice.
func cheapest(points []gridPoint, cost metric) (list []choice) {
	names, groups := groupPoints(points, func(p *gridPoint) string { return shortSet(conditionOf(p)) })
	for _, name := range names {
		if len(groups[name]) < 2 {
			continue
		}
		best, least := (*gridPoint)(nil), math.Inf(1)
		for _, p := range groups[name] {
			if v, ok := p.Figures[cost.key]; ok && p.Failed == 0 && v.Mean < least {
				best, least = p, v.Mean
			}
		}
		if best == nil {
			continue
		}
		c := choice{set: maps.Clone(best.Set), condition: conditionOf(best), point: best}
		maps.DeleteFunc(c.set, func(k, _ string) bool { return config.IsCondition(k) })
		list = append(list, c)
	}
	return list
}

// addChoices adds the verdict and, if the sweep has choices, the cheapest of them: to the headline, as tiles and as a
// table. failed has a sentence for each failure.
func (d *document) addChoices(points []gridPoint, failed []string) {
	asserted, failedRuns, failedPoints := 0, 0, 0
	for i := range points {
		asserted, failedRuns = asserted+points[i].Asserted, failedRuns+points[i].Failed
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
	list := cheapest(points, metrics[0])
	if len(list) == 0 || len(failed) > 0 && failedRuns == 0 { // an older summary: it is unknown which points failed
		return
	}
	kept, title := "", "Cheapest setting"
	if asserted > 0 {
		kept, title = " that keeps the assertions", "Recommended setting"
	}
	name, same := shortSet(list[0].set), true
	for _, c := range list {
		same = same && shortSet(c.set) == name
	}
	span := spanOf(list, metrics[0]) + " " + metrics[0].unit
	switch {
	case len(list) == 1:
		d.Headline = fmt.Sprintf("%s is the cheapest of %s%s: %s", name, formatCount(int64(len(points)), "setting"), kept, span)
	case same:
		d.Headline = fmt.Sprintf("%s is the cheapest setting%s under all %d conditions: %s", name, kept, len(list), span)
	default:
		d.Headline = fmt.Sprintf("The cheapest setting%s differs between %d conditions: %s", kept, len(list), span)
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
	d.Answers = append(d.Answers, choiceSection(title, list, metrics))
	if asserted == 0 {
		d.Answers[0].Remarks = []string{"The sweep has no assertions, so the cheapest setting may display worse than others."}
	}
}

// choiceSection returns a table of the choices with their metrics, by condition.
func choiceSection(title string, list []choice, metrics []metric) section {
	keys := slices.Concat(slices.Sorted(maps.Keys(list[0].condition)), slices.Sorted(maps.Keys(list[0].set)))
	titles := slices.Clone(keys)
	for _, m := range metrics {
		titles = append(titles, ">"+m.label())
	}
	t := newTable(title+" and its figures", titles...)
	if len(list[0].condition) > 0 {
		t.Caption += " under each condition"
	}
	for _, c := range list[:min(len(list), maxListed)] {
		var row []any
		for _, k := range keys {
			_, isChosen := c.set[k]
			class := ""
			if isChosen {
				class = "good"
			}
			row = append(row, texttable.Cell{Text: c.point.Set[k], Class: class})
		}
		for _, m := range metrics {
			row = append(row, c.point.cell(m))
		}
		t.Add(row...)
	}
	return section{ID: "recommended", Title: title, Tables: []table{t}}
}

// spanOf returns the value of metric m as a text: "12", or "12 to 15" if the choices differ; "" if no choice has it.
func spanOf(list []choice, m metric) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, c := range list {
		if v, ok := c.point.Figures[m.key]; ok {
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
