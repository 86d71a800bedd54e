package datagram

import (
	"encoding/binary"
	"slices"
)

// clock is where a time may be in messages of a kind.
type clock struct {
	at     int8
	timing uint8
}

// findClocks looks for four bytes that rise from each message to the next of the same key.
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

// findFields makes fields of the pieces: each with the prediction that leaves least, and
// the distribution of what is left. The clocks are chosen with them, by what rates are
// worth then.
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
		for part := range int(f.f.units) {
			t.m.places[at+part].field = int16(len(t.m.fields))
			t.m.places[at+part].part = uint8(part)
		}
		t.m.fields = append(t.m.fields, f.f)
	}
	t.fillFields()
}

// fitted is a field of a kind.
type fitted struct {
	kind, at int
	f        field
}

// fit finds the best predictions with the clocks as they are, and what is left in all.
func (t *trainer) fit() (total int64, out []fitted) {
	for kind, list := range t.messages() {
		list = slices.DeleteFunc(list, func(c compared) bool { return c.ref.units == nil })
		if len(list) < fewest {
			continue
		}
		list = spread(list, 1200)
		var all []fitted
		for at, p := range t.places(kind) {
			if p.bits <= 32 && at+(p.bits+7)/8 <= maxPlaces {
				all = append(all, fitted{kind, at, field{bits: uint8(p.bits), units: uint8((p.bits + 7) / 8)}})
			}
		}
		slices.SortFunc(all, func(a, b fitted) int { return a.at - b.at })
		for i := range all {
			bits, enough := best(&all[i], all, list, int(t.m.kinds[kind].key))
			if total += bits; enough {
				out = append(out, all[i])
			}
		}
	}
	return total, out
}

// places returns the kind's pieces by the unit that they begin at. In groups of bytes units
// are where bytes are; those of bits are one after the other.
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

// best gives a field its prediction, and reports what is left in 1/1024 bit and whether
// there was enough to compare with.
func best(x *fitted, all []fitted, list []compared, key int) (int64, bool) {
	f := &x.f
	measure := func(g *field) int64 {
		var c residuals
		c.reset(int(g.bits))
		for i := range list {
			m := &list[i]
			if len(m.units) >= x.at+int(g.units) && len(m.ref.units) >= x.at+int(g.units) {
				c.add(message{units: m.units}.value(x.at, g.bits) - g.predict(x.at, m.now, m.ref, m.ref2, m.any))
			}
		}
		return c.bits
	}
	enough := 0
	for i := range list {
		if len(list[i].units) >= x.at+int(f.units) && len(list[i].ref.units) >= x.at+int(f.units) {
			enough++
		}
	}
	least := measure(f)
	if x.at <= key {
		return least, enough*10 >= len(list)
	}
	for guess := uint8(guessRef); guess < guessRate; guess++ {
		g := *f
		if g.guess = guess; measure(&g) < least {
			least, *f = measure(&g), g
		}
	}
	for i := range all {
		g := *f
		if !findRate(&g, x.at, &all[i], list) {
			continue
		}
		if bits := measure(&g); bits < least/100*99 {
			least, *f = bits, g
		}
	}
	return least, enough*10 >= len(list)
}

// findRate fits the gain by which another field, times the time since, tells how the field
// at a unit moves.
func findRate(f *field, at int, by *fitted, list []compared) bool {
	if by.f.bits > 24 || by.f.bits < 4 || f.bits < 6 {
		return false
	}
	f.guess, f.rate, f.rateBits = guessRate, uint8(by.at), by.f.bits
	type point struct{ moved, by int64 }
	var points []point
	half := int64(1) << (f.bits - 1)
	for i := range list {
		m := &list[i]
		if len(m.units) < at+int(f.units) || len(m.ref.units) < max(at+int(f.units), by.at+int(by.f.units)) {
			continue
		}
		p := point{message{units: m.units}.value(at, f.bits) - m.ref.value(at, f.bits),
			m.ref.signed(by.at, f.rateBits) * since(m.now, m.ref.now)}
		p.moved = (p.moved+half)&(2*half-1) - half
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
	f.gainShift = 40
	for gain > 1<<15-1 || gain < -1<<15 {
		gain >>= 1
		if f.gainShift == 0 {
			return false
		}
		f.gainShift--
	}
	f.gain = int16(gain)
	return gain != 0
}

// ratioOf is a/b in units of 2^-40, at most 2^60.
func ratioOf(a, b int64) int64 {
	return min(max(a/b, -1<<20), 1<<20)<<40 + fraction(a%b, b)
}

// fraction is a/b in units of 2^-40, of |a| < |b| < 2^62.
func fraction(a, b int64) (q int64) {
	negative := (a < 0) != (b < 0)
	a, b = max(a, -a), max(b, -b)
	for range 40 {
		a, q = a<<1, q<<1
		if a >= b {
			a -= b
			q++
		}
	}
	if negative {
		return -q
	}
	return q
}

// crowd returns where sorted numbers crowd: in the shortest interval that holds half of
// them, and again within it (half-sample mode). A mean or a median is drawn away by turns
// and by those that begin elsewhere.
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

// fillFields counts the fields' residuals into their distributions.
func (t *trainer) fillFields() {
	counts := make([][1 + classes][2][buckets]int64, len(t.m.fields))
	for kind, list := range t.messages() {
		for i := range list {
			c := &list[i]
			class := 0
			for at := 0; c.ref.units != nil && at < min(len(c.units), maxPlaces); at++ {
				p := &t.m.places[kind*maxPlaces+at]
				if p.field < 0 || p.part != 0 {
					continue
				}
				f := &t.m.fields[p.field]
				if len(c.units) < at+int(f.units) {
					continue
				}
				var x residuals
				x.reset(int(f.bits))
				r := x.wrap(message{units: c.units}.value(at, f.bits) - f.predict(at, c.now, c.ref, c.ref2, c.any))
				side, b, _ := sideOf(r)
				counts[p.field][0][side][b]++
				counts[p.field][1+class][side][b]++
				class = classOf(r)
			}
		}
	}
	for i := range t.m.fields {
		t.m.fields[i].learn(&counts[i])
	}
}

// learn makes shares of counts: each bucket has a little of its neighbours', and a class
// begins with what is so in all cases.
func (f *field) learn(counts *[1 + classes][2][buckets]int64) {
	var parent [2][buckets]int64 // of 1<<16
	for c := range counts {
		var n [2][buckets]int64
		total := int64(0)
		for side := range 2 {
			for i := range buckets {
				v := 50*counts[c][side][i] + 1 // in 1/50
				if c > 0 {
					v = 50*counts[c][side][i] + 400*parent[side][i]>>16
				} else if i > 0 && i < buckets-1 {
					v += 5 * (counts[c][side][i-1] + counts[c][side][i+1])
				}
				n[side][i] = v
				total += v
			}
		}
		for side := range 2 {
			for i := range buckets {
				if c == 0 {
					parent[side][i] = n[side][i] << 16 / total
				}
				f.share[c][side][i] = shareFrom(n[side][i], total)
			}
		}
	}
	f.fill()
}
