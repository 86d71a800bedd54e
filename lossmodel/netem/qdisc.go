package netem

import "slices"

// outcome is whether and why a packet is lost.
type outcome uint8

// Outcomes of a packet.
const (
	passed   outcome = iota
	Isolated         // the packet is lost independently of other packets
	Burst            // the packet is lost in the bad state of a chain
	Full             // the packet is lost because the limit of waiting packets was reached
)

// Packet is the decision about one packet.
type Packet struct {
	Outcome   outcome
	Due       int64 // departure in nanoseconds, not before the arrival; valid only if the packet passed
	Corrupted bool  // whether one bit is damaged; the caller chooses which
	Overtakes bool  // whether the reorder option lets the packet leave before waiting ones
}

// decision is the decision about an enqueued packet: the outcomes of the packet and, if
// Duplicated is set, of its copy. The copy is enqueued immediately before the packet and passes
// all steps except duplication.
type decision struct {
	Packet, Copy Packet
	Duplicated   bool
}

// horizon is the longest wait of a packet in nanoseconds. A packet that would wait longer is
// dropped with the outcome Full. The kernel has no such limit; here it prevents overflow.
const horizon = 24 * 3600 * 1_000_000_000

// Qdisc models the netem queueing discipline. It allocates only when the number of waiting
// packets exceeds its previous maximum. It must not be used concurrently.
type Qdisc struct {
	p        Params
	seeded   lfsr // the kernel's generator, seeded by the line
	unseeded lfsr // draws values that the kernel draws without a seed

	loss                                               lossState
	duplicateCorr, corruptCorr, reorderCorr, delayCorr correlated
	sinceReordered                                     uint32 // packets since the last reordered one
	delay                                              delayDist
	waiting                                            waiting
	slots                                              slots
}

// New returns a Qdisc without packets. seed is used for the values that the kernel draws without
// a seed: the seed of a line without one, and the first values of correlations.
func New(p Params, seed uint64) *Qdisc {
	q := &Qdisc{seeded: newLFSR(seed), unseeded: newLFSR(^seed)} // ^seed: a different stream
	for _, c := range []*correlated{&q.loss.correlated, &q.duplicateCorr, &q.corruptCorr, &q.reorderCorr, &q.delayCorr} {
		c.last = q.unseeded.next()
	}
	q.Change(p)
	return q
}

// Change replaces the parameters and keeps the state, such as a burst and the waiting packets.
// (tc change resets the loss chain and the gap.) A new seed restarts the generator, and new slots
// replace the current slot.
func (q *Qdisc) Change(p Params) {
	if p.Seeded && !(q.p.Seeded && q.p.Seed == p.Seed) {
		q.seeded = newLFSR(p.Seed)
	}
	if p.Slot != q.p.Slot { // the new slots begin with none open
		q.slots = slots{}
	}
	q.p = p
	q.delay = newDelayDist(kernelTime(p.Delay.Latency), kernelTime(p.Delay.Jitter), p.Delay.Distribution)
}

// Clone returns an independent copy of q.
func (q *Qdisc) Clone() *Qdisc {
	c := *q
	c.waiting.departures = slices.Clone(q.waiting.departures)
	return &c
}

// Enqueue decides about a packet that arrives at time now, in nanoseconds. wireBytes includes the
// Ethernet header. now must not decrease between calls. As in the kernel, loss and duplication
// are drawn separately: a packet chosen for both is sent once.
func (q *Qdisc) Enqueue(now int64, wireBytes int) decision {
	q.waiting.removeDeparted(now)
	duplicated := q.hit(q.p.Duplicate.Probability, q.p.sentDuplicateCorr(), &q.duplicateCorr)
	lossOutcome := q.loss.decide(&q.seeded, &q.p.Loss)
	if lossOutcome != passed && !duplicated {
		return decision{Packet: Packet{Outcome: lossOutcome}}
	}
	d := decision{Duplicated: duplicated && lossOutcome == passed}
	d.Packet.Corrupted = q.hit(q.p.Corrupt.Probability, q.p.Corrupt.Corr, &q.corruptCorr)
	if q.full() {
		return decision{Packet: Packet{Outcome: Full}}
	}
	if d.Duplicated {
		d.Copy = q.enqueueCopy(now, wireBytes)
	}
	q.schedule(now, wireBytes, &d.Packet)
	return d
}

// Waiting returns the number of packets that have not left at time now, which must be between the
// arrivals of the last and the next packet.
func (q *Qdisc) Waiting(now int64) int {
	q.waiting.removeDeparted(now)
	return q.waiting.Len()
}

// Peak returns the largest number of waiting packets so far.
func (q *Qdisc) Peak() int { return q.waiting.peak }

// enqueueCopy decides about the copy of a packet: first loss, then damage, the limit and the
// departure. The order of the random numbers is the kernel's.
func (q *Qdisc) enqueueCopy(now int64, wireBytes int) Packet {
	if lossOutcome := q.loss.decide(&q.seeded, &q.p.Loss); lossOutcome != passed {
		return Packet{Outcome: lossOutcome}
	}
	p := Packet{Corrupted: q.hit(q.p.Corrupt.Probability, q.p.Corrupt.Corr, &q.corruptCorr)}
	if q.full() {
		return Packet{Outcome: Full}
	}
	q.schedule(now, wireBytes, &p)
	return p
}

// hit reports whether an event occurs that has the probability threshold, and the correlation rho
// with the draw before, whose state is c. It draws no number if threshold is 0.
func (q *Qdisc) hit(threshold, rho probability, c *correlated) bool {
	return threshold > 0 && uint32(threshold) >= c.next(&q.seeded, rho)
}

// full reports whether the limit of waiting packets is reached.
func (q *Qdisc) full() bool { return uint64(q.waiting.Len()) >= uint64(q.p.Limit) }

// schedule sets p.Due, the departure of a packet that arrives at now, or the outcome Full if it would wait longer
// than horizon. Times are in nanoseconds. At most every Gap-th packet is reordered, with the configured
// probability; it leaves immediately, regardless of delay and rate.
func (q *Qdisc) schedule(now int64, wireBytes int, p *Packet) {
	if q.p.Gap > 0 && q.sinceReordered >= q.p.Gap-1 &&
		uint32(q.p.Reorder.Probability) >= q.reorderCorr.next(&q.seeded, q.p.Reorder.Corr) {
		q.sinceReordered = 0
		p.Due, p.Overtakes = now, true
		return
	}
	delay := q.delay.mean
	if q.delay.sigma > 0 {
		delay = q.delay.draw(q.delayCorr.next(&q.seeded, q.p.Delay.Corr))
	}
	send := now + delay // when the packet leaves, without regard to slots
	if q.p.Rate.Bytes > 0 {
		if latestSend, ok := q.waiting.findLatestSend(); ok {
			send = max(send, latestSend) // the line is busy until then
		}
		send += q.p.transmissionTime(wireBytes)
	}
	departure := q.slots.departure(max(send, now), wireBytes, &q.p.Slot, &q.unseeded)
	if departure-now > horizon {
		*p = Packet{Outcome: Full}
		return
	}
	q.sinceReordered++
	q.waiting.add(send, departure)
	p.Due = departure
}
