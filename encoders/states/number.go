package states

import (
	"math/bits"

	"wirelab/dataset/frame"
)

// numeric codes a number that changed: of a float its class, then its distance from a
// prediction, on which all experts are asked.
func (r *row) numeric(k int, c *column, old int32, skip bool) {
	e := r.coder
	x, m := &e.x, e.m
	cell := &r.cells[k-r.part.field]
	fresh := flag(r.fresh)
	alike := uint32(c.alike)<<9 | fresh<<8
	id := uint32(k)<<9 | fresh<<8
	want := uint32(r.cur[k])
	cls, oc := whole, c.classOf(uint32(old))
	unit := int(m.unit[c.alike])
	if c.kind == frame.Float32 {
		cls = c.classOf(want)
		x.begin()
		x.quiet()
		x.see(id|markClass, r.kind, uint32(oc), 0)
		x.see(id|markClass, r.kind, uint32(oc), uint32(cell.miss)+1)
		x.see(id|markClass, r.sym, uint32(oc), 2)
		cls = r.class(c, cls, id|markClass)
		if cls == strange {
			r.cur[k] = int32(e.c.Direct(uint64(want), 32))
			return
		}
	}
	g := c.grid(cls, unit)
	n, primary := r.predict(k, c, old, cls, &g)
	i := g.index(want)
	i0 := g.nearest(primary)
	skip = skip && oc == cls && i0 == g.index(uint32(old))
	apart := uint32(0)
	if n > 1 {
		d := uint64(magnitude(e.experts[0].at[0]-e.experts[1].at[0])) >> uint(max(g.fine()-2, 0))
		apart = uint32(min(halves(d+1), 40))
	}
	kc := alike<<3 | uint32(cls)
	x.begin()
	x.see(kc, r.kind, markNumber, 0)
	x.see(kc, uint32(cell.miss), apart/2, 1)
	x.see(kc, r.kind, apart, 3)
	i = r.number(i, i0, skip, &g, e.experts[:n], hash(kc, uint32(cell.best), r.best, 9))
	b := g.bits(i)
	r.cur[k] = int32(b)
	if c.kind != frame.Float32 && i != int64(int32(i)) {
		e.err = r.outside(k, int32(i))
		return
	}
	v := r.fixed(k, int32(b))
	cell.best = nearest(e.experts[:n], v)
	r.best = 0
	if c.group >= 0 {
		r.best = uint32(cell.best) + 1
	}
	miss := uint32(min(halves(uint64(magnitude(i-i0))+1), 63)) / 2
	cell.miss = uint8(miss)
	r.miss = r.miss<<6&0xfff | miss
	if c.role == frame.Velocity {
		r.lastSym = hash(uint32(k), 1, 2, 0)
	}
	if c.kind == frame.Float32 {
		if ex := floatReach - 1 - exponent(b); ex < int(m.unit[c.alike]) {
			m.unit[c.alike] = int8(max(ex, -96))
		}
	}
}

// class codes the class of a float.
func (r *row) class(c *column, cls class, id uint32) class {
	x := &r.x
	for k := whole; k < strange; k++ {
		if k == stepped && c.step == 0 {
			continue
		}
		if x.bit(int(flag(cls == k)), uint32(k), id<<3|uint32(k), 3) != 0 {
			return k
		}
	}
	return strange
}

// fixed returns a value of a field in fixed point.
func (r *row) fixed(k int, v int32) int64 {
	c := &r.cols[k]
	if c.kind == frame.Float32 {
		return fix(uint32(v), int(r.m.unit[c.alike]))
	}
	return int64(v) << integerUnit
}

// nearest returns 1 + the lane of the expert that was nearest to a value.
func nearest(list []expert, v int64) uint8 {
	best, least := 0, int64(1<<62)
	for i := range list {
		x := &list[i]
		for p := range x.places {
			if d := magnitude(v - x.at[p]); d < least-least/4 {
				best, least = x.lane, d
			}
		}
	}
	return uint8(best)
}

// Decisions of a number.
const (
	nodeSame = 1
	nodeUp   = 2
	nodeSize = 8  // and 31 more
	nodeRest = 64 // below the highest bit
)

// number codes index i around i0; skip says that it is not i0.
func (r *row) number(i, i0 int64, skip bool, g *grid, list []expert, set uint32) int64 {
	e := r.coder
	x, fine := &e.x, g.fine()
	x.hear(list)
	for k := range list {
		list[k].open()
	}
	low, high := g.below(i0), g.below(i0+1)
	for k := range list {
		p := &list[k]
		p.last, p.high0 = p.mass(low, fine), p.mass(high, fine)
	}
	if !skip {
		for k := range list {
			p := &list[k]
			in := p.high0 - p.last
			x.in[firstExpert+p.lane] = opinion(in, p.high-in)
		}
		if x.bit(int(flag(i == i0)), nodeSame, set+nodeSame, 3) != 0 {
			r.learn(list, g, i0, fine)
			return i0
		}
	}
	for k := range list {
		p := &list[k]
		x.in[firstExpert+p.lane] = opinion(p.high-p.high0, p.last)
	}
	up := x.bit(int(flag(i > i0)), nodeUp, set+nodeUp, 3) != 0
	dir := int64(-1)
	if up {
		dir = 1
	}
	for k := range list {
		p := &list[k]
		if up {
			p.low = p.high0
		} else {
			p.high = p.last
		}
	}
	far := (i - i0) * dir
	size := 0
	if far > 0 {
		size = bits.Len64(uint64(far)) - 1
	}
	node, at := uint32(1), 0
	for d := 4; d >= 0; d-- {
		split := at + 1<<d
		r.ask(list, g, i0, dir, 1<<split, fine)
		b := x.bit(size>>d&1, nodeSize+node, set+nodeSize+node, 3)
		keep(list, (b == 1) == up)
		if b == 1 {
			at = split
		}
		node = node<<1 | uint32(b)
	}
	rest := int64(1) << at
	even := 0
	for d := at - 1; d >= 0; d-- {
		depth := at - 1 - d
		if even >= 2 && d > 0 && depth > 3 || depth > 24 {
			n := uint(d + 1)
			rest |= int64(e.c.Direct(uint64(far)&(1<<n-1), n))
			break
		}
		flat := r.ask(list, g, i0, dir, rest+1<<d, fine)
		if even++; !flat {
			even = 0
		}
		use, nd := 2, nodeRest+uint32(at)<<8+uint32(min(depth, 6))<<4
		if depth >= 3 {
			use = 1
		} else {
			nd |= uint32(rest>>(d+1)) & 7
		}
		b := x.bit(int(far>>d&1), nd, set+nodeRest+uint32(min(depth, 6)), use)
		keep(list, (b == 1) == up)
		if b == 1 {
			rest += 1 << d
		}
	}
	i = i0 + dir*rest
	if g.float {
		most := g.most()
		i = min(max(i, -most), most)
	}
	r.learn(list, g, i, fine)
	return i
}

// ask asks all experts whether the distance is at least split; it reports whether none has an
// opinion.
func (r *row) ask(list []expert, g *grid, i0, dir, split int64, fine int) bool {
	v := i0 + split
	if dir < 0 {
		v = i0 - split + 1
	}
	at := g.below(v)
	flat := true
	for k := range list {
		p := &list[k]
		p.last = p.mass(at, fine)
		yes, no := p.high-p.last, p.last-p.low
		if dir < 0 {
			yes, no = no, yes
		}
		o := int32(0)
		if yes+no > 2 {
			o = opinion(yes, no)
		}
		r.x.in[firstExpert+p.lane] = o
		flat = flat && o < 41 && o > -41
	}
	return flat
}

// keep narrows what is possible down to what is above or below the last question.
func keep(list []expert, above bool) {
	for k := range list {
		if p := &list[k]; above {
			p.low = p.last
		} else {
			p.high = p.last
		}
	}
}

// learn tells all experts what came of it.
func (r *row) learn(list []expert, g *grid, i int64, fine int) {
	v := (g.below(i) + g.below(i+1)) / 2
	for k := range list {
		x := &list[k]
		by := v - x.at[0]
		for _, at := range x.at[1:x.places] {
			if magnitude(v-at) < magnitude(by) {
				by = v - at
			}
		}
		x.errors.learn(by, fine)
	}
}
