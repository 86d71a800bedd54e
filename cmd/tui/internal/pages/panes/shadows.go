package panes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
)

// Shadows are further encoders that run on the same frames and losses as the active encoder. The
// marker and the colour of a shadow depend on its index and are the same on all pages.

// figureWidth is the width of figures in legends, so that what follows them does not move.
const figureWidth = 5

// legendEntry explains one line of a chart: what marks it, its name, and its figure.
type legendEntry struct {
	style       look.Style
	mark        string // a sample of the line, or the symbol of a shadow
	quantity    string // before the name, if there is room: of the first shadow beside several quantities
	name, short string // short is the name where there is little room: of a lane its letter
	figure      string
}

// legendEntries returns the entries of the first line, of the shadows, which have its quantity, and of the other lines, and
// the number of shadows that the chart does not draw.
func (t *TimeCharts[S]) legendEntries(k *TimeChart[S], th *look.Theme) (entries []legendEntry, others int) {
	hasShadows := len(t.Shadows) > 0
	isOne := !hasShadows && (len(k.Lines) == 1 || k.Lines[1].Value == nil)
	letter, _, _ := strings.Cut(t.Lane, " ")
	for i := range k.Lines {
		line := &k.Lines[i]
		e := legendEntry{style: line.Style, name: line.Name, short: cmp.Or(line.Short, line.Name), figure: t.figure(k, line, t.Samples)}
		if line.Silent || e.figure == "" && i > 0 {
			continue
		}
		e.figure = cmp.Or(e.figure, "-")
		switch {
		case hasShadows:
			e.name = strings.TrimSpace(e.name + " " + t.Lane)
			e.short = strings.TrimSpace(e.short + " " + letter)
		case line.Name == "" && t.OfRun:
			e.name = "mean"
		case line.Name == "":
			e.name = t.FiguresAt()
		case t.OfRun && i == 0:
			e.name += ", mean"
		}
		e.short = cmp.Or(e.short, e.name)
		if line.Symbol != 0 {
			e.mark = string(line.Symbol) + " "
		}
		if !isOne && !k.IsStack && line.Value != nil { // lines to distinguish
			e.mark = look.LineSamples[line.Stroke] + " " + e.mark
		}
		entries = append(entries, e)
	}
	shadows, others := t.largestShadows(k.Lines[0].Value, k.Lines[0].Reduce)
	var ofShadows []legendEntry
	for i := range shadows {
		s := &shadows[i]
		letter, _, _ := strings.Cut(s.Name, " ")
		e := legendEntry{style: look.ShadowStyle(s.Index), mark: string(look.ShadowSymbol(s.Index)) + " ", name: s.Name,
			short: letter, figure: cmp.Or(t.figure(k, &k.Lines[0], s.Samples), "-")}
		if i == 0 && len(entries) > 1 {
			e.quantity = cmp.Or(k.Lines[0].Short, k.Lines[0].Name) + " "
		}
		ofShadows = append(ofShadows, e)
	}
	return slices.Insert(entries, min(1, len(entries)), ofShadows...), others
}

// legendGroups returns mark, name and figure of each entry. Figures after long names keep their width.
func legendGroups(entries []legendEntry, isShort bool) (groups [][]look.Span) {
	for i := range entries {
		e := &entries[i]
		name, figure := e.name, look.PadLeft(e.figure, figureWidth)
		if isShort {
			name, figure = e.short, e.figure
		}
		name = e.mark + e.quantity + name + " "
		if i > 0 {
			name = "  " + name
		}
		groups = append(groups, []look.Span{e.style.Span(name), look.Value.Span(figure)})
	}
	return groups
}

// otherLines returns the end of a legend without n entries.
func otherLines(n int) []look.Span {
	if n == 0 {
		return nil
	}
	return look.Labelled(fmt.Sprintf("  +%d", n))
}

// fitLegend returns as many entries with short names as fit into maxWidth columns, and the number of the others.
func fitLegend(entries []legendEntry, others, maxWidth int) []look.Span {
	groups := legendGroups(entries, true)
	if look.SpansWidth(slices.Concat(groups...)) > maxWidth {
		for i := range entries {
			entries[i].quantity = ""
		}
		groups = legendGroups(entries, true)
	}
	for n := len(groups); n > 0; n-- {
		legend := append(slices.Concat(groups[:n]...), otherLines(len(groups)-n+others)...)
		if look.SpansWidth(legend) <= maxWidth {
			return legend
		}
	}
	return nil
}
