package table

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// division is a way to divide the rows of a log into frames, with what the columns that may identify things do in it.
type division struct {
	list  string // JSON Lines: path of the list of rows; "" if a line is a row
	frame int    // column that identifies frames; -1: each line is a frame
	round int    // column with whose changes the numbers of frames begin again, -1 if none
	key   int    // column that identifies things, -1 if none does
	keys  []identity

	label, next []byte // of the newest frame, and room for the next one
	frames      int
	rows        int // number of all rows
	first       int // number of rows of the first frame
	inFrame     int // number of rows of the newest frame so far
	most, least int // number of rows of a frame
}

// identity is what a column does that may identify things.
type identity struct {
	column  int
	seen    map[string]int // by value: the newest frame with it; nil if the column identifies nothing
	returns int            // number of rows whose value the frame before had too
	repeats int            // number of rows whose value is that of an earlier row of the frame
	line    int            // of the first of these
}

// begins reports whether a row begins a frame.
func (d *division) begins(cells [][]byte, line int) bool {
	label := d.next[:0]
	if d.frame < 0 || d.list != "" {
		label = strconv.AppendInt(label, int64(line), 10)
	} else {
		label = append(label, cells[d.frame]...)
	}
	if d.round >= 0 && cells != nil {
		label = append(append(label, 0), cells[d.round]...)
	}
	if bytes.Equal(label, d.label) {
		return false
	}
	d.label, d.next = label, d.label
	return true
}

// add adds a row. cells is nil for a frame without rows.
func (d *division) add(cells [][]byte, line int) {
	if d.begins(cells, line) {
		d.endFrame()
		d.frames++
		for i := range d.keys {
			d.keys[i].forget(d.frames)
		}
	}
	if cells == nil {
		return
	}
	d.rows++
	d.inFrame++
	for i := range d.keys {
		d.keys[i].add(cells[d.keys[i].column], d.frames, line)
	}
}

// endFrame ends the newest frame, if any, and updates the numbers of rows of a frame.
func (d *division) endFrame() {
	switch d.frames {
	case 0:
		return
	case 1:
		d.first = d.inFrame
		d.least = d.inFrame
	}
	d.most = max(d.most, d.inFrame)
	d.least = min(d.least, d.inFrame)
	d.inFrame = 0
}

// add adds a value in a frame.
func (k *identity) add(cell []byte, frame, line int) {
	if k.seen == nil || len(cell) > maxKey || len(k.seen) > maxRows || k.repeats > maxTracked {
		k.seen = nil
		return
	}
	last := k.seen[string(cell)]
	if last == frame {
		if k.repeats == 0 {
			k.line = line
		}
		k.repeats++
	} else if last > 0 && last == frame-1 {
		k.returns++
	}
	k.seen[string(cell)] = frame
}

// forget drops values that were last seen two frames before the given one, or earlier.
func (k *identity) forget(frame int) {
	if len(k.seen) > maxTracked {
		maps.DeleteFunc(k.seen, func(_ string, last int) bool { return last < frame-1 })
	}
}

// identify returns the index in d.keys of the column that identifies things, -1 if none does: its values differ in a frame,
// but for one row in 50, and most return in the next frame. Fewer need return if the column has the name of a key.
func (g *guess) identify(d *division) int {
	later := d.rows - d.first
	for _, allowed := range []int{0, d.rows / 50} {
		for i := range d.keys {
			k := &d.keys[i]
			named := g.columns[k.column].keyRank() > 0
			returning := 4*k.returns > 3*later || named && (d.most > d.least || 2*k.returns > later)
			if d.most > 1 && k.seen != nil && k.repeats <= allowed && returning {
				return i
			}
		}
	}
	return -1
}

// Names of columns, the most probable first.
var (
	frameNames = []string{"tick", "frame", "step", "snapshot", "turn", "seq"}
	timeNames  = []string{"time", "timestamp", "seconds", "sec", "ms", "t", "ts", "clock", "elapsed"}
	keyNames   = []string{"id", "key", "guid", "uuid", "uid", "eid", "netid", "entity", "handle", "name", "player", "unit", "actor", "object", "slot", "index"}
)

// isOrdered reports whether column i has an order that it keeps, but for one row in 50, and may thus identify frames.
// Coordinates do not.
func (g *guess) isOrdered(i int) bool {
	p := &g.columns[i]
	_, axis := splitAxis(p.name)
	isCoordinate := axis >= 0 && !g.isFrame(i)
	isValued := p.numbers+p.times == g.rows // every row has a number or a time
	keepsOrder := p.runs > 1 && 50*p.late <= g.rows
	return !isCoordinate && isValued && keepsOrder && g.isNamed(i) && g.mayFrameList(i)
}

// mayFrameList reports whether column i may identify frames although the rows of a frame are a list within a line of JSON:
// then the column is outside the list.
func (g *guess) mayFrameList(i int) bool { return g.list == "" || g.columns[i].around }

// isTime reports whether column i is a time by its name or its form.
func (g *guess) isTime(i int) bool {
	p := &g.columns[i]
	return p.times == g.rows || p.named(timeNames...)
}

// isFrame reports whether column i identifies frames by its name or its form.
func (g *guess) isFrame(i int) bool { return g.isTime(i) || g.columns[i].named(frameNames...) }

// score returns how probable it is that d.frame identifies the frames, and sets d.key. The way with a frame for each line
// scores 4, so that a column needs at least 5 points.
func (g *guess) score(d *division) (score int) {
	if i := g.identify(d); i >= 0 {
		d.keys[0], d.keys[i] = d.keys[i], d.keys[0]
		d.key = d.keys[0].column
	}
	if d.frame < 0 {
		return 4
	}
	p := &g.columns[d.frame]
	for _, evidence := range []struct {
		holds  bool
		points int
	}{
		{d.key >= 0 && d.list == "", 8}, // ids repeat when the frame changes
		{p.named(frameNames...), 6},
		{g.isTime(d.frame), 5},
		{p.whole, 1},
		{p.runs < g.rows, 1},      // rows share a frame
		{p.uneven*5 <= p.runs, 1}, // most steps are of one size
		{p.late == 0, 1},
		{d.frame == 0, 1},
		{p.keyRank() > 0, -3},
	} {
		if evidence.holds {
			score += evidence.points
		}
	}
	return score
}

// keyRank returns the rank of the column's name among keyNames; 0 means that the name is not that of a key.
func (p *profile) keyRank() int { return nameRank(p.name, keyNames) }

// mayBeKey reports whether column i may identify things: its cells are texts or whole numbers, and its name is
// neither that of a frame nor that of a coordinate.
func (g *guess) mayBeKey(i int) bool {
	p := &g.columns[i]
	exact := p.texts == g.rows || p.whole && p.numbers == g.rows
	_, axis := splitAxis(p.name)
	candidate := p.keyRank() > 0 || axis < 0 && !g.isFrame(i)
	return exact && candidate && !p.around && g.isNamed(i)
}

// divisions returns ways to divide the rows into frames. The first has a frame for each line. In others a column
// that keeps an order identifies the frames, or a column that falls does together with a round, a column that
// changes whenever the first one falls.
func (g *guess) divisions() (list []*division) {
	const maxDivisions, maxKeys = 8, 6 // bound the memory
	add := func(frame, round int) {
		d := &division{list: g.list, frame: frame, round: round, key: -1}
		for i := range g.columns {
			if i != frame && i != round && g.mayBeKey(i) {
				d.keys = append(d.keys, identity{column: i, seen: map[string]int{}})
			}
		}
		slices.SortStableFunc(d.keys, func(a, b identity) int {
			return g.columns[b.column].keyRank() - g.columns[a.column].keyRank()
		})
		d.keys = d.keys[:min(len(d.keys), maxKeys)]
		list = append(list, d)
	}
	add(-1, -1)
	for n := range 2 * len(g.columns) { // the first pass is for columns that are named like frames, the second for others
		i := n % len(g.columns)
		isFirstPass := n == i
		if g.isFrame(i) != isFirstPass || len(list) == maxDivisions {
			continue
		}
		p := &g.columns[i]
		round := slices.IndexFunc(g.columns, func(r profile) bool {
			isKey := r.keyRank() > 0 // the log is sorted by things
			return r.runs == p.falls+1 && r.empty == 0 && r.around == p.around && !isKey && isPrintableName(r.name)
		})
		isCount := p.whole && p.numbers == g.rows
		switch {
		case g.isOrdered(i):
			add(i, -1)
		case p.falls > 0 && round >= 0 && isCount && g.mayFrameList(i):
			add(i, round)
		}
	}
	return list
}

// findFrames determines the columns of the frame, the round, the key and the time.
func (g *guess) findFrames() error {
	list := g.divisions()
	read := 0
	err := g.each(maxDetailed, func(cells [][]byte, line int) {
		read++
		for _, d := range list {
			d.add(cells, line)
		}
	})
	best := 0
	for _, d := range list {
		if read < maxDetailed || d.frames == 1 {
			d.endFrame() // otherwise the last frame is cut
		}
		if score := g.score(d); score > best {
			best = score
			g.division = d
		}
	}
	for i, p := range g.columns {
		isBetter := g.time < 0 || p.times > 0 || nameRank(p.name, timeNames) > nameRank(g.columns[g.time].name, timeNames)
		if g.isOrdered(i) && g.isTime(i) && isBetter {
			g.time = i
		}
	}
	if g.time < 0 && g.frame >= 0 && !g.columns[g.frame].named(frameNames...) {
		g.time = g.frame
	}
	return err
}

// strayReason describes rows that do not fit the frames and keys. It returns "" if all rows fit.
func (g *guess) strayReason() (reason string) {
	if g.frame >= 0 && g.columns[g.frame].late > 0 && g.round < 0 {
		p := &g.columns[g.frame]
		reason = fmt.Sprintf("%s falls, first in line %d. ", p.name, p.fallLine)
	}
	if g.key >= 0 && g.keys[0].repeats > 0 {
		reason += fmt.Sprintf("%s is twice in a frame, first in line %d. ", g.columns[g.key].name, g.keys[0].line)
	}
	return reason
}

// isQuaternion reports whether four columns may be the components of a unit quaternion.
func isQuaternion(columns []profile) bool {
	fractions := false
	for i := range columns {
		p := &columns[i]
		if p.numbers == 0 || p.texts+p.bools > 0 || math.Max(-p.min, p.max) > 1.01 {
			return false
		}
		fractions = fractions || !p.whole
	}
	return fractions
}
