package rangecoder

import (
	"bytes"
	"math"
	"math/rand/v2"
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

// slowHash is Hash.
func slowHash(a, b, c, d uint32) uint32 {
	return uint32(slowAvalanche(uint64(a)*0x9E3779B1 + uint64(b)*0x85EBCA6B + uint64(c)*0xC2B2AE35%(1<<32) +
		uint64(d)*0x27D4EB2F%(1<<32)))
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
		if got, want := Hash(a, b, c, d), slowHash(a, b, c, d); got != want {
			t.Fatalf("Hash(%d, %d, %d, %d) = %d, want %d", a, b, c, d, got, want)
		}
		var x Mixer
		for i := range uint32(MaxContexts) {
			x.AddContext(a, b, c, d)
			if got, want := x.hashes[i], slowHash(a, b, c, uint32(uint64(d)+uint64(i)*(1<<28))); got != want {
				t.Fatalf("context %d: %d, want %d", i, got, want)
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
				if want := float64(target-p) * rate * One; math.Abs(float64(moved)-want) > 2*math.Abs(float64(target-p)) {
					t.Errorf("from %d in state %d to %d: %d/65536 on average, want %f", p, state, target, moved, want)
				}
				want := int64(0)
				if state < 15 {
					want = min(int64(One/(stateCounts[state+1]-n)), One-1)
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
			if got := float64(k.logit()); math.Abs(got-want) > 2+0.005*math.Abs(want) {
				t.Errorf("the logit of %d in state %d is %f, want %f", p, state, got, want)
			}
		}
	}
}

// maxState is the highest of the sixteen states that stands for at most n updates.
func TestMaxState(t *testing.T) {
	for n := range 100 {
		want := 0
		for state, count := range stateCounts {
			if int(count) <= n {
				want = state
			}
		}
		if got := maxState(n); int(got) != want {
			t.Errorf("maxState(%d) = %d, want %d", n, got, want)
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
