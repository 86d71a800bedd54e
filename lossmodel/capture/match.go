package capture

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNoMatch means that two captures have no datagram in common.
var ErrNoMatch = errors.New("no common datagrams")

// Sighting is a datagram as it was captured on one side, with that side's time.
type Sighting struct {
	At   time.Duration
	Data []byte
}

// Matching counts how the datagrams of two captures were matched.
type Matching struct {
	Sent      int `json:"sent"`      // datagrams in the sender's capture
	Received  int `json:"received"`  // datagrams in the receiver's capture
	Matched   int `json:"matched"`   // sent datagrams that were received at least once
	Lost      int `json:"lost"`      // sent datagrams that were not received
	Copies    int `json:"copies"`    // received datagrams beyond the first of each sent one
	Outside   int `json:"outside"`   // sent datagrams whose arrival would be outside the receiver's capture; ignored
	Unmatched int `json:"unmatched"` // received datagrams that match no sent one: from another sender, or damaged
	Equal     int `json:"equal"`     // sent datagrams with the same content as others; matched by order and time
}

// Match pairs each sent datagram with the received datagrams of the same content, and returns the
// combined capture with the outcome of each sent datagram. The network may lose, duplicate, delay and
// reorder datagrams, and the clocks of the two sides may differ. If several sent datagrams have the
// same content, they are matched by order and time; see align. from and to are the time range of the
// receiver's capture. Both lists must be ordered by time.
func Match(sent, received []Sighting, from, to time.Duration) (*Capture, Matching, error) {
	m := Matching{Sent: len(sent), Received: len(received)}
	if len(sent) > MaxRows/2 || len(received) > MaxRows/2 {
		return nil, m, fmt.Errorf("%d and %d datagrams, expected at most %d", len(sent), len(received), MaxRows/2)
	}
	x := &matcher{sent: sent, received: received, arrivals: make([][]int32, len(sent))}
	x.groupByContent(&m)
	x.typical = newTypicalDelays(x.certainArrivals())
	for i := range x.groups {
		switch g := &x.groups[i]; {
		case len(g.sent) > 1:
			x.align(g)
		case len(g.received) > 1:
			x.dropFarArrivals(g)
		}
	}
	c := &Capture{HasSent: true, HasDelay: true}
	x.writeRows(c, &m, from, to)
	if m.Matched == 0 {
		return nil, m, fmt.Errorf("%w: none of %d datagrams sent is among %d received", ErrNoMatch, m.Sent, m.Received)
	}
	return c, m, nil
}

// matcher is the state of Match.
type matcher struct {
	sent, received []Sighting
	groups         []group
	arrivals       [][]int32 // by sent datagram: indices of its arrivals in received, in order
	typical        typicalDelays
}

// group has the indices of all datagrams with the same content, in order of time.
type group struct{ sent, received []int32 }

// groupByContent groups the datagrams by content, compared by hash. If a content was sent only once,
// groupByContent assigns its arrivals to that datagram; if it was sent several times, align assigns them
// later. It counts Unmatched and Equal in m.
func (x *matcher) groupByContent(m *Matching) {
	index := make(map[[16]byte]int32, len(x.sent)) // index of a group in x.groups, by the hash of the content
	key := func(data []byte) [16]byte {            // half of SHA-256 is enough to tell contents apart
		sum := sha256.Sum256(data)
		return [16]byte(sum[:16])
	}
	for i := range x.sent {
		k := key(x.sent[i].Data)
		groupIndex, known := index[k]
		if !known {
			groupIndex = int32(len(x.groups))
			index[k] = groupIndex
			x.groups = append(x.groups, group{})
		}
		x.groups[groupIndex].sent = append(x.groups[groupIndex].sent, int32(i))
	}
	for i := range x.received {
		if groupIndex, known := index[key(x.received[i].Data)]; known {
			x.groups[groupIndex].received = append(x.groups[groupIndex].received, int32(i))
		} else {
			m.Unmatched++
		}
	}
	for i := range x.groups {
		g := &x.groups[i]
		if len(g.sent) == 1 {
			x.arrivals[g.sent[0]] = g.received
		} else {
			m.Equal += len(g.sent)
		}
	}
}

// knownArrival is a datagram whose arrival is certain.
type knownArrival struct{ sentAt, delay time.Duration }

// certainArrivals returns sent datagrams whose arrival is known, with their delays, in the order of sending:
// those that arrived and whose content was sent only once. Without such datagrams it pairs those of contents
// that were received as often as sent in their order, and of other contents only the first.
func (x *matcher) certainArrivals() (list []knownArrival) {
	add := func(s, r int32) {
		list = append(list, knownArrival{sentAt: x.sent[s].At, delay: x.received[r].At - x.sent[s].At})
	}
	for i, a := range x.arrivals {
		if len(a) > 0 {
			add(int32(i), a[0])
		}
	}
	if len(list) > 0 {
		return list
	}
	for i := range x.groups {
		g := &x.groups[i]
		for k := range min(len(g.sent), len(g.received)) {
			if len(g.sent) == len(g.received) || k == 0 {
				add(g.sent[k], g.received[k])
			}
		}
	}
	slices.SortStableFunc(list, func(a, b knownArrival) int { return cmp.Compare(a.sentAt, b.sentAt) })
	return list
}

// maxDeviation is the largest deviation from the typical delay at which an arrival with unique
// content is matched.
const maxDeviation = 10 * time.Second

// dropFarArrivals removes arrivals far from the expected time: they belong to a datagram with the
// same content that was sent before the sender's capture began.
func (x *matcher) dropFarArrivals(g *group) {
	s := g.sent[0]
	due := x.sent[s].At + x.typical.delayAt(x.sent[s].At)
	kept := g.received[:0:0] // empty, without the memory of g.received
	for _, r := range g.received {
		if deviation := x.received[r].At - due; deviation < maxDeviation && deviation > -maxDeviation {
			kept = append(kept, r)
		}
	}
	x.arrivals[s] = kept
}

// writeRows adds the rows of all sent datagrams to c and counts them in m. A datagram without an
// arrival is lost, with one exception: if it is before the first or after the last datagram that arrived, and it
// would have arrived outside of the time range of the receiver's capture, which is from to to, it is ignored.
func (x *matcher) writeRows(c *Capture, m *Matching, from, to time.Duration) {
	used := 0 // received datagrams that belong to a sent one
	arrived := func(arrivals []int32) bool { return len(arrivals) > 0 }
	first, last := slices.IndexFunc(x.arrivals, arrived), len(x.arrivals)-1
	for last >= 0 && !arrived(x.arrivals[last]) {
		last--
	}
	for i := range x.sent {
		s := &x.sent[i]
		arrivals := x.arrivals[i]
		used += len(arrivals)
		if len(arrivals) == 0 {
			if due := s.At + x.typical.delayAt(s.At); i < first && due < from || i > last && due+x.typical.window > to {
				m.Outside++
				continue
			}
			m.Lost++
			c.Packets = append(c.Packets, Packet{Seq: uint64(i), Sent: s.At, Lost: true})
			continue
		}
		m.Matched++
		m.Copies += len(arrivals) - 1
		for k, r := range arrivals {
			c.Packets = append(c.Packets, Packet{Seq: uint64(i), Copy: k, Sent: s.At, Took: x.received[r].At - s.At})
		}
	}
	m.Unmatched = m.Received - used
}
