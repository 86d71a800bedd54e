package adaptive

// Messages are grouped in batches by their ticks: the lower 16 bits, which both ends
// count alike however late one of them joined, divided by the size of a batch. The
// numbers run in a circle; the last batch of a round is a short one.
const ticks = 1 << 16

// reach is how many batches back statistics are kept. Whoever is asked to mix in an
// older one has forgotten it, and both ends know that.
const reach = 4

// mostPending bounds the statistics that wait, in entries of four bytes: 16 kB at
// orders 0 and 1.
func (p packing) mostPending() int {
	if p.order == 2 {
		return 16384
	}
	return 4096
}

// batch is what is known of some messages in a row.
type batch struct {
	id    uint16
	used  bool   // holds anything
	spent bool   // in a model already: the statistics are gone
	seen  uint64 // which of its messages were counted
	n     int    // how many
	sums  tally
}

// batches gathers statistics, one tally a batch and not one a message, of the last
// few.
type batches struct {
	packing
	size   int
	all    [reach + 1]batch
	newest uint16 // batch
	any    bool
	one    tally // of the message at hand
	closed func(b *batch)
}

// idOf returns the batch of a tick, and the place in it.
func (s *batches) idOf(tick uint32) (id uint16, place int) {
	t := int(uint16(tick))
	return uint16(t / s.size), t % s.size
}

// round is how many batches there are before their numbers begin again.
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

// note counts a message. What was counted before, or is too old, is not.
func (s *batches) note(tick uint32, message []byte) {
	id, place := s.idOf(tick)
	switch {
	case !s.any || s.age(s.newest, id) < 0:
		s.advance(id)
	case s.age(s.newest, id) > reach:
		return
	}
	b := s.get(id)
	if b == nil {
		b = s.claim(id)
	}
	if b.seen>>place&1 == 1 {
		return
	}
	b.seen |= 1 << place
	b.n++
	if b.spent {
		return
	}
	s.one = s.of(s.one, message)
	b.sums = s.add(b.sums, s.one)
	s.bound(b)
}

// advance makes id the newest batch and forgets what is out of reach of it.
func (s *batches) advance(id uint16) {
	s.newest, s.any = id, true
	for i := range s.all {
		if b := &s.all[i]; b.used && (s.age(id, b.id) > reach || s.age(id, b.id) < 0) {
			s.forget(b)
		}
	}
}

func (s *batches) forget(b *batch) {
	if s.closed != nil {
		s.closed(b)
	}
	*b = batch{sums: b.sums[:0]}
}

// get returns the batch of that number if there are statistics of it.
func (s *batches) get(id uint16) *batch {
	for i := range s.all {
		if b := &s.all[i]; b.used && b.id == id {
			return b
		}
	}
	return nil
}

// claim takes a free place; there is one, since what is out of reach was forgotten.
func (s *batches) claim(id uint16) *batch {
	for i := range s.all {
		if b := &s.all[i]; !b.used {
			b.used, b.id = true, id
			return b
		}
	}
	panic("adaptive: more batches within reach than there are places")
}

// bound gives up statistics when there are too many of them: those of the batch that
// grew, which is then of no use to anyone.
func (s *batches) bound(b *batch) {
	total := 0
	for i := range s.all {
		total += cap(s.all[i].sums)
	}
	if total > s.mostPending() {
		b.spent, b.sums = true, nil
	}
}

// drop gives the statistics of a batch up.
func (b *batch) drop() { b.spent, b.sums = true, b.sums[:0] }

// bytes is what the statistics that wait take in memory.
func (s *batches) bytes() int {
	n := 0
	for i := range s.all {
		n += 4 * cap(s.all[i].sums)
	}
	return n
}
