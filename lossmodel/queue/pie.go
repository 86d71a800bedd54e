package queue

import (
	"time"

	"wirelab/internal/policy"
	"wirelab/lossmodel/random"
)

// pie drops arriving packets at random (RFC 8033), as Linux's sch_pie does without its estimator of the line's
// rate: the delay is that of the packet which left last. Unlike in Linux, a probability never exceeds 1.
type pie struct {
	fifo
	target, tupdate time.Duration
	ecn             bool

	prob               int64 // drop probability
	accumulated        int64 // sum of the probabilities since the last drop
	delay, delayBefore time.Duration
	burst              time.Duration // remaining time in which nothing is dropped
	lastDequeue        time.Duration // noDequeue if none yet
	nextUpdate         time.Duration
}

// Constants of PIE.
const (
	certain     = 1_000_000_000_000                    // probability 1
	alpha       = certain / 8 / int64(time.Second)     // gain of the distance to the target: 0.125 per second
	beta        = certain * 5 / 4 / int64(time.Second) // gain of the change of the delay: 1.25 per second
	maxBurst    = 150 * time.Millisecond
	highDelay   = 250 * time.Millisecond // above it the probability grows by a further 2 % per update
	noDequeue   = -1
	minPIEBytes = 2 * mtu // backlog below which nothing is dropped at random
)

// newPIE returns an empty queue with PIE.
func newPIE() *pie { return &pie{burst: maxBurst, lastDequeue: noDequeue} }

func (d *pie) set(p policy.Policy) {
	d.target, d.tupdate, d.ecn = p.Duration("target"), p.Duration("tupdate"), p.Int("ecn") == 1
}

func (d *pie) enqueue(q *Queue, now time.Duration, p Packet) {
	backlog := q.waiting.Bytes - p.Bytes
	d.update(now, backlog)
	switch {
	case q.full():
	case !d.dropEarly(q, backlog):
		d.insert(p)
		return
	case d.ecn && p.CanMark && d.prob <= certain/10:
		p.Congested = true
		d.insert(p)
		return
	}
	d.accumulated = 0
	q.drop(p)
}

// dropEarly decides at random whether an arriving packet is dropped. A packet is not dropped soon after another,
// and not much later than the probability requires.
func (d *pie) dropEarly(q *Queue, backlog int64) bool {
	if d.burst > 0 || d.delay < d.target/2 && d.prob < certain/5 || backlog < minPIEBytes {
		return false
	}
	d.accumulated += d.prob
	if d.prob == 0 {
		d.accumulated = 0
	}
	switch {
	case d.accumulated < certain/100*85:
		return false
	case d.accumulated >= certain/2*17:
		return true
	}
	if int64(random.Below(q.stream.Next(0), certain)) >= d.prob {
		return false
	}
	d.accumulated = 0 // also if the packet is marked instead
	return true
}

func (d *pie) dequeue(q *Queue, now time.Duration) (Packet, bool) {
	d.update(now, q.waiting.Bytes)
	p, ok := d.pop()
	if !ok {
		return p, false
	}
	d.delay = now - p.Entered
	if q.waiting.Bytes == p.Bytes { // the queue is empty now
		d.delay = 0
	}
	if d.lastDequeue != noDequeue {
		d.burst = max(0, d.burst-(now-d.lastDequeue))
	}
	d.lastDequeue = now
	return p, true
}

// update runs the timer of Linux up to now: each update that is due adapts the probability. Between the last packet
// and now, backlog bytes were waiting.
func (d *pie) update(now time.Duration, backlog int64) {
	for ; d.nextUpdate <= now; d.nextUpdate += d.tupdate {
		isIdle := d.prob == 0 && d.delay == 0 && d.delayBefore == 0
		d.updateOnce(backlog)
		if isIdle { // the other updates until now have the same effect
			d.nextUpdate += (now - d.nextUpdate) / d.tupdate * d.tupdate
		}
	}
}

// updateOnce adapts the probability to the delay, as pie_calculate_probability of Linux does.
func (d *pie) updateOnce(backlog int64) {
	delta := alpha*int64(d.delay-d.target) + beta*int64(d.delay-d.delayBefore)
	if d.prob < certain/10 { // the lower the probability, the slower it changes
		delta /= 2
		for power := int64(100); d.prob < certain/power && power <= 1_000_000; power *= 10 {
			delta /= 4
		}
	}
	if delta > certain/50 && d.prob >= certain/10 { // it grows by at most 2 %
		delta = certain / 50
	}
	if d.delay > highDelay {
		delta += certain / 50
	}
	d.prob = min(max(d.prob+delta, 0), certain)
	if d.delay == 0 && d.delayBefore == 0 && backlog == 0 { // without a queue it falls by 1/64 more
		d.prob -= d.prob / 64
	}
	if d.delay < d.target/2 && d.delayBefore < d.target/2 && d.prob == 0 {
		d.restartBurst()
	}
	d.delayBefore = d.delay
}

// restartBurst allows a burst again.
func (d *pie) restartBurst() { d.burst, d.lastDequeue, d.accumulated = maxBurst, noDequeue, 0 }

func (d *pie) fork() discipline {
	c := *d
	c.fifo = d.clone()
	return &c
}
