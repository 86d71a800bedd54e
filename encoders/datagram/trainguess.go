package datagram

import (
	"cmp"
	"slices"
)

// fitted is a field of a kind, with the guesses that were tried.
type fitted struct {
	kind, at int
	bits     uint8
	tried    []trial
	best     [guesses]guess
	enough   bool // messages to compare with
}

func (f *fitted) units() int       { return int(f.bits+7) / 8 }
func (f *fitted) operand() operand { return operand{uint8(f.at), f.bits} }

// trial is a guess and the cost of its residual for each message, in 1/1024 bit.
type trial struct {
	guess guess
	cost  []int32
	sum   int64
}

// fitter finds guesses for the fields of a kind.
type fitter struct {
	list []compared
	all  []*fitted
}

func (c *compared) scene() *scene {
	return &scene{c.now, message{units: c.units}, c.ref, c.ref2, c.any}
}

// usable reports whether a guess can be made of a field of a message.
func (f *fitted) usable(c *compared, g *guess) bool {
	end := f.at + f.units()
	return len(c.units) >= end && (g.way >= alone || len(c.ref.units) >= end)
}

// try adds a trial of a guess and returns its cost. A number without a guess costs all its bits.
func (x *fitter) try(f *fitted, g guess) int64 {
	r := trial{guess: g, cost: make([]int32, len(x.list))}
	c := newResiduals(int(f.bits))
	for i := range x.list {
		m := &x.list[i]
		if !f.usable(m, &g) {
			r.cost[i] = int32(f.bits) << 10
		} else {
			was := c.bits
			c.add(message{units: m.units}.value(f.at, f.bits) - g.predict(f.bits, f.at, m.scene()))
			r.cost[i] = int32(c.bits - was)
		}
		r.sum += int64(r.cost[i])
	}
	f.tried = append(f.tried, r)
	return r.sum
}

// least returns the cheapest trial.
func (f *fitted) least() *trial {
	best := &f.tried[0]
	for i := range f.tried {
		if f.tried[i].sum < best.sum {
			best = &f.tried[i]
		}
	}
	return best
}

// fit chooses the guesses of all fields and returns their cost.
func (x *fitter) fit(key int) (total int64) {
	for _, f := range x.all {
		x.try(f, guess{})
		for way := uint8(guessRef); way < guessRate && f.at > key; way++ {
			x.try(f, guess{way: way})
		}
		if f.at > key {
			x.rates(f)
		}
	}
	for i, a := range x.all {
		for _, b := range x.all[i+1 : min(i+3, len(x.all))] {
			if a.at > key && a.bits == b.bits && a.bits >= 6 && a.bits <= 24 {
				x.plane(a, b)
			}
		}
	}
	for _, f := range x.all {
		left := f.choose()
		f.enough = 10*x.usable(f) >= len(x.list) && left < x.flat(f)/16*15
		total += left
		f.tried = nil
	}
	return total
}

// plain returns the cost of a field without a guess. A guess from the message alone must cost less.
func (x *fitter) plain(f *fitted) int64 {
	c := newResiduals(int(f.bits))
	for i := range x.list {
		if m := &x.list[i]; f.usable(m, &guess{way: guessLeft}) {
			c.add(message{units: m.units}.value(f.at, f.bits))
		}
	}
	return c.bits
}

// flat returns the cost of a field if all its values are equally likely.
func (x *fitter) flat(f *fitted) int64 { return int64(len(x.list)) * int64(f.bits) << 10 }

// usable counts the messages in which the field's first guess can be made.
func (x *fitter) usable(f *fitted) (n int) {
	for i := range x.list {
		if f.usable(&x.list[i], &f.best[0]) {
			n++
		}
	}
	return n
}

// choose takes the cheapest guess, and the one that saves most where the first is wrong.
func (f *fitted) choose() int64 {
	first := f.least()
	f.best = [guesses]guess{first.guess, first.guess}
	least := first.sum
	for i := range f.tried {
		sum := int64(0)
		for j, c := range f.tried[i].cost {
			sum += int64(min(c, first.cost[j]))
		}
		if sum < least-first.sum/32 || sum < least && f.best[1] != f.best[0] {
			least, f.best[1] = sum, f.tried[i].guess
		}
	}
	return least
}

// rates tries other fields as the rate of one, and keeps the best if it saves 1 %.
func (x *fitter) rates(f *fitted) {
	n, least := len(f.tried), f.least().sum
	for _, by := range x.all {
		g := guess{way: guessRate, a: by.operand()}
		if by.bits > 24 || by.bits < 4 || f.bits < 6 || !x.findGain(&g, f) {
			continue
		}
		if sum := x.try(f, g); sum < least/100*99 {
			least, f.tried[n] = sum, f.tried[len(f.tried)-1]
			f.tried = f.tried[:n+1]
		} else {
			f.tried = f.tried[:len(f.tried)-1]
		}
	}
}

// plane finds a field that is the direction of two components, and tries the guesses that follow
// for all three and for the fields that they move.
func (x *fitter) plane(a, b *fitted) {
	for _, h := range x.all {
		if h.at <= b.at || h.bits < 8 || h.bits > 24 {
			continue
		}
		for _, minus := range []bool{false, true} {
			x.direction(a, b, h, minus)
		}
	}
}

// speeds are the shares, in eighths, of the commonest speed below which things may go backwards.
var speeds = [...]int64{0, 3, 6}

// direction tries whether h is the direction of a and b, or if minus of b and a.
func (x *fitter) direction(a, b, h *fitted, minus bool) {
	g := guess{way: guessAngle, a: a.operand(), b: b.operand(), minus: minus}
	if minus {
		g.a, g.b = g.b, g.a
	}
	var fast, off []int64
	for i := range x.list {
		m := &x.list[i]
		cur := message{units: m.units}
		if p, q := g.a.read(cur), g.b.read(cur); h.usable(m, &g) && (p != 0 || q != 0) {
			fast = append(fast, root(p*p+q*q))
			off = append(off, wrap(cur.value(h.at, h.bits)-g.predict(h.bits, h.at, m.scene()), 1<<(h.bits-1)))
		}
	}
	if len(off) < fewest {
		return
	}
	slices.Sort(off)
	slices.Sort(fast)
	speed := crowd(fast)
	g.offset = uint32(crowd(off) << (32 - h.bits))
	n, least := len(h.tried), h.least().sum
	for _, s := range speeds {
		g.radius = uint32(s * speed / 8)
		x.try(h, g)
	}
	best := slices.MinFunc(h.tried[n:], func(a, b trial) int { return cmp.Compare(a.sum, b.sum) }).sum
	if best > least+least/8 || best > x.plain(h)/8*7 {
		h.tried = h.tried[:n]
		return
	}
	g.radius, g.offset = 0, g.offset+1<<31
	x.try(h, g)
	x.turns(a, b, h, int64(speed), minus)
}

// turns tries the guesses of a and b that follow from their direction h: they turn as h does, and
// their speed is that of the reference or a constant.
func (x *fitter) turns(a, b, h *fitted, speed int64, minus bool) {
	g := guess{way: guessTurned, a: a.operand(), b: b.operand(), minus: minus}
	for _, r := range h.tried {
		if r.guess.way == guessRate && r.guess.gain.shift >= 32-h.bits {
			g.turn, g.spin = r.guess.a, factor{r.guess.gain.by, r.guess.gain.shift - (32 - h.bits)}
		}
	}
	x.try(a, g)
	x.arcs(a, g)
	g.a, g.b, g.minus = g.b, g.a, !minus
	x.try(b, g)
	x.arcs(b, g)
	g.way = guessSpeed
	x.try(b, g)
	for _, radius := range []int64{speed, speed / 2} {
		for _, negative := range []bool{false, true} {
			x.alone(b, guess{way: guessLeft, b: a.operand(), radius: uint32(radius), minus: negative})
		}
	}
}

// alone tries a guess from the message alone.
func (x *fitter) alone(f *fitted, g guess) {
	if n := len(f.tried); x.try(f, g) > x.plain(f)/8*7 {
		f.tried = f.tried[:n]
	}
}

// arcs tries guesses of the fields of which a turning component is the rate.
func (x *fitter) arcs(rate *fitted, g guess) {
	for _, f := range x.all {
		for _, r := range f.tried {
			if r.guess.way == guessRate && r.guess.a == rate.operand() {
				g.way, g.gain = guessArc, r.guess.gain
				x.try(f, g)
				break
			}
		}
	}
}

// findGain fits the gain of a guess: the movement of the field divided by rate and time. It reports
// whether there is one.
func (x *fitter) findGain(g *guess, f *fitted) bool {
	type point struct{ moved, by int64 }
	var points []point
	half := int64(1) << (f.bits - 1)
	for i := range x.list {
		m := &x.list[i]
		if !f.usable(m, g) || len(m.ref.units) < int(g.a.at)+int(g.a.bits+7)/8 {
			continue
		}
		p := point{wrap(message{units: m.units}.value(f.at, f.bits)-m.ref.value(f.at, f.bits), half),
			g.a.read(m.ref) * since(m.now, m.ref.now)}
		if p.by != 0 {
			points = append(points, p)
		}
	}
	if len(points) < fewest {
		return false
	}
	sizes := make([]int64, len(points))
	for i, p := range points {
		sizes[i] = max(p.by, -p.by)
	}
	slices.Sort(sizes)
	middle := sizes[len(sizes)/2]
	var ratios []int64
	for _, p := range points {
		if max(p.by, -p.by) >= middle {
			ratios = append(ratios, ratioOf(p.moved, p.by))
		}
	}
	slices.Sort(ratios)
	gain := crowd(ratios)
	g.gain.shift = 40
	for gain > 1<<15-1 || gain < -1<<15 {
		gain >>= 1
		if g.gain.shift == 0 {
			return false
		}
		g.gain.shift--
	}
	g.gain.by = int16(gain)
	return gain != 0
}
