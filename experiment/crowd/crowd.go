// Package crowd runs one sender with many receivers. Clients that have the same baseline get the same payload, so a
// tick needs as many encodings as there are different baselines, not clients. Frames and payloads are stored once, and
// each payload is decoded once. README.md describes the model.
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
	"runtime"
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
	"wirelab/internal/seed"
	"wirelab/internal/wallclock"
	"wirelab/lossmodel"
)

// Options configure a run.
type Options struct {
	Clock    wallclock.Clock           // measures durations; nil means none are measured
	Progress func(done, total float64) // called about once a second of virtual time, in seconds; nil means none
	Force    bool                      // allow more than maxMemory
}

// run is a run with many receivers. Time passes in slots: one for each packet that sender.rate_hz permits.
type run struct {
	config  *config.Config
	clock   wallclock.Clock
	source  dataset.Source
	schema  *frame.Schema
	cadence endpoint.Cadence

	frames []frame.Frame   // frames of the newest slots, by slot modulo the length
	memos  []encoders.Memo // memos of the newest anchors, likewise
	taken  uint64          // frames read from the source

	shards     []shard
	workers    []*worker
	baselines  baselines
	standalone bool // the codec needs no baseline
	encodings  []encoding
	encodingOf [maxKeys]int32 // index in encodings, by key
	newest     []encoding     // those of encodings that belong to the newest packet

	slots                          uint32          // more than the slots in which something in flight can be due: a power of two
	times                          []time.Duration // of the current slot and those after it, by slot modulo the length
	downMTU, ackWire, ackFragments int
	senderHistory, receiverHistory uint32

	digest hash.Hash
	record []byte // buffer of the digest
	measurements
}

// measurements are sums over ticks.
type measurements struct {
	ticks                    int64
	packets                  int64 // ticks with a packet
	encodingSum              int64
	maxEncodings             int
	memoUsers                int64 // packets encoded with the memo of an anchor
	sizes, ages              quantile.Counts
	encodeTimes, decodeTimes durations // of encodings
	elapsed                  durations // of ticks
	anchorNS, againNS        int64
	encodeErr                error
}

// Run runs the experiment. When ctx ends, it returns the results so far, marked as interrupted. With an error of the
// data it also returns the results so far.
func Run(ctx context.Context, c *config.Config, opt Options) (*engine.Result, error) {
	r, end, err := open(ctx, c, opt)
	if err != nil {
		return nil, err
	}
	interrupted := false
	var slot uint32
	for ; ; slot++ {
		now := r.cadence.SeqTime(uint64(slot))
		if now >= end {
			break
		}
		if interrupted = ctx.Err() != nil; interrupted {
			end = now
			break
		}
		if err = r.step(slot, now); err != nil {
			if err == io.EOF {
				err = nil
			}
			end = min(end, max(now, r.cadence.TickTime(r.taken)))
			break
		}
		if opt.Progress != nil && slot%uint32(r.cadence.RateHz) == 0 {
			opt.Progress(now.Seconds(), end.Seconds())
		}
	}
	result, finishErr := r.finish(slot, end)
	result.Interrupted = interrupted
	return result, errors.Join(err, finishErr, r.close())
}

// finish receives what is due before end, the end of the run, and returns the results. slot is the first slot that was
// not run.
func (r *run) finish(slot uint32, end time.Duration) (*engine.Result, error) {
	r.times[slot%uint32(len(r.times))] = r.cadence.SeqTime(uint64(slot))
	err := r.each(len(r.shards), func(_ *worker, i int) error {
		r.receive(&r.shards[i], slot, end-1)
		return nil
	})
	r.flushEvents()
	return r.result(end), err
}

// open opens the data and creates the clients. end is the end of the run, unless the data end earlier.
func open(ctx context.Context, c *config.Config, opt Options) (r *run, end time.Duration, err error) {
	if err := c.Validate(); err != nil {
		return nil, 0, err
	}
	c = c.Clone()
	src, err := c.OpenData(ctx, c.Duration > 0)
	if err != nil {
		return nil, 0, err
	}
	r = &run{config: c, clock: opt.Clock, source: src, schema: src.Schema(), digest: sha256.New()}
	if err := r.prepare(opt.Force); err != nil {
		return nil, 0, errors.Join(c.Locate(err), r.close())
	}
	end = c.Duration
	if end == 0 {
		end = config.MaxDuration
		if _, canEnd := src.(dataset.Sized); !canEnd {
			end = defaultDuration
		}
	}
	return r, end, nil
}

// defaultDuration is the duration of a run whose configuration sets none and whose data do not end.
const defaultDuration = 60 * time.Second

// Check returns the error with which Run would fail to begin; nil if it could begin. It fills in the settings of c that
// depend on the data.
func Check(ctx context.Context, c *config.Config, force bool) error {
	r, _, err := open(ctx, c, Options{Force: force})
	if err != nil {
		return err
	}
	c.AdoptFit(r.config)
	return r.close()
}

// close closes the source.
func (r *run) close() error {
	if c, ok := r.source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// prepare checks the configuration and creates everything that a run needs.
func (r *run) prepare(force bool) error {
	c := r.config
	if err := c.FitTo(r.schema); err != nil {
		return err
	}
	if err := c.Normalise(); err != nil {
		return err
	}
	codec, params, err := c.Encoder.Resolve("encoder", c.Codecs)
	if err == nil {
		err = c.CheckSuits("encoder", codec, r.schema)
	}
	if err != nil {
		return err
	}
	codec = encoders.LocateFiles(codec, c.ResolvePath)
	if err := r.checkSupport(codec); err != nil {
		return err
	}
	r.cadence = endpoint.Cadence{TickHz: r.schema.TickHz, RateHz: c.Sender.RateHz}
	r.standalone = codec.Standalone
	r.senderHistory, r.receiverHistory = uint32(c.Sender.History), uint32(c.Receiver.History)
	r.downMTU = c.Down.MTU
	r.ackWire, r.ackFragments = lossmodel.WireBytes(endpoint.AckBytes, c.Up.MTU)
	r.baselines = newBaselines(c)
	r.frames, r.memos = make([]frame.Frame, frame.MaxHistory+1), make([]encoders.Memo, frame.MaxHistory+1)
	clients, longest, err := newClients(c)
	if err != nil {
		return err
	}
	r.slots = 1 << bits.Len64(uint64(int64(longest)*int64(r.cadence.RateHz)/int64(time.Second))+3)
	if err := r.checkMemory(force); err != nil {
		return err
	}
	initial := r.schema.NewFrame()
	r.source.Initial(initial)
	for range runtime.GOMAXPROCS(0) {
		w, err := newWorker(r.schema, codec, params, initial)
		if err != nil {
			return config.ErrorAt("encoder", err)
		}
		if _, ok := w.encoder.Encoder.(encoders.Feedback); ok {
			return &config.Error{Key: "encoder.name", Problem: codec.Name + " learns from each receiver", Expected: "an encoder whose packets many receivers can share"}
		}
		r.workers = append(r.workers, w)
	}
	for first := 0; first < len(clients); first += shardClients {
		r.shards = append(r.shards, shard{clients: clients[first:min(first+shardClients, len(clients))],
			packets: newRing[packet](r.slots), acks: newRing[ack](r.slots)})
	}
	r.times = make([]time.Duration, r.slots)
	for i := range r.times {
		r.times[i] = r.cadence.SeqTime(uint64(i))
	}
	return nil
}

// checkSupport returns an error if the configuration or the data need something that a crowd does not have.
func (r *run) checkSupport(codec *encoders.Codec) error {
	c := r.config
	refuse := func(key, problem, expected string) error {
		return &config.Error{Key: key, Problem: problem, Expected: expected}
	}
	switch {
	case len(c.Shadows) > 0:
		return refuse("shadow", "a crowd has one encoder", "no [[shadow]], or a sweep over encoder.name")
	case len(c.At) > 0:
		return refuse("at", "a crowd does not change during a run", "no [[at]], or a sweep")
	case r.schema.Timed || r.schema.Delivery != frame.Latest || r.schema.Rows == 0:
		return refuse("data.source", fmt.Sprintf("a crowd sends snapshots, not %s", c.Data.Source), "cubes or a table of which only the newest state matters")
	case codec.Quantises:
		return refuse("encoder.name", codec.Name+" rounds values differently for each baseline, so clients cannot share frames", "an encoder that decodes exactly")
	case !c.Playout().IsFixed():
		return refuse("receiver.playout", "a crowd has no playout policies", `a fixed delay such as "85ms"`)
	case c.Receiver.PlayoutCompare != "":
		return refuse("receiver.playout_compare", "a crowd has no playout policies", `"off"`)
	case c.HasRedundancy():
		return refuse("sender.redundancy", "a crowd sends packets without redundancy", "no value")
	case c.HasMessages():
		return refuse("messages", "a crowd sends only snapshots", "no [messages]")
	case c.LaneControl(c.Encoder).Name() != "":
		return refuse("sender.control", "a crowd sends every packet", `"off"`)
	case c.Receiver.DigestBits > 0:
		return refuse("receiver.digest", "a crowd sends acks without digests", "0")
	}
	for _, link := range []config.Direction{config.DownOnly, config.UpOnly} {
		if err := lossmodel.CheckLight(*link.Link(c)); err != nil {
			return refuse(link.String()+"."+err.Key, "got "+err.Value, err.Expected)
		}
	}
	return nil
}

// maxMemory is the largest memory, in bytes, that a run may need unless Options.Force is set.
const maxMemory = 8 << 30

// Sizes in bytes.
const (
	clientBytes = int(unsafe.Sizeof(client{}))
	packetBytes = int(unsafe.Sizeof(packet{}))
	ackBytes    = int(unsafe.Sizeof(ack{}))
)

// checkMemory returns an error if the run needs more than maxMemory: for frames, clients, and packets and acks in flight.
func (r *run) checkMemory(force bool) error {
	inFlight := int64(r.slots) / 2 * int64(packetBytes+ackBytes) * 5 / 4 // slices grow by a quarter
	perClient := int64(clientBytes) + inFlight
	shared := int64(len(r.frames)) * int64(r.schema.Cells()) * 4
	needed := shared + int64(r.config.Crowd.Clients)*perClient
	if force || needed <= maxMemory {
		return nil
	}
	return &config.Error{Key: "crowd.clients", Problem: fmt.Sprintf("needs about %d GB: %d clients of %d bytes each, and %d MB of frames", needed>>30,
		r.config.Crowd.Clients, perClient, shared>>20), Expected: fmt.Sprintf("at most %d GB, for example %d clients; or --force with tui run", maxMemory>>30,
		max((maxMemory-shared)/perClient, 1))}
}

// newBaselines returns the policy of c.
func newBaselines(c *config.Config) baselines {
	b := baselines{maxAge: uint32(min(c.Sender.History, frame.MaxHistory))}
	switch p := c.Crowd.Baseline; p.Name() {
	case "every":
		b.policy, b.step = every, uint32(p.Int("ticks"))
	case "ages":
		b.policy, b.ages = ages, uint64(p.Int("list"))
	case "anchors":
		b.policy, b.step = anchors, uint32(p.Int("every"))
		b.root = (uint32(p.Int("root")) + b.step - 1) / b.step * b.step
		b.maxAge = min(b.maxAge, anchorBit-1)
	}
	return b
}

// ClientSeed returns the seed of the links of client n, counted from 1, in a run with the given seed.
func ClientSeed(session uint64, n int) uint64 { return seed.Derive(session^seed.Hash("crowd"), n) }

// newClients returns the clients with their links, and the longest delay of a link.
func newClients(c *config.Config) (clients []client, longest time.Duration, err error) {
	clients = make([]client, c.Crowd.Clients)
	for i := range clients {
		x, own := &clients[i], ClientSeed(c.Seed, i+1)
		down, up := clientLinks(c, own)
		if x.down, err = lossmodel.NewLight(down, own, "down"); err != nil {
			return nil, 0, config.ErrorAt("down", err)
		}
		if x.up, err = lossmodel.NewLight(up, own, "up"); err != nil {
			return nil, 0, config.ErrorAt("up", err)
		}
		longest = max(longest, x.down.MaxDelay(), x.up.MaxDelay())
	}
	return clients, longest, nil
}

// clientLinks returns the links of a client: those of c, with what [crowd] sets drawn from its distributions. A round
// trip is split evenly over both.
func clientLinks(c *config.Config, own uint64) (down, up lossmodel.Spec) {
	down, up = c.Down, c.Up
	draw := func(s config.Spread, name string) int64 { return s.Draw(seed.PCG(own, "crowd."+name).Uint64()) }
	if s := c.Crowd.RTT; s.IsSet() {
		rtt := time.Duration(draw(s, "rtt"))
		down.Delay.Latency, up.Delay.Latency = rtt/2, rtt-rtt/2
	}
	if s := c.Crowd.Jitter; s.IsSet() {
		down.Delay.Jitter = time.Duration(draw(s, "jitter"))
		up.Delay.Jitter = down.Delay.Jitter
	}
	if s := c.Crowd.Loss; s.IsSet() {
		down = down.WithLoss(float64(draw(s, "loss")) / 1e6)
		up.Loss = down.Loss
	}
	return down, up
}

// frameOf returns the frame of slot n, one of the newest.
func (r *run) frameOf(n uint32) *frame.Frame { return &r.frames[n%uint32(len(r.frames))] }

// step runs slot n at now. It returns io.EOF at the end of the data.
func (r *run) step(n uint32, now time.Duration) error {
	start := r.clock.Now()
	if err := r.readFrame(n); err != nil {
		return err
	}
	last := n + uint32(len(r.times)) - 1
	r.times[last%uint32(len(r.times))] = r.cadence.SeqTime(uint64(last))
	sends := n%uint32(r.config.Sender.Every) == 0
	err := r.each(len(r.shards), func(_ *worker, i int) error {
		r.receive(&r.shards[i], n, now)
		if sends {
			r.choose(&r.shards[i], n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if sends {
		if err := r.encodeAll(n); err != nil {
			return err
		}
	}
	err = r.each(len(r.shards), func(_ *worker, i int) error {
		if sends {
			r.send(&r.shards[i], n, now)
		}
		return nil
	})
	r.flushEvents()
	r.ticks++
	if r.clock != nil {
		r.elapsed.add(r.clock.Now() - start)
	}
	return err
}

// readFrame reads the frames of the source up to the tick of slot n, and stores the newest as that of slot n.
func (r *run) readFrame(n uint32) error {
	f := r.frameOf(n)
	if f.Table == nil {
		*f = *r.schema.NewFrame()
	}
	tick := r.cadence.Tick(uint64(n))
	for ; r.taken <= tick; r.taken++ {
		if err := r.source.Next(f); err != nil {
			if errors.Is(err, io.EOF) {
				return io.EOF
			}
			return fmt.Errorf("data %s: %w", r.config.Data.Source, err)
		}
	}
	f.Tick = uint32(tick)
	return nil
}

// each calls f for 0 to n-1 on all cores. Calls with the same worker do not overlap.
func (r *run) each(n int, f func(w *worker, i int) error) error {
	workers := min(len(r.workers), n)
	if workers <= 1 {
		for i := range n {
			if err := f(r.workers[0], i); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(panics.Each(workers, workers, func(first int) error {
		for i := first; i < n; i += workers {
			if err := f(r.workers[first], i); err != nil {
				return err
			}
		}
		return nil
	})...)
}

// encodeAll encodes packet n for every key that clients have chosen, in the order of keys.
func (r *run) encodeAll(n uint32) error {
	count := 0
	for key := range uint16(maxKeys) {
		users := 0
		for i := range r.shards {
			users += int(r.shards[i].keys[key])
		}
		if users == 0 {
			continue
		}
		if count == len(r.encodings) {
			r.encodings = append(r.encodings, encoding{})
		}
		e := &r.encodings[count]
		e.key, e.users, e.verdict, e.err, e.encodeNS, e.decodeNS = key, users, correct, nil, 0, 0
		r.encodingOf[key] = int32(count)
		count++
	}
	list := r.encodings[:count]
	err := r.each(count, func(w *worker, i int) error {
		r.encode(w, n, &list[i])
		return nil
	})
	if err == nil && r.config.Crowd.Unshared {
		err = r.encodeUnshared(n, list)
	}
	if err == nil && r.baselines.isAnchor(n) {
		start := r.clock.Now()
		err = r.makeAnchor(r.workers[0], n)
		r.anchorNS += r.clock.Now() - start
	}
	r.newest = list
	r.measure(list)
	return err
}

// encodeUnshared encodes packet n for all clients but the first of each encoding, as a server does that does not share.
func (r *run) encodeUnshared(n uint32, list []encoding) error {
	const chunk = 16 // encodings that one goroutine makes at a time
	type job struct{ encoding, repeats int }
	var jobs []job
	for i := range list {
		for rest := list[i].users - 1; rest > 0 && list[i].err == nil; rest -= chunk {
			jobs = append(jobs, job{i, min(rest, chunk)})
		}
	}
	times := make([]int64, len(jobs))
	err := r.each(len(jobs), func(w *worker, i int) error {
		start := r.clock.Now()
		err := r.encodeAgain(w, n, &list[jobs[i].encoding], jobs[i].repeats)
		times[i] = r.clock.Now() - start
		return err
	})
	for _, ns := range times {
		r.againNS += ns
	}
	return err
}

// measure counts the encodings of a tick, and adds them to the digest.
func (r *run) measure(list []encoding) {
	r.packets++
	r.encodingSum += int64(len(list))
	r.maxEncodings = max(r.maxEncodings, len(list))
	for i := range list {
		e := &list[i]
		if r.clock != nil {
			r.encodeTimes.add(e.encodeNS)
			r.decodeTimes.add(e.decodeNS)
		}
		if e.err != nil {
			r.encodeErr = e.err
			continue
		}
		users := int64(e.users)
		addTimes(&r.sizes, int64(len(e.payload)), users)
		if age := int64(e.key &^ withMemo); age > 0 {
			addTimes(&r.ages, age*int64(r.cadence.TickHz)/int64(r.cadence.RateHz), users)
		}
		if e.key&withMemo != 0 {
			r.memoUsers += users
		}
		r.addRecord(e.headers[0])
		r.addRecord(e.headers[1])
		r.addRecord(e.payload)
	}
}

// addTimes adds a value n times.
func addTimes(c *quantile.Counts, v, n int64) {
	c.Add(v)
	c.Occurrences[v] += n - 1
	c.N += n - 1
	c.Sum += v * (n - 1)
}

// addRecord adds data to the digest, after their length. The digest covers, for each tick, both forms of the header and
// the payload of each encoding; then, for each shard, the packets that arrived, with their outcomes, and the encoding
// and the form of the header that each client was sent.
func (r *run) addRecord(data []byte) {
	r.record = binary.LittleEndian.AppendUint32(r.record[:0], uint32(len(data)))
	r.digest.Write(r.record)
	r.digest.Write(data)
}

// flushEvents adds the events of all shards to the digest.
func (r *run) flushEvents() {
	for i := range r.shards {
		r.addRecord(r.shards[i].events)
		r.shards[i].events = r.shards[i].events[:0]
	}
}
