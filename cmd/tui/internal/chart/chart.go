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
// unless that would squash the data.
type Rule struct {
	Value float64
	Ink   Ink
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
	Step   time.Duration // between two values
	Areas  []Area        // stacked, the first at the bottom; they lie under the series
	Series []Series      // later ones lie over earlier ones
	Rules  []Rule
	Marks  []Mark
	Floor  float64 // the top of the axis is at least this
	Time   bool    // a row for the time axis
	Labels bool    // a row for the labels of the marks
	Newest string  // what the end of the time axis is called; "": now
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
	reduced := make([][]float64, len(s.Series))
	for i, line := range s.Series {
		reduced[i] = Columns(line.Values, line.Weights, s.End, p.per, p.cols, line.Reduce)
	}
	layers := s.layers(p.per, p.cols)
	lo, hi := reach(bearing(s, reduced, heights(layers)), s.Rules, s.Floor)
	p.bounds = fixBounds(lo, hi, p.rows)
	p.rules()
	p.ticks()
	p.stack(layers)
	for i, line := range s.Series {
		trace(reduced[i], p.rows, p.bounds, line.Stroke.chars(s.ASCII), func(x, y int, r rune) {
			b.set(p.left+x, y, r, line.Ink)
		})
	}
	p.signs(reduced)
	p.valueAxis()
	if p.timeRow >= 0 {
		p.timeAxis()
	}
	if p.labelRow >= 0 {
		p.labels()
	}
	return b
}

// Width returns how many columns the plot inside a box of w columns has.
func Width(w int) int { return max(w-gutter-1, 0) }

// plot is where things lie in a box.
type plot struct {
	*Spec
	box               *Box
	left, cols, rows  int
	per               int
	timeRow, labelRow int // -1: none
	bounds            bounds
}

func plan(s *Spec, b *Box) *plot {
	p := &plot{Spec: s, box: b, left: gutter + 1, cols: Width(b.W), rows: b.H, per: max(s.Per, 1), timeRow: -1, labelRow: -1}
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

// column returns the column of a moment, or -1.
func (p *plot) column(at int64) int {
	if at < 0 || p.End <= 0 {
		return -1
	}
	per := int64(p.per)
	c := int64(p.cols-1) - ((p.End-1)/per - min(at, p.End-1)/per)
	if c < 0 {
		return -1
	}
	return int(c)
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
	line, tick := '│', '┤'
	if p.ASCII {
		line, tick = '|', '+'
	}
	for y := range p.rows {
		p.box.set(gutter, y, line, p.Axis)
	}
	zero := p.bounds.row(0, p.rows)
	for y := p.rows - 1; y >= 0; y-- {
		if (zero-y)%p.bounds.every != 0 {
			continue
		}
		s := Number(float64((zero-y)/p.bounds.every) * p.bounds.step)
		p.box.text(gutter-utf8.RuneCountInString(s), y, s, p.Label)
		p.box.set(gutter, y, tick, p.Axis)
	}
}
