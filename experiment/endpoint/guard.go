package endpoint

import (
	"errors"

	"wirelab/dataset/frame"
)

// maxJump is how far from the newest packet a sequence number is believed at once. No
// packet names a frame that is further back. So one from further ahead follows an outage
// and builds on the initial state, or its number is damaged.
const maxJump = frame.MaxHistory

// ErrDoubted says that a packet's sequence number is far from the newest one, and that
// the packet before it does not agree. The packet was not decoded.
var ErrDoubted = errors.New("endpoint: sequence number is far from the newest, and no second packet agrees with it yet")

// guard keeps one damaged sequence number from moving the receiver for good. A number far
// from the newest is believed if the packet right before it had one near to it, as in RFC
// 3550, appendix A.1. After an outage this takes the first packet.
type guard struct {
	on      bool
	seq     uint64 // of the newest packet, if it was doubted
	doubted bool
}

// agrees reports whether the packet before was doubted too, and had a number near seq. If
// not, seq is doubted now. A copy of the packet before is no second packet.
func (g *guard) agrees(seq uint64) bool {
	agrees := g.doubted && seq != g.seq && !far(seq, g.seq)
	g.seq, g.doubted = seq, !agrees
	return agrees
}

func far(a, b uint64) bool { return a > b+maxJump || b > a+maxJump }

// Guard sets whether the receiver doubts sequence numbers far ahead of the newest. It
// should where datagrams may arrive damaged, because no checksum is below.
func (r *Receiver) Guard(on bool) { r.guard.on = on }

// number returns a packet's full sequence.
func (r *Receiver) number(h *header) uint64 {
	if h.whole || !r.started && r.top == 0 {
		return h.seq
	}
	return unwrap(r.top, uint16(h.seq))
}

// believes reports whether packet h may be the one that seq says. One from far back is
// merely late, unless it says its number in full: then the receiver is too far ahead, and
// once a second packet agrees it starts again from there.
func (r *Receiver) believes(h *header, seq uint64) bool {
	back := far(seq, r.top) && seq < r.top
	switch {
	case !far(seq, r.top), back && !h.whole, !back && !r.guard.on:
		r.guard.doubted = false
		return true
	case !r.guard.agrees(seq):
		return false
	case back:
		r.goBack(seq)
	}
	return true
}

// goBack forgets everything about packets, whose numbers were wrong. The next is seq.
func (r *Receiver) goBack(seq uint64) {
	r.history.Forget()
	r.seen, r.window = seenWindow{}, ackWindow{}
	r.top, r.showing = seq, false
}
