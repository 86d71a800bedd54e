package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// errorPoint is a point of the chart of error against kbps. The interval or range of Error is drawn if it is known.
type errorPoint struct {
	Tag, Title string // short, in the chart; and while the pointer is over the point
	Used       float64
	Error      figures.Mean
}

// errorLine is a line of that chart: the points of a policy, by budget.
type errorLine struct {
	Name   string
	Points []errorPoint
}

// errorGraphic draws error against kbps. Each point has its tag beside it, so that colour is not the only difference.
func errorGraphic(lines []errorLine, unit string) graphic {
	g := graphic{Title: "Better is to the left and down", Width: 740, Height: 350, Description: "Error against kbps of each policy and budget; the table below lists them"}
	var xs, ys span
	for _, l := range lines {
		for _, p := range l.Points {
			xs.include(p.Used * 1.05)
			_, hi, _ := p.Error.Bounds()
			ys.include(max(p.Error.Mean, hi))
		}
	}
	x, y := g.drawAxesTo(xs, ys, "headers and payloads used, kbps", "mean error of moving rows, "+unit)
	type place struct{ x, y float64 }
	var taken []place // of tags
	for i, l := range lines[:min(len(lines), maxLines)] {
		color, path := 1+i, ""
		for k, p := range l.Points {
			verb := " L"
			if k == 0 {
				verb = "M"
			}
			path += verb + x(p.Used) + " " + y(p.Error.Mean)
			if lo, hi, known := p.Error.Bounds(); known {
				g.Lines = append(g.Lines, stroke{x(p.Used), y(lo), x(p.Used), y(hi), fmt.Sprintf("l%d", color)})
			}
			g.Dots = append(g.Dots, dot{X: x(p.Used), Y: y(p.Error.Mean), R: "4.5", Class: fmt.Sprintf("i%d", color), Title: p.Title})
			const width, height = 11, 11 // of a tag
			at := place{coordinate(x(p.Used)) + width, coordinate(y(p.Error.Mean))}
			for slices.ContainsFunc(taken, func(o place) bool { return math.Abs(o.x-at.x) < width && math.Abs(o.y-at.y) < height }) {
				at.x += width // beside the tag that is there
			}
			taken = append(taken, at)
			g.Texts = append(g.Texts, caption{units.Fixed(at.x, 1), units.Fixed(at.y, 1), "mid", p.Tag})
		}
		if len(l.Points) > 1 {
			g.Paths = append(g.Paths, curve{path, fmt.Sprintf("frontier l%d", color)})
		}
		g.Key = append(g.Key, stripPart{Name: l.Name, Color: color})
	}
	return g
}

// coordinate returns the number of a coordinate of a graphic.
func coordinate(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("page: a coordinate is no number: " + err.Error())
	}
	return v
}

// addBudgets adds the lanes that have a budget: a chart of error against kbps with a line for each policy, and a table.
func (d *document) addBudgets(x *engine.Result) {
	if x.Comparison == nil || x.Comparison.Budgets == nil {
		return
	}
	c := x.Comparison.Budgets
	var lines []errorLine
	for _, group := range c.ByLimit() {
		for _, i := range group {
			l, name := &c.Lanes[i], c.Name(i)
			e, known := l.MeanError.Value()
			if !known {
				continue
			}
			k := slices.IndexFunc(lines, func(l errorLine) bool { return l.Name == name })
			if k < 0 {
				lines, k = append(lines, errorLine{Name: name}), len(lines)
			}
			used := l.UsedKbps.Or(0)
			lines[k].Points = append(lines[k].Points, errorPoint{Tag: l.Lane, Used: used, Error: figures.Mean{Mean: e},
				Title: fmt.Sprintf("%s %s: %s kbps, %s %s", l.Lane, name, formatNumber(used), formatNumber(e), c.Unit)})
		}
	}
	s := section{ID: "budgets", Title: "Error against kbps", Lead: append(c.Findings(), "All lanes had the same frames "+c.Period(1)+". The error is that "+
		"of rows that changed in the last 100 ms, against the newest frame of the source.")}
	for i := range lines {
		tags := ""
		for _, p := range lines[i].Points {
			tags += p.Tag + " "
		}
		lines[i].Name = tags + lines[i].Name
	}
	s.addErrorGraphic(lines, c.Unit)
	s.Tables = []table{{Table: *report.BudgetTable(c), Caption: "Lanes by budget and error"}}
	d.Sections = append(d.Sections, s)
}

// addErrorGraphic adds the chart of lines to the section. A remark names the lines that it leaves out.
func (s *section) addErrorGraphic(lines []errorLine, unit string) {
	s.Graphics = append(s.Graphics, errorGraphic(lines, unit))
	if n := len(lines); n > maxLines {
		s.Remarks = append(s.Remarks, fmt.Sprintf("Only the first %d of %d lines are drawn.", maxLines, n))
	}
}

// budgetKey is the key of the axis along which the lines of a sweep over budgets go.
const budgetKey = "sender.budget"

// errorMetrics are the errors under a budget, each with the key of the kbps that it took. For a crowd those of clients
// are shown alone.
var errorMetrics = []struct {
	metric
	used string
}{
	{metric{"view.mean_error_mm", "mean error", "mm", 1}, "view.used_kbps"},
	{metric{"view.mean_error", "mean error", "steps", 1}, "view.used_kbps"},
	{metric{"crowd.p50.view.error", "error of the median client", "mm or steps", 1}, "crowd.p50.view.used_kbps"},
	{metric{"crowd.p95.view.error", "error, p95 of clients", "mm or steps", 1}, "crowd.p50.view.used_kbps"},
}

// addErrorCurves adds answers of a sweep over budgets or policies: charts of error against kbps, with a line for each
// combination of the other settings, and which of these has the least error at each budget.
func (d *document) addErrorCurves(points []gridPoint) {
	for _, m := range errorMetrics {
		has := slices.DeleteFunc(slices.Clone(points[:min(len(points), maxListed)]), func(p gridPoint) bool {
			_, hasError := p.Figures[m.key]
			_, hasUsed := p.Figures[m.used]
			_, hasClients := p.Figures["crowd.p50.view.error"]
			return !hasError || !hasUsed || hasClients && !strings.HasPrefix(m.key, "crowd.")
		})
		names, groups := groupPoints(has, func(p *gridPoint) string { return shortSet(p.settings(func(k string) bool { return k != budgetKey })) })
		if len(has) < 2 {
			continue
		}
		var lines []errorLine
		for i, name := range names {
			l := errorLine{Name: fmt.Sprintf("%d %s", i+1, name)}
			for _, p := range groups[name] {
				used, e := p.Figures[m.used].Mean, p.Figures[m.key]
				l.Points = append(l.Points, errorPoint{Tag: fmt.Sprint(i + 1), Used: used, Error: e, Title: fmt.Sprintf("%s: %s kbps, %s %s", shortSet(p.Set), formatNumber(used), p.cell(m.metric), m.unit)})
			}
			slices.SortStableFunc(l.Points, func(a, b errorPoint) int { return cmp.Compare(a.Used, b.Used) })
			lines = append(lines, l)
		}
		s := section{ID: "errors-" + keySuffix(m.key), Title: m.heading() + " against kbps"}
		s.addErrorGraphic(lines, m.unit)
		t, lead := leastErrors(has, m.metric)
		s.Tables, s.Lead = []table{t}, nonEmpty(lead)
		d.Answers = append(d.Answers, s)
	}
}

// leastErrors returns a table of the choice with the least error for each budget under each condition, and of the next
// one with the ratio of their errors; and a sentence that sums it up, which is "" if there is nothing to choose.
func leastErrors(points []gridPoint, m metric) (table, string) {
	isGiven := func(key string) bool { return key == budgetKey || isCondition(key) }
	parts := func(p *gridPoint) (given, chosen string) {
		return shortSet(p.settings(isGiven)), shortSet(p.settings(func(k string) bool { return !isGiven(k) }))
	}
	t := newTable(m.heading()+": least at each budget", "at", "least error", ">"+m.label(), "next", ">times as large", ">95 % CI")
	names, groups := groupPoints(points, func(p *gridPoint) string { given, _ := parts(p); return given })
	wins, certain := map[string]int{}, 0 // of a choice; and wins that chance does not explain
	total, seeds := 0, 0
	least, most := math.Inf(1), 0.0 // of the ratios to the next
	for _, name := range names {
		list := slices.Clone(groups[name])
		if len(list) < 2 {
			continue
		}
		slices.SortStableFunc(list, func(a, b *gridPoint) int { return cmp.Compare(a.Figures[m.key].Mean, b.Figures[m.key].Mean) })
		best, next := list[0], list[1]
		_, winner := parts(best)
		_, second := parts(next)
		ratio := next.errorRatio(best, m.key)
		interval := "–"
		if ratio.Known {
			interval = units.Fixed(ratio.Lo, 2) + " to " + units.Fixed(ratio.Hi, 2)
			if ratio.Lo > 1 {
				certain++
			}
		}
		total, seeds = total+1, max(seeds, len(best.errors[m.key]))
		least, most = min(least, ratio.Ratio), max(most, ratio.Ratio)
		wins[winner]++
		t.Add(name, winner, best.cell(m), second, units.Fixed(ratio.Ratio, 2), interval)
	}
	if total == 0 {
		return t, ""
	}
	winner := slices.MaxFunc(slices.Sorted(maps.Keys(wins)), func(a, b string) int { return cmp.Compare(wins[a], wins[b]) })
	lead := fmt.Sprintf("Least error: %s, at %d of %s of the table. The next has %.2f to %.2f times the error of the best.", winner, wins[winner],
		formatCount(int64(total), "row"), least, most)
	if seeds < 2 {
		return t, lead + " With one seed there are no confidence intervals: repeat = 5 in a [[sweep]] gives them."
	}
	return t, lead + fmt.Sprintf(" At %d of them that is more than chance explains, by pairs of %d seeds.", certain, seeds)
}

// errorRatio returns the ratio of the figure of p to that of q, with its interval over the seeds that both ran with: the
// mean of the logarithms of the ratios of each seed.
func (p *gridPoint) errorRatio(q *gridPoint, key string) paired.RatioInterval {
	var logs []float64
	for _, seed := range slices.Sorted(maps.Keys(p.errors[key])) {
		if v, ok := q.errors[key][seed]; ok && v > 0 && p.errors[key][seed] > 0 {
			logs = append(logs, math.Log(p.errors[key][seed]/v))
		}
	}
	i := paired.MeanOf(logs)
	if len(logs) == 0 { // the page is made from a summary, which has no single runs
		i.Estimate = math.Log(p.Figures[key].Mean / q.Figures[key].Mean)
	}
	return i.Exp()
}
