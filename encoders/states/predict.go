package states

import (
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
// is: by the rounding, and by the bounds before moved by velocity v; v is -1 if there is none.
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
