package crowd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sort"
	"time"
	"unsafe"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/view"
	queue "wirelab/internal/ring"
	"wirelab/lossmodel"
)

// budgets is what a session has for clients under a budget, which get packets of their own: see package view. The server
// has a view.Server of each client, and a view.Filler for those of a shard.
type budgets struct {
	truth   *meters.Truth // its ticks are slots
	pool    *frame.Pool   // of the frames in truth
	bucket  view.Bucket   // of crowd.budget
	window  meters.BudgetWindow
	over    int64  // ticks with which 100 ms exceeded crowd.budget
	first   int    // the client to which crowd.budget gives its share first
	demands []int  // buffer of share
	epoch   uint64 // of the encoder: it increases with every swap
	headers [2]int // sizes of a header without and with parameters
	sums    maphash.Seed

	memoBytes int64 // approximate size of a memo; 0 means that the encoder has none
}

// viewer is one client under a budget: what the server has of it, what is in flight, and the client itself.
type viewer struct {
	server   *view.Server
	bucket   view.Bucket // of sender.budget
	player   int         // row of its player, from 0
	allowed  int         // bytes that the current packet may have
	reserved int         // bytes of crowd.budget that the current packet has before the rest is divided
	leftRows bool        // the newest packet left rows out, or there was none
	size     int         // bytes of the newest packet
	held     int64       // packets that were not sent because a budget had no room
	encoding encoding    // of the current packet
	current  viewPacket  // without the payload, which encoding contains

	packets queue.Queue[viewPacket] // in flight, by sequence number
	acks    queue.Queue[[]byte]     // in flight

	client *view.Client
	epoch  uint64 // newest epoch of which the client has decoded a packet
	meter  *meters.View
}

// viewPacket is a packet with a view frame. The header contains seq, ack and epoch.
type viewPacket struct {
	seq     uint32
	ack     uint8 // name of the ack whose display is the reference
	epoch   uint64
	payload []byte
	sum     uint64 // hash of the view frame at the server
	done    bool   // it will not be decoded again
}

// viewDecoder is the decoder of an epoch.
type viewDecoder struct {
	epoch   uint64
	decoder encoders.Decoder
}

// maxInFlight is the largest number of packets and of acks in flight of one client that are stored: 68 s at 60 Hz. Only
// full links can have more, on which packets wait and are then dropped.
const maxInFlight = seenPackets

// prepareBudgets creates what clients under a budget need. initial is the initial state.
func (x *session) prepareBudgets(initial *frame.Frame) error {
	if err := x.checkBudgets(x.config, initial); err != nil {
		return err
	}
	x.views = &budgets{truth: meters.NewTruth(x.schema, x.cadence.RateHz), pool: frame.NewPool(x.schema), sums: maphash.MakeSeed()}
	for _, w := range x.workers {
		w.decoders[0].decoder = w.decoder
	}
	var err error
	if x.views.memoBytes, err = x.workers[0].measureMemo(); err != nil {
		return config.ErrorAt("encoder", err)
	}
	x.applyBudgets()
	return nil
}

// checkBudgets returns an error if the encoder of c cannot keep the budgets of c.
func (x *session) checkBudgets(c *config.Config, initial *frame.Frame) error {
	if err := c.CheckBudgetFits(x.schema); err != nil {
		return err
	}
	for _, b := range []struct {
		key    string
		budget endpoint.Budget
	}{{config.BudgetKey, c.SendBudget()}, {config.CrowdBudgetKey, c.CrowdBudget()}} {
		if b.budget.Bps == 0 {
			continue
		}
		if err := engine.CheckEncoderFits("encoder", c.Encoder, c, b.key, b.budget, x.schema, initial); err != nil {
			return err
		}
	}
	return nil
}

// applyBudgets applies the budgets of the configuration from the next packet on.
func (x *session) applyBudgets() {
	shared := x.config.CrowdBudget()
	x.views.bucket.Set(shared.Bps, shared.Burst, x.config.SendInterval())
	for withParams := range x.views.headers {
		x.views.headers[withParams] = len(endpoint.AppendViewHeader(nil, 0, 0, 0, &x.workers[0].encoder, withParams == 1))
	}
	for i := range x.shards {
		x.setPolicy(&x.shards[i])
		for _, v := range x.shards[i].viewers {
			x.applyBudget(v)
		}
	}
}

// addFiller creates the filler of a shard.
func (x *session) addFiller(s *shard) {
	timer := meters.NewStopwatch(x.clock, x.schema)
	s.filler, s.timer = view.NewFiller(x.schema), &timer
	s.filler.Probe = s.timer
	x.setPolicy(s)
}

// setPolicy passes the policy of the configuration to the filler of a shard.
func (x *session) setPolicy(s *shard) {
	b := x.config.CrowdBudget()
	s.filler.SetPolicy(b.Priority)
	s.filler.SetWeights(b.Weights)
	s.filler.SetInterest(b.Interest)
}

// applyBudget applies sender.budget to a client.
func (x *session) applyBudget(v *viewer) {
	own := x.config.SendBudget()
	v.bucket.Set(own.Bps, own.Burst, x.config.SendInterval())
	v.server.BudgetChanged()
}

// newViewer returns client i, counted from 0, of shard s. It shows the initial state.
func (x *session) newViewer(s *shard, i int) *viewer {
	initial := &x.workers[0].initial
	perSlot := endpoint.Cadence{TickHz: x.cadence.RateHz, RateHz: x.cadence.RateHz}
	v := &viewer{server: view.NewServer(s.filler, initial), client: view.NewClient(x.schema, initial), meter: x.views.truth.NewView(perSlot),
		leftRows: true, player: i % min(x.config.Crowd.PlayerRows, x.schema.Rows)}
	x.applyBudget(v)
	return v
}

// swapEncoder begins an epoch with the encoder of c.
func (x *session) swapEncoder(c *config.Config) error {
	codec, params, err := x.resolveCodec(c)
	if err != nil {
		return err
	}
	var fresh []*worker
	for _, w := range x.workers {
		f, err := newWorker(x.schema, codec, params, &w.initial)
		if err != nil {
			return config.ErrorAt("encoder", err)
		}
		fresh = append(fresh, f)
	}
	before := x.views.memoBytes
	if x.views.memoBytes, err = fresh[0].measureMemo(); err != nil {
		err = config.ErrorAt("encoder", err)
	} else {
		_, _, err = x.plan(x.clientCount()) // memos may need too much memory
	}
	if err != nil {
		x.views.memoBytes = before
		return err
	}
	x.views.epoch++
	for i, w := range x.workers {
		fresh := fresh[i]
		w.encoder, w.decoder = fresh.encoder, fresh.decoder
		w.decoders[x.views.epoch%endpoint.StoredEpochs] = viewDecoder{x.views.epoch, fresh.decoder}
	}
	for i := range x.shards {
		s := &x.shards[i]
		for k := range s.connections {
			s.connections[k].epochAcked = false
			s.viewers[k].server.BeginEpoch()
		}
	}
	return nil
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

// compareDisplays compares what the clients of a shard show with the frame of the current slot.
func (s *shard) compareDisplays() {
	for i, v := range s.viewers {
		if s.connections[i].isActive && s.receivers[i].decoded.any {
			v.meter.Compare(v.client)
		}
	}
}

// admit sets v.allowed to the bytes that sender.budget allows the packet to v at now. It returns the key of the packet;
// noPacket if they do not suffice for the smallest packet.
func (x *session) admit(v *viewer, epochAcked bool, now time.Duration) (key uint16) {
	if !epochAcked {
		key = paramsKey
	}
	need := x.need(v, key)
	v.allowed = endpoint.MaxDatagram
	if x.config.Sender.Budget > 0 {
		v.allowed = min(v.bucket.Allow(now, need), v.allowed)
	}
	return v.hold(key, need)
}

// need returns the size of the smallest packet to v with the given key. If a row waits for room, this is a packet with it.
func (x *session) need(v *viewer, key uint16) int {
	return v.server.Need(x.views.headers[key/paramsKey], x.maxPacket(v))
}

// maxPacket returns the size of the largest packet to v that the budgets ever allow.
func (x *session) maxPacket(v *viewer) int {
	size := endpoint.MaxDatagram
	if x.config.Sender.Budget > 0 {
		size = min(size, v.bucket.MaxNeed())
	}
	if x.config.Crowd.Budget > 0 {
		size = min(size, x.views.bucket.MaxNeed())
	}
	return size
}

// hold returns key, or noPacket if less than need bytes are allowed.
func (v *viewer) hold(key uint16, need int) uint16 {
	if v.allowed >= need {
		return key
	}
	v.held++
	return noPacket
}

// minShare is the smallest share of crowd.budget in bytes. If the budget does not suffice for such a share to every client,
// they take turns: smaller packets would be mostly headers.
const minShare = 128

// share divides crowd.budget among the clients that have a packet at now. Each gets what it needs at least or, if the rest
// does not suffice, is the first to get it next time. All get the same share of what is left, except those that need less:
// clients whose newest packet left no rows out need at most twice its size. What they leave goes to the others (max-min
// fairness).
func (x *session) share(now time.Duration) {
	b, count := x.views, x.clientCount()
	rest, next := -1, -1 // bytes, -1 before the first client; the first client that must wait, -1 if none
	b.demands = b.demands[:0]
	for k := range count {
		c := (b.first + k) % count
		s, i := &x.shards[c/x.shardSize], c%x.shardSize
		v := s.viewers[i]
		if s.keys[i] == noPacket {
			continue
		}
		need := x.need(v, s.keys[i])
		if !v.leftRows {
			v.allowed = min(v.allowed, max(2*v.size, need))
		}
		v.reserved = max(min(minShare, b.bucket.MaxNeed()), need)
		if rest < 0 {
			rest = b.bucket.Allow(now, v.reserved)
		}
		v.reserved = min(v.reserved, v.allowed)
		if next >= 0 || v.reserved > rest {
			v.allowed, v.reserved = 0, 0
			if next < 0 {
				next = c
			}
			continue
		}
		rest -= v.reserved
		b.demands = append(b.demands, v.allowed-v.reserved)
	}
	b.first = max(next, 0)
	slices.Sort(b.demands)
	level := fairLevel(b.demands, rest)
	for i := range x.shards {
		s := &x.shards[i]
		for k, v := range s.viewers {
			if s.keys[k] != noPacket {
				v.allowed = min(v.allowed, v.reserved+level)
				s.keys[k] = v.hold(s.keys[k], x.need(v, s.keys[k]))
			}
		}
	}
}

// fairLevel returns the largest level at which the sum of the demands, each reduced to the level, is at most total.
// demands are in ascending order.
func fairLevel(demands []int, total int) int {
	for i, d := range demands {
		if rest := len(demands) - i; d*rest > total {
			return total / rest
		}
		total -= d
	}
	return endpoint.MaxDatagram
}

// encodeViews chooses the rows of packet n to each client at now, and encodes them.
func (x *session) encodeViews(n uint32, now time.Duration) error {
	if x.config.Crowd.Budget > 0 {
		start := x.clock.Now()
		x.share(now)
		x.queueNS += x.clock.Now() - start
	}
	err := x.each(len(x.shards), func(w *worker, i int) error {
		s := &x.shards[i]
		start := x.clock.Now()
		s.filler.Advance(x.frameOf(n), nil)
		s.timed.choose += x.clock.Now() - start
		for k, v := range s.viewers {
			switch {
			case s.keys[k] != noPacket:
				x.fill(w, s, k, v, n, now)
			case s.connections[k].isActive:
				s.filler.Skip(v.server)
			}
		}
		return nil
	})
	count, size := 0, 0
	for i := range x.shards {
		s := &x.shards[i]
		for k, v := range s.viewers {
			if s.keys[k] != noPacket {
				x.measure(&v.encoding)
				count, size = count+1, size+v.size
			}
		}
	}
	x.countEncodings(count)
	if shared := x.config.CrowdBudget(); shared.Bps > 0 && size > 0 {
		x.views.bucket.Spend(now, size)
		if x.views.window.Add(now, size, &shared, x.config.SendInterval()) {
			x.views.over++
		}
	}
	return err
}

// fill encodes packet n to viewer v, client k of the shard, with its header, and charges it to sender.budget.
// If the budget has no room yet (view.ErrNoRoom), it sets the key to noPacket and nothing is sent. The time of the
// encoder, which s.timer measures, is not part of s.timed.choose.
func (x *session) fill(w *worker, s *shard, k int, v *viewer, n uint32, now time.Duration) {
	e := &v.encoding
	params := s.keys[k] / paramsKey // index in e.headers: 1 with parameters of the encoder, 0 without
	e.reset(0, 1)
	start := x.clock.Now()
	v.current = viewPacket{seq: n, ack: v.server.AckName(), epoch: x.views.epoch}
	e.headers[params] = endpoint.AppendViewHeader(e.headers[params][:0], uint64(n), v.current.epoch, v.current.ack, &w.encoder, params == 1)
	header := len(e.headers[params])
	coding := view.Coding{Encoder: w.encoder.Encoder, Epoch: v.current.epoch, Tick: uint32(x.cadence.Tick(uint64(n))),
		RefTick: x.cadence.InitialTick(uint64(n)), Player: v.player, MaxPayload: x.maxPacket(v) - header}
	if acked, ok := v.server.Acked(); ok {
		coding.RefTick = uint32(x.cadence.Tick(acked))
		age := uint64(n) - acked
		e.age, e.ageTicks = uint8(min(age, math.MaxUint8)), age*uint64(x.cadence.TickHz)/uint64(x.cadence.RateHz)
	}
	s.timer.NS = 0
	p, err := s.filler.Fill(v.server, uint64(n), coding, v.allowed-header, nil)
	if err != nil {
		s.timed.choose += x.clock.Now() - start - s.timer.NS
		v.size = 0
		if errors.Is(err, view.ErrNoRoom) {
			s.keys[k], v.leftRows = noPacket, true
			v.held++
			return
		}
		e.err = fmt.Errorf("encoder %s: %w", w.encoder.Codec.Name, err)
		return
	}
	v.size, v.leftRows = header+len(p.Payload), p.Left > 0
	e.payload = append(e.payload[:0], p.Payload...)
	e.wire[params], e.fragments[params] = lossmodel.WireBytes(v.size, x.downMTU)
	budget := x.config.SendBudget()
	if budget.Bps == 0 {
		budget = x.config.CrowdBudget()
	} else {
		v.bucket.Spend(now, v.size)
	}
	e.encodeNS = s.timer.NS
	s.timed.choose += x.clock.Now() - start - s.timer.NS
	start = x.clock.Now()
	v.current.sum = x.views.sum(p.View.Table)
	v.meter.Sent(now, &endpoint.Packet{Header: header, Payload: len(p.Payload), View: &endpoint.ViewPacket{Packet: p, Allowed: v.allowed}}, &budget,
		x.config.SendInterval())
	s.addBytes(e.headers[params])
	s.addBytes(e.payload)
	s.timed.clients += x.clock.Now() - start
}

// sum returns a hash of a table. A table that differs has another hash, except once in 2^64.
func (b *budgets) sum(table []int32) uint64 {
	return maphash.Bytes(b.sums, unsafe.Slice((*byte)(unsafe.Pointer(&table[0])), 4*len(table)))
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

// takeOff stores the current packet to v, which a link has accepted, until it arrives.
func (v *viewer) takeOff() {
	p := v.packets.Push()
	payload := append(p.payload[:0], v.encoding.payload...)
	*p = v.current
	p.payload = payload
	if v.packets.Len() > maxInFlight {
		v.packets.Pop()
	}
}

// inFlight returns packet seq to v; nil if it is not stored any more.
func (v *viewer) inFlight(seq uint32) *viewPacket {
	first := v.packets.First()
	k := sort.Search(v.packets.Len(), func(k int) bool { return v.packets.At(first+uint64(k)).seq >= seq })
	if p := v.packets.At(first + uint64(k)); p != nil && p.seq == seq {
		return p
	}
	return nil
}

// decodeView decodes packet seq at client i of the shard from its bytes alone, applies it to the display, and compares
// both with the server. s.worker has the decoders.
func (x *session) decodeView(s *shard, i int, seq uint32) verdict {
	v, w := s.viewers[i], s.worker
	p := v.inFlight(seq)
	if p == nil || !v.client.Accepts(uint64(seq)) {
		return unreferenced
	}
	p.done = s.full[i] == nil // a light link makes no copies
	d := &w.decoders[p.epoch%endpoint.StoredEpochs]
	ref, ok := v.client.Reference(p.ack, p.epoch, x.cadence.InitialTick(uint64(seq)))
	if !ok || d.epoch != p.epoch {
		return unreferenced
	}
	refs := [1]encoders.Ref{ref}
	tick := uint32(x.cadence.Tick(uint64(seq)))
	w.decoded.Tick = tick
	start := x.clock.Now()
	memo, err := d.decoder.Decode(w.decoded, p.payload, refs[:], v.client.SpareMemo(p.epoch))
	s.timed.decode += x.clock.Now() - start
	if err != nil {
		s.decodeErr = err
		return refused
	}
	w.decoded.Tick = tick
	result := correct
	if x.views.sum(w.decoded.Table) != p.sum {
		result = wrong
	}
	if _, ok := v.client.Apply(uint64(seq), p.ack, w.decoded, memo, p.epoch); !ok {
		return unreferenced
	}
	p.done, v.epoch = true, max(v.epoch, p.epoch)
	if v.client.ShowsUnsent(v.server) {
		result = wrong
	}
	return result
}

// dropArrived forgets the packets that cannot be decoded any more. newest is the newest packet that the client has decoded.
func (v *viewer) dropArrived(newest uint32) {
	for v.packets.Len() > 0 {
		if p := v.packets.At(v.packets.First()); !p.done && p.seq+view.Window >= newest {
			return
		}
		v.packets.Pop()
	}
}

// readViewAck handles the ack with the given number of client i at the server, and forgets the acks before it.
func (x *session) readViewAck(s *shard, i int, number uint32) {
	v, t := s.viewers[i], &s.connections[i]
	data := v.acks.At(uint64(number))
	if data == nil {
		return // a newer ack has arrived
	}
	epoch, _ := view.AckEpoch(*data)
	a, err := v.server.HandleAck(*data)
	for v.acks.First() <= uint64(number) {
		v.acks.Pop()
	}
	if err != nil {
		s.decodeErr = err
		return
	}
	if a.IsNew {
		t.epochAcked = epoch == uint8(x.views.epoch)
	}
	t.acked.addAck(uint32(a.Newest), a.Mask)
}

// viewerBytes estimates the memory of a viewer at 64 kbit/s and 60 Hz: the client's display and reference, what both ends
// record of each row, the rows of packets under way and of the newest acks, and the memos of both.
func (x *session) viewerBytes(slots uint32) int64 {
	const tables, perRow, changes = 2, 40, 2500
	row := 4 * int64(len(x.schema.Fields))
	return int64(x.schema.Rows)*(tables*row+perRow) + changes*(row+4) + x.views.memoBytes*int64(slots+view.MaxStates)
}
