package engine

import (
	"crypto/sha256"
	"iter"
	"math"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/container"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/ring"
	"wirelab/lossmodel"
)

// flight is the lab's state of a packet in flight: its record, and the frame that the receiver must
// decode. The endpoints have no access to it. The network delivers tag along with the bytes.
// Copy 0 of a packet is the packet itself; the link makes copies 1 and up.
type flight struct {
	tag         uint64
	inFlight    bool              // false once the flight is released
	expected    *frame.Shared     // the frame that the receiver must decode; nil if only expectedSum is stored
	expectedSum [sha256.Size]byte // SHA-256 of that frame; set if expected is nil
	unquantised bool              // that frame is the source's, unchanged: not a block of a file, and the codec does not quantise
	rec         packetlog.Record
	record      uint64            // number of rec in the log
	linkStretch int               // number of the meters.LinkStretch that counts it; unused if fateUnknown
	copies      int               // copies made by the link, without the packet itself
	endedCopies uint16            // bit n is set if the outcome of copy n is recorded
	arriving    int               // copies that have yet to arrive, including the packet itself
	fateUnknown bool              // with a remote receiver: whether and when it arrives was unknown when it was sent
	leftAt      time.Duration     // latest time at which it entered the real network
	trails      []lossmodel.Trail // of copies 1 and up; empty unless packets are inspected
	repairing
}

// repairing is the state of a flight whose lane has a carrier.
type repairing struct {
	inStream     bool             // the packet is in the stream of a messenger
	known        bool             // the packet has arrived, by whatever datagram
	ownEnded     bool             // its own datagram was lost or damaged, or arrived after the repair
	repairable   bool             // datagrams that may repair it are in flight or to be sent
	awaitsRepair bool             // its datagram was lost or damaged; counts as an arrival
	lostAt       lossmodel.Cause  // stage that dropped the datagram, if awaitsRepair; None if it was damaged
	flipped      int              // flipped bits, if it was damaged
	repair       container.Repair // how it was repaired; NotRepaired if it was not
	repairedFrom uint64           // see packetlog.Record
}

// openCopies iterates over the numbers of the copies whose outcome is not recorded yet.
func (f *flight) openCopies() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := 0; n <= f.copies; n++ {
			if f.endedCopies>>n&1 == 0 && !yield(n) {
				return
			}
		}
	}
}

// matches reports whether got, the decoded frame, equals the sender's frame bit for bit.
func (f *flight) matches(got *frame.Frame, d *digest) bool {
	if f.expected == nil {
		return d.frameSum(got) == f.expectedSum
	}
	return got.Equal(&f.expected.Frame)
}

// fingerprint returns the fingerprint of the sender's frame.
func (f *flight) fingerprint(d *digest) Fingerprint {
	if f.expected == nil {
		return Fingerprint(f.expectedSum[:len(Fingerprint{})])
	}
	return d.fingerprint(&f.expected.Frame)
}

// flights are the packets in flight, in the order of their sequence numbers.
type flights struct {
	queue ring.Queue[flight] // indexed by tag; flights other than the first may already be released
	pool  *frame.Pool        // for copies of frames that are not the source's
}

// maxExpectedFrames is the maximum number of packets in flight whose frame is stored. Of further
// packets, on links that hold minutes of packets, only the SHA-256 is stored. This bounds the memory.
const maxExpectedFrames = 1024

// add returns a new flight, valid until the next call. stored is the frame that the receiver must decode.
// source is the source's frame if stored equals it, else nil. add keeps source, which is shared, but copies
// stored, which the sender reuses. If more than maxExpectedFrames flights are stored, the flight has only
// the hash of the frame, computed by d.
func (s *flights) add(stored *frame.Frame, source *frame.Shared, d *digest) *flight {
	f := s.queue.Push()
	*f = flight{tag: s.queue.Next() - 1, inFlight: true, unquantised: source != nil, trails: f.trails[:0]}
	switch {
	case s.queue.Len() > maxExpectedFrames:
		f.expectedSum = d.frameSum(stored)
	case f.unquantised:
		f.expected = source.Retain()
	default:
		f.expected = s.pool.Get()
		f.expected.CopyFrom(stored)
	}
	return f
}

// get returns the flight with the given tag; nil if it was released.
func (s *flights) get(tag uint64) *flight {
	if f := s.queue.At(tag); f != nil && f.inFlight {
		return f
	}
	return nil
}

// release frees a flight. All outcomes of its copies must be recorded. Flights leave the queue in order, so
// a released flight stays there until all older ones are released.
func (s *flights) release(f *flight) {
	f.inFlight = false
	if f.expected != nil {
		f.expected.Release()
		f.expected = nil
	}
	for s.queue.Len() > 0 && !s.queue.At(s.queue.First()).inFlight {
		s.queue.Pop()
	}
}

// oldest returns the oldest flight that is not released; nil if nothing is in flight.
func (s *flights) oldest() *flight { return s.queue.At(s.queue.First()) }

// firstUnsettled returns the sequence number of the oldest packet in flight, or the maximum if
// nothing is in flight.
func (s *flights) firstUnsettled() uint64 {
	if f := s.oldest(); f != nil {
		return f.rec.Seq
	}
	return math.MaxUint64
}
