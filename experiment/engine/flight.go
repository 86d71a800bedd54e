package engine

import (
	"crypto/sha256"

	"wirelab/dataset/frame"
	"wirelab/lossmodel"
)

// flight is what the lab knows about a packet under way: what it should become,
// and the row it will make in the report. Endpoints never see it; the network hands
// its tag back beside the bytes.
type flight struct {
	id, generation uint32      // its tag: the place in the slab, and how often that was taken
	truth          frame.Frame // what the sender stored; empty if hashed
	sum            [sha256.Size]byte
	hashed         bool // sum stands for truth
	rec            PacketRecord
	record         uint64 // the place of rec among the records
	copies         int    // beside the packet itself
	ended          uint16 // bit n: copy n has ended
	arriving       int    // copies that will still arrive
	fateUnknown    bool   // the network did not say what becomes of it: copies and open do not count

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
	return uint64(x.generation)<<32 | uint64(x.id), x
}

// get returns the flight of a tag; nil if it was released.
func (f *flights) get(tag uint64) *flight {
	if x := f.all[uint32(tag)]; x.generation == uint32(tag>>32) {
		return x
	}
	return nil
}

// release frees a flight; its tag means nothing from then on.
func (f *flights) release(tag uint64) {
	x := f.all[uint32(tag)]
	x.generation++
	f.free = append(f.free, x.id)
}

// wait files a flight whose fate the network did not tell.
func (f *flights) wait(tag uint64) { f.waiting = append(f.waiting, tag) }

// oldestUntold returns the flight that has waited longest; nil if none does.
func (f *flights) oldestWaiting() *flight {
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
