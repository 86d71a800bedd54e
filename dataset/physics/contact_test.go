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

// bruteGap is the separating-axis test from first principles: project all
// corners on all fifteen axes and take the widest gap.
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

// randomPair places two cubes at random, near each other.
func randomPair(rng *rand.Rand) (*World, *Body, *Body) {
	w := New(Default())
	w.AddCube(Vec{Z: 5}, 0.2, 1)
	w.AddCube(Vec{}, 0.2+0.55*float64(rng.IntN(2)), 1)
	a, b := w.Body(0), w.Body(1)
	r := func() float64 { return rng.Float64()*2 - 1 }
	reach := (a.half + b.half) * 1.5
	a.Place(a.Pos, Quat{r(), r(), r(), r()})
	b.Place(a.Pos.Add(Vec{r() * reach, r() * reach, r() * reach}), Quat{r(), r(), r(), r()})
	if rng.IntN(4) == 0 { // parallel faces and edges, as in stacks
		b.Place(b.Pos, a.Rot)
	}
	return w, a, b
}

func TestSeparationAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	apart, edges := 0, 0
	for range 20000 {
		_, a, b := randomPair(rng)
		want := bruteGap(a, b)
		got, ok := separate(a, b, margin)
		if ok != (want <= margin) && math.Abs(want-margin) > 1e-6 {
			t.Fatalf("near %v although the gap is %v\na %v\nb %v", ok, want, *a, *b)
		}
		if !ok {
			apart++
			continue
		}
		// Faces are preferred by a little, so the gap found may be a little less.
		if got.gap > want+1e-6 || got.gap < want-preferFaces-preferFacesA-1e-6 {
			t.Fatalf("gap %v, expected %v", got.gap, want)
		}
		if l := got.normal.Length(); math.Abs(l-1) > 1e-9 {
			t.Fatalf("normal of length %v", l)
		}
		if got.kind == edgeOnEdge {
			edges++
		}
	}
	if apart == 0 || edges == 0 {
		t.Fatalf("%d pairs apart, %d edge contacts: the test tests nothing", apart, edges)
	}
}

// inside returns how far p is outside of b, 0 if inside.
func outside(b *Body, p Vec) float64 {
	d, most := p.Sub(b.Pos), 0.0
	for _, n := range b.axes {
		most = max(most, math.Abs(d.Dot(n))-b.half)
	}
	return most
}

// Every contact point lies where both cubes are, and its gap is no more than the
// margin; pushing the cubes apart by the deepest gap separates them.
func TestContactPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	touching := 0
	for range 20000 {
		w, a, b := randomPair(rng)
		m := manifold{pair: pairOf(0, 1)}
		m.find(w)
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
			if p.gap > margin+1e-9 {
				t.Fatalf("a point with a gap of %v, expected at most %v", p.gap, margin)
			}
			// Halfway between the surfaces: within half the overlap of both.
			if out := max(outside(a, at), outside(b, at)); out > margin+1e-6+max(0, -p.gap) {
				t.Fatalf("a point %v outside of a cube, with a gap of %v", out, p.gap)
			}
			deepest = min(deepest, p.gap)
		}
		b.Place(b.Pos.AddScaled(m.normal, -deepest+2*preferFaces+1e-6), b.Rot)
		if gap := bruteGap(a, b); gap < -1e-6 {
			t.Fatalf("pushed apart by %v along the normal they still overlap by %v", -deepest, -gap)
		}
	}
	if touching < 1000 {
		t.Fatalf("only %d pairs touch: the test tests nothing", touching)
	}
}

// The grid finds every pair that a comparison of all with all finds.
func TestPairsAgainstBruteForce(t *testing.T) {
	w := pile(250)
	w.AddCube(Vec{1, 1, 2}, 0.75, density)
	for step := range 200 {
		w.Step()
		if step%20 != 0 {
			continue
		}
		w.Body(step).Sleep()
		w.findPairs()
		found := map[pair]int{}
		for i, p := range w.pairs {
			found[p]++
			if i > 0 && w.pairs[i-1] >= p {
				t.Fatal("pairs are not in order, or twice")
			}
		}
		for i := range w.bodies {
			for j := range i {
				a, b := &w.bodies[i], &w.bodies[j]
				if a.asleep && b.asleep {
					continue
				}
				if bruteGap(a, b) <= margin && found[pairOf(i, j)] == 0 {
					t.Fatalf("step %d: cubes %d and %d touch but were not paired", step, i, j)
				}
			}
		}
	}
}
