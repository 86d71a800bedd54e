package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// addGrid adds charts, heat maps and the table of a grid.
func (d *Document) addGrid(g *grid) {
	listed := g.varied(append([]figures.Row{figures.Find(costKey(g))}, figures.Ranked(figures.Narrow)...))
	drawn := slices.Clone(listed)
	for _, key := range drawnKeys {
		drawn = append(drawn, g.metric(key))
	}
	drawn = g.varied(drawn)
	d.addParetoCharts(g)
	if axes := g.axes(); len(axes) > 0 {
		var list charts
		for i := range drawn {
			list = append(list, g.chart(axes, &drawn[i]))
		}
		d.add("lines", "Figures", list)
		d.addHeatMaps(g, axes, drawn)
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
// Conditions where all points failed are left out. conditions is the number of all conditions with more
// than one point; the others have no choice.
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

// addChoices adds the verdict and, if the sweep has choices that keep its assertions, the cheapest of
// them: to the headline, as tiles and as a table. Otherwise it adds what each setting costs and gives.
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
	d.Headline = choiceHeadline(list, conditions, &metrics[0])
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

// choiceHeadline names the cheapest settings, list, under some of the given number of conditions.
func choiceHeadline(list []*Point, conditions int, cost *figures.Row) string {
	name := list[0].settings(isChoice)
	text := name + " is the cheapest setting"
	if slices.ContainsFunc(list, func(p *Point) bool { return p.settings(isChoice) != name }) {
		text = "Different settings are the cheapest"
	}
	under := fmt.Sprintf("%d of ", len(list))
	if len(list) == conditions {
		under = ""
	}
	return fmt.Sprintf("%s to keep the assertions under %s%s: %s %s", text, under,
		formatCount(int64(conditions), "condition"), spanText(list, cost), cost.Unit)
}

// addTrade adds what each choice costs and gives, over all conditions: a headline with the cheapest and
// the costliest, and a table. A sweep without choices has a row for each condition. hasAssertions means
// that no setting keeps them.
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
	t := newTable("Each setting under all conditions, the cheapest first",
		append([]string{"setting"}, labels(metrics)...)...)
	const maxInHeadline = 3 // metrics
	var headline []string
	for i, choice := range groups[:min(len(groups), maxListed)] {
		var spans, parts []string
		for k := range metrics {
			text := spanText(choice.points, &metrics[k])
			spans = append(spans, text)
			if text != "-" && len(parts) < maxInHeadline {
				parts = append(parts, text+" "+metrics[k].Unit+" "+metrics[k].Title)
			}
		}
		t.add(choice.name, spans)
		if i == 0 || i == len(groups)-1 {
			headline = append(headline, choice.name+": "+strings.Join(parts, ", "))
		}
	}
	d.Headline = strings.Join(headline, "; ") + "."
	remark := "The sweep has no assertions, so no setting is recommended."
	if hasAssertions {
		remark = "No setting keeps the assertions."
	}
	remark += " With bounds such as \"" + starvedKey +
		"\" = \"<= 0.01\" in [assert] this page names the cheapest setting that keeps them."
	d.answer("trade", "What each setting costs and gives", t, paragraph(remark))
}

// labels returns the titles of columns of figures.
func labels(metrics []figures.Row) (titles []string) {
	for i := range metrics {
		titles = append(titles, ">"+metrics[i].Label())
	}
	return titles
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
// deadlines), and of the kbps that were used of a budget against the error.
func (d *Document) addParetoCharts(g *grid) {
	for _, key := range []string{starvedKey, errorMMKey, errorKey, transferKey, missedKey, deliveryKey} {
		d.addPareto(g, costKey(g), key, "step", isCondition)
	}
	kbps := "view.used_kbps"
	errors := []string{"view.mean_error_mm", "view.mean_error"}
	if clients := "crowd.p50.view.error"; g.has(clients) { // of a crowd, those of clients
		kbps = "crowd.p50.view.used_kbps"
		errors = []string{clients, "crowd.p95.view.error"}
	}
	for _, key := range errors {
		d.addPareto(g, kbps, key, "line", func(k string) bool { return k != "sender.budget" })
	}
}

// addPareto adds a chart of a cost against a figure whose small values are good, unless all points have
// the same. The points of a line have the settings with certain keys in common; join is as in line,
// where "step" joins the Pareto frontier. A table has the frontier under each condition: the points that
// no other point beats in both figures.
func (d *Document) addPareto(g *grid, costKey, key, join string, isOfLine func(key string) bool) {
	cost := g.metric(costKey)
	m := g.metric(key)
	known := g.pointsWith(costKey, key)
	var best []*Point
	for _, condition := range groupPoints(known, isCondition) {
		if len(condition.points) > 1 {
			best = append(best, frontier(condition.points, &cost, &m)...)
		}
	}
	if lo, hi := span(known, &m); lo >= hi || best == nil {
		return
	}
	var lines []dots
	for i, group := range groupPoints(known, isOfLine) {
		line := dots{cmp.Or(group.name, "settings"), join, scatterPoints(group.points, best, &cost, &m)}
		if join == "line" {
			line.Name = fmt.Sprintf("%d %s", i+1, line.Name)
			for k := range line.Points {
				line.Points[k].Tag = fmt.Sprint(i + 1)
				line.Points[k].Large = false // the line joins all points
			}
		}
		lines = append(lines, line)
	}
	d.answer("pareto-"+strings.ReplaceAll(key, ".", "-"), heading(cost.Title)+" vs "+m.Title,
		charts{newScatter("Cheaper is to the left, better is down", &cost, &m, lines)},
		g.newTable("Pareto frontier by "+m.Title+": under the same condition no other point is both "+
			"cheaper and better", best, []figures.Row{cost, m}, false))
}

// scatterPoints returns points by two figures. Those in best are large.
func scatterPoints(points, best []*Point, x, y *figures.Row) (list []dot) {
	for _, p := range points {
		list = append(list, dot{Name: shortSet(p.Set), X: p.Figures[x.Key], Y: p.Figures[y.Key],
			Large: slices.Contains(best, p)})
	}
	return list
}

// pointsWith returns the points that have both figures, at most maxListed.
func (g *grid) pointsWith(x, y string) (list []*Point) {
	for _, p := range g.points[:min(len(g.points), maxListed)] {
		if p.Figures[x].N > 0 && p.Figures[y].N > 0 {
			list = append(list, p)
		}
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

// maxLines is the maximum number of lines of a chart, because there are eight colours.
const maxLines = 8

// chart returns a chart of a metric over the last axis, with a line for each combination of values of
// the other axes, at most maxLines.
func (g *grid) chart(axes []axis, m *figures.Row) *chart {
	along := &axes[len(axes)-1]
	var groups []dots
	for _, group := range groupPoints(g.points, isAmong(axes[:len(axes)-1])) {
		line := dots{Name: cmp.Or(group.name, m.Title), Join: "line"}
		for _, p := range group.points {
			v := p.Set[along.key]
			position, known := along.positions[v]
			if known && p.Figures[m.Key].N > 0 {
				line.Points = append(line.Points, dot{Name: line.Name, XText: along.key + " " + v,
					X: exactly(position), Y: p.Figures[m.Key]})
			}
		}
		groups = append(groups, line)
	}
	x := figures.Row{Title: withUnit(along.key, along.unit)} // without a unit, because % would scale the values
	c := newScatter(heading(m.Title), &x, m, groups)
	c.Unit = m.Unit
	c.Ticks = along.ticks
	return c
}

// isAmong returns a function that reports whether a key is that of one of the axes.
func isAmong(axes []axis) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(axes, func(a axis) bool { return a.key == key })
	}
}

// Bounds of heat maps: more would be unreadable.
const (
	maxHeatSide = 60
	maxHeatMaps = 6
)

// addHeatMaps adds heat maps over the last two axes: tables whose cells are coloured by their values,
// one for each metric and each combination of the other axes, at most maxHeatMaps. It adds nothing if
// there are fewer axes, or one has more than maxHeatSide values.
func (d *Document) addHeatMaps(g *grid, axes []axis, metrics []figures.Row) {
	if len(axes) < 2 {
		return
	}
	down := &axes[len(axes)-2]
	across := &axes[len(axes)-1]
	if len(across.values) > maxHeatSide || len(down.values) > maxHeatSide {
		return
	}
	blocks := []block{paragraph(fmt.Sprintf("Rows: %s. Columns: %s. The darkest cell is the maximum; in "+
		"dark mode the lightest.", down.key, across.key))}
	for i := range metrics {
		for _, group := range groupPoints(g.points, isAmong(axes[:len(axes)-2])) {
			if len(blocks) <= maxHeatMaps {
				blocks = append(blocks, heatMap(group, down, across, &metrics[i]))
			}
		}
	}
	d.add("heat", "Heat maps", blocks...)
}

// heatMap returns the heat map of one metric over two axes: a row per value of down, a column per value
// of across.
func heatMap(g *group, down, across *axis, m *figures.Row) *table {
	corner := keySuffix(down.key) + " \\ " + keySuffix(across.key)
	caption := strings.TrimSuffix(heading(m.Label())+"; "+g.name, "; ")
	t := newTable(caption, append([]string{corner}, texttable.Numbers(across.values...)...)...)
	t.Heat = true
	lo, hi := span(g.points, m)
	for _, y := range down.values {
		row := []any{y}
		for _, x := range across.values {
			cell := texttable.Cell{Text: "-"}
			i := slices.IndexFunc(g.points, func(p *Point) bool {
				return p.Set[down.key] == y && p.Set[across.key] == x
			})
			if i >= 0 && g.points[i].Figures[m.Key].N > 0 {
				v := g.points[i].value(m)
				cell = texttable.Cell{Text: units.Fixed(v, m.Decimals), Class: fmt.Sprintf("h%d", shade(v, lo, hi))}
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	return t
}

// shade maps v from the range lo to hi to a colour of a heat map, 0 to 8; 0 if the range is empty.
func shade(v, lo, hi float64) int {
	if hi <= lo {
		return 0
	}
	return int(math.Round(8 * (v - lo) / (hi - lo)))
}
