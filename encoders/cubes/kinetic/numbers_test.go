package kinetic

import (
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/encoders/cubes/cube"
)

func init() { prepareTables() }

// closeTo reports whether got is want up to a relative error.
func closeTo(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)
}

// TestElementary compares exp, ln and logisticTail with package math.
func TestElementary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := (rng.Float64() - 0.5) * 118
		if !closeTo(exp(x), math.Exp(x), 1e-10) {
			t.Fatalf("exp(%v) = %v, want %v", x, exp(x), math.Exp(x))
		}
		y := math.Exp(x)
		if math.Abs(ln(y)-math.Log(y)) > 2.5e-6 {
			t.Fatalf("ln(%v) = %v, want %v", y, ln(y), math.Log(y))
		}
		u := (rng.Float64() - 0.5) * 46
		if want := 1 / (1 + math.Exp(u)); !closeTo(logisticTail(u), want, 1.3e-4) {
			t.Fatalf("tail(%v) = %v, want %v", u, logisticTail(u), want)
		}
		if math.Abs(logisticTail(u)+logisticTail(-u)-1) > 1e-10 {
			t.Fatalf("tail(%v) and tail(%v) add up to %v", u, -u, logisticTail(u)+logisticTail(-u))
		}
	}
}

func TestLogisticTailMonotonic(t *testing.T) {
	last := 1.0
	for x := -30.0; x < 30; x += 1.0 / 777 {
		now := logisticTail(x)
		if now > last || now <= 0 {
			t.Fatalf("tail(%v) = %v after %v", x, now, last)
		}
		last = now
	}
	for _, x := range []float64{math.Inf(-1), -1e300, 24, 1e300, math.Inf(1)} {
		if v := logisticTail(x); !(v >= 0 && v <= 1) {
			t.Errorf("tail(%v) = %v", x, v)
		}
	}
}

// randomMixture returns a mixture with random means, weights and scales.
func randomMixture(rng *rand.Rand) *mixture {
	var y [netOutputs]int32
	g := mixtureBases{baselineAge: 1, jacobian: [3]vec{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}
	for i := range y {
		y[i] = int32(rng.NormFloat64() * 8000)
	}
	for k := range g.base {
		for a := range 3 {
			g.base[k][a] = rng.NormFloat64() * 50
		}
	}
	m := &mixture{}
	m.setFromNet(&y, &g)
	return m
}

// TestMixture compares above with its formula, computed with math.Exp, and checks below and median.
func TestMixture(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		m := randomMixture(rng)
		sum := 0.0
		for _, w := range m.weight {
			sum += w
		}
		if !closeTo(sum, 1, 1e-12) {
			t.Fatalf("weights add up to %v", sum)
		}
		last := 1.0
		for x := -400.0; x <= 400; x++ {
			want := 0.0
			for k, w := range m.weight {
				want += w / (1 + math.Exp((x+0.5-m.mean[1][k])*m.invScale[1][k]))
			}
			got := m.above(1, x)
			if !closeTo(got, want, 2e-4) && math.Abs(got-want) > 1e-10 {
				t.Fatalf("above(%v) = %v, want %v", x, got, want)
			}
			if got > last {
				t.Fatalf("above(%v) rises from %v to %v", x, last, got)
			}
			if total := got + m.below(1, x+1); !closeTo(total, 1, 1e-9) {
				t.Fatalf("above(%v) and below(%v) add up to %v, want 1", x, x+1, total)
			}
			last = got
		}
		middle, scale := m.median(1)
		if !(scale > 0) {
			t.Fatalf("scale %v", scale)
		}
		near := max(0.5, scale/2)
		if lo, hi := m.above(1, middle-0.5-near), m.above(1, middle-0.5+near); lo < 0.5 || hi > 0.5 {
			t.Fatalf("median %v: mass above it minus %v is %v, plus %v is %v", middle, near, lo, near, hi)
		}
	}
}

// TestMixtureUpdateWeights compares the updated weights with Bayes' formula, computed with math.Exp.
func TestMixtureUpdateWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		m := randomMixture(rng)
		v := math.Round(rng.NormFloat64() * 60)
		want := m.weight
		sum := 0.0
		for k := range want {
			s := m.invScale[0][k]
			p := 1/(1+math.Exp(-(v+0.5-m.mean[0][k])*s)) - 1/(1+math.Exp(-(v-0.5-m.mean[0][k])*s))
			want[k] *= p + 1e-7
			sum += want[k]
		}
		m.updateWeights(0, v)
		for k := range want {
			if math.Abs(m.weight[k]-want[k]/sum) > 1e-3 {
				t.Fatalf("component %d weighs %v after %v, want %v", k, m.weight[k], v, want[k]/sum)
			}
		}
	}
}

// TestRotationVector checks that quaternion and rotationVector are inverse, and compares quaternion
// with package math.
func TestRotationVector(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		axis := vec{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		axis = axis.times(1 / axis.length())
		angle := rng.Float64() * math.Pi
		q := axis.times(angle * turnUnit).quaternion()
		for k := range axis {
			if math.Abs(q[k]-axis[k]*math.Sin(angle/2)) > 1e-9 {
				t.Fatalf("turn by %v: %v", angle, q)
			}
		}
		if math.Abs(q[3]-math.Cos(angle/2)) > 1e-9 {
			t.Fatalf("turn by %v: %v", angle, q)
		}
		back := rotationVector(q)
		if d := back.minus(axis.times(angle * turnUnit)).length(); d > 1e-4 {
			t.Fatalf("rotation vector of angle %v has an error of %v", angle, d)
		}
		p := vec{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}.times(turnUnit).quaternion()
		v := vec{1, 2, 3}
		if d := rotate(p.Times(q), v).minus(rotate(p, rotate(q, v))).length(); d > 1e-9 {
			t.Fatalf("rotation by q and then by p differs from that by their product by %v", d)
		}
	}
}

// TestOrientation checks that every smallest-three code gives a unit quaternion, and compares
// jacobian with finite differences.
func TestOrientation(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		c := cube.Row{rng.Int32N(4), rng.Int32N(512), rng.Int32N(512), rng.Int32N(512)}
		q := orientation(&c)
		square := 0.0
		for _, x := range q {
			square += x * x
		}
		if !closeTo(square, 1, 1e-12) {
			t.Fatalf("%v has length %v", c, math.Sqrt(square))
		}
		first, second := q.Largest()
		if first == second || math.Abs(q[second]) > math.Abs(q[first]) {
			t.Fatalf("largest of %v: %d, then %d", q, first, second)
		}
		three := smallestThree(q, first)
		turned := smallestThree(vec{0.01, 0.02, -0.03}.quaternion().Times(q), first)
		rows := jacobian(q, first)
		for k := range three {
			by := rows[k][0]*0.01 + rows[k][1]*0.02 - rows[k][2]*0.03
			if math.Abs(turned[k]-three[k]-by) > 1e-3 {
				t.Fatalf("%v: component %d moves by %v, by the Jacobian %v", c, k, turned[k]-three[k], by)
			}
		}
	}
}

func TestPackResidual(t *testing.T) {
	for x := -251.0; x < 251; x += 0.37 {
		if got := unpackResidual(packResidual(x)); math.Abs(got-x) > 0.02+0.14*math.Sqrt(math.Abs(x)) {
			t.Errorf("%v packs to %v", x, got)
		}
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1), 1e300} {
		if got := unpackResidual(packResidual(x)); math.Abs(got) > 253 {
			t.Errorf("%v packs to %v", x, got)
		}
	}
}

// FuzzVectors checks that the AVX2 routines compute the same bits as the Go code.
func FuzzVectors(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed, float64(seed)*3-40, float64(seed)/7)
	}
	f.Add(uint64(1), math.NaN(), math.Inf(1))
	f.Fuzz(func(t *testing.T, seed uint64, x, spread float64) {
		if !hasAVX2 {
			t.Skip("no AVX2")
		}
		rng := rand.New(rand.NewPCG(seed, 5))
		same := func(what string, got, want float64) {
			if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("%s: %v, want %v", what, got, want)
			}
		}
		random := func() float64 { return float64(rng.NormFloat64()*spread) + x }
		var e [4 * components]float64
		var tails [12]float64
		for i := range e {
			e[i] = float64(rng.NormFloat64() * 40)
		}
		for i := range tails {
			tails[i] = random()
		}
		exps, want := e, tails
		expsAVX2(&exps[0], len(exps)/4, &expConstants)
		for i, v := range e {
			same("exp", exps[i], exp(v))
		}
		tailsAVX2(&tails[0], len(tails)/4)
		for i, v := range want {
			same("tail", tails[i], logisticTail(v))
		}
		var m mixture
		for k := range components {
			m.weight[k] = rng.Float64() / 3
			m.mean[1][k], m.invScale[1][k] = random(), rng.ExpFloat64()
		}
		points, sums := [4]float64{x, random(), random(), random()}, [4]float64{}
		aboveAVX2(&sums, &m.weight, &m.mean[1], &m.invScale[1], &points)
		for i, v := range points {
			same("above", sums[i], m.above(1, v))
		}
		belowAVX2(&sums, &m.weight, &m.mean[1], &m.invScale[1], &points)
		for i, v := range points {
			same("below", sums[i], m.below(1, v))
		}
		low, high, near := min(points[0], points[1]), max(points[0], points[1]), rng.Float64()
		same("median", m.bisectMedianAVX2(1, low, high, near), m.bisectMedian(1, low, high, near))
	})
}
