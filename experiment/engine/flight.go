package engine

import (
	"crypto/sha256"
	"iter"
	"math"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/ring"
	"wirelab/lossmodel"
)

// flight is the lab's state of a packet in flight: the true frame to compare with, and its
// record. Endpoints never see it. The network returns its tag with the bytes.
type flight struct {
	tag         uint64
	inFlight    bool          // false once all copies have ended
	truth       *frame.Shared // what the receiver must decode; nil if only sum is kept
	sum         [sha256.Size]byte
	exact       bool // the sender stored the source's frame: no block of a file, and no codec that quantises
	rec         packetlog.Record
	record      uint64            // number of rec in the log
	stretch     int               // of the link's settings in which it was sent; unused if fateUnknown
	copies      int               // made by the link, without the packet itself
	ended       uint16            // bit n: the outcome of copy n is recorded
	arriving    int               // copies that have yet to arrive
	fateUnknown bool              // the network did not report its fate
	leaves      time.Duration     // when it left for the network, at the latest known; only if fateUnknown
	trails      []lossmodel.Trail // of copies 1 and up, if packets are inspected
}

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

// matches reports whether the decoded frame equals the true one, bit for bit.
func (f *flight) matches(got *frame.Frame, d *digest) bool {
	if f.truth == nil {
		return d.of(got) == f.sum
	}
	return got.Equal(&f.truth.Frame)
}

// fingerprint returns that of the true frame.
func (f *flight) fingerprint(d *digest) Fingerprint {
	if f.truth == nil {
		return Fingerprint(f.sum[:len(Fingerprint{})])
	}
	return d.fingerprint(&f.truth.Frame)
}

// flights are the packets in flight, in the order of their sequence numbers.
type flights struct {
	queue ring.Queue[flight] // by tag; some in the middle may have landed
	pool  *frame.Pool        // of frames that are not the source's
}

// maxTruths is how many packets in flight are compared with the true frame. For further ones, on
// links that hold minutes of packets, only the SHA-256 is kept, which bounds the memory.
const maxTruths = 1024

// take returns a new flight, until the next call. The receiver must decode stored; source is the
// same frame if the sender stored the source's unchanged, else nil.
func (s *flights) take(stored *frame.Frame, source *frame.Shared, d *digest) *flight {
	f := s.queue.Push()
	*f = flight{tag: s.queue.Next() - 1, inFlight: true, exact: source != nil, trails: f.trails[:0]}
	switch {
	case s.queue.Len() > maxTruths:
		f.sum = d.of(stored)
	case f.exact:
		f.truth = source.Keep()
	default:
		f.truth = s.pool.Take()
		f.truth.CopyFrom(stored)
	}
	return f
}

// get returns the flight with that tag; nil if it was released.
func (s *flights) get(tag uint64) *flight {
	if f := s.queue.At(tag); f != nil && f.inFlight {
		return f
	}
	return nil
}

// release ends a flight.
func (s *flights) release(f *flight) {
	f.inFlight = false
	if f.truth != nil {
		f.truth.Release()
		f.truth = nil
	}
	for s.queue.Len() > 0 && !s.queue.At(s.queue.First()).inFlight {
		s.queue.Pop()
	}
}

// oldest returns the oldest packet in flight; nil if nothing is in flight.
func (s *flights) oldest() *flight { return s.queue.At(s.queue.First()) }

// settled returns the sequence number below which no packet is in flight.
func (s *flights) settled() uint64 {
	if f := s.oldest(); f != nil {
		return f.rec.Seq
	}
	return math.MaxUint64
}
