package panes

import (
	"cmp"
	"fmt"
	"math"
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
	name, short string // short is the name where there is little room
	figure      string
	isLane      bool // the name is that of an encoder, which can be shortened to any width
}

// legendEntries returns the entries of the lines, then those of the shadows, and the number of shadows that the chart
// does not draw.
func (t *TimeCharts[S]) legendEntries(k *TimeChart[S], th *look.Theme) (entries []legendEntry, others int) {
	hasShadows := len(t.Shadows) > 0
	isOne := !hasShadows && (len(k.Lines) == 1 || k.Lines[1].Value == nil)
	for i := range k.Lines {
		line := &k.Lines[i]
		e := legendEntry{style: line.Style, name: line.Name, figure: t.figure(k, line, t.Samples)}
		if line.Silent || e.figure == "" && i > 0 {
			continue
		}
		e.figure = cmp.Or(e.figure, "-")
		switch {
		case i == 0 && hasShadows:
			e.name, e.isLane = t.Lane, true
		case line.Name == "" && t.OfRun:
			e.name = "mean"
		case line.Name == "":
			e.name = t.FiguresAt()
		case t.OfRun && i == 0:
			e.name += ", mean"
		}
		e.short = cmp.Or(line.Short, e.name)
		if line.Symbol != 0 {
			e.mark = string(line.Symbol) + " "
		}
		if !isOne && !k.IsStack && line.Value != nil { // lines to distinguish
			e.mark = look.LineSamples[line.Stroke] + " " + e.mark
		}
		entries = append(entries, e)
	}
	shadows, others := t.largestShadows(k.Lines[0].Value, k.Lines[0].Reduce)
	for i := range shadows {
		s := &shadows[i]
		entries = append(entries, legendEntry{look.ShadowStyle(s.Index), string(look.ShadowSymbol(s.Index)) + " ",
			s.Name, s.Name, cmp.Or(t.figure(k, &k.Lines[0], s.Samples), "-"), true})
	}
	return entries, others
}

// legendGroups returns mark, name and figure of each entry. Names of encoders are shortened to nameWidth, 0 for none, and
// the other names are short unless there is room for all.
func legendGroups(entries []legendEntry, nameWidth int) (groups [][]look.Span) {
	var lanes []string
	for i := range entries {
		if entries[i].isLane {
			lanes = append(lanes, entries[i].name)
		}
	}
	switch nameWidth {
	case math.MaxInt:
	case 0:
		clear(lanes)
	default:
		lanes = look.ShortenDistinct(lanes, nameWidth)
	}
	for i := range entries {
		e := &entries[i]
		name, figure := e.name, look.PadLeft(e.figure, figureWidth)
		switch {
		case e.isLane:
			name, lanes = strings.Replace(lanes[0], "…", ".", 1), lanes[1:] // an abbreviation
		case nameWidth < math.MaxInt:
			name, figure = e.short, e.figure
		}
		if name != "" {
			name += " "
		}
		if i > 0 {
			name = "  " + e.mark + name
		} else {
			name = e.mark + name
		}
		groups = append(groups, []look.Span{e.style.Span(name), look.Value.Span(figure)})
	}
	return groups
}

// legendOf returns a legend of at most maxWidth columns: all entries, with names as long as fit, or as many as fit and
// the number of the others. One of the texts after follows, the first if it fits.
func legendOf(entries []legendEntry, others int, after [][]look.Span, maxWidth int) []look.Span {
	if len(after) == 0 {
		after = [][]look.Span{nil}
	}
	shortest := after[len(after)-1]
	more := func(n int) []look.Span {
		if n == 0 {
			return nil
		}
		return look.Labelled(fmt.Sprintf("  +%d", n))
	}
	for _, nameWidth := range []int{math.MaxInt, 16, 12, 9, 6, 5, 4} {
		all := append(slices.Concat(legendGroups(entries, nameWidth)...), more(others)...)
		for _, text := range after {
			if out := slices.Concat(all, text); look.SpansWidth(out) <= maxWidth {
				return out
			}
		}
	}
	groups := legendGroups(entries, 0)
	const moreWidth = 4
	out := look.FitGroups(maxWidth-moreWidth-look.SpansWidth(shortest), groups)
	omitted := len(groups) - len(out)/2 // each group has a name and a figure
	return look.Fit(maxWidth, slices.Concat(out, more(omitted+others), shortest), out, nil)
}
