package crowd

import (
	"context"
	"io"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// Live runs a crowd step by step, for the dashboard. In addition to what Run measures it keeps samples, counts of the
// last seconds, and the newest packets of each client. Recordings repeat, and the configured duration has no effect.
// Its methods must not be called concurrently.
type Live struct {
	run   *run
	slot  uint32        // the next slot
	now   time.Duration // the slots before it were run
	ended bool

	samples  []engine.CrowdSample
	sample   engine.CrowdSample // of the current period
	previous progress           // at the end of the last sample
	marks    []mark             // oldest first, one every markPeriod

	sent [historyPackets][]sentEncoding // encodings of the newest packets, by number modulo the length

	view   engine.CrowdView // without the packets of a client
	viewAt time.Duration    // the time of view
	lastAt time.Duration    // the time of the last call of View
}

// keptSamples is the number of samples that a Live keeps: five minutes.
const keptSamples = 3000

// mark contains the counts of all clients at an instant.
type mark struct {
	at     time.Duration
	counts []counts
}

// Figures of the last seconds are those since the oldest of keptMarks marks, which is 2 to 2.5 s old.
const (
	markPeriod = 500 * time.Millisecond
	keptMarks  = 5
)

// historyPackets is the number of the newest packets of each client that a Live keeps.
const historyPackets = 64

// history contains the newest packets of a client, by their number modulo the length.
type history [historyPackets]sentPacket

// sentPacket is a packet of one client.
type sentPacket struct {
	seq     uint32
	delay   uint32 // from sending to arrival in microseconds; 0 if it has not arrived
	key     uint16
	outcome packetlog.Outcome
	cause   lossmodel.Cause // None unless it was lost
	params  uint8           // index of encoding.wire
	valid   bool            // the packet was sent
}

// sentEncoding is what a Live keeps of an encoding.
type sentEncoding struct {
	key     uint16
	payload int
	wire    [2]int
}

// OpenLive opens a crowd of c. Close it after use.
func OpenLive(ctx context.Context, c *config.Config, opt Options) (*Live, error) {
	c = c.Clone()
	c.Data.Loop, c.Duration = true, config.MaxDuration
	r, _, err := open(ctx, c, opt)
	if err != nil {
		return nil, err
	}
	for i := range r.shards {
		r.shards[i].history = make([]history, len(r.shards[i].clients))
	}
	l := &Live{run: r}
	l.addMark()
	return l, nil
}

// Config returns the configuration, with the settings that depend on the data.
func (l *Live) Config() *config.Config { return l.run.config }

// Now returns the virtual time: everything before it has happened.
func (l *Live) Now() time.Duration { return l.now }

// next returns the time of the next slot.
func (l *Live) next() time.Duration { return l.run.cadence.SeqTime(uint64(l.slot)) }

// FrameAt returns a time up to which the next n+1 frames have been sent.
func (l *Live) FrameAt(n int) time.Duration {
	return l.run.cadence.SeqTime(uint64(l.slot)+uint64(n)) + 1
}

// Reached reports whether virtual time has reached t.
func (l *Live) Reached(t time.Duration) bool { return l.now >= t }

// Done reports whether the data have ended.
func (l *Live) Done() bool { return l.ended }

// RunUntil runs until t, or until the data end.
func (l *Live) RunUntil(t time.Duration) error {
	for at := l.next(); at < t && !l.ended; at = l.next() {
		packets := l.run.packets
		err := l.run.step(l.slot, at)
		if err == io.EOF {
			l.ended, t = true, max(at, l.run.cadence.TickTime(l.run.taken))
			break
		}
		if err != nil {
			return err
		}
		if l.run.packets > packets {
			l.keepEncodings()
		}
		l.slot++
		if l.next()/meters.SamplePeriod > l.sample.T/meters.SamplePeriod {
			l.endSample()
		}
		if l.next()-l.marks[len(l.marks)-1].at >= markPeriod {
			l.addMark()
		}
	}
	l.now = max(l.now, t)
	return nil
}

// keepEncodings adds the encodings of the current slot to the sample, and keeps their sizes.
func (l *Live) keepEncodings() {
	l.sample.Ticks++
	sent := &l.sent[l.slot%historyPackets]
	*sent = (*sent)[:0]
	for i := range l.run.newest {
		e := &l.run.newest[i]
		l.sample.Encodings++
		l.sample.ByAge[min(int(e.key&^withMemo), engine.CrowdAges-1)] += int32(e.users)
		*sent = append(*sent, sentEncoding{e.key, len(e.payload), e.wire})
	}
}

// progress contains sums since the beginning of a run, of which samples contain differences.
type progress struct {
	sent, lost, wireBytes int64
	cpu                   engine.CrowdCPU
}

// progress returns the sums so far.
func (r *run) progress() (p progress) {
	for i := range r.shards {
		s := &r.shards[i]
		for k := range s.clients {
			c := &s.clients[k]
			p.sent += int64(c.sent)
			p.lost += int64(c.lost + c.fragmentLost)
			p.wireBytes += int64(c.wireBytes)
		}
		p.cpu.Server += s.timed.server
		p.cpu.Clients += s.timed.clients
	}
	p.cpu.Encode = r.encodeTimes.sum + r.anchorNS + r.againNS
	p.cpu.Decode, p.cpu.Elapsed = r.decodeTimes.sum, r.elapsed.sum
	return p
}

// endSample ends the current sample.
func (l *Live) endSample() {
	now, before, s := l.run.progress(), &l.previous, &l.sample
	s.T = l.next().Truncate(meters.SamplePeriod)
	s.Packets, s.Lost, s.WireBits = int(now.sent-before.sent), int(now.lost-before.lost), 8*(now.wireBytes-before.wireBytes)
	s.CPU = engine.CrowdCPU{Encode: now.cpu.Encode - before.cpu.Encode, Server: now.cpu.Server - before.cpu.Server,
		Clients: now.cpu.Clients - before.cpu.Clients, Decode: now.cpu.Decode - before.cpu.Decode, Elapsed: now.cpu.Elapsed - before.cpu.Elapsed}
	if len(l.samples) >= 2*keptSamples {
		l.samples = slices.Clone(l.samples[keptSamples:]) // earlier snapshots use the old array
	}
	l.samples = append(l.samples, *s)
	l.previous, l.sample = now, engine.CrowdSample{T: s.T}
}

// addMark adds a mark with the counts of all clients.
func (l *Live) addMark() {
	var m mark
	if len(l.marks) == keptMarks { // the oldest is used again
		m = l.marks[0]
		l.marks = append(l.marks[:0], l.marks[1:]...)
	}
	m.at, m.counts = l.next(), m.counts[:0]
	for i := range l.run.shards {
		for k := range l.run.shards[i].clients {
			m.counts = append(m.counts, l.run.shards[i].clients[k].counts)
		}
	}
	l.marks = append(l.marks, m)
}

// View returns a snapshot with the packets of the client with the given number; 0 means of no client.
func (l *Live) View(client int) *engine.Snapshot {
	r, now := l.run, l.now
	standsStill := now == l.lastAt && now != l.viewAt
	l.lastAt = now
	if l.view.Clients == nil || now-l.viewAt >= meters.SamplePeriod || standsStill {
		since := &l.marks[0]
		clients := r.clientFigures(now, since)
		totals := r.totals(now, clients)
		l.view, l.viewAt = engine.CrowdView{Clients: clients, Recent: totals.Crowd, Span: now - since.at, Totals: totals}, now
		l.view.Totals.Crowd = nil
	}
	view := l.view
	view.Samples, view.TickTime = slices.Clip(l.samples[max(len(l.samples)-keptSamples, 0):]), time.Second/time.Duration(r.cadence.RateHz)
	for i := range r.newest {
		e := &r.newest[i]
		view.Encodings = append(view.Encodings, engine.CrowdEncoding{Age: int(e.key &^ withMemo), Memo: e.key&withMemo != 0, Clients: e.users, Payload: len(e.payload)})
	}
	slices.SortFunc(view.Encodings, func(a, b engine.CrowdEncoding) int { return a.Age - b.Age })
	if client >= 1 && client <= len(view.Clients) {
		view.Selected, view.Packets = client, l.packets(client-1)
	}
	return &engine.Snapshot{Now: now, Config: r.config.Clone(), Item: r.schema.Item, Schema: r.schema, Crowd: &view}
}

// packets returns the newest packets of client i, counted from 0, oldest first.
func (l *Live) packets(i int) (list []packetlog.Record) {
	r := l.run
	h := r.shards[i/shardClients].history
	if i %= shardClients; i >= len(h) {
		return nil
	}
	for seq := l.slot - min(l.slot, historyPackets); seq < l.slot; seq++ {
		p := &h[i][seq%historyPackets]
		if !p.valid || p.seq != seq {
			continue
		}
		x := packetlog.Record{Seq: uint64(seq), Sent: r.cadence.SeqTime(uint64(seq)), Encoder: r.workers[0].encoder.Codec.Name, Baseline: int(p.key &^ withMemo),
			Items: r.schema.Rows, Outcome: p.outcome, Cause: p.cause}
		if p.delay > 0 {
			x.Arrived = x.Sent + time.Duration(p.delay)*time.Microsecond
		}
		for _, e := range l.sent[seq%historyPackets] {
			if e.key == p.key {
				x.Payload, x.Wire = e.payload, e.wire[p.params]
			}
		}
		list = append(list, x)
	}
	return list
}

// arrived records the arrival of p in the history of its client, if one is kept.
func (s *shard) arrived(p *packet, sentAt time.Duration, outcome packetlog.Outcome) {
	if int(p.client) >= len(s.history) {
		return
	}
	if x := &s.history[p.client][p.seq%historyPackets]; x.seq == p.seq {
		x.outcome, x.delay = outcome, uint32(max((p.due-sentAt)/time.Microsecond, 1))
	}
}

// Finish ends the run at Now and returns its results, as Run does for the same duration. The crowd cannot run further.
func (l *Live) Finish() (*engine.Result, error) {
	l.ended, l.run.config.Duration = true, l.now
	return l.run.finish(l.slot, l.now)
}

// Close closes the source of the data.
func (l *Live) Close() error { return l.run.close() }
