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

// TestNumber encodes and decodes numbers of every length, with both codeNumber methods.
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
			l := &contextCoder{coder: &coder{}, counters: make([]rangecoder.Counter, ctxSize), limit: 60,
				numberCtx: numberContexts{ctxX, ctxSign, ctxTopBits}}
			rangecoder.Fill(l.counters, rangecoder.NewCounter(rangecoder.One/2, 0))
			c = &l.coder.Coder
			return l.codeNumber
		},
		"mixed": func() func(int32) int32 {
			p, memo := table.newTraversal(defaultLimit, defaultRate), table.initialMemo(1)
			p.rangeCoder, p.counters, p.weights = &rangecoder.Coder{}, memo.counters, memo.weights
			p.signContext, p.topContext = signOffset, topOffset
			p.setContexts(4, &lengthTables, [maxContexts]int{})
			p.counterContext, p.weightSet = counterLength, setLength
			c = p.rangeCoder
			return p.codeNumber
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
				t.Fatalf("%s: %d is decoded as %d", name, v, got)
			}
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFit checks that fit finds the right weights although a third of the samples are random, which
// least squares does not.
func TestFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := linear{features: 3, weights: make([]int32, numLinearClasses*3)}
	squares := newFit(3, 4)
	for range 6 {
		f := newFit(3, 4)
		for range 6000 {
			x := []int32{64, rng.Int32N(400) - 200, rng.Int32N(400) - 200}
			y := 20 + x[1]/2 - x[2]/4
			if rng.IntN(3) == 0 {
				y = rng.Int32N(2000)
			}
			f.addSample(7, x, y, y-l.predict(7, x))
			squares.addSample(7, x, y, 0)
		}
		copy(l.weights, f.solveWeights())
	}
	for i, want := range []float64{20.0 / 64, 0.5, -0.25} {
		if got := float64(l.weights[7*3+i]) / weightOne; math.Abs(got-want) > 0.1 {
			t.Errorf("weight %d is %.3f, want %.3f", i, got, want)
		}
	}
	if got := float64(squares.solveWeights()[7*3]) / weightOne; got < 1 {
		t.Errorf("least squares gives %.3f, want at least 1, so that the test is meaningful", got)
	}
	if got := l.predict(8, []int32{64, 9, 9}); got != 0 {
		t.Errorf("a class without samples predicts %d, want 0", got)
	}
}

// TestSizeModel trains a size model with residuals whose logarithm is a sum over two features.
func TestSizeModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := sizeModel{weights: make([]int32, numSizeWeights), rate: 300}
	for range 60_000 {
		var in [numSizeFeatures]int
		in[0], in[1] = rng.IntN(4), rng.IntN(3)
		s.predict(2, &in)
		s.train((1 << (in[0] + 2*in[1])) - 1)
	}
	s.rate = 0
	for a := range 4 {
		for b := range 3 {
			in := [numSizeFeatures]int{a, b}
			if got, want := float64(s.predict(2, &in))/65536, float64(a+2*b); math.Abs(got-want) > 0.1 {
				t.Errorf("features %d and %d: predicted logarithm %.2f, want %.0f", a, b, got, want)
			}
		}
	}
	before := slices.Clone(s.weights)
	s.train(1000)
	if !slices.Equal(before, s.weights) {
		t.Error("weights change at a rate of 0")
	}
	for v := int32(0); v < 1<<20; v += 1 + v/100 {
		if got, want := float64(logMagnitude(-v))/65536, math.Log2(float64(v)+1); math.Abs(got-want) > 0.0861 {
			t.Errorf("logMagnitude(%d) = %.4f, want about %.4f", -v, got, want)
		}
	}
}

// randomOrientation returns a random unit quaternion.
func randomOrientation(rng *rand.Rand) rotation.Quaternion {
	q := rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	n := math.Sqrt(dot(&q, &q))
	return rotation.Quaternion{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}

// quantise returns a row with an orientation, by the definition of the smallest three.
func quantise(q rotation.Quaternion) cube.Row {
	first, _ := q.Largest()
	q = withPositiveComponent(q, int32(first))
	out, k := cube.Row{int32(first)}, frame.CubeA
	for i, v := range q {
		if i != first {
			out[k] = gridStep(v)
			k++
		}
	}
	return out
}

// TestTurns checks that rotate undoes turnBetween, and that quantised orientations decode to within
// half a step.
func TestTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		from, to := randomOrientation(rng), randomOrientation(rng)
		v := turnBetween(&from, &to)
		got := rotate(&from, v)
		if d := math.Abs(dot(&got, &to)); d < 0.99999 {
			t.Fatalf("%v turned by %v is %v, want %v", from, v, got, to)
		}
		q := quantise(to)
		if !cube.InRange(&q) {
			t.Fatalf("%v is quantised as %v", to, q)
		}
		back := orientation(&q)
		if d := math.Abs(dot(&back, &to)); d < 0.99999 {
			t.Fatalf("%v is decoded as %v", to, back)
		}
		var again cube.Row
		if cube.UnpackOrientation(&again, cube.PackOrientation(&q)); again != q {
			t.Fatalf("%v is unpacked as %v", q, again)
		}
	}
	// A quarter turn about z: four times the tangent of a quarter of the angle.
	from, to := rotation.Quaternion{0, 0, 0, 1}, rotation.Quaternion{0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}
	if v := turnBetween(&from, &to); v[0] != 0 || v[1] != 0 ||
		math.Abs(float64(v[2])-4*turnUnit*math.Tan(math.Pi/8)) > 1 {
		t.Errorf("a quarter turn about z is %v", v)
	}
}

func TestLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		q := randomOrientation(rng)
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
		t.Error("Largest returns the same component twice for equal components")
	}
}

// TestNeighbourhood checks that the order has every row once, the player first, with rising rings, and
// that nearest returns a near cube with its distance.
func TestNeighbourhood(t *testing.T) {
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
				if d != distance2(n.base, b) || d >= maxDistance2 {
					t.Fatalf("nearest returns the squared distance %d of a neighbour at %d", d, distance2(n.base, b))
				}
			}
			for k := range s.coded {
				if s.coded[k].base == b {
					t.Fatal("a cube is its own neighbour")
				}
			}
			s.addCube(b)
			if n, d = s.nearest(b); n == nil || d != 0 {
				t.Fatalf("the cube just added is not the nearest to its position, but one at %d", d)
			}
		}
		if rows == 500 && found < 100 {
			t.Errorf("%d of %d cubes have a neighbour, want at least 100", found, rows)
		}
	}
}

// embedded returns the trained table that the function loads.
func embedded(t *testing.T, table func() ([]byte, error)) []byte {
	t.Helper()
	data, err := table()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTrainedModelFile checks that reading and writing the model of predictive gives the same bytes,
// and that files of another size are refused.
func TestTrainedModelFile(t *testing.T) {
	static, predictive := embedded(t, staticTable), embedded(t, predictiveTable)
	k, err := readTrainedModel(predictive)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(k.encode(), predictive) {
		t.Error("encode returns different bytes than were read")
	}
	if _, err := readTrainedModel(predictive[1:]); err == nil {
		t.Error("no error for a short file")
	}
	if _, err := newCounters(static[1:], ctxSize, 0); err == nil {
		t.Error("no error for a short table")
	}
	if k.sizeWeights[0] = 1 << 30; quantiseTo(k.sizeWeights[0], sizeShift, 1<<7) != 127 {
		t.Error("quantiseTo does not clamp")
	}
}

// TestDecisionCounts compares the probabilities of counters with the counts that they are made of.
func TestDecisionCounts(t *testing.T) {
	counts := make(decisionCounts, 4)
	counts[1], counts[2], counts[3] = [2]uint32{900, 100}, [2]uint32{0, 5}, [2]uint32{1 << 20, 0}
	model, err := newCounters(counts.logits(), 4, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.5, 0.1, 11.0 / 12, 0} {
		if got := float64(model[i].P()) / rangecoder.One; math.Abs(got-want) > 0.012 {
			t.Errorf("context %d: %.3f, want %.3f", i, got, want)
		}
		if model[i].N() != 7 {
			t.Errorf("context %d has seen %d decisions, want 7", i, model[i].N())
		}
	}
}

// TestRoundInt32 compares roundInt32 with math.Round.
func TestRoundInt32(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range 20000 {
		x := float64(i-10000) / 2
		for _, x := range []float64{x, math.Nextafter(x, maxTurn), math.Nextafter(x, -maxTurn),
			(rng.Float64() - 0.5) * 2 * maxTurn} {
			if got := roundInt32(x); got != int32(math.Round(x)) {
				t.Fatalf("%v is rounded to %d", x, got)
			}
		}
	}
}
