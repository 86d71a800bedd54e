package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/internal/units"
)

// cost is what a point costs in a Pareto chart.
const cost = "payload_kbps"

// pareto draws what the choices cost against how good they are. What the link does is no
// choice: each condition has a frontier of its own, the points that no other under the same
// condition beats in both.
func (d *document) pareto(points []gridPoint) {
	for _, m := range []metric{{"playout.starved_ratio", "display starved", "%", 100},
		{"playout.position_error_mm.p95", "moving cubes off by, 95 %", "mm", 1}, {"transfer.time_s", "until the file was there", "s", 1}} {
		names, groups := byCondition(points, m)
		if len(names) == 0 {
			continue
		}
		s := section{ID: "pareto-" + lastWord(m.key), Title: "What it costs, and what is had for it: " + m.title,
			Graphics: []graphic{paretoGraphic(names, groups, m)}, Tables: []table{frontierTable(names, groups, m)}}
		if n := len(names); n == maxLines {
			s.Lead = []string{fmt.Sprintf("Of the conditions only %d are drawn.", n)}
		}
		d.Sections = append(d.Sections, s)
	}
}

// condition reports whether a key is of the circumstances, and no choice.
func condition(key string) bool {
	for _, prefix := range []string{"down.", "up.", "link.", "data."} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return key == "profile"
}

// byCondition groups the points that have both figures, at most maxLines groups of several
// points that differ.
func byCondition(points []gridPoint, m metric) (names []string, groups map[string][]*gridPoint) {
	least, most := math.Inf(1), math.Inf(-1)
	points = slices.DeleteFunc(slices.Clone(points[:min(len(points), maxListed)]), func(p gridPoint) bool {
		c, known := p.Figures[cost]
		q, ok := p.Figures[m.key]
		if !known || !ok || math.IsNaN(c.Diff) || math.IsNaN(q.Diff) {
			return true
		}
		least, most = min(least, q.Diff), max(most, q.Diff)
		return false
	})
	names, groups = grouped(points, func(p *gridPoint) string {
		set := maps.Clone(p.Set)
		maps.DeleteFunc(set, func(k, _ string) bool { return !condition(k) })
		return shortSet(set)
	})
	names = slices.DeleteFunc(names, func(name string) bool { return len(groups[name]) < 2 })
	if least >= most {
		return nil, nil
	}
	return names[:min(len(names), maxLines)], groups
}

// frontier returns the points that no other beats, the cheapest first.
func frontier(list []*gridPoint, quality string) (out []*gridPoint) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *gridPoint) int {
		return cmp.Or(cmp.Compare(a.Figures[cost].Diff, b.Figures[cost].Diff), cmp.Compare(a.Figures[quality].Diff, b.Figures[quality].Diff))
	})
	best := math.Inf(1)
	for _, p := range sorted {
		if v := p.Figures[quality].Diff; v < best {
			best, out = v, append(out, p)
		}
	}
	return out
}

func frontierTable(names []string, groups map[string][]*gridPoint, m metric) table {
	keys := slices.Sorted(maps.Keys(groups[names[0]][0].Set))
	slices.SortStableFunc(keys, func(a, b string) int {
		return strings.Compare(strconv.FormatBool(condition(b)), strconv.FormatBool(condition(a)))
	})
	t := newTable("The frontier by "+m.title+": under the same condition no other point is both cheaper and better",
		append(slices.Clone(keys), ">payload, kbps", ">"+m.title+", "+m.unit)...)
	for _, name := range names {
		for _, p := range frontier(groups[name], m.key) {
			t.Add(p.values(keys), p.cell(metric{key: cost, times: 1}), p.cell(m))
		}
	}
	return t
}

// The place of a Pareto chart's axes in its drawing.
const (
	paretoLeft, paretoRight = 64.0, 700.0
	paretoTop, paretoBottom = 24.0, 300.0
)

func paretoGraphic(names []string, groups map[string][]*gridPoint, m metric) graphic {
	g := graphic{Title: "Cheaper is further left, better is further down", Width: 740, Height: 350,
		Description: "What each point costs and how good it is; the table below lists those that no other beats"}
	mostX, mostY := 0.0, 0.0
	for _, name := range names {
		for _, p := range groups[name] {
			mostX, mostY = max(mostX, p.Figures[cost].Diff), max(mostY, p.Figures[m.key].Diff*m.times)
		}
	}
	x, y := g.axes(mostX, mostY, m.title+", "+m.unit)
	for i, name := range names {
		ink := fmt.Sprintf("i%d", 1+i)
		best := frontier(groups[name], m.key)
		path := ""
		for k, p := range best {
			if k == 0 {
				path = "M" + x(p.Figures[cost].Diff) + " " + y(p.Figures[m.key].Diff*m.times)
			} else {
				path += " H" + x(p.Figures[cost].Diff) + " V" + y(p.Figures[m.key].Diff*m.times)
			}
		}
		g.Paths = append(g.Paths, curve{path, "frontier l" + ink[1:]})
		for _, p := range groups[name] {
			c := dot{X: x(p.Figures[cost].Diff), Y: y(p.Figures[m.key].Diff * m.times), R: "3.5", Class: ink + " beaten",
				Title: fmt.Sprintf("%s: %s kbps, %s %s", shortSet(p.Set), digits(p.Figures[cost].Diff), digits(p.Figures[m.key].Diff*m.times), m.unit)}
			if slices.Contains(best, p) {
				c.R, c.Class = "5.5", ink
			}
			g.Dots = append(g.Dots, c)
		}
		if name != "" {
			g.Key = append(g.Key, slice{Name: name, Ink: 1 + i})
		}
	}
	return g
}

// axes draws both axes from 0 on, and returns what turns values into places.
func (g *graphic) axes(mostX, mostY float64, name string) (x, y func(v float64) string) {
	stepX, stepY := step(mostX), step(mostY)
	mostX, mostY = stepX*math.Ceil(mostX/stepX), stepY*math.Ceil(mostY/stepY)
	at := func(v float64) string { return units.Fixed(v, 1) }
	x = func(v float64) string { return at(paretoLeft + (paretoRight-paretoLeft)*v/mostX) }
	y = func(v float64) string { return at(paretoBottom - (paretoBottom-paretoTop)*v/mostY) }
	for i := range int(math.Round(mostX/stepX)) + 1 {
		v := float64(i) * stepX
		g.Lines = append(g.Lines, stroke{x(v), at(paretoTop), x(v), at(paretoBottom), "grid"})
		g.Texts = append(g.Texts, caption{x(v), at(paretoBottom + 18), "mid", round(v)})
	}
	for i := range int(math.Round(mostY/stepY)) + 1 {
		v := float64(i) * stepY
		g.Lines = append(g.Lines, stroke{at(paretoLeft), y(v), at(paretoRight), y(v), "grid"})
		g.Texts = append(g.Texts, caption{at(paretoLeft - 8), y(v), "end", round(v)})
	}
	g.Texts = append(g.Texts, caption{at((paretoLeft + paretoRight) / 2), at(paretoBottom + 40), "mid strong", "payload, kbps"},
		caption{at(paretoLeft), at(paretoTop - 10), "strong", name})
	return x, y
}

// step is a round distance between some five ticks up to most.
func step(most float64) float64 {
	if most <= 0 || math.IsInf(most, 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(most/5)))
	for _, k := range []float64{1, 2, 5} {
		if most/(k*base) <= 6 {
			return k * base
		}
	}
	return 10 * base
}
