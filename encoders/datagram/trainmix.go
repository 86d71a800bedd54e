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

// A contextCount counts the bits that followed a context, by node of the tree of four bits.
type contextCount struct {
	bits [16][2]uint16 // zeros and ones, by node
	key  uint64        // index of the context in mixer.hashes in the upper 32 bits, its hash in the lower
	uses int           // number of units that followed the context
}

// minUses is the minimum number of uses of a context to have a slot in the model.
const minUses = 2

// learnWeights counts the bits after each context, learns the logit of each state of the counts and the
// weights of the inputs, and fills the table of slots. Logits and weights are learned by
// cross-validation: the units of a fold are predicted with the counts of all other folds.
func (t *trainer) learnWeights() {
	const allFolds = folds
	const add, subtract = 1, -1
	units, counts := t.collectUnits()
	// changeCounts adds the bits of a fold's units to the counts, or subtracts them.
	changeCounts := func(fold uint8, sign int) {
		for i := range units {
			if fold == allFolds || units[i].fold == fold {
				units[i].addCounts(sign)
			}
		}
	}
	changeCounts(allFolds, add)
	// forEachHalf visits the halves of all units (see unitSample.half); meanwhile the counts exclude the
	// unit's fold.
	forEachHalf := func(visit func(u *unitSample, half int)) {
		for fold := range uint8(folds) {
			changeCounts(fold, subtract)
			for i := range units {
				if u := &units[i]; u.fold == fold && u.learn {
					visit(u, 0)
					if u.bits > 4 && !t.model.units[u.index].lowRandom {
						visit(u, 1)
					}
				}
			}
			changeCounts(fold, add)
		}
	}
	logits := learnLogits(forEachHalf)
	t.trainWeights(forEachHalf, &logits)
	t.fillTable(counts, &logits)
}

// collectUnits returns the units of the samples with the inputs of their bits, and a zeroed count for each
// context, by contextCount.key. A unit of more than 4 bits has two halves with contexts of their own; those
// of the second half depend on the bits of the first. If the steady flag of a unit is 1, the flag codes the
// unit without weights, so learn is false.
func (t *trainer) collectUnits() ([]unitSample, map[uint64]*contextCount) {
	var units []unitSample
	counts := map[uint64]*contextCount{}
	t.forEachUnit(func(x *mixer, s *sample, v byte, bits uint) {
		u := unitSample{index: uint16(x.parser.modelIndex()), value: v, bits: uint8(bits), fold: uint8(s.fold), learn: true}
		if x.hasSteadyFlag() {
			u.learn = v != byte(x.expected[0])
			x.excludeSteady()
		}
		u.flags = uint8(x.comparisonFlags())
		head := uint32(1) // a 1 and the bits of the unit so far
		for n := bits; n > 0; n-- {
			if n == bits || n == 4 { // a half begins
				half := rangecoder.Flag(n != bits) // 0 for the first bits of the unit, 1 for its last four
				for i, h := range x.hashes {
					if half == 1 {
						h = lowNibbleHash(h, head)
					}
					key := uint64(i)<<32 | uint64(h)
					if counts[key] == nil {
						counts[key] = &contextCount{key: key}
					}
					u.counters[half][i] = counts[key]
				}
			}
			for i, in := range x.comparisonInputs(head, bits, n) {
				u.inputs[bits-n][i] = int8(in)
			}
			u.inputs[bits-n][inBias-nContexts] = biasInput
			bit := int(v >> (n - 1) & 1)
			if x.parser.field.active {
				x.parser.field.observeBit(bit)
			}
			head = head<<1 | uint32(bit)
		}
		units = append(units, u)
	})
	return units, counts
}

// half returns the bits v of half 0 or 1 of the unit, their number n, and the number of bits of the unit
// before them. Half 1 has the last four bits of a unit with more than 4 bits, half 0 the other bits.
func (u *unitSample) half(half int) (v, n, before int) {
	n = int(u.bits)
	switch {
	case half == 1:
		return int(u.value & 15), 4, n - 4
	case n > 4:
		return int(u.value >> 4), n - 4, 0
	}
	return int(u.value), n, 0
}

// decisionAt returns bit k, counted from the highest, of the n bits of v, and its node in their tree,
// whose root is node 1.
func decisionAt(v, n, k int) (node, bit int) {
	nodeIndex := v>>(n-k)&(1<<k-1) | 1<<k
	return nodeIndex, v >> (n - 1 - k) & 1
}

// addCounts adds the bits of the unit to all of its counters if sign is 1, and subtracts them if sign
// is -1: uint16(-1) is 65535, and adding it wraps around.
func (u *unitSample) addCounts(sign int) {
	for half := range 2 {
		if u.counters[half][0] == nil {
			continue // the unit has no second half
		}
		v, n, _ := u.half(half)
		for _, c := range u.counters[half] {
			c.uses += sign
			for k := range n {
				node, bit := decisionAt(v, n, k)
				c.bits[node][bit] += uint16(sign)
			}
		}
	}
}

// nStates is the number of states of a node's counts: 8 classes of their sum, times 31 classes of the
// logit, and one state for no counts.
const nStates = 1 + 8*31

// countState returns the state of a node's counts of zeros and ones; 0 if both are 0.
func countState(n [2]uint16) int {
	total := int(n[0]) + int(n[1])
	if total == 0 {
		return 0
	}
	size := 7 // class of total
	for i, limit := range [...]int{1, 2, 3, 5, 8, 15, 40} {
		if total <= limit {
			size = i
			break
		}
	}
	// p is the estimate (n[1]+0.4)/(total+0.8) of the probability of a 1, of 65536. The logit is in 1/2048
	// nat; its classes are 0.4 nat wide.
	p := (10*uint32(n[1]) + 4) << 12 / (10*uint32(total) + 8) << 4 // shifted by 16 in two steps, to stay within 32 bits
	logit := rangecoder.Stretch(min(max(p, 1), rangecoder.One-1))
	logitClass := int(min(max((logit*5+2048)>>12, -15), 15)) + 15 // 0 to 30; 4096/5 is 0.4 nat
	return 1 + size*31 + logitClass
}

// stateLogits are logits in 1/16 nat, by context and state of the counts.
type stateLogits [nContexts][nStates]int8

// learnLogits returns, for each context and each state of a node's counts, the logit of a 1 as the next bit
// at the node, measured on units that the counts do not include: forEachHalf calls its argument with the
// halves of all units, while the counters exclude the unit's fold. Each state begins with two observations
// of the probability in the middle of its class, which determine the logits of rare states.
func learnLogits(forEachHalf func(func(u *unitSample, half int))) (logits stateLogits) {
	var seen [nContexts][nStates][2]int64
	forEachHalf(func(u *unitSample, half int) {
		v, n, _ := u.half(half)
		for i, c := range u.counters[half] {
			for k := 0; k < n && c.uses >= minUses; k++ { // other contexts will have no slot
				node, bit := decisionAt(v, n, k)
				seen[i][countState(c.bits[node])][bit]++
			}
		}
	})
	for i := range logits {
		for s := 1; s < nStates; s++ {
			// p is the probability in the middle of the state's class. It counts as two observations. The class of
			// the logit is -15 to 15, in steps of 0.4 nat; Squash takes 1/2048 nat. See countState.
			p := int64(rangecoder.Squash(int32((s-1)%31-15) * 4096 / 5))
			n := seen[i][s]
			ones, total := n[1]<<16+2*p+64, (n[0]+n[1]+2)<<16+128 // 64 and 128 keep the quotient off 0 and 1
			logits[i][s] = toLogit16(rangecoder.Stretch(uint32(min(max(ones<<16/total, 1), rangecoder.One-1))))
		}
	}
	return logits
}

// fineWeight is a weight of 1 during training, which needs a finer resolution than weightOne.
const fineWeight = 1 << 24

// A weightTrainer learns the weights of the inputs.
type weightTrainer struct {
	logits *stateLogits
	byUnit [][2][nInputs]int64 // for unitModel.weights, by unit and half, in 1/fineWeight
	found  [64][nInputs]int64  // for model.foundWeights, in 1/fineWeight
}

// trainWeights learns the weights of the model by gradient descent on the code length, as the mixer of
// the compressor lpaq does, in three passes with decreasing learning rates. The weights of units begin at 0.
// Those selected by the slots found begin at 1/4, except that of the bias. forEachHalf and logits are
// those of learnLogits.
func (t *trainer) trainWeights(forEachHalf func(func(u *unitSample, half int)), logits *stateLogits) {
	w := weightTrainer{logits: logits, byUnit: make([][2][nInputs]int64, len(t.model.units))}
	for i := range w.found {
		rangecoder.Fill(w.found[i][:inBias], fineWeight/4)
	}
	for _, rate := range [...]int64{1311, 415, 131} { // of 1<<16
		forEachHalf(func(u *unitSample, half int) { w.learn(u, half, rate) })
	}
	for i := range w.byUnit {
		for half := range 2 {
			roundWeights(&t.model.units[i].weights[half], &w.byUnit[i][half])
		}
	}
	for i := range w.found {
		roundWeights(&t.model.foundWeights[i], &w.found[i])
	}
}

// roundWeights converts weights from units of 1/fineWeight to units of 1/weightOne.
func roundWeights(dst *[nInputs]int16, src *[nInputs]int64) {
	const unit = fineWeight / weightOne
	for i, w := range src {
		dst[i] = int16(min(max((w+unit/2)/unit, -1<<15), 1<<15-1))
	}
}

// learn adjusts the weights by the prediction errors of the bits of half 0 or 1 of a unit. rate is the
// learning rate, of 1<<16. The weights selected by the slots found learn at a quarter of it, because
// all units share them.
func (w *weightTrainer) learn(u *unitSample, half int, rate int64) {
	found := int(u.flags) // index into model.foundWeights, as in mixer.findSlots
	var hasSlot [nContexts]bool
	for i, c := range u.counters[half] {
		if c.uses >= minUses {
			hasSlot[i] = true
			found |= 1 << i
		}
	}
	unitWeights, foundWeights := &w.byUnit[u.index][half], &w.found[found]
	v, n, before := u.half(half)
	for k := range n {
		node, bit := decisionAt(v, n, k)
		var in [nInputs]int64
		for i, c := range u.counters[half] {
			if hasSlot[i] {
				in[i] = int64(w.logits[i][countState(c.bits[node])])
			}
		}
		for i, x := range u.inputs[before+k] {
			in[nContexts+i] = int64(x)
		}
		sum := int64(0)
		for i, x := range in {
			sum += x * (unitWeights[i] + foundWeights[i])
		}
		// sum is in 1/16 nat x 1/fineWeight; a shift by 17 makes it 1/2048 nat.
		p := rangecoder.Squash(int32(min(max(sum>>17, -fullTrustLogit), fullTrustLogit)))
		errScaled := (int64(bit)<<16 - int64(p)) * rate
		// errScaled is in units of 2^-32 and x of 2^-4, so a shift by 12 makes their product 1/fineWeight.
		for i, x := range in {
			unitWeights[i] += errScaled * x >> 12
			foundWeights[i] += errScaled * x >> 14 // a quarter
		}
	}
}

// fillTable makes the table of slots and fills it with the logits of the contexts in counts, those that were
// used most first. A context whose two possible slots are taken is left out, like one with fewer than
// minUses uses.
func (t *trainer) fillTable(counts map[uint64]*contextCount, logits *stateLogits) {
	list := slices.SortedFunc(maps.Values(counts), func(a, b *contextCount) int {
		return cmp.Or(b.uses-a.uses, cmp.Compare(a.key, b.key))
	})
	t.model.hashShift = t.tableShift()
	t.model.slots = make([]slot, 1<<(32-t.model.hashShift))
	for _, c := range list {
		if c.uses < minUses {
			break
		}
		h, input := uint32(c.key), int(c.key>>32)
		i := h >> t.model.hashShift // or i^1: see model.findSlot
		if t.model.slots[i][0] != 0 {
			i ^= 1
		}
		if t.model.slots[i][0] != 0 {
			continue // no room
		}
		l := &t.model.slots[i]
		l[0] = byte(h) | 1 // the check: see slot
		for node := 1; node < 16; node++ {
			l[node] = byte(logits[input][countState(c.bits[node])])
		}
	}
}

// tableShift returns the hashShift of the largest table with which the model file does not exceed the
// budget, with 17 bytes for each slot: 16 and one for the number of empty slots before it. It sets
// model.slots to nil.
func (t *trainer) tableShift() uint {
	t.model.slots = nil
	rest := len(t.model.Bytes()) + 10_000 // room for the tables of lengths, which are learned later
	shift := uint(maxShift)
	for shift > 32-20 && rest+17<<(32-shift+1) <= t.budget {
		shift--
	}
	return shift
}

// A unitSample is a unit of a sample with what its predictions depend on. findRecipes and learnWeights
// each set only the fields that they use.
type unitSample struct {
	index       uint16                       // index of its unitModel in model.units
	value       byte                         // of the unit
	bits        uint8                        // number of bits of the unit
	fold        uint8                        // fold of its datagram: see sample
	flags       uint8                        // result of mixer.comparisonFlags for the unit
	agreement   uint8                        // mixer.agreement at the unit
	hasExpected [2]bool                      // mixer.hasExpected at the unit
	learn       bool                         // the weights learn from this unit
	sources     [nSources]byte               // values of contexts: parser.sources at the unit
	expected    [2]byte                      // mixer.expected at the unit
	counters    [2][nContexts]*contextCount  // counts of its contexts, by half of the unit
	inputs      [8][nInputs - nContexts]int8 // by bit, without those of the contexts
}

// maxUnitSamples is the maximum number of bytes of the samples that forEachUnit visits. It bounds the
// memory for unit samples.
const maxUnitSamples = 500_000

// forEachUnit parses the samples, or every n-th of them if they have more than maxUnitSamples bytes. It
// calls visit for each unit that is not random, with its sample, its value v, its number of bits, and the
// mixer, prepared for the unit by mixer.begin.
func (t *trainer) forEachUnit(visit func(x *mixer, s *sample, v byte, bits uint)) {
	total := 0
	for i := range t.samples {
		total += len(t.samples[i].data)
	}
	step := total/maxUnitSamples + 1
	replay, k := newAckReplay(t.model), newCoder(t.model, asEncoder)
	k.mixer.maxLogit = fullTrustLogit
	for i := range t.samples {
		s := &t.samples[i]
		acked := replay.next(s) // also for samples that are left out, because they are acknowledged
		if len(s.data) > maxBytes || i%step != 0 {
			continue
		}
		k.parse(s.data, acked, func(v byte, bits uint) {
			k.parser.field.active = false // mixer.begin sets it; bits of random units do not pass through the field coder
			if t.model.units[k.parser.modelIndex()].random {
				return
			}
			k.mixer.begin()
			visit(&k.mixer, s, v, bits)
			k.parser.field.endUnit(v)
		})
	}
}

// findRecipes sets the model of each unit except for the weights: the contexts that predict it best, how
// it depends on the expected units, and whether it is random. After ctx is done, units keep the default
// contexts.
func (t *trainer) findRecipes(ctx context.Context) {
	byUnit := make([][]unitSample, len(t.model.units))
	bits := make([]uint, len(t.model.units))
	t.forEachUnit(func(x *mixer, s *sample, v byte, n uint) {
		index := x.parser.modelIndex()
		bits[index] = n
		byUnit[index] = append(byUnit[index], unitSample{value: v, bits: uint8(n), sources: x.parser.sources,
			hasExpected: x.hasExpected, agreement: uint8(x.agreement),
			expected: [2]byte{byte(x.expected[0]), byte(x.expected[1])}})
	})
	rng := rand.New(rand.NewPCG(1, 2)) // a fixed seed: the model must be reproducible
	table := new([1 << 16][2]uint16)   // working memory of chooseRecipes
	for index, list := range byUnit {
		p := &t.model.units[index]
		p.seen = len(list) > 0
		p.recipes = defaultRecipes
		const withRef, withoutRef = true, false
		p.usuallyRef, _ = measureSteady(list, withRef)
		p.usuallyZero, p.zeroLogit = measureSteady(list, withoutRef)
		p.learnAgreement(list)
		if len(list) < 20 || ctx.Err() != nil { // too few samples to choose recipes
			continue
		}
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		p.chooseRecipes(list[:min(len(list), 2000)], bits[index], table, t.model.fields)
		byUnit[index] = nil // free the memory
	}
}

// defaultRecipes are the recipes of units with too few samples to choose others: all bits of the last unit,
// of the last two units and of the last three. A recipe is the number of its parts and the parts, each a
// source (0 is the last unit, see srcRemaining) and a mask.
var defaultRecipes = [nRecipes]recipe{
	{1, [maxParts]part{{0, 255}}},
	{2, [maxParts]part{{0, 255}, {1, 255}}},
	{3, [maxParts]part{{0, 255}, {1, 255}, {2, 255}}},
}

// sourceMasks are the selections of bits of a source that chooseRecipes tries: all, the upper five and the
// upper three.
var sourceMasks = [...]uint8{0xff, 0xf8, 0xe0}

// chooseRecipes builds each recipe greedily: it adds the source and mask that save most, until they save
// less than 0.5 %. Recipes begin with different sources. It also sets random if no recipe saves 0.5 %
// of the bits, and lowRandom if none saves 0.3 % of the last four bits. table is scratch memory.
func (p *unitModel) chooseRecipes(list []unitSample, bits uint, table *[1 << 16][2]uint16, fields []field) {
	// least is the cost of all bits with the best recipe so far, lowCost that of the last four bits. The first
	// one is the empty recipe, whose context is the position of the unit alone.
	least, lowCost := recipeCost(list, &recipe{}, table, bits), recipeCost(list, &recipe{}, table, min(bits, 4))
	var usedFirst [nSources]bool // by source: it is the first of a recipe
	for i := range p.recipes {
		r, best := recipe{}, int64(math.MaxInt64)
		for r.n < maxParts {
			bestPart, previous := part{}, best
			for s := range uint8(nSources) {
				if usedFirst[s] && r.n == 0 {
					continue
				}
				for _, mask := range sourceMasks {
					try := r
					try.parts[r.n] = part{s, mask}
					try.n++
					if c := recipeCost(list, &try, table, bits); c < best {
						best, bestPart = c, try.parts[r.n]
					}
				}
			}
			if best >= previous/1000*995 { // the part saves less than 0.5 %
				break
			}
			r.parts[r.n] = bestPart
			r.n++
		}
		if r.n > 0 {
			usedFirst[r.parts[0].source] = true
		}
		p.recipes[i] = r
		least = min(least, best)
		lowCost = min(lowCost, recipeCost(list, &r, table, min(bits, 4)))
	}
	if n := int64(len(list)); n >= 500 { // with fewer samples, chance decides
		// A bit that nothing predicts costs 1024/1024 bit. In a field of several units, all bits must pass through
		// the field coder, whose intervals depend on them.
		p.random = least > n*int64(bits)*1019
		p.lowRandom = bits > 4 && lowCost > n*4*1021 && (p.field < 0 || fields[p.field].nUnits == 1)
	}
}

// recipeCost returns the cost of the last count bits of each unit in list, in 1/1024 bit, if each bit is coded
// adaptively in the recipe's context. table is scratch memory: counts of zeros and ones by a multiplicative hash.
func recipeCost(list []unitSample, r *recipe, table *[1 << 16][2]uint16, count uint) (total int64) {
	clear(table[:])
	for i := range list {
		s := &list[i]
		const seed = 0 // all units of the list use the same recipe
		h := r.hash(seed, &s.sources)
		// A 1 followed by the preceding bits of the unit, then by those that are coded.
		head := (uint32(s.value) | 1<<s.bits) >> count
		for n := count; n > 0; n-- {
			bit := s.value >> (n - 1) & 1
			c := &table[(h+head*0x9e3779b1)>>16]
			total += int64(countLogs.all[(c[0]+c[1])&4095] - countLogs.one[c[bit]&4095])
			c[bit]++
			head = head<<1 | uint32(bit)
		}
	}
	return total
}

// measureSteady considers the units with a reference if withRef is true, otherwise those without. isSteady
// is whether there are at least minMessages of which 99 % equal expected[0], which is the reference's unit,
// or 0 without a reference; logit is the logit of the fraction that does, in 1/16 nat. Units are not compared
// with their most frequent value, because a constant of the training data may differ in another session.
func measureSteady(list []unitSample, withRef bool) (isSteady bool, logit int8) {
	var n [2]int64 // numbers of units: n[0] of those that differ from expected[0], n[1] of those that equal it
	for i := range list {
		if s := &list[i]; s.hasExpected[0] == withRef {
			if s.value == s.expected[0] {
				n[1]++
			} else {
				n[0]++
			}
		}
	}
	return n[1] >= minMessages && n[0]*99 <= n[1], logit16(n[1], n[0])
}

// learnAgreement sets agreeLogits: how likely the next bit of a unit equals that of the expected unit,
// given the number of bits that were equal so far and mixer.agreement. If the unit usually equals the
// reference's, the entries of bit 0 for expected[0] are for the steady flag, that is for the whole unit.
func (p *unitModel) learnAgreement(list []unitSample) {
	var n [2][64][2]int64 // bits that differed and bits that were equal, by the indices of agreeLogits
	for i := range list {
		s := &list[i]
		for j := range n {
			if p.usuallyRef && j == 0 {
				if s.hasExpected[0] && s.value == s.expected[0] {
					n[0][s.agreement][1]++
				} else if s.hasExpected[0] {
					n[0][s.agreement][0]++
				}
				continue
			}
			for k := uint8(0); s.hasExpected[j] && k < s.bits; k++ {
				if shift := s.bits - 1 - k; s.value>>shift != s.expected[j]>>shift {
					n[j][s.agreement+k][0]++
					break
				}
				n[j][s.agreement+k][1]++
			}
		}
	}
	for j := range n {
		for i, c := range n[j] {
			p.agreeLogits[j][i] = byte(logit16(c[1], c[0]))
		}
	}
}

// learnLengths sets the model of lengths from the lengths of the samples and the sizes of their packets,
// which are coded without a length for this purpose. The numbers of bits are those of lengths.code: 6 for the index
// of a common length, 5 for a difference from the packet's size.
func (t *trainer) learnLengths() {
	l := &t.model.lengths
	seen := map[int]int{}
	for _, s := range t.samples {
		if n := len(s.data); n > 0 && n <= maxBytes {
			seen[n]++
		}
	}
	list := slices.SortedFunc(maps.Keys(seen), func(a, b int) int { return cmp.Or(seen[b]-seen[a], a-b) })
	for i, n := range list[:min(len(list), nCommon-1)] {
		l.common[i+1] = uint16(n)
	}
	l.buildIndex()
	var commonCounts [nPacketSizes][nCommon][2]int64
	var offsetCounts [nOffsets][2]int64
	replay, k := newAckReplay(t.model), newCoder(t.model, asEncoder)
	k.omitLength = true
	for i := range t.samples {
		s := &t.samples[i]
		acked := replay.next(s)
		n := len(s.data)
		if n == 0 || n > maxBytes {
			continue
		}
		size := len(k.encode(nil, s.data, acked))
		// The length itself may make the packet a byte longer. Assume that for a third of the packets: count
		// each three times, once with one byte more.
		for _, finalSize := range []int{size, size, size + 1} {
			index := int(l.index[n]) // of the length among the common ones; 0 if it is not
			countTree(commonCounts[min(finalSize, nPacketSizes-1)][:], index, 6)
			countTree(commonCounts[0][:], index, 6) // all sizes: the prior of each
			if d := n - finalSize - minOffset; index == 0 && d >= 0 && d < nOffsets {
				countTree(offsetCounts[:], d, 5)
			} else if index == 0 {
				countTree(offsetCounts[:], nOffsets-1, 5)
			}
		}
	}
	// probability estimates the probability of a 1 from the counts at a node, and two counts at the prior
	// probability. bound keeps it away from 0 and 1. Both are of 65536.
	probability := func(n [2]int64, prior int64) int64 { return (n[1]<<16 + 2*prior) / (n[0] + n[1] + 2) }
	bound := func(p int64) uint16 { return uint16(min(max(p, 32), 1<<16-32)) }
	for i := range nCommon {
		l.commonProb[0][i] = bound(probability(commonCounts[0][i], 1<<15))
		for size := 1; size < nPacketSizes; size++ {
			l.commonProb[size][i] = bound(probability(commonCounts[size][i], int64(l.commonProb[0][i])))
		}
	}
	for i := range offsetCounts {
		l.offsetProb[i] = bound(probability(offsetCounts[i], 1<<15))
	}
}

// countTree counts each bit of v, a number of n bits, in t at the node at which codeTree codes the bit.
func countTree(t [][2]int64, v, n int) {
	node := 1
	for i := n - 1; i >= 0; i-- {
		bit := v >> i & 1
		t[node][bit]++
		node = node<<1 | bit
	}
}
