// Package crowd runs one sender with many receivers. Clients that have the same baseline get the same
// payload, so a tick needs as many encodings as there are different baselines, not clients. Frames and
// payloads are stored once, and each payload is decoded once. README.md describes the model.
package crowd

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"slices"
	"time"
	"unsafe"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/internal/panics"
	"wirelab/internal/quantile"
	"wirelab/internal/wallclock"
	"wirelab/lossmodel"
	"wirelab/lossmodel/tracefile"
)

// Options configure a session.
type Options struct {
	Clock    wallclock.Clock           // measures durations; nil means none are measured
	Progress func(done, total float64) // Run calls it about once a second of virtual time, in seconds; nil means none
	Force    bool                      // allow more than maxMemory

	isLive bool // ignore the duration of the configuration, and keep the newest packets of each client
}

// session is a run with many receivers. Time passes in slots: one for each packet that sender.rate_hz
// permits. It is not safe for use by several goroutines.
type session struct {
	Options
	config  *config.Config
	start   *config.Config         // config at the start
	changes []config.StampedChange // that have been applied
	source  dataset.Source
	schema  *frame.Schema
	cadence endpoint.Cadence
	timeline
	server

	shards          []shard
	shardSize       int              // clients of a shard
	loadFile        tracefile.Loader // for the links
	receiverHistory uint32
	ackWire         int // size of an ack on the wire
	ackFragments    int
	views           *budgets // nil without a budget

	digest hash.Hash
	record []byte // buffer of the digest
	measurements
}

// timeline contains the times of a session.
type timeline struct {
	slot         uint32          // the next slot
	end          time.Duration   // the end of the run, unless the data end earlier
	ended        bool            // nothing more will happen
	slots        uint32          // more than the slots in which something in flight can be due: a power of two
	times        []time.Duration // of the current slot and those after it, by slot modulo the length
	displayTicks []time.Duration // of the current slot: after the slot before it, up to its own time
	displayed    uint64          // number of display ticks of all slots so far
}

// server is what the server has for all clients together.
type server struct {
	initial *frame.Frame  // the initial state
	frames  []frame.Frame // frames of the newest slots, by slot modulo the length
	taken   uint64        // frames read from the source

	workers       []*worker
	baselines     baselines
	encodings     []encoding
	encodingOf    [frame.MaxHistory + 1]int32 // index in encodings, by age
	newest        []encoding                  // the part of encodings that belongs to the newest packet
	senderHistory uint32
	uplink        uplink
}

// measurements are sums over ticks.
type measurements struct {
	packets              int64 // ticks with a packet
	encodingSum          int64
	maxEncodings         int
	sizes, ages          quantile.Histogram
	encodeTimes          quantile.Histogram // of encodings
	decodeTimes          quantile.Histogram
	elapsed              quantile.Histogram // of ticks
	passed               int64              // wall time since the last packet in nanoseconds
	headerNS, queueNS    int64
	encodeErr, decodeErr error
}

// laps measures the durations of the parts of some work.
type laps struct {
	clock wallclock.Clock
	began int64 // of the current part
}

// startLaps begins the first part of some work.
func (x *session) startLaps() laps { return laps{x.Clock, x.Clock.Now()} }

// end ends the current part, adds its duration to a sum in nanoseconds, and begins the next part.
func (l *laps) end(sum *int64) {
	now := l.clock.Now()
	*sum += now - l.began
	l.began = now
}

// Run runs the experiment. When ctx ends, it returns the results so far, marked as interrupted. With an
// error of the data it also returns the results so far.
func Run(ctx context.Context, c *config.Config, opt Options) (*engine.Result, error) {
	x, err := newSession(ctx, c, opt)
	if err != nil {
		return nil, err
	}
	for err == nil && ctx.Err() == nil {
		if opt.Progress != nil && x.slot%uint32(x.cadence.RateHz) == 0 {
			opt.Progress(x.Now().Seconds(), x.end.Seconds())
		}
		err = x.Step()
	}
	interrupted := err == nil
	if err == io.EOF {
		err = nil
	}
	err = errors.Join(err, x.finish())
	result := x.Result()
	result.Interrupted = interrupted
	return result, errors.Join(err, x.Close())
}

// newSession opens the data and creates the clients.
func newSession(ctx context.Context, c *config.Config, opt Options) (*session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Clone()
	src, err := c.OpenData(ctx, c.Duration > 0 || opt.isLive)
	if err != nil {
		return nil, err
	}
	x := &session{Options: opt, config: c, source: src, schema: src.Schema(), digest: sha256.New()}
	x.sizes.Precision = quantile.Exact
	x.ages.Precision = quantile.Exact
	if err := x.prepare(); err != nil {
		return nil, errors.Join(c.Locate(err), x.Close())
	}
	_, canEnd := src.(dataset.Sized)
	switch x.end = c.Duration; {
	case opt.isLive || c.Duration == 0 && canEnd:
		x.end = config.MaxDuration
	case c.Duration == 0:
		x.end = defaultDuration
	}
	return x, nil
}

// defaultDuration is the duration of a run whose configuration sets none and whose data do not end.
const defaultDuration = 60 * time.Second

// Check returns the error with which Run would fail to begin; nil if it could begin. It fills in the
// settings of c that depend on the data.
func Check(ctx context.Context, c *config.Config, force bool) error {
	x, err := newSession(ctx, c, Options{Force: force})
	if err != nil {
		return err
	}
	c.AdoptFit(x.config)
	return x.Close()
}

// Close closes the source.
func (x *session) Close() error {
	if c, ok := x.source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// prepare checks the configuration and creates everything that a run needs.
func (x *session) prepare() error {
	c := x.config
	if err := c.FitTo(x.schema); err != nil {
		return err
	}
	if err := c.Normalise(); err != nil {
		return err
	}
	if err := x.checkSupport(); err != nil {
		return err
	}
	x.cadence = endpoint.Cadence{TickHz: x.schema.TickHz, RateHz: c.Sender.RateHz}
	x.senderHistory, x.receiverHistory = uint32(c.Sender.History), uint32(c.Receiver.History)
	x.ackWire, x.ackFragments = lossmodel.WireBytes(endpoint.AckBytes, c.Up.MTU)
	x.baselines = newBaselines(c)
	x.uplink = newUplink(c.Crowd.Uplink)
	x.loadFile = cacheFiles(c.ReadTrace)
	x.frames = make([]frame.Frame, frame.MaxHistory+1)
	x.initial = x.schema.NewFrame()
	x.source.Initial(x.initial)
	var err error
	if x.workers, err = x.newWorkers(c); err != nil {
		return err
	}
	x.shardSize = shardClients
	if c.HasBudget() {
		x.shardSize = budgetShardClients
		if err := x.prepareBudgets(); err != nil {
			return err
		}
	}
	for i := range c.At { // a crowd that would be refused later is refused now
		if n, set := c.At[i].Change.Value("crowd.clients").(int64); set {
			if _, _, err := x.plan(int(n), x.workers[0].memoBytes); err != nil {
				return err
			}
		}
	}
	x.start = c.Clone()
	return x.resize(c.Crowd.Clients, x.workers[0].memoBytes)
}

// maxMemory is the largest memory, in bytes, that a run may need unless Options.Force is set.
const maxMemory = 8 << 30

// Sizes in bytes.
const (
	clientBytes   = int(unsafe.Sizeof(connection{}) + unsafe.Sizeof(counts{}) + unsafe.Sizeof(client{}))
	packetBytes   = int(unsafe.Sizeof(packet{}))
	ackBytes      = int(unsafe.Sizeof(ack{}))
	fullLinkBytes = 16 << 10 // both links of a client with a few packets in flight
)

// checkMemory returns an error if n clients need more than maxMemory: for frames, links, clients, and
// packets and acks in flight in the given number of slots. full is the number of clients with full
// links, memoBytes is worker.memoBytes.
func (x *session) checkMemory(n, full int, slots uint32, memoBytes int64) error {
	inFlight := int64(slots) / 2 * int64(packetBytes+ackBytes) * 5 / 4 // slices grow by a quarter
	perClient := int64(clientBytes) + inFlight
	if x.views != nil {
		perClient += x.viewerBytes(slots, memoBytes)
	}
	shared := int64(len(x.frames))*int64(x.schema.Cells())*4 + int64(full)*fullLinkBytes
	needed := shared + int64(n)*perClient
	if needed <= maxMemory || x.Force {
		return nil
	}
	return &config.Error{Key: "crowd.clients",
		Problem: fmt.Sprintf("needs about %.1f GB: %d clients of %d bytes each, and %d MB of frames and links",
			float64(needed)/(1<<30), n, perClient, shared>>20),
		Expected: fmt.Sprintf("at most %d GB, for example %d clients; or --force with tui run", maxMemory>>30,
			max((maxMemory-shared)/perClient, 1))}
}

// clientCount returns the number of clients that have been created, including those that are not in the game.
func (x *session) clientCount() int {
	if n := len(x.shards); n > 0 {
		return (n-1)*x.shardSize + len(x.shards[n-1].clients)
	}
	return 0
}

// Change applies a change for which CanChange reports true, before the next slot. Clients that come have
// the links of their numbers; clients that go are sent nothing, until they return with what they have.
// After an error nothing is changed. A mark has no effect.
func (x *session) Change(ch config.Change) error {
	ch = ch.WithMark("")
	if ch.IsZero() {
		return nil
	}
	if err := checkChange(x.config, ch); err != nil {
		return err
	}
	next, workers := x.config.Clone(), x.workers
	err := next.Apply(ch)
	if err == nil && !next.Encoder.Equal(x.config.Encoder) {
		workers, err = x.newWorkers(next)
	}
	if err == nil && x.views != nil {
		err = engine.CheckBudgets(nil, next, x.schema, x.initial)
	}
	if err != nil {
		return err
	}
	clients := next.Crowd.Clients
	setsClients := clients != x.config.Crowd.Clients || slices.Equal(ch.Keys(), []string{"crowd.clients"})
	if err := x.resize(clients, workers[0].memoBytes); err != nil {
		return err
	}
	if setsClients {
		x.digest.Write(fmt.Appendf(nil, "clients %d at %d", clients, x.slot))
	}
	if workers[0] != x.workers[0] {
		x.swapWorkers(workers)
	}
	x.config.Encoder, x.config.Sender, x.config.Crowd = next.Encoder, next.Sender, next.Crowd
	if x.views != nil {
		x.applyBudgets()
	}
	x.changes = append(x.changes, config.Stamp(x.Now(), ch))
	return nil
}

// resize creates the clients up to number n, and makes those from 1 to n the crowd. memoBytes is
// worker.memoBytes. After an error nothing is changed.
func (x *session) resize(n int, memoBytes int64) error {
	added, slots, err := x.plan(n, memoBytes)
	if err != nil {
		return err
	}
	x.reserve(slots)
	for i := range added {
		x.addClient(&added[i])
	}
	x.config.Crowd.Clients = n
	for i := range x.clientCount() {
		x.updatePresence(i)
	}
	return nil
}

// plan returns the clients that a crowd of n lacks, without viewers, and the slots that their light links
// need. It returns an error if the crowd needs too much memory, or does not support such links.
func (x *session) plan(n int, memoBytes int64) (added []client, slots uint32, err error) {
	full, maxDelay := 0, time.Duration(0)
	for i := range x.shards {
		full += x.shards[i].full
	}
	for i := x.clientCount(); i < n; i++ {
		c, delay, err := x.newClient(i)
		if err != nil {
			return nil, 0, err
		}
		if c.full != nil {
			full++
		}
		maxDelay = max(maxDelay, delay)
		added = append(added, c)
	}
	slots = max(x.slots, x.slotsFor(maxDelay))
	return added, slots, x.checkMemory(n, full, slots, memoBytes)
}

// addClient adds the next client, which plan has returned.
func (x *session) addClient(c *client) {
	i := x.clientCount()
	if i%x.shardSize == 0 {
		x.shards = append(x.shards, shard{packets: newRing[packet](x.slots), acks: newRing[ack](x.slots)})
		if x.views != nil {
			x.addFiller(&x.shards[len(x.shards)-1])
		}
	}
	s := &x.shards[len(x.shards)-1]
	if c.full != nil {
		s.full++
	}
	if x.views != nil {
		c.viewer = x.newViewer(s, i)
	}
	s.connections = append(s.connections, connection{})
	s.counts = append(s.counts, counts{})
	s.receivers = append(s.receivers, receiver{})
	if x.isLive {
		s.histories = append(s.histories, history{})
	}
	s.clients = append(s.clients, *c)
}

// at returns the shard of client i, counted from 0, and the index of the client in it.
func (x *session) at(i int) (s *shard, index int) { return &x.shards[i/x.shardSize], i % x.shardSize }

// updatePresence sets whether client i, counted from 0, is in the game in the next slot.
func (x *session) updatePresence(i int) {
	s, k := x.at(i)
	active, t, now := &s.connections[k].isActive, &s.clients[k].tenure, x.Now()
	before := *active
	*active = i < x.config.Crowd.Clients && now >= t.join && (t.leave == 0 || now < t.leave)
	if *active != before {
		t.total, t.since = t.active(before, now), now
	}
}

// slotsFor returns the number of slots, a power of two, for packets that are due up to delay after they
// were sent: those of that time, and three more, since times of slots are rounded and the current slot
// is one of them.
func (x *session) slotsFor(delay time.Duration) uint32 {
	return 1 << bits.Len64(uint64(int64(delay)*int64(x.cadence.RateHz)/int64(time.Second))+3)
}

// reserve makes room for what is in flight in a number of slots, a power of two.
func (x *session) reserve(slots uint32) {
	if slots <= x.slots {
		return
	}
	x.slots = slots
	for i := range x.shards {
		x.shards[i].packets.grow(x.slot, slots)
		x.shards[i].acks.grow(x.slot, slots)
	}
	x.times = make([]time.Duration, slots)
	for n := range slots {
		x.setTime(x.slot + n)
	}
}

// setTime stores the time of slot n for timeOf.
func (x *session) setTime(n uint32) { x.times[n&(x.slots-1)] = x.cadence.SeqTime(uint64(n)) }

// timeOf returns the time of slot n: the current one, or one in which something that is in flight may be due.
func (x *session) timeOf(n uint32) time.Duration { return x.times[n&uint32(len(x.times)-1)] }

// slotOf returns the slot in which an event at due is handled: the first one that is not before due. due
// is at least the time of slot n-1.
func (x *session) slotOf(n uint32, due time.Duration) uint32 {
	now := x.timeOf(n)
	if due <= now {
		return n
	}
	slot := n + uint32(int64(due-now)*int64(x.cadence.RateHz)/int64(time.Second))
	for x.timeOf(slot) < due {
		slot++
	}
	return slot
}

// Now returns the time of the next slot, or the end of the run.
func (x *session) Now() time.Duration {
	if x.ended {
		return x.end
	}
	return x.cadence.SeqTime(uint64(x.slot))
}

// frameOf returns the frame of slot n, one of the newest.
func (x *session) frameOf(n uint32) *frame.Frame { return &x.frames[n%uint32(len(x.frames))] }

// Step runs the next slot. It returns io.EOF at the end of the run or of the data.
func (x *session) Step() error {
	n, now := x.slot, x.Now()
	if x.ended || now >= x.end {
		return io.EOF
	}
	if err := x.applyChanges(now); err != nil {
		return err
	}
	l := x.startLaps()
	if err := x.readFrame(n); err != nil {
		x.end = min(x.end, max(now, x.cadence.TickTime(x.taken)))
		return err
	}
	x.setTime(n + x.slots - 1)
	x.findDisplayTicks(now)
	if x.views != nil {
		x.advanceTruth(n)
	}
	sends := n%uint32(x.config.Sender.Every) == 0
	err := x.eachShard(func(s *shard) {
		x.receive(s, n, now)
		x.choose(s, n, now, sends)
	})
	if err == nil && sends {
		err = x.sendAll(n, now)
	}
	x.slot++
	l.end(&x.passed)
	if sends {
		x.elapsed.Add(x.passed)
		x.passed = 0
	}
	return err
}

// applyChanges applies the changes of [[at]] that are due at now, and lets the clients of [[client]]
// tables join and leave.
func (x *session) applyChanges(now time.Duration) error {
	for len(x.config.At) > 0 && x.config.At[0].T <= now {
		ch := x.config.At[0].Change
		x.config.At = x.config.At[1:]
		if err := x.Change(ch); err != nil {
			return err
		}
	}
	for i := range x.config.Clients {
		if turn := x.config.Clients[i].Turn; turn <= x.clientCount() {
			x.updatePresence(turn - 1)
		}
	}
	return nil
}

// findDisplayTicks sets x.displayTicks to the display ticks after those of the last slot, up to now.
func (x *session) findDisplayTicks(now time.Duration) {
	milliHz := x.config.DisplayMilliHz(x.schema.TickHz)
	x.displayTicks = x.displayTicks[:0]
	for ; ; x.displayed++ {
		at := endpoint.TickTime(1000*x.displayed, milliHz)
		if at > now {
			return
		}
		x.displayTicks = append(x.displayTicks, at)
	}
}

// finish handles what is due before the end of the run, after the last slot.
func (x *session) finish() error {
	x.end = min(x.end, x.Now())
	x.ended = true
	if x.end == 0 {
		return nil
	}
	x.setTime(x.slot)
	x.findDisplayTicks(x.end - 1)
	return x.eachShard(func(s *shard) { x.receive(s, x.slot, x.end-1) })
}

// readFrame reads the frames of the source up to the tick of slot n, and stores the newest as that of slot n.
func (x *session) readFrame(n uint32) error {
	f := x.frameOf(n)
	if f.Table == nil {
		*f = *x.schema.NewFrame()
	}
	tick := x.cadence.Tick(uint64(n))
	for ; x.taken <= tick; x.taken++ {
		if err := x.source.Next(f); err != nil {
			if errors.Is(err, io.EOF) {
				return io.EOF
			}
			return fmt.Errorf("data %s: %w", x.config.Data.Source, err)
		}
	}
	f.Tick = uint32(tick)
	return nil
}

// workerOf returns the worker of shard i.
func (x *session) workerOf(i int) *worker { return x.workers[i%len(x.workers)] }

// eachShard calls f for each shard on all cores. Calls for shards with the same worker do not overlap.
func (x *session) eachShard(f func(s *shard)) error {
	return x.each(len(x.shards), func(_ *worker, i int) { f(&x.shards[i]) })
}

// each calls f for 0 to n-1 on all cores. Calls with the same worker do not overlap.
func (x *session) each(n int, f func(w *worker, i int)) error {
	workers := len(x.workers)
	return errors.Join(panics.Each(workers, min(workers, n), func(first int) error {
		for i := first; i < n; i += workers {
			f(x.workers[first], i)
		}
		return nil
	})...)
}

// sendAll encodes packet n and sends it at now.
func (x *session) sendAll(n uint32, now time.Duration) error {
	encode := x.encodeShared
	if x.views != nil {
		encode = x.encodeViews
	}
	if err := encode(n, now); err != nil {
		return err
	}
	if x.uplink.BitsPerSecond > 0 {
		l := x.startLaps()
		x.queue(n, now)
		l.end(&x.queueNS)
	}
	count := 0
	x.eachEncoding(func(e *encoding) {
		x.measure(e)
		count++
	})
	x.encodingSum += int64(count)
	x.maxEncodings = max(x.maxEncodings, count)
	x.packets++
	return x.eachShard(func(s *shard) { x.send(s, n, now) })
}

// encodeShared makes an encoding of packet n for each age of a baseline that clients have, in the order
// of ages.
func (x *session) encodeShared(n uint32, _ time.Duration) error {
	count := 0
	for age := range x.encodingOf {
		users := 0
		for i := range x.shards {
			users += int(x.shards[i].usersByAge[age])
		}
		if users == 0 {
			continue
		}
		if count == len(x.encodings) {
			x.encodings = append(x.encodings, encoding{})
		}
		x.encodings[count].reset(uint8(age), users)
		x.encodingOf[age] = int32(count)
		count++
	}
	x.newest = x.encodings[:count]
	return x.each(count, func(w *worker, i int) { x.encode(w, n, &x.newest[i]) })
}

// eachEncoding calls f for each encoding of the newest packet.
func (x *session) eachEncoding(f func(e *encoding)) {
	for i := range x.newest {
		f(&x.newest[i])
	}
	if x.views != nil {
		for _, v := range x.packetsFrom(0) {
			f(&v.encoding)
		}
	}
}

// measure counts an encoding, and adds it to the digest.
func (x *session) measure(e *encoding) {
	x.encodeTimes.Add(e.encodeNS)
	if x.views == nil {
		x.decodeTimes.Add(e.decodeNS)
	}
	x.headerNS += e.headerNS
	if e.err != nil {
		x.encodeErr = e.err
		return
	}
	if e.decodeErr != nil {
		x.decodeErr = e.decodeErr
	}
	x.sizes.AddN(int64(len(e.payload)), int64(e.users))
	if e.age > 0 {
		x.ages.AddN(int64(e.ageTicks), int64(e.users))
	}
	if x.views == nil { // the hashes of the shards contain packets under a budget
		x.addRecord(e.forms[0].header)
		x.addRecord(e.forms[1].header)
		x.addRecord(e.payload)
	}
}

// addRecord adds data to the digest, after their length. The digest covers, for each tick, both forms of
// the header and the payload of each encoding, and the hashes of the shards: of the encoding and the
// form of the header that each client was sent, and of all arrivals with their outcomes.
func (x *session) addRecord(data []byte) {
	x.record = binary.LittleEndian.AppendUint32(x.record[:0], uint32(len(data)))
	x.digest.Write(x.record)
	x.digest.Write(data)
}
