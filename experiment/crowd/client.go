package crowd

import (
	"math/bits"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
	"wirelab/internal/window"
	"wirelab/lossmodel"
)

// connection is what the server reads of one client in every tick.
type connection struct {
	acked      packetSet // packets that the client is known to have decoded
	key        uint16    // what the client gets in the current packet; see paramsKey
	epochAcked bool      // the newest ack names the epoch, so packets need no parameters
	isActive   bool      // the client is in the game
}

// receiver is the receiver of a client. Frames are stored once for all clients.
type receiver struct {
	decoded packetSet // decoded and stored packets
	arrived uint32    // 1 + the newest packet that has arrived; 0 if none has
	display display
}

// client is one client without its receiver: its links, and what few runs need.
type client struct {
	down, up lossmodel.Light // unused with full; first, so that each is in one cache line

	full      *fullLinks    // nil if down and up model the links
	viewer    *viewer       // nil without a budget
	departure time.Duration // when the current packet has passed the uplink; dropped if it has not
	tenure
}

// counts are the measurements of one client.
type counts struct {
	n        [numCounts]int64 // by count
	display  meters.DisplayCounts
	outcomes [packetlog.NumOutcomes]int64 // packets
}

// count is the index of one measurement of a client.
type count int

const (
	// Those that change with each packet are first, and so next to each other in memory.
	sent         count = iota // packets
	payloadBytes              // sums over packets
	wireBytes
	withBaseline  // packets with a baseline other than the initial state
	baselineTicks // sum of the ages of these baselines
	feedbackBytes
	lagSum // of the display, in nanoseconds
	ageSum // of what is displayed, in nanoseconds

	encodeFailed
	duplicated    // copies that the downlink made
	decodeRefused // corrupt packets that the decoder refused
	reordered     // packets that arrived after a newer one, except duplicates
	numCounts
)

// add adds the counts of another client.
func (c *counts) add(o *counts) {
	for i := range c.n {
		c.n[i] += o.n[i]
	}
	for i := range c.outcomes {
		c.outcomes[i] += o.outcomes[i]
	}
	c.display.Add(&o.display)
}

// subtract subtracts the counts of an earlier time. The freezes of the display stay those of the run.
func (c *counts) subtract(before *counts) {
	for i := range c.n {
		c.n[i] -= before.n[i]
	}
	for i := range c.outcomes {
		c.outcomes[i] -= before.outcomes[i]
	}
	c.display.Shown -= before.display.Shown
	c.display.Starved -= before.display.Starved
	c.display.Late -= before.display.Late
}

// lossRatio returns the share of the packets that were lost; unknown if none was sent.
func (c *counts) lossRatio() figures.Figure {
	return figures.RatioFigure(float64(c.outcomes[packetlog.Lost]), float64(c.n[sent]))
}

// ratio returns the ratio of two counts; unknown if the second is 0.
func (c *counts) ratio(a, b count) figures.Figure {
	return figures.RatioFigure(float64(c.n[a]), float64(c.n[b]))
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

// tickDisplay runs the display ticks of the current slot before a time that have not been run yet, and
// counts them in m.
func (x *session) tickDisplay(r *receiver, m *counts, before time.Duration) {
	d := &r.display
	for ; int(d.ticked) < len(x.displayTicks) && x.displayTicks[d.ticked] < before; d.ticked++ {
		now := x.displayTicks[d.ticked]
		moment, ok := d.clock.Tick(now, x.config.Receiver.Playout)
		if !ok {
			continue
		}
		shown := min(moment, d.newestTime)
		if x.receiverHistory <= window.Reach { // the snapshots before moment may have left the history
			shown = max(shown, x.sourceTime(r.decoded.oldest(x.receiverHistory)))
		}
		m.n[lagSum] += int64(now - moment)
		m.n[ageSum] += int64(now - shown)
		m.display.Tick(d.newestTime < moment)
	}
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

// has reports whether packet seq, which is not newer than the newest, is in the set. The set is not empty.
func (s *packetSet) has(seq uint32) bool {
	age := s.Newest - seq
	return age == 0 || s.Mask>>(age-1)&1 == 1
}

// oldest returns the oldest packet of the set among the newest and the n before it. n is at most
// window.Reach.
func (s *packetSet) oldest(n uint32) uint32 {
	return s.Newest - uint32(bits.Len64(s.Mask&(1<<n-1)))
}

// newestMultiple returns the newest packet of the set whose number is divisible by k. If there is none,
// it returns the newest packet. The set must not be empty.
func (s *packetSet) newestMultiple(k uint32) uint32 {
	for age := s.Newest % k; age <= min(s.Newest, window.Reach); age += k {
		if s.has(s.Newest - age) {
			return s.Newest - age
		}
	}
	return s.Newest
}

// A key is the age of the baseline in packets, 0 for the initial state, to which paramsKey is added if
// the header contains the parameters of the encoder; or noPacket. Keys are part of the digest.
const (
	paramsKey = 0x200
	noPacket  = 0xffff
)

// baselines chooses the baseline of each packet: the newest acked packet whose number is divisible by every.
type baselines struct {
	every  uint32
	maxAge uint32 // the largest age of a baseline
}

// newBaselines returns the choice of c.
func newBaselines(c *config.Config) baselines {
	b := baselines{every: 1, maxAge: uint32(min(c.Sender.History, frame.MaxHistory))}
	if p := c.Crowd.Baseline; p.Name() == "every" {
		b.every = uint32(p.Int("ticks"))
	}
	return b
}

// choose returns the age of the baseline of packet seq for a client that has acked the given packets, 0
// for the initial state. If all packets whose numbers are divisible by b.every are too old, the baseline
// is the newest acked packet.
func (b *baselines) choose(acked *packetSet, seq uint32) (age uint8) {
	if !acked.Any {
		return 0
	}
	base := acked.newestMultiple(b.every)
	if seq-base > b.maxAge {
		base = acked.Newest
	}
	if seq-base > b.maxAge {
		return 0
	}
	return uint8(seq - base)
}
