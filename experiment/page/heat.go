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

// heat adds heat maps of the two axes with the most values: tables whose cells are coloured
// from the least to the most, so that each can be read as a number, too.
func (d *document) heat(points []gridPoint, axes []axis, ms []metric) {
	across, down := axes[len(axes)-1], axes[len(axes)-2]
	if len(across.values) > maxHeatSide || len(down.values) > maxHeatSide {
		return
	}
	s := section{ID: "heat", Title: "Heat maps", Lead: []string{fmt.Sprintf("Down: %s. Across: %s. The darkest cell, or in the dark the lightest, is the most.",
		down.key, across.key)}}
	names, groups := grouped(points, func(p *gridPoint) string { return p.shortSet(axes[:len(axes)-2]) })
	for _, m := range ms {
		for _, name := range names {
			if len(s.Tables) < maxHeatMaps {
				s.Tables = append(s.Tables, heatMap(groups[name], name, down, across, m))
			}
		}
	}
	d.Sections = append(d.Sections, s)
}

func heatMap(points []*gridPoint, name string, down, across axis, m metric) table {
	t := newTable(m.title, lastWord(down.key)+" \\ "+lastWord(across.key))
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
	at := map[[2]string]*gridPoint{}
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		at[[2]string{p.Set[down.key], p.Set[across.key]}] = p
		if v, ok := p.Figures[m.key]; ok {
			least, most = min(least, v.Diff), max(most, v.Diff)
		}
	}
	for _, y := range down.values {
		row := []any{y}
		for _, x := range across.values {
			c := texttable.Cell{Text: "–"}
			if p := at[[2]string{y, x}]; p != nil {
				if v, ok := p.Figures[m.key]; ok {
					c = texttable.Cell{Text: digits(v.Diff * m.times), Class: fmt.Sprintf("h%d", shade(v.Diff, least, most))}
				}
			}
			row = append(row, c)
		}
		t.Add(row...)
	}
	return t
}

// shade is how dark a value is, 0 to 8.
func shade(v, least, most float64) int {
	if most <= least || math.IsNaN(v) {
		return 0
	}
	return min(max(int(math.Round(8*(v-least)/(most-least))), 0), 8)
}
