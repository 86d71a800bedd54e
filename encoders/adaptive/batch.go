package adaptive

import "slices"

// Messages are grouped in batches by the lower 16 bits of their ticks, divided by the
// size of a batch. Both ends agree on them however late one joined. Batch numbers wrap
// around, and the last batch of a round is shorter.
const ticks = 1 << 16

// maxAge is how many batches back statistics are kept. Both ends know that older ones
// are forgotten.
const maxAge = 4

// mostPending bounds the statistics not yet in a model, in words of four bytes, by order.
var mostPending = [orders]int{4096, 4096, 16384, 49152}

// chunk is how much of a message is counted at a time, in bytes, so that long ones take
// no more memory.
const chunk = 512

// batch is the statistics of consecutive messages.
type batch struct {
	id    uint16
	used  bool   // holds anything
	spent bool   // the statistics are released: in a model, or too large
	seen  uint64 // which of its messages were counted
	n     int    // number of messages counted
	sums  tally
}

// batches holds the statistics of the last few batches, one tally for each.
type batches struct {
	packing
	size    int
	all     [maxAge + 1]batch
	newest  uint16 // batch
	any     bool
	span    int   // batches from the first to the newest, until they fill the reach
	expired int64 // batches beyond maxAge so far
	one     tally // of the present piece of a message
	closed  func(b *batch)
}

// idOf returns the batch of a tick, and the place in it.
func (s *batches) idOf(tick uint32) (id uint16, place int) {
	t := int(uint16(tick))
	return uint16(t / s.size), t % s.size
}

// round is the number of batches before their numbers wrap around.
func (s *batches) round() int { return (ticks + s.size - 1) / s.size }

// age returns how many batches id is before newest; negative if it comes after.
func (s *batches) age(newest, id uint16) int {
	d := int(newest) - int(id)
	switch half := s.round() / 2; {
	case d > half:
		d -= s.round()
	case d < -half:
		d += s.round()
	}
	return d
}

// addMessage counts a message unless it was counted before or is too old.
func (s *batches) addMessage(tick uint32, message []byte) {
	id, place := s.idOf(tick)
	switch {
	case !s.any || s.age(s.newest, id) < 0:
		s.advance(id)
	case s.age(s.newest, id) > maxAge:
		return
	}
	b := s.get(id)
	if b == nil {
		b = s.allocate(id)
	}
	if b.seen>>place&1 == 1 {
		return
	}
	b.seen |= 1 << place
	b.n++
	if b.spent {
		return
	}
	last := uint32(start)
	for piece := range slices.Chunk(message, chunk) {
		if b.spent {
			break
		}
		s.one, last = s.of(s.one, last, piece)
		b.sums = s.add(b.sums, s.one)
		s.bound(b)
	}
}

// advance makes id the newest batch and forgets those too old.
func (s *batches) advance(id uint16) {
	if s.any {
		s.span -= s.age(s.newest, id)
	} else {
		s.span = 1
	}
	if over := s.span - (maxAge + 1); over > 0 {
		s.span, s.expired = maxAge+1, s.expired+int64(over)
	}
	s.newest, s.any = id, true
	for i := range s.all {
		if b := &s.all[i]; b.used && (s.age(id, b.id) > maxAge || s.age(id, b.id) < 0) {
			s.forget(b)
		}
	}
}

// forgetAll removes all batches.
func (s *batches) forgetAll() {
	for i := range s.all {
		if s.all[i].used {
			s.forget(&s.all[i])
		}
	}
	s.any = false
}

func (s *batches) forget(b *batch) {
	if s.closed != nil {
		s.closed(b)
	}
	*b = batch{sums: b.sums[:0]}
}

// get returns the batch of that number, nil if there are no statistics of it.
func (s *batches) get(id uint16) *batch {
	for i := range s.all {
		if b := &s.all[i]; b.used && b.id == id {
			return b
		}
	}
	return nil
}

// allocate returns a free entry. There is one, because batches beyond maxAge were forgotten.
func (s *batches) allocate(id uint16) *batch {
	for i := range s.all {
		if b := &s.all[i]; !b.used {
			b.used, b.id = true, id
			return b
		}
	}
	panic("adaptive: more batches within reach than there are places")
}

// bound releases the statistics of the batch that grew if all together take too much
// memory.
func (s *batches) bound(b *batch) {
	total := 0
	for i := range s.all {
		total += cap(s.all[i].sums)
	}
	if total > mostPending[s.order] {
		b.spent, b.sums = true, nil
	}
}

// bytes returns the memory of the statistics.
func (s *batches) bytes() int {
	n := 0
	for i := range s.all {
		n += 4 * cap(s.all[i].sums)
	}
	return n
}

// tally counts how often each byte followed each context: a list of entries, sorted by
// context and byte without repetition.
//
// It is a list of words. Up to order 2 an entry is one word, context and byte above the
// count; at order 3 it is two. Counts saturate.
type tally []uint32

// packing is the layout of entries: contexts of up to one byte leave 16 bits for the
// count, of two bytes 8, and of three a word of its own.
type packing struct {
	order int
	words int  // of an entry
	shift uint // of the key in the first of them
}

func packingOf(order int) packing {
	switch order {
	case 0, 1:
		return packing{order, 1, 16}
	case 2:
		return packing{order, 1, 8}
	}
	return packing{order, 2, 0}
}

// entries returns how many entries there are.
func (p packing) entries(t tally) int { return len(t) / p.words }

// key returns context and byte of entry i.
func (p packing) key(t tally, i int) uint32 { return t[i*p.words] >> p.shift }

// count returns how often that came.
func (p packing) count(t tally, i int) uint32 {
	if p.words == 2 {
		return t[2*i+1]
	}
	return t[i] & (1<<p.shift - 1)
}

// put makes entry i.
func (p packing) put(t tally, i int, key, n uint32) {
	if p.words == 2 {
		t[2*i], t[2*i+1] = key, n
		return
	}
	t[i] = key<<p.shift | min(n, 1<<p.shift-1)
}

// start is the context of the first byte of a message: the end of a sentence.
const start = 'd' | '.'<<8 | ' '<<16

// contextKey returns the key of b in the context of the last order bytes. The latest is the highest,
// so that contexts with the latest bytes in common lie together.
func contextKey(order int, last uint32, b byte) uint32 {
	return last>>(8*(orders-1-order))<<8 | uint32(b)
}

// after returns the last three bytes after b: the latest is the highest.
func after(last uint32, b byte) uint32 { return last>>8 | uint32(b)<<16 }

// of counts a chunk of a message, in dst's memory, and returns the context after it.
func (p packing) of(dst tally, last uint32, piece []byte) (tally, uint32) {
	n := len(piece)
	dst = grow(dst[:0], n*p.words)
	keys := dst[n*(p.words-1):] // at the end, so that entries do not overtake them
	for i, b := range piece {
		keys[i] = contextKey(p.order, last, b)
		last = after(last, b)
	}
	slices.Sort(keys)
	to := 0
	for at := 0; at < n; to++ {
		key, from := keys[at], at
		for at < n && keys[at] == key {
			at++
		}
		p.put(dst, to, key, uint32(at-from))
	}
	return dst[:to*p.words], last
}

// add adds b to a, in a's memory: from the end, where there is room.
func (p packing) add(a, b tally) tally {
	i, j := p.entries(a)-1, p.entries(b)-1
	a = grow(a, p.fresh(a, b)*p.words)
	for to := p.entries(a) - 1; j >= 0; to-- {
		key, n := p.key(b, j), p.count(b, j)
		if i >= 0 && p.key(a, i) > key {
			p.put(a, to, p.key(a, i), p.count(a, i))
			i--
			continue
		}
		if i >= 0 && p.key(a, i) == key {
			n += p.count(a, i)
			i--
		}
		p.put(a, to, key, n)
		j--
	}
	return a
}

// fresh returns the number of keys of b that a lacks.
func (p packing) fresh(a, b tally) int {
	n, i := 0, 0
	for j := range p.entries(b) {
		key := p.key(b, j)
		for i < p.entries(a) && p.key(a, i) < key {
			i++
		}
		if i == p.entries(a) || p.key(a, i) != key {
			n++
		}
	}
	return n
}

// grow makes a list n longer, by little more than that, because a client's memory is bounded.
func grow(t []uint32, n int) []uint32 {
	const step = 64
	if want := len(t) + n; want > cap(t) {
		t = append(make([]uint32, 0, (want+step-1)/step*step), t...)
	}
	return t[:len(t)+n]
}

// limit reduces a tally to at most most entries and total counts, by halving every count and
// dropping zeros.
func (p packing) limit(t tally, most int, total uint32) tally {
	for p.entries(t) > most || p.total(t) > total {
		to := 0
		for i := range p.entries(t) {
			if half := p.count(t, i) / 2; half > 0 {
				p.put(t, to, p.key(t, i), half)
				to++
			}
		}
		t = t[:to*p.words]
	}
	return t
}

func (p packing) total(t tally) uint32 {
	sum := uint32(0)
	for i := range p.entries(t) {
		sum += p.count(t, i)
	}
	return sum
}

// hash is a fingerprint of a tally (FNV-1a by words).
func (t tally) hash(h uint32) uint32 {
	for _, e := range t {
		h = (h ^ e) * 16777619
		h ^= h >> 15
	}
	return h
}
