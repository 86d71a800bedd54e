package states

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

// The codec suits schemas with floats, parts or hints, up to its limits; delta-trained only those of which the newest frame matters.
func TestSuits(t *testing.T) {
	plain := frame.Field{Name: "n", Max: 100}
	float := frame.Field{Name: "f", Kind: frame.Float32}
	hinted := plain
	hinted.Hint.Role = frame.Position
	many := make([]frame.Field, maxFields)
	for i := range many {
		many[i] = float
	}
	parts := planSchema(2, plain)
	parts.Parts = []frame.Part{{Name: "p", Rows: 2, Size: 1}}
	for name, x := range map[string]struct {
		schema *frame.Schema
		suits  bool
	}{
		"plain": {planSchema(3, plain), false}, "float": {planSchema(3, float), true}, "a float after others": {planSchema(3, plain, float), true}, "a float before others": {planSchema(3, float, plain), true},
		"hint": {planSchema(3, hinted), true}, "parts": {parts, true}, "most rows": {planSchema(maxRows, float), true}, "too many rows": {planSchema(maxRows+1, float), false},
		"most fields": {planSchema(1, many...), true}, "too many fields": {planSchema(1, append(many, float)...), false},
	} {
		if got := Suits(x.schema, defaultMemory); got != x.suits {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Groups join positions and velocities by axis. Rate, drag and stop speed are converted by the scales of both fields; axes 0 and 1 share
// statistics; the first field of an axis counts; a carrier is a position that is not carried itself.
func TestPlanOfGroups(t *testing.T) {
	fields := []frame.Field{coordinate(frame.Position, 1, 0), coordinate(frame.Position, 1, 1), coordinate(frame.Position, 1, 2), coordinate(frame.Velocity, 1, 0), coordinate(frame.Velocity, 1, 1),
		coordinate(frame.Position, 1, 0) /* a second one for axis 0 */, coordinate(frame.Position, 2, 0), {Name: "clock", Max: 1000, Hint: frame.Hint{Role: frame.Clock, Group: 1}},
		coordinate(frame.Position, 0, 0) /* no group */, coordinate(frame.Position, 1, 3) /* no axis */}
	fields[3].Hint.Rate, fields[3].Hint.Drag, fields[3].Hint.StopSpeed = 0.25, 0.5, 100
	fields[4].Hint.Drag = 9 // only axis 0 has the hints of the group
	fields[6].Hint.Rides = 1
	p := newPlan(planSchema(4, fields...), defaultMemory)
	if len(p.groups) != 2 || p.velocities != 2 {
		t.Fatalf("%d groups, %d velocities", len(p.groups), p.velocities)
	}
	g := p.groups[0]
	if g.position != [3]int{0, 1, 2} || g.velocity != [3]int{3, 4, -1} || g.clock != 7 || !g.driven || p.groups[1].driven || p.groups[1].clock != -1 {
		t.Errorf("groups %+v", p.groups)
	}
	if g.drag != 1<<31 || g.stopSpeed != 100<<8 {
		t.Errorf("drag %d, stop speed %d", g.drag, g.stopSpeed)
	}
	for f, want := range map[int]int64{0: 1 << 30, 1: 0, 2: 0} { // the rate is a hint of the velocity of the same axis
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
	// Old rows: clock, velocities, positions by axis, carried positions, others. New rows: positions before velocities.
	if q := p.parts[0]; !slices.Equal(q.orderOld, []int{7, 3, 4, 0, 1, 2, 6, 5, 8, 9}) || !slices.Equal(q.orderNew, []int{7, 0, 1, 2, 6, 3, 4, 5, 8, 9}) {
		t.Errorf("orders %v and %v", q.orderOld, q.orderNew)
	}
	// Integers have scales: a velocity of 1 is 2 units, a position of 1 half a unit.
	fields = []frame.Field{{Name: "x", Max: 1000, Scale: 0.5, Hint: fields[0].Hint}, {Name: "v", Max: 1000, Scale: 2, Hint: fields[3].Hint}}
	p = newPlan(planSchema(1, fields...), defaultMemory)
	if p.columns[0].rate != 1<<32 || p.groups[0].stopSpeed != 50<<8 || p.groups[0].driven {
		t.Errorf("rate %d, stop speed %d, driven %v with one axis", p.columns[0].rate, p.groups[0].stopSpeed, p.groups[0].driven)
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
		f := frame.Field{Name: "x", Kind: frame.Float32, Hint: frame.Hint{Step: step, Turn: step}}
		if c := newPlan(planSchema(1, f), defaultMemory).columns[0]; c.step != want || c.period != want {
			t.Errorf("step %g and period %g, want %g", c.step, c.period, want)
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
		t.Errorf("periods %g and %g", p.columns[0].period, p.columns[4].period)
	}
	// Rows with the same part are together; the index of a row in a part of n takes the bits of n-1.
	s := planSchema(9, fields...)
	s.Parts = []frame.Part{{Name: "p", Row: 2, Rows: 5, Field: 1, Size: 2}}
	p = newPlan(s, defaultMemory)
	if len(p.parts) != 3 || !slices.Equal(p.partOf, []uint8{0, 0, 1, 1, 1, 1, 1, 2, 2}) {
		t.Fatalf("%d parts, by row %v", len(p.parts), p.partOf)
	}
	for i, want := range []part{{firstRow: 0, rows: 2, fields: 5, indexBits: 1}, {firstRow: 2, rows: 5, firstField: 1, fields: 2, indexBits: 3}, {firstRow: 7, rows: 2, fields: 5, indexBits: 1}} {
		q := p.parts[i]
		if q.firstRow != want.firstRow || q.rows != want.rows || q.firstField != want.firstField || q.fields != want.fields || q.indexBits != want.indexBits || q.slots != q.rows {
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
	if len(slots) != p.historySlots || len(cells) != p.historyCells || p.historySlots != 9 || p.historyCells != 2*5+5*2+2*5 {
		t.Errorf("%d slots and %d cells of %d and %d", len(slots), len(cells), p.historySlots, p.historyCells)
	}
}

// A row keeps its slot; a new row gets a free one, or that of the row that has not changed for longest, which loses its history.
func TestClaimSlot(t *testing.T) {
	p := newPlan(planSchema(300, frame.Field{Name: "x", Kind: frame.Float32}, frame.Field{Name: "y", Max: 9}), defaultMemory)
	q := &p.parts[0]
	if q.slots >= 300 {
		t.Fatalf("%d slots for 300 rows: the test needs fewer", q.slots)
	}
	m := newMemo(p)
	rng := rand.New(rand.NewPCG(7, 8))
	var recent []int // rows with a slot, least recently used first
	for step := range 5000 {
		m.frames++
		row := rng.IntN(300)
		if step%3 == 0 {
			row = rng.IntN(10)
		}
		known := slices.Index(recent, row)
		if (m.findSlot(row) >= 0) != (known >= 0) {
			t.Fatalf("step %d: row %d has slot %d, want one: %v", step, row, m.findSlot(row), known >= 0)
		}
		slot := m.claimSlot(row, q, []int32{int32(row), 7})
		switch {
		case known >= 0:
			recent = slices.Delete(recent, known, known+1)
		case len(recent) == q.slots:
			if m.findSlot(recent[0]) >= 0 {
				t.Fatalf("step %d: row %d, unused for longest, keeps its slot", step, recent[0])
			}
			recent = recent[1:]
		}
		recent = append(recent, row)
		if m.findSlot(row) != slot || int(m.slots[slot].row) != row || m.slots[slot].lastUsed != m.frames || m.slotCells(slot, q)[0].old != int32(row) {
			t.Fatalf("step %d: row %d has slot %d, %+v", step, row, slot, m.slots[slot])
		}
		m.slotCells(slot, q)[1].changes = 1
		owners := map[int32]bool{}
		for i, s := range m.slots {
			if s.row >= 0 && (owners[s.row] || m.findSlot(int(s.row)) != i) {
				t.Fatalf("step %d: row %d has several slots, or not slot %d", step, s.row, i)
			}
			owners[s.row] = true
		}
	}
}

// An error distribution counts each error in its half octave, a sixth in each neighbour, halves all counts at maxTotal, and always knows
// their sum.
func TestErrorDist(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, resolution := range []int{0, 3, 10} {
		e := newErrorDist()
		count := make([]float64, errorBins)
		for i, c := range e.Count {
			count[i] = float64(c)
		}
		above := 0.5
		for range 3000 {
			err := int64(rng.NormFloat64() * math.Exp2(float64(rng.IntN(50)))) // also far beyond the last bin
			e.add(err, resolution)
			bin := 0
			if m := math.Abs(float64(err)); m >= math.Exp2(float64(resolution)) {
				bin = min(int(math.Floor(2*math.Log2(m)+1e-12))-2*resolution+1, errorBins-1)
			}
			if bin == 0 {
				count[0] += 32
			} else {
				count[bin] += 22
				count[bin-1] += 5
				count[min(bin+1, errorBins-1)] += 5
				if err > 0 {
					above += (1 - above) / 32
				} else {
					above -= above / 32
				}
			}
			total := 0.0
			for _, c := range count {
				total += c
			}
			if total >= maxTotal {
				total = 0
				for i := range count {
					count[i] = max(math.Ceil(count[i]/2), 1)
					total += count[i]
				}
			}
			for i := range count {
				if float64(e.Count[i]) != count[i] {
					t.Fatalf("resolution %d, error %d: bin %d has %d, want %g", resolution, err, i, e.Count[i], count[i])
				}
			}
			if float64(e.Total) != total || math.Abs(float64(e.Above)/(1<<16)-above) > 0.001 {
				t.Fatalf("total %d, want %g; positive %d/65536, want %g", e.Total, total, e.Above, above)
			}
		}
	}
}

// A cluster moves the number nearest by an eighth, replaces the rarest, and reports the two most frequent with shares of 256.
func TestCluster(t *testing.T) {
	var c cluster
	for range 50 {
		c.add(1000, 10)
	}
	for range 20 {
		c.add(5000, 10)
	}
	c.add(9000, 10)
	values, weights := c.mostFrequent()
	if values != [2]int64{1000, 5000} || weights[0]+weights[1] != 256 || weights[0] <= weights[1] {
		t.Errorf("%v with weights %v", values, weights)
	}
	if want := float64(c.Weight[0]+1<<12) / float64(c.Weight[0]+c.Weight[1]+1<<13) * 256; math.Abs(float64(weights[0])-want) > 1 && c.At[0] == 1000 {
		t.Errorf("the first weighs %d, want %.1f", weights[0], want)
	}
	for _, x := range []struct{ add, want int64 }{{1008, 1001}, {1000 - 8, 1001 - 2}, {999 + 9, 1000}} {
		c.add(x.add, 10)
		if values, _ = c.mostFrequent(); values[0] != x.want {
			t.Errorf("after %d the most frequent is %d, want %d", x.add, values[0], x.want)
		}
	}
	for _, d := range []int64{10, -10} { // not less than near: another number
		c.add(1000+d, 10)
		if !slices.Contains(c.At[:], 1000+d) {
			t.Errorf("%d was not stored: %v", 1000+d, c.At)
		}
	}
	for i := range 40 { // rare numbers replace each other, not the frequent ones
		c.add(int64(100_000+1000*i), 10)
	}
	if values, _ = c.mostFrequent(); !slices.Contains(values[:], 5000) || values[0] != 1000 {
		t.Errorf("after rare numbers the most frequent are %v", values)
	}
	for i := range 6 { // the order of the list does not matter
		var c cluster
		for k := range c.At {
			c.At[k], c.Weight[k] = int64(k), uint32(1000*(1+(k+i)%6))
		}
		if values, _ := c.mostFrequent(); values != [2]int64{int64((5 - i + 6) % 6), int64((4 - i + 6) % 6)} {
			t.Errorf("rotated by %d: %v", i, values)
		}
	}
}

// Vectors agree with floats: length, component, direction, and drag as in PM_Friction.
func TestVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		v := vector{rng.Int64N(1<<25) - 1<<24, rng.Int64N(1<<25) - 1<<24}
		length := math.Hypot(float64(v[0]), float64(v[1]))
		if got := v.length(); math.Abs(float64(got)-length) > 1 || float64(got) > length+1e-6 {
			t.Fatalf("the length of %v is %d, want %g", v, got, length)
		}
		d := v.direction(v.length())
		if math.Abs(float64(d.length())-unitLength) > 4+unitLength*2/length || math.Abs(float64(v.along(d))-length) > 4 {
			t.Fatalf("the direction of %v is %v", v, d)
		}
		drag, stop := rng.Float64()*0.1, float64(rng.Int64N(1<<23))
		elapsed := 1 + rng.Int64N(12)
		g := group{drag: toFixed32(drag)}
		slowed := g.applyDrag(v, elapsed, int64(stop))
		factor := math.Max(0, 1-drag*float64(elapsed)*math.Max(1, stop/length)) // below the stop speed the loss is that of the stop speed
		for a := range v {
			if want := float64(v[a]) * factor; math.Abs(float64(slowed[a])-want) > 2+math.Abs(want)*1e-4+2e-6*math.Abs(float64(v[a])) {
				t.Fatalf("%v after drag %g for %d, stop speed %g: %v, want %g", v, drag, elapsed, stop, slowed, want)
			}
		}
	}
	around := directions()
	for i, d := range around {
		angle := 2 * math.Pi * float64(i) / 48
		if math.Hypot(float64(d[0])/unitLength-math.Cos(angle), float64(d[1])/unitLength-math.Sin(angle)) > 0.002 || math.Abs(float64(d.length())-unitLength) > 4 {
			t.Errorf("direction %d is %v", i, d)
		}
	}
	// A push is the change of the velocity; its speed is the component of the velocity in that direction.
	for range 500 {
		from, to := vector{rng.Int64N(1 << 22), rng.Int64N(1 << 22)}, vector{rng.Int64N(1 << 22), rng.Int64N(1 << 22)}
		var d push
		var speeds, lengths cluster
		d.observe(from, to, &speeds, &lengths)
		dx, dy := float64(to[0]-from[0]), float64(to[1]-from[1])
		length := math.Hypot(dx, dy)
		if !d.known || math.Abs(float64(d.speed)-(float64(to[0])*dx+float64(to[1])*dy)/length) > 4+math.Abs(float64(d.speed))*2/length || speeds.At[0] != int64(d.speed) || math.Abs(float64(lengths.At[0])-length) > 1 {
			t.Fatalf("from %v to %v: %+v, %v", from, to, d, lengths.At)
		}
	}
	for change, known := range map[int64]bool{64: false, 65: true} {
		var d push
		var lengths cluster
		if d.observe(vector{}, vector{change, 0}, nil, &lengths); d.known != known || (lengths.Weight[0] > 0) != known {
			t.Errorf("a change of %d gives a direction: %v", change, d.known)
		}
	}
	// findRoot finds where a function of the direction changes its sign.
	for i := range 48 {
		a, b := around[i], around[(i+1)%48]
		target := mixDirections(a, b, 2, 1, 3)
		miss := func(d vector) int64 { return d[0]*target[1]>>24 - d[1]*target[0]>>24 } // the sine of the angle to the target
		if d := findRoot(miss, a, b, miss(a), miss(b)); d.length() == 0 || math.Abs(float64(miss(d))) > 4 {
			t.Errorf("between directions %d and %d: off by %d", i, i+1, miss(d))
		}
	}
}

// A velocity may be the first field of a schema.
func TestPlanOfFirstVelocity(t *testing.T) {
	v := coordinate(frame.Velocity, 1, 0)
	v.Hint.Drag, v.Hint.Rate = 0.5, 0.25
	p := newPlan(planSchema(1, v, coordinate(frame.Position, 1, 0)), defaultMemory)
	if p.groups[0].drag != 1<<31 || p.columns[1].rate != 1<<30 {
		t.Errorf("drag %d, rate %d", p.groups[0].drag, p.columns[1].rate)
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

// The weights of a predictor's points add up to 256, in proportion to those of the candidates plus 1.
func TestCandidateWeights(t *testing.T) {
	e := defaultCoder(planSchema(1, coordinate(frame.Velocity, 1, 0)))
	for _, x := range []struct{ weights, want []uint32 }{{[]uint32{0}, []uint32{256}}, {[]uint32{0, 0}, []uint32{128, 128}}, {[]uint32{1, 5}, []uint32{64, 192}}, {[]uint32{2, 0, 3}, []uint32{96, 32, 128}}} {
		r := row{coder: e}
		r.predictors = predictorList{errors: make([]errorDist, 1<<7), errorShift: 32 - 7}
		var s candidates
		for i, w := range x.weights {
			s.add(int64(i), w)
		}
		_, ok := s.addPredictor(&r, 0, 0, 0)
		list := e.predictors.list()
		if p := &list[len(list)-1]; !ok || !slices.Equal(p.weights[:p.nPoints], x.want) {
			t.Errorf("candidates of weights %d: %d, want %d", x.weights, p.weights[:p.nPoints], x.want)
		}
	}
}

// A full set of candidates keeps the heaviest.
func TestCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		var s candidates
		var all []uint32
		for range maxPoints + rng.IntN(20) {
			w := uint32(rng.IntN(1000))
			all = append(all, w)
			s.add(int64(w)*3, w)
		}
		slices.Sort(all)
		kept := slices.Sorted(slices.Values(s.weights[:s.n]))
		if s.n != maxPoints || !slices.Equal(kept, all[len(all)-maxPoints:]) {
			t.Fatalf("kept %v of %v", kept, all)
		}
		for i := range s.n {
			if s.points[i] != int64(s.weights[i])*3 {
				t.Fatal("a point has the weight of another")
			}
		}
	}
}
