package repaint

import (
	"bytes"
	"unicode/utf8"
)

// run is a stretch of a line that is written at once, in one style. done is for
// whoever writes runs out of order.
type run struct {
	from, to int
	style    []byte // nil for blanks, which may be written in any colour
	done     bool
}

// fits reports whether the run may be written while style is in force.
func (r *run) fits(style []byte) bool {
	if r.style == nil {
		return bare(style)
	}
	return bytes.Equal(r.style, style)
}

// bare reports whether nothing of a style is seen in a blank.
func bare(style []byte) bool { return len(style) == 0 || foreground(style) }

// short is how many bytes that did not change are rather written again than
// jumped over: a jump is four.
const short = 4

// appendRuns appends the runs of cells of now that differ from old.
func appendRuns(runs []run, old, now *line) []run {
	first := len(runs)
	for i := range now.cells {
		if old.same(now, i) {
			continue
		}
		r := run{from: i, to: i + 1}
		if now.cells[i] != blank {
			r.style = now.style(i)
			if r.style == nil {
				r.style = []byte{}
			}
		}
		if n := len(runs); n > first && runs[n-1].join(now, &r) {
			continue
		}
		runs = append(runs, r)
	}
	return runs
}

// join takes over r, which follows, if both and what is between them can be
// written in one style.
func (l *run) join(now *line, r *run) bool {
	style := l.style
	if style == nil {
		style = r.style
	}
	if !l.fits(style) || !r.fits(style) {
		return false
	}
	between := 0
	for i := l.to; i < r.from; i++ {
		between += utf8.RuneLen(now.cells[i].r)
		if between > short || !now.fits(i, style) {
			return false
		}
	}
	l.to, l.style = r.to, style
	return true
}

// pen is where the cursor is in line y, and the style in force.
type pen struct {
	y, x  int // x is -1 while the cursor is elsewhere
	style []byte
}

// appendRun appends a run of the line.
func (p *pen) appendRun(b []byte, l *line, r *run) []byte {
	switch {
	case p.x < 0:
		b = appendPlace(b, p.y, r.from)
	case p.x < r.from:
		b = appendJump(b, r.from-p.x)
	case p.x > r.from:
		b = appendColumn(b, r.from)
	}
	if !r.fits(p.style) {
		b, p.style = appendStyle(b, p.style, r.style), r.style
	}
	for i := r.from; i < r.to; i++ {
		b = utf8.AppendRune(b, l.cells[i].r)
	}
	p.x = r.to
	return b
}

// appendInOrder appends runs from left to right.
func (p *pen) appendInOrder(b []byte, l *line, runs []run) []byte {
	for i := range runs {
		b = p.appendRun(b, l, &runs[i])
	}
	return b
}

// appendByStyle appends runs style by style: where colours alternate, to go back
// in the line costs less than to change the colour for every run.
func (p *pen) appendByStyle(b []byte, l *line, runs []run) []byte {
	for r := firstOf(runs, p.style); r != nil; r = firstOf(runs, p.style) {
		style := r.style
		if r.fits(p.style) {
			style = p.style
		}
		for i := range runs {
			if r := &runs[i]; !r.done && r.fits(style) {
				b = p.appendRun(b, l, r)
				r.done = true
			}
		}
	}
	return b
}

// firstOf returns the run to go on with: the leftmost of those in the style in
// force, else the leftmost; nil if all are done.
func firstOf(runs []run, style []byte) (first *run) {
	for i := range runs {
		r := &runs[i]
		if r.done {
			continue
		}
		if r.fits(style) {
			return r
		}
		if first == nil {
			first = r
		}
	}
	return first
}
