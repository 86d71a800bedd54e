package datagram

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// number follows a field through its units.
type number struct {
	active bool
	f      *field
	part   uint8
	so     int64 // the number so far, zeros behind
	before int64 // how far off the last whole field was
	size   int64 // of the intervals of residuals that the bits so far leave
	on     int   // guesses that can be made
	guess  [guesses]opinion
}

// opinion is what one guess says. Its interval of residuals begins at from; it has the mass
// below its beginning, middle and end.
type opinion struct {
	pred           int64
	class          int
	below          *[2][buckets + 1]uint32
	from           int64
	low, mid, high int64
}

// enter prepares for the unit to come.
func (s *number) enter(w *walk) {
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
		s.begin(f, at, &scene{w.now, message{units: w.units[history+w.first : history+w.done]}, w.ref, w.ref2, w.any})
	} else {
		if s.f != f || s.part+1 != p.part {
			s.f = nil
			return
		}
		s.so |= int64(w.src[0]) << (8 * (f.units - p.part))
	}
	s.part, s.active = p.part, true
}

// begin makes the guesses. The first has distributions by how far off the field before was,
// the second by how far they are apart.
func (s *number) begin(f *field, at int, c *scene) {
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

// leave notes the unit; a field's last one tells how far off it was.
func (s *number) leave(u byte) {
	if s.active && s.part == s.f.units-1 {
		s.before = wrap((s.so|int64(u))-s.guess[0].pred, 1<<(s.f.bits-1))
	}
}

// missed tells how far off the field before was: its sign, and its size on a scale that
// grows with it.
func (s *number) missed() byte {
	if r := s.before; r < 0 {
		return byte(128 | bits.Len64(uint64(-r)))
	} else {
		return byte(bits.Len64(uint64(r)))
	}
}

// classOf sorts fields by how far off the one before was.
func classOf(r int64) int {
	if r < 0 {
		r = -r
	}
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

// split halves the residuals that are left, for the next bit, and returns an opinion on it
// of each guess, as a node.
func (s *number) split() (a, b int32) {
	half := int64(1) << (s.f.bits - 1)
	a = s.guess[0].split(s.size/2, half)
	if s.on > 1 {
		b = s.guess[1].split(s.size/2, half)
	}
	return a, b
}

func (o *opinion) split(size, half int64) int32 {
	o.mid = mass(o.below, o.from+size, half)
	if all := o.high - o.low; all < 4 || all > 1<<21 {
		return 0
	}
	return min(max(logOf(uint32(o.high-o.mid))-logOf(uint32(o.mid-o.low)), -127), 127)
}

// whole goes on with a unit that was not coded bit by bit.
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

// logOf is the logarithm of a mass, as a node.
func logOf(mass uint32) int32 {
	n := bits.Len32(mass)
	return int32(massLogs[n&31][mass<<(31-n&31)>>25&31])
}

// massLogs holds them by the length of a number and what follows its highest bit.
var massLogs = func() (t [32][32]int16) {
	for n := 1; n < 32; n++ {
		for i := range t[n] {
			log := int64(rangecoder.Log2(uint32(64+2*i+1))) + int64(n-7)<<16 // in 1/65536
			t[n][i] = int16((log*727 + 1<<21) >> 22)                         // 16*ln(2)/65536
		}
	}
	for i := range t[0] {
		t[0][i] = -11 // half of one
	}
	return t
}()

// took goes on with the half that a bit chose.
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
