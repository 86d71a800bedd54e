package states

import (
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// Lanes of predictors: what they predict from.
const (
	laneOld    = iota // the old value
	laneOn            // the same step again
	laneHalf          // half of it
	laneBefore        // the value before the last change
	laneA             // of places: the new velocity; of velocities: driven, at the row's own speed
	laneB             // the old velocity; driven, at a common speed
	laneC             // their mean; pushed after drag
	laneD             // continued from before rounding; pushed without drag
	laneE             // moved as what carries it; frequent steps
)

// maxPlace bounds predictions.
const maxPlace = 1 << 45

// predict fills in the predictors of a number and returns the first guess.
func (r *row) predict(k int, c *fieldPlan, old int32, cls class) (primary int64) {
	l := &r.predictors
	l.n, l.errors, l.turn = 0, r.m.errors, 0
	l.key = uint32(c.alike)<<8 | uint32(cls)<<5 | flag(r.fresh)<<4
	if c.turn != 0 {
		l.turn = r.turnOf(c)
	}
	last := r.fixed(k, old)
	switch {
	case r.fresh:
		return r.predictNew(k, c, old, last)
	case c.clock:
		return r.predictClock(c, old, last)
	case c.group >= 0 && c.role == frame.Place && r.groups[c.group].velocity[c.axis] >= 0:
		return r.predictPlace(k, c, last)
	}
	return r.predictPlain(k, c, last)
}

// predictClock predicts a clock: it goes on, or is the time of the frame.
func (r *row) predictClock(c *fieldPlan, old int32, last int64) int64 {
	l, now := &r.predictors, r.nowFixed(c)
	on := last + r.m.lapse<<integerUnit
	l.addPoint(laneOld, 0, last)
	l.addPoint(laneOn, 0, on)
	l.addPoint(laneHalf, 0, now)
	if old == 0 {
		return now
	}
	return on
}

// predictNew predicts a value of a new row: that of its source, 0, or the row's former value.
func (r *row) predictNew(k int, c *fieldPlan, old int32, last int64) int64 {
	l := &r.predictors
	l.addPoint(laneOld, 0, last)
	if last != 0 {
		l.addPoint(laneOn, 0, 0)
	}
	if r.before[k] != old {
		l.addPoint(laneBefore, 0, r.fixed(k, r.before[k]))
	}
	if c.clock {
		l.addPoint(laneHalf, 0, r.nowFixed(c))
		return r.nowFixed(c)
	}
	return last
}

// lastStep returns the last step of a value, and whether it moved in the frame before.
func (r *row) lastStep(k int, last int64) (step int64, moved bool) {
	cell := &r.cells[k-r.part.field]
	if cell.moved>>1&1 == 0 {
		return 0, false
	}
	return column.Wrap(last-r.fixed(k, cell.old), r.predictors.turn), true
}

// predictPlain predicts a value that has no velocity, or is one.
func (r *row) predictPlain(k int, c *fieldPlan, last int64) (primary int64) {
	l, cell := &r.predictors, &r.cells[k-r.part.field]
	scale := uint32(cell.miss) / 2
	primary = last
	l.addPoint(laneOld, scale, last)
	if step, moved := r.lastStep(k, last); moved {
		l.addPoint(laneOn, scale, last+step)
		l.addPoint(laneHalf, 0, last+step/2)
		if c.group < 0 && (c.kind == frame.Float32 || l.turn != 0) {
			primary = last + step
		}
	}
	if c.group < 0 || c.role == frame.Place {
		l.addPoint(laneBefore, 0, r.fixed(k, cell.old))
	} else {
		primary = r.predictVelocity(k, c, last, scale)
	}
	return column.Wrap(primary, l.turn)
}

// predictPlace predicts a place from its velocity.
func (r *row) predictPlace(k int, c *fieldPlan, last int64) (primary int64) {
	l, g := &r.predictors, &r.groups[c.group]
	scale := uint32(r.cells[k-r.part.field].miss) / 2
	l.addPoint(laneOld, scale, last)
	if step, moved := r.lastStep(k, last); moved {
		l.addPoint(laneOn, scale, last+step)
	}
	v := g.velocity[c.axis]
	v1, v0 := r.fixed(v, r.cur[v]), r.fixed(v, r.base[v])
	d1, d0 := r.way(c, v, v1), r.way(c, v, v0)
	changed := flag(v1 != v0)
	l.addPoint(laneA, changed, last+d1)
	l.addPoint(laneB, changed, last+d0)
	if v1 != v0 {
		l.addPoint(laneC, 0, last+(d0+d1)/2)
	}
	primary = last + d1
	if g.slot == 0 {
		at, wide := r.unrounded(k, c, d1)
		l.addPoint(laneD, wide, at)
		primary = at
	}
	if c.rides >= 0 {
		on := r.fixed(c.rides, r.cur[c.rides])
		l.addPoint(laneE, scale, last+on-r.fixed(c.rides, r.base[c.rides]))
		l.addPoint(laneBefore, scale, on)
	}
	return primary
}

// way returns how far a velocity leads since base, in fixed point of the place.
func (r *row) way(c *fieldPlan, v int, x int64) int64 {
	return scaled(x, c.rate*r.lapse, 32+r.unit(&r.cols[v])-r.unit(c))
}

// nowFixed returns the time of the frame in fixed point, 0 if frames have none.
func (r *row) nowFixed(c *fieldPlan) int64 {
	if r.now.row < 0 {
		return 0
	}
	return int64(r.coder.cur[r.now.row*r.fields+r.now.field]) << integerUnit
}

// unit returns the unit of a column's fixed point.
func (r *row) unit(c *fieldPlan) int {
	if c.kind == frame.Float32 {
		return int(r.m.unit[c.alike])
	}
	return integerUnit
}

// turnOf returns at what difference values of a column are the same again.
func (r *row) turnOf(c *fieldPlan) int64 {
	unit, v := r.unit(c), c.turn
	for ; unit > 0; unit-- {
		v *= 2
	}
	for ; unit < 0; unit++ {
		v /= 2
	}
	return int64(min(v, maxFixed))
}

// unrounded predicts a place that is rounded towards zero by continuing what it was before
// rounding: the middle of what is possible, and the class of its width.
func (r *row) unrounded(k int, c *fieldPlan, d int64) (at int64, wide uint32) {
	rest := &r.owner.rest
	low, high := rest[2*c.axis]+d, rest[2*c.axis+1]+d
	at = r.fixed(k, r.base[k]) + (low+high)/2
	if w := high - low; w > 0 {
		unit := r.unit(c)
		if c.kind == frame.Float32 {
			half := int64(1) << uint(max(unit-1, 0))
			if at > 0 {
				half = -half
			}
			at += half
		}
		wide = uint32(min(halfOctaves(uint64(w>>uint(max(unit-6, 0))+1)), 15)) + 1
	}
	return at, wide
}

// motionContext returns a context of whether a field changes: of a place its velocity, of a
// velocity whether there is any; 0 of other fields.
func (r *row) motionContext(k int, c *fieldPlan) uint32 {
	if c.group < 0 {
		return 0
	}
	g := &r.groups[c.group]
	if c.role == frame.Velocity {
		return 1 + flag(r.base[k]&0x7fffffff != 0)
	}
	v := g.velocity[c.axis]
	if v < 0 {
		return 0
	}
	x := r.fixed(v, r.cur[v])
	d := r.way(c, v, x)
	unit := r.unit(c)
	speed := uint32(0)
	if x != 0 {
		speed = uint32(min(halfOctaves(uint64(magnitude(d)>>uint(max(unit-1, 0))+1)), 30)) + 1
		if d < 0 {
			speed += 32
		}
	}
	ctx := 16 | speed<<8 | flag(r.cur[v] != r.base[v])<<5
	if g.slot == 0 {
		at, wide := r.unrounded(k, c, d)
		same := round(at, unit)<<uint(max(unit, 0)) == r.fixed(k, r.base[k])
		ctx = ctx<<8 | flag(same)<<7 | wide
	}
	return ctx
}

// learnMotion updates what the memo holds of the motion of a row that changed.
func (r *row) learnMotion() {
	for _, n := range r.part.groups {
		g := &r.groups[n]
		if g.driven && !r.fresh && r.lapse > 0 {
			r.observe(n, g)
		}
		if g.slot != 0 {
			continue
		}
		for a, k := range g.at {
			if k >= 0 {
				r.narrowRest(k, g.velocity[a])
			}
		}
	}
	if r.fresh {
		return
	}
	for _, n := range r.part.groups {
		for _, v := range r.groups[n].velocity {
			if v >= 0 && r.cur[v] != r.base[v] {
				r.m.steps[r.cols[v].steps].add(r.fixed(v, r.cur[v])-r.fixed(v, r.base[v]), nearStep)
			}
		}
	}
}

// narrowRest narrows the bounds of what a place was before it was rounded, relative to what it
// is: by the rounding, and by the bounds before moved by velocity v; v is -1 if none.
func (r *row) narrowRest(k, v int) {
	c := &r.cols[k]
	rest := (*[2]int64)(r.owner.rest[2*c.axis:])
	unit, now := r.unit(c), r.fixed(k, r.cur[k])
	low, high := int64(-1)<<(integerUnit-1), int64(1)<<(integerUnit-1)
	if c.kind == frame.Float32 {
		if unit < 4 || c.classOf(uint32(r.cur[k])) != whole {
			*rest = [2]int64{}
			return
		}
		low, high = -1<<uint(unit), 1<<uint(unit)
		if now > 0 {
			low = 0
		} else if now < 0 {
			high = 0
		}
	}
	if !r.fresh && v >= 0 {
		d := r.way(c, v, r.fixed(v, r.cur[v])) + r.fixed(k, r.base[k]) - now
		slack := int64(1) << uint(max(unit-13, 0))
		if x, y := max(rest[0]+d-slack, low), min(rest[1]+d+slack, high); x < y {
			low, high = x, y
		}
	}
	*rest = [2]int64{low, high}
}

// A driven thing has a velocity that drag slows and that is pushed in a direction, up to a
// speed in that direction, as players of Quake are. Drag is the schema's; speeds and pushes are
// learnt. Vectors are of the first two axes, with components of up to 29 bits; directions are in
// units of 2^-24.

const (
	driveShift = 3 // of a float's fixed point
	maxDrive   = 1 << 29
	one        = 1 << 24
	nearStep   = 1 << 15 // steps and pushes nearer than that count as equal
	nearPush   = 1 << 12
)

type vector [2]int64

// length returns the length of a vector.
func (v vector) length() int64 { return int64(sqrt(uint64(v[0]*v[0] + v[1]*v[1]))) }

// along returns the component of a vector in a direction.
func (v vector) along(d vector) int64 { return (v[0]*d[0] + v[1]*d[1]) >> 24 }

// direction returns the direction of a vector, given its length.
func (v vector) direction(length int64) vector {
	return vector{v[0] << 24 / length, v[1] << 24 / length}
}

// cluster is an adaptive set of the most frequent numbers. Books hold it in this order.
type cluster struct {
	At     [6]int64
	Weight [6]uint32
}

// add counts a number: at the first that differs by less than near, or else in place of the
// rarest.
func (c *cluster) add(x, near int64) {
	low := 0
	for i := range c.At {
		c.Weight[i] -= c.Weight[i] >> 10
		if d := x - c.At[i]; d < near && d > -near {
			c.Weight[i] += 1 << 16
			c.At[i] += d >> 3
			return
		}
		if c.Weight[i] < c.Weight[low] {
			low = i
		}
	}
	c.At[low], c.Weight[low] = x, 1<<15
}

// mostFrequent returns the two most frequent numbers, and their weights of 256.
func (c *cluster) mostFrequent() (at [2]int64, weight [2]uint32) {
	a, b := 0, 1
	if c.Weight[1] > c.Weight[0] {
		a, b = 1, 0
	}
	for i := 2; i < len(c.At); i++ {
		if c.Weight[i] > c.Weight[a] {
			a, b = i, a
		} else if c.Weight[i] > c.Weight[b] {
			b = i
		}
	}
	share := (uint64(c.Weight[a]) + 1<<12) << 8 / (uint64(c.Weight[a]) + uint64(c.Weight[b]) + 1<<13)
	first := uint32(min(max(share, 1), 255))
	return [2]int64{c.At[a], c.At[b]}, [2]uint32{first, 256 - first}
}

// drive is the last push of a row.
type drive struct {
	direction [2]int32
	speed     int32
	known     bool
}

func (d *drive) vector() vector { return vector{int64(d.direction[0]), int64(d.direction[1])} }

// observe records a push: the velocity is v and would have been u without it.
func (d *drive) observe(u, v vector, speeds, pushes *cluster) {
	push := vector{v[0] - u[0], v[1] - u[1]}
	n := push.length()
	d.known = n > 64
	if !d.known {
		return
	}
	to := push.direction(n)
	d.direction = [2]int32{int32(to[0]), int32(to[1])}
	d.speed = int32(v.along(to))
	if speeds != nil {
		speeds.add(int64(d.speed), nearPush)
	}
	pushes.add(n, nearPush)
}

// dragged returns a velocity after some time of drag.
func (g *group) dragged(v vector, lapse int64, stop int64) vector {
	s := v.length()
	if s == 0 {
		return v
	}
	share := g.drag * min(lapse, 1<<16)
	if s < stop {
		share = scaled(share, stop<<20/s, 20)
	}
	left := max(1<<32-share, 0)
	return vector{scaled(v[0], left, 32), scaled(v[1], left, 32)}
}

// velocity returns the velocity of a group in the table of a row.
func (r *row) velocity(g *group, values []int32) vector {
	var v vector
	for a := range v {
		k := g.velocity[a]
		v[a] = r.driven(k, r.fixed(k, values[k]))
	}
	return v
}

// driven returns a component of a velocity, in fixed point, as vectors have it.
func (r *row) driven(k int, x int64) int64 {
	if r.cols[k].kind == frame.Float32 {
		x >>= driveShift
	}
	return min(max(x, -maxDrive), maxDrive)
}

// undriven is the inverse of driven.
func (r *row) undriven(k int, x int64) int64 {
	if r.cols[k].kind == frame.Float32 {
		x <<= driveShift
	}
	return x
}

// stop returns the speed below which drag no longer falls.
func (r *row) stop(g *group) int64 {
	k := g.velocity[0]
	shift := r.unit(&r.cols[k]) - 8
	if r.cols[k].kind == frame.Float32 {
		shift -= driveShift
	}
	if shift < 0 {
		return g.stop >> uint(min(-shift, 63))
	}
	return min(g.stop<<uint(min(shift, 30)), maxDrive)
}

// observe records how a row was driven, with drag and without.
func (r *row) observe(n int, g *group) {
	from, to := r.velocity(g, r.base), r.velocity(g, r.cur)
	if from == to {
		return
	}
	r.owner.drive[0].observe(g.dragged(from, r.lapse, r.stop(g)), to, &r.m.speeds[n], &r.m.pushes[n][0])
	r.owner.drive[1].observe(from, to, nil, &r.m.pushes[n][1])
}

// predictVelocity adds the predictors of a velocity, and returns the first guess.
func (r *row) predictVelocity(k int, c *fieldPlan, last int64, scale uint32) (first int64) {
	first = last
	if g := &r.groups[c.group]; g.driven && c.axis == 0 {
		r.predictDriven0(k, c.group, scale)
	} else if g.driven && c.axis == 1 {
		if likely, ok := r.predictDriven1(c.group, scale); ok {
			first = likely
		}
	}
	at, weight := r.m.steps[c.steps].mostFrequent()
	p := r.predictors.add(laneE, scale, last+at[0])
	p.places, p.at[1], p.weight[0], p.weight[1] = 2, last+at[1], weight[0], weight[1]
	return first
}

// predictDriven0 predicts the first component of a driven velocity.
func (r *row) predictDriven0(k, group int, scale uint32) {
	l, g := &r.predictors, &r.groups[group]
	from := r.velocity(g, r.base)
	u := g.dragged(from, r.lapse, r.stop(g))
	d, free := &r.owner.drive[0], &r.owner.drive[1]
	if d.known {
		common, _ := r.m.speeds[group].mostFrequent()
		to := d.vector()
		w := u.along(to)
		l.add(laneA, scale, r.undriven(k, u[0]+(int64(d.speed)-w)*to[0]>>24))
		l.add(laneB, scale, r.undriven(k, u[0]+(common[0]-w)*to[0]>>24))
	}
	if free.known {
		push, _ := r.m.pushes[group][1].mostFrequent()
		l.add(laneC, scale, r.undriven(k, from[0]+push[0]*int64(free.direction[0])>>24))
	}
}

// predictDriven1 predicts the second component of a driven velocity from the first. It returns
// the likeliest value, if any.
func (r *row) predictDriven1(group int, scale uint32) (likely int64, ok bool) {
	g := &r.groups[group]
	from := r.velocity(g, r.base)
	u := g.dragged(from, r.lapse, r.stop(g))
	d := &r.owner.drive[0]
	x := r.driven(g.velocity[0], r.fixed(g.velocity[0], r.cur[g.velocity[0]]))
	var s spread
	if d.known {
		s.addDriven(u, x, int64(d.speed), d.vector(), 256)
		s.flush(r, g.velocity[1], laneA, scale)
	}
	common, share := r.m.speeds[group].mostFrequent()
	for j := range common {
		s.addDriven(u, x, common[j], d.vector(), share[j])
	}
	likely, ok = s.flush(r, g.velocity[1], laneB, scale)
	for j, w := range [2]vector{u, from} {
		push, share := r.m.pushes[group][j].mostFrequent()
		positive := uint32(128) // share of pushes in the positive direction, of 256
		if e := &r.owner.drive[j]; e.known && e.direction[1] >= 0 {
			positive = 205
		} else if e.known {
			positive = 51
		}
		for i := range push {
			if square := push[i]*push[i] - (x-w[0])*(x-w[0]); square > 0 {
				q := int64(sqrt(uint64(square)))
				s.add(w[1]+q, share[i]*positive)
				s.add(w[1]-q, share[i]*(256-positive))
			}
		}
		s.flush(r, g.velocity[1], laneC+j, 0)
	}
	return likely, ok
}

// spread collects the places of a predictor.
type spread struct {
	at     [maxPlaces]int64
	weight [maxPlaces]uint32
	n      int
}

// add adds a place. Beyond maxPlaces it replaces the least likely.
func (s *spread) add(at int64, weight uint32) {
	if s.n < maxPlaces {
		s.at[s.n], s.weight[s.n] = at, weight
		s.n++
		return
	}
	low := 0
	for i := range s.weight {
		if s.weight[i] < s.weight[low] {
			low = i
		}
	}
	if weight > s.weight[low] {
		s.at[low], s.weight[low] = at, weight
	}
}

// flush adds a predictor of the places, if any, and removes them. It returns the likeliest.
func (s *spread) flush(r *row, k, lane int, extra uint32) (int64, bool) {
	n := s.n
	s.n = 0
	if n == 0 {
		return 0, false
	}
	x := r.predictors.add(lane, extra, 0)
	var sum, best uint64
	for i := range n {
		sum += uint64(s.weight[i]) + 1
	}
	left := uint32(256)
	at := 0
	for i := range n {
		if uint64(s.weight[i]) > best {
			at, best = i, uint64(s.weight[i])
		}
		x.at[i] = min(max(r.undriven(k, s.at[i]), -maxPlace), maxPlace)
		x.weight[i] = uint32((uint64(s.weight[i]) + 1) * 256 / sum)
		left -= x.weight[i]
	}
	x.weight[at] += left
	x.places = n
	return x.at[at], true
}

// addDriven adds what the second component may be if the first is x, the velocity before the push
// is u, and the speed along the push is speed. Near the direction last it is likelier.
func (s *spread) addDriven(u vector, x, speed int64, last vector, share uint32) {
	c := circle()
	miss := func(d vector) int64 { return ((speed-u.along(d))*d[0])>>24 - (x - u[0]) }
	before := miss(c[0])
	for i, a := range c {
		b := c[(i+1)%len(c)]
		now := miss(b)
		if (before < 0) != (now < 0) {
			d := root(miss, a, b, before, now)
			off := vector{d[0] - last[0], d[1] - last[1]}.length()
			w := uint32((1 << 30) / (one*3/100 + off))
			s.add(u[1]+((speed-u.along(d))*d[1])>>24, (w*share)>>8+1)
		}
		before = now
	}
}

// root finds, by five steps of the false position, a direction between a and b where miss is
// nearly 0. fa and fb are miss of a and b, of different signs.
func root(miss func(vector) int64, a, b vector, fa, fb int64) vector {
	for range 5 {
		if fa == fb {
			break
		}
		// Where the chord crosses 0, taken back to the circle.
		t := fa << 24 / (fa - fb)
		mid := vector{a[0] + (b[0]-a[0])*t>>24, a[1] + (b[1]-a[1])*t>>24}
		n := mid.length()
		if n == 0 {
			break
		}
		mid = mid.direction(n)
		fm := miss(mid)
		if (fm < 0) == (fa < 0) {
			a, fa = mid, fm
		} else {
			b, fb = mid, fm
		}
		if fm < 2 && fm > -2 {
			break
		}
	}
	if magnitude(fb) < magnitude(fa) {
		return b
	}
	return a
}

// circle returns 48 directions all around.
var circle = sync.OnceValue(func() *[48]vector {
	t := &[48]vector{0: {one, 0}, 12: {0, one}, 24: {-one, 0}, 36: {0, -one}}
	// The direction halfway is that of the sum. A third of the way is nearly that of the
	// weighted mean; exact directions are not needed.
	for step := 12; step > 3; step /= 2 {
		for i := 0; i < 48; i += step {
			t[i+step/2] = between(t[i], t[(i+step)%48], 1, 1, 1)
		}
	}
	for i := 0; i < 48; i += 3 {
		a, b := t[i], t[(i+3)%48]
		t[i+1], t[i+2] = between(a, b, 2, 1, 3), between(a, b, 1, 2, 3)
	}
	return t
})

// between returns the direction of (wa*a + wb*b) / by.
func between(a, b vector, wa, wb, by int64) vector {
	m := vector{(wa*a[0] + wb*b[0]) / by, (wa*a[1] + wb*b[1]) / by}
	return m.direction(m.length())
}
