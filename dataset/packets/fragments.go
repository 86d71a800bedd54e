package packets

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/gopacket/gopacket/layers"
)

// Bounds on what waits for its missing pieces: 64 datagrams of 64 kB, for 30 seconds of
// the capture (RFC 791 and 8200 allow senders to use a number again after that long).
const (
	mostWaiting = 64
	longestWait = int64(30 * time.Second)
	mostBytes   = 1<<16 - 1
)

// fragments puts datagrams together.
type fragments struct {
	waiting []*puzzle // oldest first
	spare   *puzzle
	dropped int // datagrams that were never completed
}

// puzzle is a datagram of which pieces are missing. RFC 5722: pieces that overlap spoil
// it, unless they repeat the same bytes.
type puzzle struct {
	from, to netip.Addr
	id       uint32
	since    int64
	protocol layers.IPProtocol // of the first piece
	buf      []byte
	have     [mostBytes/8 + 1]bool // by eights of bytes
	got      int                   // bytes
	total    int                   // -1: the last piece is missing
}

// add takes a piece at an offset in bytes. If it completes the datagram, s is the
// datagram, valid until the next call.
func (f *fragments) add(s *segment, at int64, id uint32, offset int, more bool) bool {
	for len(f.waiting) > 0 && at-f.waiting[0].since > longestWait {
		f.drop(0)
	}
	i := slices.IndexFunc(f.waiting, func(p *puzzle) bool { return p.id == id && p.from == s.from && p.to == s.to })
	if i < 0 {
		i = f.begin(s, at, id)
	}
	p := f.waiting[i]
	if !p.add(s, offset, more) {
		f.drop(i)
		return false
	}
	if p.total < 0 || p.got < p.total {
		return false
	}
	s.data, s.protocol = p.buf[:p.total], p.protocol
	f.remove(i)
	return true
}

// begin makes room for a datagram.
func (f *fragments) begin(s *segment, at int64, id uint32) int {
	if len(f.waiting) == mostWaiting {
		f.drop(0)
	}
	p := f.spare
	f.spare = nil
	if p == nil {
		p = &puzzle{}
	}
	*p = puzzle{from: s.from, to: s.to, id: id, since: at, buf: p.buf[:0], total: -1}
	f.waiting = append(f.waiting, p)
	return len(f.waiting) - 1
}

func (f *fragments) drop(i int) {
	f.dropped++
	f.remove(i)
}

func (f *fragments) remove(i int) {
	f.spare = f.waiting[i]
	f.waiting = slices.Delete(f.waiting, i, i+1)
}

// add puts a piece in its place; false if it cannot be one of this datagram.
func (p *puzzle) add(s *segment, offset int, more bool) bool {
	end := offset + len(s.data)
	switch {
	case end > mostBytes, len(s.data) == 0, more && len(s.data)%8 != 0:
		return false
	case p.total >= 0 && (end > p.total || !more && end != p.total), !more && end < len(p.buf):
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
	for _, have := range p.have[first : last+1] {
		if have {
			seen++
		}
	}
	if seen > 0 { // accepted only as a repetition
		return seen == last-first+1 && bytes.Equal(p.buf[offset:end], s.data)
	}
	for i := first; i <= last; i++ {
		p.have[i] = true
	}
	p.got += copy(p.buf[offset:], s.data)
	if offset == 0 {
		p.protocol = s.protocol
	}
	return true
}
