package relay

import (
	"time"

	"wirelab/lossmodel"
)

// Flow counts the outcomes of the datagrams of one direction. At any time In + Copies = Out +
// Lost() + Unsent + Queued.
type Flow struct {
	In, InBytes   uint64 // datagrams read, and their payload bytes
	Copies        uint64 // number of copies that the links made
	Out, OutBytes uint64 // datagrams sent on, and their payload bytes
	OutWire       uint64 // size of the Out datagrams in bytes, with IPv4 and UDP headers
	Damaged       uint64 // datagrams in Out in which the link flipped bits
	LostBy        [lossmodel.NumCauses]uint64
	OverLimit     uint64 // datagrams in LostBy[Queue] that exceeded Options.MaxQueued
	Unsent        uint64 // datagrams that the system refused to send
	Queued        int    // datagrams in flight

	KernelDrops uint64 // datagrams that the kernel dropped because the socket buffer was full; not part of In
	Unreachable uint64 // ICMP errors such as "port unreachable"; known for the server's side only

	LineQueue lossmodel.QueueLength // queues before the lines of all links together
	Size      Histogram             // payload size of datagrams read; 1 ns stands for 1 byte
	Lateness  Histogram             // time of sending minus due time
	Delay     Histogram             // time from reading to sending
	LinkDelay Histogram             // due time minus time of reading: the delay set by the link
}

// Lost returns the number of lost datagrams and copies.
func (f *Flow) Lost() (n uint64) {
	for _, k := range f.LostBy {
		n += k
	}
	return n
}

// Balanced reports whether every datagram and copy is counted exactly once.
func (f *Flow) Balanced() bool { return f.In+f.Copies == f.Out+f.Lost()+f.Unsent+uint64(f.Queued) }

// Totals are the counters of a relay.
type Totals struct {
	At        time.Duration // time of the counters, since the relay was opened
	Clients   int           // current clients
	Joined    int           // clients so far
	Forgotten int           // number of clients removed because they were idle
	Refused   uint64        // datagrams from addresses that were refused: no room, the server, or the relay itself
	NoSocket  uint64        // datagrams refused because the system provided no socket
	Oversize  uint64        // datagrams larger than IPv4 allows, dropped
	Flows     [2]Flow       // counters by direction
}

// Totals returns the current counters. It may be called at any time.
func (r *Relay) Totals() Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.totals
	}
	r.updateGauges()
	return r.totals
}

// updateGauges updates the values that are not counted event by event: time, clients and queues.
func (r *Relay) updateGauges() {
	t := &r.totals
	r.virtualNow = max(r.virtualNow, r.now()) // later datagrams must not be older than the gauges
	t.At = r.virtualNow
	t.Clients = len(r.clients)
	for direction := range t.Flows {
		t.Flows[direction].LineQueue = lossmodel.QueueLength{}
	}
	for _, l := range r.lanes {
		l.queued = l.link.Gauges(t.At).Queue
		line := &t.Flows[l.direction].LineQueue
		line.Packets += l.queued.Packets
		line.Bytes += l.queued.Bytes
	}
}
