package repaint

import (
	"bytes"
	"unicode/utf8"
)

// run is a range of cells of a line that are written together in one style.
type run struct {
	from, to int
	style    []byte // nil for blanks, which may be written in any foreground colour
	written  bool   // used by appendByStyle
}

// fits reports whether the run can be written while style is the active one: it has this style, or it consists of blanks
// and style has at most a foreground colour.
func (r *run) fits(style []byte) bool {
	if r.style == nil {
		return isBare(style)
	}
	return bytes.Equal(r.style, style)
}

// isBare reports whether a style is invisible in a space.
func isBare(style []byte) bool { return len(style) == 0 || isForeground(style) }

// maxRewrite is the number of unchanged bytes that are rewritten rather than skipped; the sequence to
// skip them takes four bytes.
const maxRewrite = 4

// appendRuns appends the runs of cells of now that differ from old, which has as many cells. Runs of one style
// that are close together are merged.
func appendRuns(runs []run, old, now *line) []run {
	first := len(runs)
	for i := range now.cells {
		if old.equalCell(now, i) {
			continue
		}
		r := run{from: i, to: i + 1}
		if now.cells[i] != blank {
			r.style = now.style(i)
			if r.style == nil {
				r.style = []byte{} // no style; nil would mean a blank
			}
		}
		if n := len(runs); n > first && runs[n-1].merge(now, &r) {
			continue
		}
		runs = append(runs, r)
	}
	return runs
}

// merge extends r by the following run next of line now, if both and the cells between them can be written in
// one style, and these cells take at most maxRewrite bytes. It reports whether it did.
func (r *run) merge(now *line, next *run) bool {
	style := r.style
	if style == nil { // r consists of blanks, which fit any foreground colour
		style = next.style
	}
	if !r.fits(style) || !next.fits(style) {
		return false
	}
	bytesBetween := 0
	for i := r.to; i < next.from; i++ {
		bytesBetween += utf8.RuneLen(now.cells[i].r)
		if bytesBetween > maxRewrite || !now.matchesStyle(i, style) {
			return false
		}
	}
	r.to, r.style = next.to, style
	return true
}

// cursor is the state of the terminal's cursor in line y: its column and the current style.
type cursor struct {
	y, x  int // x is -1 if the cursor is not in the line
	style []byte
}

// appendRun appends the output that moves the cursor to a run of line l and writes the run. p.x is the
// column of the cursor, negative if the cursor is not in the line yet.
func (p *cursor) appendRun(b []byte, l *line, r *run) []byte {
	switch {
	case p.x < 0:
		b = appendMoveTo(b, p.y, r.from)
	case p.x < r.from:
		b = appendForward(b, r.from-p.x)
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
func (p *cursor) appendInOrder(b []byte, l *line, runs []run) []byte {
	for i := range runs {
		b = p.appendRun(b, l, &runs[i])
	}
	return b
}

// appendByStyle appends runs style by style. If colours alternate, moving back in the line takes fewer
// bytes than changing the colour for every run.
func (p *cursor) appendByStyle(b []byte, l *line, runs []run) []byte {
	for r := nextRun(runs, p.style); r != nil; r = nextRun(runs, p.style) {
		style := r.style
		if r.fits(p.style) {
			style = p.style
		}
		for i := range runs {
			if other := &runs[i]; !other.written && other.fits(style) { // other may be r itself
				b = p.appendRun(b, l, other)
				other.written = true
			}
		}
	}
	return b
}

// nextRun returns the next run to write: the leftmost one in the current style, otherwise the leftmost
// one; nil if all are written.
func nextRun(runs []run, style []byte) (first *run) {
	for i := range runs {
		r := &runs[i]
		if r.written {
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
