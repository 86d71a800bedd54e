package engine

import (
	"fmt"
	"math"
	"time"

	"wirelab/experiment/container"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/policy"
	"wirelab/internal/ring"
	"wirelab/lossmodel"
)

// carrier puts the packets of a lane into containers, which add redundancy. The outcomes remain those of
// packets: a packet whose datagram is lost or damaged stays in flight until it is repaired, or until no
// datagram that could repair it is left. A copy that the link makes of a datagram is a copy of the packet
// in it. Parities are not packets.
//
// A lane has a carrier from when sender.redundancy is set, also to "none", which sends packets without
// containers.
type carrier struct {
	snd      *container.Sender
	rcv      container.Receiver
	meter    meters.Redundancy
	extra    *packetlog.Log   // the newest datagrams without a packet; nil before the first
	extraRec packetlog.Record // the newest of these; a field, so that passing its address allocates nothing

	firstNumber uint64                    // number of the first container of this lane
	sent        ring.Queue[sentContainer] // container n is item n-firstNumber
	sets        ring.Queue[repairSet]     // closed sets leave in order
	firstSet    uint64                    // number of the first set with the present redundancy
}

// containerTag marks the tags of containers on the link. The other bits are the container's number.
const containerTag = 1 << 63

// sentContainer is the lab's record of a container.
type sentContainer struct {
	flight    uint64 // tag of the flight of its packet, if hasPacket
	seq       uint64 // sequence number of that packet
	hasPacket bool
	inFlight  int           // copies of the datagram that have yet to arrive
	leftAt    time.Duration // latest time at which it entered the real network, if any
	// It belongs to the sets with the numbers from firstSet up to, not including, endSet.
	firstSet, endSet uint64
}

// noFlight is the tag of no flight.
const noFlight = math.MaxUint64

// repairSet is a set of datagrams that may repair some packets: the containers that have one packet, or
// those of a group. It is closed when all its datagrams have arrived or are lost.
type repairSet struct {
	unsent   int // datagrams that are to be sent
	inFlight int // copies of datagrams that have yet to arrive
	packets  [container.MaxData]protected
	count    int    // of packets
	isGroup  bool   // otherwise of a repeated packet
	group    uint64 // number
	complete bool   // the group has all packets
	closed   bool
}

// protected is a packet of a repairSet.
type protected struct {
	number uint64 // of its container
	flight uint64 // tag
}

// setRedundancy sets the policy of redundancy; the zero Policy means off. Packets that can no longer be
// repaired get their outcome. A lane that had redundancy keeps its figures when it is switched off.
func (l *lane) setRedundancy(now time.Duration, p policy.Policy) {
	isOff := p == policy.Policy{}
	if isOff && (l.carrier == nil || !l.carrier.hasRedundancy()) {
		return
	}
	if isOff {
		p = container.Redundancies.Default("none")
	}
	if l.carrier == nil {
		l.carrier = &carrier{snd: container.NewSender()}
	}
	c := l.carrier
	if p == c.snd.Redundancy() {
		return
	}
	c.snd.SetRedundancy(p)
	c.firstSet = c.sets.Next()
	for n := c.sets.First(); n < c.sets.Next(); n++ {
		if s := c.sets.At(n); !s.complete {
			s.unsent = 0
			l.closeIfDone(now, s)
		}
	}
}

// hasRedundancy reports whether redundancy was set, also to "none".
func (c *carrier) hasRedundancy() bool { return c.snd.Redundancy() != policy.Policy{} }

// follow makes the carrier of a lane that joins send its containers at the same times as that of the first
// lane.
func (c *carrier) follow(first *carrier) {
	c.snd.Follow(first.snd)
	c.firstNumber = c.snd.Next()
}

// sendPacket sends the packet of a flight on the downlink, in a container if the lane has redundancy.
func (l *lane) sendPacket(now time.Duration, packet []byte, f *flight) lossmodel.Verdict {
	c, m := l.carrier, l.messenger
	if m != nil && m.stream != nil {
		return l.writePacket(now, packet, f)
	}
	if c == nil || m == nil && !c.snd.Protects() || !container.CanSeal(packet) {
		l.digest.add('D', packet)
		verdict := l.paths.down.Send(now, packet, f.tag)
		if c != nil {
			c.meter.CountDatagram(verdict.Wire, verdict.Wire)
		}
		return verdict
	}
	interval := time.Second * time.Duration(l.liveConfig.Sender.Every) / time.Duration(l.cadence.RateHz)
	var messages []byte
	if m != nil {
		messages = m.out.Fill(now, interval, c.snd.Next())
	}
	f.repairable = c.snd.Protects()
	sealed := c.snd.Seal(now, interval, packet, messages)
	k := c.sent.Push()
	*k = sentContainer{flight: f.tag, seq: f.rec.Seq, hasPacket: true}
	if f.repairable {
		l.joinSets(now, k, &sealed)
	}
	verdict := l.sendContainer(now, k, &sealed)
	plain, _ := lossmodel.WireBytes(len(packet), l.liveConfig.Down.MTU)
	if m != nil {
		withMessages := verdict.Wire
		if f.repairable {
			withMessages, _ = lossmodel.WireBytes(len(packet)+len(messages), l.liveConfig.Down.MTU)
		}
		m.meter.CountCarried(withMessages - plain)
		plain = withMessages
	}
	c.meter.CountDatagram(verdict.Wire, plain)
	return verdict
}

// joinSets adds the container of a packet to the sets to which it belongs, and the packet to a set.
func (l *lane) joinSets(now time.Duration, k *sentContainer, sealed *container.Sealed) {
	c := l.carrier
	own := protected{sealed.Number, k.flight}
	if sealed.InGroup {
		n, s := c.groupSet(sealed.Group)
		if s == nil {
			n, s = c.sets.Next(), c.sets.Push()
			*s = repairSet{unsent: sealed.Data - sealed.Index + sealed.Parity, isGroup: true, group: sealed.Group}
		}
		s.packets[s.count], s.complete = own, sealed.Index == sealed.Data-1
		s.count++
		k.firstSet, k.endSet = n, n+1
		return
	}
	// Each of the newest packets has a set. The container repeats the newest of them.
	n := c.sets.Next()
	possible := min(uint64(c.snd.Repeats()), n-c.firstSet)
	k.firstSet, k.endSet = n-min(uint64(sealed.Repeats), possible), n+1
	for older := n - possible; older < k.firstSet; older++ {
		if s := c.sets.At(older); s != nil { // the repeat does not fit
			s.unsent--
			l.closeIfDone(now, s)
		}
	}
	*c.sets.Push() = repairSet{unsent: 1 + c.snd.Repeats(), packets: [container.MaxData]protected{own}, count: 1}
}

// groupSet returns the set of a group and its number; nil if no packet of this lane is in the group.
func (c *carrier) groupSet(group uint64) (uint64, *repairSet) {
	for n := c.sets.Next(); n > c.sets.First(); n-- {
		if s := c.sets.At(n - 1); s.isGroup && s.group == group {
			return n - 1, s
		}
	}
	return 0, nil
}

// sendContainer sends a container and counts the copies of it that will arrive. k is the record of the
// container.
func (l *lane) sendContainer(now time.Duration, k *sentContainer, sealed *container.Sealed) lossmodel.Verdict {
	l.digest.add('D', sealed.Datagram)
	verdict := l.paths.down.Send(now, sealed.Datagram, containerTag|sealed.Number)
	k.leftAt = max(now, verdict.Due)
	if verdict.Lost == lossmodel.None {
		k.inFlight++
	}
	for _, lost := range verdict.CopyLost[:verdict.Copies] {
		if lost == lossmodel.None {
			k.inFlight++
		}
	}
	for n := k.firstSet; n < k.endSet; n++ {
		if s := l.carrier.sets.At(n); s != nil {
			s.unsent--
			s.inFlight += k.inFlight
			l.closeIfDone(now, s)
		}
	}
	l.carrier.dropSettled()
	if l.paths.peer != nil {
		l.expireContainers(now)
	}
	return verdict
}

// expireContainers gives up the containers that entered a real network more than networkTimeout ago. Those
// that the network lost are never reported.
func (l *lane) expireContainers(now time.Duration) {
	c := l.carrier
	for n := c.sent.First(); n < c.sent.Next() && now-c.sent.At(n).leftAt > networkTimeout; n++ {
		l.endDatagrams(now, c.sent.At(n), c.sent.At(n).inFlight)
	}
	c.dropSettled()
}

// endDatagrams records that n copies of the datagram of container k have arrived, or never will.
func (l *lane) endDatagrams(now time.Duration, k *sentContainer, n int) {
	k.inFlight -= n
	for i := k.firstSet; i < k.endSet; i++ {
		if s := l.carrier.sets.At(i); s != nil {
			s.inFlight -= n
			l.closeIfDone(now, s)
		}
	}
}

// sendDue sends the messages and the parities that are due.
func (l *lane) sendDue(now time.Duration) {
	if l.messenger != nil {
		l.sendMessages(now)
	}
	c := l.carrier
	for at, ok := c.snd.NextParity(); ok && at <= now; at, ok = c.snd.NextParity() {
		sealed := c.snd.SealParity()
		k := c.sent.Push()
		*k = sentContainer{}
		if n, s := c.groupSet(sealed.Group); s != nil {
			k.firstSet, k.endSet = n, n+1
		}
		verdict := l.sendContainer(now, k, &sealed)
		c.meter.CountDatagram(verdict.Wire, 0)
		l.recordExtra(now, packetlog.Parity, verdict.Wire)
	}
}

// recordExtra counts and records a datagram without a packet of its own.
func (l *lane) recordExtra(now time.Duration, kind packetlog.Outcome, wire int) {
	l.meter.Now.WireBits += int64(wire) * 8
	r := &l.carrier.extraRec
	*r = packetlog.Record{Seq: l.snd.Seq(), Sent: now, Wire: wire, Outcome: kind}
	if l.carrier.extra == nil {
		l.carrier.extra = packetlog.New(l.log.Cap())
	}
	l.carrier.extra.Add(*r)
	if l.observer != nil {
		l.observer.Packet(r, nil)
	}
}

// nextDue returns when the lane must write a message or send a datagram other than a packet; never if it
// need not.
func (l *lane) nextDue() time.Duration {
	if l.carrier == nil {
		return never
	}
	at := orNever(l.carrier.snd.NextParity())
	if l.messenger != nil {
		at = min(at, l.messenger.nextDue())
	}
	return at
}

// receiveContainer opens a container that has arrived, passes its packets to the receiver and sends one
// ack. The packets of a damaged container may still be repaired.
func (l *lane) receiveContainer(now time.Duration, d *lossmodel.Delivery) {
	c, number := l.carrier, d.Tag&^containerTag
	k := sentContainer{flight: noFlight}
	if sent := c.sent.At(number - c.firstNumber); sent != nil && sent.inFlight > 0 { // it has not expired
		k = *sent
	}
	own := *d
	own.Tag = k.flight
	switch {
	case d.Lost != lossmodel.None && k.hasPacket:
		l.handleDrop(now, &own)
	case d.Flipped > 0 && k.hasPacket:
		l.handleArrival(now, &own)
	case d.Lost == lossmodel.None && d.Flipped == 0:
		l.openContainer(now, number, &own, &k)
	}
	if k.flight != noFlight {
		l.endDatagrams(now, c.sent.At(number-c.firstNumber), 1)
		c.dropSettled()
	}
}

// openContainer opens a container that has arrived, passes its messages and packets to their receivers, and
// sends one ack. k is its record, and d its delivery with the tag of its own packet.
func (l *lane) openContainer(now time.Duration, number uint64, d *lossmodel.Delivery, k *sentContainer) {
	opened, err := l.carrier.rcv.Open(d.Data)
	if err != nil {
		l.lastErr = fmt.Errorf("container %d: %w", number, err)
	}
	if l.report != nil && len(l.report.Packets) != len(opened.Packets) {
		l.paths.remote.Differs++
	}
	if err == nil {
		l.receiveMessages(now, &opened)
	}
	acked := false
	for i, p := range opened.Packets {
		l.withholdAck = i < len(opened.Packets)-1
		if l.report != nil {
			l.packetReport = l.report.packet(opened.Number - uint16(p.Distance))
			if l.packetReport == nil {
				continue // the peer did not get the packet from this container
			}
		}
		if p.Repair == container.NotRepaired {
			d.Data = p.Bytes
			acked = l.handleArrival(now, d)
		} else if f := l.findProtected(k, number-uint64(p.Distance)); f != nil {
			acked = l.handleRepaired(now, f, k, &p)
		} else {
			l.receiveAbandoned(&lossmodel.Delivery{Data: p.Bytes})
		}
	}
	l.withholdAck = false
	if !acked {
		l.sendAck(now)
	}
}

// findProtected returns the flight of the packet that was sent in container number, which is in a set of k;
// nil if its outcome is known.
func (l *lane) findProtected(k *sentContainer, number uint64) *flight {
	for n := k.firstSet; n < k.endSet; n++ {
		s := l.carrier.sets.At(n)
		for i := 0; s != nil && i < s.count; i++ {
			if s.packets[i].number == number {
				return l.flights.get(s.packets[i].flight)
			}
		}
	}
	return nil
}

// handleRepaired passes a packet that container k repaired to the receiver.
func (l *lane) handleRepaired(now time.Duration, f *flight, k *sentContainer, p *container.Packet) (acked bool) {
	f.repair, f.repairedFrom = p.Repair, k.seq
	if p.Repair == container.ByParity {
		f.repairedFrom = l.carrier.sets.At(k.firstSet).group
	}
	l.carrier.meter.CountRepaired(l.arrivalTime(now) - f.rec.Sent)
	return l.handleArrival(now, &lossmodel.Delivery{Data: p.Bytes, Sent: f.rec.Sent, Due: now, Tag: f.tag})
}

// awaitRepair keeps a packet in flight whose datagram was lost at the given stage of the link, or was
// damaged if cause is lossmodel.None. It returns false if nothing can repair the packet.
func (f *flight) awaitRepair(cause lossmodel.Cause) bool {
	if !f.repairable || f.endedCopies&1 == 1 {
		return false
	}
	f.awaitsRepair, f.ownEnded, f.lostAt = true, true, cause
	return true
}

// recordUnrepaired records the outcome of a packet that was lost or damaged and can no longer be repaired.
func (l *lane) recordUnrepaired(now time.Duration, f *flight) {
	f.awaitsRepair = false
	if f.lostAt != lossmodel.None {
		l.recordUnreceived(now, f, 0, packetlog.Lost, f.lostAt)
	} else {
		l.recordDamaged(now, f, 0, f.flipped)
	}
}

// closeIfDone closes a set of which no datagram is in flight or to be sent. Its packets that were not
// repaired get their outcome.
func (l *lane) closeIfDone(now time.Duration, s *repairSet) {
	if s.closed || s.unsent > 0 || s.inFlight > 0 {
		return
	}
	s.closed = true
	for _, p := range s.packets[:s.count] {
		f := l.flights.get(p.flight)
		if f == nil {
			continue
		}
		f.repairable = false
		if f.awaitsRepair {
			l.recordUnrepaired(now, f)
			l.endArrival(f)
		}
	}
}

// dropSettled drops the oldest sets that are closed, and the oldest containers of which no datagram is in
// flight.
func (c *carrier) dropSettled() {
	for c.sets.Len() > 0 && c.sets.At(c.sets.First()).closed {
		c.sets.Pop()
	}
	for c.sent.Len() > 0 && c.sent.At(c.sent.First()).inFlight == 0 {
		c.sent.Pop()
	}
}

// endArrival records that one of the arrivals that a flight waited for has happened, or will not.
func (l *lane) endArrival(f *flight) {
	f.arriving--
	if f.arriving == 0 {
		l.releaseFlight(f)
	}
}

// releaseFlight releases a flight. A packet that has not arrived by then never will.
func (l *lane) releaseFlight(f *flight) {
	if l.carrier != nil && !f.known {
		l.carrier.meter.Lost++
	}
	l.flights.release(f)
}
