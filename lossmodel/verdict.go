package lossmodel

import (
	"time"
)

// MaxDatagram is the largest UDP payload that IPv4 can carry, in bytes.
const MaxDatagram = 65507

// Verdict is what Send decided: all that a meter needs, so that datagrams sent
// plus copies made equal those lost plus those that Receive hands out or that
// are still in flight.
type Verdict struct {
	// Open: what becomes of the datagram is not known yet. A Link always knows; a real
	// network never does, and sets nothing but Wire and Fragments beside this.
	Open      bool
	Lost      Cause         // None: the datagram itself will be delivered
	Due       time.Duration // when; meaningless if lost
	Fragments int           // IP packets it was cut into
	Wire      int           // bytes on the wire: UDP payload, UDP and IPv4 headers of all fragments
	Copies    int           // copies made of it
	// CopyLost[i] is the cause for copy i+1, for i < Copies; None: it will be
	// delivered.
	CopyLost [MaxCopies]Cause
}

// Delivery is one datagram, or one copy of it, at the far end.
type Delivery struct {
	Data []byte        // valid until the next Receive or Send
	Sent time.Duration // when it was given to Send
	Due  time.Duration // when it arrived
	Tag  uint64        // as given to Send
	Copy int           // 0, or 1.. for a copy
	// Flipped counts the bits that the corrupt stage flipped in Data.
	Flipped int
	// Damaged: bits were flipped and the checksum, modelled as perfect, was on
	// when it was sent. A real receiver never sees such a datagram.
	Damaged bool
}
