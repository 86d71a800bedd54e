package crowd

import (
	"fmt"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/seed"
	"wirelab/internal/units"
	"wirelab/internal/window"
	"wirelab/lossmodel"
	"wirelab/lossmodel/netem"
	"wirelab/lossmodel/tracefile"
)

// ClientSeed returns the seed of the links of client n, counted from 1, in a run with the given seed.
func ClientSeed(session uint64, n int) uint64 { return seed.Derive(session^seed.Hash("crowd"), n) }

// clientLinks returns the links of client n, counted from 1: those of its profile or of c, then what
// [crowd] sets drawn from its distributions, then what its [[client]] table sets. A round trip is split
// evenly over both links. row is the index of the table, -1 if the client has none.
func clientLinks(c *config.Config, n int) (down, up lossmodel.Spec, row int, err error) {
	clientSeed := ClientSeed(c.Seed, n)
	word := func(name string) uint64 { return seed.PCG(clientSeed, "crowd."+name).Uint64() }
	down, up = c.Down, c.Up
	if profile := clientProfile(c, n); profile != nil {
		down, up = profile.Down, profile.Up
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
	row = -1
	for i := range c.Clients {
		if c.Clients[i].Turn == n {
			row = i
		}
	}
	if row >= 0 && !c.Clients[row].Change.IsZero() {
		changed := c.Clone()
		changed.Down, changed.Up = down, up
		if err := changed.Apply(c.Clients[row].Change); err != nil {
			return down, up, row, config.Within(config.Indexed("client", row), err)
		}
		down, up = changed.Down, changed.Up
	}
	return down, up, row, nil
}

// clientProfile returns the link profile of client n, counted from 1; nil without crowd.profiles.
func clientProfile(c *config.Config, n int) *lossmodel.Profile {
	mix := c.Crowd.Mix()
	if mix == nil {
		return nil
	}
	rest := int64(seed.PCG(ClientSeed(c.Seed, n), "crowd.profile").Uint64() % 1e6)
	i := slices.IndexFunc(mix, func(x config.ProfileShare) bool { rest -= x.Share; return rest < 0 })
	return mix[i].Profile
}

// LinkText describes the downlink of client n, counted from 1, as it is set: profile, loss, latency and jitter.
func LinkText(c *config.Config, n int) string {
	down, _, _, err := clientLinks(c, n)
	if err != nil {
		return err.Error()
	}
	name := c.Profile
	if profile := clientProfile(c, n); profile != nil {
		name = profile.Name
	}
	if name != "" {
		name += ", "
	}
	milliseconds := func(d time.Duration) string { return units.Fixed(units.Milliseconds(d), 0) + " ms" }
	return fmt.Sprintf("%sloss %s %%, latency %s, jitter %s", name, units.Fixed(100*down.Loss.LossRate(), 1),
		milliseconds(down.Delay.Latency), milliseconds(down.Delay.Jitter))
}

// newClient returns client i, counted from 0, without a viewer, and the longest time for which a packet or
// an ack can be in flight on light links; 0 if the client has none. It returns an error if a crowd does
// not support its links.
func (x *session) newClient(i int) (c client, maxDelay time.Duration, err error) {
	n, clientSeed := i+1, ClientSeed(x.config.Seed, i+1)
	down, up, row, err := clientLinks(x.config, n)
	if err != nil {
		return c, 0, err
	}
	prefix := ""
	if row >= 0 {
		prefix = config.Indexed("client", row) + "."
		c.join, c.leave = x.config.Clients[row].Join, x.config.Clients[row].Leave
	}
	for _, l := range []struct {
		direction string
		mtu, want int
	}{{"down", down.MTU, x.config.Down.MTU}, {"up", up.MTU, x.config.Up.MTU}} {
		if l.mtu != l.want {
			return c, 0, &config.Error{Key: prefix + l.direction + ".mtu", Expected: "the same MTU for all clients",
				Problem: fmt.Sprintf("client %d has %d, the others have %d", n, l.mtu, l.want)}
		}
	}
	if none := (netem.Params{}); down.Netem == none && up.Netem == none {
		c.roundTripMS = figures.Known(float64(down.Delay.Latency+up.Delay.Latency) / float64(time.Millisecond))
	}
	var downErr, upErr error // not nil if the spec has a setting that light links do not model
	c.down, downErr = lossmodel.NewLight(down, clientSeed, "down")
	c.up, upErr = lossmodel.NewLight(up, clientSeed, "up")
	isLight := downErr == nil && upErr == nil
	if isLight {
		maxDelay = max(c.down.MaxDelay()+x.maxWait(), c.up.MaxDelay())
	}
	if !isLight || x.views != nil {
		c.full, err = newFullLinks(x.loadFile, down, up, clientSeed)
	}
	return c, maxDelay, err
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

// tag and untag convert a packet to and from the tag of its datagram.
func (p *packet) tag() uint64 { return uint64(p.seq) | uint64(p.age)<<32 | uint64(p.outcome)<<40 }
func untag(tag uint64) packet {
	return packet{seq: uint32(tag), age: uint8(tag >> 32), outcome: packetlog.Outcome(tag >> 40)}
}

// sendFull sends a datagram with a tag to client i of the shard at now.
func (x *session) sendFull(s *shard, i int, now time.Duration, datagram []byte, tag uint64) {
	seq := uint32(tag)
	v := s.clients[i].full.down.Send(now, datagram, tag)
	s.counts[i].n[duplicated] += int64(v.Copies)
	s.countLoss(i, seq, 0, v.Lost)
	for k, cause := range v.CopyLost[:v.Copies] {
		s.countLoss(i, seq, k+1, cause)
	}
}

// receiveFull handles everything that is due at client i of the shard until end, as receive does for
// light links.
func (x *session) receiveFull(s *shard, i int, end time.Duration) {
	links := s.clients[i].full
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
			case x.views == nil:
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
	l, duration := x.startLaps(), int64(0)
	if err := s.clients[i].viewer.sender.HandleAck(ack); err != nil {
		s.decodeErr = err
	}
	l.end(&duration)
	s.timed.Server += duration
	s.timed.Clients -= duration
}

// arriveFull handles the arrival of a datagram at client i.
func (x *session) arriveFull(s *shard, i int, at time.Duration, d *lossmodel.Delivery) {
	c, r := &s.clients[i], &s.receivers[i]
	p := untag(d.Tag)
	switch {
	case d.Lost != lossmodel.None:
		s.countLoss(i, p.seq, d.Copy, d.Lost)
		return
	case d.Flipped > 0:
		s.countArrival(i, p.seq, at, packetlog.Corrupt)
		return
	case c.full.seen.Has(uint64(p.seq)):
		s.countArrival(i, p.seq, at, packetlog.Duplicate)
	default:
		if c.viewer != nil {
			p = packet{seq: p.seq, outcome: x.decodeView(s, c.viewer, d.Data, uint32(d.Tag>>32))}
		}
		x.arrive(s, i, at, &p)
	}
	if !r.decoded.Any {
		return
	}
	ack := blank[:endpoint.AckBytes]
	if c.viewer != nil {
		s.ackBuffer = c.viewer.receiver.AppendAck(s.ackBuffer[:0])
		ack = s.ackBuffer
	}
	outcome := c.full.up.Send(at, ack, uint64(r.decoded.Newest)|r.decoded.Mask<<32)
	s.counts[i].n[feedbackBytes] += int64(outcome.Wire)
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

// send returns when the line has sent a packet of the given size that the server sends at now; dropped if
// the queue is full.
func (u *uplink) send(now time.Duration, wireBytes int) (at time.Duration) {
	done := max(u.idleAt, now) + u.Duration(int64(wireBytes))
	if done-now > u.limit {
		return dropped
	}
	u.idleAt = done
	u.peak = max(u.peak, done-now)
	return done
}

// dropped is the departure of a packet that the uplink dropped.
const dropped = time.Duration(-1)

// queue passes packet n of all clients, which the server sends from now on, to the uplink, and sets
// client.departure. It begins with client uplink.first.
func (x *session) queue(n uint32, now time.Duration) {
	u, count := &x.uplink, x.clientCount()
	next := -1 // the first client whose packet is dropped; -1 if none
	spacing := time.Duration(0)
	if u.Pace && count > 0 {
		spacing = x.cadence.SeqTime(uint64(n)+uint64(x.config.Sender.Every)) - now
	}
	for k := range count {
		i := (u.first + k) % count
		s, index := x.at(i)
		e, f := x.encodingFor(s, index)
		if e == nil || e.err != nil {
			continue
		}
		at := u.send(now+spacing*time.Duration(k)/time.Duration(count), f.wire)
		s.clients[index].departure = at
		if at == dropped && next < 0 {
			next = i
		}
	}
	u.first = max(next, 0)
}

// maxWait returns the longest time from the beginning of a tick until the uplink has sent a packet.
func (x *session) maxWait() time.Duration {
	if !x.uplink.Pace {
		return x.uplink.limit
	}
	return x.uplink.limit + time.Duration(x.config.Sender.Every)*time.Second/time.Duration(x.cadence.RateHz)
}
