package engine

import (
	"time"

	"wirelab/dataset/frame"
)

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
