package rows

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// maxGroups is the maximum number of groups of a part.
const maxGroups = 4

// A plan holds what the codec derives from a schema. It is immutable.
type plan struct {
	schema        *frame.Schema
	fields, rows  int
	columns       []fieldPlan
	parts         []part
	partOf        []uint8 // by row: index of its part
	groups        []group
	slots, cells  int   // of a memo, over all parts
	timeRow       int   // row of the field of role Now; -1 if none
	timeField     int   // that field
	position      []int // fields of a row's position, if rows can be neighbours; see findPosition
	positionShift int   // low bits of a coordinate that distances ignore, so that squares fit
	rotation      rotationFields
}

// A coding is how the values of a field are coded.
type coding uint8

const (
	codingNumber coding = iota // a prediction and a residual
	codingSymbol               // a binary tree
	codingBits                 // bit by bit
)

// A fieldPlan describes a field.
type fieldPlan struct {
	column.Range
	kind       frame.Kind
	role       frame.Role
	coding     coding
	isClock    bool
	statsField int     // the field whose counters this one shares: of the same kind, range and unit
	group      int     // index in plan.groups; -1 if the field is no coordinate
	axis       int     // of a coordinate: 0 to 2
	velocity   int     // of a position: field of its velocity; -1 if none
	carrier    int     // of a position: field of the position to which it is attached; -1 if none
	rate       int64   // of a position: its change per unit of time at a velocity of 1, in units of 2^-32
	step       float64 // of a float: most values are multiples of it; 0 if unknown
	period     int64   // values wrap at this difference; 0 if they do not
}

// A group is a position and its velocity. Axes that it does not have are -1.
type group struct {
	position, velocity [maxAxes]int
	drag, stopSpeed    int64 // see push.go; a drag of 0 means that velocities are not pushed
}

// A part is a range of rows that use the same fields.
type part struct {
	firstRow, rows     int
	firstField, fields int
	kind               int   // field of role Type; -1 if none
	order              []int // the fields in the order in which they are coded
	groups             []int // indices in plan.groups
	firstSlot, slots   int   // in memo.slots
	firstCell          int   // in memo.cells
}

// newPlan derives the plan of a schema. Hints that contradict each other are ignored. memory is the size of
// a memo.
func newPlan(s *frame.Schema, memory int) *plan {
	p := &plan{
		schema:  s,
		fields:  len(s.Fields),
		rows:    s.Rows,
		partOf:  make([]uint8, s.Rows),
		timeRow: -1,
	}
	for k := range s.Fields {
		p.columns = append(p.columns, newFieldPlan(s.Fields, k))
	}
	p.findParts()
	for i := range p.parts {
		q := &p.parts[i]
		p.findGroups(q)
		p.orderFields(q)
	}
	p.rotation.enumField = -1
	if q := &p.parts[0]; q.rows == p.rows {
		p.findPosition(q)
		p.findRotation(q)
	}
	p.allocate(memory / 6 / cellBytes)
	return p
}

// newFieldPlan describes field k, apart from its group.
func newFieldPlan(fields []frame.Field, k int) fieldPlan {
	f := &fields[k]
	c := fieldPlan{
		Range:    column.NewRange(f),
		kind:     f.Kind,
		role:     f.Hint.Role,
		group:    -1,
		velocity: -1,
		carrier:  -1,
	}
	c.statsField = slices.IndexFunc(fields[:k+1], func(g frame.Field) bool {
		sameRange := g.Kind == f.Kind && g.Min == f.Min && g.Max == f.Max
		return sameRange && g.Unit == f.Unit && g.Hint.Role == f.Hint.Role
	})
	switch f.Kind {
	case frame.Bits:
		c.coding = codingBits
	case frame.Enum, frame.Flag:
		c.coding = codingSymbol
	case frame.Angle:
		c.period = int64(c.Span) + 1
	case frame.Float32:
		c.statsField = k
		if f.Hint.Step > 1e-30 && f.Hint.Step < 1e30 {
			c.step = f.Hint.Step
		}
	}
	c.isClock = c.role == frame.Clock && c.coding == codingNumber
	return c
}

// findParts divides the rows into parts and finds their fields of roles Type and Now.
func (p *plan) findParts() {
	var last frame.Part
	for row := range p.rows {
		next := p.schema.PartForRow(row)
		if (row == 0 || next != last) && len(p.parts) < math.MaxUint8 {
			first := min(max(next.Field, 0), p.fields)
			size := min(max(next.Size, 0), p.fields-first)
			q := part{firstRow: row, firstField: first, fields: size, kind: -1}
			p.parts = append(p.parts, q)
		}
		last = next
		p.parts[len(p.parts)-1].rows++
		p.partOf[row] = uint8(len(p.parts) - 1)
	}
	for i := range p.parts {
		q := &p.parts[i]
		for k := q.firstField; k < q.firstField+q.fields; k++ {
			c := &p.columns[k]
			isInteger := c.coding == codingNumber && c.kind != frame.Float32
			switch {
			case c.role == frame.Type && q.kind < 0 && c.coding == codingSymbol:
				q.kind = k
			case c.role == frame.Now && isInteger && q.rows == 1 && p.timeRow < 0:
				p.timeRow = q.firstRow
				p.timeField = k
			}
		}
	}
}

// findGroups finds the groups of a part: coordinates of positions and velocities that share a Hint.Group.
func (p *plan) findGroups(q *part) {
	index := map[uint8]int{} // of groups, by Hint.Group
	for k := q.firstField; k < q.firstField+q.fields; k++ {
		c := &p.columns[k]
		h := &p.schema.Fields[k].Hint
		isCoordinate := c.role == frame.Position || c.role == frame.Velocity
		if !isCoordinate || c.coding != codingNumber || h.Group == 0 || h.Axis >= maxAxes {
			continue
		}
		n, ok := index[h.Group]
		switch {
		case c.group >= 0: // found in an earlier part that has the same field
			n = c.group
		case !ok && len(q.groups) == maxGroups:
			continue
		case !ok:
			n = len(p.groups)
			none := [maxAxes]int{-1, -1, -1}
			p.groups = append(p.groups, group{position: none, velocity: none})
		}
		index[h.Group] = n
		if !slices.Contains(q.groups, n) {
			q.groups = append(q.groups, n)
		}
		axes := &p.groups[n].position
		if c.role == frame.Velocity {
			axes = &p.groups[n].velocity
		}
		if axes[h.Axis] < 0 {
			axes[h.Axis] = k
			c.group = n
			c.axis = int(h.Axis)
		}
	}
	for _, n := range q.groups {
		p.completeGroup(&p.groups[n], index)
	}
}

// completeGroup derives a group's rates, carriers and drag from hints. Axes 0 and 1 share statistics.
func (p *plan) completeGroup(g *group, index map[uint8]int) {
	for _, axes := range [2]*[maxAxes]int{&g.position, &g.velocity} {
		if a, b := axes[0], axes[1]; a >= 0 && b >= 0 && p.columns[a].kind == p.columns[b].kind {
			p.columns[b].statsField = p.columns[a].statsField
		}
	}
	for axis, k := range g.position {
		if k < 0 {
			continue
		}
		c := &p.columns[k]
		if v := g.velocity[axis]; v >= 0 {
			c.velocity = v
			c.rate = p.rateOf(k, v)
		}
		if n, ok := index[p.schema.Fields[k].Hint.Rides]; ok {
			carrier := p.groups[n].position[axis]
			if carrier >= 0 && carrier != k && p.schema.Fields[carrier].Hint.Rides == 0 {
				c.carrier = carrier
			}
		}
	}
	v := g.velocity
	if v[0] < 0 || v[1] < 0 || p.columns[v[0]].kind != frame.Float32 {
		return
	}
	h := &p.schema.Fields[v[0]].Hint
	g.drag = max(toFixed32(h.Drag), 0)
	g.stopSpeed = int64(min(max(h.StopSpeed, 0), 1<<12) * (1 << pushUnit))
}

// rateOf returns the change of position k per unit of time at a velocity of 1 of field v, in units of
// 2^-32. If it is unknown, velocities are per second.
func (p *plan) rateOf(k, v int) int64 {
	scale := func(k int) float64 {
		if s := p.schema.Fields[k].Scale; s != 0 && p.columns[k].kind != frame.Float32 {
			return s
		}
		return 1
	}
	rate := p.schema.Fields[v].Hint.Rate
	if rate == 0 {
		rate = 1 / float64(max(p.schema.TickHz, 1))
	}
	return toFixed32(float64(float64(rate*scale(v)) / scale(k)))
}

// toFixed32 returns v in units of 2^-32; 0 if |v| is 2^24 or more, or v is NaN.
func toFixed32(v float64) int64 {
	if !(v > -1<<24 && v < 1<<24) {
		return 0
	}
	return int64(float64(v * (1 << 32)))
}

// orderFields sets the order in which the fields of a part are coded: those that others depend on come
// first. Without hints it is that of the schema.
func (p *plan) orderFields(q *part) {
	hinted := len(q.groups) > 0 || q.kind >= 0 || len(p.parts) > 1
	rank := func(k int) int {
		c := &p.columns[k]
		switch {
		case !hinted:
			return 0
		case k == q.kind:
			return 1
		case c.coding != codingNumber:
			return 2
		case c.group < 0:
			return 6
		case c.role == frame.Velocity:
			return 3
		case c.carrier < 0:
			return 4
		}
		return 5
	}
	for k := q.firstField; k < q.firstField+q.fields; k++ {
		if p.timeRow != q.firstRow || p.timeField != k {
			q.order = append(q.order, k)
		}
	}
	slices.SortStableFunc(q.order, func(a, b int) int {
		if d := rank(a) - rank(b); d != 0 || !hinted {
			return d
		}
		return cmp.Compare(p.columns[a].axis, p.columns[b].axis)
	})
}

// findPosition finds the coordinates of the position of rows of part q: the first two or three quantities
// of one unit.
func (p *plan) findPosition(q *part) {
	fields := p.schema.Fields[:q.firstField+q.fields]
	for first := q.firstField; first < len(fields) && len(p.position) < 2; first++ {
		p.position = nil
		for k := first; k < len(fields) && len(p.position) < maxAxes; k++ {
			f := &fields[k]
			if f.Kind == frame.Quantity && f.Unit != "" && f.Unit == fields[first].Unit {
				p.position = append(p.position, k)
			}
		}
	}
	if len(p.position) < 2 {
		p.position = nil
	}
	for _, k := range p.position { // drop the lowest bits of coordinates with more than 30 bits
		p.positionShift = max(p.positionShift, int(p.columns[k].Width)-30)
	}
}

// allocate gives each part slots, of the given number of cells; small parts come first.
func (p *plan) allocate(cells int) {
	list := make([]*part, len(p.parts))
	for i := range p.parts {
		list[i] = &p.parts[i]
	}
	slices.SortStableFunc(list, func(a, b *part) int { return a.rows*a.fields - b.rows*b.fields })
	for i, q := range list {
		share := cells / (len(list) - i) / max(q.fields, 1)
		q.slots = min(q.rows, max(share, 1), math.MaxUint16-1)
		q.firstSlot = p.slots
		q.firstCell = p.cells
		p.slots += q.slots
		p.cells += q.slots * q.fields
		cells = max(cells-q.slots*q.fields, 0)
	}
}

// indexBits returns the number of bits of the index of a row in the part.
func (q *part) indexBits() int { return bits.Len(uint(q.rows - 1)) }

// empty reports whether all fields of a row of the part are 0.
func (q *part) empty(values []int32) bool {
	isSet := func(v int32) bool { return v != 0 }
	return !slices.ContainsFunc(values[q.firstField:q.firstField+q.fields], isSet)
}
