package panes

import (
	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
)

// Stacked is one of several charts that are stacked over one time axis.
type Stacked struct {
	Title   string
	Legend  []look.Span
	Spec    *chart.Spec // DrawStack sets Time and Labels, because only the last chart has a time axis
	Focused bool        // draw the title as focused
	Empty   string      // text in the middle of a chart without data; "" means none
	Folded  bool        // draw only the title and the legend, in one row; at least one chart of a stack must not be folded
}

// chartRows distributes a pane of h rows over n charts: first[i] is the row of the title of chart
// i, rows[i] is the height below it. The last chart gets two rows more, for the time axis.
func chartRows(h, n int) (first, rows []int) {
	const axis = 2
	edges := n + 1 // a title above each chart, and the lower edge
	first, rows = make([]int, n), make([]int, n)
	plotRows := max(h-edges-axis, 0) // of all charts
	y := 0
	for i := range rows {
		first[i] = y
		rows[i] = (plotRows + n - 1 - i) / n // the first charts get the remainder
		y += 1 + rows[i]
	}
	rows[n-1] += min(axis, max(h-edges, 0))
	return first, rows
}

// stackRows is chartRows for a stack with folded charts, whose rows go to the others. last is the index of the last
// chart that is not folded, which has the time axis.
func stackRows(h int, list []Stacked) (first, rows []int, last int) {
	folded := 0
	for i := range list {
		if list[i].Folded {
			folded++
		} else {
			last = i
		}
	}
	_, open := chartRows(h-folded, len(list)-folded)
	first, rows = make([]int, len(list)), make([]int, len(list))
	y := 0
	for i := range list {
		first[i] = y
		if !list[i].Folded {
			rows[i], open = open[0], open[1:]
		}
		y += 1 + rows[i]
	}
	return first, rows, last
}

// DrawStack fills c with the charts of list, from top to bottom.
func DrawStack(c *look.Canvas, th *look.Theme, list []Stacked) {
	first, rows, last := stackRows(c.H, list)
	for i, item := range list {
		y := first[i]
		if i == 0 {
			c.Frame(th, item.Focused, item.Title, item.Legend...)
		} else if y < c.H-1 {
			c.Divider(th, y, item.Focused, item.Title, item.Legend...)
		}
		if item.Folded {
			continue
		}
		item.Spec.Time, item.Spec.Labels = i == last, i == last
		if cross := item.Spec.Crosshair; cross != nil && i > 0 { // the label is at the uppermost chart only
			cross.Label = ""
		}
		c.Blit(1, y+1, chart.Draw(item.Spec, c.W-2, max(min(rows[i], c.H-2-y), 0)))
		if rows[i] > 4 { // a chart of fewer rows has no free row for the text
			c.Text((c.W-len(item.Empty))/2, y+rows[i]/2, look.Dim, item.Empty)
		}
	}
}
