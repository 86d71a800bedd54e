package relay

import (
	"time"

	"wirelab/lossmodel"
)

// Snapshot is all that there is to know of a relay at one moment.
type Snapshot struct {
	Totals  Totals
	Clients []ClientState // those that there are, and those that something is still under way to
	Links   []LinkStatus  // of each link
}

// ClientState is how a client stands.
type ClientState struct {
	Client
	Joined, Seen time.Duration // when its first datagram came, and its last
	Leaving      bool          // forgotten, but something is under way
	Flying       int           // datagrams under way, both directions
	Ways         [2]Tally      // by Way
}

// Tally is what went through for one client in one direction.
type Tally struct {
	In, InBytes   uint64
	Out, OutBytes uint64
	Lost          uint64
	Took          time.Duration    // from being read to being sent, summed over Out
	Line          lossmodel.Queued // before its bottleneck; that of all if they share one
}

func (t *Tally) left(d *lossmodel.Delivery, at time.Duration) {
	t.Out++
	t.OutBytes += uint64(len(d.Data))
	t.Took += at - d.Sent
}

// LinkStatus is what one link is set to, and what it did with the datagrams that it received since
// then. Copies are left out.
type LinkStatus struct {
	Way    Way
	Client int // its turn; 0: of all
	Spec   lossmodel.Spec
	From   time.Duration // what came before was under the conditions before
	First  time.Duration // when the first datagram came
	Until  time.Duration // when the last one left
	Sent   uint64
	Cut    uint64 // of those, larger than one IP packet
	Lost   uint64 // by any cause; damaged ones are not
	Queue  uint64 // of those, in the queue of the bottleneck
	Left   uint64
	Took   time.Duration // from being read to being sent, summed over Left
	Bits   uint64        // of Left, on the wire
}

func (a *LinkStatus) sent(at time.Duration, v *lossmodel.Verdict) {
	if at < a.From {
		return
	}
	if a.Sent == 0 {
		a.First = at
	}
	a.Sent++
	if v.Fragments > 1 {
		a.Cut++
	}
	if v.Lost != lossmodel.None {
		a.Lost++
	}
	if v.Lost == lossmodel.Queue {
		a.Queue++
	}
}

// of reports whether a delivery is of a datagram that came since the conditions were set.
func (a *LinkStatus) of(d *lossmodel.Delivery) bool { return d.Copy == 0 && d.Sent >= a.From }

func (a *LinkStatus) left(d *lossmodel.Delivery, at time.Duration, wire int) {
	if a.of(d) {
		a.Left++
		a.Took += at - d.Sent
		a.Bits += 8 * uint64(wire)
		a.Until = at
	}
}

// damaged counts a datagram that the receiver's checksum refuses: it took its time on the line.
func (a *LinkStatus) damaged(d *lossmodel.Delivery) {
	if a.of(d) {
		a.Left++
		a.Took += d.Due - d.Sent
	}
}

// reshape gives the link other conditions.
func (l *lane) reshape(spec lossmodel.Spec, at time.Duration) error {
	err := l.link.Reshape(spec)
	if err == nil && spec != l.status.Spec {
		l.status = LinkStatus{Way: l.way, Client: l.status.Client, Spec: spec, From: at + 1}
	}
	return err
}

// Snapshot writes how things stand into s, whose memory it uses again.
func (r *Relay) Snapshot(s *Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.measure()
	}
	s.Totals, s.Clients, s.Links = r.totals, s.Clients[:0], s.Links[:0]
	for _, c := range r.slots {
		if c == nil {
			continue
		}
		x := ClientState{Client: c.Client, Joined: c.joined, Seen: c.seen, Leaving: r.clients[c.Addr] != c, Flying: c.flying, Ways: c.ways}
		for way, l := range c.lanes {
			x.Ways[way].Line = l.line
		}
		s.Clients = append(s.Clients, x)
	}
	for _, l := range r.lanes {
		s.Links = append(s.Links, l.status)
	}
}
