package netem

import "slices"

// outcome is the fate of one packet.
type outcome uint8

// The outcomes.
const (
	kept     outcome = iota
	Isolated         // lost by itself
	Burst            // lost in the bad state of a chain
	Full             // lost because Limit packets were waiting
)

// Packet is the decision about one packet.
type Packet struct {
	Outcome   outcome
	Due       int64 // when it leaves, in nanoseconds; not before it arrived. Only if kept
	Corrupted bool  // one bit of it is damaged; the caller chooses which
	Overtakes bool  // it was chosen to leave before the packets that wait
}

// decision is the decision about one packet sent: whether it was duplicated, and the
// outcomes of the packet and of its copy. The copy is enqueued immediately before the
// packet and passes all steps except duplication.
type decision struct {
	Packet, Copy Packet
	Doubled      bool
}

// horizon is the longest time that a packet waits, in nanoseconds; the outcome of a
// packet that would wait longer is Full. The kernel has no such bound; here it keeps
// time from overflowing.
const horizon = 24 * 3600 * 1_000_000_000

// Qdisc models the netem queue discipline. It allocates only when more packets wait
// than ever before.
type Qdisc struct {
	p    Params
	main lfsr // the kernel's generator, seeded by the line
	own  lfsr // for values that the kernel draws without a seed

	loss                     losses
	dup, corr, reorder, late correlated
	counter                  uint32 // packets since the last one that overtook
	spread                   spread
	waiting                  waiting
	slots                    slots
}

// New returns a Qdisc without packets. seed replaces the values that the kernel draws
// itself: the seed, if the line has none, and the first values of the correlations.
func New(p Params, seed uint64) *Qdisc {
	q := &Qdisc{main: newLFSR(seed), own: newLFSR(^seed)}
	for _, c := range []*correlated{&q.loss.corr, &q.dup, &q.corr, &q.reorder, &q.late} {
		c.last = q.own.next()
	}
	q.Change(p)
	return q
}

// Change replaces the parameters and resets nothing (tc change resets the loss
// chain and the gap): a burst continues, and packets keep waiting. Only a seed that
// differs from the previous one restarts the generator.
func (q *Qdisc) Change(p Params) {
	if p.Seeded && !(q.p.Seeded && q.p.Seed == p.Seed) {
		q.main = newLFSR(p.Seed)
	}
	if p.Slot != q.p.Slot {
		q.slots = slots{}
	}
	q.p = p
	q.spread = newSpread(kernelTime(p.Delay.Latency), kernelTime(p.Delay.Jitter), p.Delay.Distribution)
}

// Clone returns a Qdisc with a copy of the state of q.
func (q *Qdisc) Clone() *Qdisc {
	c := *q
	c.waiting.leaves = slices.Clone(q.waiting.leaves)
	return &c
}

// Enqueue returns the outcome for a packet that arrives at time now, in nanoseconds.
// wireBytes includes the Ethernet header. now must not decrease between calls. As in
// the kernel, loss and duplication are drawn separately: a packet that is both lost
// and duplicated is sent once.
func (q *Qdisc) Enqueue(now int64, wireBytes int) decision {
	q.waiting.leave(now)
	doubled := q.hit(q.p.Duplicate.Share, q.p.sentDuplicateCorr(), &q.dup)
	lossOutcome := q.loss.next(&q.main, &q.p.Loss)
	if lossOutcome != kept && !doubled {
		return decision{Packet: Packet{Outcome: lossOutcome}}
	}
	d := decision{Doubled: doubled && lossOutcome == kept}
	d.Packet.Corrupted = q.hit(q.p.Corrupt.Share, q.p.Corrupt.Corr, &q.corr)
	if q.full() {
		return decision{Packet: Packet{Outcome: Full}}
	}
	if d.Doubled {
		d.Copy = q.enqueueCopy(now, wireBytes)
	}
	q.place(now, wireBytes, &d.Packet)
	return d
}

// Waiting returns how many packets have not left at time now, which must lie between
// the arrivals of the last and of the next packet.
func (q *Qdisc) Waiting(now int64) int {
	q.waiting.leave(now)
	return q.waiting.Len()
}

// Peak returns the largest number of packets that ever waited.
func (q *Qdisc) Peak() int { return q.waiting.peak }

// enqueueCopy returns the outcome for the copy of a packet, which is not duplicated again.
func (q *Qdisc) enqueueCopy(now int64, wireBytes int) Packet {
	if lossOutcome := q.loss.next(&q.main, &q.p.Loss); lossOutcome != kept {
		return Packet{Outcome: lossOutcome}
	}
	p := Packet{Corrupted: q.hit(q.p.Corrupt.Share, q.p.Corrupt.Corr, &q.corr)}
	if q.full() {
		return Packet{Outcome: Full}
	}
	q.place(now, wireBytes, &p)
	return p
}

// hit reports whether an event of probability share occurs. It draws no number if share is 0.
func (q *Qdisc) hit(share, rho share, c *correlated) bool {
	return share > 0 && uint32(share) >= c.next(&q.main, rho)
}

func (q *Qdisc) full() bool { return uint64(q.waiting.Len()) >= uint64(q.p.Limit) }

// place decides when a packet leaves. A packet that overtakes leaves immediately,
// whatever the delay and the rate.
func (q *Qdisc) place(now int64, wireBytes int, p *Packet) {
	if q.p.Gap > 0 && q.counter >= q.p.Gap-1 && uint32(q.p.Reorder.Share) >= q.reorder.next(&q.main, q.p.Reorder.Corr) {
		q.counter = 0
		p.Due, p.Overtakes = now, true
		return
	}
	delay := q.spread.mean
	if q.spread.sigma > 0 {
		delay = q.spread.at(q.late.next(&q.main, q.p.Delay.Corr))
	}
	send := now + delay
	if q.p.Rate.Bytes > 0 {
		if last, ok := q.waiting.last(); ok {
			send = max(send, last)
		}
		send += q.p.lineTime(wireBytes)
	}
	leaves := q.slots.open(max(send, now), wireBytes, &q.p.Slot, &q.own)
	if leaves-now > horizon {
		*p = Packet{Outcome: Full}
		return
	}
	q.counter++
	q.waiting.add(send, leaves)
	p.Due = leaves
}
