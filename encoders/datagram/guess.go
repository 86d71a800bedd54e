package datagram

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
