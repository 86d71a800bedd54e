package crowd

import (
	"math"
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
// hundreds of times as long. They share a filler.
const budgetShardClients = 128

const _ = uint(view.MaxServers - budgetShardClients) // does not compile if a filler cannot have so many

// shard is a range of clients with their packets and acks in flight. One goroutine at a time works on it.
type shard struct {
	connections []connection
	counts      []counts   // of each client; apart from clients, because the server counts in every tick
	receivers   []receiver // apart from clients, because all displays tick in every slot
	clients     []client
	histories   []history // the newest packets of each client; nil unless Options.isLive is set
	full        int       // clients with full links

	// Packets and acks in flight on light links, by the slot in which they are due, see ring.
	packets ring[packet]
	acks    ring[ack]

	// Buffers of order, with indexes of packets + 1; 0 means none.
	last     [shardClients]int32 // the newest packet of each client so far
	previous []int32             // for each packet, the one before it of the same client

	usersByAge [frame.MaxHistory + 1]int32 // clients by the age of the baseline of their current packet
	lostBy     [lossmodel.NumCauses]int64
	hash       uint64          // of the events so far, see countArrival
	timed      engine.CrowdCPU // of work on the shard

	// Under a budget:
	filler                   *view.Filler // nil without a budget
	encodeTimer, decodeTimer *meters.Stopwatch
	decodeErr                error
	ackBuffer                []byte
}

// packet is a packet in flight.
type packet struct {
	due     time.Duration
	seq     uint32
	client  uint16            // in the shard
	age     uint8             // of the baseline; 0 means the initial state
	outcome packetlog.Outcome // of decoding it, at a client that has the baseline
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
		*list = r.free[n-1]
		r.free = r.free[:n-1]
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

// addHash adds a number to the hash of the shard.
func (s *shard) addHash(v uint64) {
	s.hash = (s.hash ^ v) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	s.hash ^= s.hash >> 32
}

// countArrival counts the arrival of packet seq at client i of the shard, and adds it to the digest.
func (s *shard) countArrival(i int, seq uint32, at time.Duration, outcome packetlog.Outcome) {
	s.counts[i].outcomes[outcome]++
	s.settle(i, seq, at, outcome, lossmodel.None)
	code := uint64('F')
	switch outcome {
	case packetlog.Decoded:
		code = 'D'
	case packetlog.Stale, packetlog.Duplicate:
		code = 'S'
	}
	s.addHash(uint64(seq)<<32 | uint64(i)<<8 | code)
}

// countLoss counts copy number copyNumber of packet seq of client i, 0 for the packet itself, that was
// lost by the given cause. None counts nothing.
func (s *shard) countLoss(i int, seq uint32, copyNumber int, cause lossmodel.Cause) {
	if cause == lossmodel.None {
		return
	}
	s.lostBy[cause]++
	if copyNumber == 0 {
		s.counts[i].outcomes[packetlog.Lost]++
		s.settle(i, seq, 0, packetlog.Lost, cause)
	}
}

// receive handles everything that is due in slot n: first the packets at the clients, whose acks may be
// due in the same slot, then the acks at the server, then full links and the display ticks. Packets due
// after end are left in flight.
func (x *session) receive(s *shard, n uint32, end time.Duration) {
	l, decoded := x.startLaps(), s.timed.Decode
	packets := s.packets.at(n)
	s.order(*packets)
	kept := (*packets)[:0]
	for _, p := range *packets {
		if p.due > end {
			kept = append(kept, p)
			continue
		}
		x.arrive(s, int(p.client), p.due, &p)
		r := &s.receivers[p.client]
		if !r.decoded.Any { // a receiver acks each packet, once it has decoded one
			continue
		}
		s.counts[p.client].n[feedbackBytes] += int64(x.ackWire)
		if delay, cause := s.clients[p.client].up.Send(x.ackFragments); cause == lossmodel.None {
			s.acks.add(x.slotOf(n, p.due+delay), ack{r.decoded.Newest, uint32(r.decoded.Mask), p.client})
		}
	}
	s.packets.keep(n, kept)
	l.end(&s.timed.Clients)
	for _, a := range *s.acks.at(n) {
		s.connections[a.client].readAck(a.newest, a.mask)
	}
	s.acks.keep(n, nil)
	l.end(&s.timed.Server)
	for i := range s.receivers {
		r := &s.receivers[i]
		if s.full > 0 && s.clients[i].full != nil { // without full links the field is not read, which saves a cache line
			x.receiveFull(s, i, end)
		}
		if s.connections[i].isActive && r.arrived > 0 {
			x.tickDisplay(r, &s.counts[i], math.MaxInt64)
			if x.views != nil && r.decoded.Any && !x.ended { // a client that has decoded no packet shows nothing
				c := &s.clients[i]
				c.viewer.meter.Compare(c.viewer.receiver.View())
			}
		}
		r.display.ticked = 0
	}
	l.end(&s.timed.Clients)
	s.timed.Clients -= s.timed.Decode - decoded
}

// arrive handles the arrival of p at client i of the shard at a time, unless it is a duplicate.
func (x *session) arrive(s *shard, i int, at time.Duration, p *packet) {
	r, m := &s.receivers[i], &s.counts[i]
	if s.connections[i].isActive {
		x.tickDisplay(r, m, at)
	}
	if p.seq+1 < r.arrived {
		m.n[reordered]++
	}
	isNewest := !r.decoded.Any || p.seq >= r.decoded.Newest
	outcome := p.outcome
	switch {
	case p.age > 0 && p.seq-uint32(p.age)+x.receiverHistory < r.decoded.Newest:
		outcome = packetlog.NoBaseline
	case outcome == packetlog.Corrupt:
		m.n[decodeRefused]++
	case outcome == packetlog.Decoded && !isNewest:
		outcome = packetlog.Stale
	}
	if outcome != packetlog.Corrupt {
		r.arrived = max(r.arrived, p.seq+1)
	}
	if outcome.Stored() {
		// An older frame is not stored, so it is not acked; under a budget its rows are shown with the newest frame.
		if isNewest || x.views == nil && p.seq+x.receiverHistory >= r.decoded.Newest {
			r.decoded.Add(p.seq)
		}
		if s.full > 0 && s.clients[i].full != nil {
			s.clients[i].full.seen.Add(uint64(p.seq))
		}
		source := x.sourceTime(p.seq)
		r.display.newestTime = max(r.display.newestTime, source)
		if r.display.clock.Arrive(at, source) > 0 {
			m.display.Late++
		}
	}
	s.countArrival(i, p.seq, at, outcome)
}

// readAck handles an ack at the server; see ack.
func (t *connection) readAck(newest, mask uint32) {
	if !t.acked.Any || newest >= t.acked.Newest {
		t.epochAcked = true
	}
	t.acked.addAck(newest, mask)
}

// choose chooses the encoding of packet n, which is sent at now, for each client, and counts the clients
// of each. Without sends no packet is sent.
func (x *session) choose(s *shard, n uint32, now time.Duration, sends bool) {
	if !sends {
		for i := range s.clients {
			if v := s.clients[i].viewer; v != nil {
				v.sender.Skip()
			}
		}
		return
	}
	l := x.startLaps()
	clear(s.usersByAge[:])
	isStandalone := x.workers[0].encoder.Codec.Standalone // it encodes frames without a baseline
	for i := range s.connections {
		t := &s.connections[i]
		switch {
		case !t.isActive:
			t.key = noPacket
			continue
		case x.views != nil:
			t.key = s.clients[i].viewer.admit(now)
			continue
		case t.acked.Any && n-t.acked.Newest > x.senderHistory:
			t.epochAcked = false // the client may have lost its state: send the parameters again
		}
		t.key = 0
		if !isStandalone {
			t.key = uint16(x.baselines.choose(&t.acked, n))
		}
		s.usersByAge[t.key]++
		if !t.epochAcked {
			t.key |= paramsKey
		}
	}
	l.end(&s.timed.Server)
}

// encodingFor returns the encoding of the current packet to client i of the shard, and the form of the
// packet that the client gets. e is nil if no packet is sent to the client.
func (x *session) encodingFor(s *shard, i int) (e *encoding, f *form) {
	key := s.connections[i].key
	switch {
	case key == noPacket:
		return nil, nil
	case x.views != nil:
		e = &s.clients[i].viewer.encoding
	default:
		e = &x.encodings[x.encodingOf[uint8(key)]]
	}
	return e, &e.forms[key/paramsKey]
}

// send sends packet n to each client at now. First it does the work of the server, then that of the
// links, and measures the time of both.
func (x *session) send(s *shard, n uint32, now time.Duration) {
	l := x.startLaps()
	for i := range s.clients {
		e, f := x.encodingFor(s, i)
		if e == nil {
			continue
		}
		m, t := &s.counts[i], &s.connections[i]
		if e.err != nil {
			m.n[encodeFailed]++
			t.key = noPacket
			continue
		}
		s.addHash(uint64(t.key))
		if x.isLive {
			s.histories[i].add(n, e, f)
		}
		m.n[sent]++
		m.n[payloadBytes] += int64(len(e.payload))
		m.n[wireBytes] += int64(f.wire)
		if e.age > 0 {
			m.n[withBaseline]++
			m.n[baselineTicks] += int64(e.ageTicks)
		}
	}
	l.end(&s.timed.Server)
	for i := range s.clients {
		if e, f := x.encodingFor(s, i); e != nil {
			x.transmit(s, i, n, now, e, f)
		}
	}
	l.end(&s.timed.Clients)
}

// transmit passes packet n with encoding e in form f to the downlink of client i of the shard, or counts
// its loss. The server sends at now; with an uplink, the packet leaves at client.departure instead.
func (x *session) transmit(s *shard, i int, n uint32, now time.Duration, e *encoding, f *form) {
	c := &s.clients[i]
	if x.uplink.BitsPerSecond > 0 {
		now = c.departure
	}
	p := packet{seq: n, client: uint16(i), age: e.age, outcome: e.outcome}
	switch {
	case now == dropped:
		s.countLoss(i, n, 0, lossmodel.Queue)
	case x.views != nil:
		x.sendFull(s, i, now, c.viewer.datagram, uint64(n)|uint64(c.viewer.sum)<<32)
	case s.full > 0 && c.full != nil:
		x.sendFull(s, i, now, blank[:f.bytes], p.tag())
	default:
		delay, cause := c.down.Send(f.fragments)
		if cause != lossmodel.None {
			s.countLoss(i, n, 0, cause)
			return
		}
		p.due = now + delay
		s.packets.add(max(x.slotOf(n, p.due), n+1), p) // slot n has handled its arrivals
	}
}
