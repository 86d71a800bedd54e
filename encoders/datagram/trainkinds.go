package datagram

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"wirelab/encoders/rangecoder"
)

// maxAnchored leaves room for kinds that follow others.
const maxAnchored = 12

// findAnchors finds the four bytes with which many datagrams begin.
func (t *trainer) findAnchors() {
	seen := map[uint32]int{}
	for _, s := range t.samples {
		if len(s.data) >= 4 {
			seen[binary.BigEndian.Uint32(s.data)]++
		}
	}
	maps.DeleteFunc(seen, func(_ uint32, n int) bool { return n*300 < len(t.samples) || n < 4 })
	list := slices.SortedFunc(maps.Keys(seen), func(a, b uint32) int { return cmp.Or(seen[b]-seen[a], cmp.Compare(a, b)) })
	for _, a := range list[:min(len(list), maxAnchored-1)] {
		t.m.kinds = append(t.m.kinds, kind{anchor: a, hooked: true, key: -1, clock: -1})
	}
	t.resize()
}

// maxKey bounds where a key is looked for.
const maxKey = 24

// findKeys finds for each kind the unit that identifies the messages which resemble one another.
func (t *trainer) findKeys() {
	some := t.samples[:min(len(t.samples), 800)]
	score := func() []int {
		s := make([]int, len(t.m.kinds))
		for kind, list := range t.messages(some) {
			for i := range list {
				s[kind] += alike(&list[i], int(t.m.kinds[kind].key))
			}
		}
		return s
	}
	set := func(key int8) {
		for i := range t.m.kinds {
			t.m.kinds[i].key = key
		}
	}
	set(-1)
	best := score()
	keys := make([]int8, len(best))
	for i := range keys {
		keys[i] = -1
	}
	for key := range int8(maxKey) {
		set(key)
		for i, s := range score() {
			if s > best[i]+best[i]/100 {
				best[i], keys[i] = s, key
			}
		}
	}
	for i := range keys {
		t.m.kinds[i].key = keys[i]
	}
}

// alike counts the units that are what the reference has.
func alike(c *compared, key int) (n int) {
	for i, u := range c.units[:min(len(c.units), maxPlaces)] {
		r := c.ref.units
		if i <= key {
			r = c.any.units
		}
		if i < len(r) && r[i] == u {
			n++
		}
	}
	return n
}

// Bounds of lists.
const (
	minPeriod = 3
	fewest    = 60 // messages of a kind from which anything is concluded
)

// findLists finds the kinds that consist of a head and records of one size, and makes the records a
// kind of their own.
func (t *trainer) findLists() {
	for i, list := range t.messages(t.samples[:min(len(t.samples), 2000)]) {
		if len(list) < fewest || len(t.m.kinds) == maxKinds {
			continue
		}
		head, period := findList(list)
		if period == 0 {
			continue
		}
		record := uint8(len(t.m.kinds))
		t.m.kinds = append(t.m.kinds, kind{key: -1, clock: -1, size: uint8(period), then: record})
		t.m.kinds[i].size, t.m.kinds[i].then = uint8(head), record
		if head == 0 { // the message is a record already
			t.m.kinds[i].size = uint8(period)
		}
	}
	t.resize()
}

// findList returns the head and the period of messages that are lists, 0 if they are not. With the
// right period, bytes cost much less by their place in a record than with one more or less.
func findList(list []compared) (head, period int) {
	list = spread(list, 300)
	var table tally
	mean := 0
	for i := range list {
		mean += len(list[i].raw)
	}
	mean /= len(list)
	flat, whole := table.cost(list, 0, 1), table.cost(list, 256, 0)
	best := (flat - whole) / 10
	for p := minPeriod; p <= maxPlaces; p++ {
		for h := 0; h <= mean/3 && h+3*p <= mean; h++ {
			fits := 0
			for i := range list {
				if n := len(list[i].raw); n >= h && (n-h)%p == 0 {
					fits++
				}
			}
			if fits*20 < len(list)*19 {
				continue
			}
			c := table.cost(list, h, p)
			peak := min(table.cost(list, h, p-1), table.cost(list, h, p+1)) - c
			if peak > best && (flat-c)*20 >= (flat-whole)*9 {
				best, head, period = peak, h, p
			}
		}
	}
	return head, period
}

// tally counts bytes by place, as bits in the context of those before.
type tally [257 + maxPlaces][256][2]uint16

// cost returns the cost of the bytes of messages, in 1/1024 bit, if each is coded adaptively by its
// place: in the head, then in records of some period, 0 for none.
func (t *tally) cost(list []compared, head, period int) (bits int64) {
	clear(t[:])
	for i := range list {
		for at, b := range list[i].raw {
			if period == 0 {
				at = min(at, 255)
			} else if at >= head {
				at = 256 + (at-head)%period
			}
			node := 1
			for n := 7; n >= 0; n-- {
				bit := b >> n & 1
				c := &t[at][node]
				bits += int64(countLogs.all[c[0]+c[1]] - countLogs.one[c[bit]])
				c[bit]++
				if c[0]+c[1] >= 4095 {
					c[0], c[1] = c[0]/2, c[1]/2
				}
				node = node<<1 | int(bit)
			}
		}
	}
	return bits
}

// spread returns at most n messages, evenly chosen.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// Layouts of numbers in a message: bytes, the highest or the lowest first, or a string of bits that
// begins with the lowest or the highest of each byte.
const (
	inBytes = iota
	lowestFirst
	highestFirst
	orders
)

// piece is a span of bits that is one number, in the cheapest division of a message.
type piece struct {
	from, bits int
	little     bool // of bytes: the lowest first
}

// findLayouts divides the messages of each kind into the numbers of the cheapest residuals, and
// makes groups of those that are not bytes with the highest first.
func (t *trainer) findLayouts() {
	t.pieces = make([][]piece, len(t.m.kinds))
	t.clocks = make([][]clock, len(t.m.kinds))
	for i, list := range t.messages(t.samples) {
		list = slices.DeleteFunc(list, func(c compared) bool { return c.ref.units == nil })
		if len(list) < fewest {
			continue
		}
		k := &t.m.kinds[i]
		t.clocks[i] = findClocks(list)
		list = spread(list, 1200)
		size, head := k.extent(list)
		best, pieces := divide(list, inBytes, size, head)
		k.groups = byteGroups(pieces)
		for order := lowestFirst; order < orders && k.size > 0 && size <= maxSpan && k.then == uint8(i); order++ {
			if c, p := divide(list, order, size, 0); c < best/100*97 {
				best, pieces = c, p
				k.groups = []group{bitGroup(p, order, size)}
			}
		}
		t.pieces[i] = pieces
	}
	t.resize()
}

// extent returns the number of bytes of the kind's messages that have places of their own, and how
// many of them come before any comparison.
func (k *kind) extent(list []compared) (size, head int) {
	for i := range list {
		size = max(size, min(len(list[i].raw), maxPlaces))
	}
	if k.size > 0 {
		size = min(size, int(k.size))
	}
	if k.hooked {
		return size, 4
	}
	return size, 0
}

// divide finds the cheapest division into numbers, and its cost in 1/1024 bit.
func divide(list []compared, order, size, head int) (int64, []piece) {
	step, most := 8, 4
	if order != inBytes {
		step, most = 1, 17
	}
	n := size * 8 / step
	type choice struct {
		bits  int64
		piece piece
	}
	best := make([]choice, n+1)
	var v [4][]int64
	for s := n - 1; s >= 0; s-- {
		best[s].bits = math.MaxInt64
		for w := 1; w <= most && s+w <= n; w++ {
			for little := range 2 {
				if little == 1 && (order != inBytes || w == 1 || s < head) || order == inBytes && w == 3 {
					continue
				}
				p := piece{s * step, w * step, little == 1}
				extract(&v, list, p, order)
				if bits := cheapest(&v, p.bits) + best[s+w].bits + 12<<10; bits < best[s].bits {
					best[s] = choice{bits, p}
				}
			}
		}
	}
	var pieces []piece
	for s := 0; s < n; s += best[s].piece.bits / step {
		pieces = append(pieces, best[s].piece)
	}
	return best[0].bits, pieces
}

// extract reads a number from all messages, and from those they are compared with.
func extract(v *[4][]int64, list []compared, p piece, order int) {
	for i := range v {
		v[i] = v[i][:0]
	}
	for i := range list {
		c := &list[i]
		if len(c.raw)*8 < p.from+p.bits || len(c.ref.units)*8 < p.from+p.bits {
			continue
		}
		for j, b := range [][]byte{c.raw, c.ref.units, c.ref2.units, c.any.units} {
			v[j] = append(v[j], p.read(b, order))
		}
	}
}

// read returns the piece's number, with zeros where b ends.
func (p piece) read(b []byte, order int) (v int64) {
	if order == inBytes {
		for i := range p.bits / 8 {
			at := p.from/8 + i
			if p.little {
				at = (p.from+p.bits)/8 - 1 - i
			}
			v = v<<8 | int64(message{units: b}.at(at))
		}
		return v
	}
	var window uint64
	m := message{units: b}
	for i := range 4 {
		if x := uint64(m.at(p.from>>3 + i)); order == lowestFirst {
			window |= x << (8 * i)
		} else {
			window |= x << (8 * (3 - i))
		}
	}
	if order == lowestFirst {
		return int64(window >> (p.from & 7) & (1<<p.bits - 1))
	}
	return int64(window >> (32 - p.from&7 - p.bits) & (1<<p.bits - 1))
}

// cheapest returns the cost of the residuals of the best simple prediction.
func cheapest(v *[4][]int64, bits int) int64 {
	if len(v[0]) == 0 {
		return 0
	}
	best := int64(math.MaxInt64)
	for guess := range guessRate {
		c := newResiduals(bits)
		for i, x := range v[0] {
			switch guess {
			case guessAny:
				c.add(x - v[3][i])
			case guessRef:
				c.add(x - v[1][i])
			case guessLine:
				c.add(x - 2*v[1][i] + v[2][i])
			}
		}
		best = min(best, c.bits)
	}
	return best
}

// residuals adds up the cost of numbers that are coded adaptively by the bucket of their distance
// from a prediction.
type residuals struct {
	half  int64
	n     [2][buckets]int64
	total int64
	bits  int64
}

func newResiduals(bits int) residuals { return residuals{half: 1 << (bits - 1)} }

func (c *residuals) add(r int64) {
	side, i, log := sideOf(wrap(r, c.half))
	c.bits += int64(log)<<10 + (log2(10*c.total+128)-log2(20*c.n[side][i]+1)+log2(2))>>6
	c.n[side][i]++
	c.total++
}

// log2 is the logarithm of v, at least 1, in 1/65536.
func log2(v int64) int64 {
	if v < 2 {
		return 0
	}
	return rangecoder.Log2(uint32(v))
}

// sideOf returns the bucket of a residual and the log of its width.
func sideOf(r int64) (side, i int, log uint) {
	k := uint32(r)
	if r < 0 {
		side, k = 1, uint32(-r-1)
	}
	i, _, log = bucket(k)
	return side, i, log
}

// byteGroups makes groups of the numbers that begin with their lowest byte.
func byteGroups(pieces []piece) (list []group) {
	for _, p := range pieces {
		if !p.little {
			continue
		}
		g := group{offset: uint8(p.from / 8), span: uint8(p.bits / 8)}
		for i := p.bits/8 - 1; i >= 0; i-- {
			u := unit{bits: 8}
			for j := range u.from {
				u.from[j] = uint8(8*i + 7 - j)
			}
			g.units = append(g.units, u)
		}
		list = append(list, g)
	}
	return list
}

// bitGroup makes one group of a string of bits.
func bitGroup(pieces []piece, order, size int) group {
	g := group{span: uint8(size)}
	for _, p := range pieces {
		for left := p.bits; left > 0; {
			u := unit{bits: uint8((left-1)%8 + 1)}
			for j := range int(u.bits) {
				at := p.from + p.bits - left + j // counted from the highest bit
				if order == lowestFirst {
					at = p.from + left - 1 - j
				} else {
					at ^= 7
				}
				u.from[j] = uint8(at)
			}
			g.units = append(g.units, u)
			left -= int(u.bits)
		}
	}
	return g
}
