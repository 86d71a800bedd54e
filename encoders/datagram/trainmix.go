package datagram

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"wirelab/encoders/rangecoder"
)

// count counts the bits that followed a context, for each node of the tree over four bits.
type count struct {
	n    [16][2]uint16 // zeros and ones, by node
	key  uint64        // number of the lookup in the upper 32 bits, hash of the context in the lower
	uses int           // number of units that followed the context
}

// fewestUses is the minimum number of uses of a context to have a line in the model.
const fewestUses = 2

// learnWeights counts the bits after each context, learns the logit of each state of the counts and
// the weights of the inputs, and fills the table. As in cross-validation, a fold is visited with the
// counts of all other folds.
func (t *trainer) learnWeights() {
	units, counts := t.collectUnits()
	// addFold adds or subtracts the counts of the units in a fold; folds means all units.
	addFold := func(fold uint8, sign int) {
		for i := range units {
			if fold == folds || units[i].fold == fold {
				units[i].addCounts(sign)
			}
		}
	}
	addFold(folds, 1)
	each := func(visit func(u *seenUnit, half int)) {
		for fold := range uint8(folds) {
			addFold(fold, -1)
			for i := range units {
				if u := &units[i]; u.fold == fold && u.learn {
					visit(u, 0)
					if u.bits > 4 && !t.m.places[u.at].low {
						visit(u, 1)
					}
				}
			}
			addFold(fold, 1)
		}
	}
	value := learnLogits(each)
	t.trainWeights(each, &value)
	t.fillTable(counts, &value)
}

// collectUnits visits the samples. It returns their units and a zeroed counter for each context, by
// count.key. A unit of more than 4 bits has two halves with contexts of their own; the second half's
// depend on the bits of the first. head is 1 followed by the bits of the unit so far. A unit that
// equals its steady prediction takes a single decision and no weights, so learn is false.
func (t *trainer) collectUnits() ([]seenUnit, map[uint64]*count) {
	var units []seenUnit
	counts := map[uint64]*count{}
	t.visit(func(x *mixer, s *sample, v byte, bits uint) {
		u := seenUnit{at: uint16(x.w.at()), v: v, bits: uint8(bits), fold: uint8(s.fold), learn: true}
		if x.steady() {
			u.learn = v != byte(x.expect[0])
			x.excludeSteady()
		}
		u.flags = uint8(x.flags())
		head := uint32(1)
		for n := bits; n > 0; n-- {
			if n == bits || n == 4 {
				half := rangecoder.Flag(n != bits)
				for i, h := range x.hash {
					if half == 1 {
						h = lowerHash(h, head)
					}
					key := uint64(i)<<32 | uint64(h)
					if counts[key] == nil {
						counts[key] = &count{key: key}
					}
					u.counters[half][i] = counts[key]
				}
			}
			for i, in := range x.comparisons(head, bits, n) {
				u.in[bits-n][i] = int8(in)
			}
			u.in[bits-n][inBias-lookups] = biasNode
			bit := int(v >> (n - 1) & 1)
			if x.w.num.active {
				x.w.num.observeBit(bit)
			}
			head = head<<1 | uint32(bit)
		}
		units = append(units, u)
	})
	return units, counts
}

// half returns the bits v of half 0 or 1 of the unit, their number n, and the number of bits before
// them. Each half has its own contexts.
func (u *seenUnit) half(half int) (v, n, before int) {
	n = int(u.bits)
	switch {
	case half == 1:
		return int(u.v & 15), 4, n - 4
	case n > 4:
		return int(u.v >> 4), n - 4, 0
	}
	return int(u.v), n, 0
}

// decisionAt returns bit k, counted from the highest, of the n bits of v, and its node in their tree.
func decisionAt(v, n, k int) (node, bit int) {
	so := v>>(n-k)&(1<<k-1) | 1<<k
	return so, v >> (n - 1 - k) & 1
}

// addCounts adds the bits of the unit to all of its counters if sign is 1, and subtracts them if sign
// is -1: uint16(-1) is 65535, and adding it wraps around.
func (u *seenUnit) addCounts(sign int) {
	for half := range 2 {
		if u.counters[half][0] == nil {
			continue
		}
		v, n, _ := u.half(half)
		for _, c := range u.counters[half] {
			c.uses += sign
			for k := range n {
				node, bit := decisionAt(v, n, k)
				c.n[node][bit] += uint16(sign)
			}
		}
	}
}

// states is the number of states of a node's counts: 8 steps of their sum, times 31 steps of the
// logit.
const states = 1 + 8*31

// stateOf returns the state of the counts of a node; 0 if they are zero.
func stateOf(n [2]uint16) int {
	total := int(n[0]) + int(n[1])
	if total == 0 {
		return 0
	}
	many := 7
	for i, most := range [...]int{1, 2, 3, 5, 8, 15, 40} {
		if total <= most {
			many = i
			break
		}
	}
	p := (10*uint32(n[1]) + 4) << 12 / (10*uint32(total) + 8) << 4
	x := rangecoder.Stretch(min(max(p, 1), rangecoder.One-1))
	return 1 + many*31 + int(min(max((x*5+2048)>>12, -15), 15)) + 15
}

// logits are the logits of nodes, by lookup and state of the counts.
type logits [lookups][states]int8

// learnLogits finds, for each lookup and each state of the counts, the logit of the bits that follow.
func learnLogits(each func(func(u *seenUnit, half int))) (value logits) {
	var seen [lookups][states][2]int64
	each(func(u *seenUnit, half int) {
		v, n, _ := u.half(half)
		for i, c := range u.counters[half] {
			for k := 0; k < n && c.uses >= fewestUses; k++ {
				node, bit := decisionAt(v, n, k)
				seen[i][stateOf(c.n[node])][bit]++
			}
		}
	})
	for i := range value {
		for s := 1; s < states; s++ {
			p := int64(rangecoder.Squash(int32((s-1)%31-15) * 4096 / 5))
			n := seen[i][s]
			ones, all := n[1]<<16+2*p+64, (n[0]+n[1]+2)<<16+128
			value[i][s] = toNode(rangecoder.Stretch(uint32(min(max(ones<<16/all, 1), rangecoder.One-1))))
		}
	}
	return value
}

// fineWeight is a weight of 1 during training.
const fineWeight = 1 << 24

// weightTrainer learns the weights of the inputs.
type weightTrainer struct {
	value   *logits
	byPlace [][2][inputs]int64
	found   [64][inputs]int64
}

// trainWeights learns the weights by gradient descent on the code length, in three passes with
// decreasing learning rates.
func (t *trainer) trainWeights(each func(func(u *seenUnit, half int)), value *logits) {
	w := weightTrainer{value: value, byPlace: make([][2][inputs]int64, len(t.m.places))}
	for i := range w.found {
		rangecoder.Fill(w.found[i][:inBias], fineWeight/4)
	}
	for _, rate := range [...]int64{1311, 415, 131} { // of 1<<16
		each(func(u *seenUnit, half int) { w.learn(u, half, rate) })
	}
	for i := range w.byPlace {
		for half := range 2 {
			roundWeights(&t.m.places[i].weight[half], &w.byPlace[i][half])
		}
	}
	for i := range w.found {
		roundWeights(&t.m.found[i], &w.found[i])
	}
}

// roundWeights converts weights from units of 1/fineWeight to units of 1/weightOne.
func roundWeights(to *[inputs]int16, from *[inputs]int64) {
	const unit = fineWeight / weightOne
	for i, w := range from {
		to[i] = int16(min(max((w+unit/2)/unit, -1<<15), 1<<15-1))
	}
}

// learn adjusts the weights by the coding errors of the bits of half 0 or 1 of a unit.
func (w *weightTrainer) learn(u *seenUnit, half int, rate int64) {
	found := int(u.flags)
	var ok [lookups]bool
	for i, c := range u.counters[half] {
		if c.uses >= fewestUses {
			ok[i] = true
			found |= 1 << i
		}
	}
	a, b := &w.byPlace[u.at][half], &w.found[found]
	v, n, before := u.half(half)
	for k := range n {
		node, bit := decisionAt(v, n, k)
		var in [inputs]int64
		for i, c := range u.counters[half] {
			if ok[i] {
				in[i] = int64(w.value[i][stateOf(c.n[node])])
			}
		}
		for i, x := range u.in[before+k] {
			in[lookups+i] = int64(x)
		}
		sum := int64(0)
		for i, x := range in {
			sum += x * (a[i] + b[i])
		}
		p := rangecoder.Squash(int32(min(max(sum>>17, -sure), sure)))
		errScaled := (int64(bit)<<16 - int64(p)) * rate
		for i, x := range in {
			a[i] += errScaled * x >> 12
			b[i] += errScaled * x >> 14
		}
	}
}

// fillTable fills the lines of the model with the logits of the contexts that were used most.
func (t *trainer) fillTable(counts map[uint64]*count, value *logits) {
	list := slices.SortedFunc(maps.Values(counts), func(a, b *count) int { return cmp.Or(b.uses-a.uses, cmp.Compare(a.key, b.key)) })
	t.m.shift = t.tableShift()
	t.m.lines = make([]line, 1<<(32-t.m.shift))
	for _, c := range list {
		if c.uses < fewestUses {
			break
		}
		h, input := uint32(c.key), int(c.key>>32)
		i := h >> t.m.shift
		if t.m.lines[i][0] != 0 {
			i ^= 1
		}
		if t.m.lines[i][0] != 0 {
			continue // no room
		}
		l := &t.m.lines[i]
		l[0] = byte(h) | 1
		for node := 1; node < 16; node++ {
			l[node] = byte(value[input][stateOf(c.n[node])])
		}
	}
}

// tableShift returns the shift of the largest table that the file has room for.
func (t *trainer) tableShift() uint {
	t.m.lines = nil
	rest := len(t.m.Bytes()) + 10_000 // room for the tables of lengths, which are learnt later
	shift := uint(maxShift)
	for shift > 32-20 && rest+17<<(32-shift+1) <= t.budget {
		shift--
	}
	return shift
}

// seenUnit is a unit of a sample.
type seenUnit struct {
	at       uint16 // index of its place
	v        byte
	bits     uint8
	fold     uint8
	flags    uint8 // see mixer.flags
	near     uint8
	has      [2]bool
	learn    bool // the weights learn from this unit
	src      [sources]byte
	expect   [2]byte
	counters [2][lookups]*count
	in       [8][inputs - lookups]int8
}

// maxSeen bounds the units that are kept in memory.
const maxSeen = 500_000

// visit codes the samples, or every n-th if they have more than maxSeen bytes, and calls each before
// each unit that is modelled. The mixer is then prepared for the unit.
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

// findRecipes chooses, for each place, the contexts that predict its units best, and marks the places
// whose units no context predicts. After the end of ctx it chooses no more.
func (t *trainer) findRecipes(ctx context.Context) {
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
		p.steady, _ = measureSteady(list, true)
		p.zero, p.zeros = measureSteady(list, false)
		p.learnNear(list)
		if len(list) < 20 || ctx.Err() != nil {
			continue
		}
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		p.choose(list[:min(len(list), 2000)], bits[at], table, t.m.fields)
		by[at] = nil
	}
}

// plain is the default recipes: the last unit, the last two units and the last three.
var plain = [recipes]recipe{
	{1, [maxParts]part{{0, 255}}},
	{2, [maxParts]part{{0, 255}, {1, 255}}},
	{3, [maxParts]part{{0, 255}, {1, 255}, {2, 255}}},
}

// masks are the bits of a source that a context may use.
var masks = [...]uint8{0xff, 0xf8, 0xe0}

// choose adds to each recipe the source that saves most, until a source saves less than 0.5 %. It
// also sets random if no recipe helps, and low if none helps with the last four bits.
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

// measureSteady considers the units with a reference if has is true, and those without if it is false.
// It reports whether at least 99 % of them equal expect[0], which is the reference's unit, or 0
// without a reference, and returns the logit of that share. Units are not compared with their most
// frequent value, because a constant of the training data may be that of one session.
func measureSteady(list []seenUnit, has bool) (bool, int8) {
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

// learnNear learns how likely the next bit of a unit equals that of the expected unit, given the
// number of bits that were equal so far and the context near.
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

// learnLengths counts lengths in the context of the packet's length.
func (t *trainer) learnLengths() {
	l := &t.m.length
	seen := map[int]int{}
	for _, s := range t.samples {
		if n := len(s.data); n > 0 && n <= maxBytes {
			seen[n]++
		}
	}
	list := slices.SortedFunc(maps.Keys(seen), func(a, b int) int { return cmp.Or(seen[b]-seen[a], a-b) })
	for i, n := range list[:min(len(list), common-1)] {
		l.known[i+1] = uint16(n)
	}
	l.fill()
	var which [sizes][common][2]int64
	var off [offsets][2]int64
	f, k := newFlow(t.m), newCoder(t.m, false)
	k.bare = true
	for i := range t.samples {
		s := &t.samples[i]
		past := f.before(s)
		n := len(s.data)
		if n == 0 || n > maxBytes {
			continue
		}
		size := len(k.encode(nil, s.data, past))
		// The cost of the length is not known yet: it may be a byte more.
		for _, size := range []int{size, size, size + 1} {
			i := int(l.index[n])
			countTree(which[min(size, sizes-1)][:], i, 6)
			countTree(which[0][:], i, 6)
			if d := n - size - offsetMin; i == 0 && d >= 0 && d < offsets {
				countTree(off[:], d, 5)
			} else if i == 0 {
				countTree(off[:], offsets-1, 5)
			}
		}
	}
	share := func(n [2]int64, prior int64) int64 { return (n[1]<<16 + 2*prior) / (n[0] + n[1] + 2) }
	bound := func(p int64) uint16 { return uint16(min(max(p, 32), 1<<16-32)) }
	for i := range common {
		l.which[0][i] = bound(share(which[0][i], 1<<15))
		for size := 1; size < sizes; size++ {
			l.which[size][i] = bound(share(which[size][i], int64(l.which[0][i])))
		}
	}
	for i := range off {
		l.off[i] = bound(share(off[i], 1<<15))
	}
}

// countTree counts the bits of v, of n bits, as tree codes them.
func countTree(t [][2]int64, v, n int) {
	at := 1
	for i := n - 1; i >= 0; i-- {
		bit := v >> i & 1
		t[at][bit]++
		at = at<<1 | bit
	}
}
