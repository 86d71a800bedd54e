package endpoint

import (
	"errors"

	"wirelab/dataset/frame"
)

// maxJump is the largest distance between a sequence number and the newest one at which the number is
// accepted at once. A packet further ahead cannot have a reference that the receiver holds: it either
// follows an outage, or its sequence number is damaged.
const maxJump = frame.MaxHistory

// ErrDoubted is the error of a packet that was not decoded because its sequence number is far both
// from the newest one and from that of the packet received before.
var ErrDoubted = errors.New("endpoint: sequence number is far from the newest, and no second packet confirms it yet")

// guard prevents that a single damaged sequence number changes the receiver's newest sequence number
// by much. A number far from the newest one is doubted. It is accepted if the packet received before
// was doubted too and had a number near it (RFC 3550, appendix A.1). After an outage this discards
// the first packet.
type guard struct {
	on      bool
	seq     uint64 // sequence number of the last packet, if doubted is set
	doubted bool   // the last packet was doubted
}

// confirms reports whether the last packet was doubted and had a number near seq, but not seq itself:
// a copy of the same packet confirms nothing. Otherwise it records seq as doubted.
func (g *guard) confirms(seq uint64) bool {
	confirmed := g.doubted && seq != g.seq && !isFar(seq, g.seq)
	g.seq, g.doubted = seq, !confirmed
	return confirmed
}

// isFar reports whether two sequence numbers differ by more than maxJump.
func isFar(a, b uint64) bool { return a > b+maxJump || b > a+maxJump }

// Guard sets whether the receiver doubts sequence numbers that are more than 255 ahead of the newest
// one. A doubted packet is not decoded, unless the next packet confirms its sequence number; see
// ErrDoubted. Set it if datagrams may arrive damaged because there is no checksum below. The default
// is false.
func (r *Receiver) Guard(on bool) { r.guard.on = on }

// fullSeq returns the full sequence number of a packet: from its header or, if the header contains only
// 16 bits, near the newest one. The first packet of a receiver that expects number 0 has its 16 bits.
func (r *Receiver) fullSeq(h *header) uint64 {
	if h.hasFullSeq || !r.started && r.newestSeq == 0 {
		return h.seq
	}
	return unwrap(r.newestSeq, uint16(h.seq))
}

// acceptSeq reports whether the packet with header h and sequence number seq may be decoded. A packet far
// ahead of the newest must be confirmed by a second packet, if Guard is on. A packet far behind the newest
// is merely late, unless its header contains the full sequence number: then the receiver's newest sequence
// number is wrong, and when a second packet confirms this, the receiver restarts at seq.
func (r *Receiver) acceptSeq(h *header, seq uint64) bool {
	isBehind := isFar(seq, r.newestSeq) && seq < r.newestSeq
	switch {
	case !isFar(seq, r.newestSeq), isBehind && !h.hasFullSeq, !isBehind && !r.guard.on: // near, merely late, or not guarded
		r.guard.doubted = false
		return true
	case !r.guard.confirms(seq): // seq is doubted from now on, until a second packet confirms it
		return false
	case isBehind:
		r.restartAt(seq)
	}
	return true
}

// restartAt drops the state of all packets, whose sequence numbers were wrong. The next packet is seq.
func (r *Receiver) restartAt(seq uint64) {
	r.history.Clear()
	r.seen, r.acks = seenWindow{}, ackWindow{}
	r.newestSeq = seq
}
