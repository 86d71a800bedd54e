package endpoint

import (
	"errors"

	"wirelab/dataset/frame"
)

// maxJump is the largest distance between two sequence numbers at which they may belong to packets that
// were sent one after the other. A packet further ahead of the newest one cannot have a reference that
// the receiver holds: it either follows an outage, or its sequence number is damaged.
const maxJump = frame.MaxHistory

// ErrDoubted is the error of a packet that was not decoded because its sequence number is far both
// from the newest one and from that of the packet received before.
var ErrDoubted = errors.New("endpoint: sequence number is far from the newest, and no second packet confirms it yet")

// guard prevents that a single damaged sequence number changes the receiver's newest sequence number
// by more than a second of packets. A number further ahead is doubted. It is accepted if the packet
// received before was doubted too and had a number near it (RFC 3550, appendix A.1). After an outage
// this discards the first packet.
//
// Two packets may be damaged in the same way and confirm each other. Then the next packets continue the
// numbers before the jump, and when two of them confirm each other, the receiver undoes the jump.
type guard struct {
	isEnabled bool   // set by Receiver.Guard
	reach     uint64 // numbers at most this far ahead of the newest are accepted at once
	step      uint64 // numbers ahead by a multiple of it, at most maxJump, are accepted too: a sender may send every n-th; 0 if unknown
	seq       uint64 // sequence number of the last packet, if doubted is set
	doubted   bool   // the last packet was doubted

	before       position // before the last jump, if afterJump > 0
	afterJump    int      // how many more accepted packets it takes to make the last jump final
	hasContinued bool     // a packet has continued the numbers before the last jump
	continuedBy  uint64   // sequence number of that packet
}

// position is the part of a receiver's state that depends on the sequence numbers.
type position struct {
	newestSeq uint64
	seen      seenWindow
	acks      ackWindow
}

// finalAfter is the number of packets after which a jump can no longer be undone.
const finalAfter = 16

// newGuard returns the guard of a receiver with the given options.
func newGuard(opt *Options) guard {
	const minReach = 8 // at a low rate a few lost packets must not look like a damaged number
	return guard{reach: uint64(min(max(opt.cadence().RateHz, minReach), maxJump))}
}

// isFarAhead reports whether seq is so far ahead of newest that it must be confirmed.
func (g *guard) isFarAhead(seq, newest uint64) bool {
	if seq <= newest+g.reach {
		return false
	}
	return g.step == 0 || seq > newest+maxJump || (seq-newest)%g.step != 0
}

// recordContinued records that packet seq continues the numbers before the last jump. It returns true if another packet
// did so before: then the jump was wrong.
func (g *guard) recordContinued(seq uint64) (isSecond bool) {
	isSecond = g.hasContinued && seq != g.continuedBy
	g.hasContinued, g.continuedBy = true, seq
	return isSecond
}

// confirmOrDoubt reports whether the last packet was doubted and had a number near seq, but not seq itself:
// a copy of the same packet confirms nothing. If not, it records that packet seq is doubted.
func (g *guard) confirmOrDoubt(seq uint64) bool {
	confirmed := g.doubted && seq != g.seq && !isFar(seq, g.seq)
	if confirmed {
		g.step = max(seq, g.seq) - min(seq, g.seq)
	}
	g.seq, g.doubted = seq, !confirmed
	return confirmed
}

// accept records that a packet with number seq near newest, the newest one, was accepted.
func (g *guard) accept(seq, newest uint64) {
	g.doubted, g.afterJump = false, max(0, g.afterJump-1)
	if seq > newest && seq <= newest+g.reach {
		g.step = 0
	}
}

// isFar reports whether two sequence numbers differ by more than maxJump.
func isFar(a, b uint64) bool { return a > b+maxJump || b > a+maxJump }

// Guard sets whether the receiver doubts sequence numbers that are more than a second of packets, at
// least 8 and at most 255, ahead of the newest one. A doubted packet is not decoded, unless the next packet
// confirms its sequence number; see ErrDoubted. Set it if datagrams may arrive damaged because there is
// no checksum below. The default is false.
func (r *Receiver) Guard(on bool) { r.guard.isEnabled = on }

// fullSeq returns the full sequence number of a packet: from its header or, if the header contains only
// 16 bits, near the newest one, or near the newest one before a recent jump. The first packet of a receiver
// that expects number 0 has its 16 bits.
func (r *Receiver) fullSeq(h *header) uint64 {
	if h.hasFullSeq || !r.started && r.newestSeq == 0 {
		return h.seq
	}
	seq := unwrap(r.newestSeq, uint16(h.seq))
	if r.guard.afterJump > 0 && (isFar(seq, r.newestSeq) || r.guard.isFarAhead(seq, r.newestSeq)) {
		if continued := unwrap(r.guard.before.newestSeq, uint16(h.seq)); !isFar(continued, r.guard.before.newestSeq) {
			return continued
		}
	}
	return seq
}

// acceptSeq reports whether the packet with header h and sequence number seq may be decoded. A packet far
// ahead of the newest must be confirmed by a second packet, if Guard is on. A packet far behind the newest
// is merely late, with two exceptions, in which a second packet must confirm it too: if it continues the
// numbers before a recent jump, the jump is undone; if its header contains the full sequence number, the
// receiver's newest sequence number is wrong, and the receiver restarts at seq.
func (r *Receiver) acceptSeq(h *header, seq uint64) bool {
	g := &r.guard
	isBehind := isFar(seq, r.newestSeq) && seq < r.newestSeq
	isAhead := g.isFarAhead(seq, r.newestSeq)
	continuesOld := g.afterJump > 0 && seq+g.reach < r.newestSeq && !isFar(seq, g.before.newestSeq)
	switch {
	case continuesOld && g.recordContinued(seq):
		r.undoJump()
	case continuesOld:
		return false
	case !isBehind && !isAhead, isBehind && !h.hasFullSeq, isAhead && !g.isEnabled: // near, merely late, or not guarded
		g.accept(seq, r.newestSeq)
	case !g.confirmOrDoubt(seq):
		return false
	case isBehind:
		r.restartAt(seq)
	default:
		if g.afterJump == 0 { // otherwise the jump before is not final: one undo must revert both
			g.before, g.hasContinued = position{r.newestSeq, r.seen, r.acks}, false
		}
		g.afterJump = finalAfter
	}
	return true
}

// undoJump returns to the sequence numbers before the last jump. The frames after it are dropped.
func (r *Receiver) undoJump() {
	p := &r.guard.before
	r.newestSeq, r.seen, r.acks = p.newestSeq, p.seen, p.acks
	r.history.Rewind(r.newestSeq)
	r.guard.afterJump, r.guard.step, r.guard.doubted = 0, 0, false
	r.movedBack = true
}

// restartAt drops the state of all packets, whose sequence numbers were wrong. The next packet is seq.
func (r *Receiver) restartAt(seq uint64) {
	r.history.Clear()
	r.seen, r.acks = seenWindow{}, ackWindow{}
	r.newestSeq = seq
	r.guard.afterJump = 0
	r.movedBack = true
}
