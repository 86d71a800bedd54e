package entropy

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// Every number that can be the difference of two coordinates comes back.
func TestNumber(t *testing.T) {
	var values []int32
	for v := int32(-600); v <= 600; v++ {
		values = append(values, v)
	}
	for n := range 20 {
		v := int32(1) << n
		values = append(values, v-1, v, v+1, -v, 1-v)
	}
	table, err := readTrainedModel(embedded(t, predictiveTable))
	if err != nil {
		t.Fatal(err)
	}
	var c *rangecoder.Coder
	kinds := map[string]func() func(int32) int32{
		"in contexts": func() func(int32) int32 {
			l := &contextCoder{e: &coder{}, counters: make([]rangecoder.Counter, ctxSize), limit: 60, at: numberContexts{ctxFirst, ctxSign, ctxTop}}
			rangecoder.Fill(l.counters, rangecoder.NewCounter(rangecoder.One/2, 0))
			c = &l.e.Coder
			return l.number
		},
		"mixed": func() func(int32) int32 {
			p, memo := table.body(learnLimit, learnRate), table.memo(1)
			p.coder, p.counters, p.weights = &rangecoder.Coder{}, memo.counters, memo.weights
			p.signAt, p.topAt = signAt, topAt
			p.setContexts(4, &lengthAt, [maxContexts]int{})
			p.adaptive, p.set = ownLength, setLength
			c = p.coder
			return p.number
		},
	}
	for name, begin := range kinds {
		number := begin()
		c.Write(nil)
		for _, v := range values {
			number(v)
		}
		packet := c.Finish()
		number = begin()
		c.Read(packet)
		for _, v := range values {
			if got := number(0); got != v {
				t.Fatalf("%s: %d comes back as %d", name, v, got)
			}
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fit finds the law behind samples of which a third are nonsense, where least
// squares are far off.
func TestFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := linear{features: 3, weights: make([]int32, classes*3)}
	squares := newFit(3, 4)
	for range 6 {
		f := newFit(3, 4)
		for range 6000 {
			x := []int32{64, rng.Int32N(400) - 200, rng.Int32N(400) - 200}
			y := 20 + x[1]/2 - x[2]/4
			if rng.IntN(3) == 0 {
				y = rng.Int32N(2000)
			}
			f.add(7, x, y, y-l.predict(7, x))
			squares.add(7, x, y, 0)
		}
		copy(l.weights, f.weights())
	}
	for i, want := range []float64{20.0 / 64, 0.5, -0.25} {
		if got := float64(l.weights[7*3+i]) / weightOne; math.Abs(got-want) > 0.1 {
			t.Errorf("weight %d is %.3f, want %.3f", i, got, want)
		}
	}
	if got := float64(squares.weights()[7*3]) / weightOne; got < 1 {
		t.Errorf("least squares find %.3f too: the test tests nothing", got)
	}
	if got := l.predict(8, []int32{64, 9, 9}); got != 0 {
		t.Errorf("a class that was never seen predicts %d", got)
	}
}

// What adds up is found: the expectation comes to be the mean of the logarithm.
func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := scale{weights: make([]int32, scaleSize), rate: 300}
	for range 60_000 {
		var in [scaleFeatures]int
		in[0], in[1] = rng.IntN(4), rng.IntN(3)
		s.expect(2, &in)
		s.learn((1 << (in[0] + 2*in[1])) - 1)
	}
	s.rate = 0
	for a := range 4 {
		for b := range 3 {
			in := [scaleFeatures]int{a, b}
			if got, want := float64(s.expect(2, &in))/65536, float64(a+2*b); math.Abs(got-want) > 0.1 {
				t.Errorf("%d and %d: expects %.2f doublings, want %.0f", a, b, got, want)
			}
		}
	}
	before := slices.Clone(s.weights)
	s.learn(1000)
	if !slices.Equal(before, s.weights) {
		t.Error("it learns at a rate of 0")
	}
	for v := int32(0); v < 1<<20; v += 1 + v/100 {
		if got, want := float64(logMagnitude(-v))/65536, math.Log2(float64(v)+1); math.Abs(got-want) > 0.0861 {
			t.Errorf("%d is %.4f doublings, want about %.4f", v, got, want)
		}
	}
}

func randomTurned(rng *rand.Rand) rotation.Quaternion {
	q := rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	n := math.Sqrt(dot(&q, &q))
	return rotation.Quaternion{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}

// quantise returns the row of an orientation, by the definition of the format.
func quantise(q rotation.Quaternion) cube.Row {
	first, _ := q.Largest()
	q = withPositive(q, int32(first))
	out, k := cube.Row{int32(first)}, frame.CubeA
	for i, v := range q {
		if i != first {
			out[k] = gridStep(v)
			k++
		}
	}
	return out
}

// A turn that was measured leads where it was measured to, and codes stand for
// what they were made of, to half a step.
func TestTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		from, to := randomTurned(rng), randomTurned(rng)
		v := turnBetween(&from, &to)
		got := rotated(&from, v)
		if d := math.Abs(dot(&got, &to)); d < 0.99999 {
			t.Fatalf("%v turned by %v is %v, want %v", from, v, got, to)
		}
		q := quantise(to)
		if !cube.InRange(&q) {
			t.Fatalf("%v is quantised as %v", to, q)
		}
		back := orientation(&q)
		if d := math.Abs(dot(&back, &to)); d < 0.99999 {
			t.Fatalf("%v comes back as %v", to, back)
		}
		var again cube.Row
		if cube.UnpackOrientation(&again, cube.PackOrientation(&q)); again != q {
			t.Fatalf("%v is unpacked as %v", q, again)
		}
	}
	// A quarter about z: four times the tangent of a sixteenth of a circle.
	from, to := rotation.Quaternion{0, 0, 0, 1}, rotation.Quaternion{0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}
	if v := turnBetween(&from, &to); v[0] != 0 || v[1] != 0 || math.Abs(float64(v[2])-4*spinOne*math.Tan(math.Pi/8)) > 1 {
		t.Errorf("a quarter about z is %v", v)
	}
}

func TestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		q := randomTurned(rng)
		sorted := []int{0, 1, 2, 3}
		slices.SortFunc(sorted, func(a, b int) int {
			return int(math.Copysign(1, math.Abs(q[b])-math.Abs(q[a])))
		})
		if first, second := q.Largest(); first != sorted[0] || second != sorted[1] {
			t.Fatalf("of %v, %d and %d are the largest, want %v", q, first, second, sorted)
		}
	}
	ties := rotation.Quaternion{0.5, 0.5, 0.5, 0.5}
	if first, second := ties.Largest(); first == second {
		t.Error("of equals, one is the largest twice")
	}
}

// The order is every row once, the player's first, rings rising; and who is found
// to be near is the nearest of the latest in its cell and those around.
func TestSurroundings(t *testing.T) {
	for _, rows := range []int{1, 2, 500} {
		f := crowd(13, rows, 60)[59]
		var s neighbourhood
		for range 2 {
			s.begin(f, rows)
		}
		player := cube.At(f.Table, 0)
		last, seen := -1, make([]bool, rows)
		for _, i := range s.order {
			r := ring(distance2(cube.At(f.Table, int(i)), player))
			if r < last || seen[i] {
				t.Fatalf("%d rows: row %d comes after ring %d, or twice", rows, i, last)
			}
			last, seen[i] = r, true
		}
		if len(s.order) != rows || s.order[0] != 0 {
			t.Fatalf("%d rows: %d are in order, the first is %d", rows, len(s.order), s.order[0])
		}
		found := 0
		for _, i := range s.order {
			b := cube.At(f.Table, int(i))
			n, d := s.nearest(b)
			if n != nil {
				found++
				if d != distance2(n.base, b) || d >= reach {
					t.Fatalf("a neighbour at %d, said to be at %d", distance2(n.base, b), d)
				}
			}
			for k := range s.coded {
				// Whoever stands in the very place, and is the latest there, is nearest.
				if s.coded[k].base == b {
					t.Fatal("a cube is its own neighbour")
				}
			}
			s.add(b)
			if n, d = s.nearest(b); n == nil || d != 0 {
				t.Fatalf("a cube just coded is not found in its place, but one at %d", d)
			}
		}
		if rows == 500 && found < 100 {
			t.Errorf("only %d of %d have a neighbour", found, rows)
		}
	}
}

// embedded returns a trained table.
func embedded(t *testing.T, table func() ([]byte, error)) []byte {
	t.Helper()
	data, err := table()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The file of predictive is read as it was written, and one of another size is
// refused.
func TestKnowledge(t *testing.T) {
	static, predictive := embedded(t, staticTable), embedded(t, predictiveTable)
	k, err := readTrainedModel(predictive)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(k.bytes(), predictive) {
		t.Error("what was read is written otherwise")
	}
	if _, err := readTrainedModel(predictive[1:]); err == nil {
		t.Error("a short file was taken")
	}
	if _, err := newCounters(static[1:], ctxSize, 0); err == nil {
		t.Error("a short table was taken")
	}
	if k.scale[0] = 1 << 30; coarser(k.scale[0], scaleShift, 1<<7) != 127 {
		t.Error("what is too large for the file is not cut to the largest")
	}
}

// What was counted is what is expected, to the coarseness of a byte.
func TestTally(t *testing.T) {
	counts := make(decisionCounts, 4)
	counts[1], counts[2], counts[3] = [2]uint32{900, 100}, [2]uint32{0, 5}, [2]uint32{1 << 20, 0}
	model, err := newCounters(counts.table(), 4, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.5, 0.1, 11.0 / 12, 0} {
		if got := float64(model[i].P()) / rangecoder.One; math.Abs(got-want) > 0.012 {
			t.Errorf("context %d: %.3f, want %.3f", i, got, want)
		}
		if model[i].N() != 7 {
			t.Errorf("context %d rests on %d decisions, want 7", i, model[i].N())
		}
	}
}

// Numbers are rounded as package math does it, halves away from zero.
func TestRounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range 20000 {
		x := float64(i-10000) / 2
		for _, x := range []float64{x, math.Nextafter(x, maxSpin), math.Nextafter(x, -maxSpin), (rng.Float64() - 0.5) * 2 * maxSpin} {
			if got := rounded(x); got != int32(math.Round(x)) {
				t.Fatalf("%v is rounded to %d", x, got)
			}
		}
	}
}
