package crowd

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/seed"
	"wirelab/internal/window"
	"wirelab/lossmodel"
	"wirelab/lossmodel/netem"
	"wirelab/lossmodel/tracefile"
)

// ClientSeed returns the seed of the links of client n, counted from 1, in a run with the given seed.
func ClientSeed(session uint64, n int) uint64 { return seed.Derive(session^seed.Hash("crowd"), n) }

// clientLinks returns the links of client n, counted from 1: those of its profile or of c, then what
// [crowd] sets drawn from its distributions, then what its [[client]] table sets. A round trip is split
// evenly over both links.
func clientLinks(c *config.Config, n int) (down, up lossmodel.Spec, err error) {
	clientSeed := ClientSeed(c.Seed, n)
	word := func(name string) uint64 { return seed.PCG(clientSeed, "crowd."+name).Uint64() }
	down, up = c.Down, c.Up
	if mix := c.Crowd.Mix(); mix != nil {
		rest := int64(word("profile") % 1e6)
		i := slices.IndexFunc(mix, func(x config.ProfileShare) bool { rest -= x.Share; return rest < 0 })
		down, up = mix[i].Profile.Down, mix[i].Profile.Up
	}
	if s := c.Crowd.RTT; s.IsSet() {
		rtt := time.Duration(s.Draw(word("rtt")))
		down.Delay.Latency, up.Delay.Latency = rtt/2, rtt-rtt/2
	}
	if s := c.Crowd.Jitter; s.IsSet() {
		down.Delay.Jitter = time.Duration(s.Draw(word("jitter")))
		up.Delay.Jitter = down.Delay.Jitter
	}
	if s := c.Crowd.Loss; s.IsSet() {
		down = down.WithLoss(float64(s.Draw(word("loss"))) / 1e6)
		up.Loss = down.Loss
	}
	if i := clientRow(c, n); i >= 0 && !c.Clients[i].Change.IsZero() {
		changed := c.Clone()
		changed.Down, changed.Up = down, up
		if err := changed.Apply(c.Clients[i].Change); err != nil {
			return down, up, config.Within(config.Indexed("client", i), err)
		}
		down, up = changed.Down, changed.Up
	}
	return down, up, nil
}

// clientRow returns the index of the [[client]] table of client n, counted from 1; -1 if it has none.
func clientRow(c *config.Config, n int) int {
	for i := range c.Clients {
		if c.Clients[i].Turn == n {
			return i
		}
	}
	return -1
}

// newLinks are the links of a client that is to be created.
type newLinks struct {
	downSpec, upSpec lossmodel.Spec
	down, up         lossmodel.Light // unused with needsFull
	isLight          bool            // down and up model the specs
	needsFull        bool            // the client needs fullLinks: unless isLight, and under a budget
}

// newLinks returns the links of client i, counted from 0. It returns an error if a crowd does not
// support them.
func (x *session) newLinks(i int) (links newLinks, err error) {
	n, clientSeed := i+1, ClientSeed(x.config.Seed, i+1)
	if links.downSpec, links.upSpec, err = clientLinks(x.config, n); err != nil {
		return links, err
	}
	if err := cmp.Or(x.checkLink("down", n, &links.downSpec, &x.config.Down), x.checkLink("up", n, &links.upSpec, &x.config.Up)); err != nil {
		return links, err
	}
	var downErr, upErr error // not nil if the spec has a setting that light links do not model
	links.down, downErr = lossmodel.NewLight(links.downSpec, clientSeed, "down")
	links.up, upErr = lossmodel.NewLight(links.upSpec, clientSeed, "up")
	links.isLight = downErr == nil && upErr == nil
	links.needsFull = !links.isLight || x.views != nil
	return links, nil
}

// checkLink returns an error if the link of client n, counted from 1, has another MTU than the link of
// the configuration. direction is "down" or "up".
func (x *session) checkLink(direction string, n int, spec, common *lossmodel.Spec) error {
	key := direction
	if row := clientRow(x.config, n); row >= 0 {
		key = config.Indexed("client", row) + "." + direction
	}
	if spec.MTU != common.MTU {
		return &config.Error{Key: key + ".mtu", Problem: fmt.Sprintf("client %d has %d, the others have %d", n, spec.MTU, common.MTU), Expected: "the same MTU for all clients"}
	}
	return nil
}

// roundTrip returns the sum of the latencies of two links in milliseconds; unknown if netem options
// define a delay.
func roundTrip(down, up *lossmodel.Spec) figures.Figure {
	if none := (netem.Params{}); down.Netem != none || up.Netem != none {
		return figures.Figure{}
	}
	return figures.Known(float64(down.Delay.Latency+up.Delay.Latency) / float64(time.Millisecond))
}

// fullLinks are the links of a client whose settings a lossmodel.Light does not model, or which has a
// budget. They need about 10 KB, and store datagrams.
type fullLinks struct {
	down, up *lossmodel.Link
	seen     window.Seen // decoded packets, to recognise duplicates
}

// newFullLinks returns the links of the client with the given seed, see ClientSeed. load reads the files
// that specs name.
func newFullLinks(load tracefile.Loader, down, up lossmodel.Spec, clientSeed uint64) (*fullLinks, error) {
	x, err := &fullLinks{}, error(nil)
	if x.down, err = lossmodel.NewLinkWith(load, down, clientSeed, "down"); err != nil {
		return nil, config.ErrorAt("down", err)
	}
	if x.up, err = lossmodel.NewLinkWith(load, up, clientSeed, "up"); err != nil {
		return nil, config.ErrorAt("up", err)
	}
	return x, nil
}

// cacheFiles returns a loader that reads each file once.
func cacheFiles(load tracefile.Loader) tracefile.Loader {
	files := map[string][]byte{}
	return func(name string) ([]byte, error) {
		if data, ok := files[name]; ok {
			return data, nil
		}
		data, err := load(name)
		if err == nil {
			files[name] = data
		}
		return data, err
	}
}

// blank contains the bytes of the datagrams on full links without a budget. Receivers do not read them:
// the tag of a datagram contains what they need. Under a budget the tag contains the packet and
// viewer.sum.
var blank [endpoint.MaxDatagram]byte

// packTag and unpackTag convert a packet to and from the tag of its datagram.
func packTag(p *packet) uint64 {
	return uint64(p.seq) | uint64(p.age)<<32 | uint64(p.verdict)<<40
}
func unpackTag(tag uint64) packet {
	return packet{seq: uint32(tag), age: uint8(tag >> 32), verdict: verdict(tag >> 40)}
}

// sendFull sends packet seq, a datagram with a tag, to client i of the shard at now.
func (x *session) sendFull(s *shard, i int, now time.Duration, seq uint32, datagram []byte, tag uint64) {
	links, c := s.full[i], &s.counts[i]
	v := links.down.Send(now, datagram, tag)
	c.n[duplicated] += int64(v.Copies)
	s.countLoss(c, 0, v.Lost)
	s.logLoss(i, seq, v.Lost)
	for i, cause := range v.CopyLost[:v.Copies] {
		s.countLoss(c, i+1, cause)
	}
}

// receiveFull handles everything that is due at client i of the shard until end, as receive does for
// light links.
func (x *session) receiveFull(s *shard, i int, end time.Duration) {
	links := s.full[i]
	for {
		at, pending := links.down.Next()
		if upAt, upPending := links.up.Next(); upPending && (!pending || upAt < at) {
			at, pending = upAt, true
		}
		if !pending || at > end {
			return
		}
		for d, ok := links.down.Receive(at); ok; d, ok = links.down.Receive(at) {
			x.arriveFull(s, i, at, &d)
		}
		for d, ok := links.up.Receive(at); ok; d, ok = links.up.Receive(at) {
			switch {
			case d.Flipped > 0 || d.Lost != lossmodel.None:
			case s.viewers == nil:
				s.connections[i].readAck(uint32(d.Tag), uint32(d.Tag>>32))
			default:
				x.readViewAck(s, i, d.Data)
			}
		}
	}
}

// readViewAck passes an ack of client i to its sender. This is work of the server, but receive counts it
// as work of clients.
func (x *session) readViewAck(s *shard, i int, ack []byte) {
	start := x.clock.Now()
	if err := s.viewers[i].sender.HandleAck(ack); err != nil {
		s.decodeErr = err
	}
	duration := x.clock.Now() - start
	s.timed.Server += duration
	s.timed.Clients -= duration
}

// arriveFull handles the arrival of a datagram at client i.
func (x *session) arriveFull(s *shard, i int, at time.Duration, d *lossmodel.Delivery) {
	links, v, c := s.full[i], &s.receivers[i], &s.counts[i]
	p := unpackTag(d.Tag)
	seq := p.seq
	switch {
	case d.Lost != lossmodel.None:
		s.countLoss(c, d.Copy, d.Lost)
		s.logLoss(i, seq, d.Lost)
		return
	case d.Flipped > 0:
		c.n[corrupt]++
		s.addEvent(i, seq, arrivedFailed)
		s.logArrival(i, seq, at, packetlog.Corrupt)
		return
	case links.seen.Has(uint64(seq)):
		c.n[duplicate]++
		s.addEvent(i, seq, arrivedStale)
	default:
		if s.viewers != nil {
			p = packet{seq: seq, verdict: x.decodeView(s, i, d.Data, uint32(d.Tag>>32))}
		}
		if x.arrive(s, i, at, &p) {
			links.seen.Add(uint64(seq))
		}
	}
	if !v.decoded.Any {
		return
	}
	ack := blank[:endpoint.AckBytes]
	if s.viewers != nil {
		s.ackBuffer = s.viewers[i].receiver.AppendAck(s.ackBuffer[:0])
		ack = s.ackBuffer
	}
	outcome := links.up.Send(at, ack, uint64(v.decoded.Newest)|v.decoded.Mask<<32)
	c.n[feedbackBytes] += int64(outcome.Wire)
}

// uplink is the link that the packets to all clients share: a queue of limited size before a line. A
// packet that does not fit into the queue is dropped.
type uplink struct {
	config.Uplink
	idleAt time.Duration // when the line has sent all packets
	limit  time.Duration // the time that a full queue takes to drain
	first  int           // the client to which the next tick sends first: the first one whose packet was dropped in the last
	peak   time.Duration // the longest wait
}

// newUplink returns an idle uplink.
func newUplink(c config.Uplink) uplink {
	u := uplink{Uplink: c}
	if c.BitsPerSecond > 0 {
		u.limit = u.Duration(c.QueueBytes)
	}
	return u
}

// send returns when the line has sent a packet of the given size that the server sends at now; false if
// the queue is full.
func (u *uplink) send(now time.Duration, wireBytes int) (at time.Duration, ok bool) {
	done := max(u.idleAt, now) + u.Duration(int64(wireBytes))
	if done-now > u.limit {
		return 0, false
	}
	u.idleAt, u.peak = done, max(u.peak, done-now)
	return done, true
}

// queue passes packet n of all clients, which the server sends from now on, to the uplink, and sets
// shard.departures. It begins with client uplink.first.
func (x *session) queue(n uint32, now time.Duration) {
	u, count := &x.uplink, x.clientCount()
	next := -1 // the first client whose packet is dropped; -1 if none
	spacing := time.Duration(0)
	if u.Pace && count > 0 {
		spacing = x.cadence.SeqTime(uint64(n)+uint64(x.config.Sender.Every)) - now
	}
	for k := range count {
		c := (u.first + k) % count
		s, i := &x.shards[c/x.shardSize], c%x.shardSize
		s.departures[i] = dropped
		if e, f := x.encodingFor(s, i); e != nil && e.err == nil {
			at, ok := u.send(now+spacing*time.Duration(k)/time.Duration(count), f.wire)
			if ok {
				s.departures[i] = at
			} else if next < 0 {
				next = c
			}
		}
	}
	u.first = max(next, 0)
}

// dropped is the value in shard.departures of a packet that the uplink dropped.
const dropped = time.Duration(-1)

// maxWait returns the longest time from the beginning of a tick until the uplink has sent a packet.
func (x *session) maxWait() time.Duration {
	if !x.uplink.Pace {
		return x.uplink.limit
	}
	return x.uplink.limit + time.Duration(x.config.Sender.Every)*time.Second/time.Duration(x.cadence.RateHz)
}

// presenceChange is a time at which a client joins or leaves.
type presenceChange struct {
	at     time.Duration
	client int // from 0
}

// presenceChanges returns the times at which clients of [[client]] tables join or leave, in order.
func presenceChanges(c *config.Config) (list []presenceChange) {
	for _, row := range c.Clients {
		for _, at := range []time.Duration{row.Join, row.Leave} {
			if at > 0 {
				list = append(list, presenceChange{at, row.Turn - 1})
			}
		}
	}
	slices.SortFunc(list, func(a, b presenceChange) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.client, b.client)) })
	return list
}
