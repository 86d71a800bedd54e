package relay

import (
	"slices"
	"time"

	"wirelab/lossmodel"
)

// Snapshot is the state of a relay at one moment.
type Snapshot struct {
	Totals  Totals
	Clients []ClientState // all clients, including removed ones with datagrams in flight
	Links   []LinkStatus
}

// ClientState is the state of one client.
type ClientState struct {
	Client
	Joined, LastSeen time.Duration // times of the client's first and last datagram
	Leaving          bool          // whether the client was removed while datagrams are in flight
	Ways             [2]ClientFlow // the client's traffic by direction
}

// ClientFlow counts the traffic of one client in one direction.
type ClientFlow struct {
	In, InBytes   uint64
	Out, OutBytes uint64
	Lost          uint64
	TotalDelay    time.Duration // total time from reading to sending of the Out datagrams
}

// countSent counts a datagram that the relay sent on at the given time.
func (t *ClientFlow) countSent(d *lossmodel.Delivery, at time.Duration) {
	t.Out++
	t.OutBytes += uint64(len(d.Data))
	t.TotalDelay += at - d.Sent
}

// LinkStatus describes the settings of one link and what it did with datagrams received since
// they were set. Copies made by the link are not counted.
type LinkStatus struct {
	Way        Direction
	Client     int // number of the client; 0 for a link that all clients share
	Spec       lossmodel.Spec
	Since      time.Duration // datagrams read before this time are not counted
	First      time.Duration // when the first datagram was read
	Until      time.Duration // when the last datagram was sent
	Sent       uint64        // datagrams passed to the link
	Fragmented uint64        // datagrams in Sent that are larger than one IP packet
	Lost       uint64        // datagrams in Sent that were lost
	Queue      uint64        // datagrams in Lost that were dropped because the queue was full
	Passed     uint64        // datagrams that passed the link
	TotalDelay time.Duration // total time from reading to sending of the Passed datagrams
	Bits       uint64        // bits on the wire of the datagrams that were sent on
}

// countEntered counts a datagram that was passed to the link at the given time, and the link's
// decision. It ignores datagrams from before the settings were set.
func (s *LinkStatus) countEntered(at time.Duration, v *lossmodel.Verdict) {
	if at < s.Since {
		return
	}
	if s.Sent == 0 {
		s.First = at
	}
	s.Sent++
	if v.Fragments > 1 {
		s.Fragmented++
	}
	if v.Lost != lossmodel.None {
		s.Lost++
	}
	if v.Lost == lossmodel.Queue {
		s.Queue++
	}
}

// isCounted reports whether the status counts a delivery: if it is the original of a datagram, not a copy, and
// the datagram was read after the settings were set.
func (s *LinkStatus) isCounted(d *lossmodel.Delivery) bool { return d.Copy == 0 && d.Sent >= s.Since }

// countSent counts a datagram that was sent on at the given time. wire is its size in bytes with headers.
func (s *LinkStatus) countSent(d *lossmodel.Delivery, at time.Duration, wire int) {
	if s.isCounted(d) {
		s.Passed++
		s.TotalDelay += at - d.Sent
		s.Bits += 8 * uint64(wire)
		s.Until = at
	}
}

// countDropped counts a datagram that the queue dropped after it had entered.
func (s *LinkStatus) countDropped(d *lossmodel.Delivery) {
	if s.isCounted(d) {
		s.Lost++
		s.Queue++
	}
}

// reshape changes the settings of the link at the given time. Settings that differ reset the status.
func (l *lane) reshape(spec lossmodel.Spec, at time.Duration) error {
	err := l.link.ReshapeAt(at, spec)
	if err == nil && spec != l.status.Spec {
		l.spec = &spec
		// Datagrams read at the time of the change had the old settings.
		l.status = LinkStatus{Way: l.direction, Client: l.status.Client, Spec: spec, Since: at + 1}
	}
	return err
}

// Snapshot stores the current state of the relay in s, whose slices it reuses. After Close the
// state is the last one.
func (r *Relay) Snapshot(s *Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.updateGauges()
	}
	s.Totals, s.Clients, s.Links = r.totals, s.Clients[:0], s.Links[:0]
	for _, c := range r.slots {
		if c == nil {
			continue
		}
		s.Clients = append(s.Clients, r.stateOf(c))
	}
	for _, l := range r.lanes {
		s.Links = append(s.Links, l.status)
	}
}

// stateOf returns the state of a client. The lock must be held.
func (r *Relay) stateOf(c *client) ClientState {
	return ClientState{Client: c.Client, Joined: c.joined, LastSeen: c.lastSeen, Leaving: r.clients[c.Addr] != c, Ways: c.tallies}
}

// maxDeparted bounds the clients that Departed returns.
const maxDeparted = 10_000

// Departed returns the final states of the clients that were removed and have no datagrams in flight, in the order of
// removal, at most the newest maxDeparted.
func (r *Relay) Departed() []ClientState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.departed)
}
