package datagram

// Ways of guessing a field.
const (
	guessAny    = iota // what the last message of the kind has
	guessRef           // what the reference has
	guessLine          // the straight line through the last two
	guessRate          // what the reference has + rate x time since
	guessArc           // the same, with a rate that turned meanwhile
	guessTurned        // the reference's, as one of two components that turned meanwhile
	guessSpeed         // what the other component leaves of the reference's speed
	guessLeft          // what the other component leaves of a certain speed
	guessAngle         // where two components point to
	ways
)

// alone are the guesses that need nothing but the message itself.
const alone = guessLeft

// guess is one way to predict a field.
type guess struct {
	way    uint8
	a, b   operand // components, of which a is the rate
	turn   operand // how fast the direction from a to b turns
	gain   factor  // of the rate
	spin   factor  // of turn
	minus  bool    // the direction is from b to a; of guessLeft: the root is negative
	radius uint32  // the speed; of guessAngle: what is slower goes backwards
	offset uint32  // of an angle
}

// operand is another field: of the reference, or of the message so far.
type operand struct{ at, bits uint8 }

// factor is a fraction: by / 1<<shift.
type factor struct {
	by    int16
	shift uint8
}

// of is f x rate x time, rounded. The rate has at most 24 bits, the time 22.
func (f factor) of(rate, time int64) int64 {
	return (int64(f.by)*(rate*time) + 1<<f.shift>>1) >> f.shift
}

// scene is what a guess may look at.
type scene struct {
	now                 uint32
	cur, ref, ref2, any message
}

// in reads the operand of a message, with a sign.
func (o operand) in(m message) int64 {
	if o.bits == 0 {
		return 0
	}
	return m.value(int(o.at), o.bits) << (64 - o.bits) >> (64 - o.bits)
}

// predict returns what a field of some bits at a unit should be; any bits may be set
// beyond its own.
func (g *guess) predict(bits uint8, at int, s *scene) int64 {
	switch g.way {
	case guessAny:
		return s.any.value(at, bits)
	case guessLine:
		return 2*s.ref.value(at, bits) - s.ref2.value(at, bits)
	case guessRate:
		return s.ref.value(at, bits) + g.gain.of(g.a.in(s.ref), since(s.now, s.ref.now))
	case guessArc:
		return s.ref.value(at, bits) + g.arc(s)
	case guessTurned:
		a, _ := g.turned(s)
		return a
	case guessSpeed:
		a, b := g.turned(s)
		c := g.b.in(s.cur)
		if r := root(a*a + b*b - c*c); a >= 0 {
			return r
		} else {
			return -r
		}
	case guessLeft:
		b := g.b.in(s.cur)
		if r := root(int64(g.radius)*int64(g.radius) - b*b); !g.minus {
			return r
		} else {
			return -r
		}
	case guessAngle:
		a, b := g.a.in(s.cur), g.b.in(s.cur)
		turn := uint32(angle(a, b)) + g.offset
		if r := int64(g.radius); a*a+b*b < r*r {
			turn += 1 << 31
		}
		return int64(turn+1<<(31-bits)) >> (32 - bits)
	}
	return s.ref.value(at, bits)
}

// since is the time between two clocks, at most 2^22 either way.
func since(now, then uint32) int64 {
	return min(max(int64(int32(now-then)), -1<<22), 1<<22)
}

// by returns by how much the direction turned since the reference, counted from a to b.
func (g *guess) by(s *scene) int32 {
	turn := int32(g.spin.of(g.turn.in(s.ref), since(s.now, s.ref.now)))
	if g.minus {
		return -turn
	}
	return turn
}

// turned returns the reference's components, turned as it did.
func (g *guess) turned(s *scene) (a, b int64) { return rotate(g.a.in(s.ref), g.b.in(s.ref), g.by(s)) }

// arc is rate x time of a rate that turned meanwhile: the chord has its direction halfway,
// and is shorter by 1 - turn^2/24.
func (g *guess) arc(s *scene) int64 {
	turn := g.by(s)
	a, _ := rotate(g.a.in(s.ref), g.b.in(s.ref), turn/2)
	way := g.gain.of(a, since(s.now, s.ref.now))
	t := int64(turn>>16) * 411775 >> 20 // in 1/4096 of the radius: 2*pi/16
	return way - way*min(t*t/24, 1<<24)>>24
}
