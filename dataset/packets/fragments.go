package packets

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/gopacket/gopacket/layers"
)

// Limits of reassembly: at most 64 incomplete datagrams of 64 kB, each for 30 seconds of the capture.
// After that time senders may use an identification again (RFC 791, RFC 8200).
const (
	maxWaiting       = 64
	maxWait          = int64(30 * time.Second) // longest wait for the fragments of a datagram, in nanoseconds
	maxDatagramBytes = 1<<16 - 1
)

// reassembler reassembles datagrams from IP fragments.
type reassembler struct {
	waiting []*partialDatagram // incomplete datagrams, oldest first
	spare   *partialDatagram   // memory for the next datagram; may be nil
	dropped int                // number of datagrams that were given up
}

// partialDatagram is an incomplete datagram. As RFC 5722 requires, fragments that overlap
// invalidate it; exact repetitions are accepted.
type partialDatagram struct {
	from, to      netip.Addr
	id            uint32                       // identification of the datagram in its IP headers
	firstSeen     int64                        // time of the first fragment that arrived
	protocol      layers.IPProtocol            // protocol in the fragment with offset 0
	buf           []byte                       // payload, with zeros where fragments are missing
	received      [maxDatagramBytes/8 + 1]bool // by unit of 8 bytes: whether the unit has arrived
	receivedBytes int                          // number of bytes that have arrived
	total         int                          // length of the payload; -1 until the last fragment arrives
}

// add adds the fragment s, which was captured at capturedAt (nanoseconds since 1970). offset is in
// bytes, id the identification, more the flag for more fragments. If it completes a datagram, add
// returns true and replaces the payload and protocol of s by those of the datagram, which are valid
// until the next call.
func (f *reassembler) add(s *segment, capturedAt int64, id uint32, offset int, more bool) bool {
	for len(f.waiting) > 0 && capturedAt-f.waiting[0].firstSeen > maxWait {
		f.drop(0)
	}
	i := slices.IndexFunc(f.waiting, func(p *partialDatagram) bool { return p.id == id && p.from == s.from && p.to == s.to })
	if i < 0 {
		i = f.start(s, capturedAt, id)
	}
	p := f.waiting[i]
	if !p.add(s, offset, more) {
		f.drop(i)
		return false
	}
	if p.total < 0 || p.receivedBytes < p.total {
		return false
	}
	s.payload, s.protocol = p.buf[:p.total], p.protocol
	f.remove(i)
	return true
}

// start starts the reassembly of the datagram to which s belongs, and returns its index in
// f.waiting. If there are too many it gives up the oldest.
func (f *reassembler) start(s *segment, capturedAt int64, id uint32) int {
	if len(f.waiting) == maxWaiting {
		f.drop(0)
	}
	p := f.spare
	f.spare = nil
	if p == nil {
		p = &partialDatagram{}
	}
	*p = partialDatagram{from: s.from, to: s.to, id: id, firstSeen: capturedAt, buf: p.buf[:0], total: -1}
	f.waiting = append(f.waiting, p)
	return len(f.waiting) - 1
}

// drop gives up the incomplete datagram with index i.
func (f *reassembler) drop(i int) {
	f.dropped++
	f.remove(i)
}

// remove removes the datagram with index i from the list. Its memory is used again by start.
func (f *reassembler) remove(i int) {
	f.spare = f.waiting[i]
	f.waiting = slices.Delete(f.waiting, i, i+1)
}

// add copies a fragment to its offset. It returns false if the fragment is malformed or contradicts
// others: all fragments but the last have a multiple of 8 bytes, none extends beyond the last, and
// none overlaps another unless it is an exact repetition.
func (p *partialDatagram) add(s *segment, offset int, more bool) bool {
	end := offset + len(s.payload)
	switch {
	case end > maxDatagramBytes, len(s.payload) == 0, more && len(s.payload)%8 != 0:
		return false
	case p.total >= 0 && (end > p.total || !more && end != p.total): // the fragment extends beyond the last one, or is another last one
		return false
	case !more && end < len(p.buf): // the fragment is the last one, but bytes beyond its end have arrived
		return false
	}
	if !more {
		p.total = end
	}
	if missing := end - len(p.buf); missing > 0 {
		p.buf = append(p.buf, make([]byte, missing)...)
	}
	first, last := offset/8, (end-1)/8
	seen := 0
	for _, have := range p.received[first : last+1] {
		if have {
			seen++
		}
	}
	if seen > 0 { // some units have arrived: only an exact repetition is accepted
		return seen == last-first+1 && bytes.Equal(p.buf[offset:end], s.payload)
	}
	for i := first; i <= last; i++ {
		p.received[i] = true
	}
	p.receivedBytes += copy(p.buf[offset:], s.payload)
	if offset == 0 {
		p.protocol = s.protocol
	}
	return true
}
