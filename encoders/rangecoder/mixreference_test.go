package rangecoder

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The second implementation of the models: ordinary integers, floor divisions and maps, without tables, vectors
// or packed fields. Only Stretch and Squash are those of the package; TestStretchSquash holds them to their formulas.

// floorDiv returns a/b, b > 0, rounded down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// slowAvalanche is avalanche with 64-bit arithmetic.
func slowAvalanche(h uint64) uint64 {
	h %= 1 << 32
	h ^= h / (1 << 15)
	h = h * 0x2C1B3C6D % (1 << 32)
	return h ^ h/(1<<13)
}

// slowHash is Hash, plus the term that Mixer adds for the position of a context.
func slowHash(a, b, c, d, position uint32) uint32 {
	return uint32(slowAvalanche(uint64(a)*0x9E3779B1 + uint64(b)*0x85EBCA6B + uint64(c)*0xC2B2AE35%(1<<32) +
		uint64(d)*0x27D4EB2F%(1<<32) + uint64(position)*0x165667B1))
}

// slowCounter is a Counter with its two fields apart: the probability in units of 2^-22 and the updates.
type slowCounter struct{ p, n int64 }

func (k *slowCounter) update(bit int, limit int64) {
	rate := 2 * One / (2*k.n + 3) // 65536/(n+1.5)
	if bit == 1 {
		k.p -= floorDiv((k.p-1<<22)*rate, One) // away from zero
	} else {
		k.p += floorDiv(-k.p*rate, One)
	}
	k.p = min(max(k.p, 64), 1<<22-64)
	if k.n < limit {
		k.n++
	}
}

// Update equals the formula at 22 bits, for every number of updates and at both bounds.
func TestCounterUpdate(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for range 300 {
		p, n, limit := edgeProbabilities[rng.IntN(len(edgeProbabilities))], rng.IntN(maxCount+1)>>rng.IntN(10), rng.IntN(maxCount+1)
		k, want := NewCounter(p, n), slowCounter{int64(p) * 64, int64(n)}
		likely := rng.IntN(2)
		for step := range 200 {
			if k.P() != uint32(want.p/64) || k.N() != int(want.n) {
				t.Fatalf("after %d updates: %d and %d, want %d and %d", step, k.P(), k.N(), want.p/64, want.n)
			}
			bit := likely
			if rng.IntN(50) == 0 {
				bit = 1 - bit
			}
			k.Update(bit, limit)
			want.update(bit, int64(limit))
		}
	}
}

// Hashes equal those computed with 64-bit arithmetic. They are part of the format: a model file holds counters at their
// places.
func TestHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	for range 1000 {
		a, b, c, d := rng.Uint32(), rng.Uint32(), rng.Uint32(), rng.Uint32()
		if got, want := Hash(a, b, c, d), slowHash(a, b, c, d, 0); got != want {
			t.Fatalf("Hash(%d, %d, %d, %d) = %d, want %d", a, b, c, d, got, want)
		}
		var x Mixer
		var y StateMixer
		for i := range uint32(mixerContexts) {
			x.AddContext(a, b, c, d)
			y.AddContext(a, b, c, d)
			if got, want := x.Hashes[i], slowHash(a, b, c, d, i); got != want || x.N != int(i)+1 {
				t.Fatalf("context %d of %d of a Mixer: %d, want %d", i, x.N, got, want)
			}
			if got, want := y.Hashes[i], slowHash(a, b, c, uint32(uint64(d)+uint64(i)*(1<<28)), 0); got != want {
				t.Fatalf("context %d of a StateMixer: %d, want %d", i, got, want)
			}
		}
	}
}

// A StateCounter moves by (target-p)*5/(5n+8) on average over the random numbers, to within the resolution of the rate, and
// reaches the next confidence state once in as many updates as the states are apart, never one beyond the limit.
func TestStateCounterUpdate(t *testing.T) {
	for state, n := range stateCounts {
		for _, p := range []int32{0, 1, 7, 2048, 4088, 4095} {
			for bit, target := range []int32{0, 4095} {
				var moved, advanced int64
				for rnd := range int32(One) {
					k := StateCounter(p<<4 | int32(state))
					k.update(bit, rnd, 15)
					moved += int64(k>>4) - int64(p)
					advanced += int64(k&15) - int64(state)
					stay := StateCounter(p<<4 | int32(state))
					if stay.update(bit, rnd, int32(state)); int(stay&15) != state || stay>>4 != k>>4 {
						t.Fatalf("state %d with itself as limit: %v, without: %v", state, stay, k)
					}
				}
				rate := 5.0 / float64(5*n+8)
				if want := float64(target-p) * rate * One; math.Abs(float64(moved)-want) > math.Abs(float64(target-p)) {
					t.Errorf("from %d in state %d to %d: %d/65536 on average, want %f", p, state, target, moved, want)
				}
				want := int64(0)
				if state < 15 {
					want = int64(One / (stateCounts[state+1] - n))
				}
				if advanced != want {
					t.Errorf("state %d advances with probability %d/65536, want %d", state, advanced, want)
				}
			}
		}
		for _, p := range []uint32{1, 500, 2000, 3500} {
			k := StateCounter(p<<4 | uint32(state))
			q := (float64(p) + 0.5) / 4096 // the middle of the possible values
			want := math.Log(q/(1-q)) * stretchOne * float64(n) / (float64(n) + 0.4)
			if got := float64(k.StretchedP()); math.Abs(got-want) > 2+0.005*math.Abs(want) {
				t.Errorf("the logit of %d in state %d is %f, want %f", p, state, got, want)
			}
		}
	}
}

// MaxState is the highest of the sixteen states that stands for at most n updates.
func TestMaxState(t *testing.T) {
	for n := range 100 {
		want := 0
		for state, count := range stateCounts {
			if int(count) <= n {
				want = state
			}
		}
		if got := MaxState(n); int(got) != want {
			t.Errorf("MaxState(%d) = %d, want %d", n, got, want)
		}
	}
}

// Above coarseStart the logit is that of the middle of sixteen probabilities, and Squash rounds to nearest: over all
// arguments its errors cancel.
func TestStretchSquashRounding(t *testing.T) {
	for p := uint32(coarseStart); p < One/2; p++ {
		q := (float64(p/16*16) + 7.5) / One
		if want := math.Log(q/(1-q)) * stretchOne; math.Abs(float64(Stretch(p))-want) > 0.51 {
			t.Fatalf("Stretch(%d) = %d, want %.2f", p, Stretch(p), want)
		}
	}
	sum, n := 0.0, 0.0
	for x := int32(-12 * stretchOne / 2); x < 0; x++ { // of positive x the errors have the other sign
		sum += float64(Squash(x)) - One/(1+math.Exp(-float64(x)/stretchOne))
		n++
	}
	// A chord of a convex function lies h^2/12 times its second derivative above it on average; the integral of the
	// second derivative is the slope at 0, which is one quarter.
	const step = squashStep / float64(stretchOne)
	const halves = 1.0 / 32 // one sixteenth of the values lie between two results and are rounded up by one half
	if want := One*step*step/12*0.25/6 + halves; math.Abs(sum/n-want) > 0.01 {
		t.Errorf("Squash is %.4f too high on average, want %.4f", sum/n, want)
	}
}

// slowByteMixer is ByteMixer.
type slowByteMixer struct {
	contexts, limit, rate int64
	counters              map[uint32]*slowCounter
	weights               [][]int64
	stages                [2]map[[2]int64]int64 // by context and level
}

func (m *slowByteMixer) code(c *Coder, bit int, active []uint32, s Selector) int {
	var in []int64
	for _, index := range active {
		k := m.counters[index]
		if k == nil {
			k = &slowCounter{p: 1 << 21}
			m.counters[index] = k
		}
		in = append(in, int64(Stretch(uint32(k.p/1024*16+8))), floorDiv((k.p/64-One/2)*min(k.n, 16), 32))
	}
	in = append(in, 2048)
	var logits, ps [2]int64
	for i, set := range []int{s.SetA, s.SetB} {
		sum := int64(0)
		for j, x := range in {
			sum += x * m.weights[set][j]
		}
		logits[i] = min(max(floorDiv(sum, One), -8*2048+1), 8*2048-1)
		ps[i] = int64(Squash(int32(logits[i])))
	}
	logit := (logits[0] + logits[1]) / 2
	level, fraction := (logit+8*2048)/1024, (logit+8*2048)%1024
	p := 2 * int64(Squash(int32(logit)))
	for i, context := range []int{s.ContextA, s.ContextB} {
		p += 3 * ((m.level(i, context, level)*(1024-fraction) + m.level(i, context, level+1)*fraction) / 1024)
	}
	bit = c.Bit(bit, uint32(min(max(p/8, 1), One-1)))
	for i, set := range []int{s.SetA, s.SetB} {
		if e := int64(bit)*One - ps[i]; e >= One/300 || e <= -(One/300) {
			for j, x := range in {
				m.weights[set][j] += floorDiv(x*e*m.rate+1<<20, 1<<21)
			}
		}
	}
	for _, index := range active {
		m.counters[index].update(bit, m.limit)
	}
	if fraction >= 512 {
		level++
	}
	for i, context := range []int{s.ContextA, s.ContextB} {
		q := m.level(i, context, level)
		if bit == 1 {
			q += (One - 1 - q) / 64
		} else {
			q -= q / 64
		}
		m.stages[i][[2]int64{int64(context), level}] = q
	}
	return bit
}

// level returns an entry of an APM stage: at first the probability of its logit, half a nat apart from -8 to 8.
func (m *slowByteMixer) level(stage, context int, level int64) int64 {
	if q, ok := m.stages[stage][[2]int64{int64(context), level}]; ok {
		return q
	}
	return int64(Squash(int32(level*1024 - 8*2048)))
}

// slowNode is hashWithNode with 64-bit arithmetic.
func slowNode(h, node uint32) uint64 {
	x := (uint64(h) + uint64(node)*0x9E3779B1) % (1 << 32) * 0x85EBCA6B % (1 << 32)
	return (x ^ x/(1<<15)) * 0xC2B2AE35 % (1 << 32)
}

// ByteMixer equals the second implementation, for single bits and for nibbles with their sixteen neighbouring counters, and
// what it writes is read back.
func TestByteMixerMatchesReference(t *testing.T) {
	for _, setup := range []struct {
		contexts  int
		tableBits uint
		limit     int
		rate      int64
	}{{1, 6, 30, 2}, {3, 5, 255, 14}, {6, 16, 1023, 3}, {maxByteContexts, 10, 127, 2}} {
		const sets = 5
		quick := NewByteMixer(setup.contexts, setup.tableBits, sets, setup.limit, setup.rate)
		slow := slowByteMixer{contexts: int64(setup.contexts), limit: int64(setup.limit), rate: setup.rate,
			counters: map[uint32]*slowCounter{}, stages: [2]map[[2]int64]int64{{}, {}}}
		for range sets {
			w := make([]int64, 2*setup.contexts+1)
			for i := range setup.contexts {
				w[2*i] = One * 3 / 10 // the logits; other inputs begin without influence
			}
			slow.weights = append(slow.weights, w)
		}
		var c, plain Coder
		c.Write(nil)
		plain.Write(nil)
		run := func(coder *Coder, m *ByteMixer, reading bool, check func(step, bit int, active []uint32, s Selector)) {
			rng := rand.New(rand.NewPCG(45, uint64(setup.contexts)))
			node, history := uint32(1), uint32(0)
			for step := range 12000 {
				if node >= 16 {
					node = 1
				}
				for i := range setup.contexts {
					m.Hashes[i] = history >> (2 * i) * 0x9E3779B1
				}
				s := Selector{rng.IntN(sets), rng.IntN(sets), rng.IntN(apmContexts), int(history % 4)}
				bit := Flag(rng.IntN(20) == 0) // mostly predictable: 0, or in long stretches 1
				if step/3000%2 == 1 {
					bit = 1 - bit
				}
				if step%7 == 0 {
					bit = int(history >> 3 & 1)
				}
				active := make([]uint32, setup.contexts)
				given := bit
				if reading {
					given = 0
				}
				var got int
				if step/100%2 == 0 {
					for i := range active {
						active[i] = uint32(slowNode(m.Hashes[i], node) >> (32 - setup.tableBits))
					}
					got = m.CodeBit(coder, given, node, s)
				} else {
					m.SelectNibble(history)
					for i := range active {
						active[i] = uint32(slowNode(m.Hashes[i], history)>>(32-setup.tableBits))/16*16 + node
					}
					if step%3 == 0 {
						m.SetCounter(0, history*77777, node)
						active[0] = uint32(uint64(history) * 77777 % (1 << 32) >> (32 - setup.tableBits))
					}
					got = m.CodeNibble(coder, given, node, s)
				}
				if got != bit {
					t.Fatalf("%d contexts, step %d: %d, want %d", setup.contexts, step, got, bit)
				}
				check(step, bit, active, s)
				node, history = node<<1|uint32(bit), history<<1|uint32(bit)
			}
		}
		run(&c, quick, false, func(step, bit int, active []uint32, s Selector) {
			if slow.code(&plain, bit, active, s); c.Spent() != plain.Spent() {
				t.Fatalf("%d contexts, step %d: %d units, want %d", setup.contexts, step, c.Spent(), plain.Spent())
			}
		})
		packet := c.Finish()
		if !bytes.Equal(packet, plain.Finish()) {
			t.Errorf("%d contexts: other bytes than the reference", setup.contexts)
		}
		var r Coder
		r.Read(packet)
		run(&r, NewByteMixer(setup.contexts, setup.tableBits, sets, setup.limit, setup.rate), true, func(int, int, []uint32, Selector) {})
		if err := r.Close(); err != nil {
			t.Errorf("%d contexts: %v", setup.contexts, err)
		}
	}
}

// The copy of a mixer codes as the original does, and changing one leaves the other unchanged.
func TestByteMixerCopy(t *testing.T) {
	cost := func(m *ByteMixer) int64 {
		var c Coder
		c.Write(nil)
		for i := range 500 {
			m.Hashes[0] = uint32(i % 3)
			m.CodeBit(&c, Flag(i%3 == 1), 1, Selector{})
		}
		return c.Spent()
	}
	a, b := NewByteMixer(1, 8, 1, 60, 2), NewByteMixer(1, 8, 1, 60, 2)
	first := cost(a)
	b.CopyFrom(a)
	second := cost(a)
	if got := cost(b); got != second || second >= first {
		t.Errorf("the copy takes %d units, the original %d, before it had learned %d", got, second, first)
	}
}

// slowStateMixer is StateMixer.
type slowStateMixer struct {
	counters  []StateCounter
	weights   []StateWeights
	limit     int32
	learnRate int64
	rnd       uint64
}

func (m *slowStateMixer) code(c *Coder, bit int, hashes []uint32, predictions []int32, node, weightSet uint32, n int) {
	n = min(n, len(hashes))
	salt := uint64(node) * 0x9E3779B1 % (1 << 32) / 128
	place := func(h uint32, size int) uint64 {
		return (uint64(h) + salt) % (1 << 32) * 0x85EBCA6B % (1 << 32) / (1 << 32 / uint64(size))
	}
	in := make([]int64, firstPredictor+len(predictions))
	in[0] = 800
	for i, h := range hashes[:n] {
		in[1+i] = int64(m.counters[place(h, len(m.counters))].StretchedP())
	}
	for i, logit := range predictions {
		in[firstPredictor+i] = int64(logit)
	}
	w := &m.weights[uint64(weightSet)*0x9E3779B1%(1<<32)/(1<<21)]
	sum := int64(0)
	for i, x := range in {
		sum += x * int64(w.Weight[i])
	}
	p := Squash(int32(floorDiv(sum, 1<<13)))
	c.Bit(bit, p)
	m.rnd = (m.rnd*1664525 + 1013904223) % (1 << 32)
	scaled := (int64(bit)*One - int64(p)) * (m.learnRate + 2600/(1+int64(w.Updates)/8/3))
	for i, x := range in {
		w.Weight[i] = int16(min(max(int64(w.Weight[i])+floorDiv(x*scaled+int64(m.rnd/4), 1<<30), math.MinInt16), math.MaxInt16))
	}
	w.Updates = min(w.Updates+1, 4095)
	for i, h := range hashes[:n] {
		m.counters[place(h, len(m.counters))].update(bit, int32(m.rnd>>(3*i)%(1<<16)), m.limit)
	}
}

// New weights are 0.3, to within the resolution of 1/8192.
func TestNewStateWeights(t *testing.T) {
	for i, w := range NewStateWeights().Weight {
		if math.Abs(float64(w)/8192-0.3) > 1.0/8192 {
			t.Errorf("weight %d is %d/8192, want 0.3", i, w)
		}
	}
}

// StateMixer equals the second implementation for every number of contexts and predictions, and what it writes is
// read back.
func TestStateMixerMatchesReference(t *testing.T) {
	model := func() ([]StateCounter, []StateWeights) {
		counters, weights := make([]StateCounter, 1<<7), make([]StateWeights, 1<<11)
		Fill(counters, NewStateCounter)
		for i := range weights {
			weights[i] = NewStateWeights()
			weights[i].Updates = uint16(i * 2)
			weights[i].Weight[i%maxStateInputs] = int16(i * 31)
		}
		return counters, weights
	}
	counters, weights := model()
	slow := slowStateMixer{counters, weights, 12, 1500, 99}
	var c, plain Coder
	c.Write(nil)
	plain.Write(nil)
	run := func(coder *Coder, check func(step, bit int, x *StateMixer, predictions []int32, node, set uint32, n int)) {
		rng := rand.New(rand.NewPCG(49, 50))
		x := StateMixer{Coder: coder, StateLimit: 12, LearnRate: 1500}
		counters, weights := model()
		x.SetModel(counters, weights, 99)
		for step := range 20000 {
			if step%5 == 0 {
				x.Begin()
				for range 1 + rng.IntN(maxContexts) {
					x.AddContext(uint32(rng.IntN(4)), 0, 0, 0)
				}
			}
			var predictions []int32
			if rng.IntN(3) == 0 {
				predictions = make([]int32, rng.IntN(MaxPredictors+1))
				x.ReservePredictors(len(predictions))
				for i := range predictions {
					if rng.IntN(4) > 0 { // otherwise zero: no information
						predictions[i] = rng.Int32N(2*MaxStretch+1) - MaxStretch
						x.Predict(i, predictions[i])
					}
				}
			} else {
				x.ReservePredictors(0)
			}
			node, set, n, bit := rng.Uint32N(5), rng.Uint32N(9), 1+rng.IntN(maxContexts), Flag(rng.IntN(9) == 0)
			given := bit
			if coder.Reading() {
				given = 0
			}
			var got int
			if step%2 == 0 {
				got = x.CodeBit(given, node, set, n)
			} else {
				got = Flag(x.CodeFlag(given == 1, node, set, n))
			}
			if got != bit {
				t.Fatalf("step %d: %d, want %d", step, got, bit)
			}
			check(step, bit, &x, predictions, node, set, n)
		}
	}
	run(&c, func(step, bit int, x *StateMixer, predictions []int32, node, set uint32, n int) {
		if slow.code(&plain, bit, x.Hashes[:x.N], predictions, node, set, n); c.Spent() != plain.Spent() {
			t.Fatalf("step %d: %d units, want %d", step, c.Spent(), plain.Spent())
		}
		if !slices.Equal(x.counters, slow.counters) || x.weights[set*0x9E3779B1>>21] != slow.weights[set*0x9E3779B1>>21] {
			t.Fatalf("step %d: counters or weights differ", step)
		}
	})
	packet := c.Finish()
	var r Coder
	r.Read(packet)
	run(&r, func(int, int, *StateMixer, []int32, uint32, uint32, int) {})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Begin removes the numeric predictions: a decision after it costs what it costs a new mixer.
func TestStateMixerBegin(t *testing.T) {
	cost := func(earlier bool) int64 {
		var c Coder
		c.Write(nil)
		x := StateMixer{Coder: &c}
		counters, weights := make([]StateCounter, 8), make([]StateWeights, 1<<11)
		Fill(counters, NewStateCounter)
		Fill(weights, NewStateWeights())
		x.SetModel(counters, weights, 1)
		x.Begin()
		if earlier {
			x.ReservePredictors(1)
			x.Predict(0, MaxStretch)
			x.Begin()
		}
		x.nInputs = maxStateInputs
		x.AddContext(1, 2, 3, 4)
		x.CodeBit(1, 0, 0, 1)
		return c.Spent()
	}
	if got, want := cost(true), cost(false); got != want {
		t.Errorf("%d units after predictions were cleared, %d without any", got, want)
	}
}

// A Mixer codes a tree as its decisions one by one, at nodes first+1, first+2 or first+3, and so on, each with the weights
// of its node; what it writes is read back.
func TestMixerTree(t *testing.T) {
	newMixer := func(c *Coder) *Mixer {
		x := &Mixer{Coder: c, Counters: make([]Counter, 64), Weights: make([]Weights, 40), Bias: 256, Limit: 60, Rate: 500}
		Fill(x.Counters, NewCounter(One/2, 0))
		Fill(x.Weights, Weights{Unit / 3, Unit / 3})
		return x
	}
	var c, plain, r Coder
	c.Write(nil)
	plain.Write(nil)
	tree, single := newMixer(&c), newMixer(&plain)
	const first, set, bits = 4, 6, 3
	values := []uint32{5, 0, 7, 5, 2, 5}
	begin := func(x *Mixer, i int) {
		x.Begin(set)
		x.AddContext(uint32(i%2), 0, 0, 0)
		x.AddContext(7, 0, 0, 0)
	}
	for i, v := range values {
		begin(tree, i)
		begin(single, i)
		if got := tree.CodeTree(v, bits, first); got != v {
			t.Errorf("a writer of %d returns %d", v, got)
		}
		top, middle, low := v/4, v/2%2, v%2
		single.CodeBit(first+1, int(top), nil)
		single.CodeBit(first+2+int(top), int(middle), nil)
		single.CodeFlag(first+4+int(2*top+middle), low == 1)
		if tree.CodeFlag(0, v == 5) != (v == 5) {
			t.Error("a writer changes a flag")
		}
		single.CodeBit(0, Flag(v == 5), nil)
	}
	if !slices.Equal(tree.Weights, single.Weights) || !slices.Equal(tree.Counters, single.Counters) {
		t.Error("weights or counters differ from those of single decisions")
	}
	for i, w := range tree.Weights {
		node := i - set
		if used := node == 0 || node > first && node < first+1<<bits; !used && w != (Weights{Unit / 3, Unit / 3}) {
			t.Errorf("the weights of node %d changed", node)
		}
	}
	packet := c.Finish()
	if !bytes.Equal(packet, plain.Finish()) {
		t.Error("bytes differ from those of single decisions")
	}
	r.Read(packet)
	back := newMixer(&r)
	for i, v := range values {
		begin(back, i)
		if got := back.CodeTree(0, bits, first); got != v {
			t.Errorf("read %d, want %d", got, v)
		}
		if back.CodeFlag(0, false) != (v == 5) {
			t.Error("a flag was read wrong")
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
