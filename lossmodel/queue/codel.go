package queue

import (
	"slices"
	"time"

	"wirelab/internal/policy"
)

// codelParams are the parameters of CoDel.
type codelParams struct {
	target, interval time.Duration
}

// newCodelParams reads the parameters of a policy.
func newCodelParams(p policy.Policy) codelParams {
	return codelParams{p.Duration("target"), p.Duration("interval")}
}

// codel is the state of CoDel for one queue (RFC 8289), in the form of Linux's codel_impl.h.
type codel struct {
	firstAbove time.Duration // when packets may be dropped, if the queue stays above target until then; 0 if it is below
	dropNext   time.Duration // when the next packet is dropped, in the dropping state
	count      uint32        // packets dropped since entering the dropping state
	lastCount  uint32        // count at the previous entry of the dropping state
	dropping   bool
}

// controlLaw returns the time of the drop after the one at t: interval/sqrt(count) later.
func (c *codel) controlLaw(t, interval time.Duration) time.Duration {
	// The root of count * 2^20 is the root of count in units of 2^-10.
	return t + time.Duration(uint64(interval)<<10/isqrt(uint64(c.count)<<20))
}

// shouldDrop reports whether p, which was just removed from the queue, may be dropped.
func (c *codel) shouldDrop(q *Queue, now time.Duration, p Packet, ok bool, params *codelParams) bool {
	// q still counts p among the waiting packets.
	if !ok || now-p.Entered < params.target || q.waiting.Bytes-p.Bytes <= mtu {
		c.firstAbove = 0
		return false
	}
	if c.firstAbove == 0 {
		c.firstAbove = now + params.interval
		return false
	}
	return now > c.firstAbove
}

// dequeue removes the next packet of f that is not dropped.
func (c *codel) dequeue(q *Queue, f *fifo, now time.Duration, params *codelParams) (Packet, bool) {
	p, ok := f.pop()
	if !ok {
		c.dropping = false
		return p, false
	}
	drop := c.shouldDrop(q, now, p, ok, params)
	switch {
	case c.dropping && !drop:
		c.dropping = false
	case c.dropping:
		for c.dropping && now >= c.dropNext {
			c.count++
			q.drop(p)
			p, ok = f.pop()
			if c.shouldDrop(q, now, p, ok, params) {
				c.dropNext = c.controlLaw(c.dropNext, params.interval)
			} else {
				c.dropping = false
			}
		}
	case drop:
		q.drop(p)
		p, ok = f.pop()
		c.shouldDrop(q, now, p, ok, params)
		c.startDropping(now, params.interval)
	}
	return p, ok
}

// startDropping enters the dropping state. If the queue was in it until recently, the drop rate continues near
// the one at which the queue was under control.
func (c *codel) startDropping(now, interval time.Duration) {
	c.dropping = true
	delta := c.count - c.lastCount
	c.count = 1
	if delta > 1 && now-c.dropNext < 16*interval {
		c.count = delta
	}
	c.lastCount = c.count
	c.dropNext = c.controlLaw(now, interval)
}

// codelQueue is a queue with CoDel.
type codelQueue struct {
	fifo
	state  codel
	params codelParams
}

func (d *codelQueue) enqueue(q *Queue, _ time.Duration, p Packet) {
	if q.full() {
		q.drop(p)
		return
	}
	d.insert(p)
}

func (d *codelQueue) dequeue(q *Queue, now time.Duration) (Packet, bool) {
	return d.state.dequeue(q, &d.fifo, now, &d.params)
}

func (d *codelQueue) set(p policy.Policy) { d.params = newCodelParams(p) }

func (d *codelQueue) fork() discipline {
	c := *d
	c.fifo = d.clone()
	return &c
}

// fqFlow is the queue of one owner.
type fqFlow struct {
	fifo
	state   codel
	bytes   int64
	deficit int64
	listed  bool // in one of the lists of fqCodel
}

// fqCodel has a queue for each owner (RFC 8290). Unlike Linux, which hashes flows to 1024 queues, no two owners
// share a queue.
type fqCodel struct {
	flows              []fqFlow // by owner
	newFlows, oldFlows []int    // owners with packets, in the order of their turns
	quantum            int64
	params             codelParams
}

// maxDropBatch is the largest number of packets that are dropped when the queue is full, as in Linux.
const maxDropBatch = 64

func (d *fqCodel) insert(p Packet) {
	for p.Owner >= len(d.flows) {
		d.flows = append(d.flows, fqFlow{})
	}
	f := &d.flows[p.Owner]
	f.insert(p)
	f.bytes += p.Bytes
	if !f.listed {
		f.listed, f.deficit = true, d.quantum
		d.newFlows = append(d.newFlows, p.Owner)
	}
}

// enqueue adds a packet. If the queue is then too long, packets are dropped from the head of the longest flow:
// half of its bytes, but at most maxDropBatch packets.
func (d *fqCodel) enqueue(q *Queue, _ time.Duration, p Packet) {
	d.insert(p)
	if !q.full() {
		return
	}
	longest := &d.flows[0] // the first one of equally long flows
	for i := range d.flows {
		if d.flows[i].bytes > longest.bytes {
			longest = &d.flows[i]
		}
	}
	goal := longest.bytes / 2
	for range maxDropBatch {
		dropped, ok := longest.pop()
		if !ok {
			break
		}
		longest.bytes -= dropped.Bytes
		q.drop(dropped)
		if longest.bytes <= goal {
			break
		}
	}
}

// dequeue serves the flows in turns, new ones first: a flow sends until it has used its quantum.
func (d *fqCodel) dequeue(q *Queue, now time.Duration) (Packet, bool) {
	for {
		list := &d.newFlows
		if len(*list) == 0 {
			list = &d.oldFlows
		}
		if len(*list) == 0 {
			return Packet{}, false
		}
		owner := (*list)[0]
		f := &d.flows[owner]
		if f.deficit <= 0 {
			f.deficit += d.quantum
			*list = slices.Delete(*list, 0, 1)
			d.oldFlows = append(d.oldFlows, owner)
			continue
		}
		dropped := len(q.Dropped)
		p, ok := f.state.dequeue(q, &f.fifo, now, &d.params)
		for _, x := range q.Dropped[dropped:] {
			f.bytes -= x.Bytes
		}
		if ok {
			f.bytes -= p.Bytes
			f.deficit -= p.Bytes
			return p, true
		}
		// An empty new flow passes through the old flows once, so that it cannot delay them by going and coming.
		isNew := list == &d.newFlows
		*list = slices.Delete(*list, 0, 1)
		if isNew && len(d.oldFlows) > 0 {
			d.oldFlows = append(d.oldFlows, owner)
		} else {
			f.listed = false
		}
	}
}

func (d *fqCodel) set(p policy.Policy) { d.params, d.quantum = newCodelParams(p), p.Int("quantum") }

func (d *fqCodel) fifos() (list []*fifo) {
	for i := range d.flows {
		list = append(list, &d.flows[i].fifo)
	}
	return list
}

func (d *fqCodel) fork() discipline {
	c := *d
	c.flows = slices.Clone(d.flows)
	for i := range c.flows {
		c.flows[i].fifo = d.flows[i].clone()
	}
	c.newFlows, c.oldFlows = slices.Clone(d.newFlows), slices.Clone(d.oldFlows)
	return &c
}

// isqrt returns the integer square root.
func isqrt(n uint64) uint64 {
	var root uint64
	for bit := uint64(1) << 31; bit > 0; bit >>= 1 {
		if t := root | bit; t*t <= n {
			root = t
		}
	}
	return root
}
