package meters

import (
	"testing"
	"time"

	"wirelab/experiment/engine/packetlog"
)

// ackedUpTo is a sender whose newest acked packet has this number.
type ackedUpTo uint64

func (a ackedUpTo) Acked() (uint64, bool) { return uint64(a), true }

// A round trip is counted at the first ack that names a packet as the newest, however many acks follow, and
// not for packets whose time of sending is no longer stored.
func TestRoundTrips(t *testing.T) {
	m := New(60, 0)
	const tick = 10 * time.Millisecond
	for seq := range uint64(3000) {
		m.sent.add(&packetlog.Record{Seq: seq, Sent: time.Duration(seq) * tick})
	}
	now := 3000 * tick
	for _, seq := range []ackedUpTo{1000, 2990, 2990, 2995} {
		m.CountAck(now, seq)
	}
	s := m.CloseSample(now, 0, nil)
	if x := s.Transport; x.Acks != 4 || x.RoundTrip != 5*tick || x.RoundTripPeak != 10*tick {
		t.Errorf("%d acks, round trips of %v to %v; want 4, 50ms to 100ms", x.Acks, x.RoundTrip, x.RoundTripPeak)
	}
	m.CountAck(now+time.Second, ackedUpTo(2995))
	if x := m.CloseSample(now+time.Second, 0, nil).Transport; x.Acks != 1 || x.RoundTrip != 0 {
		t.Errorf("a repeated ack: %d acks and a round trip of %v", x.Acks, x.RoundTrip)
	}
}
