package datagram

import "math/bits"

// number follows a field through its units.
type number struct {
	active bool
	f      *field
	part   uint8
	so     int64 // the number so far, zeros behind
	before int64 // residual of the last complete field
	size   int64 // of the intervals of residuals that the bits so far leave
	on     int   // number of guesses that can be made
	guess  [guesses]estimate
}

// estimate is one guess and the interval of its residuals that the bits so far leave.
type estimate struct {
	pred           int64 // the guess
	class          int   // of its distribution
	below          *[2][buckets + 1]uint32
	from           int64 // where the interval begins
	low, mid, high int64 // the mass below its begin, middle and end
}

// begin prepares for the next unit.
func (s *number) begin(w *walk) {
	s.active = false
	at := w.here()
	if at >= maxPlaces {
		return
	}
	p := &w.m.places[w.at()]
	if p.field < 0 {
		return
	}
	f := &w.m.fields[p.field]
	if p.part == 0 {
		if w.ref.units == nil && f.guess[0].way < alone {
			s.f = nil
			return
		}
		s.beginField(f, at, &scene{w.now, message{units: w.units[history+w.first : history+w.done]}, w.ref, w.ref2, w.any})
	} else {
		if s.f != f || s.part+1 != p.part {
			s.f = nil
			return
		}
		s.so |= int64(w.src[0]) << (8 * (f.units - p.part))
	}
	s.part, s.active = p.part, true
}

// beginField makes the guesses. The class of the first depends on the residual of the field
// before, that of the second on the distance between the two.
func (s *number) beginField(f *field, at int, c *scene) {
	s.f, s.so, s.size, s.on = f, 0, 1<<f.bits, f.count()
	if c.ref.units == nil && f.guess[1].way < alone {
		s.on = 1
	}
	for i := range s.on {
		o := &s.guess[i]
		o.pred = f.guess[i].predict(f.bits, at, c) & (s.size - 1)
		if i == 0 {
			o.class = classOf(s.before)
		} else {
			o.class = classOf(wrap(s.guess[0].pred-o.pred, s.size/2))
		}
		o.below = &f.below[i][o.class]
		o.from = wrap(-o.pred, s.size/2)
		o.low, o.high = mass(o.below, o.from, s.size/2), mass(o.below, o.from+s.size, s.size/2)
	}
}

// wrap brings a residual into a number's range.
func wrap(r, half int64) int64 { return (r+half)&(2*half-1) - half }

// leave ends the unit; the last of a field sets its residual.
func (s *number) leave(u byte) {
	if s.active && s.part == s.f.units-1 {
		s.before = wrap((s.so|int64(u))-s.guess[0].pred, 1<<(s.f.bits-1))
	}
}

// missed returns the sign of the last field's residual and its number of bits.
func (s *number) missed() byte {
	n := byte(bits.Len64(uint64(max(s.before, -s.before))))
	if s.before < 0 {
		n |= 128
	}
	return n
}

// classOf returns the class of a residual.
func classOf(r int64) int {
	r = max(r, -r)
	switch {
	case r < 2:
		return 0
	case r < 24:
		return 1
	case r < 400:
		return 2
	}
	return 3
}

// mean returns the prediction's unit here.
func (s *number) mean() byte {
	if !s.active {
		return 0
	}
	return byte(s.guess[0].pred >> (8 * (s.f.units - 1 - s.part)))
}

// wrong returns how the units so far differ from the prediction's.
func (s *number) wrong() byte {
	if !s.active || s.part == 0 {
		return 0
	}
	shift := 8 * (s.f.units - s.part)
	return byte(min(max(s.so>>shift-s.guess[0].pred>>shift, -100), 100))
}

// split halves the intervals of residuals for the next bit, and returns the logit of a 1 by each
// guess, as a node.
func (s *number) split(t *tables) (a, b int32) {
	half := int64(1) << (s.f.bits - 1)
	a = s.guess[0].split(t, s.size/2, half)
	if s.on > 1 {
		b = s.guess[1].split(t, s.size/2, half)
	}
	return a, b
}

func (o *estimate) split(t *tables, size, half int64) int32 {
	o.mid = mass(o.below, o.from+size, half)
	if all := o.high - o.low; all < 4 || all > 1<<21 {
		return 0
	}
	return min(max(t.ln(uint32(o.high-o.mid))-t.ln(uint32(o.mid-o.low)), -127), 127)
}

// whole continues after a unit that was not coded bit by bit.
func (s *number) whole(u byte, bits uint) {
	if !s.active {
		return
	}
	s.size >>= bits
	for i := range s.on {
		o := &s.guess[i]
		o.from += int64(u) * s.size
		o.low, o.high = mass(o.below, o.from, 1<<(s.f.bits-1)), mass(o.below, o.from+s.size, 1<<(s.f.bits-1))
	}
	s.leave(u)
}

// took continues with the half that a bit chose.
func (s *number) took(bit int) {
	s.size /= 2
	for i := range s.on {
		o := &s.guess[i]
		if bit != 0 {
			o.from += s.size
			o.low = o.mid
		} else {
			o.high = o.mid
		}
	}
}
