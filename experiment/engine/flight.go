package engine

import (
	"crypto/sha256"
	"iter"
	"math"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// flight is the lab's state of a packet in flight: the true frame to compare with, and its
// record. Endpoints never see it. The network returns its tag with the bytes.
type flight struct {
	id, generation uint32        // its tag: the index in flights.all, and how often that was reused
	source         *frame.Shared // frame that the sender stored, if it is the source's and not hashed; else nil
	stored         frame.Frame   // frame that the sender stored, if it is another
	sum            [sha256.Size]byte
	hashed         bool // sum is kept instead of the frame
	exact          bool // the sender stored the source's frame: no block of a file, and no codec that quantises
	rec            packetlog.Record
	record         uint64        // number of rec in the log
	stretch        int           // of the link's settings in which it was sent; unused if fateUnknown
	copies         int           // made by the link, without the packet itself
	ended          uint16        // bit n: the outcome of copy n is recorded
	arriving       int           // copies that have yet to arrive
	fateUnknown    bool          // the network did not report its fate
	leaves         time.Duration // when it left for the network, at the latest known; only if fateUnknown

	trails []lossmodel.Trail // of copies 1 and up, if packets are inspected

	older, newer *flight // neighbours in flight, in the order they were sent
}

// tag is what the network returns with the bytes.
func (f *flight) tag() uint64 { return uint64(f.generation)<<32 | uint64(f.id) }

// open iterates over the numbers of the copies whose outcome is not recorded.
func (f *flight) open() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := 0; n <= f.copies; n++ {
			if f.ended>>n&1 == 0 && !yield(n) {
				return
			}
		}
	}
}

// maxFrameCopies is how many packets in flight are compared with a copy of the true frame. For
// further ones, on links that hold minutes of packets, only the SHA-256 is kept, which bounds
// the memory.
const maxFrameCopies = 1024

// keepTruth keeps the frame that the receiver must decode. source is the same frame if the
// sender stored the source's unchanged; else nil.
func (f *flight) keepTruth(stored *frame.Frame, source *frame.Shared, d *digest) {
	f.exact, f.hashed = source != nil, f.id >= maxFrameCopies
	switch {
	case f.hashed:
		f.sum = d.of(stored)
	case f.exact:
		f.source = source.Keep()
	default:
		f.stored.CopyFrom(stored)
	}
}

// truth returns the frame that keepTruth kept; nil if it is hashed.
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

// flights is a slab of flights with a free list. It grows to the most packets ever in flight at
// once and then allocates nothing. Flights in use are linked, in the order of their sequence
// numbers.
type flights struct {
	all            []*flight
	free           []uint32
	oldest, newest *flight // nil: nothing is in flight
}

// take returns a free flight. Its tag is valid until the flight is released.
func (s *flights) take() *flight {
	var f *flight
	if n := len(s.free); n > 0 {
		f = s.all[s.free[n-1]]
		s.free = s.free[:n-1]
	} else {
		f = &flight{id: uint32(len(s.all))}
		s.all = append(s.all, f)
	}
	f.older, f.newer = s.newest, nil
	if s.newest == nil {
		s.oldest = f
	} else {
		s.newest.newer = f
	}
	s.newest = f
	return f
}

// get returns the flight of a tag; nil if it was released.
func (s *flights) get(tag uint64) *flight {
	if f := s.all[uint32(tag)]; f.tag() == tag {
		return f
	}
	return nil
}

// release frees a flight and invalidates its tag.
func (s *flights) release(f *flight) {
	if f.older == nil {
		s.oldest = f.newer
	} else {
		f.older.newer = f.newer
	}
	if f.newer == nil {
		s.newest = f.older
	} else {
		f.newer.older = f.older
	}
	if f.source != nil {
		f.source.Release()
		f.source = nil
	}
	f.generation++
	s.free = append(s.free, f.id)
}

// settled returns the sequence number below which no packet is in flight.
func (s *flights) settled() uint64 {
	if s.oldest == nil {
		return math.MaxUint64
	}
	return s.oldest.rec.Seq
}
