package states

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// A plan holds what the codec derives from a schema. It is immutable.
type plan struct {
	schema       *frame.Schema
	fields       int // per row
	rows         int
	columns      []fieldPlan
	parts        []part
	partOf       []uint8 // by row: index of its part
	groups       []group
	historySlots int // length of memo.slots, over all parts
	historyCells int // length of memo.cells, over all parts
	velocities   int // number of fields with a cluster of steps
	memory       int // size of a memo, in bytes
	sizes        modelSize
	timeCell     tableCell // the value of role Now
}

// A tableCell is the position of a value in a table. A row of -1 means that there is no such value.
type tableCell struct{ row, field int }

// A coding is the way in which the values of a field are coded.
type coding uint8

const (
	codingNumber coding = iota // by the distance from a prediction; see numberCoder
	codingSymbol               // as a binary tree; see row.codeSymbol
	codingBits                 // bit by bit, whether each changed; see row.codeBits
)

// A fieldPlan describes a field.
type fieldPlan struct {
	column.Range
	kind        frame.Kind
	role        frame.Role
	coding      coding
	statsField  int     // index of the field whose counters and error distributions this field shares; often itself
	group       int     // index in plan.groups; -1 if the field is no coordinate
	axis        int     // 0..2; 0 if the field is no coordinate
	carrier     int     // of a position: field of the position to which it is attached; -1 if none
	step        float64 // if the field is a float: most values are multiples of it; 0 if unknown
	period      float64 // values wrap at this difference (360 for degrees); 0 if they do not
	isClock     bool    // role Clock: an absolute time
	stepCluster int     // if the field is a velocity: index in model.steps
	rate        int64   // if the field is a position: its change per unit of time at a velocity of 1, in units of 2^-32
}

// A group is a position and its velocity: the fields with one Hint.Group.
type group struct {
	position, velocity [maxAxes]int // fields by axis; -1 if none
	clock              int          // field of the time at which the position was valid; -1 means the time of the frame
	drag, stopSpeed    int64        // drag per unit of time, in units of 2^-32; stopSpeed in 1/256 of the velocity's unit
	driven             bool         // the velocity has drag and two axes; see push
	indexInPart        int          // index in part.groups
}

const (
	maxAxes   = 3
	maxGroups = 4 // maximum number of groups of a part
)

// A part is a range of rows that use the same fields.
type part struct {
	firstRow, rows          int
	firstField, fields      int
	presentField, typeField int   // fields of roles Present and Type; -1 if none
	orderOld, orderNew      []int // fields in the order of coding: of rows that were not empty in the baseline, and of new rows
	groups                  []int // indices in plan.groups
	indexBits               uint  // bits of a row's index within the part
	firstSlot, slots        int   // range of memo.slots for the histories of the part's rows
	firstCell               int   // index in memo.cells of the first slot's values
}

// newPlan derives the plan of a schema, for memos of at most maxMemory bytes if possible. Hints that contradict
// each other, and numbers that are not plausible, are ignored: they cost compression, not correctness.
func newPlan(s *frame.Schema, maxMemory int) *plan {
	p := &plan{schema: s, sizes: newModelSize(maxMemory), fields: len(s.Fields), rows: s.Rows, timeCell: tableCell{-1, -1}, partOf: make([]uint8, s.Rows)}
	for i := range s.Fields {
		f := &s.Fields[i]
		c := fieldPlan{Range: column.NewRange(f), kind: f.Kind, role: f.Hint.Role, statsField: i, group: -1, carrier: -1, step: f.Hint.Step, period: f.Hint.Turn}
		switch {
		case f.Kind == frame.Bits:
			c.coding = codingBits
		case f.Kind == frame.Enum || f.Kind == frame.Flag:
			c.coding = codingSymbol
		case f.Kind == frame.Angle:
			c.period = float64(c.Span) + 1
		}
		for _, v := range []*float64{&c.step, &c.period} {
			if !(*v > 1e-30 && *v < 1e30) { // not plausible as a step or a period; also NaN
				*v = 0
			}
		}
		c.isClock = c.role == frame.Clock && c.coding == codingNumber
		p.columns = append(p.columns, c)
	}
	p.findParts()
	for i := range p.parts {
		p.findGroups(&p.parts[i])
		p.orderFields(&p.parts[i])
	}
	for i := range p.columns {
		if c := &p.columns[i]; c.role == frame.Velocity && c.group >= 0 {
			c.stepCluster = p.velocities
			p.velocities++
		}
	}
	p.allocateHistories(maxMemory)
	return p
}

// findParts divides all rows into parts. Rows outside of the schema's parts form parts with all
// fields. Beyond 255 parts, the remaining rows belong to the last part. findParts also finds the
// fields of roles Present and Type of each part, and the field of role Now: p.timeCell.
func (p *plan) findParts() {
	var last frame.Part
	for row := range p.rows {
		q := p.schema.PartForRow(row)
		if (row == 0 || q != last) && len(p.parts) < math.MaxUint8 {
			first := min(max(q.Field, 0), p.fields)
			p.parts = append(p.parts, part{firstRow: row, firstField: first, fields: min(max(q.Size, 0), p.fields-first), presentField: -1, typeField: -1})
		}
		last = q
		p.parts[len(p.parts)-1].rows++
		p.partOf[row] = uint8(len(p.parts) - 1)
	}
	for i := range p.parts {
		q := &p.parts[i]
		q.indexBits = uint(bits.Len(uint(q.rows - 1)))
		for f := q.firstField; f < q.firstField+q.fields; f++ {
			switch c := &p.columns[f]; {
			case c.role == frame.Present && q.presentField < 0:
				q.presentField = f
			case c.role == frame.Type && q.typeField < 0 && c.coding == codingSymbol:
				q.typeField = f
			case c.role == frame.Now && c.coding == codingNumber && c.kind != frame.Float32 && q.rows == 1 && p.timeCell.row < 0:
				p.timeCell = tableCell{q.firstRow, f}
			}
		}
	}
}

// findGroups finds the groups of a part: coordinates of positions and velocities that share a
// Hint.Group, which is 0 for fields without a group. It ignores a second field for the same axis, and
// groups beyond maxGroups. It also finds the clock of each group.
func (p *plan) findGroups(q *part) {
	groupIndex := map[uint8]int{}
	for f := q.firstField; f < q.firstField+q.fields; f++ {
		c, h := &p.columns[f], &p.schema.Fields[f].Hint
		if c.coding != codingNumber || h.Group == 0 || h.Axis >= maxAxes || c.role != frame.Position && c.role != frame.Velocity {
			continue
		}
		if c.group >= 0 { // found in an earlier part that has the same field
			if len(q.groups) == 0 || q.groups[len(q.groups)-1] != c.group {
				q.groups = append(q.groups, c.group)
			}
			continue
		}
		n, ok := groupIndex[h.Group]
		if !ok {
			if len(q.groups) == maxGroups {
				continue
			}
			n = len(p.groups)
			groupIndex[h.Group] = n
			p.groups = append(p.groups, group{position: [3]int{-1, -1, -1}, velocity: [3]int{-1, -1, -1}, clock: -1, indexInPart: len(q.groups)})
			q.groups = append(q.groups, n)
		}
		g := &p.groups[n]
		axes := &g.position
		if c.role == frame.Velocity {
			axes = &g.velocity
		}
		if axes[h.Axis] < 0 {
			axes[h.Axis] = f
			c.group, c.axis = n, int(h.Axis)
		}
	}
	for f := q.firstField; f < q.firstField+q.fields; f++ {
		h := &p.schema.Fields[f].Hint
		if n, ok := groupIndex[h.Group]; ok && p.columns[f].isClock {
			p.groups[n].clock = f
		}
	}
	for _, n := range q.groups {
		p.completeGroup(&p.groups[n], groupIndex)
	}
}

// completeGroup derives a group's rates, drag and carriers from hints. groupIndex maps a Hint.Group
// to an index in p.groups. The axes 0 and 1 share statistics, because things may turn in their
// plane.
func (p *plan) completeGroup(g *group, groupIndex map[uint8]int) {
	scale := func(f int) float64 { // what one step of a field's integers stands for; 1 if unknown
		if s := p.schema.Fields[f].Scale; s != 0 && p.columns[f].kind != frame.Float32 {
			return s
		}
		return 1
	}
	p.shareStatistics(g.position[0], g.position[1])
	p.shareStatistics(g.velocity[0], g.velocity[1])
	for a := range maxAxes {
		pos, vel := g.position[a], g.velocity[a]
		if pos >= 0 && vel >= 0 {
			h := &p.schema.Fields[vel].Hint
			p.columns[pos].rate = toFixed32(float64(float64(h.Rate*scale(vel)) / scale(pos)))
		}
		if vel >= 0 {
			h := &p.schema.Fields[vel].Hint
			if h.Drag > 0 && a == 0 { // the hints of axis 0 hold for the group
				// The shift by 24 leaves 8 of the 32 fractional bits.
				g.drag, g.stopSpeed = toFixed32(h.Drag), toFixed32(float64(h.StopSpeed/scale(vel)))>>24
				g.driven = true
			}
		}
		if pos >= 0 {
			// Hint.Rides is the group to which this position is attached. A carrier must not have one itself.
			if n, ok := groupIndex[p.schema.Fields[pos].Hint.Rides]; ok {
				if carrier := p.groups[n].position[a]; carrier >= 0 && carrier != pos && p.schema.Fields[carrier].Hint.Rides == 0 {
					p.columns[pos].carrier = carrier
				}
			}
		}
	}
	g.driven = g.driven && g.velocity[0] >= 0 && g.velocity[1] >= 0
}

// shareStatistics makes field b use the statistics of field a, if both exist (are not -1) and have
// the same kind.
func (p *plan) shareStatistics(a, b int) {
	if a >= 0 && b >= 0 && p.columns[b].kind == p.columns[a].kind && p.columns[b].statsField == b {
		p.columns[b].statsField = p.columns[a].statsField
	}
}

// toFixed32 returns v in units of 2^-32; 0 if |v| is 2^24 or more, or v is NaN.
func toFixed32(v float64) int64 {
	if !(v > -1<<24 && v < 1<<24) {
		return 0
	}
	return int64(float64(v * (1 << 32)))
}

// orderFields sets the order in which the fields of a part are coded, so that a field can be
// predicted from those before:
//
//	old row                        new row
//	0 type and presence            0 type and presence
//	1 clocks of groups             1 clocks of groups
//	2 symbols and bits             2 positions
//	3 velocities                   3 attached positions
//	4 positions                    4 velocities
//	5 attached positions           5 symbols and bits
//	6 others                       6 others
//
// An attached position moves with another position, its carrier. Within a rank, axis 1 follows axis 0,
// from which it is predicted. The time of the frame is in neither order: codeTime codes it.
func (p *plan) orderFields(q *part) {
	rank := func(f int) [2]int { // rank of field f in an old row, and in a new one
		c := &p.columns[f]
		switch {
		case f == q.typeField || f == q.presentField:
			return [2]int{0, 0}
		case c.isClock && slices.ContainsFunc(q.groups, func(n int) bool { return p.groups[n].clock == f }):
			return [2]int{1, 1}
		case c.role == frame.Velocity && c.group >= 0:
			return [2]int{3, 4}
		case c.role == frame.Position && c.group >= 0 && c.carrier >= 0:
			return [2]int{5, 3}
		case c.role == frame.Position && c.group >= 0:
			return [2]int{4, 2}
		case c.coding != codingNumber:
			return [2]int{2, 5}
		}
		return [2]int{6, 6}
	}
	for f := q.firstField; f < q.firstField+q.fields; f++ {
		if p.timeCell.row != q.firstRow || p.timeCell.field != f {
			q.orderOld = append(q.orderOld, f)
		}
	}
	q.orderNew = slices.Clone(q.orderOld)
	for i, list := range [2][]int{q.orderOld, q.orderNew} {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Or(rank(a)[i]-rank(b)[i], p.columns[a].axis-p.columns[b].axis)
		})
	}
}

// allocateHistories gives each part as many history slots as it has rows, or as maxMemory allows.
// Parts that need least memory come first, so that they get all that they need and leave the rest
// to the others.
func (p *plan) allocateHistories(maxMemory int) {
	list := make([]*part, len(p.parts))
	for i := range p.parts {
		list[i] = &p.parts[i]
	}
	slices.SortStableFunc(list, func(a, b *part) int { return a.rows*a.fields - b.rows*b.fields })
	// 1024 bytes for the rest of a memo.
	p.memory = 1024 + p.sizes.bytes() + p.rows*rowBytes + p.fields + p.velocities*clusterBytes + len(p.groups)*groupBytes
	left := maxMemory - p.memory
	for i, q := range list {
		size := q.fields*cellBytes + slotBytes
		q.slots = min(q.rows, max(left/(len(list)-i)/size, 1), maxSlots) // an equal share of what is left
		q.firstSlot, q.firstCell = p.historySlots, p.historyCells
		p.historySlots += q.slots
		p.historyCells += q.slots * q.fields
		p.memory += q.slots * size
		left = max(left-q.slots*size, 0)
	}
}
