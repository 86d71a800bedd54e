package crowd

import (
	"math/bits"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
	"wirelab/internal/window"
)

// connection is what the server reads of one client in every tick.
type connection struct {
	acked      packetSet // packets that the client is known to have decoded
	epochAcked bool      // the newest ack names the epoch, so packets need no parameters
	isActive   bool      // the client is in the game
}

// counts are the measurements of one client.
type counts struct {
	n       [numCounts]int64 // by count
	display meters.DisplayCounts
}

// count is the index of one measurement of a client.
type count int

const (
	sent count = iota // packets
	payloadBytes
	wireBytes
	withBaseline  // packets with a baseline other than the initial state
	baselineTicks // sum of the ages of these baselines
	encodeFailed
	lost
	duplicated // copies that the downlink made

	accepted // packets decoded as the newest frame
	stale    // packets decoded after a newer one
	duplicate
	wrongFrames
	corrupt
	decodeRefused // corrupt packets that the decoder refused
	noBaseline
	reordered // packets that arrived after a newer one, except duplicates
	feedbackBytes
	lagSum // of the display, in nanoseconds
	ageSum // of what is displayed, in nanoseconds
	numCounts
)

// add adds the counts of another client.
func (c *counts) add(o *counts) {
	for i := range c.n {
		c.n[i] += o.n[i]
	}
	c.display.Add(&o.display)
}

// subtract subtracts the counts of an earlier time. The freezes of the display stay those of the run.
func (c *counts) subtract(before *counts) {
	for i := range c.n {
		c.n[i] -= before.n[i]
	}
	c.display.Shown -= before.display.Shown
	c.display.Starved -= before.display.Starved
	c.display.Late -= before.display.Late
}

// ratio returns the ratio of two counts; unknown if the second is 0.
func (c *counts) ratio(a, b count) figures.Figure {
	return figures.RatioFigure(float64(c.n[a]), float64(c.n[b]))
}

// receiver is the receiving part of one client. Frames are stored once for all clients.
type receiver struct {
	decoded packetSet // decoded and stored packets
	arrived uint32    // 1 + the newest packet that has arrived; 0 if none has
	display display
}

// tenure is the time that a client is in the game.
type tenure struct {
	join, leave time.Duration  // of its [[client]] table; leave 0 means never
	since       time.Duration  // when the client became active
	total       time.Duration  // active time until then
	roundTripMS figures.Figure // latency of both links; unknown if netem options define them
}

// active returns the time in the game until now. isActive means that the client is in the game.
func (t *tenure) active(isActive bool, now time.Duration) time.Duration {
	if isActive {
		return t.total + now - t.since
	}
	return t.total
}

// display is the display of a receiver: a playout clock and the time of the newest snapshot, from which
// starvation and the age of what is displayed follow. It displays the state of the clock's source time.
type display struct {
	clock      playout.FixedClock
	newestTime time.Duration // source time of the newest decoded snapshot
	ticked     uint16        // display ticks of the current slot that have been run
}

// tickDisplay runs one tick of the display of v at now.
func (x *session) tickDisplay(v *receiver, c *counts, now time.Duration) {
	moment, ok := v.display.clock.Tick(now, x.config.Receiver.Playout)
	if !ok {
		return
	}
	shown := min(moment, v.display.newestTime)
	if x.receiverHistory <= window.Reach { // the snapshots before moment may have left the history
		shown = max(shown, x.sourceTime(v.decoded.oldest(x.receiverHistory)))
	}
	c.n[lagSum] += int64(now - moment)
	c.n[ageSum] += int64(now - shown)
	c.display.Tick(v.display.newestTime < moment)
}

// sourceTime returns the time of the frame of packet seq in the source.
func (x *session) sourceTime(seq uint32) time.Duration {
	return x.cadence.TickTime(x.cadence.Tick(uint64(seq)))
}

// packetSet records packets: the newest one and those of the window.Reach before it. The zero value is empty.
type packetSet struct{ window.Recent[uint32] }

// addAck adds the packets of an ack: newest, and newest-1-i for each bit i of mask.
func (s *packetSet) addAck(newest, mask uint32) {
	s.Add(newest)
	s.Mask |= uint64(mask) << (s.Newest - newest) // 0 if the packets are too old
}

// oldest returns the oldest packet of the set among the newest and the n before it. n is at most
// window.Reach.
func (s *packetSet) oldest(n uint32) uint32 {
	return s.Newest - uint32(bits.Len64(s.Mask&(1<<n-1)))
}

// newestMultiple returns the newest packet of the set whose number is divisible by k; false if there is
// none. stride is strideBits(k).
func (s *packetSet) newestMultiple(k uint32, stride uint64) (seq uint32, ok bool) {
	remainder := s.Newest % k
	if remainder == 0 || !s.Any {
		return s.Newest, s.Any
	}
	candidates := s.Mask & (stride << (remainder - 1)) // the packets of the mask whose numbers are divisible by k
	return s.Newest - 1 - uint32(bits.TrailingZeros64(candidates)), candidates != 0
}

// strideBits returns the number in which bit 0 and every k-th bit after it is set.
func strideBits(k uint32) (stride uint64) {
	for i := uint32(0); i < 64; i += k {
		stride |= 1 << i
	}
	return stride
}

// A key is what a client gets in the current packet: the age of the baseline in packets, 0 for the
// initial state, to which paramsKey is added if the header contains the parameters of the encoder; or
// noPacket. Keys are part of the digest.
const (
	paramsKey = 0x200
	noPacket  = 0xffff
)

// baselines chooses the baseline of each packet: the newest acked packet whose number is divisible by every.
type baselines struct {
	every  uint32
	stride uint64 // strideBits(every)
	maxAge uint32 // the largest age of a baseline
}

// newBaselines returns the choice of c.
func newBaselines(c *config.Config) baselines {
	every := uint32(1)
	if p := c.Crowd.Baseline; p.Name() == "every" {
		every = uint32(p.Int("ticks"))
	}
	return baselines{every: every, stride: strideBits(every), maxAge: uint32(min(c.Sender.History, frame.MaxHistory))}
}

// choose returns the age of the baseline of packet seq for a client that has acked the given packets, 0
// for the initial state. If all packets whose numbers are divisible by b.every are too old, the baseline
// is the newest acked packet.
func (b *baselines) choose(acked *packetSet, seq uint32) (age uint8) {
	if !acked.Any {
		return 0
	}
	base := acked.Newest
	if b.every > 1 {
		if multiple, ok := acked.newestMultiple(b.every, b.stride); ok && seq-multiple <= b.maxAge {
			base = multiple
		}
	}
	if seq-base > b.maxAge {
		return 0
	}
	return uint8(seq - base)
}
