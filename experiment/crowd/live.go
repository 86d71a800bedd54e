package crowd

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// Live runs a crowd for the dashboard: until any time, and with samples, the counts of the last seconds,
// and the newest packets of each client. Recordings repeat, and the configured duration has no effect.
// Its methods must not be called concurrently.
type Live struct {
	*session
	reached time.Duration // all that happens before it has happened, except arrivals after the last slot

	samples  []engine.CrowdSample
	sample   engine.CrowdSample // of the current period
	previous engine.CrowdSample // sums at the end of the last sample
	marks    []mark             // oldest first, at the ends of the newest samples

	view   engine.CrowdView // without the packets of a client
	viewAt viewTime         // that of view
}

// viewTime is the time of a view: what a crowd has reached, and the number of changes until then.
type viewTime struct {
	reached time.Duration
	changes int
}

// keptSamples is the number of samples that a Live keeps: five minutes.
const keptSamples = 3000

// keptMarks is the number of marks that a Live keeps. Figures of the last seconds are those between the first and the
// last of them, as in charts.
const keptMarks = int(2*time.Second/meters.SamplePeriod) + 1

// mark contains the counts of all clients at an instant.
type mark struct {
	at      time.Duration
	clients []clientMark
}

// clientMark contains the counts of one client.
type clientMark struct {
	counts
	active time.Duration // time in the game
	view   meters.ViewProgress
	limit  limit
}

// OpenLive opens a crowd of c. Close it after use.
func OpenLive(ctx context.Context, c *config.Config, opt Options) (*Live, error) {
	c = c.Clone()
	planned := c.Duration
	c.Data.Loop, c.Duration = true, 0 // the script may contain changes after the planned end
	opt.isLive = true
	x, err := newSession(ctx, c, opt)
	if err != nil {
		return nil, err
	}
	x.config.Duration = planned
	l := &Live{session: x}
	l.addMark()
	return l, nil
}

// Config returns the configuration with the changes so far, and with the settings that depend on the data.
func (l *Live) Config() *config.Config { return l.config }

// Recorded returns the configuration of a run that repeats this one up to now: its script has the
// changes so far, then the changes to come.
func (l *Live) Recorded() *config.Config {
	c := l.config.Clone()
	c.At, c.Duration = append(slices.Clone(l.changes), c.At...), l.reached
	l.resetToStart(c)
	return c
}

// Now returns the virtual time.
func (l *Live) Now() time.Duration { return l.reached }

// FrameAt returns a time up to which the next n+1 frames have been sent.
func (l *Live) FrameAt(n int) time.Duration { return l.cadence.SeqTime(uint64(l.slot)+uint64(n)) + 1 }

// Reached reports whether virtual time has reached t.
func (l *Live) Reached(t time.Duration) bool { return l.reached >= t }

// Done reports whether the data have ended.
func (l *Live) Done() bool { return l.ended }

// RunUntil runs all slots before t, unless the data end.
func (l *Live) RunUntil(t time.Duration) error {
	for l.session.Now() < t && !l.ended {
		err := l.Step()
		if errors.Is(err, io.EOF) {
			l.ended = true
			t = l.end
		} else if err != nil {
			return err
		}
	}
	l.reached = max(l.reached, t)
	return nil
}

// Step runs the next slot, as session.Step does, and measures it.
func (l *Live) Step() error {
	packets, at := l.packets, l.session.Now()
	if err := l.session.Step(); err != nil {
		return err
	}
	if l.packets > packets {
		l.sample.Ticks++
		l.eachEncoding(func(e *encoding) {
			l.sample.Encodings++
			l.sample.ByAge[min(int(e.age), engine.CrowdAges-1)] += int32(e.users)
		})
	}
	next := l.session.Now()
	l.sample.Wait = max(l.sample.Wait, l.uplink.idleAt-at)
	if next/meters.SamplePeriod > l.sample.T/meters.SamplePeriod {
		l.endSample(next)
		l.addMark()
	}
	return nil
}

// sums returns the sums of samples since the beginning of the run.
func (x *session) sums() (sum engine.CrowdSample) {
	for i := range x.shards {
		s := &x.shards[i]
		for k := range s.counts {
			c := &s.counts[k]
			sum.Packets += int(c.n[sent])
			sum.Lost += int(c.outcomes[packetlog.Lost])
			sum.WireBits += 8 * c.n[wireBytes]
		}
		sum.CPU.Add(&s.timed, 1)
	}
	sum.CPU.Add(&engine.CrowdCPU{Encode: x.encodeTimes.Sum, Server: x.headerNS + x.queueNS, Decode: x.decodeTimes.Sum, Elapsed: x.elapsed.Sum}, 1)
	return sum
}

// endSample ends the current sample at now.
func (l *Live) endSample(now time.Duration) {
	s, sums := &l.sample, l.sums()
	s.T = now.Truncate(meters.SamplePeriod)
	s.Packets = sums.Packets - l.previous.Packets
	s.Lost = sums.Lost - l.previous.Lost
	s.WireBits = sums.WireBits - l.previous.WireBits
	s.CPU = sums.CPU
	s.CPU.Add(&l.previous.CPU, -1)
	if len(l.samples) >= 2*keptSamples {
		l.samples = slices.Clone(l.samples[keptSamples:]) // earlier snapshots use the old array
	}
	l.samples = append(l.samples, *s)
	l.previous, l.sample = sums, engine.CrowdSample{T: s.T}
}

// addMark adds a mark, and removes the oldest of keptMarks marks.
func (l *Live) addMark() {
	var memory []clientMark
	if len(l.marks) == keptMarks {
		memory = l.marks[0].clients[:0]
		l.marks = slices.Delete(l.marks, 0, 1)
	}
	l.marks = append(l.marks, l.mark(memory))
}

// mark returns the counts of all clients, appended to clients.
func (x *session) mark(clients []clientMark) mark {
	m := mark{at: x.Now(), clients: clients}
	for i := range x.shards {
		s := &x.shards[i]
		for k := range s.clients {
			c := &s.clients[k]
			saved := clientMark{counts: s.counts[k], active: c.active(s.connections[k].isActive, m.at)}
			if c.viewer != nil {
				saved.view = c.viewer.meter.Progress()
				saved.limit = c.viewer.limit
			}
			m.clients = append(m.clients, saved)
		}
	}
	return m
}

// of returns the counts of client i, counted from 0; none if it came later.
func (m *mark) of(i int) (c clientMark) {
	if i < len(m.clients) {
		c = m.clients[i]
	}
	return c
}

// View returns a snapshot with the packets of the client with the given number; 0 means the one with the longest round
// trip. Figures of clients end with the newest sample.
func (l *Live) View(client int) *engine.Snapshot {
	now := l.reached
	at := viewTime{now, len(l.changes)}
	if l.view.Clients == nil || at != l.viewAt {
		l.viewAt = at
		newest := l.marks[len(l.marks)-1]
		if len(l.marks) == 1 { // no sample has ended
			newest = l.mark(nil)
		}
		clients := l.clientsBetween(&l.marks[0], &newest)
		totals := l.totals(l.session.Now(), clients)
		l.view = engine.CrowdView{Clients: clients, Recent: totals.Crowd, Totals: totals}
		l.view.Totals.Crowd = nil
	}
	view := l.view
	view.Samples = slices.Clip(l.samples[max(len(l.samples)-keptSamples, 0):])
	view.TickTime, view.HasUplink = time.Second*time.Duration(l.config.Sender.Every)/time.Duration(l.cadence.RateHz), l.uplink.BitsPerSecond > 0
	l.eachEncoding(func(e *encoding) {
		view.Encodings = append(view.Encodings, engine.CrowdEncoding{Age: int(e.age), Clients: e.users, Payload: len(e.payload)})
	})
	slices.SortStableFunc(view.Encodings, func(a, b engine.CrowdEncoding) int { return a.Age - b.Age })
	if client == 0 {
		client = farthest(view.Clients)
	}
	if client >= 1 && client <= l.clientCount() {
		view.Selected, view.Packets = client, l.newestPackets(client-1)
	}
	return &engine.Snapshot{Now: now, Config: l.config.Clone(), Item: l.schema.Item, Schema: l.schema, Log: slices.Clip(l.changes), Crowd: &view}
}

// farthest returns the number of the client in the game with the longest round trip; 0 if none is in the game.
func farthest(clients []figures.CrowdClient) (number int) {
	longest := -1.0
	for i := range clients {
		if trip := clients[i].RoundTripMS.Or(0); clients[i].WasInGame() && trip > longest {
			number, longest = i+1, trip
		}
	}
	return number
}

// runLastChange runs until the last change has taken effect, which a change of now does in the next slot.
func (l *Live) runLastChange() error {
	if n := len(l.changes); n > 0 && l.changes[n-1].T >= l.reached {
		return l.RunUntil(l.changes[n-1].T + 1)
	}
	return nil
}

// Close closes the source, after the last change has taken effect, so that Finish may follow.
func (l *Live) Close() error { return errors.Join(l.runLastChange(), l.session.Close()) }

// Finish ends the run at Now and returns its results, as Run does for the configuration of Recorded. The
// crowd cannot run further.
func (l *Live) Finish() (*engine.Result, error) {
	if err := l.runLastChange(); err != nil {
		return l.Result(), err
	}
	l.config.Duration = l.reached
	if !l.ended {
		l.end = l.reached
	}
	err := l.finish()
	return l.Result(), err
}
