package datagram

import (
	"math"
	"math/rand/v2"
)

// seenUnit is a unit of a sample.
type seenUnit struct {
	at     uint16 // its place
	v      byte
	bits   uint8
	fold   uint8
	flags  uint8 // see mixer.flags
	near   uint8
	has    [2]bool
	learn  bool // weights learn from it
	src    [sources]byte
	expect [2]byte
	line   [2][lookups]*count
	in     [8][inputs - lookups]int8
}

// maxSeen bounds the units that are kept in memory.
const maxSeen = 500_000

// visit walks through all samples, and calls each before each unit that is modelled, when the mixer
// is prepared for it.
func (t *trainer) visit(each func(x *mixer, s *sample, v byte, bits uint)) {
	total := 0
	for i := range t.samples {
		total += len(t.samples[i].data)
	}
	every := total/maxSeen + 1
	f, k := newFlow(t.m), newCoder(t.m, false)
	k.x.limit = sure
	for i := range t.samples {
		s := &t.samples[i]
		past := f.before(s)
		if len(s.data) > maxBytes || i%every != 0 {
			continue
		}
		k.follow(s.data, past, func(v byte, bits uint) {
			k.w.num.active = false
			if t.m.places[k.w.at()].random {
				return
			}
			k.x.begin()
			each(&k.x, s, v, bits)
			k.w.num.leave(v)
		})
	}
}

// findRecipes chooses, place by place, contexts that predict the unit there, and finds the places
// that nothing predicts.
func (t *trainer) findRecipes() {
	by := make([][]seenUnit, len(t.m.places))
	bits := make([]uint, len(t.m.places))
	t.visit(func(x *mixer, s *sample, v byte, n uint) {
		at := x.w.at()
		by[at], bits[at] = append(by[at], seenUnit{v: v, bits: uint8(n), src: x.w.src, has: x.has, near: uint8(x.near),
			expect: [2]byte{byte(x.expect[0]), byte(x.expect[1])}}), n
	})
	rng := rand.New(rand.NewPCG(1, 2))
	table := new([1 << 16][2]uint16)
	for at, list := range by {
		p := &t.m.places[at]
		p.seen = len(list) > 0
		p.recipe = plain
		p.steady, _ = steady(list, true)
		p.zero, p.zeros = steady(list, false)
		p.learnNear(list)
		if len(list) < 20 || t.ctx.Err() != nil {
			continue
		}
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		p.choose(list[:min(len(list), 2000)], bits[at], table, t.m.fields)
		by[at] = nil
	}
}

// plain recipes are the last unit, the last two and the last three.
var plain = [recipes]recipe{
	{1, [maxParts]part{{0, 255}}},
	{2, [maxParts]part{{0, 255}, {1, 255}}},
	{3, [maxParts]part{{0, 255}, {1, 255}, {2, 255}}},
}

// masks are the bits of a source that a context may use.
var masks = [...]uint8{0xff, 0xf8, 0xe0}

// choose adds to each recipe the source that saves most, as long as it saves 0.5 %.
func (p *place) choose(list []seenUnit, bits uint, table *[1 << 16][2]uint16, fields []field) {
	flat, low := cost(list, &recipe{}, table, bits), cost(list, &recipe{}, table, min(bits, 4))
	least := flat
	var taken [sources]bool
	for i := range p.recipe {
		r, best := recipe{}, int64(math.MaxInt64)
		for r.n < maxParts {
			add, was := part{}, best
			for s := range uint8(sources) {
				if taken[s] && r.n == 0 {
					continue
				}
				for _, mask := range masks {
					try := r
					try.part[r.n] = part{s, mask}
					try.n++
					if c := cost(list, &try, table, bits); c < best {
						best, add = c, try.part[r.n]
					}
				}
			}
			if best >= was/1000*995 {
				break
			}
			r.part[r.n] = add
			r.n++
		}
		if r.n > 0 {
			taken[r.part[0].source] = true
		}
		p.recipe[i] = r
		least = min(least, best)
		low = min(low, cost(list, &r, table, min(bits, 4)))
	}
	if n := int64(len(list)); n >= 500 {
		p.random = least > n*int64(bits)*1019
		p.low = bits > 4 && low > n*4*1021 && (p.field < 0 || fields[p.field].units == 1)
	}
}

// cost returns the cost of the last bits of the units, in 1/1024 bit, if each is coded adaptively in
// the recipe's context.
func cost(list []seenUnit, r *recipe, table *[1 << 16][2]uint16, bits uint) (total int64) {
	clear(table[:])
	for i := range list {
		s := &list[i]
		h := r.hash(0, &s.src)
		head := (uint32(s.v) | 1<<s.bits) >> bits
		for n := bits; n > 0; n-- {
			bit := s.v >> (n - 1) & 1
			c := &table[(h+head*0x9e3779b1)>>16]
			total += int64(countLogs.all[(c[0]+c[1])&4095] - countLogs.one[c[bit]&4095])
			c[bit]++
			head = head<<1 | uint32(bit)
		}
	}
	return total
}

// steady reports whether the unit is nearly always the reference's if has, or else 0, and the logit
// of that. A constant of the training data does not count, because it may be that of one session.
func steady(list []seenUnit, has bool) (bool, int8) {
	var n [2]int64
	for i := range list {
		if s := &list[i]; s.has[0] == has {
			if s.v == s.expect[0] {
				n[1]++
			} else {
				n[0]++
			}
		}
	}
	return n[1] >= fewest && n[0]*99 <= n[1], ratio(n[1], n[0])
}

// learnNear counts how often a unit continues as the expected one.
func (p *place) learnNear(list []seenUnit) {
	var n [2][64][2]int64
	for i := range list {
		s := &list[i]
		for j := range n {
			if p.steady && j == 0 {
				if s.has[0] && s.v == s.expect[0] {
					n[0][s.near][1]++
				} else if s.has[0] {
					n[0][s.near][0]++
				}
				continue
			}
			for k := uint8(0); s.has[j] && k < s.bits; k++ {
				if shift := s.bits - 1 - k; s.v>>shift != s.expect[j]>>shift {
					n[j][s.near+k][0]++
					break
				}
				n[j][s.near+k][1]++
			}
		}
	}
	for j := range n {
		for i, c := range n[j] {
			p.near[j][i] = byte(ratio(c[1], c[0]))
		}
	}
}
