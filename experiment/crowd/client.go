package crowd

import (
	"math/bits"

	"wirelab/lossmodel"
)

// client is what the server, the links and the receiver keep of one client: 256 bytes. Frames are stored once for all
// clients.
type client struct {
	down, up lossmodel.Light

	// The server's part.
	acked      packetSet // packets that the client is known to have decoded
	epochAcked bool      // the newest ack names the epoch, so packets need no parameters
	key        uint16    // key of the encoding of the current packet

	// The receiver's part.
	decoded packetSet

	counts
}

// counts are the measurements of one client.
type counts struct {
	payloadBytes, wireBytes, feedbackBytes uint64
	ageSum                                 uint64 // distances to the baseline
	sent, withBaseline                     uint32 // packets; those with a baseline other than the initial state
	lost, fragmentLost                     uint32
	decoded, stale, wrong                  uint32
	noBaseline, corrupt, encodeFailed      uint32
}

// failed returns the number of packets that arrived without giving the client a correct frame.
func (n *counts) failed() uint32 { return n.noBaseline + n.corrupt + n.wrong }

// since returns the counts of the time after before.
func (n counts) since(before *counts) counts {
	n.payloadBytes -= before.payloadBytes
	n.wireBytes -= before.wireBytes
	n.feedbackBytes -= before.feedbackBytes
	n.ageSum -= before.ageSum
	n.sent -= before.sent
	n.withBaseline -= before.withBaseline
	n.lost -= before.lost
	n.fragmentLost -= before.fragmentLost
	n.decoded -= before.decoded
	n.stale -= before.stale
	n.wrong -= before.wrong
	n.noBaseline -= before.noBaseline
	n.corrupt -= before.corrupt
	n.encodeFailed -= before.encodeFailed
	return n
}

// maskPackets is the number of packets before the newest one that a packetSet records.
const maskPackets = 64

// packetSet records packets: the newest one and those of the maskPackets before it. The zero value is empty.
type packetSet struct {
	mask   uint64 // bit i is set if newest-1-i is in the set
	newest uint32
	any    bool
}

// add adds packet seq, unless it is too old.
func (s *packetSet) add(seq uint32) {
	switch {
	case !s.any:
		s.newest, s.any = seq, true
	case seq > s.newest:
		shift := seq - s.newest
		s.mask = s.mask<<shift | 1<<(shift-1) // 0 if the shift is larger than the mask
		s.newest = seq
	case seq < s.newest && s.newest-seq <= maskPackets:
		s.mask |= 1 << (s.newest - seq - 1)
	}
}

// addAck adds the packets of an ack: newest, and newest-1-i for each bit i of mask.
func (s *packetSet) addAck(newest, mask uint32) {
	s.add(newest)
	s.mask |= uint64(mask) << (s.newest - newest) // 0 if the packets are too old
}

// has reports whether packet seq is in the set.
func (s *packetSet) has(seq uint32) bool {
	if !s.any || seq >= s.newest {
		return s.any && seq == s.newest
	}
	behind := s.newest - seq
	return behind <= maskPackets && s.mask>>(behind-1)&1 == 1
}

// newestMultiple returns the newest packet of the set whose number is divisible by k; false if there is none.
func (s *packetSet) newestMultiple(k uint32) (seq uint32, ok bool) {
	if !s.any {
		return 0, false
	}
	for seq = s.newest - s.newest%k; s.newest-seq <= maskPackets; seq -= k {
		if s.has(seq) {
			return seq, true
		}
		if seq < k {
			break
		}
	}
	return 0, false
}

// baselines chooses the baseline of each packet.
type baselines struct {
	policy uint8
	step   uint32 // of every and anchors, in packets
	root   uint32 // of anchors, in packets: a multiple of step
	ages   uint64 // bit n-1 is set for age n
	maxAge uint32 // the largest age of a baseline
}

// Policies.
const (
	newest uint8 = iota
	every
	ages
	anchors
)

// withMemo is set in the key of an encoding that uses the memo of its anchor. The other bits are the age of the
// baseline in packets; 0 means the initial state.
const withMemo = 0x100

// maxKeys is an upper bound of keys.
const maxKeys = 2 * withMemo

// choose returns the key of the encoding for packet seq to c.
func (b *baselines) choose(c *client, seq uint32) (key uint16) {
	if !c.acked.any {
		return 0
	}
	base := c.acked.newest
	switch b.policy {
	case every, anchors:
		if multiple, ok := c.acked.newestMultiple(b.step); ok && seq-multiple <= b.maxAge {
			base = multiple
		}
	case ages:
		for rest := b.ages; rest != 0; rest &= rest - 1 {
			if age := uint32(bits.TrailingZeros64(rest)) + 1; age <= seq && c.acked.has(seq-age) {
				base = seq - age
				break
			}
		}
	}
	age := seq - base
	if age > b.maxAge {
		return 0
	}
	if b.policy == anchors && b.holdsMemo(&c.acked, base) {
		age |= withMemo
	}
	return uint16(age)
}

// isAnchor reports whether packet seq has a memo that comes from no packet: the memo of encoding its frame from the
// frame of packet seq-step, which is the anchor before it.
func (b *baselines) isAnchor(seq uint32) bool {
	return b.policy == anchors && seq%b.step == 0 && seq >= b.step
}

// isRoot reports whether the memo of anchor seq begins from nothing, and not from the memo of the anchor before it.
func (b *baselines) isRoot(seq uint32) bool { return seq%b.root == 0 || seq == b.step }

// holdsMemo reports whether a receiver that has decoded the packets in has can compute the memo of anchor seq: it has
// the frames of all anchors back to a root, and of the one before the root.
func (b *baselines) holdsMemo(has *packetSet, seq uint32) bool {
	for b.isAnchor(seq) && has.has(seq) && has.has(seq-b.step) {
		if b.isRoot(seq) {
			return true
		}
		seq -= b.step
	}
	return false
}
