package physics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomRows returns rows with partly solved impulses, some with a held body, and the motions of their
// bodies. Many numbers are zero, positive or negative.
func randomRows(rng *rand.Rand, bodies, contacts int) (rows []row, motions []motion) {
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
	for range bodies {
		motions = append(motions, motion{vel: vec(), spin: vec()})
	}
	for range contacts {
		a := rng.Int32N(int32(bodies))
		b := (a + 1 + rng.Int32N(int32(bodies-1))) % int32(bodies)
		h := row{a: a, b: b, dir: vec(), twistA: vec(), twistB: vec(), massRatio: number(), bias: number(),
			impulseState: impulseState{impulse: number(), gain: math.Abs(number()), keep: rng.Float64()}}
		if h.low, h.high = -math.Abs(number()), math.Abs(number()); rng.IntN(2) == 0 {
			h.low, h.high = 0, math.MaxFloat64
		}
		rows = append(rows, h)
	}
	return rows, motions
}

// bits returns the bits of the motions and of the impulses of rows.
func bits(rows []row, motions []motion) (all []uint64) {
	for i := range motions {
		m := &motions[i]
		for _, x := range []float64{m.vel.X, m.vel.Y, m.vel.Z, m.spin.X, m.spin.Y, m.spin.Z} {
			all = append(all, math.Float64bits(x))
		}
	}
	for i := range rows {
		all = append(all, math.Float64bits(rows[i].impulse))
	}
	return all
}

// compareSweeps updates rows with vector instructions, if available, and in Go, and compares.
func compareSweeps(t *testing.T, seed uint64, bodies, contacts int) {
	t.Helper()
	rows, motions := randomRows(rand.New(rand.NewPCG(seed, 0)), bodies, contacts)
	fast, fastMotions := slices.Clone(rows), slices.Clone(motions)
	for range 3 {
		solveRowsPlain(rows, motions)
		solveRows(fast, fastMotions)
		if !slices.Equal(bits(fast, fastMotions), bits(rows, motions)) {
			t.Fatalf("seed %d, %d bodies, %d contacts: the two differ", seed, bodies, contacts)
		}
	}
}

// Vector instructions give the same results as the Go code, to the bit.
func TestSweepsAgree(t *testing.T) {
	for seed := range uint64(500) {
		compareSweeps(t, seed, 2+int(seed%7), int(seed%11))
	}
}

func FuzzSweeps(f *testing.F) {
	f.Add(uint64(1), uint8(2), uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, bodies, contacts uint8) {
		compareSweeps(t, seed, 2+int(bodies), int(contacts))
	})
}
