package states

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// plan holds what the codec derives from a schema.
type plan struct {
	schema     *frame.Schema
	fields     int
	rows       int
	cols       []fieldPlan
	parts      []part
	partOf     []uint8 // by row: index of its part
	groups     []group
	slots      int  // number of histories of rows
	cells      int  // number of values in them
	velocities int  // number of fields with clusters of steps
	memory     int  // of a memo, in bytes
	now        cell // the time of frames
}

// cell is a place in a table. A row of -1 means none.
type cell struct{ row, field int }

// sort is the way in which a field is coded.
type sort uint8

const (
	numbers sort = iota
	symbols
	switches
)

// fieldPlan describes a field.
type fieldPlan struct {
	column.Range
	kind  frame.Kind
	role  frame.Role
	sort  sort
	alike int // the first field of the same statistics
	group int // index of its group; -1 if none
	axis  int
	rides int     // the field of the place that carries this place; -1 if none
	step  float64 // of floats: most are multiples of it; 0 if unknown
	turn  float64 // values wrap at this difference; 0 if they do not
	clock bool
	steps int   // of velocities: index of its cluster of steps
	rate  int64 // of places: per unit of velocity and time, in 2^-32
}

// group is a place and its velocity.
type group struct {
	at, velocity [maxAxes]int // fields; -1 if none
	clock        int          // the field of its time; -1 for the time of the frame
	drag, stop   int64        // per unit of time in 2^-32; in 2^-8 units of the velocity
	driven       bool         // see drive
	slot         int          // index among the groups of its part
}

const (
	maxAxes   = 3
	maxGroups = 4 // of a part
)

// part is a range of rows that use the same fields.
type part struct {
	row, rows     int
	field, fields int
	present, kind int   // fields of these roles; -1 if none
	order, fresh  []int // fields of a row that was there, and of a new one, in the order of coding
	groups        []int
	bits          uint // of a row's index
	slot, slots   int  // of its rows' histories
	cell          int  // the first value of those
}

func newPlan(s *frame.Schema) *plan {
	p := &plan{schema: s, fields: len(s.Fields), rows: s.Rows, now: cell{-1, -1}, partOf: make([]uint8, s.Rows)}
	for i := range s.Fields {
		f := &s.Fields[i]
		c := fieldPlan{Range: column.RangeOf(f), kind: f.Kind, role: f.Hint.Role, alike: i, group: -1, rides: -1, step: f.Hint.Step, turn: f.Hint.Turn}
		switch {
		case f.Kind == frame.Bits:
			c.sort = switches
		case f.Kind == frame.Enum || f.Kind == frame.Flag:
			c.sort = symbols
		case f.Kind == frame.Angle:
			c.turn = float64(c.Span) + 1
		}
		for _, v := range []*float64{&c.step, &c.turn} {
			if !(*v > 1e-30 && *v < 1e30) {
				*v = 0
			}
		}
		c.clock = c.role == frame.Clock && c.sort == numbers
		p.cols = append(p.cols, c)
	}
	p.findParts()
	for i := range p.parts {
		p.findGroups(&p.parts[i])
		p.arrange(&p.parts[i])
	}
	for i := range p.cols {
		if c := &p.cols[i]; c.role == frame.Velocity && c.group >= 0 {
			c.steps = p.velocities
			p.velocities++
		}
	}
	p.shareOut()
	return p
}

// findParts divides all rows into parts, also those outside of the schema's parts.
func (p *plan) findParts() {
	var last frame.Part
	for row := range p.rows {
		q := p.schema.PartOf(row)
		if (row == 0 || q != last) && len(p.parts) < math.MaxUint8 {
			first := min(max(q.Field, 0), p.fields)
			p.parts = append(p.parts, part{row: row, field: first, fields: min(max(q.Size, 0), p.fields-first), present: -1, kind: -1})
		}
		last = q
		p.parts[len(p.parts)-1].rows++
		p.partOf[row] = uint8(len(p.parts) - 1)
	}
	for i := range p.parts {
		q := &p.parts[i]
		q.bits = uint(bits.Len(uint(q.rows - 1)))
		for f := q.field; f < q.field+q.fields; f++ {
			switch c := &p.cols[f]; {
			case c.role == frame.Present && q.present < 0:
				q.present = f
			case c.role == frame.Type && q.kind < 0 && c.sort == symbols:
				q.kind = f
			case c.role == frame.Now && c.sort == numbers && c.kind != frame.Float32 && q.rows == 1 && p.now.row < 0:
				p.now = cell{q.row, f}
			}
		}
	}
}

// findGroups finds the places of a part.
func (p *plan) findGroups(q *part) {
	byGroup := map[uint8]int{}
	for f := q.field; f < q.field+q.fields; f++ {
		c, h := &p.cols[f], &p.schema.Fields[f].Hint
		if c.sort != numbers || h.Group == 0 || h.Axis >= maxAxes || c.role != frame.Place && c.role != frame.Velocity {
			continue
		}
		if c.group >= 0 { // the parts share columns
			if len(q.groups) == 0 || q.groups[len(q.groups)-1] != c.group {
				q.groups = append(q.groups, c.group)
			}
			continue
		}
		n, ok := byGroup[h.Group]
		if !ok {
			if len(q.groups) == maxGroups {
				continue
			}
			n = len(p.groups)
			byGroup[h.Group] = n
			p.groups = append(p.groups, group{at: [3]int{-1, -1, -1}, velocity: [3]int{-1, -1, -1}, clock: -1, slot: len(q.groups)})
			q.groups = append(q.groups, n)
		}
		g := &p.groups[n]
		where := &g.at
		if c.role == frame.Velocity {
			where = &g.velocity
		}
		if where[h.Axis] < 0 {
			where[h.Axis] = f
			c.group, c.axis = n, int(h.Axis)
		}
	}
	for f := q.field; f < q.field+q.fields; f++ {
		h := &p.schema.Fields[f].Hint
		if n, ok := byGroup[h.Group]; ok && p.cols[f].clock {
			p.groups[n].clock = f
		}
	}
	for _, n := range q.groups {
		p.completeGroup(q, &p.groups[n], byGroup)
	}
}

// completeGroup derives rates, drag and carriers of a group. byGroup maps the groups of hints to
// indices.
func (p *plan) completeGroup(q *part, g *group, byGroup map[uint8]int) {
	scale := func(f int) float64 {
		if s := p.schema.Fields[f].Scale; s != 0 && p.cols[f].kind != frame.Float32 {
			return s
		}
		return 1
	}
	for a := range maxAxes {
		x, v := g.at[a], g.velocity[a]
		if a == 1 {
			p.shareStatistics(g.at[0], g.at[1])
			p.shareStatistics(g.velocity[0], g.velocity[1])
		}
		if x >= 0 && v >= 0 {
			h := &p.schema.Fields[v].Hint
			p.cols[x].rate = fixed32(float64(float64(h.Rate*scale(v)) / scale(x)))
		}
		if v >= 0 {
			h := &p.schema.Fields[v].Hint
			if h.Drag > 0 && a == 0 {
				g.drag, g.stop = fixed32(h.Drag), fixed32(float64(h.StopSpeed/scale(v)))>>24
				g.driven = true
			}
		}
		if x >= 0 {
			if n, ok := byGroup[p.schema.Fields[x].Hint.Rides]; ok {
				if on := p.groups[n].at[a]; on >= 0 && on != x && p.schema.Fields[on].Hint.Rides == 0 {
					p.cols[x].rides = on
				}
			}
		}
	}
	g.driven = g.driven && g.velocity[0] >= 0 && g.velocity[1] >= 0
}

// shareStatistics lets field b use the statistics of field a, if both exist and are alike.
func (p *plan) shareStatistics(a, b int) {
	if a >= 0 && b >= 0 && p.cols[b].kind == p.cols[a].kind && p.cols[b].alike == b {
		p.cols[b].alike = p.cols[a].alike
	}
}

// fixed32 returns v in units of 2^-32, 0 if it is too large.
func fixed32(v float64) int64 {
	if !(v > -1<<24 && v < 1<<24) {
		return 0
	}
	return int64(float64(v * (1 << 32)))
}

// arrange orders the fields of a part: type and presence, clocks, symbols, velocities, places,
// and all others. Of a new row places come before velocities. The second axis follows the first,
// because it is predicted from that.
func (p *plan) arrange(q *part) {
	rank := func(f int) [2]int { // in an old row, and in a new one
		c := &p.cols[f]
		switch {
		case f == q.kind || f == q.present:
			return [2]int{0, 0}
		case c.clock && slices.ContainsFunc(q.groups, func(n int) bool { return p.groups[n].clock == f }):
			return [2]int{1, 1}
		case c.role == frame.Velocity && c.group >= 0:
			return [2]int{3, 4}
		case c.role == frame.Place && c.group >= 0 && c.rides >= 0:
			return [2]int{5, 3}
		case c.role == frame.Place && c.group >= 0:
			return [2]int{4, 2}
		case c.sort != numbers:
			return [2]int{2, 5}
		}
		return [2]int{6, 6}
	}
	for f := q.field; f < q.field+q.fields; f++ {
		if p.now.row != q.row || p.now.field != f {
			q.order = append(q.order, f)
		}
	}
	q.fresh = slices.Clone(q.order)
	for i, list := range [2][]int{q.order, q.fresh} {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Or(rank(a)[i]-rank(b)[i], p.cols[a].axis-p.cols[b].axis)
		})
	}
}

// shareOut gives each part as many histories as it has rows, or as memory allows.
func (p *plan) shareOut() {
	list := make([]*part, len(p.parts))
	for i := range p.parts {
		list[i] = &p.parts[i]
	}
	slices.SortStableFunc(list, func(a, b *part) int { return a.rows*a.fields - b.rows*b.fields })
	p.memory = 1024 + models + p.rows*rowSize + p.fields + p.velocities*fieldSize + len(p.groups)*groupSize
	left := maxMemory - p.memory
	for i, q := range list {
		size := q.fields*cellSize + slotSize
		q.slots = min(q.rows, max(left/(len(list)-i)/size, 1), maxSlots)
		q.slot, q.cell = p.slots, p.cells
		p.slots += q.slots
		p.cells += q.slots * q.fields
		p.memory += q.slots * size
		left = max(left-q.slots*size, 0)
	}
}
