package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
)

// planSchema returns a schema of fields with the given hints.
func planSchema(rows int, fields ...frame.Field) *frame.Schema {
	return &frame.Schema{Name: "plan", Item: "row", Rows: rows, TickHz: 60, Fields: fields}
}

// coordinate returns a field of a position or a velocity.
func coordinate(role frame.Role, group, axis uint8) frame.Field {
	return frame.Field{Name: "c", Kind: frame.Float32, Hint: frame.Hint{Role: role, Group: group, Axis: axis}}
}

// Groups join positions and velocities by axis. Rate, drag and stop speed are converted by the scales of
// both fields; axes 0 and 1 share statistics; the first field of an axis counts; a carrier is a position
// that is not carried itself.
func TestPlanOfGroups(t *testing.T) {
	fields := []frame.Field{coordinate(frame.Position, 1, 0), coordinate(frame.Position, 1, 1), coordinate(frame.Position, 1, 2), coordinate(frame.Velocity, 1, 0), coordinate(frame.Velocity, 1, 1),
		coordinate(frame.Position, 1, 0) /* a second one for axis 0 */, coordinate(frame.Position, 2, 0), {Name: "clock", Max: 1000, Hint: frame.Hint{Role: frame.Clock, Group: 1}},
		coordinate(frame.Position, 0, 0) /* no group */, coordinate(frame.Position, 1, 3) /* no axis */}
	fields[3].Hint.Rate, fields[3].Hint.Drag, fields[3].Hint.StopSpeed = 0.25, 0.5, 100
	fields[4].Hint.Drag = 9 // only axis 0 has the hints of the group
	fields[6].Hint.Rides = 1
	p := newPlan(planSchema(4, fields...), defaultMemory)
	if len(p.groups) != 2 {
		t.Fatalf("%d groups", len(p.groups))
	}
	g := p.groups[0]
	if g.position != [3]int{0, 1, 2} || g.velocity != [3]int{3, 4, -1} || p.groups[1].drag != 0 {
		t.Errorf("groups %+v", p.groups)
	}
	if g.drag != 1<<31 || g.stopSpeed != 100<<pushUnit {
		t.Errorf("drag %d, stop speed %d", g.drag, g.stopSpeed)
	}
	for f, want := range map[int]int64{0: 1 << 30, 1: 1 << 32 / 60, 2: 0} { // a hint of the velocity of the same axis; 1/s without
		if p.columns[f].rate != want {
			t.Errorf("the rate of field %d is %d, want %d", f, p.columns[f].rate, want)
		}
	}
	for f, want := range []int{0, 0, 2, 3, 3, 5, 6, 7, 8, 9} {
		if p.columns[f].statsField != want {
			t.Errorf("field %d has the statistics of %d, want %d", f, p.columns[f].statsField, want)
		}
	}
	for f, want := range []int{0, 0, 0, 0, 0, -1, 1, -1, -1, -1} {
		if p.columns[f].group != want {
			t.Errorf("field %d is in group %d, want %d", f, p.columns[f].group, want)
		}
	}
	if p.columns[6].carrier != 0 || p.columns[0].carrier != -1 {
		t.Errorf("carriers %d and %d", p.columns[6].carrier, p.columns[0].carrier)
	}
	// Velocities, positions by axis, carried positions, others.
	if order := p.parts[0].order; !slices.Equal(order, []int{3, 4, 0, 1, 2, 6, 5, 7, 8, 9}) {
		t.Errorf("order %v", order)
	}
	// Integers have scales: a velocity of 1 is 2 units, a position of 1 half a unit.
	fields = []frame.Field{{Name: "x", Max: 1000, Scale: 0.5, Hint: fields[0].Hint}, {Name: "v", Max: 1000, Scale: 2, Hint: fields[3].Hint}}
	p = newPlan(planSchema(1, fields...), defaultMemory)
	if p.columns[0].rate != 1<<32 || p.groups[0].drag != 0 {
		t.Errorf("rate %d, drag %d with one axis", p.columns[0].rate, p.groups[0].drag)
	}
	// A carrier that is carried itself does not count, nor does a position on itself.
	fields = []frame.Field{coordinate(frame.Position, 1, 0), coordinate(frame.Position, 2, 0), coordinate(frame.Position, 3, 0)}
	fields[0].Hint.Rides, fields[1].Hint.Rides, fields[2].Hint.Rides = 2, 3, 3
	p = newPlan(planSchema(1, fields...), defaultMemory)
	for f := range fields {
		if p.columns[f].carrier != -1 {
			t.Errorf("field %d is carried by %d", f, p.columns[f].carrier)
		}
	}
	for v, want := range map[float64]int64{1: 1 << 32, -0.5: -1 << 31, 1<<24 - 1: (1<<24 - 1) << 32, 1 << 24: 0, -1 << 24: 0, math.Inf(1): 0} {
		if got := toFixed32(v); got != want {
			t.Errorf("%g is %d/2^32, want %d", v, got, want)
		}
	}
	if toFixed32(math.NaN()) != 0 {
		t.Error("NaN is not 0")
	}
	// At most four groups of a part.
	fields = nil
	for group := range uint8(6) {
		fields = append(fields, coordinate(frame.Position, group+1, 0))
	}
	if p = newPlan(planSchema(1, fields...), defaultMemory); len(p.groups) != maxGroups || p.columns[3].group != 3 || p.columns[4].group != -1 {
		t.Errorf("%d groups", len(p.groups))
	}
}

// Steps and periods that are not plausible are ignored; the period of an angle is its range.
func TestPlanOfFields(t *testing.T) {
	for step, want := range map[float64]float64{0.1: 0.1, 1e-30: 0, 1.1e-30: 1.1e-30, 1e30: 0, 0.9e30: 0.9e30, -1: 0, 0: 0} {
		f := frame.Field{Name: "x", Kind: frame.Float32, Hint: frame.Hint{Step: step}}
		if c := newPlan(planSchema(1, f), defaultMemory).columns[0]; c.step != want {
			t.Errorf("step %g, want %g", c.step, want)
		}
	}
	fields := []frame.Field{{Name: "a", Kind: frame.Angle, Max: 359}, {Name: "e", Kind: frame.Enum, Max: 3}, {Name: "f", Kind: frame.Flag, Max: 1}, {Name: "b", Kind: frame.Bits, Max: 255}, {Name: "n", Max: 9}}
	p := newPlan(planSchema(2, fields...), defaultMemory)
	for f, want := range []coding{codingNumber, codingSymbol, codingSymbol, codingBits, codingNumber} {
		if p.columns[f].coding != want {
			t.Errorf("%s has coding %d, want %d", fields[f].Name, p.columns[f].coding, want)
		}
	}
	if p.columns[0].period != 360 || p.columns[4].period != 0 {
		t.Errorf("periods %d and %d", p.columns[0].period, p.columns[4].period)
	}
	// Rows with the same part are together.
	s := planSchema(9, fields...)
	s.Parts = []frame.Part{{Name: "p", Row: 2, Rows: 5, Field: 1, Size: 2}}
	p = newPlan(s, defaultMemory)
	if len(p.parts) != 3 || !slices.Equal(p.partOf, []uint8{0, 0, 1, 1, 1, 1, 1, 2, 2}) {
		t.Fatalf("%d parts, by row %v", len(p.parts), p.partOf)
	}
	for i, want := range []part{{firstRow: 0, rows: 2, fields: 5}, {firstRow: 2, rows: 5, firstField: 1, fields: 2}, {firstRow: 7, rows: 2, fields: 5}} {
		q := p.parts[i]
		if q.firstRow != want.firstRow || q.rows != want.rows || q.firstField != want.firstField || q.fields != want.fields || q.slots != q.rows {
			t.Errorf("part %d: %+v", i, q)
		}
	}
	// Slots and cells of the parts are disjoint, whatever their order.
	slots, cells := map[int]bool{}, map[int]bool{}
	for _, q := range p.parts {
		for n := range q.slots {
			slots[q.firstSlot+n] = true
			for k := range q.fields {
				cells[q.firstCell+n*q.fields+k] = true
			}
		}
	}
	if len(slots) != p.slots || len(cells) != p.cells || p.slots != 9 || p.cells != 2*5+5*2+2*5 {
		t.Errorf("%d slots and %d cells of %d and %d", len(slots), len(cells), p.slots, p.cells)
	}
}

// A row keeps its slot; a new row gets a free one, or that of the row that has not changed for longest,
// which loses its history.
func TestClaimSlot(t *testing.T) {
	p := newPlan(planSchema(300, frame.Field{Name: "x", Kind: frame.Float32}, frame.Field{Name: "y", Max: 9}), 16<<10)
	q := &p.parts[0]
	if q.slots >= 300 {
		t.Fatalf("%d slots for 300 rows: the test needs fewer", q.slots)
	}
	m := newMemo(p, defaultMemory)
	rng := rand.New(rand.NewPCG(7, 8))
	var recent []int // rows with a slot, least recently used first
	for step := range 5000 {
		m.frames++
		row := rng.IntN(300)
		if step%3 == 0 {
			row = rng.IntN(10)
		}
		known := slices.Index(recent, row)
		if (m.slotOf[row] > 0) != (known >= 0) {
			t.Fatalf("step %d: row %d has slot %d, want one: %v", step, row, int(m.slotOf[row])-1, known >= 0)
		}
		slot := m.claimSlot(row, q, []int32{int32(row), 7})
		switch {
		case known >= 0:
			recent = slices.Delete(recent, known, known+1)
		case len(recent) == q.slots:
			if m.slotOf[recent[0]] > 0 {
				t.Fatalf("step %d: row %d, unused for longest, keeps its slot", step, recent[0])
			}
			recent = recent[1:]
		}
		recent = append(recent, row)
		if int(m.slotOf[row])-1 != slot || int(m.slots[slot].row) != row || m.slots[slot].lastUsed != m.frames || m.slotCells(slot, q)[0].old != int32(row) {
			t.Fatalf("step %d: row %d has slot %d, %+v", step, row, slot, m.slots[slot])
		}
		m.slotCells(slot, q)[1].changes = 1
		owners := map[int32]bool{}
		for i, s := range m.slots {
			if s.row >= 0 && (owners[s.row] || int(m.slotOf[s.row])-1 != i) {
				t.Fatalf("step %d: row %d has several slots, or not slot %d", step, s.row, i)
			}
			owners[s.row] = true
		}
	}
}

// A velocity may be the first field of a schema.
func TestPlanOfFirstVelocity(t *testing.T) {
	v := coordinate(frame.Velocity, 1, 0)
	v.Hint.Rate = 0.25
	p := newPlan(planSchema(1, v, coordinate(frame.Position, 1, 0)), defaultMemory)
	if p.columns[1].rate != 1<<30 {
		t.Errorf("rate %d", p.columns[1].rate)
	}
}

// Beyond 255 parts, the remaining rows belong to the last part.
func TestPlanOfManyParts(t *testing.T) {
	s := planSchema(300, frame.Field{Name: "n", Max: 100})
	for row := range s.Rows {
		s.Parts = append(s.Parts, frame.Part{Name: "p", Row: row, Rows: 1, Size: 1})
	}
	p := newPlan(s, defaultMemory)
	if n := len(p.parts); n != 255 || p.parts[n-1].rows != 300-254 || p.partOf[253] != 253 || p.partOf[254] != 254 || p.partOf[299] != 254 {
		t.Errorf("%d parts, the last of %d rows; parts of rows %d", n, p.parts[n-1].rows, p.partOf)
	}
}
