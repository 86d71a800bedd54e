package crowd

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/view"
	"wirelab/lossmodel"
)

// shardClients is the number of clients of a shard. It does not depend on the number of cores, so
// neither do results.
const shardClients = 512

// budgetShardClients is the number of clients of a shard if there is a budget: a client then takes
// hundreds of times as long.
const budgetShardClients = 64

// shard is a range of clients with their packets and acks in flight. One goroutine at a time works on
// it. Its slices have an element for each client, grouped by the code that uses them.
type shard struct {
	connections []connection
	keys        []uint16 // see paramsKey
	down        []lossmodel.Light
	counts      []counts
	departures  []time.Duration // when the current packet has passed the uplink of the server; dropped if it has not; nil without uplink
	receivers   []receiver
	up          []lossmodel.Light
	tenures     []tenure
	full        map[int]*fullLinks // of the clients that need them; they do not use down and up
	viewers     []*viewer          // nil without a budget
	histories   []history          // the newest packets of each client; nil unless Options.keepPackets is set

	// Packets and acks in flight on light links, by the slot in which they are due, see ring.
	packets ring[packet]
	acks    ring[ack]

	// Buffers of order, with indexes of packets + 1; 0 means none.
	last     [shardClients]int32 // the newest packet of each client so far
	previous []int32             // for each packet, the one before it of the same client

	usersByAge [frame.MaxHistory + 1]int32 // clients by the age of the baseline of their current packet
	lostBy     [lossmodel.NumCauses]int64
	ackBuffer  []byte          // of acks under a budget
	hash       uint64          // of the events so far, see addEvent
	timed      engine.CrowdCPU // of work on the shard

	// Under a budget:
	filler                   *view.Filler // nil without a budget
	encodeTimer, decodeTimer *meters.Stopwatch
	decodeErr                error
}

// packet is a packet in flight.
type packet struct {
	due     time.Duration
	seq     uint32
	client  uint16 // in the shard
	age     uint8  // of the baseline; 0 means the initial state
	verdict verdict
}

// ack is an ack in flight.
type ack struct {
	newest, mask uint32
	client       uint16 // in the shard
}

// ring contains what is in flight, by the slot in which it is due.
type ring[T any] struct {
	slots [][]T // by slot modulo the length, a power of two
	free  [][]T // memory of slots that are empty
}

// newRing returns a ring for n slots, a power of two.
func newRing[T any](n uint32) ring[T] { return ring[T]{slots: make([][]T, n)} }

// at returns the content of a slot, which is valid until keep is called.
func (r *ring[T]) at(slot uint32) *[]T { return &r.slots[slot&uint32(len(r.slots)-1)] }

func (r *ring[T]) add(slot uint32, x T) {
	list := r.at(slot)
	if n := len(r.free); *list == nil && n > 0 {
		*list, r.free = r.free[n-1], r.free[:n-1]
	}
	*list = append(*list, x)
}

// keep replaces the content of a slot by kept, a part of it.
func (r *ring[T]) keep(slot uint32, kept []T) {
	list := r.at(slot)
	if len(kept) == 0 && *list != nil {
		r.free = append(r.free, (*list)[:0])
		kept = nil
	}
	*list = kept
}

// grow lengthens the ring to n slots, a power of two. first is the first slot in which anything can be due.
func (r *ring[T]) grow(first, n uint32) {
	old := *r
	r.slots = make([][]T, n)
	for i := range uint32(len(old.slots)) {
		*r.at(first + i) = *old.at(first + i)
	}
}

// order sorts the packets of each client by the time at which they are due. It keeps the order of
// clients: a packet changes places only with packets of the same client. It is an insertion sort over
// the chain of a client's packets.
func (s *shard) order(list []packet) {
	clear(s.last[:])
	s.previous = s.previous[:0]
	for i := range list {
		client := list[i].client
		before := s.last[client]
		s.last[client] = int32(i) + 1
		s.previous = append(s.previous, before)
		for k := i; before > 0 && list[k].isBefore(&list[before-1]); before = s.previous[k] {
			list[k], list[before-1] = list[before-1], list[k]
			k = int(before - 1)
		}
	}
}

// isBefore reports whether p arrives before q.
func (p *packet) isBefore(q *packet) bool { return p.due < q.due || p.due == q.due && p.seq < q.seq }

// Outcomes of arrivals in the digest.
const (
	arrivedNewest = 'D'
	arrivedStale  = 'S'
	arrivedFailed = 'F'
)

// addEvent adds the arrival of packet seq at client i to the hash of the shard, with its outcome.
func (s *shard) addEvent(i int, seq uint32, outcome byte) {
	s.addHash(uint64(seq)<<32 | uint64(i)<<8 | uint64(outcome))
}

// addHash adds a number to the hash of the shard.
func (s *shard) addHash(v uint64) {
	s.hash = (s.hash ^ v) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	s.hash ^= s.hash >> 32
}

// countLoss counts copy number copyNumber of a packet, 0 for the packet itself, that was lost by the
// given cause. None counts nothing.
func (s *shard) countLoss(c *counts, copyNumber int, cause lossmodel.Cause) {
	if cause == lossmodel.None {
		return
	}
	s.lostBy[cause]++
	if copyNumber == 0 {
		c.n[lost]++
	}
}

// receive handles everything that is due in slot n: first the packets at the clients, whose acks may be
// due in the same slot, then the acks at the server, then the display ticks. Packets due after end are
// left in flight.
func (x *session) receive(s *shard, n uint32, end time.Duration) {
	start, decoded := x.clock.Now(), s.timed.Decode
	packets := s.packets.at(n)
	s.order(*packets)
	kept := (*packets)[:0]
	for _, p := range *packets {
		if p.due > end {
			kept = append(kept, p)
			continue
		}
		i := int(p.client)
		x.arrive(s, i, p.due, &p)
		if v := &s.receivers[i]; v.decoded.Any { // a receiver acks each packet, once it has decoded one
			s.counts[i].n[feedbackBytes] += int64(x.ackWire)
			if delay, cause := s.up[i].Send(x.ackFragments); cause == lossmodel.None {
				s.acks.add(x.slotOf(n, p.due+delay), ack{v.decoded.Newest, uint32(v.decoded.Mask), p.client})
			}
		}
	}
	s.packets.keep(n, kept)
	for i := range s.connections { // a map has no order
		if s.full == nil {
			break
		}
		if s.full[i] != nil {
			x.receiveFull(s, i, end)
		}
	}
	middle := x.clock.Now()
	for _, a := range *s.acks.at(n) {
		s.connections[a.client].readAck(a.newest, a.mask)
	}
	s.acks.keep(n, nil)
	last := x.clock.Now()
	x.tickDisplays(s)
	if s.viewers != nil && !x.ended {
		s.compareDisplays()
	}
	s.timed.Clients += middle - start + x.clock.Now() - last - (s.timed.Decode - decoded)
	s.timed.Server += last - middle
}

// arrive handles the arrival of p at client i of the shard at a time. It reports whether the client
// decoded it.
func (x *session) arrive(s *shard, i int, at time.Duration, p *packet) (decoded bool) {
	v, c := &s.receivers[i], &s.counts[i]
	if s.connections[i].isActive {
		for d := &v.display; int(d.ticked) < len(x.displayTicks) && x.displayTicks[d.ticked] < at; d.ticked++ {
			x.tickDisplay(v, c, x.displayTicks[d.ticked])
		}
	}
	if p.seq+1 < v.arrived {
		c.n[reordered]++
	}
	outcome, logged, result := byte(arrivedFailed), packetlog.Decoded, p.verdict
	if p.age > 0 && p.seq-uint32(p.age)+x.receiverHistory < v.decoded.Newest {
		result = unreferenced
	}
	isStale := v.decoded.Any && p.seq < v.decoded.Newest
	switch {
	case result == unreferenced:
		c.n[noBaseline]++
		logged = packetlog.NoBaseline
		v.arrived = max(v.arrived, p.seq+1)
	case result == refused:
		c.n[corrupt]++
		c.n[decodeRefused]++
		logged = packetlog.Corrupt
	case result == wrong:
		c.n[wrongFrames]++
		logged, decoded = packetlog.Wrong, true
	case isStale:
		c.n[stale]++
		outcome, logged, decoded = arrivedStale, packetlog.Stale, true
	default:
		c.n[accepted]++
		outcome, decoded = arrivedNewest, true
	}
	if decoded {
		v.arrived = max(v.arrived, p.seq+1)
		switch {
		case s.viewers != nil && isStale: // its rows are shown with the newest frame
		case p.seq+x.receiverHistory >= v.decoded.Newest: // an older frame is not stored, so it is not acked
			v.decoded.Add(p.seq)
		}
		source := x.sourceTime(p.seq)
		v.display.newestTime = max(v.display.newestTime, source)
		if v.display.clock.Arrive(at, source) > 0 {
			c.display.Late++
		}
	}
	s.addEvent(i, p.seq, outcome)
	s.logArrival(i, p.seq, at, logged)
	return decoded
}

// readAck handles an ack at the server; see ack.
func (t *connection) readAck(newest, mask uint32) {
	if !t.acked.Any || newest >= t.acked.Newest {
		t.epochAcked = true
	}
	t.acked.addAck(newest, mask)
}

// tickDisplays runs the display ticks of the slot that have not been run by arrive.
func (x *session) tickDisplays(s *shard) {
	for i := range s.receivers {
		v := &s.receivers[i]
		first := int(v.display.ticked)
		v.display.ticked = 0
		if v.arrived == 0 || !s.connections[i].isActive {
			continue
		}
		for _, at := range x.displayTicks[first:] {
			x.tickDisplay(v, &s.counts[i], at)
		}
	}
}

// choose chooses the encoding of packet n, which is sent at now, for each client, and counts the clients
// of each.
func (x *session) choose(s *shard, n uint32, now time.Duration) {
	start := x.clock.Now()
	clear(s.usersByAge[:])
	for i := range s.connections {
		t := &s.connections[i]
		if !t.isActive {
			s.keys[i] = noPacket
			continue
		}
		if s.viewers != nil {
			s.keys[i] = s.viewers[i].admit(now)
			continue
		}
		if t.acked.Any && n-t.acked.Newest > x.senderHistory {
			t.epochAcked = false // the client may have lost its state: send the parameters again
		}
		age := uint8(0)
		if !x.needsNoBaseline {
			age = x.baselines.choose(&t.acked, n)
		}
		s.usersByAge[age]++
		key := uint16(age)
		if !t.epochAcked {
			key |= paramsKey
		}
		s.keys[i] = key
	}
	s.timed.Server += x.clock.Now() - start
}

// encodingFor returns the encoding of the current packet to client i of the shard, and the form of the
// packet that the client gets. e is nil if no packet is sent to the client.
func (x *session) encodingFor(s *shard, i int) (e *encoding, f *form) {
	key := s.keys[i]
	switch {
	case key == noPacket:
		return nil, nil
	case s.viewers != nil:
		e = &s.viewers[i].encoding
	default:
		e = &x.encodings[x.encodingOf[uint8(key)]]
	}
	return e, &e.forms[key/paramsKey]
}

// send sends packet n to each client at now. First it does the work of the server, then that of the
// links, and measures the time of both.
func (x *session) send(s *shard, n uint32, now time.Duration) {
	start := x.clock.Now()
	for i := range s.counts {
		e, f := x.encodingFor(s, i)
		if e == nil { // no packet is sent to the client
			continue
		}
		c := &s.counts[i]
		if e.err != nil {
			c.n[encodeFailed]++
			s.keys[i] = noPacket
			continue
		}
		s.addHash(uint64(s.keys[i]))
		s.logSent(i, n, e, f)
		c.n[sent]++
		c.n[payloadBytes] += int64(len(e.payload))
		c.n[wireBytes] += int64(f.wire)
		if e.age > 0 {
			c.n[withBaseline]++
			c.n[baselineTicks] += int64(e.ageTicks)
		}
	}
	serverDone := x.clock.Now()
	for i := range s.down {
		if e, f := x.encodingFor(s, i); e != nil {
			x.transmit(s, i, n, now, e, f)
		}
	}
	s.timed.Server += serverDone - start
	s.timed.Clients += x.clock.Now() - serverDone
}

// transmit passes packet n with encoding e in form f to the downlink of client i of the shard, or counts
// its loss. The server sends at now; with an uplink, the packet leaves at s.departures[i] instead.
func (x *session) transmit(s *shard, i int, n uint32, now time.Duration, e *encoding, f *form) {
	if s.departures != nil {
		now = s.departures[i]
		if now == dropped {
			s.countLoss(&s.counts[i], 0, lossmodel.Queue)
			s.logLoss(i, n, lossmodel.Queue)
			return
		}
	}
	if s.viewers != nil {
		v := s.viewers[i]
		x.sendFull(s, i, now, n, v.datagram, uint64(n)|uint64(v.sum)<<32)
		return
	}
	p := packet{seq: n, client: uint16(i), age: e.age, verdict: e.verdict}
	if s.full != nil && s.full[i] != nil {
		x.sendFull(s, i, now, n, blank[:f.bytes], packTag(&p))
		return
	}
	delay, cause := s.down[i].Send(f.fragments)
	if cause != lossmodel.None {
		s.countLoss(&s.counts[i], 0, cause)
		s.logLoss(i, n, cause)
		return
	}
	p.due = now + delay
	s.packets.add(max(x.slotOf(n, p.due), n+1), p) // slot n has handled its arrivals
}

// slotOf returns the slot in which an event at due is handled: the first one that is not before due. due
// is at least the time of slot n-1.
func (x *session) slotOf(n uint32, due time.Duration) uint32 {
	now := x.timeOf(n)
	if due <= now {
		return n
	}
	slot := n + uint32(int64(due-now)*int64(x.cadence.RateHz)/int64(time.Second))
	for x.timeOf(slot) < due {
		slot++
	}
	return slot
}

// timeOf returns the time of slot n: the current one, or one in which something that is in flight may be due.
func (x *session) timeOf(n uint32) time.Duration { return x.times[n&uint32(len(x.times)-1)] }
