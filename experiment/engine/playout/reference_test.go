package playout

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/cubes/forecast"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/testkit"
)

// A reference is a second implementation of the display: it computes every value from the list of all
// frames, one at a time.
type reference struct {
	*fixture
	moment time.Duration
	// Snapshots: the one before the displayed time and the one after it, and their outer neighbours; nil if
	// missing.
	outer, before, after, beyond *moving
	from, to                     moving // the source's frames before and after the displayed time
	hermite                      bool
}

// moving is a frame and its time.
type moving struct {
	tick uint64
	at   time.Duration
	f    *frame.Frame
}

// newReference returns a reference for the displayed time. It returns false if the errors are unknown.
func newReference(r *fixture) (*reference, bool) {
	x := &reference{fixture: r, moment: r.display.Moment(), hermite: r.display.screen.hermite}
	newest, _ := r.history.Newest()
	for seq := uint64(0); seq <= newest; seq++ {
		f := r.arrived[seq]
		if f == nil || newest-seq > uint64(r.history.Len()) {
			continue
		}
		tick := r.cadence.Tick(seq)
		m := &moving{tick, endpoint.TickTime(tick, r.cadence.TickHz), f}
		switch {
		case m.at <= x.moment:
			x.outer, x.before = x.before, m
		case x.after == nil:
			x.after = m
		case x.beyond == nil:
			x.beyond = m
		}
	}
	if x.before != nil && x.before.at == x.moment {
		x.after = x.before
	}
	tick := endpoint.TickAt(x.moment, r.cadence.TickHz)
	next := tick
	if x.moment > endpoint.TickTime(tick, r.cadence.TickHz) {
		next++
	} else if len(r.source[tick].Residual) > 0 && tick > 0 {
		next--
	}
	x.from, x.to = x.sourceAt(tick), x.sourceAt(next)
	return x, (x.before != nil || x.after != nil) && !x.passesRestart()
}

// sourceAt returns the source's frame of a tick.
func (x *reference) sourceAt(tick uint64) moving {
	return moving{tick, endpoint.TickTime(tick, x.cadence.TickHz), x.source[tick]}
}

// shown returns the snapshots between which the display interpolates: twice the same one if there is
// only one.
func (x *reference) shown() (a, b *moving) {
	switch {
	case x.before == nil:
		return x.after, x.after
	case x.after == nil:
		return x.before, x.before
	}
	return x.before, x.after
}

// isCurved reports whether positions follow a spline.
func (x *reference) isCurved() bool {
	a, b := x.shown()
	return x.hermite && a.at != b.at
}

// passesRestart reports whether the source restarted between the frames that are compared.
func (x *reference) passesRestart() bool {
	a, b := x.shown()
	ticks := []uint64{a.tick, b.tick, x.from.tick, x.to.tick}
	for _, m := range []*moving{x.outer, x.beyond} {
		if m != nil && x.isCurved() {
			ticks = append(ticks, m.tick)
		}
	}
	return x.any(slices.Min(ticks), slices.Max(ticks), func(tick uint64) bool { return x.restarts[tick] })
}

// any reports whether an event happens in a tick after first, up to last.
func (x *reference) any(first, last uint64, event func(tick uint64) bool) bool {
	for tick := first + 1; tick <= last; tick++ {
		if event(tick) {
			return true
		}
	}
	return false
}

// linear returns the value at the displayed time on the straight line between two points.
func (x *reference) linear(a, b *moving, from, to float64) float64 {
	if a.at == b.at {
		return from
	}
	share := (x.moment - a.at).Seconds() / (b.at - a.at).Seconds()
	return from*(1-share) + to*share
}

// curve returns the value at the displayed time on the cubic Bézier curve whose slopes are those of
// parabolas through three snapshots, by Newton's divided differences.
func (x *reference) curve(value func(*frame.Frame) float64) float64 {
	a, b := x.before, x.after
	p := func(m *moving) (at, y float64) { return m.at.Seconds(), value(m.f) }
	slopes := func(m, n, o *moving, at float64) float64 {
		t0, y0 := p(m)
		t1, y1 := p(n)
		t2, y2 := p(o)
		first, second := (y1-y0)/(t1-t0), (y2-y1)/(t2-t1)
		return first + (second-first)/(t2-t0)*(2*at-t0-t1)
	}
	ta, ya := p(a)
	tb, yb := p(b)
	start := (yb - ya) / (tb - ta)
	end := start
	if x.outer != nil {
		start, end = slopes(x.outer, a, b, ta), slopes(x.outer, a, b, tb)
	}
	if x.beyond != nil {
		end = slopes(a, b, x.beyond, tb)
		if x.outer == nil {
			start = slopes(a, b, x.beyond, ta)
		}
	}
	u, third := (x.moment.Seconds()-ta)/(tb-ta), (tb-ta)/3
	points := [4]float64{ya, ya + start*third, yb - end*third, yb}
	for n := 3; n > 0; n-- { // de Casteljau's algorithm
		for i := range n {
			points[i] += (points[i+1] - points[i]) * u
		}
	}
	return points[0]
}

// isStill reports whether the cells from first up to end are equal in all frames, with what was rounded off.
func (x *reference) isStill(first, end int) bool {
	a, b := x.shown()
	for i := first; i < end; i++ {
		v := a.f.Table[i]
		isEqual := b.f.Table[i] == v && x.from.f.Table[i] == v && x.to.f.Table[i] == v
		if !isEqual || residual(x.from.f, i) != residual(x.to.f, i) {
			return false
		}
	}
	return true
}

// residual returns what was rounded off a cell.
func residual(f *frame.Frame, cell int) float64 {
	if len(f.Residual) == 0 {
		return 0
	}
	return float64(f.Residual[cell])
}

// cubeErrors adds the errors of all cubes to e. bias is added to each before it is rounded.
func (x *reference) cubeErrors(e *meters.DisplayErrors, bias float64) {
	a, b := x.shown()
	for i := range x.schema.Rows {
		first := i * frame.CubeFields
		if x.isStill(first, first+frame.CubeFields) {
			continue
		}
		position, truth := x.cubePosition(first)
		shown := x.turn(a, b, rotationOf(a.f, first, false), rotationOf(b.f, first, false))
		source := x.turn(&x.from, &x.to, rotationOf(x.from.f, first, true), rotationOf(x.to.f, first, true))
		d := forecast.Mul(shown, forecast.Conj(source))
		angle := 2 * math.Atan2(math.Sqrt(d.X*d.X+d.Y*d.Y+d.Z*d.Z), math.Abs(d.W))
		e.Add(int64(math.Round(position.Sub(truth).Length()*1e6+bias)), int64(math.Round(angle*180_000/math.Pi)))
	}
}

// cubePosition returns the displayed position of a cube, and that in the source.
func (x *reference) cubePosition(first int) (shown, truth physics.Vec) {
	a, b := x.shown()
	rests := slices.Equal(a.f.Table[first:first+frame.CubeFields], b.f.Table[first:first+frame.CubeFields])
	values := func(cell int) (shown, truth float64) {
		rounded := func(f *frame.Frame) float64 { return float64(f.Table[cell]) / frame.UnitsPerMetre }
		whole := func(f *frame.Frame) float64 { return rounded(f) + residual(f, cell) }
		shown = x.linear(a, b, rounded(a.f), rounded(b.f))
		if x.isCurved() && !rests {
			shown = x.curve(rounded)
		}
		return shown, x.linear(&x.from, &x.to, whole(x.from.f), whole(x.to.f))
	}
	shown.X, truth.X = values(first + frame.CubeX)
	shown.Y, truth.Y = values(first + frame.CubeY)
	shown.Z, truth.Z = values(first + frame.CubeZ)
	return shown, truth
}

// checkPicture compares the copies for the dashboard with the snapshots. known means that the errors are
// known.
func (x *reference) checkPicture(t *testing.T, now time.Duration, known bool) {
	sent := x.source[len(x.source)-1]
	p := x.display.Picture(sent, &x.truths, now)
	if p.Behind != now-x.moment || p.Starved != (x.after == nil) || (p.Error != nil) != known {
		t.Fatalf("displayed %v, starved %t: the picture is of %v, starved %t", x.moment, x.after == nil, now-p.Behind, p.Starved)
	}
	for i, pose := range p.Shown {
		first := i * frame.CubeFields
		shown, truth := x.cubePosition(first)
		isNear := physics.Vec{X: float64(pose.X), Y: float64(pose.Y), Z: float64(pose.Z)}.Sub(shown).Length() < 1e-5
		if known && x.isStill(first, first+frame.CubeFields) {
			isNear = isNear && p.Error[i] == 0
		} else if known {
			isNear = isNear && math.Abs(float64(p.Error[i])/1000-shown.Sub(truth).Length()) < 1e-5
		}
		if z := float64(sent.Table[first+frame.CubeZ]) / frame.UnitsPerMetre; !isNear || p.Sent[i].Z != float32(z) {
			t.Fatalf("cube %d is displayed at %+v instead of %+v, or sent from height %v", i, pose, shown, z)
		}
	}
}

// checkFrames compares the copies of tables for the dashboard with the snapshots.
func (x *reference) checkFrames(t *testing.T, now time.Duration) {
	sent := x.source[len(x.source)-1]
	f := x.display.Frames(x.schema, sent, now)
	a, b := x.shown()
	isCopy := slices.Equal(f.Shown.Table, a.f.Table) && slices.Equal(f.Sent.Table, sent.Table)
	if !isCopy || f.Age != now-a.at || f.Starved != (x.after == nil) {
		t.Fatalf("displayed %v: %+v", x.moment, f)
	}
	if a.at == b.at {
		if f.Next != nil {
			t.Fatalf("displayed %v: there is no next frame: %+v", x.moment, f)
		}
		return
	}
	isBetween := f.Behind == now-x.moment && math.Abs(x.linear(a, b, 0, 1)-f.Weight) < 1e-12
	if !isBetween || !slices.Equal(f.Next.Table, b.f.Table) {
		t.Fatalf("displayed %v: between %v and %v: %+v", x.moment, a.at, b.at, f)
	}
}

// rotationOf returns the rotation of a cube, without rounding if whole is set.
func rotationOf(f *frame.Frame, first int, whole bool) (q [4]float64) {
	row := f.Table[first : first+frame.CubeFields]
	o := forecast.Orientation(row)
	q = [4]float64{o.X, o.Y, o.Z, o.W}
	if !whole || len(f.Residual) == 0 {
		return q
	}
	largest := int(row[frame.CubeLargest])
	cell, rest := first+frame.CubeA, 1.0
	for i := range q {
		if i != largest {
			q[i] += residual(f, cell)
			rest -= q[i] * q[i]
			cell++
		}
	}
	q[largest] = math.Sqrt(rest)
	return q
}

// turn returns the rotation at the displayed time: the sum of both, weighted and normalised, after one
// was negated if the angle between them is obtuse.
func (x *reference) turn(a, b *moving, p, q [4]float64) physics.Quat {
	inner := p[0]*q[0] + p[1]*q[1] + p[2]*q[2] + p[3]*q[3]
	length := 0.0
	for i := range p {
		p[i] = x.linear(a, b, p[i], math.Copysign(q[i], q[i]*inner))
		length += p[i] * p[i]
	}
	length = math.Sqrt(length)
	return physics.Quat{X: p[0] / length, Y: p[1] / length, Z: p[2] / length, W: p[3] / length}
}

// referenceTable is a table with two kinds of objects. Players can be absent, have a class, and jump
// when they respawn.
func referenceTable() *frame.Schema {
	return &frame.Schema{Name: "table", Item: "object", Rows: 6, TickHz: 50, Fields: []frame.Field{
		{Name: "present", Kind: frame.Flag, Max: 1, Hint: frame.Hint{Role: frame.Present}},
		{Name: "class", Kind: frame.Enum, Max: 1, Hint: frame.Hint{Role: frame.Type}},
		{Name: "x", Unit: "m", Scale: 1 / 3.99, Max: 4000, Jump: 50, Hint: frame.Hint{Role: frame.Position, Group: 1}},
		{Name: "y", Unit: "cm", Scale: 1 / 1.99, Max: 4000, Hint: frame.Hint{Role: frame.Position, Group: 1, Axis: 1}},
		{Name: "health", Max: 4000},
		{Name: "yaw", Kind: frame.Angle, Scale: turn / 360, Min: -180, Max: 179},
		{Name: "height", Unit: "m", Scale: 1 / 0.997, Max: 4000, Hint: frame.Hint{Role: frame.Position, Group: 2}}},
		Parts: []frame.Part{{Name: "player", Row: 1, Rows: 3, Size: 6},
			{Name: "lift", Row: 4, Rows: 2, Field: 6, Size: 1}}}
}

// turn is the period of the yaw, in its unit. The scales of the fields are such that no error is half of
// a millionth.
const turn = 1000 / 2.7813

// Columns of referenceTable.
const (
	columnPresent = iota
	columnClass
	columnX
	columnY
	columnHealth
	columnYaw
	columnHeight
	columns
)

// tableErrors adds the errors of a frame of referenceTable to e.
func (x *reference) tableErrors(e *meters.DisplayErrors) {
	for row := 1; row < x.schema.Rows; row++ {
		if row >= 4 {
			x.positionError(e, row, true, true, columnHeight)
			continue
		}
		a, b := x.shown()
		glides, moves := isMovement(row, a.f, b.f), isMovement(row, x.from.f, x.to.f)
		first, last := min(a.tick, x.from.tick), max(b.tick, x.from.tick, x.to.tick)
		if !glides || !moves {
			last = max(a.tick, x.from.tick)
		}
		shown, exists := a.f.Table[row*columns] != 0, x.from.f.Table[row*columns] != 0
		isOther := a.f.Table[row*columns+columnClass] != x.from.f.Table[row*columns+columnClass]
		switch {
		case !shown && !exists:
		case !shown:
			e.Appeared++
		case !exists:
			e.Disappeared++
		case isOther || x.any(first, last, func(tick uint64) bool { return x.breaksAt(row, tick) }):
			e.Jumped++
		default:
			x.positionError(e, row, glides, moves, columnX, columnY)
			x.angleError(e, row, glides, moves)
		}
	}
}

// isMovement reports whether a player moves between two frames: it exists in both, with the same class
// and near.
func isMovement(row int, a, b *frame.Frame) bool {
	p, q := a.Table[row*columns:], b.Table[row*columns:]
	distance := math.Abs(float64(p[columnX]-q[columnX])) / 3.99
	return p[columnPresent] != 0 && q[columnPresent] != 0 && p[columnClass] == q[columnClass] && distance <= 50
}

// breaksAt reports whether a player appears, disappears or jumps at a tick of the source.
func (x *reference) breaksAt(row int, tick uint64) bool {
	if x.restarts[tick] {
		return false
	}
	a, b := x.source[tick-1], x.source[tick]
	return !isMovement(row, a, b) && (a.Table[row*columns] != 0 || b.Table[row*columns] != 0)
}

// value returns the displayed value and the source's value of a column, in its unit.
func (x *reference) value(row, column int, glides, moves, curved bool) (shown, truth float64) {
	cell, field := row*columns+column, &x.schema.Fields[column]
	rounded := func(f *frame.Frame) float64 { return float64(f.Table[cell]) * field.Scale }
	a, b := x.shown()
	switch {
	case !glides:
		shown = rounded(a.f)
	case curved && a.f.Table[cell] != b.f.Table[cell]:
		shown = x.curve(rounded)
	default:
		shown = x.between(a, b, rounded(a.f), rounded(b.f), field)
	}
	if !moves {
		return shown, rounded(x.from.f) + residual(x.from.f, cell)
	}
	truth = x.between(&x.from, &x.to, rounded(x.from.f), rounded(x.to.f), field)
	return shown, truth + x.linear(&x.from, &x.to, residual(x.from.f, cell), residual(x.to.f, cell))
}

// between is linear, for angles the shorter way around.
func (x *reference) between(a, b *moving, from, to float64, f *frame.Field) float64 {
	if f.Kind == frame.Angle {
		for to-from > turn/2 {
			to -= turn
		}
		for to-from < -turn/2 {
			to += turn
		}
	}
	return x.linear(a, b, from, to)
}

// positionError adds the distance of a position, unless it is still.
func (x *reference) positionError(e *meters.DisplayErrors, row int, glides, moves bool, axes ...int) {
	isStill, square := true, 0.0
	curved := x.isCurved()
	for _, m := range []*moving{x.outer, x.beyond} {
		if curved && m != nil && row < 4 {
			curved = isMovement(row, x.before.f, m.f)
		}
	}
	curved = curved && (row >= 4 || glides)
	for _, column := range axes {
		isStill = isStill && x.isStill(row*columns+column, row*columns+column+1)
		shown, truth := x.value(row, column, glides, moves, curved)
		if column == columnY {
			shown, truth = shown/100, truth/100 // centimetres
		}
		square += (shown - truth) * (shown - truth)
	}
	if !isStill {
		e.AddPosition(math.Sqrt(square))
	}
}

// angleError adds the difference of the yaw, unless it is still.
func (x *reference) angleError(e *meters.DisplayErrors, row int, glides, moves bool) {
	if x.isStill(row*columns+columnYaw, row*columns+columnYaw+1) {
		return
	}
	shown, truth := x.value(row, columnYaw, glides, moves, false)
	d := math.Mod(math.Abs(shown-truth), turn)
	e.AddAngle(min(d, turn-d))
}

// randomTable returns a source of referenceTable: objects rest, walk, turn, respawn elsewhere, disappear
// and change.
func randomTable(rng *rand.Rand, residuals bool) func(f *frame.Frame) {
	table := make([]int32, 6*columns)
	rounded := make([]float32, len(table))
	resting := [6]int{}
	return func(f *frame.Frame) {
		for row := 1; row < 6; row++ {
			p := table[row*columns : (row+1)*columns]
			if resting[row]--; resting[row] > 0 {
				continue
			}
			if rng.IntN(30) == 0 {
				resting[row] = rng.IntN(40)
			}
			if row >= 4 {
				p[columnHeight] = min(max(p[columnHeight]+rng.Int32N(7)-3, 0), 4000)
				continue
			}
			p[columnPresent] = int32(min(rng.IntN(60), 1))
			if rng.IntN(80) == 0 {
				p[columnClass] = rng.Int32N(2)
			}
			p[columnX] = min(max(p[columnX]+rng.Int32N(9)-4, 0), 4000)
			p[columnY] = min(max(p[columnY]+rng.Int32N(3)-1, 0), 4000)
			p[columnYaw] = (p[columnYaw]+180+rng.Int32N(90))%360 - 180
			if rng.IntN(50) == 0 {
				p[columnX] = rng.Int32N(4001)
			}
		}
		copy(f.Table, table)
		if residuals {
			if i := rng.IntN(len(rounded)); rng.IntN(2) == 0 {
				rounded[i] = rng.Float32() - 0.5
			}
			f.Residual = append(f.Residual[:0], rounded...)
		}
	}
}

// randomCubes returns a source of cubes that rest, move and turn.
func randomCubes(rng *rand.Rand, cubes int, residuals bool) func(f *frame.Frame) {
	table := make([]int32, cubes*frame.CubeFields)
	for i := range table {
		table[i] = []int32{3, 256, 256, 256, 500, 500, 500, 0}[i%frame.CubeFields]
	}
	rounded := make([]float32, len(table))
	return func(f *frame.Frame) {
		for range 2 { // a few cubes, so that blocks of cubes rest
			row := table[rng.IntN(min(cubes, 1+rng.IntN(cubes)))*frame.CubeFields:]
			for k := frame.CubeA; k <= frame.CubeZ; k++ {
				row[k] = min(max(row[k]+rng.Int32N(31)-15, 130), 380+rng.Int32N(300))
				if k < frame.CubeX {
					row[k] = min(row[k], 400)
				}
			}
			row[frame.CubeLargest] = rng.Int32N(4)
		}
		copy(f.Table, table)
		if residuals {
			i := rng.IntN(len(rounded)/frame.CubeFields)*frame.CubeFields + frame.CubeA + rng.IntN(6)
			rounded[i] = (rng.Float32() - 0.5) / 1000
			f.Residual = append(f.Residual[:0], rounded...)
		}
	}
}

// The errors of every display tick are those of the reference, with any arrivals, with and without
// residuals, restarts and splines, and its picture shows the poses and the errors of the reference.
func TestErrorsEqualReference(t *testing.T) {
	for seed := range testkit.Choose[uint64](60, 24) {
		rng := rand.New(rand.NewPCG(seed, 11))
		isTable, residuals := seed%2 == 0, seed%3 == 0
		schema, next := frame.Cubes(20), randomCubes(rng, 20, residuals)
		if isTable {
			schema, next = referenceTable(), randomTable(rng, residuals)
		}
		r := newFixture(t, schema, []int{50, 25, 10}[rng.IntN(3)], next)
		r.cadence.TickHz = 50
		r.restarts = map[uint64]bool{}
		r.display = New(schema, r.cadence, r.history, r)
		if !r.display.Interpolates() {
			t.Fatal("nothing is interpolated")
		}
		checkErrors(t, r, rng, isTable)
	}
}

// checkErrors runs r for 600 ticks and compares the errors of each with the reference.
func checkErrors(t *testing.T, r *fixture, rng *rand.Rand, isTable bool) {
	const tick = time.Second / 50
	loss, jitter, inexact, checked, counted := 0, time.Duration(1), 1, 0, int64(0)
	for n := range 600 {
		if n%60 == 0 {
			loss, jitter, inexact = rng.IntN(40), time.Duration(1+rng.IntN(90))*time.Millisecond, 1+rng.IntN(20)
			hermite, delay := rng.IntN(2) == 0, time.Duration(rng.IntN(10))*tick
			if rng.IntN(2) == 0 {
				delay += 7_123_457
			}
			r.display.Set(Fixed(delay), Rhythm{}, hermite)
		}
		r.restarts[uint64(n)] = n > 0 && rng.IntN(100) == 0
		r.measured = meters.DisplayErrors{}
		r.tick(func(seq uint64, now time.Duration) {
			r.inexact[seq] = rng.IntN(inexact) == 0
			latency := time.Duration(rng.Int64N(int64(jitter)))
			if rng.IntN(4) == 0 {
				latency = 0 // so that some displayed times are those of snapshots
			}
			if rng.IntN(100) >= loss {
				r.coming = append(r.coming, delivery{now + latency, seq, !r.Exact(seq) && !isTable})
			}
		})
		if !r.display.clock.running {
			continue
		}
		x, known := newReference(r)
		var want, other meters.DisplayErrors // other: errors of half a micrometre are rounded down
		switch {
		case known && isTable:
			x.tableErrors(&want)
			x.tableErrors(&other)
		case known:
			x.cubeErrors(&want, +1e-6)
			x.cubeErrors(&other, -1e-6)
		}
		if !reflect.DeepEqual(r.measured, want) && !reflect.DeepEqual(r.measured, other) {
			t.Fatalf("tick %d, displayed %v: the display measures\n%+v, the reference\n%+v", n, x.moment, r.measured, want)
		}
		x.checkTick(t, n)
		if isTable {
			x.checkFrames(t, endpoint.TickTime(uint64(n), 50))
		} else {
			x.checkPicture(t, endpoint.TickTime(uint64(n), 50), known)
		}
		if known {
			checked++
			counted += want.Count()
		}
	}
	if checked < 200 || counted < 500 {
		t.Errorf("only %d errors on %d ticks were compared", counted, checked)
	}
}

// checkTick compares the result of display tick n with the snapshots.
func (x *reference) checkTick(t *testing.T, n int) {
	want := tick{Behind: endpoint.TickTime(uint64(n), 50) - x.moment, Starved: x.after == nil}
	want.Showing = x.before != nil || x.after != nil
	if x.before != nil && x.after != nil {
		want.Age = want.Behind
	} else if want.Showing {
		a, _ := x.shown()
		want.Age = endpoint.TickTime(uint64(n), 50) - a.at
	}
	if !want.Showing {
		x.ticked.Age = 0
	}
	if x.ticked != want {
		t.Fatalf("tick %d is %+v, expected %+v", n, x.ticked, want)
	}
}
