package engine

import (
	"crypto/sha256"
	"math"
	"time"

	"wirelab/dataset/frame"
	"wirelab/lossmodel"
)

// flight is the lab's state of a packet in flight: the true frame to compare with,
// and its record. Endpoints never see it. The network returns its tag with the bytes.
type flight struct {
	id, generation uint32        // its tag: the place in the slab, and how often that place was reused
	source         *frame.Shared // frame that the sender stored, if that is the source's and not hashed; else nil
	stored         frame.Frame   // frame that the sender stored, if it is another
	sum            [sha256.Size]byte
	hashed         bool // sum is kept instead of the frame
	exact          bool // the sender stored the source's frame as it is: no block of a file, and no codec that quantises
	rec            PacketRecord
	record         uint64        // number of rec in the records
	asked          int           // stretch of the link's settings that it was sent in; unused if fateUnknown
	copies         int           // made by the link, without the packet itself
	ended          uint16        // bit n: the outcome of copy n is recorded
	arriving       int           // copies that have yet to arrive
	fateUnknown    bool          // the network did not report its fate
	leaves         time.Duration // when it left for the network, at the latest known; only if fateUnknown

	trails []lossmodel.Trail // of copies 1 and up, if packets are inspected

	older, newer *flight // those in flight that were sent before and after it
}

// tag is what the network returns with the bytes.
func (f *flight) tag() uint64 { return uint64(f.generation)<<32 | uint64(f.id) }

// maxTruths is how many packets in flight are compared with a copy of the true frame.
// For further ones, on links that hold minutes of packets, only the SHA-256 is kept,
// which bounds the memory.
const maxTruths = 1024

// note stores the frame that the receiver must decode. source is the same one if the sender
// stored the source's frame as it is; else nil.
func (f *flight) note(stored *frame.Frame, source *frame.Shared, d *digest) {
	f.exact = source != nil
	switch f.hashed = f.id >= maxTruths; {
	case f.hashed:
		f.sum = d.of(stored)
	case f.exact:
		f.source = source.Keep()
	default:
		f.stored.CopyFrom(stored)
	}
}

// truth returns the frame that note stored; nil if it is hashed.
func (f *flight) truth() *frame.Frame {
	switch {
	case f.hashed:
		return nil
	case f.source != nil:
		return &f.source.Frame
	}
	return &f.stored
}

// matches reports whether the decoded frame equals the true one, bit for bit.
func (f *flight) matches(got *frame.Frame, d *digest) bool {
	if f.hashed {
		return d.of(got) == f.sum
	}
	return got.Equal(f.truth())
}

// fingerprint returns that of the true frame.
func (f *flight) fingerprint(d *digest) Fingerprint {
	if f.hashed {
		return Fingerprint(f.sum[:len(Fingerprint{})])
	}
	return d.fingerprint(f.truth())
}

// flights is a slab of flights with a free list. It grows to the most packets ever in
// flight at once and then allocates nothing. Those in use are chained, in the order of
// their sequence numbers.
type flights struct {
	all            []*flight
	free           []uint32
	oldest, newest *flight // nil: nothing is in flight
}

// take returns a free flight and its tag, which is valid until the flight is
// released.
func (f *flights) take() (tag uint64, x *flight) {
	if n := len(f.free); n > 0 {
		x = f.all[f.free[n-1]]
		f.free = f.free[:n-1]
	} else {
		x = &flight{id: uint32(len(f.all))}
		f.all = append(f.all, x)
	}
	x.older, x.newer = f.newest, nil
	*f.after(f.newest), f.newest = x, x
	return x.tag(), x
}

// after is the place that says which flight comes after x; the oldest after nil.
func (f *flights) after(x *flight) **flight {
	if x == nil {
		return &f.oldest
	}
	return &x.newer
}

// get returns the flight of a tag; nil if it was released.
func (f *flights) get(tag uint64) *flight {
	if x := f.all[uint32(tag)]; x.tag() == tag {
		return x
	}
	return nil
}

// release frees a flight and invalidates its tag.
func (f *flights) release(x *flight) {
	*f.after(x.older) = x.newer
	if x.newer != nil {
		x.newer.older = x.older
	} else {
		f.newest = x.older
	}
	if x.source != nil {
		x.source.Release()
		x.source = nil
	}
	x.generation++
	f.free = append(f.free, x.id)
}

// settled returns the sequence number below which no packet is in flight.
func (f *flights) settled() uint64 {
	if f.oldest == nil {
		return math.MaxUint64
	}
	return f.oldest.rec.Seq
}
