package lossmodel

import (
	"time"
)

// MaxDatagram is the largest UDP payload that IPv4 can carry, in bytes.
const MaxDatagram = 65507

// Verdict is the decision of Send about a datagram. Datagrams sent plus copies made equal those
// lost plus those delivered or in flight.
type Verdict struct {
	// Pending is set if the fate is not yet known. A Link never sets it. A real network sets it and
	// only the fields Wire and Fragments.
	Pending   bool
	Lost      Cause         // cause of the loss; None if the datagram will be delivered, or waits
	Due       time.Duration // time of delivery; undefined if lost or waiting
	Waiting   bool          // waits before a line: Due is an estimate, and the queue may still drop the datagram, see Delivery.Lost
	Fragments int           // number of IP packets
	Wire      int           // bytes on the wire: UDP payload, UDP and IPv4 headers of all fragments
	Copies    int           // number of copies made
	// CopyLost[i] is the cause of loss of copy i+1, for i < Copies; None if it will be delivered.
	CopyLost [MaxCopies]Cause
}

// Delivery is a datagram, or a copy of it, that has arrived.
type Delivery struct {
	Data []byte        // payload, valid until the next Receive or Send
	Sent time.Duration // time of Send
	Due  time.Duration // time of arrival
	Tag  uint64        // the tag that was passed to Send
	Copy int           // 0 for the datagram, 1 and up for copies
	// Flipped is the number of bits in Data that the corrupt stage flipped. In runs a datagram in which it is not 0 is
	// discarded, as by the UDP checksum, and its packet counts as corrupt. A proxy forwards it to the program.
	Flipped int
	// Lost is not None if the queue before the line dropped the packet after Send, at the time Due. A real receiver does
	// not receive such a datagram.
	Lost Cause
	// Waited is the time in the queue and on the line of a packet whose verdict was Waiting.
	Waited time.Duration
}
