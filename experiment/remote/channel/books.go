package channel

// cause is why a datagram was dropped.
type cause uint8

// The causes. A datagram that has several counts under the first that was noticed.
const (
	malformed       cause = iota // no datagram of the channel: too short, too long, of no known kind
	protocolVersion              // of another version
	stranger                     // of no session that there is at that address, or an answer that nobody waits for
	Forged                       // not made with the token, or with keys of that session and direction; or a cookie that is not ours
	Replayed                     // came before, or so late that nobody knows
	expired                      // a cookie that has become too old
	full                         // there was no room for one more session, or nobody serves that purpose
	overrun                      // authentic, but nobody read those before it
	numCauses
)

// String returns the cause's name in reports.
func (c cause) String() string {
	return [...]string{"malformed", "version", "stranger", "forged", "replayed", "expired", "full", "overrun"}[c]
}

// Books are what was counted. Every datagram that was read is counted once:
//
//	In = Delivered + Control + Handshake + sum of By
type Books struct {
	In, InBytes   uint64 // read; bytes of UDP payload
	Out, OutBytes uint64 // written

	Delivered, DeliveredBytes uint64 // of In, those with a payload for the user; bytes of payload
	Sent, SentBytes           uint64 // likewise of Out
	Control                   uint64 // of In: pings and byes
	Handshake                 uint64 // of In
	By                        [numCauses]uint64

	Missed uint64 // the system had no room for them: never read, so not In; Linux alone says so
	Unsent uint64 // the system would not send them
	Gone   uint64 // how often the system said that nobody is there (ICMP)
}

// Balanced reports whether the books agree.
func (b *Books) Balanced() bool { return b.In == b.Delivered+b.Control+b.Handshake+b.Dropped() }

// Dropped returns how many changed nothing but the books.
func (b *Books) Dropped() (n uint64) {
	for _, k := range b.By {
		n += k
	}
	return n
}

// ByName returns the causes that occurred.
func (b *Books) ByName() map[string]uint64 {
	names := map[string]uint64{}
	for c, n := range b.By {
		if n > 0 {
			names[cause(c).String()] = n
		}
	}
	return names
}

// verdict is what became of a datagram that was read.
type verdict struct {
	class   class
	cause   cause // of dropped
	payload int   // of delivered: bytes
}

type class uint8

const (
	dropped class = iota
	delivered
	control
	handshake
)

func drop(c cause) verdict { return verdict{class: dropped, cause: c} }

func (b *Books) read(size int, v verdict) {
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
	default:
		b.By[v.cause]++
	}
}

func (b *Books) wrote(size int) {
	b.Out++
	b.OutBytes += uint64(size)
}
