package relay

import (
	"container/heap"
	"time"

	"wirelab/lossmodel"
)

// A datagram's tag is its client's slot and its number in its direction.
const (
	seqBits = 48
	maxSeq  = 1<<seqBits - 1
)

// enter gives a datagram to its link, and sends what is due.
func (r *Relay) enter(c *client, way Way, data []byte, at time.Duration) {
	if r.closed {
		return
	}
	if len(data) > lossmodel.MaxDatagram { // IPv6 carries 20 bytes more
		r.totals.Oversize++
		return
	}
	r.now = max(r.now, at) // another goroutine may have been faster to the lock
	f, l := &r.totals.Flows[way], c.lanes[way]
	seq := f.In
	f.In++
	f.InBytes += uint64(len(data))
	f.Size.Add(time.Duration(len(data)))
	c.ways[way].In++
	c.ways[way].InBytes += uint64(len(data))
	cost := slotBytes + int64(len(data))
	if r.held+cost > r.options.MaxQueued {
		f.LostBy[lossmodel.Queue]++
		f.Overrun++
		c.ways[way].Lost++
		if len(r.taps) > 0 {
			r.tell(Event{Kind: overrun, At: r.now, Client: c.Client, Way: way, Seq: seq, Sent: r.now, Data: data, Lost: lossmodel.Queue})
		}
		return
	}
	v := l.link.Send(r.now, data, uint64(c.slot)<<seqBits|seq)
	n := r.book(f, &v)
	c.flying += n
	c.ways[way].Lost += uint64(1 + v.Copies - n)
	l.status.sent(r.now, &v)
	r.held += int64(n) * cost
	if len(r.taps) > 0 {
		r.tapEntered(c, l, seq, data, &v)
	}
	r.deliver(l)
	r.arm(l)
}

// book counts what a link decided, and returns how many deliveries there will be.
func (r *Relay) book(f *Flow, v *lossmodel.Verdict) (deliveries int) {
	f.Copies += uint64(v.Copies)
	one := func(lost lossmodel.Cause) {
		if lost == lossmodel.None {
			deliveries++
			return
		}
		f.LostBy[lost]++
	}
	one(v.Lost)
	for _, lost := range v.CopyLost[:v.Copies] {
		one(lost)
	}
	f.Queued += deliveries
	return deliveries
}

// deliver sends what is due on one lane.
func (r *Relay) deliver(l *lane) {
	if due, ok := l.link.Next(); !ok || due > r.now && due > r.clock() {
		return
	}
	f := &r.totals.Flows[l.way]
	left := max(r.now, r.clock())
	for d, ok := l.link.Receive(left); ok; d, ok = l.link.Receive(left) {
		c := r.slots[d.Tag>>seqBits]
		f.Queued--
		c.flying--
		r.held -= slotBytes + int64(len(d.Data))
		if d.Damaged { // a real receiver never sees it
			f.LostBy[lossmodel.Corrupt]++
			c.ways[l.way].Lost++
			l.status.damaged(&d)
			r.tapLeft(c, l, ended, &d, left, lossmodel.Corrupt)
			continue
		}
		if err := r.send(c, l.way, d.Data); err != nil {
			f.Unsent++
			r.tapLeft(c, l, unsent, &d, left, lossmodel.None)
		} else {
			f.Out++
			f.OutBytes += uint64(len(d.Data))
			wire, _ := lossmodel.WireBytes(len(d.Data), 1500)
			f.OutWire += uint64(wire)
			f.Late.Add(left - d.Due)
			f.Took.Add(left - d.Sent)
			f.Due.Add(d.Due - d.Sent)
			c.ways[l.way].left(&d, left)
			l.status.left(&d, left, wire)
			r.tapLeft(c, l, Left, &d, left, lossmodel.None)
		}
		left = r.clock()
	}
}

// send writes a datagram to whom it is for.
func (r *Relay) send(c *client, way Way, data []byte) error {
	if way == Down {
		if c.from == nil { // the cheaper call
			_, err := r.listen.WriteToUDPAddrPort(data, c.reply)
			return err
		}
		_, _, err := r.listen.WriteMsgUDPAddrPort(data, c.from, c.reply)
		return err
	}
	_, err := c.server.Write(data)
	if err != nil && gone(err) {
		r.totals.Flows[Up].Gone++
		_, err = c.server.Write(data) // the error was about one before it, and this one was not sent
	}
	return err
}

// arm puts a lane where it belongs among those that something is under way on, and sets the
// timer if nothing is due before it.
func (r *Relay) arm(l *lane) {
	due, ok := l.link.Next()
	r.due.put(l, due, ok)
	if ok && due < r.armed {
		r.armed = due
		r.timer.set(due - r.clock())
	}
}

// whenDue sends what is due whenever the timer goes off.
func (r *Relay) whenDue() {
	for r.timer.wait() && r.deliverAll() {
	}
}

// deliverAll sends what is due on all lanes; false when the relay ends.
func (r *Relay) deliverAll() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	for len(r.due) > 0 && r.due[0].due <= r.clock() {
		l := r.due[0]
		r.deliver(l)
		due, ok := l.link.Next()
		r.due.put(l, due, ok)
	}
	r.armed = never
	if len(r.due) > 0 {
		r.arm(r.due[0])
	}
	return true
}

// lane is one direction of a link.
type lane struct {
	way    Way
	link   *lossmodel.Link
	status LinkStatus
	line   lossmodel.Queued // as last measured
	due    time.Duration    // when its next delivery is, while it is in lanesDue
	place  int              // there; -1: nothing is under way
}

// lanesDue are the lanes on which something is under way, as a heap: a thousand clients must
// not be asked one by one whenever something is due for one of them.
type lanesDue []*lane

// put updates the place of a lane whose next delivery is due then; ok is false if it has none.
func (q *lanesDue) put(l *lane, due time.Duration, ok bool) {
	l.due = due
	switch {
	case ok && l.place < 0:
		heap.Push(q, l)
	case ok:
		heap.Fix(q, l.place)
	case l.place >= 0:
		heap.Remove(q, l.place)
	}
}

func (q *lanesDue) Len() int           { return len(*q) }
func (q *lanesDue) Less(i, j int) bool { return (*q)[i].due < (*q)[j].due }

func (q *lanesDue) Swap(i, j int) {
	s := *q
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

func (q *lanesDue) Push(x any) {
	l := x.(*lane)
	l.place = len(*q)
	*q = append(*q, l)
}

func (q *lanesDue) Pop() any {
	s := *q
	l := s[len(s)-1]
	l.place = -1
	*q = s[:len(s)-1]
	return l
}
