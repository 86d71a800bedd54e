package crowd

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"iter"
	"math"
	"slices"
	"time"
	"unsafe"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/view"
)

// budgets is what a session has for clients under a budget, each of which gets packets of its own: see
// viewer.
type budgets struct {
	truth   *meters.Truth // its ticks are slots
	pool    *frame.Pool   // of the frames in truth
	bucket  view.Bucket   // of crowd.budget
	first   int           // the client to which crowd.budget gives its share first
	demands []int         // buffer of share
	sums    maphash.Seed
}

// viewer is one client under a budget: both endpoints, which exchange datagrams over full links, and its
// current packet.
type viewer struct {
	sender   *endpoint.Sender
	receiver *endpoint.Receiver
	meter    *meters.View
	limit    limit

	need     int      // bytes of the smallest packet
	allowed  int      // bytes that the current packet may have
	reserved int      // bytes of crowd.budget that the current packet has before the rest is divided
	leftRows bool     // the newest packet left rows out, or there was none
	held     int64    // packets that were not sent because a budget had no room
	datagram []byte   // the newest packet; empty if it was not sent
	sum      uint32   // hash of the view frame in it
	encoding encoding // its measurements
}

// limit is sender.budget of a client over its time in the game. Until the active time a, it allowed
// bps*a + surplus bits, so that the mean of a constant budget is exact.
type limit struct {
	bps     int64   // 0 means no limit
	surplus float64 // in bits; 0 if the budget never changed, NaN if an earlier part had no limit
}

// set changes the limit after the given active time.
func (l *limit) set(bps int64, active time.Duration) {
	l.surplus += float64(l.bps-bps) * active.Seconds()
	if l.bps == 0 && bps > 0 && active > 0 {
		l.surplus = math.NaN()
	}
	l.bps = bps
}

// meanSince returns the mean in bits per second of a time of the given length, which began at the active
// time start with the limit before. It is 0 if there is no limit, or was none
// in an earlier part of the client's time in the game.
func (l *limit) meanSince(before limit, start, length time.Duration) float64 {
	if l.bps == 0 || math.IsNaN(l.surplus) || length <= 0 {
		return 0
	}
	surplus := l.surplus - before.surplus - float64(before.bps-l.bps)*start.Seconds()
	return float64(l.bps) + surplus/length.Seconds()
}

// prepareBudgets creates what clients under a budget need.
func (x *session) prepareBudgets() error {
	if err := engine.CheckBudgets(nil, x.config, x.schema, x.initial); err != nil {
		return err
	}
	x.views = &budgets{truth: meters.NewTruth(x.schema, x.cadence.RateHz), pool: frame.NewPool(x.schema), sums: maphash.MakeSeed()}
	x.applyBudgets()
	return nil
}

// applyBudgets applies the budgets of the configuration from the next packet on.
func (x *session) applyBudgets() {
	shared := x.config.CrowdBudget()
	x.views.bucket.Set(shared.Bps, shared.Burst, x.config.SendInterval())
	for i := range x.shards {
		s := &x.shards[i]
		s.setPolicy(&shared)
		for k := range s.clients {
			c := &s.clients[k]
			x.applyBudget(c.viewer, i*x.shardSize+k)
			c.viewer.limit.set(x.config.Sender.Budget, c.active(s.connections[k].isActive, x.Now()))
		}
	}
}

// addFiller creates the filler of a shard, which its clients share.
func (x *session) addFiller(s *shard) {
	s.encodeTimer = new(meters.NewStopwatch(x.Clock, x.schema))
	s.decodeTimer = new(meters.NewStopwatch(x.Clock, x.schema))
	s.filler = view.NewFiller(x.schema)
	s.filler.Probe = s.encodeTimer
	shared := x.config.CrowdBudget()
	s.setPolicy(&shared)
}

// setPolicy passes the policy of a budget to the filler of a shard.
func (s *shard) setPolicy(b *endpoint.Budget) {
	s.filler.SetPolicy(b.Priority)
	s.filler.SetWeights(b.Weights)
	s.filler.SetInterest(b.Interest)
}

// clientBudget returns the budget of each client of c: sender.budget, or crowd.budget if it is smaller
// or the only one.
func clientBudget(c *config.Config) endpoint.Budget {
	own, shared := c.SendBudget(), c.CrowdBudget()
	if own.Bps == 0 || shared.Bps > 0 && shared.Bps < own.Bps {
		return shared
	}
	return own
}

// applyBudget applies the budget of client i, counted from 0.
func (x *session) applyBudget(v *viewer, i int) {
	own := clientBudget(x.config)
	own.Player = i % min(x.config.Crowd.PlayerRows, x.schema.Rows)
	v.sender.SetBudget(own, x.config.SendInterval())
	v.sender.SetLimit(0)
}

// newViewer returns client i, counted from 0, of shard s. It shows the initial state.
func (x *session) newViewer(s *shard, i int) *viewer {
	w := x.workerOf(i / x.shardSize)
	perSlot := endpoint.Cadence{TickHz: x.cadence.RateHz, RateHz: x.cadence.RateHz}
	v := &viewer{leftRows: true, meter: x.views.truth.NewView(perSlot),
		sender: endpoint.NewSender(x.schema, &w.initial, w.encoder,
			endpoint.Options{History: int(x.senderHistory), Cadence: x.cadence, Filler: s.filler}),
		receiver: endpoint.NewReceiver(x.schema, &w.initial, w.codecs, endpoint.Options{Cadence: x.cadence, Probe: s.decodeTimer})}
	v.sender.StartAt(uint64(x.slot), x.Now())
	v.receiver.StartAt(uint64(x.slot))
	x.applyBudget(v, i)
	v.limit.bps = x.config.Sender.Budget
	return v
}

// advanceTruth makes the frame of slot n the one with which displays are compared.
func (x *session) advanceTruth(n uint32) {
	cur, f := x.frameOf(n), x.views.pool.Get()
	f.CopyFrom(cur)
	f.Changed.Clear()
	if n > 0 {
		f.Changed.SetDiffering(cur.Table, x.frameOf(n-1).Table, len(x.schema.Fields))
	}
	x.views.truth.Tick(uint64(n), f)
	f.Release()
}

// admit determines how many bytes the budget of v allows its packet at now. It returns the key of the
// packet, noPacket if they do not suffice.
func (v *viewer) admit(now time.Duration) (key uint16) {
	isDue := v.sender.Due(now)
	v.need, v.allowed = v.sender.Room(now)
	if !isDue {
		v.held++
		return noPacket
	}
	return 0
}

// minShare is the smallest share of crowd.budget in bytes. If the budget does not suffice for such a
// share to every client, they take turns: smaller packets would be mostly headers.
const minShare = 128

// share divides crowd.budget among the clients that have a packet at now. Each gets what it needs at
// least or, if the rest does not suffice, is the first to get it next time. All get the same share of
// what is left, except those that need less: clients whose newest packet left no rows out need at most
// twice its size. What they leave goes to the others (max-min fairness).
func (x *session) share(now time.Duration) {
	b := x.views
	rest := -1 // bytes; -1 before the first client
	next := -1 // the first client that must wait; -1 if none
	b.demands = b.demands[:0]
	for i, v := range x.packetsFrom(b.first) {
		if !v.leftRows {
			v.allowed = min(v.allowed, max(2*len(v.datagram), v.need))
		}
		v.reserved = max(min(minShare, b.bucket.MaxNeed()), v.need)
		if rest < 0 {
			rest = b.bucket.Allow(now, v.reserved)
		}
		v.reserved = min(v.reserved, v.allowed)
		if next < 0 && v.reserved > rest {
			next = i
		}
		if next >= 0 { // the clients after the first that must wait do not overtake it
			v.allowed, v.reserved = 0, 0
			continue
		}
		rest -= v.reserved
		b.demands = append(b.demands, v.allowed-v.reserved)
	}
	b.first = max(next, 0)
	slices.Sort(b.demands)
	level := fairLevel(b.demands, rest)
	for i, v := range x.packetsFrom(0) {
		v.allowed = min(v.allowed, v.reserved+level)
		v.sender.SetLimit(v.allowed)
		if v.allowed < v.need {
			v.held++
			s, k := x.at(i)
			s.connections[k].key = noPacket
		}
	}
}

// packetsFrom returns the clients that have a packet in this tick, by number from 0, beginning with the
// client first.
func (x *session) packetsFrom(first int) iter.Seq2[int, *viewer] {
	return func(yield func(int, *viewer) bool) {
		count := x.clientCount()
		for k := range count {
			i := (first + k) % count
			s, index := x.at(i)
			if s.connections[index].key != noPacket && !yield(i, s.clients[index].viewer) {
				return
			}
		}
	}
}

// fairLevel returns the largest level at which the sum of the demands, each reduced to the level, is at
// most total. If all demands fit, it returns MaxDatagram, which limits no packet. demands are in
// ascending order; all are in bytes.
func fairLevel(demands []int, total int) int {
	left := total
	for i, demand := range demands {
		unserved := len(demands) - i
		if demand*unserved > left {
			return left / unserved
		}
		left -= demand
	}
	return endpoint.MaxDatagram
}

// encodeViews chooses the rows of packet n to each client at now, and encodes them.
func (x *session) encodeViews(n uint32, now time.Duration) error {
	shared := x.config.CrowdBudget()
	if shared.Bps > 0 {
		l := x.startLaps()
		x.share(now)
		l.end(&x.queueNS)
	}
	err := x.eachShard(func(s *shard) {
		l := x.startLaps()
		s.filler.Advance(x.frameOf(n), nil)
		l.end(&s.timed.Choose)
		for i := range s.clients {
			v, t := s.clients[i].viewer, &s.connections[i]
			switch {
			case t.key != noPacket:
				t.key = x.fill(s, v, now)
			case t.isActive:
				v.sender.Hold(x.frameOf(n), nil)
			default:
				v.sender.Skip()
			}
		}
	})
	size := 0
	x.eachEncoding(func(e *encoding) { size += e.forms[0].bytes })
	if shared.Bps > 0 && size > 0 {
		x.views.bucket.Spend(now, size)
	}
	return err
}

// fill encodes the packet of viewer v of shard s, and measures it. It returns the key of the packet:
// noPacket if the budget has no room yet.
func (x *session) fill(s *shard, v *viewer, now time.Duration) (key uint16) {
	e := &v.encoding
	*e = encoding{users: 1}
	s.encodeTimer.NS = 0
	l := x.startLaps()
	p, err := v.sender.Send(now, x.frameOf(x.slot), nil)
	l.end(&s.timed.Choose)
	s.timed.Choose -= s.encodeTimer.NS // the time of the encoder is counted with the encoding
	v.datagram = p.Datagram
	if errors.Is(err, view.ErrNoRoom) {
		v.leftRows = true
		v.held++
		return noPacket
	}
	if err != nil {
		e.err = err
		return 0
	}
	v.leftRows = p.View.Left > 0
	e.encodeNS = s.encodeTimer.NS
	e.payload = p.Datagram[p.Header:]
	e.age = uint8(min(p.Baseline, math.MaxUint8))
	e.ageTicks = x.ageTicks(p.Baseline)
	e.forms[0].setSize(len(p.Datagram), x.config.Down.MTU)
	v.sum = x.views.sum(p.Frame().Table)
	v.meter.Sent(&p, x.config.SendInterval())
	s.addBytes(p.Datagram)
	l.end(&s.timed.Clients)
	return 0
}

// sum returns a hash of a table. A table that differs has another hash, except once in 2^32.
func (b *budgets) sum(table []int32) uint32 {
	return uint32(maphash.Bytes(b.sums, unsafe.Slice((*byte)(unsafe.Pointer(&table[0])), 4*len(table))))
}

// addBytes adds bytes to the hash of the shard, after their length.
func (s *shard) addBytes(data []byte) {
	s.addHash(uint64(len(data)))
	for ; len(data) >= 8; data = data[8:] {
		s.addHash(binary.LittleEndian.Uint64(data))
	}
	var rest [8]byte
	copy(rest[:], data)
	s.addHash(binary.LittleEndian.Uint64(rest[:]))
}

// decodeView passes a datagram to the receiver of v. sum is the hash of the view frame at the server.
func (x *session) decodeView(s *shard, v *viewer, datagram []byte, sum uint32) packetlog.Outcome {
	s.decodeTimer.NS = 0
	rx := v.receiver.Receive(datagram)
	s.timed.Decode += s.decodeTimer.NS
	server, _ := v.sender.View()
	switch {
	case rx.Outcome == endpoint.Corrupt:
		s.decodeErr = rx.Err
		return packetlog.Corrupt
	case rx.Frame == nil:
		return packetlog.NoBaseline
	case x.views.sum(rx.Frame.Table) != sum, v.receiver.View().ShowsUnsent(server):
		return packetlog.Wrong
	}
	return packetlog.Decoded
}

// viewerBytes estimates the memory of a viewer at 64 kbit/s and 60 Hz: the client's display, the frame
// it decodes and the reference, what both ends record of each row, the rows of packets under way and of
// the newest acks, and the memos of both.
func (x *session) viewerBytes(slots uint32, memoBytes int64) int64 {
	const tables, perRow, changes, endpoints = 3, 40, 2500, 16 << 10
	row := 4 * int64(len(x.schema.Fields))
	return int64(x.schema.Rows)*(tables*row+perRow) + changes*(row+4) + endpoints + memoBytes*int64(slots+view.MaxStates)
}
