package chart

import (
	"time"
	"unicode/utf8"
)

// Series is one line. Its newest value is the last, at Spec.End-1.
type Series struct {
	Values  []float64
	Weights []float64 // for Mean; nil: all alike
	Reduce  Reduce
	Stroke  Stroke
	Ink     Ink
	Loose   bool // may lie off the chart, along its edge, where it would squash those that may not
	Sign    rune // stands on the line every so often, to tell it from others of its stroke; 0: none
}

// Rule is a horizontal guide, such as a budget. The axis reaches up to it
// unless that would squash the data; then its name stands at the upper edge.
type Rule struct {
	Value float64
	Ink   Ink
	Name  string
}

// Mark points at a moment.
type Mark struct {
	At    int64 // index on the time line, as Spec.End
	Label string
	Ink   Ink
	Rune  rune // what points at it on the axis; 0: a caret
}

// Spec is what to draw.
type Spec struct {
	End    int64         // index after the newest value on an endless time line
	Per    int           // values per column
	Span   int           // in place of Per: values that the plot is to hold, as wide as there is room for
	Step   time.Duration // between two values
	Areas  []Area        // stacked, the first at the bottom; they lie under the series
	Series []Series      // later ones lie over earlier ones
	Rules  []Rule
	Marks  []Mark
	Floor  float64   // the top of the axis is at least this
	Whole  float64   // what the parts make together, if they are shares: the axis is a quarter of it by a quarter
	Since  int64     // index on the time line; what is older may lie off the chart where it would squash what is not
	Time   bool      // a row for the time axis
	Labels bool      // a row for the labels of the marks
	Newest string    // what the end of the time axis is called; "": now
	Aside  []Stretch // the scale does not go by these; where they lie off the chart there is an Apart
	Apart  rune
	Fit    bool // the axis goes by the data, wherever they lie, and need not begin at zero; not with Areas
	Fine   bool // lines of Braille dots; not with ASCII, nor with Areas
	ASCII  bool

	Blank, Axis, Label, Tick Ink // ground, axis lines, axis labels, the lines of marks
}

// Draw returns a box of exactly w x h cells. What does not fit is left out:
// first the labels of marks, then the time axis, then everything.
func Draw(s *Spec, w, h int) *Box {
	b := newBox(w, h, s.Blank)
	p := plan(s, b)
	if p.rows < 2 || p.cols < 2 {
		return b
	}
	dots := make([][]float64, len(s.Series))
	for i := range s.Series {
		dots[i] = p.gather(&s.Series[i])
	}
	layers := s.layers(p.grid, p.cols)
	apart := p.aside()
	p.bounds = p.axis(p.bearing(dots, heights(layers), apart))
	p.rules()
	p.ticks()
	p.stack(layers)
	p.lines(dots)
	for i, line := range s.Series {
		p.off(dots[i], apart, line.Ink)
	}
	p.off(heights(layers), apart, s.Label)
	p.signs(dots)
	p.farRules()
	p.valueAxis()
	if p.timeRow >= 0 {
		p.timeAxis()
	}
	if p.labelRow >= 0 {
		p.labels()
	}
	return b
}

// width returns how many columns the plot inside a box of w columns has.
func width(w int) int { return max(w-gutter-1, 0) }

// plot is where things lie in a box.
type plot struct {
	*Spec
	box               *Box
	left, cols, rows  int
	wide              int // dots a column
	timeRow, labelRow int // -1: none
	bounds            bounds
	grid
}

func plan(s *Spec, b *Box) *plot {
	p := &plot{Spec: s, box: b, left: gutter + 1, cols: width(b.W), rows: b.H, wide: 1, timeRow: -1, labelRow: -1}
	if s.fine() {
		p.wide = fineWide
	}
	p.grid = s.grid(p.cols, p.wide)
	if s.Time && p.rows >= 3 {
		p.rows--
		p.timeRow = p.rows
	}
	if s.Labels && p.rows >= 4 {
		p.rows--
		p.labelRow = p.timeRow
		if p.timeRow >= 0 {
			p.timeRow--
		} else {
			p.labelRow = p.rows
		}
	}
	return p
}

// rules draws the guides that lie within the bounds, with gaps so that no line
// of data looks like them.
func (p *plot) rules() {
	r := '┈'
	if p.ASCII {
		r = '.'
	}
	for _, rule := range p.Rules {
		if !finite(rule.Value) || rule.Value > p.bounds.hi || rule.Value < p.bounds.lo {
			continue
		}
		for x := p.cols - 1; x >= 0; x -= 2 {
			p.box.set(p.left+x, p.bounds.row(rule.Value, p.rows), r, rule.Ink)
		}
	}
}

// farRules names at the upper edge the guides that lie above the chart.
func (p *plot) farRules() {
	up := " ↑ "
	if p.ASCII {
		up = " ^ "
	}
	x := 1
	for _, rule := range p.Rules {
		if text := " " + plain(rule.Name) + up; rule.Name != "" && rule.Value > p.bounds.hi && x+utf8.RuneCountInString(text) <= p.cols {
			x = p.box.text(p.left+x, 0, text, rule.Ink) - p.left
		}
	}
}

// fine says whether lines are made of dots.
func (s *Spec) fine() bool { return s.Fine && !s.ASCII && len(s.Areas) == 0 }

// lines draws the lines, later ones over earlier ones.
func (p *plot) lines(dots [][]float64) {
	if p.fine() {
		p.fineLines(dots)
		return
	}
	for i, line := range p.Series {
		rows := make([]float64, len(dots[i]))
		for x, v := range dots[i] {
			rows[x] = p.bounds.scale(v, p.rows)
		}
		trace(rows, p.rows, line.Stroke.chars(p.ASCII), func(x, y int, r rune) {
			p.box.set(p.left+x, y, r, line.Ink)
		})
	}
}

// off marks along the upper edge the columns that lie above the chart.
func (p *plot) off(dots []float64, apart []bool, k Ink) {
	above := '▲'
	if p.ASCII {
		above = '^'
	}
	half := (p.bounds.hi - p.bounds.lo) / float64(p.rows-1) / 2
	for x, v := range dots {
		if !finite(v) || v <= p.bounds.hi+half {
			continue
		}
		r := above
		if apart != nil && apart[x] && p.Apart != 0 {
			r = p.Apart
		}
		p.box.set(p.left+x/p.wide, 0, r, k)
	}
}

// ticks draws the line of every mark through the plot, behind the data.
func (p *plot) ticks() {
	r := '┊'
	if p.ASCII {
		r = ':'
	}
	for _, m := range p.Marks {
		if c := p.column(m.At); c >= 0 {
			// On every other row it is line enough, and the rest of the rows need
			// not be sent again when the picture scrolls.
			for y := p.rows - 1; y >= 0; y -= 2 {
				p.box.set(p.left+c, y, r, p.Tick)
			}
		}
	}
}

// valueAxis draws the vertical axis with its numbers.
func (p *plot) valueAxis() {
	line, tick, cut := '│', '┤', '≈'
	if p.ASCII {
		line, tick, cut = '|', '+', '~'
	}
	for y := range p.rows {
		p.box.set(gutter, y, line, p.Axis)
	}
	for y := p.rows - 1; y >= 0; y-- {
		at := p.bounds.base + p.rows - 1 - y
		if at%p.bounds.every != 0 {
			continue
		}
		v := float64(at/p.bounds.every) * p.bounds.step
		if p.Whole > 0 && v > p.Whole {
			continue
		}
		s := label(v, p.bounds.step)
		p.box.text(gutter-utf8.RuneCountInString(s), y, s, p.Label)
		p.box.set(gutter, y, tick, p.Axis)
	}
	if p.bounds.lo > 0 { // the axis does not begin at zero
		p.box.Cut = true
		p.box.set(gutter, p.rows-1, cut, p.Axis)
	}
}
