package channel

// cause is why a datagram was dropped.
type cause uint8

// Causes of a drop. A datagram counts under the first that applies.
const (
	malformed       cause = iota // wrong length or unknown kind
	protocolVersion              // other protocol version
	unknownSession               // no such session at that address, or an unexpected answer
	Forged                       // wrong MAC, tag or cookie
	Replayed                     // received before, or below the replay window
	expired                      // cookie too old
	full                         // session limit reached, or purpose not offered
	overrun                      // authentic, but the session's receive buffer is full
	numCauses
)

// String returns the name of the cause in reports.
func (c cause) String() string {
	return [...]string{"malformed", "version", "stranger", "forged", "replayed", "expired", "full", "overrun"}[c]
}

// Stats are the counters of a session or of a listener. Every datagram read from the socket is
// counted once:
//
//	In = Delivered + Control + Handshake + sum of DroppedBy
type Stats struct {
	In, InBytes   uint64 // datagrams read from the socket; bytes of UDP payload
	Out, OutBytes uint64 // datagrams written to the socket

	Delivered, DeliveredBytes uint64 // datagrams put into a receive buffer; bytes of payload
	Sent, SentBytes           uint64 // datagrams of Send; bytes of payload
	Control                   uint64 // received pings, pongs and byes
	Handshake                 uint64 // received handshake datagrams
	DroppedBy                 [numCauses]uint64

	KernelDrops uint64 // datagrams dropped because the socket buffer was full; counted on Linux only, not part of In
	Unsent      uint64 // datagrams that the system refused to send
	Unreachable uint64 // ICMP errors such as "port unreachable"
}

// Balanced reports whether every datagram is counted exactly once.
func (b *Stats) Balanced() bool { return b.In == b.Delivered+b.Control+b.Handshake+b.Dropped() }

// Dropped returns the sum of DroppedBy.
func (b *Stats) Dropped() (n uint64) {
	for _, k := range b.DroppedBy {
		n += k
	}
	return n
}

// DroppedByName returns the non-zero counters of DroppedBy by name.
func (b *Stats) DroppedByName() map[string]uint64 {
	names := map[string]uint64{}
	for c, n := range b.DroppedBy {
		if n > 0 {
			names[cause(c).String()] = n
		}
	}
	return names
}

// verdict classifies a received datagram for the counters.
type verdict struct {
	class   class
	cause   cause // if dropped
	payload int   // bytes, if delivered
}

// class is the counter under which a received datagram counts.
type class uint8

const (
	dropped class = iota
	delivered
	control
	handshake
)

// droppedAs returns the verdict of a datagram that is dropped because of c.
func droppedAs(c cause) verdict { return verdict{class: dropped, cause: c} }

// countRead counts a received datagram of size bytes under its verdict.
func (b *Stats) countRead(size int, v verdict) {
	b.In++
	b.InBytes += uint64(size)
	switch v.class {
	case delivered:
		b.Delivered++
		b.DeliveredBytes += uint64(v.payload)
	case control:
		b.Control++
	case handshake:
		b.Handshake++
	default: // dropped
		b.DroppedBy[v.cause]++
	}
}

// countWritten counts a sent datagram of size bytes.
func (b *Stats) countWritten(size int) {
	b.Out++
	b.OutBytes += uint64(size)
}
