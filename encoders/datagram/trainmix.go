package datagram

import (
	"cmp"
	"maps"
	"slices"

	"wirelab/encoders/rangecoder"
)

// count holds what followed a context: bits for each node of the tree over four.
type count struct {
	n    [16][2]uint16
	key  uint64
	uses int
}

// fewestUses is how often a context must occur to have a line.
const fewestUses = 2

// learnWeights counts the bits after each context, learns the logits that counts stand for and the
// weights of the inputs, each fold with the counts of all others, and fills the table.
func (t *trainer) learnWeights() {
	units, lines := t.count()
	add := func(fold uint8, by int) {
		for i := range units {
			if fold == folds || units[i].fold == fold {
				units[i].add(by)
			}
		}
	}
	add(folds, 1)
	each := func(visit func(u *seenUnit, half int)) {
		for fold := range uint8(folds) {
			add(fold, -1)
			for i := range units {
				if u := &units[i]; u.fold == fold && u.learn {
					visit(u, 0)
					if u.bits > 4 && !t.m.places[u.at].low {
						visit(u, 1)
					}
				}
			}
			add(fold, 1)
		}
	}
	value := meaning(each)
	t.weigh(each, &value)
	t.fillTable(lines, &value)
}

// count visits the samples and makes the lines of all contexts.
func (t *trainer) count() ([]seenUnit, map[uint64]*count) {
	var units []seenUnit
	lines := map[uint64]*count{}
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
					if lines[key] == nil {
						lines[key] = &count{key: key}
					}
					u.line[half][i] = lines[key]
				}
			}
			for i, in := range x.comparisons(head, bits, n) {
				u.in[bits-n][i] = int8(in)
			}
			u.in[bits-n][inBias-lookups] = biasNode
			bit := int(v >> (n - 1) & 1)
			if x.w.num.active {
				x.w.num.took(bit)
			}
			head = head<<1 | uint32(bit)
		}
		units = append(units, u)
	})
	return units, lines
}

// half returns the bits of a half of the unit, which a line is for, how many they are, and how
// many come before them.
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

// add counts the unit in all of its lines, or removes it if by is -1.
func (u *seenUnit) add(by int) {
	for half := range 2 {
		if u.line[half][0] == nil {
			continue
		}
		v, n, _ := u.half(half)
		for _, c := range u.line[half] {
			c.uses += by
			for k := range n {
				node, bit := decisionAt(v, n, k)
				c.n[node][bit] += uint16(by)
			}
		}
	}
}

// states is the number of states of a node's counts: 8 steps of their sum, times 31 steps of the
// logit.
const states = 1 + 8*31

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

// meaning finds for each lookup the logits that the states of its nodes stand for.
func meaning(each func(func(u *seenUnit, half int))) (value logits) {
	var seen [lookups][states][2]int64
	each(func(u *seenUnit, half int) {
		v, n, _ := u.half(half)
		for i, c := range u.line[half] {
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

// fineWeight is a weight of 1 while weights are learnt.
const fineWeight = 1 << 24

// weigher learns weights.
type weigher struct {
	value   *logits
	byPlace [][2][inputs]int64
	found   [64][inputs]int64
}

// weigh learns the weights by gradient descent on the code length, with a lower rate in each
// lesson.
func (t *trainer) weigh(each func(func(u *seenUnit, half int)), value *logits) {
	w := weigher{value: value, byPlace: make([][2][inputs]int64, len(t.m.places))}
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

func roundWeights(to *[inputs]int16, from *[inputs]int64) {
	const unit = fineWeight / weightOne
	for i, w := range from {
		to[i] = int16(min(max((w+unit/2)/unit, -1<<15), 1<<15-1))
	}
}

// learn moves the weights of a half of a unit.
func (w *weigher) learn(u *seenUnit, half int, rate int64) {
	found := int(u.flags)
	var ok [lookups]bool
	for i, c := range u.line[half] {
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
		for i, c := range u.line[half] {
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

// fillTable keeps the lines that were used most.
func (t *trainer) fillTable(lines map[uint64]*count, value *logits) {
	list := slices.SortedFunc(maps.Values(lines), func(a, b *count) int { return cmp.Or(b.uses-a.uses, cmp.Compare(a.key, b.key)) })
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
	rest := len(t.m.Bytes()) + 10_000 // lengths are still to come
	shift := uint(maxShift)
	for shift > 32-20 && rest+17<<(32-shift+1) <= t.budget {
		shift--
	}
	return shift
}
