package relay

import (
	"time"

	"wirelab/lossmodel"
)

// Flow counts the outcomes of the datagrams of one direction. At every moment
// In + Copies = Out + Lost + Unsent + Queued.
type Flow struct {
	In, InBytes   uint64 // read from a socket; bytes of payload
	Copies        uint64 // that links made
	Out, OutBytes uint64 // sent on
	OutWire       uint64 // their bytes with IPv4 and UDP headers
	LostBy        [lossmodel.NumCauses]uint64
	Overrun       uint64 // of LostBy[Queue], those that would have exceeded MaxQueued
	Unsent        uint64 // the system would not send them
	Queued        int    // under way

	Missed uint64 // came, but the system had no room for them: never read, so not In
	Gone   uint64 // how often ICMP reported that no socket is there; only known of the server's side

	Line lossmodel.Queued // before the bottlenecks of all clients
	Size Histogram        // of payloads read, a nanosecond for a byte
	Late Histogram        // how long after its due time each datagram was sent
	Took Histogram        // from being read to being sent
	Due  Histogram        // the same as the link decided it
}

// Lost returns how many were lost, whatever the cause.
func (f *Flow) Lost() (n uint64) {
	for _, k := range f.LostBy {
		n += k
	}
	return n
}

// Balanced reports whether the books agree.
func (f *Flow) Balanced() bool { return f.In+f.Copies == f.Out+f.Lost()+f.Unsent+uint64(f.Queued) }

// Totals is all that a relay counted until At.
type Totals struct {
	At        time.Duration // since the relay was opened
	Clients   int           // there are
	Joined    int           // there ever were
	Forgotten int           // because they fell silent
	Refused   uint64        // datagrams of clients for whom there was no room, or who are no clients: the server, the relay itself
	NoSocket  uint64        // datagrams of clients for whom the system had no socket
	Oversize  uint64        // datagrams that are larger than IPv4 carries
	Flows     [2]Flow       // by Way
}

// Totals returns what was counted so far. It may be called at any time.
func (r *Relay) Totals() Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.totals
	}
	r.measure()
	return r.totals
}

// measure brings what is not counted as it happens up to date.
func (r *Relay) measure() {
	t := &r.totals
	r.now = max(r.now, r.clock()) // what is sent from now on comes later: gauges must not look ahead of it
	t.At = r.now
	t.Clients = len(r.clients)
	for way := range t.Flows {
		t.Flows[way].Line = lossmodel.Queued{}
	}
	for _, l := range r.lanes {
		l.line = l.link.Gauges(t.At).Queue
		line := &t.Flows[l.way].Line
		line.Packets += l.line.Packets
		line.Bytes += l.line.Bytes
	}
}
