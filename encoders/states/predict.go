package states

import (
	"wirelab/dataset/frame"
)

// Lanes of experts: what they foretell.
const (
	asIs = iota
	onwards
	halfway
	asBefore
	laneA // of places: by the new velocity; of velocities: driven, at its own speed
	laneB // by the old one; driven, at a common speed
	laneC // by the mean; pushed after drag
	laneD // carried on as before rounding; pushed
	laneE // as what carries it goes; steps that come again
)

// predict fills in the experts on a number and returns how many there are, and the first guess.
func (r *row) predict(k int, c *column, old int32, cls class, g *grid) (n int, primary int64) {
	e := r.coder
	m, cell := e.m, &r.cells[k-r.part.field]
	key := uint32(c.alike)<<8 | uint32(cls)<<5 | flag(r.fresh)<<4
	turn := int64(0)
	if c.turn != 0 {
		turn = r.turnOf(c)
	}
	add := func(lane int, extra uint32, at int64) *expert {
		x := &e.experts[n]
		n++
		x.lane, x.places = lane, 1
		x.at[0] = min(max(at, -1<<45), 1<<45)
		x.errors = &m.records[hash(key|uint32(lane), extra, 3, 0)>>(32-recordBits)]
		return x
	}
	point := func(lane int, extra uint32, at int64) {
		x := add(lane, extra, at)
		if turn != 0 {
			x.places = 2
			x.at[1] = x.at[0] - turn
			if at < 0 {
				x.at[1] = x.at[0] + turn
			}
			x.weight[0], x.weight[1] = 232, 24
		}
	}
	last := r.fixed(k, old)
	scale := uint32(cell.miss) / 2
	if c.clock && !r.fresh {
		d := m.lapse << integerUnit
		now := r.nowFixed(c)
		point(asIs, 0, last)
		point(onwards, 0, last+d)
		point(halfway, 0, now)
		if old == 0 {
			return n, now
		}
		return n, last + d
	}
	if r.fresh {
		point(asIs, 0, last)
		if last != 0 {
			point(onwards, 0, 0)
		}
		if r.before[k] != old {
			point(asBefore, 0, r.fixed(k, r.before[k]))
		}
		if c.clock {
			point(halfway, 0, r.nowFixed(c))
			return n, r.nowFixed(c)
		}
		return n, last
	}
	primary = last
	point(asIs, scale, last)
	before := r.fixed(k, cell.old)
	step := wrap(last-before, turn)
	moved := cell.moved>>1&1 == 1
	if !moved {
		step = 0
	}
	isPlace := c.group >= 0 && c.role == frame.Place
	if !isPlace || e.groups[c.group].velocity[c.axis] < 0 {
		if moved {
			point(onwards, scale, last+step)
			point(halfway, 0, last+step/2)
			if c.group < 0 && (c.kind == frame.Float32 || turn != 0) {
				primary = last + step
			}
		}
		if c.group < 0 || isPlace {
			point(asBefore, 0, before)
		} else {
			primary = r.predictVelocity(k, c, last, scale, add)
		}
		if turn != 0 {
			primary = wrap(primary, turn)
		}
		return n, primary
	}
	// A place: from its velocity.
	if moved {
		point(onwards, scale, last+step)
	}
	v := e.groups[c.group].velocity[c.axis]
	v1, v0 := r.fixed(v, r.cur[v]), r.fixed(v, r.base[v])
	d1, d0 := r.way(c, v, v1), r.way(c, v, v0)
	sp := flag(v1 != v0)
	point(laneA, sp, last+d1)
	point(laneB, sp, last+d0)
	if sp != 0 {
		point(laneC, 0, last+(d0+d1)/2)
	}
	primary = last + d1
	if e.groups[c.group].slot == 0 {
		at, wide := r.unrounded(k, c, d1)
		point(laneD, wide, at)
		primary = at
	}
	if c.rides >= 0 {
		d := r.fixed(c.rides, r.cur[c.rides]) - r.fixed(c.rides, r.base[c.rides])
		point(laneE, scale, last+d)
		point(asBefore, scale, r.fixed(c.rides, r.cur[c.rides]))
	}
	return n, primary
}

// way returns how far a velocity leads since base, in fixed point of the place.
func (r *row) way(c *column, v int, x int64) int64 {
	from, to := integerUnit, integerUnit
	if r.cols[v].kind == frame.Float32 {
		from = int(r.m.unit[r.cols[v].alike])
	}
	if c.kind == frame.Float32 {
		to = int(r.m.unit[c.alike])
	}
	return scaled(x, c.rate*r.lapse, 32+from-to)
}

// nowFixed returns the time of the frame as a clock has it.
func (r *row) nowFixed(c *column) int64 {
	if r.now.row < 0 {
		return 0
	}
	return int64(r.coder.cur[r.now.row*r.fields+r.now.field]) << integerUnit
}

// unit returns the unit of a field's fixed point.
func (r *row) unit(k int) int {
	if c := &r.cols[k]; c.kind == frame.Float32 {
		return int(r.m.unit[c.alike])
	}
	return integerUnit
}

// turnOf returns after how much values of a column wrap.
func (r *row) turnOf(c *column) int64 {
	unit := integerUnit
	if c.kind == frame.Float32 {
		unit = int(r.m.unit[c.alike])
	}
	v := c.turn
	for ; unit > 0; unit-- {
		v *= 2
	}
	for ; unit < 0; unit++ {
		v /= 2
	}
	return int64(min(v, mostFixed))
}

// wrap reduces a difference to the shorter way round.
func wrap(d, turn int64) int64 {
	if turn == 0 {
		return d
	}
	d %= turn
	if d > turn/2 {
		d -= turn
	} else if d < -turn/2 {
		d += turn
	}
	return d
}

// unrounded foretells a place that is rounded towards zero by carrying on what it was before
// rounding: the middle of what is possible, and the class of its width.
func (r *row) unrounded(k int, c *column, d int64) (at int64, wide uint32) {
	rest := &r.owner.rest
	lo, hi := rest[2*c.axis]+d, rest[2*c.axis+1]+d
	at = r.fixed(k, r.base[k]) + (lo+hi)/2
	if w := hi - lo; w > 0 {
		unit := integerUnit
		if c.kind == frame.Float32 {
			unit = int(r.m.unit[c.alike])
			if at > 0 {
				at -= 1 << uint(max(unit-1, 0))
			} else {
				at += 1 << uint(max(unit-1, 0))
			}
		}
		wide = uint32(min(halves(uint64(w>>uint(max(unit-6, 0))+1)), 15)) + 1
	}
	return at, wide
}

// company returns a context of whether a field changes: of a place, how its velocity is; of a
// velocity, whether there is any.
func (r *row) company(k int, c *column) uint32 {
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
	unit := integerUnit
	if c.kind == frame.Float32 {
		unit = int(r.m.unit[c.alike])
	}
	speed := uint32(0)
	if x != 0 {
		speed = uint32(min(halves(uint64(magnitude(d)>>uint(max(unit-1, 0))+1)), 30)) + 1
		if d < 0 {
			speed += 32
		}
	}
	comp := 16 | speed<<8 | flag(r.cur[v] != r.base[v])<<5
	if g.slot == 0 {
		at, wide := r.unrounded(k, c, d)
		same := round(at, unit)<<uint(max(unit, 0)) == r.fixed(k, r.base[k])
		comp = comp<<8 | flag(same)<<7 | wide
	}
	return comp
}

// close remembers what a row that changed is now.
func (r *row) close() {
	for _, n := range r.part.groups {
		g := &r.groups[n]
		if g.driven && !r.fresh && r.lapse > 0 {
			r.observe(n, g)
		}
		if g.slot != 0 {
			continue
		}
		for a := range maxAxes {
			if k := g.at[a]; k >= 0 {
				r.carry(k, g.velocity[a])
			}
		}
	}
	if r.fresh {
		return
	}
	for _, n := range r.part.groups {
		for _, v := range r.groups[n].velocity {
			if v >= 0 && r.cur[v] != r.base[v] {
				r.m.steps[r.cols[v].steps].see(r.fixed(v, r.cur[v])-r.fixed(v, r.base[v]), alikeStep)
			}
		}
	}
}

// carry narrows down what a place was before it was rounded, relative to what it is.
func (r *row) carry(k, v int) {
	c := &r.cols[k]
	rest := &r.owner.rest
	a := 2 * c.axis
	now := uint32(r.cur[k])
	unit := integerUnit
	lo, hi := int64(0), int64(0)
	if c.kind == frame.Float32 {
		unit = int(r.m.unit[c.alike])
		if unit < 4 || c.classOf(now) != whole {
			rest[a], rest[a+1] = 0, 0
			return
		}
		one := int64(1) << uint(unit)
		switch x := r.fixed(k, r.cur[k]); {
		case x > 0:
			hi = one
		case x < 0:
			lo = -one
		default:
			lo, hi = -one, one
		}
	} else {
		lo, hi = -1<<(integerUnit-1), 1<<(integerUnit-1)
	}
	if !r.fresh && v >= 0 {
		d := r.way(c, v, r.fixed(v, r.cur[v])) + r.fixed(k, r.base[k]) - r.fixed(k, r.cur[k])
		slack := int64(1) << uint(max(unit-13, 0))
		if x, y := max(rest[a]+d-slack, lo), min(rest[a+1]+d+slack, hi); x < y {
			lo, hi = x, y
		}
	}
	rest[a], rest[a+1] = lo, hi
}
