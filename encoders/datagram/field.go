package datagram

import (
	"math"
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// A field is a number of up to 32 bits with up to two predictions. The residual of each has a
// distribution over buckets, whose width grows with the distance.
type field struct {
	bits  uint8 // of the number
	units uint8 // the first has what does not fill 8 bits
	guess [guesses]guess
	share [guesses][classes][2][buckets]uint8
	// below holds the mass, of massOne, of the buckets below each on one side of the prediction,
	// by class: see number.beginField.
	below [guesses][classes][2][buckets + 1]uint32
}

// count returns the number of guesses: one if the second equals the first.
func (f *field) count() int {
	if f.guess[1] == f.guess[0] {
		return 1
	}
	return guesses
}

const (
	buckets = 128
	classes = 4
	guesses = 2
	massOne = 1 << 19
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

// fill computes masses from shares, which are in eighths of a bit.
func (f *field) fill() {
	for g := range f.count() {
		for c := range f.share[g] {
			fill(&f.below[g][c], &f.share[g][c])
		}
	}
}

func fill(below *[2][buckets + 1]uint32, share *[2][buckets]uint8) {
	sum := uint64(1)
	for side := range share {
		for _, s := range share[side] {
			sum += shareOf(s)
		}
	}
	for side := range share {
		so := uint64(0)
		for i, s := range share[side] {
			below[side][i] = uint32(so * massOne / sum)
			so += shareOf(s)
		}
		below[side][buckets] = uint32(so * massOne / sum)
	}
}

// shares removes the share of buckets beyond the field's bits, and returns the number of the others.
func (f *field) shares(share *[buckets]uint8) int {
	n := 4 * int(f.bits)
	for i := n; i < buckets; i++ {
		share[i] = 255
	}
	return n
}

// shareOf returns 2^(32-s/8).
func shareOf(s uint8) uint64 {
	eighths := [8]uint64{1 << 32, 3938502375, 3611622602, 3311872529, 3037000499, 2784941738, 2553802833, 2341847524}
	return eighths[s&7] >> (s >> 3)
}

// shareFrom returns the share, as shareOf takes it, of part in whole.
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

// mass returns the mass of residuals below r. Residuals of half or more wrap to the lowest.
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

// Ways of writing a time.
const (
	floatBig    = iota // seconds, highest byte first
	integerBig         // any unit
	floatLittle        // seconds, lowest byte first
	integerLittle
	timings
)

// clockTime reads a time from four bytes: integers unchanged, floats in 1/65536.
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

// Ways of guessing a field.
const (
	guessAny    = iota // the value in the last message of the kind
	guessRef           // the value in the reference
	guessLine          // the straight line through the last two values
	guessRate          // the reference's value + rate x time since
	guessArc           // the same, with a rate that turned meanwhile
	guessTurned        // the reference's value, as one of two components that turned meanwhile
	guessSpeed         // the component that, with another one, gives the reference's speed
	guessLeft          // the component that, with another one, gives a constant speed
	guessAngle         // the direction of two components
	ways
)

// alone is the first guess that needs only the message itself.
const alone = guessLeft

// guess is one way to predict a field.
type guess struct {
	way    uint8
	a, b   operand // components, of which a is the rate
	turn   operand // angular speed of the direction from a to b
	gain   factor  // of the rate
	spin   factor  // of turn
	minus  bool    // the direction is from b to a; of guessLeft: the root is negative
	radius uint32  // the speed; of guessAngle: below it things go backwards
	offset uint32  // of an angle
}

// operand is another field: of the reference, or of the message so far.
type operand struct{ at, bits uint8 }

// factor is the fraction by / 1<<shift.
type factor struct {
	by    int16
	shift uint8
}

// times returns f x rate x time, rounded. The rate has at most 24 bits, the time 22.
func (f factor) times(rate, time int64) int64 {
	return (int64(f.by)*(rate*time) + 1<<f.shift>>1) >> f.shift
}

// scene holds the inputs of a guess.
type scene struct {
	now                 uint32
	cur, ref, ref2, any message
}

// read reads the operand of a message, with a sign.
func (o operand) read(m message) int64 {
	if o.bits == 0 {
		return 0
	}
	return m.value(int(o.at), o.bits) << (64 - o.bits) >> (64 - o.bits)
}

// predict returns the guess for a field of some bits at a unit. Bits beyond those are undefined.
func (g *guess) predict(bits uint8, at int, s *scene) int64 {
	switch g.way {
	case guessAny:
		return s.any.value(at, bits)
	case guessLine:
		return 2*s.ref.value(at, bits) - s.ref2.value(at, bits)
	case guessRate:
		return s.ref.value(at, bits) + g.gain.times(g.a.read(s.ref), since(s.now, s.ref.now))
	case guessArc:
		return s.ref.value(at, bits) + g.arc(s)
	case guessTurned:
		a, _ := g.turned(s)
		return a
	case guessSpeed:
		a, b := g.turned(s)
		c := g.b.read(s.cur)
		r := root(a*a + b*b - c*c)
		if a < 0 {
			return -r
		}
		return r
	case guessLeft:
		b := g.b.read(s.cur)
		r := root(int64(g.radius)*int64(g.radius) - b*b)
		if g.minus {
			return -r
		}
		return r
	case guessAngle:
		a, b := g.a.read(s.cur), g.b.read(s.cur)
		turn := uint32(angle(a, b)) + g.offset
		if r := int64(g.radius); a*a+b*b < r*r {
			turn += 1 << 31
		}
		return int64(turn+1<<(31-bits)) >> (32 - bits)
	}
	return s.ref.value(at, bits)
}

// since returns the time between two clocks, at most 2^22 either way.
func since(now, then uint32) int64 {
	return min(max(int64(int32(now-then)), -1<<22), 1<<22)
}

// turnSince returns the turn of the direction since the reference, counted from a to b.
func (g *guess) turnSince(s *scene) int32 {
	turn := int32(g.spin.times(g.turn.read(s.ref), since(s.now, s.ref.now)))
	if g.minus {
		return -turn
	}
	return turn
}

// turned returns the reference's components, turned by turnSince.
func (g *guess) turned(s *scene) (a, b int64) {
	return rotate(g.a.read(s.ref), g.b.read(s.ref), g.turnSince(s))
}

// arc returns rate x time of a rate that turned meanwhile: the chord has the direction halfway, and
// is shorter by 1 - turn^2/24.
func (g *guess) arc(s *scene) int64 {
	turn := g.turnSince(s)
	a, _ := rotate(g.a.read(s.ref), g.b.read(s.ref), turn/2)
	way := g.gain.times(a, since(s.now, s.ref.now))
	t := int64(turn>>16) * 411775 >> 20 // in 1/4096 of the radius: 2*pi/16
	return way - way*min(t*t/24, 1<<24)>>24
}

// Angles are in 1/2^32 of a full turn, so that they wrap as uint32. Everything here is on integers
// (CORDIC, after Volder), the same on every machine.

// arcs are the angles with tangents of 1, 1/2, 1/4 and so on.
var arcs = [...]int32{0x20000000, 0x12e4051e, 0x9fb385b, 0x51111d4, 0x28b0d43, 0x145d7e1, 0xa2f61e, 0x517c55,
	0x28be53, 0x145f2f, 0xa2f98, 0x517cc, 0x28be6, 0x145f3, 0xa2fa, 0x517d, 0x28be, 0x145f}

// rotate turns a vector of at most 24 bits each.
func rotate(x, y int64, turn int32) (int64, int64) {
	if turn > 1<<30 || turn < -1<<30 {
		x, y, turn = -x, -y, turn+-1<<31
	}
	// The steps make the vector longer; the inverse of that factor, of 1<<30, is applied first.
	x, y = x*652032874>>14, y*652032874>>14
	for i, a := range arcs {
		if turn >= 0 {
			x, y, turn = x-y>>i, y+x>>i, turn-a
		} else {
			x, y, turn = x+y>>i, y-x>>i, turn+a
		}
	}
	return (x + 1<<15) >> 16, (y + 1<<15) >> 16
}

// angle returns the direction of a vector of at most 24 bits each, counted from x to y.
func angle(x, y int64) (turn int32) {
	if x < 0 {
		x, y, turn = -x, -y, -1<<31
	}
	x, y = x<<20, y<<20
	for i, a := range arcs {
		if y >= 0 {
			x, y, turn = x+y>>i, y-x>>i, turn+a
		} else {
			x, y, turn = x-y>>i, y+x>>i, turn-a
		}
	}
	return turn
}

// root returns the square root of v below 2^62, rounded, and 0 of a negative v.
func root(v int64) int64 {
	if v <= 0 {
		return 0
	}
	r := int64(1) << ((bits.Len64(uint64(v)) + 1) / 2)
	for {
		next := (r + v/r) / 2
		if next >= r {
			break
		}
		r = next
	}
	if v-r*r > r {
		r++
	}
	return r
}

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

// observeBit narrows the range of each guess to the half that bit selects: the upper half if it is 1.
func (s *number) observeBit(bit int) {
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
