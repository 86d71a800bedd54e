package rangecoder

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomModel returns a model of few slots with random counters and weights, many of them extreme.
func randomModel(rng *rand.Rand) *MixerModel {
	m := NewMixerModel(3, 2+rng.IntN(60), 2<<rng.IntN(4))
	for i := range m.counters[1:] {
		p := rng.Uint32N(One)
		if rng.IntN(3) == 0 {
			p = edgeProbabilities[rng.IntN(len(edgeProbabilities))]
		}
		m.counters[1+i] = StateCounter(p&^15 | rng.Uint32N(16))
	}
	for i := range m.weights {
		for j := range m.weights[i].weight {
			m.weights[i].weight[j] = int16(rng.Uint32()) >> rng.IntN(15)
		}
		m.weights[i].updates = uint16(rng.IntN(maxUpdates + 1))
	}
	m.random = rng.Uint32()
	return m
}

// codeRandom codes random decisions of the seed. code codes one of them: with counter own of the caller, if
// it is not negative.
func codeRandom(c *Coder, seed uint64, decisions int, code func(x *Mixer, own, node, bit int) int) (bits []int, m *MixerModel) {
	rng := rand.New(rand.NewPCG(seed, 8))
	m = randomModel(rng)
	x := NewMixer(c, rng.IntN(100), rng.IntN(2)*rng.IntN(4001))
	x.MixerModel = m
	for range decisions {
		x.Begin(rng.IntN(3))
		own := rng.IntN(9) - 6
		for range rng.IntN(MaxContexts + Flag(own < 0)) {
			x.AddContext(rng.Uint32N(9), 2, 3, 4)
		}
		bits = append(bits, code(&x, own, rng.IntN(4), Flag(rng.IntN(5) == 0)))
	}
	return bits, m
}

// codeOne codes a decision as a codec does.
func codeOne(x *Mixer, own, node, bit int) int {
	switch {
	case own >= 0:
		return x.BitWith(own, node, bit)
	case node == 0:
		return Flag(x.Flag(node, bit == 1))
	}
	return x.Bit(node, bit)
}

// FuzzMixer checks that a Mixer equals the second implementation, in both directions.
func FuzzMixer(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, []byte{})
	}
	f.Fuzz(func(t *testing.T, seed uint64, forged []byte) {
		const decisions = 80
		var quick, plain Coder
		quick.Write(nil)
		plain.Write(nil)
		check := func() {
			gotBits, got := codeRandom(&quick, seed, decisions, codeOne)
			wantBits, want := codeRandom(&plain, seed, decisions, slowMix)
			got.counters[0] = want.counters[0]
			if !slices.Equal(gotBits, wantBits) || !slices.Equal(got.counters, want.counters) {
				t.Fatalf("bits %v, counters %v, want %v, %v", gotBits, got.counters, wantBits, want.counters)
			}
			if !slices.Equal(got.weights, want.weights) || !slices.Equal(got.tags, want.tags) {
				t.Fatalf("weights %v, tags %v, want %v, %v", got.weights, got.tags, want.weights, want.tags)
			}
		}
		check()
		packet := quick.Finish()
		if want := plain.Finish(); !bytes.Equal(packet, want) {
			t.Fatalf("%x, want %x", packet, want)
		}
		for _, src := range [][]byte{packet, forged} {
			quick.Read(src)
			plain.Read(src)
			check()
			if got, want := quick.Close(), plain.Close(); got != want {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

// slowMix is Mixer.code, written a second time.
func slowMix(x *Mixer, own, node, bit int) int {
	m := x.MixerModel
	used := make([]int, 6) // the counter of each input
	for i, h := range x.hashes[:x.contexts] {
		hash := (uint64(h) + uint64(node)*0x9E3779B1%(1<<32)/128) % (1 << 32) * 0x85EBCA6B % (1 << 32)
		first := int(hash * uint64(len(m.tags)/2) / (1 << 32) * 2)
		counter := m.counters[len(m.counters)-len(m.tags):]
		chosen := -1
		for slot := first + 1; slot >= first; slot-- {
			if uint64(m.tags[slot]) == hash%256 {
				chosen = slot
			}
		}
		if chosen < 0 {
			chosen = first
			if counter[first+1]%16 < counter[first]%16 {
				chosen = first + 1
			}
			if other := &counter[2*first+1-chosen]; *other%16 > 0 && m.random < 1<<31 {
				*other--
			}
			m.tags[chosen], counter[chosen] = uint8(hash%256), 1<<15
		}
		used[i] = len(m.counters) - len(m.tags) + chosen
	}
	if own >= 0 {
		used[x.contexts] = 1 + own
	}
	set := int((uint64(x.set) + uint64(node)) % (1 << 32) * 0x9E3779B1 % (1 << 32) * uint64(len(m.weights)) / (1 << 32))
	used[5] = 1 + 3 + set
	m.counters[0] = 1 << 15
	in := make([]int64, 8)
	for i, k := range used {
		in[i] = int64(m.counters[k].logit())
	}
	in[6] = 256
	w, sum := &m.weights[set], int64(0)
	for i := 0; i < 8; i += 2 {
		sum += floorDiv(in[i]*int64(w.weight[i])+in[i+1]*int64(w.weight[i+1]), 4)
	}
	p := int64(Squash(int32(floorDiv(sum, 2048))))
	bit = x.Coder.Bit(bit, uint32(p))
	m.random = uint32(uint64(m.random)*1664525 + 1013904223)
	rate := int64(x.rates[w.updates/16])
	w.updates = min(w.updates+1, 4095)
	scaled := floorDiv((int64(bit)*One-p)*rate, 4096)
	for i, v := range in {
		moved := int64(w.weight[i]) + floorDiv(v*scaled+int64(m.random/(1<<14)), 1<<18)
		w.weight[i] = int16(min(max(moved, math.MinInt16), math.MaxInt16))
	}
	before := slices.Clone(m.counters)
	for i, k := range used {
		after := before[k]
		after.update(bit, int32(uint64(m.random/One)*uint64(laneFactors[i])%One), x.limit)
		m.counters[k] = after
	}
	return bit
}

// Mixing approaches the cost of the best context: of a context that determines the decision and one of noise.
func TestMixerPrefersTheBestContext(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var c, alone Coder
	c.Write(nil)
	alone.Write(nil)
	x := NewMixer(&c, 250, 400)
	x.MixerModel = NewMixerModel(0, 1000, 4)
	for range 100_000 {
		k := rng.IntN(4)
		p := []uint32{600, 9000, 40000, 65000}[k]
		bit := flag(rng.IntN(One) < int(p))
		x.Begin(0)
		x.AddContext(rng.Uint32N(50), 0, 0, 0)
		x.AddContext(uint32(k), 0, 0, 0)
		x.Bit(0, bit)
		alone.Bit(bit, p)
	}
	if got, want := c.Spent(), alone.Spent(); float64(got) > 1.03*float64(want) {
		t.Errorf("%d units mixed, %d for the true probability", got, want)
	}
}

// A Mixer codes a tree as its decisions one by one, at nodes first+1, first+2 or first+3, and so on.
func TestMixerTree(t *testing.T) {
	var c, plain Coder
	c.Write(nil)
	plain.Write(nil)
	tree, single := NewMixer(&c, 60, 500), NewMixer(&plain, 60, 500)
	tree.MixerModel, single.MixerModel = NewMixerModel(0, 64, 1024), NewMixerModel(0, 64, 1024)
	const first, set, bits = 4, 6, 3
	for i, v := range []uint32{5, 0, 7, 5, 2, 5} {
		for _, x := range []*Mixer{&tree, &single} {
			x.Begin(set)
			x.AddContext(uint32(i%2), 0, 0, 0)
		}
		if got := tree.Tree(v, bits, first); got != v {
			t.Errorf("a writer of %d returns %d", v, got)
		}
		top, middle, low := v/4, v/2%2, v%2
		single.Bit(first+1, int(top))
		single.Bit(first+2+int(top), int(middle))
		single.Bit(first+4+int(2*top+middle), int(low))
	}
	if got, want := c.Finish(), plain.Finish(); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

func BenchmarkMixer(b *testing.B) {
	var c Coder
	x := NewMixer(&c, 250, 400)
	x.MixerModel = NewMixerModel(0, 1<<15, 1<<11)
	buf := make([]byte, 0, 1<<16)
	c.Write(buf)
	n := uint32(0)
	for b.Loop() {
		x.Begin(int(n & 15))
		x.AddContext(n, 0, 0, 0)
		x.AddContext(n&63, 0, 0, 0)
		x.AddContext(n&255, 0, 0, 0)
		x.AddContext(17, 0, 0, 0)
		x.Bit(3, int(n*7/3&1))
		if n++; n&0xFFFF == 0 {
			c.Write(buf)
		}
	}
}
