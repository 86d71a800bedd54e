package datagram

import (
	"math"
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// A field is a number of up to 32 bits that is predicted from messages before. What is
// left over has a distribution of buckets, whose width grows with the distance.
type field struct {
	bits  uint8 // of the number
	units uint8 // the first has what does not fill 8 bits
	guess uint8
	// Of guessRate: the place and size of the rate in the reference, and the gain.
	rate      uint8
	rateBits  uint8
	gain      int16
	gainShift uint8
	share     [1 + classes][2][buckets]uint8
	// below holds the mass, of massOne, of the buckets below each on one side of the prediction:
	// whatever the field before was, and by how far off that was.
	below [1 + classes][2][buckets + 1]uint32
}

const (
	buckets = 128
	classes = 4
	massOne = 1 << 19
)

// Guesses of a field.
const (
	guessAny  = iota // what the last message of the kind has
	guessRef         // what the reference has
	guessLine        // the straight line through the last two
	guessRate        // what the reference has + rate x time since
	guesses
)

// bucket returns the bucket of distance k, where it begins, and the log of its width.
func bucket(k uint32) (i int, from uint32, log uint) {
	if k < 4 {
		return int(k), k, 0
	}
	l := uint(bits.Len32(k)) - 1
	sub := k >> (l - 2) & 3
	return int(4*(l-1)) + int(sub), (4 + sub) << (l - 2), l - 2
}

// fill makes masses of shares, which are in eighths of a bit.
func (f *field) fill() {
	for c := range f.share {
		sum := uint64(1)
		for side := range 2 {
			for _, s := range f.share[c][side] {
				sum += shareOf(s)
			}
		}
		for side := range 2 {
			so := uint64(0)
			for i, s := range f.share[c][side] {
				f.below[c][side][i] = uint32(so * massOne / sum)
				so += shareOf(s)
			}
			f.below[c][side][buckets] = uint32(so * massOne / sum)
		}
	}
}

// shareOf is 2^(32-s/8): one of 2^32, halved by every 8.
func shareOf(s uint8) uint64 {
	eighths := [8]uint64{1 << 32, 3938502375, 3611622602, 3311872529, 3037000499, 2784941738, 2553802833, 2341847524}
	return eighths[s&7] >> (s >> 3)
}

// shareFrom is the inverse, rounded: of part of whole.
func shareFrom(part, whole int64) uint8 {
	p := uint32(min(max(part<<30/max(whole, 1), 2), 1<<30))
	return uint8(min(max((30*65536-rangecoder.Log2(p)+4096)>>13, 0), 255))
}

// under returns the mass of distances below k.
func under(t *[buckets + 1]uint32, k uint64) int64 {
	if k > math.MaxUint32 {
		return int64(t[buckets])
	}
	i, from, log := bucket(uint32(k))
	a := int64(t[i])
	return a + (int64(t[i+1])-a)*int64(k-uint64(from))>>log
}

// mass returns that of residuals below r; those above half go on with the lowest.
func mass(b *[2][buckets + 1]uint32, r, half int64) int64 {
	if r > half {
		return mass(b, half, half) + mass(b, r-2*half, half) - mass(b, -half, half)
	}
	if r >= 0 {
		return int64(b[1][buckets]) + under(&b[0], uint64(r))
	}
	return int64(b[1][buckets]) - under(&b[1], uint64(-r))
}

// value reads a number of some bits that begins at a unit.
func (m message) value(at int, bits uint8) int64 {
	var v int64
	for n := int(bits); n > 0; n -= 8 {
		v = v<<8 | int64(m.at(at))
		at++
	}
	return v & (1<<bits - 1)
}

// signed reads it as one with a sign.
func (m message) signed(at int, bits uint8) int64 {
	return m.value(at, bits) << (64 - bits) >> (64 - bits)
}

// predict returns what the field at unit at should be; any bits may be set beyond its own.
func (f *field) predict(at int, now uint32, ref, ref2, any message) int64 {
	switch f.guess {
	case guessAny:
		return any.value(at, f.bits)
	case guessLine:
		return 2*ref.value(at, f.bits) - ref2.value(at, f.bits)
	case guessRate:
		return ref.value(at, f.bits) + f.step(ref.signed(int(f.rate), f.rateBits), since(now, ref.now))
	}
	return ref.value(at, f.bits)
}

// since is the time between two clocks, at most 2^22 either way.
func since(now, then uint32) int64 {
	return min(max(int64(int32(now-then)), -1<<22), 1<<22)
}

// step is gain x rate x time, rounded. The rate has at most 24 bits.
func (f *field) step(rate, time int64) int64 {
	return (int64(f.gain)*(rate*time) + 1<<f.gainShift>>1) >> f.gainShift
}

// Ways of writing a time.
const (
	floatBig    = iota // seconds
	integerBig         // any unit
	floatLittle        //
	integerLittle
	timings
)

// clockTime reads a time from four bytes: integers as they are, floats in 1/65536.
func clockTime(b uint32, timing uint8) uint32 {
	if timing >= floatLittle {
		b = bits.ReverseBytes32(b)
	}
	if timing&1 == integerBig {
		return b
	}
	mantissa := uint64(b&(1<<23-1) | 1<<23)
	shift := int(b>>23&255) - 150 + 16
	switch {
	case shift > 31 || shift < -31:
		return 0
	case shift >= 0:
		mantissa <<= shift
	default:
		mantissa >>= -shift
	}
	if b>>31 != 0 {
		mantissa = -mantissa
	}
	return uint32(mantissa)
}

// number follows a field through its units.
type number struct {
	active bool
	f      *field
	part   uint8
	pred   int64
	so     int64 // the number so far, zeros behind
	class  int
	before int64 // how far off the last whole field was

	// The residuals that the bits so far leave: from, size, and the mass below
	// their beginning, middle and end: for all, and for the class.
	from, size, half int64
	low, mid, high   [2]int64
}

// enter prepares for the unit to come.
func (s *number) enter(w *walk) {
	s.active = false
	at := w.here()
	if at >= maxPlaces || w.ref.units == nil {
		return
	}
	p := &w.m.places[w.at()]
	if p.field < 0 {
		return
	}
	f := &w.m.fields[p.field]
	if p.part == 0 {
		s.begin(f, f.predict(at, w.now, w.ref, w.ref2, w.any))
	} else {
		if s.f != f || s.part+1 != p.part {
			s.f = nil
			return
		}
		s.so |= int64(w.src[0]) << (8 * (f.units - p.part))
	}
	s.part, s.active = p.part, true
}

func (s *number) begin(f *field, pred int64) {
	s.f, s.so, s.class = f, 0, classOf(s.before)
	s.half = 1 << (f.bits - 1)
	s.size = 2 * s.half
	s.pred = pred & (s.size - 1)
	s.from = (-s.pred+s.half)&(s.size-1) - s.half
	for i := range s.low {
		b := &f.below[i*(1+s.class)]
		s.low[i] = mass(b, s.from, s.half)
		s.high[i] = mass(b, s.from+s.size, s.half)
	}
}

// leave notes the unit; a field's last one tells how far off it was.
func (s *number) leave(u byte) {
	if s.active && s.part == s.f.units-1 {
		s.before = ((s.so|int64(u))-s.pred+s.half)&(2*s.half-1) - s.half
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
	return byte(s.pred >> (8 * (s.f.units - 1 - s.part)))
}

// wrong returns how the units so far differ from the prediction's.
func (s *number) wrong() byte {
	if !s.active || s.part == 0 {
		return 0
	}
	shift := 8 * (s.f.units - s.part)
	return byte(min(max(s.so>>shift-s.pred>>shift, -100), 100))
}

// split halves the residuals that are left, for the next bit.
func (s *number) split() {
	middle := s.from + s.size/2
	s.mid[0] = mass(&s.f.below[0], middle, s.half)
	s.mid[1] = mass(&s.f.below[1+s.class], middle, s.half)
}

// bit returns an opinion on the next bit, as a node.
func (s *number) bit(i int) int8 {
	all := uint64(s.high[i] - s.low[i])
	if all < 4 || all > 1<<21 {
		return 0
	}
	return opinions[min(uint64(s.high[i]-s.mid[i])*4095/all, 4095)]
}

// opinions are nodes of shares in 1/4096.
var opinions = func() (t [4096]int8) {
	for i := range t {
		t[i] = toNode(rangecoder.Stretch(uint32(16*i + 8)))
	}
	return t
}()

// took goes on with the half that a bit chose.
func (s *number) took(bit int) {
	s.size /= 2
	if bit != 0 {
		s.from += s.size
		s.low = s.mid
	} else {
		s.high = s.mid
	}
}
