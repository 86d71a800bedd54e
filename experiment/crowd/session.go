// Package crowd runs one sender with many receivers. Clients that have the same baseline get the same
// payload, so a tick needs as many encodings as there are different baselines, not clients. Frames and
// payloads are stored once, and each payload is decoded once. README.md describes the model.
package crowd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/internal/panics"
	"wirelab/internal/quantile"
	"wirelab/internal/wallclock"
	"wirelab/lossmodel"
)

// Options configure a session.
type Options struct {
	Clock    wallclock.Clock           // measures durations; nil means none are measured
	Progress func(done, total float64) // Run calls it about once a second of virtual time, in seconds; nil means none
	Force    bool                      // allow more than maxMemory
	Endless  bool                      // ignore the duration of the configuration

	keepPackets bool // keep the newest packets of each client
}

// session is a run with many receivers. Time passes in slots: one for each packet that sender.rate_hz
// permits. It is not safe for use by several goroutines.
type session struct {
	config  *config.Config
	clock   wallclock.Clock
	source  dataset.Source
	schema  *frame.Schema
	cadence endpoint.Cadence
	timeline
	server

	shards          []shard
	shardSize       int                               // clients of a shard
	presenceChanges []presenceChange                  // to come
	start           *config.Config                    // at the start
	changes         []config.StampedChange            // that have been applied
	loadFile        func(name string) ([]byte, error) // for the links
	receiverHistory uint32
	ackWire         int // size of an ack on the wire
	ackFragments    int
	keepPackets     bool     // Options.keepPackets
	views           *budgets // nil without a budget
	force           bool     // Options.Force

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
	frames []frame.Frame // frames of the newest slots, by slot modulo the length
	taken  uint64        // frames read from the source

	workers         []*worker
	baselines       baselines
	needsNoBaseline bool // the codec encodes frames without a baseline
	encodings       []encoding
	encodingOf      [frame.MaxHistory + 1]int32 // index in encodings, by age
	newest          []encoding                  // the part of encodings that belongs to the newest packet
	senderHistory   uint32
	downMTU         int
	uplink          uplink
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
	passed               time.Duration      // wall time since the last packet
	headerNS, queueNS    int64
	encodeErr, decodeErr error
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
	src, err := c.OpenData(ctx, c.Duration > 0 || opt.Endless)
	if err != nil {
		return nil, err
	}
	x := &session{config: c, clock: opt.Clock, source: src, schema: src.Schema(), digest: sha256.New(), keepPackets: opt.keepPackets, force: opt.Force}
	x.sizes.Precision = quantile.Exact
	x.ages.Precision = quantile.Exact
	if err := x.prepare(); err != nil {
		return nil, errors.Join(c.Locate(err), x.Close())
	}
	_, canEnd := src.(dataset.Sized)
	switch x.end = c.Duration; {
	case opt.Endless || c.Duration == 0 && canEnd:
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
	codec, params, err := x.resolveCodec(c)
	if err != nil {
		return err
	}
	if err := x.checkSupport(); err != nil {
		return err
	}
	x.cadence = endpoint.Cadence{TickHz: x.schema.TickHz, RateHz: c.Sender.RateHz}
	x.needsNoBaseline = codec.Standalone
	x.senderHistory, x.receiverHistory = uint32(c.Sender.History), uint32(c.Receiver.History)
	x.downMTU = c.Down.MTU
	x.ackWire, x.ackFragments = lossmodel.WireBytes(endpoint.AckBytes, c.Up.MTU)
	x.baselines = newBaselines(c)
	x.uplink, x.loadFile, x.presenceChanges = newUplink(c.Crowd.Uplink), cacheFiles(c.ReadTrace), presenceChanges(c)
	x.frames = make([]frame.Frame, frame.MaxHistory+1)
	initial := x.schema.NewFrame()
	x.source.Initial(initial)
	for range runtime.GOMAXPROCS(0) {
		w, err := newWorker(x.schema, codec, params, initial)
		if err != nil {
			return config.ErrorAt("encoder", err)
		}
		x.workers = append(x.workers, w)
	}
	x.shardSize = shardClients
	if c.HasBudget() {
		x.shardSize = budgetShardClients
		if err := x.prepareBudgets(initial); err != nil {
			return err
		}
	}
	for i := range c.At { // a crowd that would be refused later is refused now
		if n, set := c.At[i].Change.Value("crowd.clients").(int64); set {
			if _, _, err := x.plan(int(n)); err != nil {
				return err
			}
		}
	}
	x.start = c.Clone()
	return x.resize(c.Crowd.Clients)
}

// resolveCodec returns the codec of c with its parameters, or an error if a crowd cannot use it.
func (x *session) resolveCodec(c *config.Config) (codec *encoders.Codec, params any, err error) {
	codec, params, err = c.Encoder.Resolve("encoder", c.Codecs)
	if err == nil {
		err = c.CheckSuits("encoder", codec, x.schema)
	}
	if err != nil {
		return nil, nil, err
	}
	if codec.Quantises {
		return nil, nil, &config.Error{Key: "encoder.name", Problem: codec.Name + " rounds values differently for each baseline, so clients cannot share frames",
			Expected: "an encoder that decodes exactly"}
	}
	codec = encoders.LocateFiles(codec, c.ResolvePath)
	enc, _, err := codec.New(x.schema, params)
	if _, learns := enc.(encoders.Feedback); learns && err == nil {
		err = &config.Error{Key: "encoder.name", Problem: codec.Name + " learns from each receiver", Expected: "an encoder whose packets many receivers can share"}
	}
	return codec, params, config.ErrorAt("encoder", err)
}

// checkSupport returns an error if the configuration or the data need something that a crowd does not have.
func (x *session) checkSupport() error {
	c := x.config
	refuse := func(key, problem, expected string) error {
		return &config.Error{Key: key, Problem: problem, Expected: expected}
	}
	defaults := config.Default()
	switch {
	case len(c.Shadows) > 0:
		return refuse("shadow", "a crowd has one encoder", "no [[shadow]], or a sweep over encoder.name")
	case x.schema.Timed || x.schema.Delivery != frame.Latest || x.schema.Rows == 0:
		return refuse("data.source", fmt.Sprintf("a crowd sends snapshots, not %s", c.Data.Source), "cubes or a table of which only the newest state matters")
	case !c.Playout().IsFixed():
		return refuse("receiver.playout", "a crowd has no playout policies", `a fixed delay such as "85ms"`)
	case c.Receiver.PlayoutCompare != "":
		return refuse("receiver.playout_compare", "a crowd has no playout policies", `"off"`)
	case c.Receiver.Hermite:
		return refuse("receiver.interpolation", "a crowd does not measure the errors of displays", `"linear"`)
	case c.BudgetKbps != defaults.BudgetKbps && c.BudgetKbps != 0:
		return refuse("budget", "a crowd has no chart with a budget", "no value")
	case len(c.Traffic) > 0:
		return refuse("traffic", "a crowd has no other traffic", `"off"`)
	case c.HasRedundancy():
		return refuse("sender.redundancy", "a crowd sends packets without redundancy", "no value")
	case c.HasMessages():
		return refuse("messages", "a crowd sends only snapshots", "no [messages]")
	case c.Sender.Control.Name() != "":
		return refuse("sender.control", "a crowd sends every packet", `"off"`)
	case c.HasBudget() && c.Crowd.Baseline != defaults.Crowd.Baseline:
		return refuse("crowd.baseline", "has no meaning with a budget: the reference of a packet is what its client shows", `"newest"`)
	case !c.HasBudget() && c.Crowd.PlayerRows != defaults.Crowd.PlayerRows:
		return refuse("crowd.player_rows", "has no meaning without a budget", config.BudgetKey+", or no crowd.player_rows")
	}
	planned := c.Clone()
	for i := range c.At {
		if err := x.checkChange(planned, c.At[i].Change); err != nil {
			return config.Within(config.Indexed("at", i), err)
		}
		if err := planned.Apply(c.At[i].Change); err != nil {
			return config.Within(config.Indexed("at", i), err)
		}
	}
	return nil
}

// checkChange returns an error if ch cannot be applied to c during a run.
func (x *session) checkChange(c *config.Config, ch config.Change) error {
	ch = ch.WithMark("")
	if ch.IsZero() {
		return nil
	}
	if !CanChange(c, ch) {
		problem, expected := "a crowd can change only its number of clients during a run", "clients = 500, or a sweep"
		if c.HasBudget() {
			problem, expected = "a crowd with a budget can change only clients, budgets, priority, weights and encoder during a run", "one of these, or a sweep"
		}
		return &config.Error{Problem: problem, Expected: expected}
	}
	return nil
}

// RemoteError returns the error for a crowd of c over a real network.
func RemoteError(c *config.Config) error {
	return c.Locate(&config.Error{Key: "crowd.clients", Problem: "a crowd cannot run over a real network",
		Expected: "one receiver with --to or --udp, or a crowd without"})
}

// CanChange reports whether a crowd of c can apply a change during a run. The crowd must have a budget
// before and after it, or never.
func CanChange(c *config.Config, ch config.Change) bool {
	next := c.Clone()
	if err := next.Apply(ch); err != nil || next.HasBudget() != c.HasBudget() {
		return false
	}
	for _, key := range ch.WithMark("").Keys() {
		switch {
		case key == "crowd.clients":
		case !c.HasBudget():
			return false
		case key == config.BudgetKey, key == config.CrowdBudgetKey, key == "sender.budget_burst", key == "sender.priority", key == "sender.weights", strings.HasPrefix(key, "encoder."):
		default:
			return false
		}
	}
	return true
}

// maxMemory is the largest memory, in bytes, that a run may need unless Options.Force is set.
const maxMemory = 8 << 30

// Sizes in bytes.
const (
	clientBytes = int(unsafe.Sizeof(connection{}) + unsafe.Sizeof(uint16(0)) + 2*unsafe.Sizeof(lossmodel.Light{}) + unsafe.Sizeof(counts{}) +
		unsafe.Sizeof(time.Duration(0)) + unsafe.Sizeof(receiver{}) + unsafe.Sizeof(tenure{}))
	packetBytes   = int(unsafe.Sizeof(packet{}))
	ackBytes      = int(unsafe.Sizeof(ack{}))
	fullLinkBytes = 16 << 10 // both links of a client with a few packets in flight
)

// checkMemory returns an error if n clients need more than maxMemory: for frames, links, clients, and
// packets and acks in flight in the given number of slots. full is the number of clients with full
// links.
func (x *session) checkMemory(n, full int, slots uint32) error {
	inFlight := int64(slots) / 2 * int64(packetBytes+ackBytes) * 5 / 4 // slices grow by a quarter
	perClient := int64(clientBytes) + inFlight
	if x.views != nil {
		perClient += x.viewerBytes(slots)
	}
	shared := int64(len(x.frames))*int64(x.schema.Cells())*4 + int64(full)*fullLinkBytes +
		int64(n/x.shardSize+1)*int64(slots)*2*int64(unsafe.Sizeof([]packet{}))
	needed := shared + int64(n)*perClient
	if needed <= maxMemory || x.force {
		return nil
	}
	return &config.Error{Key: "crowd.clients", Problem: fmt.Sprintf("needs about %.1f GB: %d clients of %d bytes each, and %d MB of frames and links", float64(needed)/(1<<30),
		n, perClient, shared>>20), Expected: fmt.Sprintf("at most %d GB, for example %d clients; or --force with tui run", maxMemory>>30,
		max((maxMemory-shared)/perClient, 1))}
}

// clientCount returns the number of clients that have been created, including those that are not in the game.
func (x *session) clientCount() int {
	if n := len(x.shards); n > 0 {
		return (n-1)*x.shardSize + len(x.shards[n-1].connections)
	}
	return 0
}

// Change applies a change for which CanChange reports true, before the next slot. Clients that come have
// the links of their numbers; clients that go are sent nothing, until they return with what they have.
// After an error nothing is changed.
func (x *session) Change(ch config.Change) error {
	if err := x.checkChange(x.config, ch); err != nil {
		return err
	}
	next := x.config.Clone()
	if err := next.Apply(ch); err != nil {
		return err
	}
	if x.views != nil {
		_, _, err := x.resolveCodec(next)
		if err := cmp.Or(err, engine.CheckBudgets(nil, next, x.schema, &x.workers[0].initial)); err != nil {
			return err
		}
	}
	if n := next.Crowd.Clients; n != x.config.Crowd.Clients || len(ch.Keys()) == 1 && ch.Keys()[0] == "crowd.clients" {
		if err := x.resize(n); err != nil {
			return err
		}
		x.record = append(x.record[:0], fmt.Sprintf("clients %d at %d", n, x.slot)...)
		x.digest.Write(x.record)
	}
	if !next.Encoder.Equal(x.config.Encoder) {
		if err := x.swapEncoder(next); err != nil {
			return err
		}
	}
	x.config.Encoder, x.config.Sender, x.config.Crowd = next.Encoder, next.Sender, next.Crowd
	if x.views != nil {
		x.applyBudgets()
	}
	x.changes = append(x.changes, config.Stamp(x.Now(), ch))
	return nil
}

// resize creates the clients up to number n, and makes those from 1 to n the crowd. After an error the
// crowd is unchanged; clients that were created before a file of a link could not be read are not part
// of it.
func (x *session) resize(n int) error {
	added, slots, err := x.plan(n)
	if err != nil {
		return err
	}
	x.reserve(slots)
	for i := range added {
		if err := x.addClient(&added[i]); err != nil {
			return err
		}
	}
	x.config.Crowd.Clients = n
	for i := range x.clientCount() {
		x.updatePresence(i)
	}
	return nil
}

// plan returns the links of the clients that a crowd of n lacks, and the slots that these links need. It
// returns an error if the crowd needs too much memory, or does not support such links.
func (x *session) plan(n int) (added []newLinks, slots uint32, err error) {
	full, maxDelay := 0, time.Duration(0)
	for i := range x.shards {
		full += len(x.shards[i].full)
	}
	for i := x.clientCount(); i < n; i++ {
		links, err := x.newLinks(i)
		if err != nil {
			return nil, 0, err
		}
		if links.isLight {
			maxDelay = max(maxDelay, links.down.MaxDelay()+x.maxWait(), links.up.MaxDelay())
		}
		if links.needsFull {
			full++
		}
		added = append(added, links)
	}
	slots = max(x.slots, x.slotsFor(maxDelay))
	return added, slots, x.checkMemory(n, full, slots)
}

// addClient creates the next client, with the given links.
func (x *session) addClient(links *newLinks) error {
	i := x.clientCount()
	var full *fullLinks
	if links.needsFull {
		var err error
		if full, err = newFullLinks(x.loadFile, links.downSpec, links.upSpec, ClientSeed(x.config.Seed, i+1)); err != nil {
			return err
		}
	}
	if i%x.shardSize == 0 {
		x.shards = append(x.shards, shard{packets: newRing[packet](x.slots), acks: newRing[ack](x.slots)})
	}
	s := &x.shards[len(x.shards)-1]
	if x.views != nil && s.filler == nil {
		x.addFiller(s)
	}
	if full != nil {
		if s.full == nil {
			s.full = map[int]*fullLinks{}
		}
		s.full[len(s.connections)] = full
	}
	s.connections, s.keys, s.counts = append(s.connections, connection{}), append(s.keys, 0), append(s.counts, counts{})
	s.down, s.up = append(s.down, links.down), append(s.up, links.up)
	s.receivers = append(s.receivers, receiver{})
	t := tenure{roundTripMS: roundTrip(&links.downSpec, &links.upSpec)}
	if row := clientRow(x.config, i+1); row >= 0 {
		t.join, t.leave = x.config.Clients[row].Join, x.config.Clients[row].Leave
	}
	s.tenures = append(s.tenures, t)
	if x.uplink.BitsPerSecond > 0 {
		s.departures = append(s.departures, 0)
	}
	if x.views != nil {
		s.viewers = append(s.viewers, x.newViewer(s, i))
	}
	if x.keepPackets {
		s.histories = append(s.histories, history{})
	}
	return nil
}

// updatePresence sets whether client i, counted from 0, is in the game in the next slot.
func (x *session) updatePresence(i int) {
	s, now := &x.shards[i/x.shardSize], x.Now()
	active, t := &s.connections[i%x.shardSize].isActive, &s.tenures[i%x.shardSize]
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
		x.times[(x.slot+n)&(slots-1)] = x.cadence.SeqTime(uint64(x.slot + n))
	}
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
	start := x.clock.Now()
	if err := x.readFrame(n); err != nil {
		x.end = min(x.end, max(now, x.cadence.TickTime(x.taken)))
		return err
	}
	last := n + x.slots - 1
	x.times[last&(x.slots-1)] = x.cadence.SeqTime(uint64(last))
	x.findDisplayTicks(now)
	if x.views != nil {
		x.advanceTruth(n)
	}
	sends := n%uint32(x.config.Sender.Every) == 0
	err := x.each(len(x.shards), func(_ *worker, i int) error {
		s := &x.shards[i]
		x.receive(s, n, now)
		if sends {
			x.choose(s, n, now)
			return nil
		}
		for _, v := range s.viewers {
			v.sender.Skip()
		}
		return nil
	})
	if err == nil && sends {
		err = x.sendAll(n, now)
	}
	x.slot++
	if x.clock != nil {
		x.passed += time.Duration(x.clock.Now() - start)
		if sends {
			x.elapsed.Add(int64(x.passed))
			x.passed = 0
		}
	}
	return err
}

// applyChanges applies the changes of [[at]] that are due at now, and lets clients join and leave.
func (x *session) applyChanges(now time.Duration) error {
	for len(x.config.At) > 0 && x.config.At[0].T <= now {
		ch := x.config.At[0].Change
		x.config.At = x.config.At[1:]
		if !ch.WithMark("").IsZero() {
			if err := x.Change(ch.WithMark("")); err != nil {
				return err
			}
		}
	}
	for len(x.presenceChanges) > 0 && x.presenceChanges[0].at <= now {
		if i := x.presenceChanges[0].client; i < x.clientCount() {
			x.updatePresence(i)
		}
		x.presenceChanges = x.presenceChanges[1:]
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
	x.times[x.slot&(x.slots-1)] = x.cadence.SeqTime(uint64(x.slot))
	x.findDisplayTicks(x.end - 1)
	return x.each(len(x.shards), func(_ *worker, i int) error {
		x.receive(&x.shards[i], x.slot, x.end-1)
		return nil
	})
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

// workerOf returns the worker with which each calls f for shard i.
func (x *session) workerOf(i int) *worker { return x.workers[i%len(x.workers)] }

// each calls f for 0 to n-1 on all cores. Calls with the same worker do not overlap.
func (x *session) each(n int, f func(w *worker, i int) error) error {
	workers := min(len(x.workers), n)
	run := func(first int) error {
		for i := first; i < n; i += workers {
			if err := f(x.workers[first], i); err != nil {
				return err
			}
		}
		return nil
	}
	if workers <= 1 {
		return panics.Call(func() error { return run(0) })
	}
	return errors.Join(panics.Each(workers, workers, run)...)
}

// sendAll encodes packet n and sends it at now.
func (x *session) sendAll(n uint32, now time.Duration) error {
	var err error
	if x.views != nil {
		err = x.encodeViews(n, now)
	} else {
		err = x.encodeShared(n)
	}
	if err != nil {
		return err
	}
	if x.uplink.BitsPerSecond > 0 {
		start := x.clock.Now()
		x.queue(n, now)
		x.queueNS += int64(x.clock.Now() - start)
	}
	x.packets++
	return x.each(len(x.shards), func(_ *worker, i int) error {
		x.send(&x.shards[i], n, now)
		return nil
	})
}

// encodeShared makes and measures an encoding of packet n for each age of a baseline that clients have,
// in the order of ages.
func (x *session) encodeShared(n uint32) error {
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
	err := x.each(count, func(w *worker, i int) error {
		x.encode(w, n, &x.newest[i])
		return nil
	})
	for i := range x.newest {
		x.measure(&x.newest[i])
	}
	x.countEncodings(count)
	return err
}

// countEncodings counts the encodings of a tick.
func (x *session) countEncodings(n int) {
	x.encodingSum += int64(n)
	x.maxEncodings = max(x.maxEncodings, n)
}

// measure counts an encoding, and adds it to the digest.
func (x *session) measure(e *encoding) {
	if x.clock != nil {
		x.encodeTimes.Add(e.encodeNS)
		if x.views == nil {
			x.decodeTimes.Add(e.decodeNS)
		}
		x.headerNS += e.headerNS
	}
	if e.err != nil {
		x.encodeErr = e.err
		return
	}
	if e.decodeErr != nil {
		x.decodeErr = e.decodeErr
	}
	users := int64(e.users)
	x.sizes.AddN(int64(len(e.payload)), users)
	if e.age > 0 {
		x.ages.AddN(int64(e.ageTicks), users)
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
