package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// costOf returns the cost of points, the X axis of a Pareto chart: their payload, or what is on the wire if
// redundancy or messages add to it.
func costOf(points []gridPoint) metric {
	if slices.ContainsFunc(points, func(p gridPoint) bool {
		_, hasRedundancy := p.Figures["redundancy.overhead_kbps"]
		_, hasMessages := p.Figures["messages.wire_kbps"]
		return hasRedundancy || hasMessages
	}) {
		return metric{"wire_kbps", "on the wire", "kbps", 1}
	}
	return metric{"payload_kbps", "payload", "kbps", 1}
}

// addParetoCharts adds answers: charts of cost against quality (starvation, position error, transfer time, deadlines).
// Each policy of a sweep is a point. Points are compared only under the same network conditions: each condition has its own
// Pareto frontier, the points that no other point beats in both figures.
func (d *document) addParetoCharts(points []gridPoint) {
	cost := costOf(points)
	for _, key := range []string{starvedKey, errorMMKey, errorKey, "transfer.time_s", missedKey, deliveryKey} {
		m := metricOf(points, key)
		names, groups := byCondition(points, cost, m)
		if len(names) == 0 {
			continue
		}
		s := section{ID: "pareto-" + keySuffix(m.key), Title: cost.heading() + " vs " + m.title,
			Graphics: []graphic{paretoGraphic(names, groups, cost, m)}, Tables: []table{frontierTable(names, groups, cost, m)}}
		if n := len(names); n == maxLines {
			s.Lead = []string{fmt.Sprintf("Only the first %d conditions are drawn.", n)}
		}
		d.Answers = append(d.Answers, s)
	}
}

// isCondition reports whether a key is part of the condition of a point: the seed, or what config.IsCondition names.
func isCondition(key string) bool { return key == "seed" || config.IsCondition(key) }

// conditionOf returns the settings of a point that describe its condition.
func conditionOf(p *gridPoint) map[string]string { return p.settings(isCondition) }

// settings returns the settings of a point whose keys are selected.
func (p *gridPoint) settings(selected func(key string) bool) map[string]string {
	set := maps.Clone(p.Set)
	maps.DeleteFunc(set, func(k, _ string) bool { return !selected(k) })
	return set
}

// byCondition groups the points of a sweep by condition. The condition of a point are its values of those swept
// keys that describe the network or the data, as text. names are the conditions in the order of their first
// points, at most maxLines of them; groups has the points of each. byCondition uses only the first maxListed
// points. It omits points without the cost or without metric m (the quality), and conditions with one
// point. It returns nil if the quality of all points is equal, because a chart would show nothing.
func byCondition(points []gridPoint, cost, m metric) (names []string, groups map[string][]*gridPoint) {
	minQuality, maxQuality := math.Inf(1), math.Inf(-1)
	points = slices.DeleteFunc(slices.Clone(points[:min(len(points), maxListed)]), func(p gridPoint) bool {
		cost, hasCost := p.Figures[cost.key]
		quality, hasQuality := p.Figures[m.key]
		if !hasCost || !hasQuality || math.IsNaN(cost.Mean) || math.IsNaN(quality.Mean) {
			return true
		}
		minQuality, maxQuality = min(minQuality, quality.Mean), max(maxQuality, quality.Mean)
		return false
	})
	names, groups = groupPoints(points, func(p *gridPoint) string { return shortSet(conditionOf(p)) })
	names = slices.DeleteFunc(names, func(name string) bool { return len(groups[name]) < 2 })
	if minQuality >= maxQuality {
		return nil, nil
	}
	return names[:min(len(names), maxLines)], groups
}

// frontier returns the Pareto frontier of list, cheapest first: going from cheap to expensive, each point
// that is better than all before it. cost and quality are keys of figures; less is better.
func frontier(list []*gridPoint, cost, quality string) (out []*gridPoint) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *gridPoint) int {
		return cmp.Or(cmp.Compare(a.Figures[cost].Mean, b.Figures[cost].Mean), cmp.Compare(a.Figures[quality].Mean, b.Figures[quality].Mean))
	})
	best := math.Inf(1)
	for _, p := range sorted {
		if v := p.Figures[quality].Mean; v < best {
			best, out = v, append(out, p)
		}
	}
	return out
}

// frontierTable lists the points on the frontier of each condition, by the keys of the condition first.
func frontierTable(names []string, groups map[string][]*gridPoint, cost, m metric) table {
	keys := slices.Sorted(maps.Keys(groups[names[0]][0].Set))
	slices.SortStableFunc(keys, func(a, b string) int {
		// Compares b with a, because "true" is after "false" and keys of conditions must come first.
		return strings.Compare(strconv.FormatBool(isCondition(b)), strconv.FormatBool(isCondition(a)))
	})
	t := newTable("Pareto frontier by "+m.title+": under the same condition no other point is both cheaper and better",
		append(slices.Clone(keys), ">"+cost.label(), ">"+m.label())...)
	for _, name := range names {
		for _, p := range frontier(groups[name], cost.key, m.key) {
			t.Add(p.values(keys), p.cell(cost), p.cell(m))
		}
	}
	return t
}

// The edges of a Pareto chart's plotting area, in units of the drawing.
const (
	paretoLeft, paretoRight = 64.0, 700.0
	paretoTop, paretoBottom = 24.0, 300.0
)

// paretoGraphic draws all points of each condition, with large dots on its frontier, and the frontier as
// a step line. Each condition has a colour.
func paretoGraphic(names []string, groups map[string][]*gridPoint, cost, m metric) graphic {
	g := graphic{Title: "Cheaper is to the left, better is down", Width: 740, Height: 350,
		Description: "Cost and quality of each point; the table below lists the frontier"}
	var all []*gridPoint
	for _, name := range names {
		all = append(all, groups[name]...)
	}
	x, y := g.drawAxes(all, cost, m)
	for i, name := range names {
		color := strconv.Itoa(1 + i) // number of the colour in page.css
		best := frontier(groups[name], cost.key, m.key)
		path := ""
		for k, p := range best {
			if k == 0 { // SVG path: move to the first point, then horizontally and vertically to each other one
				path = "M" + x(p.Figures[cost.key].Mean) + " " + y(p.Figures[m.key].Mean*m.scale)
			} else {
				path += " H" + x(p.Figures[cost.key].Mean) + " V" + y(p.Figures[m.key].Mean*m.scale)
			}
		}
		g.Paths = append(g.Paths, curve{path, "frontier l" + color}) // CSS classes: l for lines, i for dots
		for _, p := range groups[name] {
			c := dot{X: x(p.Figures[cost.key].Mean), Y: y(p.Figures[m.key].Mean * m.scale), R: "3.5", Class: "i" + color + " beaten",
				Title: fmt.Sprintf("%s: %s kbps, %s %s", shortSet(p.Set), formatNumber(p.Figures[cost.key].Mean), formatNumber(p.Figures[m.key].Mean*m.scale), m.unit)}
			if slices.Contains(best, p) {
				c.R, c.Class = "5.5", "i"+color
			}
			g.Dots = append(g.Dots, c)
		}
		if name != "" {
			g.Key = append(g.Key, stripPart{Name: name, Color: 1 + i})
		}
	}
	return g
}

// scatter draws points by two metrics; those of which best is true are drawn large.
func scatter(points []*gridPoint, best map[*gridPoint]bool, mx, my metric) graphic {
	g := graphic{Title: "Better is to the left and down", Width: 740, Height: 350, Description: "The figures of each setting; the table below lists them"}
	if figures.Find(mx.key).Better != figures.LessIsBetter || figures.Find(my.key).Better != figures.LessIsBetter {
		g.Title = "Settings by two figures"
	}
	x, y := g.drawAxes(points, mx, my)
	for _, p := range points {
		c := dot{X: x(p.Figures[mx.key].Mean * mx.scale), Y: y(p.Figures[my.key].Mean * my.scale), R: "3.5", Class: "i1 beaten",
			Title: fmt.Sprintf("%s: %s, %s", shortSet(p.Set), p.cell(mx), p.cell(my))}
		if best[p] {
			c.R, c.Class = "5.5", "i1"
		}
		g.Dots = append(g.Dots, c)
	}
	return g
}

// drawAxes draws both axes so that they include 0 and the points, and returns functions that convert values to
// coordinates. mx and my are the metrics of the axes.
func (g *graphic) drawAxes(points []*gridPoint, mx, my metric) (x, y func(v float64) string) {
	var xs, ys span
	for _, p := range points {
		xs.include(p.Figures[mx.key].Mean * mx.scale)
		ys.include(p.Figures[my.key].Mean * my.scale)
	}
	return g.drawAxesTo(xs, ys, mx.label(), my.label())
}

// span is the range of the values on an axis. It always includes 0.
type span struct{ lo, hi float64 }

// include extends the range to v, if v is finite.
func (s *span) include(v float64) {
	if v-v != 0 { // NaN or infinite
		return
	}
	s.lo = min(s.lo, v)
	s.hi = max(s.hi, v)
}

// ticks extends the range to round values, and returns these at equal distances from the lowest to the highest.
func (s *span) ticks() (list []float64) {
	step := tickStep(s.hi - s.lo)
	first, last := math.Floor(s.lo/step), max(math.Ceil(s.hi/step), 1)
	s.lo, s.hi = first*step, last*step
	for i := first; i <= last; i++ {
		list = append(list, i*step)
	}
	return list
}

// drawAxesTo draws axes for the values xs and ys, as drawAxes does. xName and yName are the names of the axes.
func (g *graphic) drawAxesTo(xs, ys span, xName, yName string) (x, y func(v float64) string) {
	ticksX, ticksY := xs.ticks(), ys.ticks()
	format := func(v float64) string { return units.Fixed(v, 1) } // a coordinate with one decimal
	x = func(v float64) string { return format(paretoLeft + (paretoRight-paretoLeft)*(v-xs.lo)/(xs.hi-xs.lo)) }
	y = func(v float64) string { return format(paretoBottom - (paretoBottom-paretoTop)*(v-ys.lo)/(ys.hi-ys.lo)) }
	// The labels are a few units outside of the plotting area.
	for _, v := range ticksX {
		g.Lines = append(g.Lines, stroke{x(v), format(paretoTop), x(v), format(paretoBottom), "grid"})
		g.Texts = append(g.Texts, caption{x(v), format(paretoBottom + 18), "mid", formatRounded(v)})
	}
	for _, v := range ticksY {
		g.Lines = append(g.Lines, stroke{format(paretoLeft), y(v), format(paretoRight), y(v), "grid"})
		g.Texts = append(g.Texts, caption{format(paretoLeft - 8), y(v), "end", formatRounded(v)})
	}
	g.Texts = append(g.Texts, caption{format((paretoLeft + paretoRight) / 2), format(paretoBottom + 40), "mid strong", xName},
		caption{format(paretoLeft), format(paretoTop - 10), "strong", yName})
	return x, y
}

// tickStep returns a round interval, 1, 2 or 5 times a power of ten, for about five ticks from 0 to limit.
func tickStep(limit float64) float64 {
	if limit <= 0 || math.IsInf(limit, 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(limit/5)))
	for _, k := range []float64{1, 2, 5} {
		if limit/(k*base) <= 6 {
			return k * base
		}
	}
	return 10 * base
}
