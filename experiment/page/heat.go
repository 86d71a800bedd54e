package page

import (
	"fmt"
	"math"

	"wirelab/internal/texttable"
)

// Bounds of heat maps: more would be unreadable.
const (
	maxHeatSide = 60
	maxHeatMaps = 6
)

// addHeatMaps adds heat maps over the last two of at least two axes: tables whose cells are coloured by
// their values, one for each metric and each combination of the other axes, at most maxHeatMaps. It adds
// nothing if an axis has more than maxHeatSide values.
func (d *document) addHeatMaps(points []gridPoint, axes []axis, ms []metric) {
	across, down := axes[len(axes)-1], axes[len(axes)-2]
	if len(across.values) > maxHeatSide || len(down.values) > maxHeatSide {
		return
	}
	s := section{ID: "heat", Title: "Heat maps", Lead: []string{fmt.Sprintf("Rows: %s. Columns: %s. The darkest cell is the maximum; in dark mode the lightest.",
		down.key, across.key)}}
	names, groups := groupPoints(points, func(p *gridPoint) string { return p.shortSet(axes[:len(axes)-2]) })
	for _, m := range ms {
		for _, name := range names {
			if len(s.Tables) < maxHeatMaps {
				s.Tables = append(s.Tables, heatMap(groups[name], name, down, across, m))
			}
		}
	}
	d.Sections = append(d.Sections, s)
}

// heatMap returns the heat map of one metric over two axes: a row per value of down, a column per value
// of across. name names the values of the other axes. Points without the metric are "–".
func heatMap(points []*gridPoint, name string, down, across axis, m metric) table {
	t := newTable(m.title, keySuffix(down.key)+" \\ "+keySuffix(across.key))
	t.Heat = true
	for _, v := range across.values {
		t.Heads = append(t.Heads, texttable.Head{Text: v, Number: true})
	}
	if m.unit != "" {
		t.Caption += ", " + m.unit
	}
	if name != "" {
		t.Caption += "; " + name
	}
	at := map[[2]string]*gridPoint{} // by the values of down and across
	minValue, maxValue := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		at[[2]string{p.Set[down.key], p.Set[across.key]}] = p
		if v, ok := p.Figures[m.key]; ok {
			minValue, maxValue = min(minValue, v.Mean), max(maxValue, v.Mean)
		}
	}
	for _, y := range down.values {
		row := []any{y}
		for _, x := range across.values {
			c := texttable.Cell{Text: "–"}
			if p := at[[2]string{y, x}]; p != nil {
				if v, ok := p.Figures[m.key]; ok { // h0, h1, ... are the CSS classes of the shades
					c = texttable.Cell{Text: formatNumber(v.Mean * m.scale), Class: fmt.Sprintf("h%d", shade(v.Mean, minValue, maxValue))}
				}
			}
			row = append(row, c)
		}
		t.Add(row...)
	}
	return t
}

// shade maps v from the range minValue to maxValue to a colour of a heat map, 0 to 8; 0 if the range is
// empty.
func shade(v, minValue, maxValue float64) int {
	if maxValue <= minValue || math.IsNaN(v) {
		return 0
	}
	return min(max(int(math.Round(8*(v-minValue)/(maxValue-minValue))), 0), 8)
}
