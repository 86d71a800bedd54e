package physics

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// randomLCP returns a solver in the middle of its work: bodies with any contacts, of
// which some are the floor's and some a held body's. Many numbers are zero, of either sign.
func randomLCP(rng *rand.Rand, bodies, contacts int) *lcp {
	number := func() float64 {
		switch rng.IntN(8) {
		case 0:
			return 0
		case 1:
			return math.Copysign(0, -1)
		case 2:
			return rng.NormFloat64() * 1e-310 // subnormal
		}
		return rng.NormFloat64() * math.Exp2(float64(rng.IntN(12)-6))
	}
	vec := func() Vec { return Vec{number(), number(), number()} }
	state := func() impulseState {
		return impulseState{impulse: number(), gain: math.Abs(number()), keep: rng.Float64()}
	}
	s := &lcp{}
	for range bodies {
		s.motion = append(s.motion, motion{vel: vec(), spin: vec()})
	}
	for range contacts {
		k := rng.IntN(maxPoints)
		s.floor[k] = append(s.floor[k], floorContact{slot: rng.Int32N(int32(bodies)), arm: vec(), bias: number(),
			x: state(), y: state(), z: state()})
		if bodies < 2 {
			continue
		}
		a := rng.Int32N(int32(bodies))
		b := (a + 1 + rng.Int32N(int32(bodies-1))) % int32(bodies)
		for d := range s.rows[k] {
			h := row{a: a, b: b, dir: vec(), twistA: vec(), twistB: vec(), share: number(), bias: number(), impulseState: state()}
			if h.low, h.high = -math.Abs(number()), math.Abs(number()); rng.IntN(2) == 0 {
				h.low, h.high = 0, math.MaxFloat64
			}
			s.rows[k][d] = append(s.rows[k][d], h)
		}
	}
	return s
}

// copied returns a copy of what a sweep reads and writes.
func (s *lcp) copied() *lcp {
	c := &lcp{motion: append([]motion(nil), s.motion...)}
	for k := range s.floor {
		c.floor[k] = append([]floorContact(nil), s.floor[k]...)
		for d := range s.rows[k] {
			c.rows[k][d] = append([]row(nil), s.rows[k][d]...)
		}
	}
	return c
}

// bits returns the exact state of all motions and impulses.
func (s *lcp) bits() (all []uint64) {
	add := func(list ...float64) {
		for _, x := range list {
			all = append(all, math.Float64bits(x))
		}
	}
	for i := range s.motion {
		m := &s.motion[i]
		add(m.vel.X, m.vel.Y, m.vel.Z, m.spin.X, m.spin.Y, m.spin.Z)
	}
	for k := range s.floor {
		for i := range s.floor[k] {
			f := &s.floor[k][i]
			add(f.x.impulse, f.y.impulse, f.z.impulse)
		}
		for d := range s.rows[k] {
			for i := range s.rows[k][d] {
				add(s.rows[k][d][i].impulse)
			}
		}
	}
	return all
}

// compareSweeps runs passes with vector instructions and in plain Go.
func compareSweeps(t *testing.T, seed uint64, bodies, contacts int) {
	t.Helper()
	plain := randomLCP(rand.New(rand.NewPCG(seed, 0)), bodies, contacts)
	fast := plain.copied()
	plain.orderPasses()
	for _, p := range plain.passes {
		plain.sweepPlain(p)
		if !fast.sweepVectors(p) {
			t.Skip("this processor, or this build, has no vector instructions that we use")
		}
		if got, want := fast.bits(), plain.bits(); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, %d bodies, %d contacts: pass %v differs", seed, bodies, contacts, p)
		}
	}
}

// Vector instructions give what the plain code gives, to the bit.
func TestSweepsAgree(t *testing.T) {
	for seed := range uint64(300) {
		compareSweeps(t, seed, 1+int(seed%7), int(seed%11))
	}
}

func FuzzSweeps(f *testing.F) {
	f.Add(uint64(1), uint8(2), uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, bodies, contacts uint8) {
		compareSweeps(t, seed, 1+int(bodies), int(contacts))
	})
}
