package lossmodel

import (
	"cmp"
	"slices"
	"time"

	"wirelab/lossmodel/queue"
	"wirelab/lossmodel/traffic"
)

// line serves the queue of the bottleneck packet by packet, with events of its own. A link has a line while a packet's
// time of leaving depends on what happens after it entered the queue: with a queue discipline that drops packets
// later, with other traffic, and while packets wait that a change of the rate re-timed. Otherwise rateStage computes
// the time when the packet enters.
type line struct {
	stage    *rateStage
	queue    *queue.Queue
	busy     bool
	current  queue.Packet // the packet that is being sent, if busy
	leavesAt time.Duration
	now      time.Duration  // time of the last event
	served   []servedPacket // datagrams whose outcome the link has not collected yet, in order of time
	sent     []traffic.Packet
}

// servedPacket is a datagram that left the line or was dropped.
type servedPacket struct {
	slot   int32
	at     time.Duration
	waited time.Duration // in the queue and while it was sent
	lost   bool
}

// linkOwner is the owner of the link's datagrams in the queue; owner i+1 is flow i.
const linkOwner = 0

// maxQueued is the largest number of packets in a queue without limits.
const maxQueued = 1 << 20

// newLine returns an idle line.
func newLine(stage *rateStage) *line { return &line{stage: stage, queue: queue.New()} }

// configure applies the queue's limit and discipline. A queue without a limit holds what the line sends in maxWait.
func (n *line) configure(spec *Rate) {
	limit := queue.Limit{Packets: spec.QueuePackets, Bytes: spec.Queue}
	if limit.Packets == 0 {
		limit.Packets = maxQueued
	}
	if limit.Bytes == 0 && n.stage.rate > 0 {
		limit.Bytes = int64(mulDiv(n.stage.rate, uint64(maxWait/time.Second), 8))
	}
	n.queue.Set(limit, spec.Discipline)
}

// next returns when the next event is due; false if none.
func (n *line) next() (time.Duration, bool) {
	at, _ := n.nextEvent()
	return at, at != noEvent
}

// Results of nextEvent.
const (
	noEvent = time.Duration(1<<63 - 1) // a time after all events
	onLine  = -1                       // in place of the index of a flow
)

// nextEvent returns the time of the next event, noEvent without one, and its kind: the flow with this index
// runs, or the packet on the line leaves (onLine).
func (n *line) nextEvent() (at time.Duration, flow int) {
	at, flow = noEvent, onLine
	if n.busy {
		at = n.leavesAt
	}
	for i, f := range n.stage.flows {
		if t := f.Next(); t < at {
			at, flow = t, i
		}
	}
	return at, flow
}

// run handles all events up to now.
func (n *line) run(now time.Duration) {
	for {
		at, flow := n.nextEvent()
		if at > now || at == noEvent {
			return
		}
		n.now = at
		switch {
		case flow == onLine:
			n.finish(at)
		default:
			n.sent = n.stage.flows[flow].Run(at, n.sent[:0])
			for _, p := range n.sent {
				size := addFraming(&n.stage.spec, int64(p.Bytes), 1)
				n.send(at, queue.Packet{Owner: flow + 1, ID: p.Number, Bytes: size})
			}
		}
	}
}

// send passes a packet to the queue at now. A relay may read a datagram only after later events of the line: the
// datagram then enters at the time of the last event.
func (n *line) send(now time.Duration, p queue.Packet) {
	now = max(now, n.now)
	n.queue.Enqueue(now, p)
	n.dropAll(now)
	if !n.busy {
		n.startNext(now)
	}
	size := n.queue.Len()
	peak := &n.stage.peak
	peak.Packets, peak.Bytes = max(peak.Packets, size.Packets), max(peak.Bytes, size.Bytes)
}

// dropAll handles the packets that the queue has just dropped.
func (n *line) dropAll(now time.Duration) {
	for _, p := range n.queue.Dropped {
		n.lose(now, p)
	}
}

// lose records that a packet was dropped.
func (n *line) lose(now time.Duration, p queue.Packet) {
	if p.Owner > 0 {
		n.stage.flows[p.Owner-1].Lost++
		return
	}
	n.served = append(n.served, servedPacket{slot: int32(p.ID), at: now, waited: now - p.Entered, lost: true})
}

// startNext begins to send the next packet, if any.
func (n *line) startNext(now time.Duration) {
	for {
		p, ok := n.queue.Dequeue(now)
		n.dropAll(now)
		if !ok {
			return
		}
		leaves, ok := now, true
		if n.stage.isOn() {
			leaves, ok = n.stage.departure(p.Entered, now, p.Bytes)
		}
		if ok {
			n.busy, n.current, n.leavesAt = true, p, leaves
			return
		}
		n.queue.Sent() // a trace has no opportunity within maxWait
		n.lose(now, p)
	}
}

// finish ends the sending of the current packet, which leaves the line at now, and starts the next one.
func (n *line) finish(now time.Duration) {
	p := n.current
	n.queue.Sent()
	n.busy = false
	if p.Owner > 0 {
		n.stage.flows[p.Owner-1].Left(now, p.ID)
	} else {
		n.served = append(n.served, servedPacket{slot: int32(p.ID), at: now, waited: now - p.Entered})
	}
	n.startNext(now)
}

// isIdle reports whether the line has nothing to do unless a packet arrives.
func (n *line) isIdle() bool {
	_, any := n.next()
	return !any
}

// retime moves the time at which the current packet leaves, after the line of stage has changed at now from the
// given rate. The rest of the packet is sent at the new rate. With a trace before or after the change, the packet
// keeps its time.
func (n *line) retime(now time.Duration, rateBefore uint64) {
	s := n.stage
	switch {
	case !n.busy:
	case !s.isOn():
		s.idleAt, s.remainder, n.leavesAt = now, 0, now
	case rateBefore > 0 && s.rate > 0 && s.tracedLine.opportunities == nil:
		s.idleAt = now + time.Duration(mulDiv(uint64(max(0, s.idleAt-now)), rateBefore, s.rate))
		s.remainder = 0
		n.leavesAt = max(now, s.idleAt-s.burstLead)
	default:
		s.idleAt = n.leavesAt
	}
}

// fork returns a copy for a copy of the stage.
func (n *line) fork(stage *rateStage) *line {
	c := *n
	c.stage, c.queue, c.served, c.sent = stage, n.queue.Fork(), slices.Clone(n.served), nil
	return &c
}

// SetTraffic sets the other traffic that shares the bottleneck from now on. Flows that are already there continue.
func (l *Link) SetTraffic(now time.Duration, plan traffic.Plan) {
	l.runLine(now)
	l.rate.flows = traffic.Update(l.rate.flows, plan, now)
	if len(plan) > 0 && l.rate.line == nil {
		l.startLine(now)
		l.rate.line.configure(&l.spec.Rate)
	}
}

// Traffic returns the flows of other traffic so far, stopped ones included. They must not be modified.
func (l *Link) Traffic() []*traffic.Flow { return l.rate.flows }

// QueueByOwner appends the content of the queue at now by owner: first the datagrams of the link, then each flow of
// Traffic.
func (l *Link) QueueByOwner(now time.Duration, dst []QueueLength) []QueueLength {
	l.runLine(now)
	n := l.rate.line
	if n == nil {
		dst = append(dst, l.rate.length(now))
		return append(dst, make([]QueueLength, len(l.rate.flows))...)
	}
	for owner := range 1 + len(l.rate.flows) {
		dst = append(dst, QueueLength(n.queue.Owned(owner)))
	}
	return dst
}

// QueueDelay returns how long the line takes to send the packets in the queue at now; 0 if it follows a trace.
func (l *Link) QueueDelay(now time.Duration) time.Duration {
	l.runLine(now)
	return l.rate.drainTime(now)
}

// reshapeRate prepares the rate stage at now for the settings of spec, which it gets afterwards: it starts a line if
// the discipline of spec needs one, or if spec changes the rate while packets wait, whose times then change. It reports whether spec changes the rate.
func (l *Link) reshapeRate(now time.Duration, spec *Spec) (changes bool) {
	l.runLine(now)
	before, after := &l.rate.spec, &spec.Rate
	changes = before.BitsPerSecond != after.BitsPerSecond || before.Trace != after.Trace || before.Burst != after.Burst
	if l.rate.line == nil {
		l.rate.removeSent(now)
		if !after.isDropTail() || changes && l.rate.queue.Len() > 0 {
			l.startLine(now)
		}
	}
	return changes
}

// startLine begins to serve the queue packet by packet. The packets in the queue move from the packets in flight to
// the line, which the caller must configure.
func (l *Link) startLine(now time.Duration) {
	s := l.rate
	n := newLine(s)
	s.line = n
	var waiting []heapEntry
	latest := now
	l.inFlight = slices.DeleteFunc(l.inFlight, func(e heapEntry) bool {
		p := &l.pool.packets[e.slot]
		if p.leaves > now {
			waiting = append(waiting, e)
			return true
		}
		latest = max(latest, time.Duration(e.due)-p.delayAfter)
		return false
	})
	l.inFlight.init()
	if len(waiting) == 0 {
		return
	}
	l.delay.latestDeparture = min(l.delay.latestDeparture, latest)
	slices.SortFunc(waiting, func(a, b heapEntry) int {
		return cmp.Or(cmp.Compare(l.pool.packets[a.slot].leaves, l.pool.packets[b.slot].leaves), cmp.Compare(a.seq, b.seq))
	})
	for i, e := range waiting {
		p := &l.pool.packets[e.slot]
		x := queue.Packet{ID: uint64(e.slot), Bytes: p.lineBytes, Entered: p.sent}
		n.queue.Insert(x)
		if i == 0 {
			n.queue.Dequeue(now) // the only packet
			n.busy, n.current, n.leavesAt = true, x, p.leaves
		}
	}
	s.rewind(n.leavesAt)
}

// runLine handles the events of the line up to now and collects the datagrams that it served. It ends a line that
// is no longer needed.
func (l *Link) runLine(now time.Duration) {
	n := l.rate.line
	if n == nil {
		return
	}
	n.run(now)
	l.collectServed()
	if l.rate.spec.isDropTail() && n.isIdle() {
		l.rate.line = nil
	}
}

// collectServed puts the datagrams that the line has served in flight. A dropped one is delivered as lost.
func (l *Link) collectServed() {
	for _, d := range l.rate.line.served {
		p := &l.pool.packets[d.slot]
		p.waited, p.leaves = d.waited, 0
		due := d.at
		if d.lost {
			p.lost = Queue
		} else {
			due = max(d.at, l.delay.leave(d.at, p)+p.delayAfter) // delayAfter is negative if a capture's copy arrives before its datagram
		}
		l.inFlight.push(heapEntry{due: int64(due), seq: l.enqueued, slot: d.slot})
		l.enqueued++
	}
	l.rate.line.served = l.rate.line.served[:0]
}

// enqueueOnLine passes a datagram or a copy in the given slot to the line. It returns Queue if the packet was dropped
// at once; its slot is then free.
func (l *Link) enqueueOnLine(now time.Duration, slot int32) Cause {
	n := l.rate.line
	n.send(now, queue.Packet{ID: uint64(slot), Bytes: l.pool.packets[slot].lineBytes})
	for i, d := range n.served {
		if d.lost && d.slot == slot {
			n.served = slices.Delete(n.served, i, i+1)
			l.pool.free(slot)
			return Queue
		}
	}
	return None
}
