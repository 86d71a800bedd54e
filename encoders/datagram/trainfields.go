package datagram

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// clock is a possible place of a time in messages of a kind.
type clock struct {
	at     int8
	timing uint8
}

// findClocks finds four bytes that rise from each message to the next of the same key.
func findClocks(list []compared) (found []clock) {
	for timing := range uint8(timings) {
		for at := range maxPlaces - 3 {
			up, n := 0, 0
			for i := range list {
				a, b := list[i].ref.units, list[i].raw
				if len(a) < at+4 || len(b) < at+4 {
					continue
				}
				n++
				step := int32(clockTime(binary.BigEndian.Uint32(b[at:]), timing) - clockTime(binary.BigEndian.Uint32(a[at:]), timing))
				if step > 0 && step < 1<<24 {
					up++
				}
			}
			if n*2 >= len(list) && up*100 >= n*95 {
				found = append(found, clock{int8(at), timing})
			}
		}
	}
	return found[:min(len(found), 8)]
}

// findFields makes fields of the pieces, with the predictions of the smallest residuals and their
// distributions. Clocks are chosen with them, because rates depend on clocks.
func (t *trainer) findFields() {
	best, fields := t.fit()
	for i, list := range t.clocks {
		k := &t.m.kinds[i]
		kept := clock{-1, 0}
		for _, c := range list {
			k.clock, k.timing = c.at, c.timing
			if bits, with := t.fit(); bits < best {
				best, fields, kept = bits, with, c
			}
		}
		k.clock, k.timing = kept.at, kept.timing
	}
	for _, f := range fields {
		at := f.kind*maxPlaces + f.at
		for part := range f.units() {
			t.m.places[at+part].field = int16(len(t.m.fields))
			t.m.places[at+part].part = uint8(part)
		}
		t.m.fields = append(t.m.fields, field{bits: f.bits, units: uint8(f.units()), guess: f.best})
	}
	t.fillFields()
}

// fit finds the best predictions with the present clocks, and the total cost of the residuals.
func (t *trainer) fit() (total int64, out []fitted) {
	for kind, list := range t.messages(t.samples) {
		if t.m.acked {
			list = slices.DeleteFunc(list, func(c compared) bool { return c.ref.units == nil })
		}
		if len(list) < fewest {
			continue
		}
		x := fitter{list: spread(list, 1200)}
		for at, p := range t.places(kind) {
			if p.bits <= 32 && at+(p.bits+7)/8 <= maxPlaces {
				x.all = append(x.all, &fitted{kind: kind, at: at, bits: uint8(p.bits)})
			}
		}
		slices.SortFunc(x.all, func(a, b *fitted) int { return a.at - b.at })
		total += x.fit(int(t.m.kinds[kind].key))
		for _, f := range x.all {
			if f.enough {
				out = append(out, *f)
			}
		}
	}
	return total, out
}

// places returns the kind's pieces by the unit at which they begin. Units of groups of bytes are at
// the place of the byte; units of groups of bits follow one another.
func (t *trainer) places(kind int) map[int]piece {
	out := map[int]piece{}
	k := &t.m.kinds[kind]
	inBits := len(k.groups) == 1 && int(k.groups[0].span) == int(k.size) && k.size > 0
	at := 0
	for _, p := range t.pieces[kind] {
		if inBits {
			out[at] = p
			at += (p.bits + 7) / 8
		} else {
			out[p.from/8] = p
		}
	}
	return out
}

// ratioOf is a/b in units of 2^-40, at most 2^60.
func ratioOf(a, b int64) int64 {
	return min(max(a/b, -1<<20), 1<<20)<<40 + fraction(a%b, b)
}

// fraction returns a/b in units of 2^-40, rounded towards zero, of |a| < |b| < 2^62.
func fraction(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, -a)), 1<<40)
	q, _ := bits.Div64(hi, lo, uint64(max(b, -b)))
	if (a < 0) != (b < 0) {
		return -int64(q)
	}
	return int64(q)
}

// crowd returns the half-sample mode of sorted numbers: the shortest interval with half of them,
// and again within it. Outliers, such as turns, would move a mean or a median.
func crowd(v []int64) int64 {
	for len(v) > 8 {
		half, at := (len(v)+1)/2, 0
		for i := range len(v) - half + 1 {
			if v[i+half-1]-v[i] < v[at+half-1]-v[at] {
				at = i
			}
		}
		v = v[at : at+half]
	}
	return v[len(v)/2]
}

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

// fillFields counts the residuals of the fields' guesses into their distributions, as a coder walks
// through the samples.
func (t *trainer) fillFields() {
	counts := make([][guesses][classes][2][buckets]int64, len(t.m.fields))
	t.eachSample(t.samples, func(k *coder, s *sample, past *log) {
		if len(s.data) > maxBytes {
			return
		}
		k.follow(s.data, past, func(v byte, bits uint) {
			w := &k.w
			w.gather()
			n := &w.num
			if n.active && n.part == n.f.units-1 {
				number := n.so | int64(v)
				c := &counts[t.m.places[w.at()].field]
				for j := range n.on {
					side, b, _ := sideOf(wrap(number-n.guess[j].pred, 1<<(n.f.bits-1)))
					c[j][n.guess[j].class][side][b]++
				}
			}
			n.leave(v)
		})
	})
	for i := range t.m.fields {
		f := &t.m.fields[i]
		for g := range f.count() {
			learnShares(&f.share[g], &counts[i][g])
			for c := range classes {
				for side := range 2 {
					f.shares(&f.share[g][c][side])
				}
			}
		}
		f.fill()
	}
}

// learnShares computes shares from counts: each bucket gets a little of its neighbours', and each
// class a little of all classes.
func learnShares(share *[classes][2][buckets]uint8, counts *[classes][2][buckets]int64) {
	var all [2][buckets]int64
	total := int64(0)
	for side := range all {
		for i := range buckets {
			v := int64(1) // in 1/50
			for c := range counts {
				v += 50 * counts[c][side][i]
				if i > 0 && i < buckets-1 {
					v += 5 * (counts[c][side][i-1] + counts[c][side][i+1])
				}
			}
			all[side][i] = v
			total += v
		}
	}
	for c := range counts {
		var n [2][buckets]int64
		sum := int64(0)
		for side := range n {
			for i := range buckets {
				n[side][i] = 50*counts[c][side][i] + 400*(all[side][i]<<16/total)>>16
				sum += n[side][i]
			}
		}
		for side := range n {
			for i := range buckets {
				share[c][side][i] = shareFrom(n[side][i], sum)
			}
		}
	}
}
