package endpoint

import (
	"errors"

	"wirelab/dataset/frame"
)

// maxJump is the largest distance from the newest packet at which a sequence number is accepted
// at once. No packet refers to a frame that is further back. So a packet from further ahead
// follows an outage and builds on the initial state, or its number is damaged.
const maxJump = frame.MaxHistory

// ErrDoubted is returned for a packet whose sequence number is far from the newest one, and from
// that of the packet before. The packet was not decoded.
var ErrDoubted = errors.New("endpoint: sequence number is far from the newest, and no second packet agrees with it yet")

// guard keeps one damaged sequence number from moving the receiver permanently. A number far from
// the newest is accepted if the packet right before had a number near to it, as in RFC 3550,
// appendix A.1. After an outage this costs the first packet.
type guard struct {
	on      bool
	seq     uint64 // of the newest packet, if it was doubted
	doubted bool
}

// agrees reports whether the packet before was doubted too, and had a number near seq. If not,
// seq is doubted now. A copy of the packet before does not count.
func (g *guard) agrees(seq uint64) bool {
	agrees := g.doubted && seq != g.seq && !far(seq, g.seq)
	g.seq, g.doubted = seq, !agrees
	return agrees
}

func far(a, b uint64) bool { return a > b+maxJump || b > a+maxJump }

// Guard sets whether the receiver doubts sequence numbers far ahead of the newest. It should
// where datagrams may arrive damaged, because no checksum is below.
func (r *Receiver) Guard(on bool) { r.guard.on = on }

// number returns a packet's full sequence.
func (r *Receiver) number(h *header) uint64 {
	if h.whole || !r.started && r.top == 0 {
		return h.seq
	}
	return unwrap(r.top, uint16(h.seq))
}

// accepts reports whether packet h may have number seq. A packet from far back is only late, unless
// it has its number in full: then the receiver is too far ahead, and once a second packet agrees it
// starts again from there.
func (r *Receiver) accepts(h *header, seq uint64) bool {
	back := far(seq, r.top) && seq < r.top
	switch {
	case !far(seq, r.top), back && !h.whole, !back && !r.guard.on:
		r.guard.doubted = false
		return true
	case !r.guard.agrees(seq):
		return false
	case back:
		r.startAgain(seq)
	}
	return true
}

// startAgain forgets all packets, whose numbers were wrong. The next packet is seq.
func (r *Receiver) startAgain(seq uint64) {
	r.history.Forget()
	r.seen, r.window = seenWindow{}, ackWindow{}
	r.top = seq
}
