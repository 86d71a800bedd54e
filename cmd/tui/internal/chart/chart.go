package chart

import (
	"math"
	"time"
	"unicode/utf8"
)

// Series is one line. Its newest value is the last, at Spec.End-1.
type Series struct {
	Values  []float64
	Weights []float64 // of the values in a Mean; nil means equal
	Reduce  Reducer
	Stroke  Stroke
	Style   Style
	Loose   bool // may leave the chart at the top instead of flattening the other lines
	Marker  rune // drawn on the line at intervals, to distinguish lines of one stroke; 0 means none

	ClipAbove bool // values above the chart are not drawn; otherwise the line continues at its edge, with marks
}

// Rule is a horizontal line with a name, such as a budget. The axis includes it unless that would flatten the data;
// then its name is shown at the upper edge.
type Rule struct {
	Value float64
	Style Style
	Name  string
}

// Mark marks an instant on the time line.
type Mark struct {
	At    int64 // index of a value on the endless time line, counted like Spec.End
	Label string
	Style Style
	Rune  rune // drawn below the instant; 0 means a caret
}

// Spec is what to draw.
type Spec struct {
	End               int64         // index after the newest value on an endless time line
	Per               int           // values per column
	Span              int           // if positive, replaces Per: values that the whole plot shows
	Step              time.Duration // time between two values
	Window            int           // if positive, means are over this number of values, which end with the newest of the dot
	Areas             []Area        // stacked, the first at the bottom; series are drawn over them
	Series            []Series      // later ones are drawn over earlier ones
	Rules             []Rule
	Marks             []Mark
	Crosshair         *Crosshair // nil for none
	Floor             float64    // the top of the axis is at least this
	Whole             float64    // if positive, the sum of the areas, which are shares; the axis has labels at its quarters
	Time              bool       // draw the time axis below the plot
	Labels            bool       // draw the labels of the marks
	Newest            string     // label at the end of the time axis; "" means "now"
	UnscaledIntervals []Interval // intervals that do not affect the scale
	UnscaledRune      rune       // marks values in UnscaledIntervals that are above the chart; 0 means a triangle
	Fit               bool       // the axis fits the data and need not include 0; ignored with Areas
	Fine              bool       // draw lines as Braille dots; ignored with Areas

	Blank, Axis, Label, Tick Style // of empty cells, axes, axis labels, and the vertical lines of marks
}

// meanSpan returns the number of values before the newest one that a mean of s can include.
func (s *Spec) meanSpan() int { return max(s.Window-1, 0) }

// Draw returns a box of exactly w x h cells. If the box is too small it omits the labels of marks, then
// the time axis, then everything.
func Draw(s *Spec, w, h int) *Box {
	b := newBox(w, h, s.Blank)
	p := newPlot(s, b)
	if p.rows < 2 || p.cols < 2 {
		return b
	}
	dots := make([][]float64, len(s.Series))
	for i := range s.Series {
		dots[i] = p.gather(&s.Series[i])
	}
	layers := s.gatherAreas(p.grid, p.cols)
	unscaled := p.unscaledDots() // dots whose values do not affect the value axis
	// Later elements are drawn over earlier ones.
	p.bounds = p.chooseBounds(p.scaledValues(dots, stackHeights(layers), unscaled))
	for i, line := range s.Series {
		if line.ClipAbove {
			p.clipAbove(dots[i])
		}
	}
	p.drawRules()
	p.drawMarkLines()
	p.drawStack(layers)
	p.drawLines(dots)
	for i, line := range s.Series {
		p.markOffChart(dots[i], unscaled, line.Style)
	}
	p.markOffChart(stackHeights(layers), unscaled, s.Label) // the stack has several styles; its marker gets that of labels
	p.drawMarkers(dots)
	p.drawRuleNames()
	p.drawCrosshair()
	p.drawValueAxis()
	if p.hasTime {
		p.drawTimeAxis()
	}
	if p.hasMarks {
		p.drawMarkLabels()
	}
	return b
}

// plotLeft is the left column of the plot inside a box.
const plotLeft = gutter + 1

// plotWidth returns the columns of the plot inside a box of w columns.
func plotWidth(w int) int { return max(w-plotLeft, 0) }

// plot is a Spec with the layout of its box.
type plot struct {
	*Spec
	box               *Box
	cols, rows        int  // size of the plot without axes
	dotsPerColumn     int  // 2 for fine lines, otherwise 1
	hasTime, hasMarks bool // the time axis, below the plot, and the labels of marks, in the last row of the box, are drawn
	bounds            bounds
	grid
}

// newPlot lays out the plot of s in box b: below the plot the time axis, and below that the labels of marks,
// if there are rows for them.
func newPlot(s *Spec, b *Box) *plot {
	p := &plot{Spec: s, box: b, cols: plotWidth(b.W), rows: b.H, dotsPerColumn: 1}
	if s.drawsFine() {
		p.dotsPerColumn = fineDotsAcross
	}
	p.grid = s.grid(p.cols, p.dotsPerColumn)
	p.hasTime = s.Time && p.rows >= 3
	if p.hasTime {
		p.rows--
	}
	p.hasMarks = s.Labels && p.rows >= 4
	if p.hasMarks {
		p.rows--
	}
	return p
}

// drawRules draws the rules within the bounds, with gaps so that they differ from lines of data.
func (p *plot) drawRules() {
	for _, rule := range p.Rules {
		if !isFinite(rule.Value) || rule.Value > p.bounds.hi || rule.Value < p.bounds.lo {
			continue
		}
		for x := p.cols - 1; x >= 0; x -= 2 {
			p.box.set(plotLeft+x, p.bounds.row(rule.Value, p.rows), '┈', rule.Style)
		}
	}
}

// drawRuleNames draws the names of the rules, each to the right of the one before it, on their lines or, for rules above the
// chart, at the upper edge.
func (p *plot) drawRuleNames() {
	x := 1
	for _, rule := range p.Rules {
		text := " " + replaceWide(rule.Name) + " "
		if rule.Value > p.bounds.hi {
			text += "↑ "
		}
		fits := x+utf8.RuneCountInString(text) <= p.cols
		if isFinite(rule.Value) && rule.Value >= p.bounds.lo && fits {
			x = p.box.text(plotLeft+x, p.bounds.row(rule.Value, p.rows), text, rule.Style) - plotLeft
		}
	}
}

// drawsFine reports whether lines are drawn as Braille dots.
func (s *Spec) drawsFine() bool { return s.Fine && len(s.Areas) == 0 }

// drawLines draws all series. dots[i] has one value for each dot of p.Series[i]: each column of the plot has one dot or,
// if lines are fine, two.
func (p *plot) drawLines(dots [][]float64) {
	if p.drawsFine() {
		p.fineLines(dots)
		return
	}
	for i, line := range p.Series {
		rows := make([]float64, len(dots[i]))
		for x, v := range dots[i] {
			rows[x] = p.bounds.scale(v, p.rows)
		}
		trace(rows, p.rows, line.Stroke.chars(), func(x, y int, r rune) {
			p.box.set(plotLeft+x, y, r, line.Style)
		})
	}
}

// isAbove reports whether a value is more than half a row above the chart.
func (p *plot) isAbove(v float64) bool {
	return v > p.bounds.hi+(p.bounds.hi-p.bounds.lo)/float64(p.rows-1)/2
}

// clipAbove replaces the values above the chart by gaps.
func (p *plot) clipAbove(dots []float64) {
	for i, v := range dots {
		if p.isAbove(v) {
			dots[i] = math.NaN()
		}
	}
}

// markOffChart marks, at the upper edge, the columns of values more than half a row above the chart. dots
// has one value per dot. Dots with unscaled[dot] get the marker UnscaledRune; a nil unscaled means none.
func (p *plot) markOffChart(dots []float64, unscaled []bool, style Style) {
	for dot, v := range dots {
		if !isFinite(v) || !p.isAbove(v) {
			continue
		}
		r := '▲'
		if unscaled != nil && unscaled[dot] && p.UnscaledRune != 0 {
			r = p.UnscaledRune
		}
		p.box.set(plotLeft+dot/p.dotsPerColumn, 0, r, style)
	}
}

// drawMarkLines draws a vertical line at every mark, behind the data.
func (p *plot) drawMarkLines() {
	for _, m := range p.Marks {
		if c := p.column(m.At); c >= 0 {
			// Every other row is enough, and saves output when the picture scrolls.
			for y := p.rows - 1; y >= 0; y -= 2 {
				p.box.set(plotLeft+c, y, '┊', p.Tick)
			}
		}
	}
}

// drawValueAxis draws the vertical axis with its labels. If it begins above 0, it marks the lower end.
func (p *plot) drawValueAxis() {
	for y := range p.rows {
		p.box.set(gutter, y, '│', p.Axis)
	}
	for y := p.rows - 1; y >= 0; y-- {
		rowsAboveZero := p.bounds.fromZero(y, p.rows)
		if rowsAboveZero%p.bounds.rowsPerLabel != 0 {
			continue
		}
		v := float64(rowsAboveZero/p.bounds.rowsPerLabel) * p.bounds.step
		if p.Whole > 0 && v > p.Whole { // no share is larger than the whole
			continue
		}
		s := formatLabel(v, p.bounds.step, max(p.bounds.hi, -p.bounds.lo))
		p.box.text(gutter-utf8.RuneCountInString(s), y, s, p.Label)
		p.box.set(gutter, y, '┤', p.Axis)
	}
	if p.bounds.lo > 0 { // the axis does not include 0
		p.box.set(gutter, p.rows-1, '≈', p.Axis)
	}
}
