package entropy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// TestNumber encodes and decodes numbers of every length.
func TestNumber(t *testing.T) {
	var values []int32
	for v := int32(-600); v <= 600; v++ {
		values = append(values, v)
	}
	for n := range 20 {
		v := int32(1) << n
		values = append(values, v-1, v, v+1, -v, 1-v)
	}
	begin := func() *contextCoder {
		l := &contextCoder{coder: &coder{}, counters: make([]rangecoder.Counter, ctxSize), limit: 60,
			numberCtx: numberContexts{ctxX, ctxSign, ctxTopBits}}
		rangecoder.Fill(l.counters, rangecoder.NewCounter(rangecoder.One/2, 0))
		return l
	}
	enc := begin()
	enc.coder.Write(nil)
	for _, v := range values {
		enc.codeNumber(v)
	}
	dec := begin()
	dec.coder.Read(enc.coder.Finish())
	for _, v := range values {
		if got := dec.codeNumber(0); got != v {
			t.Fatalf("%d is decoded as %d", v, got)
		}
	}
	if err := dec.coder.Close(); err != nil {
		t.Error(err)
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
	if q[first] < 0 {
		q = q.Negative()
	}
	out, k := cube.Row{int32(first)}, frame.CubeA
	for i, v := range q {
		if i != first {
			out[k] = gridStep(v)
			k++
		}
	}
	return out
}

// TestOrientations checks that quantised orientations decode to within half a step.
func TestOrientations(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		to := randomOrientation(rng)
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

// TestTableSize checks that a table of another size is refused.
func TestTableSize(t *testing.T) {
	table, err := staticTable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newCounters(table[1:], ctxSize, 0); err == nil {
		t.Error("no error for a short table")
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
