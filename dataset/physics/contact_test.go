package physics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// corners lists the eight corners of b.
func corners(b *Body) (c []Vec) {
	for i := range 8 {
		p := b.Pos
		for k := range 3 {
			p = p.AddScaled(b.axes[k], b.half*float64(1-2*(i>>k&1)))
		}
		c = append(c, p)
	}
	return c
}

// bruteGap is a reference for the separating-axis test: it projects all corners on all fifteen axes and
// returns the widest gap.
func bruteGap(a, b *Body) float64 {
	axes := append(append([]Vec(nil), a.axes[:]...), b.axes[:]...)
	for _, u := range a.axes {
		for _, v := range b.axes {
			if x := u.Cross(v); x.Dot(x) > parallelSine {
				axes = append(axes, x.Scale(1/x.Length()))
			}
		}
	}
	widest := math.Inf(-1)
	for _, n := range axes {
		lowA, highA, lowB, highB := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
		for _, p := range corners(a) {
			lowA, highA = min(lowA, p.Dot(n)), max(highA, p.Dot(n))
		}
		for _, p := range corners(b) {
			lowB, highB = min(lowB, p.Dot(n)), max(highB, p.Dot(n))
		}
		widest = max(widest, max(lowB-highA, lowA-highB))
	}
	return widest
}

// randomPair returns two cubes at random positions near each other.
func randomPair(rng *rand.Rand) (a, b *Body) {
	r := func() float64 { return rng.Float64()*2 - 1 }
	s := NewScene(2)
	s.Reset(RecorderParams(), nil)
	other := 0.2 + 0.55*float64(rng.IntN(2))
	reach := (0.2 + other) * 1.5
	turnA, turnB := Quat{r(), r(), r(), r()}.normalized(), Quat{r(), r(), r(), r()}.normalized()
	if rng.IntN(4) == 0 { // parallel faces and edges, as in stacks
		turnB = turnA
	}
	s.Place(0, 0.2, Vec{Z: 5}, turnA, Vec{}, Vec{}, 0)
	s.Place(1, other, Vec{r() * reach, r() * reach, 5 + r()*reach}, turnB, Vec{}, Vec{}, 0)
	return s.Body(0), s.Body(1)
}

// The gap of separations equals the reference, for the maximum over all fifteen axes.
func TestSeparationAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	apart, edges := 0, 0
	for range 20000 {
		a, b := randomPair(rng)
		want := bruteGap(a, b)
		var each [3]axis
		ok := separations(a, b, &each)
		fa, fb, e := each[0], each[1], each[2]
		if ok != (want <= 0) && math.Abs(want) > 1e-6 {
			t.Fatalf("near %v although the gap is %v\na %v\nb %v", ok, want, *a, *b)
		}
		if !ok {
			apart++
			continue
		}
		best := fa
		for _, x := range []axis{fb, e} {
			if x.gap > best.gap {
				best = x
			}
		}
		if math.Abs(best.gap-want) > 1e-6 {
			t.Fatalf("gap %v, expected %v", best.gap, want)
		}
		best.computeNormal(a, b)
		if l := best.normal.Length(); math.Abs(l-1) > 1e-9 {
			t.Fatalf("normal of length %v", l)
		}
		if best.kind == edgeOnEdge {
			edges++
		}
	}
	if apart == 0 || edges == 0 {
		t.Fatalf("%d pairs apart, %d edge contacts: the test tests nothing", apart, edges)
	}
}

// outside returns the distance of p from b; 0 if p is inside.
func outside(b *Body, p Vec) float64 {
	d, most := p.Sub(b.Pos), 0.0
	for _, n := range b.axes {
		most = max(most, math.Abs(d.Dot(n))-b.half)
	}
	return most
}

// Every contact point is inside both cubes up to its overlap, and moving the cubes apart along the
// normal by the largest overlap separates them.
func TestContactPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	touching := 0
	for range 20000 {
		a, b := randomPair(rng)
		var m manifold
		m.find(a, b)
		if m.n == 0 {
			continue
		}
		touching++
		deepest := 0.0
		for _, p := range m.points[:m.n] {
			at := a.Pos.Add(p.armA)
			if d := at.Sub(b.Pos.Add(p.armB)).Length(); d > 1e-9 {
				t.Fatalf("the arms of a point end %v apart", d)
			}
			if p.gap > 1e-9 {
				t.Fatalf("a point with a gap of %v, expected an overlap", p.gap)
			}
			if out := max(outside(a, at), outside(b, at)); out > 1e-6-p.gap {
				t.Fatalf("a point %v outside of a cube, with a gap of %v", out, p.gap)
			}
			deepest = min(deepest, p.gap)
		}
		b.Pos = b.Pos.AddScaled(m.normal, -deepest+1e-6)
		if gap := bruteGap(a, b); gap < -1e-6 {
			t.Fatalf("pushed apart by %v along the normal they still overlap by %v", -deepest, -gap)
		}
	}
	if touching < 1000 {
		t.Fatalf("only %d pairs touch: the test tests nothing", touching)
	}
}

// The grid finds every pair that an exhaustive comparison finds.
func TestPairsAgainstBruteForce(t *testing.T) {
	s := NewScene(251)
	placePile(s, 250)
	s.Place(250, 0.75, Vec{1, 1, 2.9}, Quat{W: 1}, Vec{}, Vec{}, 0)
	for step := range 300 {
		before := append([]Body(nil), s.bodies...)
		s.Step(tick)
		if step%10 != 0 {
			continue
		}
		found := map[pair]int{}
		for a, b := range s.TouchingPairs {
			found[newPair(a, b)]++
		}
		for i := range before {
			for j := range i {
				a, b := &before[i], &before[j]
				if far := (a.half + b.half) * sqrt3; a.Pos.Sub(b.Pos).Length() > far && found[newPair(i, j)] == 0 {
					continue
				}
				gap := bruteGap(a, b)
				touch := s.slot[i] >= 0 && s.slot[j] >= 0 && found[newPair(i, j)] > 0
				if asleep := s.slot[i] < 0 && s.slot[j] < 0; !asleep && gap < -1e-6 != touch && math.Abs(gap) > 1e-6 {
					t.Fatalf("step %d: cubes %d and %d have a gap of %v, listed: %v", step, i, j, gap, touch)
				}
				if found[newPair(i, j)] > 1 {
					t.Fatalf("step %d: cubes %d and %d are listed %d times", step, i, j, found[newPair(i, j)])
				}
			}
		}
	}
}
