// Package queue implements the queue disciplines of a bottleneck: drop-tail, CoDel and FQ-CoDel, with the
// algorithms and constants of Linux's tc. All arithmetic is in integers and all time is virtual.
package queue

import (
	"cmp"
	"slices"
	"time"

	"wirelab/internal/policy"
	"wirelab/internal/ring"
)

// Packet is a packet in a queue.
type Packet struct {
	Owner   int           // flow that the packet belongs to: 0 for the link's datagrams, from 1 on for other traffic
	ID      uint64        // number that the owner gave it
	Bytes   int64         // size on the line
	Entered time.Duration // when the packet entered the queue
}

// length is the content of a queue.
type length struct {
	Packets int
	Bytes   int64
}

// add adds n packets, or removes them if n is negative, of the given total size.
func (l *length) add(n int, bytes int64) {
	l.Packets += n
	l.Bytes += bytes
}

// Limit is the largest content of a queue, the packet that is being sent included. 0 means no limit.
type Limit = length

// Sizes in bytes. In Linux both are the size of a full packet with its Ethernet header, 1514, which here a link counts
// only with rate_overhead=14. With that quantum a flow would send two packets of 1500 bytes in most turns.
const (
	mtu        = 1514 // backlog up to which CoDel drops nothing
	fullPacket = 1500 // quantum of FQ-CoDel
)

// Policies lists the queue disciplines.
var Policies = policy.Set{
	{Name: "droptail", Summary: "packets that do not fit are dropped"},
	{Name: "codel", Summary: "drops when packets have waited longer than target for an interval (RFC 8289)",
		Params: []policy.Param{target, interval}},
	{Name: "fq_codel", Summary: "a queue per flow, served in turns, each with CoDel (RFC 8290)",
		Params: []policy.Param{target, interval,
			policy.Count("quantum", fullPacket, 64, 1<<16, "bytes that a flow sends in one turn")}},
}

// Texts returns the policies with their default parameters.
func Texts() (texts []string) {
	for _, name := range Policies.Names() {
		texts = append(texts, Policies.Default(name).String())
	}
	return texts
}

// DropTail is the default discipline.
var DropTail = Policies.Default("droptail")

// target is the parameter for the acceptable standing queue.
var target = policy.Time("target", 5*time.Millisecond, 10*time.Microsecond, time.Second, "acceptable time in the queue")

// interval is the parameter for the time that CoDel waits before it drops.
var interval = policy.Time("interval", 100*time.Millisecond, time.Millisecond, 10*time.Second,
	"time above target before the first drop, about the largest usual round trip")

// discipline decides which packets are dropped and which one is sent next.
type discipline interface {
	// enqueue adds a packet, or drops it or others.
	enqueue(q *Queue, now time.Duration, p Packet)
	// dequeue removes the packet to be sent next; false if the discipline has no packets. It may drop others.
	dequeue(q *Queue, now time.Duration) (Packet, bool)
	// insert adds a packet without dropping any.
	insert(p Packet)
	// set sets the parameters and keeps the state.
	set(p policy.Policy)
	fifos() []*fifo // all packets of the discipline
	fork() discipline
}

// Queue is a queue before a line. Create one with New.
type Queue struct {
	Dropped []Packet // packets dropped by the last Enqueue or Dequeue

	limit      Limit
	policy     policy.Policy
	discipline discipline
	waiting    length
	sending    Packet   // the packet on the line; without Bytes if none
	owners     []length // content by owner, the packet on the line included
}

// New returns an empty drop-tail queue.
func New() *Queue { return &Queue{policy: DropTail, discipline: &dropTail{}} }

// Set changes the limit and the discipline. Packets in the queue stay there; a new discipline gets them in the
// order in which they entered.
func (q *Queue) Set(limit Limit, p policy.Policy) {
	q.limit = limit
	if p == q.policy {
		return
	}
	if p.Name() == q.policy.Name() {
		q.discipline.set(p)
	} else {
		waiting := q.packets()
		q.discipline = newDiscipline(p.Name())
		q.discipline.set(p)
		for _, x := range waiting {
			q.discipline.insert(x)
		}
	}
	q.policy = p
}

func newDiscipline(name string) discipline {
	switch name {
	case "codel":
		return &codelQueue{}
	case "fq_codel":
		return &fqCodel{}
	}
	return &dropTail{}
}

// packets returns the waiting packets in the order in which they entered.
func (q *Queue) packets() []Packet {
	var list []Packet
	for _, f := range q.discipline.fifos() {
		for n := f.First(); n < f.Next(); n++ {
			list = append(list, *f.At(n))
		}
	}
	slices.SortStableFunc(list, func(a, b Packet) int { return cmp.Compare(a.Entered, b.Entered) })
	return list
}

// Insert adds a packet without a limit.
func (q *Queue) Insert(p Packet) {
	q.count(p, 1)
	q.discipline.insert(p)
}

// Enqueue passes a packet that arrives at now to the discipline. Dropped packets, also the one that arrived, are
// in q.Dropped.
func (q *Queue) Enqueue(now time.Duration, p Packet) {
	q.Dropped = q.Dropped[:0]
	p.Entered = now
	q.count(p, 1)
	q.discipline.enqueue(q, now, p)
}

// Dequeue removes the packet that is sent next and puts it on the line; false if the queue is empty.
func (q *Queue) Dequeue(now time.Duration) (Packet, bool) {
	q.Dropped = q.Dropped[:0]
	p, ok := q.discipline.dequeue(q, now)
	if ok {
		q.Sending(p)
	}
	return p, ok
}

// Sending puts a packet on the line. It counts as content of the queue until Sent.
func (q *Queue) Sending(p Packet) {
	q.waiting.add(-1, -p.Bytes)
	q.sending = p
}

// Sent ends the sending of the packet on the line.
func (q *Queue) Sent() {
	q.owners[q.sending.Owner].add(-1, -q.sending.Bytes)
	q.sending = Packet{}
}

// count adds p to the content, or removes it: n is 1 or -1.
func (q *Queue) count(p Packet, n int) {
	for p.Owner >= len(q.owners) {
		q.owners = append(q.owners, length{})
	}
	q.owners[p.Owner].add(n, int64(n)*p.Bytes)
	q.waiting.add(n, int64(n)*p.Bytes)
}

// drop records that a packet, which was counted, was dropped.
func (q *Queue) drop(p Packet) {
	q.count(p, -1)
	q.Dropped = append(q.Dropped, p)
}

// full reports whether the content exceeds the limit.
func (q *Queue) full() bool {
	n := q.Len()
	return q.limit.Bytes > 0 && n.Bytes > q.limit.Bytes || q.limit.Packets > 0 && n.Packets > q.limit.Packets
}

// Len returns the content, the packet on the line included.
func (q *Queue) Len() length {
	n := q.waiting
	if q.sending.Bytes > 0 {
		n.add(1, q.sending.Bytes)
	}
	return n
}

// Owned returns the part of the content that belongs to an owner.
func (q *Queue) Owned(owner int) length {
	if owner >= len(q.owners) {
		return length{}
	}
	return q.owners[owner]
}

// Fork returns a copy with the same state.
func (q *Queue) Fork() *Queue {
	c := *q
	c.Dropped, c.owners, c.discipline = nil, slices.Clone(q.owners), q.discipline.fork()
	return &c
}

// fifo is a queue that drops nothing.
type fifo struct{ ring.Queue[Packet] }

// insert adds a packet.
func (f *fifo) insert(p Packet) { *f.Push() = p }

// pop removes the oldest packet; false if the queue is empty.
func (f *fifo) pop() (Packet, bool) {
	if f.Len() == 0 {
		return Packet{}, false
	}
	p := *f.At(f.First())
	f.Pop()
	return p, true
}

// fifos implements discipline for disciplines with one queue.
func (f *fifo) fifos() []*fifo { return []*fifo{f} }

// clone returns a copy that shares no memory.
func (f *fifo) clone() fifo { return fifo{f.Clone()} }

// dropTail drops packets that do not fit.
type dropTail struct{ fifo }

func (d *dropTail) enqueue(q *Queue, _ time.Duration, p Packet) {
	if q.full() {
		q.drop(p)
		return
	}
	d.insert(p)
}

func (d *dropTail) dequeue(*Queue, time.Duration) (Packet, bool) { return d.pop() }
func (d *dropTail) set(policy.Policy)                            {}
func (d *dropTail) fork() discipline                             { return &dropTail{d.clone()} }
