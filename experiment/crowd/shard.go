package crowd

import (
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// shardClients is the number of clients of a shard. It does not depend on the number of cores, so neither do results.
const shardClients = 512

// shard is a range of clients with their packets and acks in flight. One goroutine at a time works on it.
type shard struct {
	clients []client
	// Packets and acks in flight, by the slot in which they are due, see ring.
	packets ring[packet]
	acks    ring[ack]

	last     [shardClients]int32 // of order
	previous []int32             // of order

	keys   [maxKeys]int32 // clients by the key of their encoding of the current packet
	events []byte         // part of the digest, see digest
	// history contains the newest packets of each client for a Live; nil in other runs.
	history []history
	timed   struct{ server, clients int64 }
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

// add adds x to a slot.
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

// order sorts the packets of each client by the time at which they are due. It keeps the order of clients: a packet
// changes places only with packets of the same client. It is an insertion sort over the chain of a client's packets.
func (s *shard) order(list []packet) {
	clear(s.last[:]) // 1 + index of the client's newest packet so far; 0 if none
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

// outcomes, for the digest.
const (
	arrivedNewest = 'D'
	arrivedStale  = 'S'
	arrivedFailed = 'F'
)

// receive handles everything that is due in slot n: first the packets at the clients, whose acks may be due in the
// same slot, then the acks at the server. Packets due after end are left in flight.
func (r *run) receive(s *shard, n uint32, end time.Duration) {
	start := r.clock.Now()
	packets := s.packets.at(n)
	s.order(*packets)
	kept := (*packets)[:0]
	for _, p := range *packets {
		if p.due <= end {
			r.arrive(s, n, &p)
		} else {
			kept = append(kept, p)
		}
	}
	s.packets.keep(n, kept)
	middle := r.clock.Now()
	for _, a := range *s.acks.at(n) {
		c := &s.clients[a.client]
		if !c.acked.any || a.newest >= c.acked.newest {
			c.epochAcked = true
		}
		c.acked.addAck(a.newest, a.mask)
	}
	s.acks.keep(n, nil)
	s.timed.clients += middle - start
	s.timed.server += r.clock.Now() - middle
}

// arrive handles the arrival of p in slot n: its client decodes it and sends an ack.
func (r *run) arrive(s *shard, n uint32, p *packet) {
	c := &s.clients[p.client]
	outcome, logged := byte(arrivedFailed), packetlog.Decoded
	switch isStale := c.decoded.any && p.seq < c.decoded.newest; {
	case p.age > 0 && c.decoded.newest-(p.seq-uint32(p.age)) > r.receiverHistory:
		c.noBaseline++
		logged = packetlog.NoBaseline
	case p.verdict == refused:
		c.corrupt++
		logged = packetlog.Corrupt
	case p.verdict == wrong:
		c.wrong++
		logged = packetlog.Wrong
		c.decoded.add(p.seq)
	case isStale:
		c.stale++
		outcome, logged = arrivedStale, packetlog.Stale
		c.decoded.add(p.seq)
	default:
		c.counts.decoded++
		outcome = arrivedNewest
		c.decoded.add(p.seq)
	}
	if c.decoded.any {
		r.sendAck(s, c, n, p)
	}
	if s.history != nil {
		s.arrived(p, r.cadence.SeqTime(uint64(p.seq)), logged)
	}
	s.events = append(s.events, byte(p.client), byte(p.client>>8), byte(p.seq), byte(p.seq>>8), byte(p.seq>>16), byte(p.seq>>24), outcome)
}

// sendAck sends an ack of the packets that c has decoded, as a receiver does after each packet.
func (r *run) sendAck(s *shard, c *client, n uint32, p *packet) {
	wire, fragments := r.ackWire, r.ackFragments
	c.feedbackBytes += uint64(wire)
	delay, lost := c.up.Send(fragments)
	if lost == lossmodel.None {
		s.acks.add(r.slotOf(n, p.due+delay), ack{c.decoded.newest, uint32(c.decoded.mask), p.client})
	}
}

// choose chooses the encoding of packet n for each client, and counts the clients of each.
func (r *run) choose(s *shard, n uint32) {
	start := r.clock.Now()
	clear(s.keys[:])
	for i := range s.clients {
		c := &s.clients[i]
		if c.acked.any && n-c.acked.newest > r.senderHistory {
			c.epochAcked = false // the client may have lost its state: send the parameters again
		}
		if c.key = 0; !r.standalone {
			c.key = r.baselines.choose(c, n)
		}
		s.keys[c.key]++
	}
	s.timed.server += r.clock.Now() - start
}

// send sends packet n to each client at now.
func (r *run) send(s *shard, n uint32, now time.Duration) {
	start := r.clock.Now()
	for i := range s.clients {
		c := &s.clients[i]
		e := &r.encodings[r.encodingOf[c.key]]
		if e.err != nil {
			c.encodeFailed++
			continue
		}
		params := 1
		if c.epochAcked {
			params = 0
		}
		s.events = append(s.events, byte(c.key), byte(c.key>>8), byte(params))
		c.sent++
		c.payloadBytes += uint64(len(e.payload))
		c.wireBytes += uint64(e.wire[params])
		age := c.key &^ withMemo
		if age > 0 {
			c.withBaseline++
			c.ageSum += uint64(age)
		}
		delay, lost := c.down.Send(e.pieces[params])
		if i < len(s.history) {
			s.history[i][n%historyPackets] = sentPacket{seq: n, key: c.key, outcome: outcomeOf(lost), cause: lost, params: uint8(params), valid: true}
		}
		switch lost {
		case lossmodel.None:
			slot := max(r.slotOf(n, now+delay), n+1) // slot n has handled its arrivals
			s.packets.add(slot, packet{now + delay, n, uint16(i), uint8(age), e.verdict})
		case lossmodel.Fragment:
			c.fragmentLost++
		default:
			c.lost++
		}
	}
	s.timed.server += r.clock.Now() - start
}

// outcomeOf returns the outcome of a packet just after it was sent.
func outcomeOf(lost lossmodel.Cause) packetlog.Outcome {
	if lost == lossmodel.None {
		return packetlog.InFlight
	}
	return packetlog.Lost
}

// slotOf returns the slot in which an event at due is handled: the first one that is not before due. due is at least
// the time of slot n-1.
func (r *run) slotOf(n uint32, due time.Duration) uint32 {
	now := r.timeOf(n)
	if due <= now {
		return n
	}
	slot := n + uint32(int64(due-now)*int64(r.cadence.RateHz)/int64(time.Second))
	for r.timeOf(slot) < due {
		slot++
	}
	return slot
}

// timeOf returns the time of slot n: the current one, or one in which something that is in flight may be due.
func (r *run) timeOf(n uint32) time.Duration { return r.times[n&uint32(len(r.times)-1)] }
