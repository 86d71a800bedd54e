package capture

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNoMatch: two captures have nothing in common.
var ErrNoMatch = errors.New("nothing in common")

// Sighting is a datagram as one end saw it, by that end's clock.
type Sighting struct {
	At   time.Duration
	Data []byte
}

// Matching counts how the datagrams of two captures were matched.
type Matching struct {
	Sent      int `json:"sent"`      // datagrams that the sender's capture holds
	Received  int `json:"received"`  // that the receiver's holds
	Matched   int `json:"matched"`   // sent ones that came, once or more
	Lost      int `json:"lost"`      // sent ones that did not
	Copies    int `json:"copies"`    // received ones beyond the first of each
	Outside   int `json:"outside"`   // sent ones, not received, of times that the receiver's capture does not cover: left out
	Unmatched int `json:"unmatched"` // received ones that match no datagram sent: of others, or damaged
	Equal     int `json:"equal"`     // sent ones that equal others byte for byte: distinguished by order and time
}

// Match finds each datagram that was sent among those received, by content. The network
// may lose, double, delay and reorder them, and the clocks may differ. Those of equal
// content are distinguished by order and time (see align). from and to are the times that the
// receiver's capture covers; what would have come outside is left out unless it came.
// Both lists must be in order of time.
func Match(sent, received []Sighting, from, to time.Duration) (*Capture, Matching, error) {
	m := Matching{Sent: len(sent), Received: len(received)}
	if len(sent) > MaxRows/2 || len(received) > MaxRows/2 {
		return nil, m, fmt.Errorf("%d and %d datagrams, expected at most %d", len(sent), len(received), MaxRows/2)
	}
	x := &matcher{sent: sent, received: received, arrivals: make([][]int32, len(sent))}
	x.group(&m)
	x.usual = usualDelays(x.alone())
	for i := range x.groups {
		switch g := &x.groups[i]; {
		case len(g.sent) > 1:
			x.align(g)
		case len(g.received) > 1:
			x.sift(g)
		}
	}
	c := &Capture{HasSent: true, HasDelay: true}
	x.rows(c, &m, from, to)
	if m.Matched == 0 {
		return nil, m, fmt.Errorf("%w: none of %d datagrams sent is among %d received", ErrNoMatch, m.Sent, m.Received)
	}
	return c, m, nil
}

// matcher is two captures on their way to one.
type matcher struct {
	sent, received []Sighting
	groups         []group
	arrivals       [][]int32 // of each sent one: those received, in order
	usual          usual
}

// group is the datagrams of one content, in order.
type group struct{ sent, received []int32 }

// group puts datagrams of equal content together.
func (x *matcher) group(m *Matching) {
	index := make(map[[16]byte]int32, len(x.sent))
	key := func(data []byte) [16]byte {
		sum := sha256.Sum256(data)
		return [16]byte(sum[:16])
	}
	for i := range x.sent {
		k := key(x.sent[i].Data)
		at, known := index[k]
		if !known {
			at = int32(len(x.groups))
			index[k] = at
			x.groups = append(x.groups, group{})
		}
		x.groups[at].sent = append(x.groups[at].sent, int32(i))
	}
	for i := range x.received {
		if at, known := index[key(x.received[i].Data)]; known {
			x.groups[at].received = append(x.groups[at].received, int32(i))
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

// known is a datagram whose arrival is certain.
type known struct{ at, took time.Duration }

// alone returns the datagrams that no other equals and that came, in order; if there are none,
// those of contents that came as often as they were sent, and the first of the others.
func (x *matcher) alone() (list []known) {
	add := func(s, r int32) {
		list = append(list, known{at: x.sent[s].At, took: x.received[r].At - x.sent[s].At})
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
	slices.SortStableFunc(list, func(a, b known) int { return cmp.Compare(a.at, b.at) })
	return list
}

// longest is the longest that a network is taken to hold a datagram, beyond what is usual.
const longest = 10 * time.Second

// sift takes from a datagram what arrived at quite another time: one of the same content
// was sent before the sender's capture began.
func (x *matcher) sift(g *group) {
	s := g.sent[0]
	due := x.sent[s].At + x.usual.at(x.sent[s].At)
	kept := g.received[:0:0]
	for _, r := range g.received {
		if off := x.received[r].At - due; off < longest && off > -longest {
			kept = append(kept, r)
		}
	}
	x.arrivals[s] = kept
}

// rows makes the capture.
func (x *matcher) rows(c *Capture, m *Matching, from, to time.Duration) {
	taken := 0
	came := func(a []int32) bool { return len(a) > 0 }
	first, last := slices.IndexFunc(x.arrivals, came), len(x.arrivals)-1
	for last >= 0 && !came(x.arrivals[last]) {
		last--
	}
	for i := range x.sent {
		s := &x.sent[i]
		a := x.arrivals[i]
		taken += len(a)
		if len(a) == 0 {
			if due := s.At + x.usual.at(s.At); i < first && due < from || i > last && due+x.usual.window > to {
				m.Outside++
				continue
			}
			m.Lost++
			c.Packets = append(c.Packets, Packet{Seq: uint64(i), Sent: s.At, Lost: true})
			continue
		}
		m.Matched++
		m.Copies += len(a) - 1
		for k, r := range a {
			c.Packets = append(c.Packets, Packet{Seq: uint64(i), Copy: k, Sent: s.At, Took: x.received[r].At - s.At})
		}
	}
	m.Unmatched = m.Received - taken
}
