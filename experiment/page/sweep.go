package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// addGrid adds charts, heat maps and the table of a grid.
func (d *Document) addGrid(g *grid) {
	cost := figures.Find(costKey(g))
	listed := g.varied(append([]figures.Row{cost}, figures.Ranked(figures.Narrow)...))
	var drawn []figures.Row
	for _, key := range drawnKeys {
		drawn = append(drawn, g.metric(key))
	}
	drawn = slices.Concat(listed, g.varied(drawn))
	d.addErrorCurves(g)
	d.addParetoCharts(g)
	if axes := g.axes(); len(axes) > 0 {
		lead := ""
		if n := g.maxSeeds(); n > 1 {
			lead = fmt.Sprintf("Lines are means over up to %d seeds. Bands are 95 %% confidence "+
				"intervals or, where these would reach below 0, the range of the seeds.", n)
		}
		var list charts
		for _, m := range drawn {
			list = append(list, g.chart(axes, &m))
		}
		d.add("lines", "Figures", paragraph(lead), list)
		if len(axes) > 1 {
			d.addHeatMaps(g, axes, drawn)
		}
	}
	caption := "All " + formatCount(int64(len(g.points)), "point")
	withSeeds := g.maxSeeds() > 1
	if withSeeds {
		caption += ": mean ± half of the 95 % CI. " + intervalNotes
	}
	d.add("points", "All points", g.newTable(caption, g.points, listed, withSeeds))
}

// choiceMetrics returns the metrics of a choice, the cost first.
func (g *grid) choiceMetrics() (list []figures.Row) {
	cost := wireKey
	if g.has(transferKey) {
		cost = transferKey
	}
	for _, key := range []string{cost, starvedKey, errorMMKey, errorKey, ageKey} {
		if g.has(key) {
			list = append(list, g.metric(key))
		}
	}
	return list
}

// cheapest returns for each condition the point with the lowest cost of those whose runs did not fail.
// Conditions where all points failed are left out. conditions is the number of all conditions with more than
// one point; the others have no choice.
func cheapest(points []*Point, cost *figures.Row) (list []*Point, conditions int) {
	for _, condition := range groupPoints(points, isCondition) {
		if len(condition.points) < 2 {
			continue
		}
		conditions++
		best := (*Point)(nil)
		least := math.Inf(1)
		for _, p := range condition.points {
			if v := p.value(cost); p.Failed == 0 && v < least {
				best = p
				least = v
			}
		}
		if best != nil {
			list = append(list, best)
		}
	}
	return list, conditions
}

// addChoices adds the verdict and, if the sweep has choices that keep its assertions, the cheapest of them:
// to the headline, as tiles and as a table. Otherwise it adds what each setting costs and gives.
func (d *Document) addChoices(g *grid, failures int) {
	asserted := 0
	failedPoints := 0
	for _, p := range g.points {
		asserted += p.Asserted
		failedPoints += min(p.Failed, 1)
	}
	d.Verdict = verdictOf(asserted, failures)
	metrics := g.choiceMetrics()
	if len(metrics) == 0 {
		return
	}
	list, conditions := cheapest(g.points, &metrics[0])
	if asserted == 0 || len(list) == 0 {
		d.addTrade(g, metrics, asserted > 0)
		return
	}
	d.Headline = choiceHeadline(list, conditions, len(g.points), &metrics[0])
	if failedPoints > 0 {
		d.Headline += fmt.Sprintf("; %d of %s failed", failedPoints,
			formatCount(int64(len(g.points)), "point"))
	}
	d.Headline += "."
	for _, m := range metrics {
		d.tile(m.Title, spanText(list, &m), m.Unit)
	}
	d.answer("recommended", "Recommended setting", g.newTable("Recommended setting under each condition",
		list, metrics, false))
}

// choiceHeadline names the cheapest settings under the given number of conditions, out of so many points.
func choiceHeadline(list []*Point, conditions, points int, cost *figures.Row) string {
	name := list[0].settings(isChoice)
	same := !slices.ContainsFunc(list, func(p *Point) bool { return p.settings(isChoice) != name })
	costs := spanText(list, cost) + " " + cost.Unit
	under := fmt.Sprint(conditions)
	if len(list) < conditions {
		under = fmt.Sprintf("%d of %d", len(list), conditions)
	} else if same {
		under = "all " + under
	}
	switch {
	case conditions == 1:
		return fmt.Sprintf("%s is the cheapest of %s that keeps the assertions: %s", name,
			formatCount(int64(points), "setting"), costs)
	case same:
		return fmt.Sprintf("%s is the cheapest setting that keeps the assertions under %s conditions: %s",
			name, under, costs)
	}
	return fmt.Sprintf("The cheapest setting that keeps the assertions differs between %s conditions: %s",
		under, costs)
}

// addTrade adds what each choice costs and gives, over all conditions: a headline with the cheapest and the
// costliest, and a table. A sweep without choices has a row for each condition. hasAssertions means that no
// setting keeps them.
func (d *Document) addTrade(g *grid, metrics []figures.Row, hasAssertions bool) {
	groups := groupPoints(g.points, isChoice)
	if len(groups) < 2 {
		groups = groupPoints(g.points, func(string) bool { return true })
	}
	if len(groups) < 2 {
		return
	}
	slices.SortStableFunc(groups, func(a, b *group) int { // by the cost under the first condition
		return cmp.Compare(a.points[0].value(&metrics[0]), b.points[0].value(&metrics[0]))
	})
	t := newTable("Each setting under all conditions, the cheapest first", "setting")
	for _, m := range metrics {
		t.Heads = append(t.Heads, texttable.Head{Text: m.Label(), Number: true})
	}
	var texts []string // of the headline
	for i, choice := range groups[:min(len(groups), maxListed)] {
		var spans, parts []string
		for _, m := range metrics {
			text := spanText(choice.points, &m)
			spans = append(spans, cmp.Or(text, "–"))
			if text != "" {
				parts = append(parts, text+" "+m.Unit+" "+m.Title)
			}
		}
		t.add(choice.name, spans)
		if i == 0 || i == len(groups)-1 {
			texts = append(texts, choice.name+": "+strings.Join(parts[:min(len(parts), 3)], ", "))
		}
	}
	d.Headline = strings.Join(texts, "; ") + "."
	remark := "The sweep has no assertions, so no setting is recommended."
	if hasAssertions {
		remark = "No setting keeps the assertions."
	}
	remark += " With bounds such as \"" + starvedKey +
		"\" = \"<= 0.01\" in [assert] this page names the cheapest setting that keeps them."
	d.answer("trade", "What each setting costs and gives", t, paragraph(remark))
}

// costKey returns the figure that is the cost of points in Pareto charts: their payload, or what is on the
// wire if redundancy or messages add to it.
func costKey(g *grid) string {
	if g.has("redundancy.overhead_kbps") || g.has("messages.wire_kbps") {
		return wireKey
	}
	return payloadKey
}

// addParetoCharts adds answers: charts of cost against quality (starvation, position error, transfer time,
// deadlines). Each condition has its own Pareto frontier, the points that no other point beats in both
// figures. A figure that is the same at all points has no chart.
func (d *Document) addParetoCharts(g *grid) {
	cost := g.metric(costKey(g))
	for _, key := range []string{starvedKey, errorMMKey, errorKey, transferKey, missedKey, deliveryKey} {
		m := g.metric(key)
		known := slices.DeleteFunc(slices.Clone(g.points[:min(len(g.points), maxListed)]),
			func(p *Point) bool {
				return math.IsNaN(p.value(&cost)) || math.IsNaN(p.value(&m))
			})
		lo, hi := span(known, &m)
		if lo >= hi {
			continue
		}
		var lines []dots
		var best []*Point
		for _, condition := range groupPoints(known, isCondition) {
			if len(condition.points) < 2 {
				continue
			}
			front := frontier(condition.points, &cost, &m)
			lines = append(lines, dots{cmp.Or(condition.name, "settings"), "step",
				scatterPoints(condition.points, front, &cost, &m)})
			best = append(best, front...)
		}
		if len(lines) == 0 {
			continue
		}
		title := heading(cost.Title) + " vs " + m.Title
		d.answer("pareto-"+keySuffix(key), title,
			charts{newScatter("Cheaper is to the left, better is down", &cost, &m, lines)},
			g.newTable("Pareto frontier by "+m.Title+": under the same condition no other point is both "+
				"cheaper and better", best, []figures.Row{cost, m}, false))
	}
}

// scatterPoints returns points by two figures. Those in best are large.
func scatterPoints(points, best []*Point, x, y *figures.Row) (list []dot) {
	for _, p := range points {
		list = append(list, dot{Name: shortSet(p.Set), X: p.Figures[x.Key], Y: p.Figures[y.Key],
			Large: slices.Contains(best, p)})
	}
	return list
}

// frontier returns the Pareto frontier of list, cheapest first: going from cheap to expensive, each point
// that is better than all before it. Less is better.
func frontier(list []*Point, cost, quality *figures.Row) (out []*Point) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *Point) int {
		return cmp.Or(cmp.Compare(a.value(cost), b.value(cost)),
			cmp.Compare(a.value(quality), b.value(quality)))
	})
	best := math.Inf(1)
	for _, p := range sorted {
		if v := p.value(quality); v < best {
			best = v
			out = append(out, p)
		}
	}
	return out
}

// budgetKey is the key of the axis along which the lines of a sweep over budgets go.
const budgetKey = "sender.budget"

// errorKeys are the errors under a budget, each with the key of the kbps that it took. For a crowd those of
// clients are shown alone.
var errorKeys = map[string]string{
	"view.mean_error_mm":   "view.used_kbps",
	"view.mean_error":      "view.used_kbps",
	"crowd.p50.view.error": "crowd.p50.view.used_kbps",
	"crowd.p95.view.error": "crowd.p50.view.used_kbps",
}

// addErrorCurves adds answers of a sweep over budgets or policies: charts of error against kbps, with a line
// for each combination of the other settings, and which of these has the least error at each budget.
func (d *Document) addErrorCurves(g *grid) {
	for _, key := range slices.Sorted(maps.Keys(errorKeys)) {
		m := g.metric(key)
		used := g.metric(errorKeys[key])
		known := slices.DeleteFunc(slices.Clone(g.points[:min(len(g.points), maxListed)]),
			func(p *Point) bool {
				return math.IsNaN(p.value(&m)) || math.IsNaN(p.value(&used))
			})
		if len(known) < 2 || g.has("crowd.p50.view.error") && !strings.HasPrefix(key, "crowd.") {
			continue
		}
		var lines []dots
		for i, line := range groupPoints(known, func(k string) bool { return k != budgetKey }) {
			points := scatterPoints(line.points, nil, &used, &m)
			for k := range points {
				points[k].Tag = fmt.Sprint(i + 1)
			}
			lines = append(lines, dots{fmt.Sprintf("%d %s", i+1, line.name), "line", points})
		}
		t, lead := leastErrors(known, &m)
		d.answer("errors-"+strings.ReplaceAll(key, ".", "-"), heading(m.Title)+" against kbps",
			paragraph(lead),
			charts{newScatter(errorTitle, &usedRow, &m, lines)}, t)
	}
}

// leastErrors returns a table of the choice with the least error for each budget under each condition, and of
// the next one with the ratio of their errors; and a sentence that sums it up, which is "" if there is
// nothing to choose.
func leastErrors(points []*Point, m *figures.Row) (t *table, lead string) {
	isGiven := func(key string) bool { return key == budgetKey || isCondition(key) }
	choice := func(p *Point) string { return p.settings(func(k string) bool { return !isGiven(k) }) }
	t = newTable(heading(m.Title)+": least at each budget", "at", "least error", ">"+m.Label(), "next",
		">times as large", ">95 % CI")
	wins := map[string]int{} // of a choice
	certain := 0             // wins that chance does not explain
	seeds := 0               // the largest number of a point
	least := math.Inf(1)
	most := 0.0 // of the ratios to the next
	for _, given := range groupPoints(points, isGiven) {
		list := given.points
		if len(list) < 2 {
			continue
		}
		slices.SortStableFunc(list, func(a, b *Point) int { return cmp.Compare(a.value(m), b.value(m)) })
		best := list[0]
		next := list[1]
		ratio := next.ratioTo(best, m.Key)
		interval := "–"
		if lo, hi, known := ratio.Bounds(); known {
			interval = units.Fixed(lo, 2) + " to " + units.Fixed(hi, 2)
			if lo > 1 {
				certain++
			}
		}
		seeds = max(seeds, len(best.seeds))
		least = min(least, ratio.Mean)
		most = max(most, ratio.Mean)
		wins[choice(best)]++
		t.add(given.name, choice(best), best.cell(m), choice(next), units.Fixed(ratio.Mean, 2), interval)
	}
	if t.isEmpty() {
		return t, ""
	}
	winner := slices.MaxFunc(slices.Sorted(maps.Keys(wins)),
		func(a, b string) int { return cmp.Compare(wins[a], wins[b]) })
	lead = fmt.Sprintf("Least error: %s, at %d of %s of the table. The next has %.2f to %.2f times the "+
		"error of the best.", winner, wins[winner],
		formatCount(int64(len(t.Rows)), "row"), least, most)
	if seeds < 2 {
		return t, lead +
			" With one seed there are no confidence intervals: repeat = 5 in a [[sweep]] gives them."
	}
	return t, lead + fmt.Sprintf(" At %d of them that is more than chance explains, by pairs of %d seeds.",
		certain, seeds)
}

// maxLines is the maximum number of lines of a chart, because there are eight colours.
const maxLines = 8

// chart returns a chart of a metric over the last axis, with a line for each combination of values of
// the other axes, at most maxLines.
func (g *grid) chart(axes []axis, m *figures.Row) *chart {
	along := axes[len(axes)-1]
	c := &chart{Title: heading(m.Title), Unit: m.Unit, Axis: withUnit(along.key, along.unit)}
	values, x := along.sorted()
	c.X = x
	if along.isEven() {
		c.Ticks = values
	}
	groups := groupPoints(g.points, isAmong(axes[:len(axes)-1]))
	if len(groups) > maxLines {
		c.Unit += fmt.Sprintf(" (%d of %d lines)", maxLines, len(groups))
		groups = groups[:maxLines]
	}
	all := line{Name: c.titleWithUnit()}
	for i, group := range groups {
		lines := linesOf(group.points, m, along.key, values) // the means, then the edges of the band
		all.Y = append(all.Y, lines[0].Y...)
		lines[0].Name = cmp.Or(group.name, m.Title)
		for k := range lines {
			lines[k].Color = 1 + i
		}
		c.Lines = append(c.Lines, lines...)
	}
	c.Label = describeLine(&all) + ", by " + along.key + "; the table of all points has the figures"
	return c
}

// isAmong returns a function that reports whether a key is that of one of the axes.
func isAmong(axes []axis) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(axes,
			func(a axis) bool { return a.key == key })
	}
}

// linesOf returns the lines of a chart of figure m over the values of a swept key: the line of the means and,
// if any point has a confidence interval, the upper and the lower edge of the band of the intervals. Values
// without a point are gaps.
func linesOf(points []*Point, m *figures.Row, key string, values []string) []line {
	mid := line{Y: gaps(len(values))}
	hi := line{Name: "95 %, up to", Kind: "edge", Y: gaps(len(values))}
	lo := line{Name: "from", Kind: "edge", Band: 1, Y: gaps(len(values))}
	hasBand := false
	for _, p := range points {
		k := slices.Index(values, p.Set[key])
		if k < 0 {
			continue
		}
		mid.Y[k] = value(p.value(m))
		if from, to, known := p.Figures[m.Key].Times(m.Scale()).Bounds(); known {
			lo.Y[k] = value(from)
			hi.Y[k] = value(to)
			hasBand = true
		}
	}
	if !hasBand {
		return []line{mid}
	}
	return []line{mid, hi, lo}
}

// Bounds of heat maps: more would be unreadable.
const (
	maxHeatSide = 60
	maxHeatMaps = 6
)

// addHeatMaps adds heat maps over the last two of at least two axes: tables whose cells are coloured by
// their values, one for each metric and each combination of the other axes, at most maxHeatMaps. It adds
// nothing if an axis has more than maxHeatSide values.
func (d *Document) addHeatMaps(g *grid, axes []axis, metrics []figures.Row) {
	across := axes[len(axes)-1]
	down := axes[len(axes)-2]
	if len(across.values) > maxHeatSide || len(down.values) > maxHeatSide {
		return
	}
	blocks := []block{paragraph(fmt.Sprintf("Rows: %s. Columns: %s. The darkest cell is the maximum; in "+
		"dark mode the lightest.", down.key, across.key))}
	for _, m := range metrics {
		for _, group := range groupPoints(g.points, isAmong(axes[:len(axes)-2])) {
			if len(blocks) <= maxHeatMaps {
				blocks = append(blocks, heatMap(group, down, across, &m))
			}
		}
	}
	d.add("heat", "Heat maps", blocks...)
}

// heatMap returns the heat map of one metric over two axes: a row per value of down, a column per value
// of across. Points without the metric are "–".
func heatMap(g *group, down, across axis, m *figures.Row) *table {
	t := newTable(heading(m.Label()), keySuffix(down.key)+" \\ "+keySuffix(across.key))
	t.Heat = true
	if g.name != "" {
		t.Caption += "; " + g.name
	}
	for _, v := range across.values {
		t.Heads = append(t.Heads, texttable.Head{Text: v, Number: true})
	}
	cells := map[[2]string]texttable.Cell{} // by the values of down and across
	lo, hi := span(g.points, m)
	for _, p := range g.points {
		if v := p.value(m); !math.IsNaN(v) {
			cells[[2]string{p.Set[down.key], p.Set[across.key]}] = texttable.Cell{Text: formatNumber(v),
				Class: fmt.Sprintf("h%d", shade(v, lo, hi))}
		}
	}
	for _, y := range down.values {
		row := []any{y}
		for _, x := range across.values {
			c, known := cells[[2]string{y, x}]
			if !known {
				c.Text = "–"
			}
			row = append(row, c)
		}
		t.add(row...)
	}
	return t
}

// shade maps v from the range lo to hi to a colour of a heat map, 0 to 8; 0 if the range is empty.
func shade(v, lo, hi float64) int {
	if hi <= lo || math.IsNaN(v) {
		return 0
	}
	return min(max(int(math.Round(8*(v-lo)/(hi-lo))), 0), 8)
}
