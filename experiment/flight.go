package experiment

import (
	"crypto/sha256"
	"time"

	"wirelab/dataset/frame"
	"wirelab/lossmodel"
)

// flight is what the lab knows about a packet under way: what it should become,
// and the row it will make in the report. Endpoints never see it; the network hands
// its tag back beside the bytes.
type flight struct {
	id, life uint32      // its tag: the place in the slab, and how often that was taken
	truth    frame.Frame // what the sender stored; empty if hashed
	sum      [sha256.Size]byte
	hashed   bool // sum stands for truth
	rec      PacketRecord
	record   uint64 // the place of rec among the records
	copies   int    // beside the packet itself
	ended    uint16 // bit n: copy n has ended
	open     int    // copies that will still arrive
	untold   bool   // the network did not say what becomes of it: copies and open do not count

	trails []lossmodel.Trail // of the copies, from number 1 on, if packets are inspected
}

// maxTruths is how many packets under way are compared with a copy of the truth;
// of those beyond, on links that hold minutes of packets, only the SHA-256 is
// kept, which bounds the memory.
const maxTruths = 1024

// note remembers what the receiver must end up with.
func (f *flight) note(stored *frame.Frame, d *digest) {
	if f.hashed = f.id >= maxTruths; f.hashed {
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
	all     []*flight
	free    []uint32
	waiting []uint64 // tags of those untold, the oldest first, from head on
	head    int
}

// take returns a flight and the tag that names it until it is released.
func (f *flights) take() (tag uint64, x *flight) {
	if n := len(f.free); n > 0 {
		x = f.all[f.free[n-1]]
		f.free = f.free[:n-1]
	} else {
		x = &flight{id: uint32(len(f.all))}
		f.all = append(f.all, x)
	}
	return uint64(x.life)<<32 | uint64(x.id), x
}

// get returns the flight of a tag; nil if it was released.
func (f *flights) get(tag uint64) *flight {
	if x := f.all[uint32(tag)]; x.life == uint32(tag>>32) {
		return x
	}
	return nil
}

// release frees a flight; its tag means nothing from then on.
func (f *flights) release(tag uint64) {
	x := f.all[uint32(tag)]
	x.life++
	f.free = append(f.free, x.id)
}

// wait files a flight whose fate the network did not tell.
func (f *flights) wait(tag uint64) { f.waiting = append(f.waiting, tag) }

// oldestUntold returns the flight that has waited longest; nil if none does.
func (f *flights) oldestUntold() *flight {
	if f.head == len(f.waiting) {
		return nil
	}
	return f.all[uint32(f.waiting[f.head])]
}

// dropOldest releases the flight that has waited longest.
func (f *flights) dropOldest() {
	f.release(f.waiting[f.head])
	if f.head++; f.head == len(f.waiting) || f.head > 2*expireAfter {
		f.waiting, f.head = append(f.waiting[:0], f.waiting[f.head:]...), 0
	}
}

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

// set rewrites a record, and reports whether it was still in the ring.
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

// find returns the record of a packet itself, no copy; nil if it is not among the
// newest that are looked through.
func (r *records) find(seq uint64) *PacketRecord {
	const far = 4 * frame.MaxHistory
	for n := r.n; n > r.oldest() && r.n-n < far; n-- {
		if x := r.at(n - 1); x.Seq == seq && x.Copy == 0 {
			return x
		}
	}
	return nil
}

// passed returns when the receiver first kept a packet beyond seq; 0 if that is not
// known.
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
