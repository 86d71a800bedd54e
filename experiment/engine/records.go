package engine

import (
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
)

// Outcome is how one copy of a packet ended. Law, tested: packets sent plus
// copies made by the link equal the sum over all outcomes.
type Outcome uint8

// The outcomes. Wrong must never happen: it turns the whole lab red.
const (
	InFlight     Outcome = iota // still in flight when asked
	Decoded                     // decoded, and newer than everything shown
	Stale                       // decoded, but older than what is shown; still kept and acked
	Duplicate                   // a copy of a packet that was decoded already
	Lost                        // dropped by the link; the cause says by which stage
	NoBaseline                  // the receiver no longer holds the reference
	Corrupt                     // failed the checksum, or the receiver refused or doubted it
	UnknownCodec                // names a codec or an epoch that the receiver does not know
	Tainted                     // checksum off: decoded from damaged bytes, from a frame that was, or as another packet
	Wrong                       // decoded without complaint, yet different from what was sent
	Unknown                     // its fate was still unknown when the run ended, over a real network
	NumOutcomes
)

// String returns the outcome's name as reports spell it.
func (o Outcome) String() string {
	names := [NumOutcomes]string{"in_flight", "decoded", "stale", "duplicate", "lost", "no_baseline", "corrupt", "unknown_codec",
		"tainted", "wrong", "unknown"}
	if o < NumOutcomes {
		return names[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// outcomeOf converts a receiver's outcome to the lab's.
func outcomeOf(o endpoint.Outcome) Outcome {
	return [...]Outcome{endpoint.Decoded: Decoded, endpoint.Stale: Stale, endpoint.Duplicate: Duplicate,
		endpoint.NoBaseline: NoBaseline, endpoint.Corrupt: Corrupt, endpoint.UnknownCodec: UnknownCodec}[o]
}

// Failed reports whether the packet arrived, but gave no frame that the receiver can
// trust. Every page, report and chart means this by failure. Wrong is not among them:
// it is a fault of the encoder and not of the link.
func (o Outcome) Failed() bool {
	return o == NoBaseline || o == Corrupt || o == UnknownCodec || o == Tainted
}

// records is a ring of the newest packets.
type records struct {
	ring []PacketRecord
	n    uint64 // records ever added
}

func (r *records) add(rec PacketRecord) uint64 {
	r.ring[r.n%uint64(len(r.ring))] = rec
	r.n++
	return r.n - 1
}

// set overwrites record at, and reports whether it was still in the ring.
func (r *records) set(at uint64, rec *PacketRecord) bool {
	if !r.held(at) {
		return false
	}
	r.ring[at%uint64(len(r.ring))] = *rec
	return true
}

// held reports whether record n is in the ring.
func (r *records) held(n uint64) bool { return n < r.n && r.n-n <= uint64(len(r.ring)) }

// oldest returns the number of the oldest record in the ring.
func (r *records) oldest() uint64 { return r.n - min(r.n, uint64(len(r.ring))) }

// at returns record n, which must be in the ring.
func (r *records) at(n uint64) *PacketRecord { return &r.ring[n%uint64(len(r.ring))] }

// find returns the record of a packet, not of a copy. It searches only the newest
// records and returns nil if the packet is not among them.
func (r *records) find(seq uint64) *PacketRecord {
	const reach = 4 * frame.MaxHistory
	for n := r.n; n > r.oldest() && r.n-n < reach; n-- {
		if x := r.at(n - 1); x.Seq == seq && x.Copy == 0 {
			return x
		}
	}
	return nil
}

// passed returns when the receiver first stored a packet newer than seq; 0 if that is
// not known.
func (r *records) passed(seq uint64) (at time.Duration) {
	for n := r.n; n > r.oldest(); n-- {
		x := r.at(n - 1)
		if x.Seq <= seq && x.Copy == 0 {
			break
		}
		if x.Seq > seq && kept(x.Outcome) && (at == 0 || x.Arrived < at) {
			at = x.Arrived
		}
	}
	return at
}

// last appends the newest n records to dst, oldest first.
func (r *records) last(dst []PacketRecord, n int) []PacketRecord {
	n = int(min(uint64(n), r.n, uint64(len(r.ring))))
	for i := r.n - uint64(n); i < r.n; i++ {
		dst = append(dst, r.ring[i%uint64(len(r.ring))])
	}
	return dst
}
