package measure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"wirelab/internal/seed"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Traffic describes the packets that are sent over a link.
type Traffic struct {
	Packets  int
	Interval time.Duration    // time between packets; the mean if Poisson is set
	Size     int              // UDP payload in bytes
	Poisson  bool             // gaps are exponentially distributed instead of constant
	Load     tracefile.Loader // reads the files that the link names; nil means from disk
}

// MaxPackets is the largest number of packets of Trace. Traces may have two rows per packet.
const MaxPackets = capture.MaxRows / 2

// errTraffic means that a Traffic is out of range.
var errTraffic = errors.New("invalid traffic")

// check returns an error that wraps errTraffic if a field is out of range.
func (t *Traffic) check() error {
	switch {
	case t.Packets < 1 || t.Packets > MaxPackets:
		return fmt.Errorf("%w: %d packets, expected 1 to %d", errTraffic, t.Packets, MaxPackets)
	case t.Interval < 0 || t.Interval > time.Hour:
		return fmt.Errorf("%w: interval %v, expected 0 to 1h", errTraffic, t.Interval)
	case t.Size < 0 || t.Size > lossmodel.MaxDatagram:
		return fmt.Errorf("%w: datagrams of %d bytes, expected 0 to %d", errTraffic, t.Size, lossmodel.MaxDatagram)
	}
	return nil
}

// Trace sends traffic over a link and returns a row for each datagram and each copy, ordered by
// sequence number and copy. Damaged datagrams, which the receiver's checksum would reject, count as
// lost.
func Trace(spec lossmodel.Spec, seed uint64, t Traffic) ([]capture.Packet, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	link, err := lossmodel.NewLinkWith(t.Load, spec, seed, "down")
	if err != nil {
		return nil, err
	}
	rows := make([]capture.Packet, 0, t.Packets)
	addLost := func(seq uint64, copyNumber int, sent time.Duration) {
		rows = append(rows, capture.Packet{Seq: seq, Copy: copyNumber, Sent: sent, Lost: true})
	}
	receiveUntil := func(until time.Duration) {
		for d, ok := link.Receive(until); ok; d, ok = link.Receive(until) {
			if d.Flipped > 0 || d.Lost != lossmodel.None {
				addLost(d.Tag, d.Copy, d.Sent)
				continue
			}
			rows = append(rows, capture.Packet{Seq: d.Tag, Copy: d.Copy, Sent: d.Sent, Took: d.Due - d.Sent})
		}
	}
	now, data, gap := time.Duration(0), make([]byte, t.Size), t.newGapFunc(seed)
	for i := range t.Packets {
		v := link.Send(now, data, uint64(i))
		if v.Lost != lossmodel.None {
			addLost(uint64(i), 0, now)
		}
		for c, cause := range v.CopyLost[:v.Copies] {
			if cause != lossmodel.None {
				addLost(uint64(i), c+1, now)
			}
		}
		receiveUntil(now)
		now += gap()
	}
	receiveUntil(math.MaxInt64) // receives everything that is still in flight
	slices.SortFunc(rows, func(a, b capture.Packet) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy))
	})
	return rows, nil
}

// newGapFunc returns a function that returns the time to the next packet: constant, or drawn from a
// random stream of the session's seed if Poisson is set.
func (t *Traffic) newGapFunc(session uint64) func() time.Duration {
	if !t.Poisson {
		return func() time.Duration { return t.Interval }
	}
	pcg := seed.Tagged(session, "raffic\x00\x00") // an odd tag, but another one would change all traces
	return func() time.Duration { return random.ExponentialGap(pcg.Uint64(), t.Interval) }
}

// mustSequence returns the sequence of rows made by Trace, which are always valid.
func mustSequence(rows []capture.Packet) *capture.Sequence {
	s, err := (&capture.Capture{Packets: rows}).Sequence()
	if err != nil {
		panic("measure: invalid trace: " + err.Error())
	}
	return s
}
