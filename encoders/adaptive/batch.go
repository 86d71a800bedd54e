package adaptive

import "slices"

// Messages are grouped in batches by the lower 16 bits of their ticks, divided by the
// size of a batch. Both ends agree on them however late one joined. Batch numbers wrap
// around, and the last batch of a round is shorter.
const ticks = 1 << 16

// maxAge is how many batches back statistics are kept. Both ends know that older ones
// are forgotten.
const maxAge = 4

// mostPending bounds the statistics not yet in a model, in words of four bytes: 16 kB at
// orders 0 and 1.
func (p packing) mostPending() int { return []int{4096, 4096, 16384, 49152}[p.order] }

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
	if total > s.mostPending() {
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
