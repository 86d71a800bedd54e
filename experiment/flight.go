package experiment

import (
	"crypto/sha256"

	"wirelab/dataset/frame"
)

// flight is what the lab knows about a packet under way: what it should become,
// and the row it will make in the report. Endpoints never see it; the link hands
// its number back beside the bytes.
type flight struct {
	truth  frame.Frame // what the sender stored; empty if hashed
	sum    [sha256.Size]byte
	hashed bool // sum stands for truth
	rec    PacketRecord
	record uint64 // the place of rec among the records
	copies int    // beside the packet itself
	ended  uint16 // bit n: copy n has ended
	open   int    // copies that will still arrive
}

// maxTruths is how many packets under way are compared with a copy of the truth;
// of those beyond, on links that hold minutes of packets, only the SHA-256 is
// kept, which bounds the memory.
const maxTruths = 1024

// note remembers what the receiver must end up with.
func (f *flight) note(id uint64, stored *frame.Frame, d *digest) {
	if f.hashed = id >= maxTruths; f.hashed {
		f.sum = d.of(stored)
		return
	}
	f.truth.CopyFrom(stored)
}

// matches compares, bit for bit.
func (f *flight) matches(got *frame.Frame, d *digest) bool {
	if f.hashed {
		return d.of(got) == f.sum
	}
	return got.Equal(&f.truth)
}

// flights is a slab of flights with a free list: it grows to the most packets
// ever under way at once and then allocates nothing.
type flights struct {
	all  []*flight
	free []uint64
}

func (f *flights) take() (uint64, *flight) {
	if n := len(f.free); n > 0 {
		id := f.free[n-1]
		f.free = f.free[:n-1]
		return id, f.all[id]
	}
	f.all = append(f.all, &flight{})
	id := uint64(len(f.all) - 1)
	return id, f.all[id]
}

func (f *flights) get(id uint64) *flight { return f.all[id] }

func (f *flights) release(id uint64) { f.free = append(f.free, id) }

// records is a ring of the newest packets.
type records struct {
	ring []PacketRecord
	n    uint64 // ever added
}

func (r *records) add(rec PacketRecord) uint64 {
	r.ring[r.n%uint64(len(r.ring))] = rec
	r.n++
	return r.n - 1
}

// set rewrites a record unless it has left the ring.
func (r *records) set(at uint64, rec *PacketRecord) {
	if r.n-at <= uint64(len(r.ring)) {
		r.ring[at%uint64(len(r.ring))] = *rec
	}
}

// last appends the newest n records to dst, oldest first.
func (r *records) last(dst []PacketRecord, n int) []PacketRecord {
	n = int(min(uint64(n), r.n, uint64(len(r.ring))))
	for i := r.n - uint64(n); i < r.n; i++ {
		dst = append(dst, r.ring[i%uint64(len(r.ring))])
	}
	return dst
}
