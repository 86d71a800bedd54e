package adaptive

import "slices"

// tickPeriod is the period of message numbers: the lower 16 bits of a tick. The batch of a message
// is its number divided by the size of a batch, so both endpoints agree on batches even if one of
// them joined late. Batch numbers wrap around; the last batch of a period is shorter than the
// others.
const tickPeriod = 1 << 16

// maxAge is the maximum age of statistics, in batches. Both endpoints forget older ones.
const maxAge = 4

// maxPending bounds the statistics that are not yet part of a model, in words of four bytes, by
// order.
var maxPending = [numOrders]int{4096, 4096, 16384, 49152}

// chunkSize is the number of bytes of a message that are counted at a time, so that long messages
// need no more memory than short ones.
const chunkSize = 512

// A batch holds the statistics of consecutive messages.
type batch struct {
	id       uint16 // number of the batch
	used     bool   // false if the entry is free
	released bool   // the statistics were released: they are in a model, or took too much memory
	counted  uint64 // flags: which of its messages were counted
	messages int    // number of messages counted
	counts   tally  // how often each byte followed each context
}

// batches holds the statistics of the last maxAge+1 batches.
type batches struct {
	layout
	size     int               // number of messages of a batch
	entries  [maxAge + 1]batch // batches with statistics, in no order
	newest   uint16            // number of the newest batch
	started  bool              // a message was counted since the start or forgetAll
	span     int               // batches from the first one to the newest, at most maxAge+1
	expired  int64             // number of batches older than maxAge so far
	scratch  tally             // counts of the current chunk
	onForget func(b *batch)    // called before a batch is forgotten; may be nil
}

// locate returns the batch of a tick, and the index of its message in the batch.
func (s *batches) locate(tick uint32) (id uint16, index int) {
	position := int(uint16(tick))
	return uint16(position / s.size), position % s.size
}

// batchesPerPeriod returns the number of batches before batch numbers wrap around.
func (s *batches) batchesPerPeriod() int { return (tickPeriod + s.size - 1) / s.size }

// age returns by how many batches id is older than newest; negative if it is younger.
func (s *batches) age(newest, id uint16) int {
	age := int(newest) - int(id)
	switch half := s.batchesPerPeriod() / 2; {
	case age > half:
		age -= s.batchesPerPeriod()
	case age < -half:
		age += s.batchesPerPeriod()
	}
	return age
}

// addMessage adds a message to the statistics of the batch of its tick, unless it was already counted or
// its batch is older than maxAge. If the batch is newer than all others, it becomes the newest one.
func (s *batches) addMessage(tick uint32, message []byte) {
	id, index := s.locate(tick)
	switch {
	case !s.started || s.age(s.newest, id) < 0:
		s.advance(id)
	case s.age(s.newest, id) > maxAge:
		return
	}
	b := s.get(id)
	if b == nil {
		b = s.allocate(id)
	}
	if b.counted>>index&1 == 1 { // b.counted has a flag for each message of the batch
		return
	}
	b.counted |= 1 << index
	b.messages++
	if b.released { // only the number of its messages matters
		return
	}
	recent := uint32(startContext)
	for chunk := range slices.Chunk(message, chunkSize) {
		if b.released {
			break
		}
		s.scratch, recent = s.countChunk(s.scratch, recent, chunk)
		b.counts = s.add(b.counts, s.scratch)
		s.releaseIfFull(b)
	}
}

// advance makes id the newest batch and forgets batches that are too old.
func (s *batches) advance(id uint16) {
	if s.started {
		s.span -= s.age(s.newest, id) // the age is negative: id is younger
	} else {
		s.span = 1
	}
	if excess := s.span - (maxAge + 1); excess > 0 {
		s.span, s.expired = maxAge+1, s.expired+int64(excess)
	}
	s.newest, s.started = id, true
	for i := range s.entries {
		if b := &s.entries[i]; b.used && (s.age(id, b.id) > maxAge || s.age(id, b.id) < 0) {
			s.forget(b)
		}
	}
}

// forgetAll frees all entries; the next message starts a new sequence of batches.
func (s *batches) forgetAll() {
	for i := range s.entries {
		if s.entries[i].used {
			s.forget(&s.entries[i])
		}
	}
	s.started = false
}

// forget frees the entry b but keeps its memory.
func (s *batches) forget(b *batch) {
	if s.onForget != nil {
		s.onForget(b)
	}
	*b = batch{counts: b.counts[:0]}
}

// get returns the batch with number id; nil if it has no entry.
func (s *batches) get(id uint16) *batch {
	for i := range s.entries {
		if b := &s.entries[i]; b.used && b.id == id {
			return b
		}
	}
	return nil
}

// allocate assigns a free entry to batch id. There is always one, because batches beyond maxAge
// were forgotten.
func (s *batches) allocate(id uint16) *batch {
	for i := range s.entries {
		if b := &s.entries[i]; !b.used {
			b.used, b.id = true, id
			return b
		}
	}
	panic("adaptive: no free entry for a batch")
}

// releaseIfFull releases the statistics of b, which has just grown, if all statistics together
// exceed maxPending.
func (s *batches) releaseIfFull(b *batch) {
	total := 0
	for i := range s.entries {
		total += cap(s.entries[i].counts)
	}
	if total > maxPending[s.order] {
		b.released, b.counts = true, nil
	}
}

// bytes returns the memory of the statistics.
func (s *batches) bytes() int {
	n := 0
	for i := range s.entries {
		n += 4 * cap(s.entries[i].counts)
	}
	return n
}

// A tally counts how often each byte followed each context: a list of entries, sorted by key
// without repetition. An entry is one word up to order 2, with the key (context and byte) above the
// count, and two words at order 3. Counts saturate.
type tally []uint32

// A layout is the layout of a tally's entries: contexts of up to one byte leave 16 bits for the
// count, contexts of two bytes leave 8, and contexts of three bytes need a word of its own for the
// count.
type layout struct {
	order      int  // length of contexts, in bytes
	entryWords int  // words of an entry, 1 or 2
	keyShift   uint // of the key in the first word
}

// newLayout returns the layout of a tally's entries for contexts of order bytes. Key and count share a word if
// at least 8 bits are left for the count; a key of 32 bits, at order 3, is followed by a word for the count.
func newLayout(order int) layout {
	switch order {
	case 0, 1:
		return layout{order: order, entryWords: 1, keyShift: 16}
	case 2:
		return layout{order: order, entryWords: 1, keyShift: 8}
	}
	return layout{order: order, entryWords: 2, keyShift: 0}
}

// numEntries returns the number of entries of t.
func (p layout) numEntries(t tally) int { return len(t) / p.entryWords }

// key returns the key of entry i: context and byte, see contextKey.
func (p layout) key(t tally, i int) uint32 { return t[i*p.entryWords] >> p.keyShift }

// count returns the count of entry i.
func (p layout) count(t tally, i int) uint32 {
	if p.entryWords == 2 {
		return t[2*i+1]
	}
	return t[i] & (1<<p.keyShift - 1)
}

// setEntry sets entry i of t. The count n saturates.
func (p layout) setEntry(t tally, i int, key, n uint32) {
	if p.entryWords == 2 {
		t[2*i], t[2*i+1] = key, n
		return
	}
	t[i] = key<<p.keyShift | min(n, 1<<p.keyShift-1)
}

// startContext is the context of the first byte of a message: the last bytes of a sentence.
const startContext = 'd' | '.'<<8 | ' '<<16

// contextKey returns the key of byte b in the context of the last order bytes of recent. The latest
// byte of the context is the highest of the key, so that contexts with the same latest bytes are
// adjacent.
func contextKey(order int, recent uint32, b byte) uint32 {
	return recent>>(8*(numOrders-1-order))<<8 | uint32(b)
}

// nextContext returns the last three bytes of a message after b was appended. The latest byte is
// the highest.
func nextContext(recent uint32, b byte) uint32 { return recent>>8 | uint32(b)<<16 }

// countChunk returns the tally of a chunk of a message, in dst's memory: how often each byte followed each
// context. recent holds the last three bytes before the chunk, last the last three up to its end.
func (p layout) countChunk(dst tally, recent uint32, chunk []byte) (counted tally, last uint32) {
	n := len(chunk)
	dst = grow(dst[:0], n*p.entryWords)
	keys := dst[n*(p.entryWords-1):] // at the end, so that entries do not overwrite keys before they are read
	for i, b := range chunk {
		keys[i] = contextKey(p.order, recent, b)
		recent = nextContext(recent, b)
	}
	slices.Sort(keys)
	nEntries := 0
	for pos := 0; pos < n; nEntries++ {
		key, from := keys[pos], pos
		for pos < n && keys[pos] == key {
			pos++
		}
		p.setEntry(dst, nEntries, key, uint32(pos-from))
	}
	return dst[:nEntries*p.entryWords], recent
}

// add adds the counts of b to those of a, in a's memory, which it extends by the keys that a lacks.
// It merges from the end, where the free memory is, so that no entry is overwritten before it is
// read.
func (p layout) add(a, b tally) tally {
	i, j := p.numEntries(a)-1, p.numEntries(b)-1
	a = grow(a, p.countNewKeys(a, b)*p.entryWords)
	for slot := p.numEntries(a) - 1; j >= 0; slot-- {
		key, count := p.key(b, j), p.count(b, j)
		if i >= 0 && p.key(a, i) > key {
			p.setEntry(a, slot, p.key(a, i), p.count(a, i))
			i--
			continue
		}
		if i >= 0 && p.key(a, i) == key {
			count += p.count(a, i)
			i--
		}
		p.setEntry(a, slot, key, count)
		j--
	}
	return a
}

// countNewKeys returns the number of keys of b that a lacks.
func (p layout) countNewKeys(a, b tally) int {
	n, i := 0, 0
	for j := range p.numEntries(b) {
		key := p.key(b, j)
		for i < p.numEntries(a) && p.key(a, i) < key {
			i++
		}
		if i == p.numEntries(a) || p.key(a, i) != key {
			n++
		}
	}
	return n
}

// grow extends a slice by extra elements, whose content is undefined. It adds little spare capacity,
// because the memory of a client is bounded.
func grow(t []uint32, extra int) []uint32 {
	const step = 64
	if want := len(t) + extra; want > cap(t) {
		t = append(make([]uint32, 0, (want+step-1)/step*step), t...)
	}
	return t[:len(t)+extra]
}

// halve halves every count of a tally and drops zeros, until it has at most maxEntries entries and the
// counts sum to at most maxTotal.
func (p layout) halve(t tally, maxEntries int, maxTotal uint32) tally {
	for p.numEntries(t) > maxEntries || p.total(t) > maxTotal {
		next := 0
		for i := range p.numEntries(t) {
			if half := p.count(t, i) / 2; half > 0 {
				p.setEntry(t, next, p.key(t, i), half)
				next++
			}
		}
		t = t[:next*p.entryWords]
	}
	return t
}

// total returns the sum of all counts of t.
func (p layout) total(t tally) uint32 {
	sum := uint32(0)
	for i := range p.numEntries(t) {
		sum += p.count(t, i)
	}
	return sum
}

// hash returns a hash of a tally (FNV-1a by words), starting from h.
func (t tally) hash(h uint32) uint32 {
	for _, e := range t {
		h = (h ^ e) * 16777619
		h ^= h >> 15
	}
	return h
}
