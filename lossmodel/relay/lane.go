package relay

import (
	"container/heap"
	"time"

	"wirelab/lossmodel"
)

// The tag of a datagram contains the client's slot in the upper 16 bits and the number of the
// datagram in its direction in the lower 48.
const (
	tagSeqBits = 48
	tagSeqMask = 1<<tagSeqBits - 1
)

// sendToLink passes a datagram that was read at the given time to its link, counts and reports the
// link's decision, and forwards what is due. A datagram that would exceed Options.MaxQueued is
// dropped and counts as lost by the queue. The lock must be held.
func (r *Relay) sendToLink(c *client, direction Direction, data []byte, at time.Duration) {
	if r.closed {
		return
	}
	if len(data) > lossmodel.MaxDatagram { // IPv6 allows 20 bytes more than IPv4
		r.totals.Oversize++
		return
	}
	r.virtualNow = max(r.virtualNow, at) // another goroutine may have taken the lock earlier with a later time
	flow, l := &r.totals.Flows[direction], c.lanes[direction]
	seq := flow.In
	flow.In++
	flow.InBytes += uint64(len(data))
	flow.Size.Add(time.Duration(len(data))) // 1 ns stands for 1 byte
	c.tallies[direction].In++
	c.tallies[direction].InBytes += uint64(len(data))
	cost := datagramOverhead + int64(len(data)) // counted against Options.MaxQueued
	if r.bytesInFlight+cost > r.options.MaxQueued {
		flow.LostBy[lossmodel.Queue]++
		flow.OverLimit++
		c.tallies[direction].Lost++
		if len(r.taps) > 0 {
			r.emit(Event{Kind: overLimit, At: r.virtualNow, Client: c.Client, Way: direction, Seq: seq,
				Sent: r.virtualNow, Data: data, Lost: lossmodel.Queue})
		}
		return
	}
	v := l.link.Send(r.virtualNow, data, uint64(c.slot)<<tagSeqBits|seq)
	deliveries := r.countVerdict(flow, &v)
	c.inFlight += deliveries
	c.tallies[direction].Lost += uint64(1 + v.Copies - deliveries) // the datagram and its copies without a delivery
	l.status.countEntered(r.virtualNow, &v)
	r.bytesInFlight += int64(deliveries) * cost
	if len(r.taps) > 0 {
		r.emitEntered(c, l, seq, data, &v)
	}
	r.deliverDue(l)
	r.schedule(l)
}

// countVerdict counts the decision of a link about a datagram and its copies in flow. It returns how
// many of them will be delivered.
func (r *Relay) countVerdict(flow *Flow, v *lossmodel.Verdict) (deliveries int) {
	flow.Copies += uint64(v.Copies)
	countOne := func(lost lossmodel.Cause) {
		if lost == lossmodel.None {
			deliveries++
			return
		}
		flow.LostBy[lost]++
	}
	countOne(v.Lost)
	for _, lost := range v.CopyLost[:v.Copies] {
		countOne(lost)
	}
	flow.Queued += deliveries
	return deliveries
}

// deliverDue forwards the datagrams of a lane that are due, counts them, and reports them to the
// taps. Damaged datagrams are forwarded as they are. The lock must be held.
func (r *Relay) deliverDue(l *lane) {
	// The clock is read only if the datagram is not due by virtualNow already.
	if due, ok := l.link.Next(); !ok || due > r.virtualNow && due > r.now() {
		return
	}
	flow := &r.totals.Flows[l.direction]
	sentAt := max(r.virtualNow, r.now())
	for d, ok := l.link.Receive(sentAt); ok; d, ok = l.link.Receive(sentAt) {
		c := r.slots[d.Tag>>tagSeqBits]
		flow.Queued--
		c.inFlight--
		r.bytesInFlight -= datagramOverhead + int64(len(d.Data))
		if d.Lost != lossmodel.None { // the queue dropped it after it had entered
			flow.LostBy[d.Lost]++
			c.tallies[l.direction].Lost++
			l.status.countDropped(&d)
			r.emitDone(c, l, dropped, &d, sentAt, d.Lost)
			continue
		}
		if err := r.send(c, l.direction, d.Data); err != nil {
			flow.Unsent++
			r.emitDone(c, l, unsent, &d, sentAt, lossmodel.None)
		} else {
			flow.Out++
			flow.OutBytes += uint64(len(d.Data))
			if d.Flipped > 0 {
				flow.Damaged++
			}
			wire, _ := lossmodel.WireBytes(len(d.Data), defaultMTU)
			flow.OutWire += uint64(wire)
			flow.Lateness.Add(sentAt - d.Due)
			flow.Delay.Add(sentAt - d.Sent)
			flow.LinkDelay.Add(d.Due - d.Sent)
			c.tallies[l.direction].countSent(&d, sentAt)
			l.status.countSent(&d, sentAt, wire)
			r.emitDone(c, l, Left, &d, sentAt, lossmodel.None)
		}
		sentAt = r.now()
	}
}

// defaultMTU is the MTU in bytes with which sizes on the wire are counted.
const defaultMTU = 1500

// send writes a datagram to the server (Up) or to the client (Down). After an ICMP error about an
// earlier datagram it writes once more.
func (r *Relay) send(c *client, direction Direction, data []byte) error {
	if direction == Down {
		if c.oob == nil { // WriteToUDPAddrPort is faster
			_, err := r.listen.WriteToUDPAddrPort(data, c.replyTo)
			return err
		}
		_, _, err := r.listen.WriteMsgUDPAddrPort(data, c.oob, c.replyTo)
		return err
	}
	_, err := c.server.Write(data)
	if err != nil && isSingleDatagramError(err) {
		r.totals.Flows[Up].Unreachable++
		_, err = c.server.Write(data) // the error concerned an earlier datagram, and this one was not sent
	}
	return err
}

// schedule updates the position of a lane in the heap of due lanes. If the lane is due before the
// timer fires, the timer is set to that time.
func (r *Relay) schedule(l *lane) {
	due, ok := l.link.Next()
	r.dueLanes.update(l, due, ok)
	if ok && due < r.timerDue {
		r.timerDue = due
		r.timer.reset(due - r.now())
	}
}

// deliverOnTimer forwards due datagrams whenever the timer fires, until the relay ends.
func (r *Relay) deliverOnTimer() {
	for r.timer.wait() && r.deliverAll() {
	}
}

// deliverAll forwards due datagrams of all lanes and sets the timer for the next one. It returns
// false when the relay has ended.
func (r *Relay) deliverAll() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	for len(r.dueLanes) > 0 && r.dueLanes[0].nextDue <= r.now() {
		l := r.dueLanes[0]
		r.deliverDue(l)
		due, ok := l.link.Next()
		r.dueLanes.update(l, due, ok)
	}
	r.timerDue = noDeadline // the timer has fired; schedule sets it again
	if len(r.dueLanes) > 0 {
		r.schedule(r.dueLanes[0])
	}
	return true
}

// lane is one direction of the links of a client, or of all clients.
type lane struct {
	direction Direction
	link      *lossmodel.Link
	spec      *lossmodel.Spec // of status; a copy, because events refer to it
	status    LinkStatus
	queued    lossmodel.QueueLength // queue before the line, as last measured
	nextDue   time.Duration         // time of the next delivery; valid while the lane is in the heap
	heapIndex int                   // -1 if the lane has no datagram in flight
}

// laneHeap is a heap of the lanes with datagrams in flight, by due time. With a thousand clients
// a linear search at each delivery would be too slow.
type laneHeap []*lane

// update inserts, moves or removes a lane. due is the time of its next delivery; ok is false if
// it has none.
func (q *laneHeap) update(l *lane, due time.Duration, ok bool) {
	l.nextDue = due
	switch {
	case ok && l.heapIndex < 0:
		heap.Push(q, l)
	case ok:
		heap.Fix(q, l.heapIndex)
	case l.heapIndex >= 0:
		heap.Remove(q, l.heapIndex)
	}
}

// Len, Less, Swap, Push and Pop implement heap.Interface. The last three keep lane.heapIndex up to
// date.
func (q *laneHeap) Len() int           { return len(*q) }
func (q *laneHeap) Less(i, j int) bool { return (*q)[i].nextDue < (*q)[j].nextDue }

func (q *laneHeap) Swap(i, j int) {
	s := *q
	s[i], s[j] = s[j], s[i]
	s[i].heapIndex, s[j].heapIndex = i, j
}

func (q *laneHeap) Push(x any) {
	l := x.(*lane)
	l.heapIndex = len(*q)
	*q = append(*q, l)
}

func (q *laneHeap) Pop() any {
	s := *q
	l := s[len(s)-1]
	l.heapIndex = -1
	*q = s[:len(s)-1]
	return l
}
