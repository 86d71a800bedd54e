package chart

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// drawTimeAxis draws the row below the plot: seconds before now. The labels stand still while the data
// scroll.
func (p *plot) drawTimeAxis() {
	y := p.rows
	p.drawBottomAxis()
	columnNS := float64(p.Step) * float64(p.values) / float64(p.grid.dots) * float64(p.dotsPerColumn) // time per column
	if columnNS < 1 || columnNS > float64(maxColumnTime) {
		return
	}
	p.drawNewestLabel(y)
	interval := chooseLabelInterval(time.Duration(columnNS), p.cols)
	for age := interval; ; age += interval {
		column := p.cols - 1 - int(float64(age)/columnNS)
		label := fmt.Sprintf(" %ds", int(age/time.Second))
		if column-utf8.RuneCountInString(label) < 0 {
			return
		}
		x := p.box.text(plotLeft+column-utf8.RuneCountInString(label), y, label, p.Label)
		p.box.set(x, y, axisTick, p.Axis)
	}
}

// maxColumnTime is the maximum time per column for which the axis has labels.
const maxColumnTime = 24 * time.Hour

// drawNewestLabel draws the label at the end of the time axis.
func (p *plot) drawNewestLabel(y int) {
	now := cmp.Or(p.Newest, "now")
	if n := utf8.RuneCountInString(now); p.cols > 2*n {
		p.box.text(plotLeft+p.cols-n, y, now, p.Label)
	}
}

// chooseLabelInterval returns a round time between labels, which are at least 12 columns apart if the axis,
// cols columns of the given time each, is long enough.
func chooseLabelInterval(column time.Duration, cols int) time.Duration {
	span := column * time.Duration(cols)
	for _, seconds := range []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800} {
		interval := time.Duration(seconds) * time.Second
		if interval/column >= 12 || interval >= span {
			return interval
		}
	}
	return max(span/2, time.Hour)
}

// drawMarkLabels draws a caret below every mark and, if there is room, its label, newest first. The
// label of the newest mark is always drawn, because it confirms the last key.
func (p *plot) drawMarkLabels() {
	labelRow := p.box.H - 1
	taken := make([]bool, p.cols)
	for _, m := range p.Marks {
		if c := p.column(m.At); c >= 0 {
			p.box.set(plotLeft+c, labelRow, cmp.Or(m.Rune, '▲'), m.Style)
			taken[c] = true
		}
	}
	named := make([]bool, p.cols) // columns whose mark has a label, or is covered by one
	for i := len(p.Marks) - 1; i >= 0; i-- {
		m := p.Marks[i]
		c := p.column(m.At)
		if c < 0 || named[c] {
			continue
		}
		named[c] = true
		label := replaceWide(m.Label)
		n := utf8.RuneCountInString(label)
		from, ok := freeColumns(taken, c, n)
		if !ok && i == len(p.Marks)-1 { // the newest mark: its label covers older carets
			from, ok = max(c-1-n, 0), n < c
		}
		if !ok || n == 0 {
			continue
		}
		if from+n < c { // to the left of its caret
			label += " "
		}
		if from > 0 && taken[from-1] { // a label or caret of another mark
			from, n, label = from-1, n+1, " "+label
		}
		p.box.text(plotLeft+from, labelRow, label, m.Style)
		for x := from; x < from+n; x++ {
			taken[x], named[x] = true, true
		}
	}
}

// freeColumns returns the first of n free columns next to column c, to its right if possible, otherwise
// to its left, with a free column at either end; ok is false if none exist.
func freeColumns(taken []bool, c, n int) (from int, ok bool) {
	isFree := func(from, to int) bool { return !slices.Contains(taken[max(from, 0):min(to, len(taken))], true) }
	from = c + 2
	if from+n <= len(taken) && isFree(c+1, from+n+1) {
		return from, true
	}
	from = c - 1 - n
	return from, from >= 0 && isFree(from-1, c)
}

// replaceWide replaces runes that are not one column wide by '?', because users type labels.
func replaceWide(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if ansi.StringWidth(string(r)) != 1 {
			r = '?'
		}
		out = append(out, r)
	}
	return string(out)
}
