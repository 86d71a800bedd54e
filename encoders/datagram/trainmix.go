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

// lessons is how often the weights see all samples; fewestUses, how often a context has
// to occur to have a line.
const (
	lessons    = 3
	fewestUses = 2
)

// learnWeights counts the contexts' bits, learns what counts mean and how to weigh the
// inputs, each fold with the counts of all the others, and fills the table.
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
	t.weigh(each, value)
	t.fillTable(lines, value)
}

// count visits the samples and makes the lines of all contexts.
func (t *trainer) count() ([]seenUnit, map[uint64]*count) {
	var units []seenUnit
	lines := map[uint64]*count{}
	t.visit(func(x *mixer, s *sample, v byte, bits uint) {
		u := seenUnit{at: uint16(x.w.at()), v: v, bits: uint8(bits), fold: uint8(s.fold), learn: true}
		if x.steady() {
			u.learn = v != byte(x.expect[0])
			x.differs()
		}
		u.flags = uint8(x.flags())
		head := uint32(1)
		for n := bits; n > 0; n-- {
			if n == bits || n == 4 {
				half := 0
				if n != bits {
					half = 1
				}
				for i, h := range x.hash {
					if half == 1 {
						h = second(h, head)
					}
					key := uint64(i)<<32 | uint64(h)
					if lines[key] == nil {
						lines[key] = &count{key: key}
					}
					u.line[half][i] = lines[key]
				}
			}
			for i, in := range x.compare(head, bits, n) {
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

// tree returns the bits of a half of the unit: how many, and where they begin.
func (u *seenUnit) tree(half int) (bits, shift uint8) {
	switch {
	case half == 1:
		return 4, 0
	case u.bits > 4:
		return u.bits - 4, 4
	}
	return u.bits, 0
}

// add counts the unit in all of its lines, or out.
func (u *seenUnit) add(by int) {
	for half := range 2 {
		if u.line[half][0] == nil {
			continue
		}
		bits, shift := u.tree(half)
		for _, c := range u.line[half] {
			c.uses += by
			node := 1
			for n := int(bits) - 1; n >= 0; n-- {
				bit := int(u.v >> shift >> n & 1)
				c.n[node][bit] += uint16(by)
				node = node<<1 | bit
			}
		}
	}
}

// states sums up the counts of a node: how many in 8 steps, and which share in 31.
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

// meaning finds for each input what the states of its nodes came to mean.
func meaning(each func(func(u *seenUnit, half int))) (value [lookups][states]int8) {
	var seen [lookups][states][2]int64
	each(func(u *seenUnit, half int) {
		bits, shift := u.tree(half)
		for i, c := range u.line[half] {
			if c.uses < fewestUses {
				continue
			}
			node := 1
			for n := int(bits) - 1; n >= 0; n-- {
				bit := int(u.v >> shift >> n & 1)
				seen[i][stateOf(c.n[node])][bit]++
				node = node<<1 | bit
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

// weigh learns the weights by gradient descent on the code length.
func (t *trainer) weigh(each func(func(u *seenUnit, half int)), value [lookups][states]int8) {
	const one = 1 << 24 // a weight of 1
	byPlace := make([][2][inputs]int64, len(t.m.places))
	var found [64][inputs]int64
	for i := range found {
		for j := range inBias {
			found[i][j] = one / 4
		}
	}
	for lesson := range lessons {
		rate := [lessons]int64{1311, 415, 131}[lesson] // of 1<<16
		each(func(u *seenUnit, half int) {
			hit := int(u.flags)
			var ok [lookups]bool
			for i, c := range u.line[half] {
				if c.uses >= fewestUses {
					ok[i] = true
					hit |= 1 << i
				}
			}
			a, b := &byPlace[u.at][half], &found[hit]
			bits, shift := u.tree(half)
			first := uint8(0)
			if half == 1 {
				first = u.bits - 4
			}
			node := 1
			for n := int(bits) - 1; n >= 0; n-- {
				bit := int(u.v >> shift >> n & 1)
				var x [inputs]int64
				for i := range lookups {
					if ok[i] {
						x[i] = int64(value[i][stateOf(u.line[half][i].n[node])])
					}
				}
				for i := lookups; i < inputs; i++ {
					x[i] = int64(u.in[first][i-lookups])
				}
				sum := int64(0)
				for i, x := range x {
					sum += x * (a[i] + b[i])
				}
				p := rangecoder.Squash(int32(min(max(sum>>17, -sure), sure)))
				wrong := (int64(bit)<<16 - int64(p)) * rate
				for i, x := range x {
					a[i] += wrong * x >> 12
					b[i] += wrong * x >> 14
				}
				node = node<<1 | bit
				first++
			}
		})
	}
	round := func(w int64) int16 { return int16(min(max((w+one/weightOne/2)/(one/weightOne), -1<<15), 1<<15-1)) }
	for i := range byPlace {
		for half := range 2 {
			for j, w := range byPlace[i][half] {
				t.m.places[i].weight[half][j] = round(w)
			}
		}
	}
	for i := range found {
		for j, w := range found[i] {
			t.m.found[i][j] = round(w)
		}
	}
}

// fillTable keeps the lines that were used most.
func (t *trainer) fillTable(lines map[uint64]*count, value [lookups][states]int8) {
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

// tableShift makes the table as large as the file may be.
func (t *trainer) tableShift() uint {
	t.m.lines = nil
	rest := len(t.m.Bytes()) + 10_000 // lengths are still to come
	shift := uint(maxShift)
	for shift > 32-20 && rest+17<<(32-shift+1) <= t.budget {
		shift--
	}
	return shift
}
