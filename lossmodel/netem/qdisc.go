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

// Packet is what was decided about one packet.
type Packet struct {
	Outcome   outcome
	Due       int64 // when it leaves, in nanoseconds; never before it came. Only if kept
	Corrupted bool  // one bit of it is damaged; which is for the caller to choose
	Overtakes bool  // it was picked to go ahead of those that wait
}

// decision is what was decided about one packet sent: whether it was doubled,
// and the outcome of the packet and of its copy. A packet that is picked to be
// doubled and to be lost is neither. The copy passed all steps but the doubling,
// right before the packet.
type decision struct {
	Packet, Copy Packet
	Doubled      bool
}

// horizon is how long a packet waits at most, in nanoseconds: one that would
// wait longer is Full. The kernel has no such bound; time here must not overflow.
const horizon = 24 * 3600 * 1_000_000_000

// Qdisc decides packet by packet. It allocates only to let more packets wait than
// ever before.
type Qdisc struct {
	p    Params
	main lfsr // the kernel's, from the line's seed
	own  lfsr // for what the kernel takes from no seed

	loss                     losses
	dup, corr, reorder, late correlated
	counter                  uint32 // packets since one was picked to overtake
	spread                   spread
	waiting                  waiting
	slots                    slots
}

// New returns a Qdisc at its start. seed takes the place of what the kernel draws
// by itself: the line's seed if it has none, and the first values of its
// correlations.
func New(p Params, seed uint64) *Qdisc {
	q := &Qdisc{main: newLFSR(seed), own: newLFSR(^seed)}
	for _, c := range []*correlated{&q.loss.corr, &q.dup, &q.corr, &q.reorder, &q.late} {
		c.last = q.own.next()
	}
	q.Change(p)
	return q
}

// Change replaces the parameters and resets nothing (tc change resets the loss
// chain and the gap): a burst goes on, what waits goes on waiting. Only a seed
// that differs from the one before restarts the generator.
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

// Clone returns a second Qdisc in the very state of this one.
func (q *Qdisc) Clone() *Qdisc {
	c := *q
	c.waiting.leaves = slices.Clone(q.waiting.leaves)
	return &c
}

// Enqueue decides about a packet of wire bytes, Ethernet's header included, that
// comes at time now, in nanoseconds, not before the one before.
func (q *Qdisc) Enqueue(now int64, wire int) decision {
	q.waiting.leave(now)
	doubled := q.hit(q.p.Duplicate.Share, q.p.sentDuplicateCorr(), &q.dup)
	lost := q.loss.next(&q.main, &q.p.Loss)
	if lost != kept && !doubled {
		return decision{Packet: Packet{Outcome: lost}}
	}
	d := decision{Doubled: doubled && lost == kept}
	d.Packet.Corrupted = q.hit(q.p.Corrupt.Share, q.p.Corrupt.Corr, &q.corr)
	if q.full() {
		return decision{Packet: Packet{Outcome: Full}}
	}
	if d.Doubled {
		d.Copy = q.copied(now, wire)
	}
	q.place(now, wire, &d.Packet)
	return d
}

// Waiting returns how many packets have not left by a time that is not before the
// last packet came, nor after the next one comes.
func (q *Qdisc) Waiting(now int64) int {
	q.waiting.leave(now)
	return q.waiting.Len()
}

// Peak returns the most packets that ever waited.
func (q *Qdisc) Peak() int { return q.waiting.peak }

// copied decides about a double, which is not doubled again.
func (q *Qdisc) copied(now int64, wire int) Packet {
	if lost := q.loss.next(&q.main, &q.p.Loss); lost != kept {
		return Packet{Outcome: lost}
	}
	p := Packet{Corrupted: q.hit(q.p.Corrupt.Share, q.p.Corrupt.Corr, &q.corr)}
	if q.full() {
		return Packet{Outcome: Full}
	}
	q.place(now, wire, &p)
	return p
}

// hit draws only if there is anything to hit.
func (q *Qdisc) hit(share, rho share, c *correlated) bool {
	return share > 0 && uint32(share) >= c.next(&q.main, rho)
}

func (q *Qdisc) full() bool { return uint64(q.waiting.Len()) >= uint64(q.p.Limit) }

// place decides when a packet leaves. One that overtakes leaves at once, whatever
// the delay and the rate.
func (q *Qdisc) place(now int64, wire int, p *Packet) {
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
		send += q.p.lineTime(wire)
	}
	leaves := q.slots.open(max(send, now), wire, &q.p.Slot, &q.own)
	if leaves-now > horizon {
		*p = Packet{Outcome: Full}
		return
	}
	q.counter++
	q.waiting.add(send, leaves)
	p.Due = leaves
}
