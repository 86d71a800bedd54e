package datagram

import (
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
