package crowd

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
)

// Result returns the results so far.
func (x *session) Result() *engine.Result {
	end := x.Now()
	clients := x.Clients()
	start := x.config.Clone()
	start.At = nil // Result.Changes has the changes that took effect
	x.resetToStart(start)
	result := engine.NewResult(start, x.schema, end, uint64(x.packets), x.totals(end, clients))
	result.Timing, result.Clients, result.Changes = x.timing(), clients, append(result.Changes, x.changes...)
	sum := x.digest.Sum(nil)
	for i := range x.shards {
		sum = binary.LittleEndian.AppendUint64(sum, x.shards[i].hash)
	}
	digest := sha256.Sum256(sum)
	result.Digest = hex.EncodeToString(digest[:])
	codec := x.workers[0].encoder.Codec
	result.Codecs = map[string]int{}
	if codec.Plugin == nil {
		result.Codecs[codec.Name] = codec.PacketVersion()
	}
	for i := range x.shards {
		x.decodeErr = cmp.Or(x.decodeErr, x.shards[i].decodeErr)
	}
	if err := cmp.Or(x.encodeErr, x.decodeErr); err != nil {
		result.CodecError = err.Error()
	}
	return result
}

// resetToStart sets what Change may have changed in c to what it was at the start.
func (x *session) resetToStart(c *config.Config) {
	c.Encoder, c.Sender, c.Crowd = x.start.Encoder, x.start.Sender, x.start.Crowd
}

// Clients returns the figures of each client, in the order of their numbers. Figures of a client that has never been in
// the game are unknown.
func (x *session) Clients() []figures.CrowdClient { return x.clientsSince(&mark{}) }

func (x *session) clientsSince(m *mark) (list []figures.CrowdClient) {
	now, interpolates := x.Now(), frame.IsCubes(x.schema) || playout.FindColumns(x.schema) != nil
	for i := range x.shards {
		s := &x.shards[i]
		for k := range s.connections {
			t, sent, v := &s.tenures[k], s.sent[k], s.receivers[k]
			active := t.total
			if s.connections[k].isActive {
				active += now - t.since
			}
			before := clientMark{}
			if len(list) < len(m.clients) {
				before = m.clients[len(list)]
				active -= before.active
				sent.subtract(&before.sent)
				v.subtract(&before.received)
			}
			c := clientFigures(&sent, &v, t, active, interpolates, x.milliHz())
			if x.views != nil {
				viewer := s.viewers[k]
				if s.connections[k].isActive {
					if server, filler := viewer.sender.View(); server != nil {
						viewer.meter.Waited(filler.LongestWait(server), x.config.SendInterval())
					}
				}
				c.View = viewer.meter.ClientFigures(before.view, active, x.config.Sender.Budget)
			}
			list = append(list, c)
		}
	}
	return list
}

// milliHz returns the rate of displays in thousandths of a hertz.
func (x *session) milliHz() int { return x.config.DisplayMilliHz(x.schema.TickHz) }

// clientFigures returns the figures of a client that was in the game for the given time. interpolates means that displays
// interpolate between snapshots; otherwise the age of what they show is unknown.
func clientFigures(n *sentCounts, v *receiver, t *tenure, active time.Duration, interpolates bool, milliHz int) figures.CrowdClient {
	kilobits := func(bytes uint64) figures.Figure { return figures.RatioFigure(float64(bytes)*8/1000, active.Seconds()) }
	c := figures.CrowdClient{
		PayloadKbps: kilobits(n.payloadBytes), WireKbps: kilobits(n.wireBytes),
		BaselineAgeTicks: figures.RatioFigure(float64(n.ageTicks), float64(n.withBaseline)),
		LossRatio:        figures.RatioFigure(float64(n.lost), float64(n.sent)),
	}
	if active > 0 {
		c.RoundTripMS = t.roundTripMS
	}
	if n.sent > 0 {
		c.Failures = figures.Known(float64(v.failed()))
	}
	shown := float64(v.shown)
	c.Playout.StarvedRatio = figures.RatioFigure(float64(v.starved), shown)
	if v.shown > 0 {
		c.Playout.Late = figures.Known(float64(v.late))
		c.Playout.LongestFreezeMS = figures.RatioFigure(float64(v.longestFreeze)*1e6, float64(milliHz))
	}
	if interpolates {
		c.AgeMS = figures.RatioFigure(float64(v.ageSum)/1e6, shown)
	}
	return c
}

// totals returns the figures of the run until end: sums and distributions over all clients.
func (x *session) totals(end time.Duration, clients []figures.CrowdClient) figures.Totals {
	var t figures.Totals
	var payload, wire, feedback uint64
	var lost, shown, starved, lagSum, longest int64
	for i := range x.shards {
		s := &x.shards[i]
		for k := range s.connections {
			n, v := &s.sent[k], &s.receivers[k]
			lost += int64(n.lost)
			payload, wire, feedback = payload+n.payloadBytes, wire+n.wireBytes, feedback+v.feedbackBytes
			t.Sent, t.Duplicated, t.EncodeFailed = t.Sent+int64(n.sent), t.Duplicated+int64(n.duplicated), t.EncodeFailed+int64(n.encodeFailed)
			t.Decoded, t.Stale, t.Duplicate = t.Decoded+int64(v.accepted), t.Stale+int64(v.stale), t.Duplicate+int64(v.duplicate)
			t.Wrong, t.Reordered = t.Wrong+int64(v.wrong), t.Reordered+int64(v.reordered)
			t.Failures.NoBaseline, t.Failures.Corrupt = t.Failures.NoBaseline+int64(v.noBaseline), t.Failures.Corrupt+int64(v.corrupt)
			t.DecodeRefused += int64(v.refused)
			shown, starved, lagSum = shown+int64(v.shown), starved+int64(v.starved), lagSum+v.lagSum/1000
			t.Playout.Freezes, t.Playout.Late = t.Playout.Freezes+int64(v.freezes), t.Playout.Late+int64(v.late)
			longest = max(longest, int64(v.longestFreeze))
			if full := s.full[k]; full != nil {
				t.InFlight += int64(full.down.InFlight())
			}
		}
		for _, packets := range s.packets.slots {
			t.InFlight += int64(len(packets))
		}
		for cause, n := range s.lostBy {
			if n > 0 {
				t.LostBy[cause] += n
			}
			t.Lost += n
		}
	}
	t.Playout.Displayed, t.Playout.StarvedRatio = shown, figures.RatioFigure(float64(starved), float64(shown))
	t.Playout.ClockLagMS = figures.RatioFigure(float64(lagSum)/1000, float64(shown))
	if shown > 0 {
		t.Playout.LongestFreezeMS = figures.RatioFigure(float64(longest)*1e6, float64(x.milliHz()))
	}
	secs := end.Seconds()
	t.PayloadKbps = figures.RatioOrZero(float64(payload)*8/1000, secs)
	t.WireKbps = figures.RatioOrZero(float64(wire)*8/1000, secs)
	t.FeedbackKbps = figures.RatioOrZero(float64(feedback)*8/1000, secs)
	t.BitsPerItem = figures.RatioFigure(float64(payload)*8, float64(t.Sent)*float64(x.schema.Rows))
	if frame.IsCubes(x.schema) {
		t.BitsPerCube = &t.BitsPerItem
	}
	t.PacketBytes, t.BaselineAgeTicks = meters.QuantilesOf(&x.sizes), meters.QuantilesOf(&x.ages)
	t.Network.LossRate = figures.RatioFigure(float64(lost), float64(t.Sent))
	t.Crowd = x.crowdFigures(clients)
	t.View = x.viewFigures(end)
	if x.uplink.BitsPerSecond > 0 {
		wait := figures.Known(float64(x.uplink.peak) / 1e6)
		t.Crowd.UplinkPeakMS = &wait
	}
	return t
}

// viewFigures returns the figures of all clients under a budget together; nil without a budget. The limit is crowd.budget, or
// sender.budget for each client.
func (x *session) viewFigures(end time.Duration) *figures.View {
	if x.views == nil {
		return nil
	}
	all, held := x.views.truth.NewView(x.cadence), int64(0)
	for i := range x.shards {
		for _, v := range x.shards[i].viewers {
			all.Merge(v.meter)
			held += v.held
		}
	}
	limit := x.config.SendBudget()
	limit.Bps *= int64(x.config.Crowd.Clients)
	if shared := x.config.CrowdBudget(); shared.Bps > 0 && (limit.Bps == 0 || shared.Bps < limit.Bps) {
		limit = shared
	}
	f := all.Figures(&limit, end)
	f.Held, f.Over = held, f.Over+x.views.over
	return f
}

// crowdFigures returns the quantiles over clients.
func (x *session) crowdFigures(clients []figures.CrowdClient) *figures.Crowd {
	out := &figures.Crowd{EncodingsPerTick: figures.RatioFigure(float64(x.encodingSum), float64(x.packets)),
		MaxEncodings: x.maxEncodings}
	for i := range clients {
		if clients[i].WasInGame() {
			out.Clients++
		}
	}
	out.SetQuantiles(clients)
	return out
}

// timing returns the durations of the work of a tick in which a packet was sent.
func (x *session) timing() (t figures.Timing) {
	if x.clock == nil || x.packets == 0 {
		return t
	}
	perTick := func(ns int64) figures.Figure { return figures.Known(float64(ns) / 1000 / float64(x.packets)) }
	cpu := x.progress().cpu
	t.EncodeUS, t.DecodeUS = x.encodeTimes.Microseconds(), x.decodeTimes.Microseconds()
	t.TickUS = &figures.CrowdTiming{EncodeUS: perTick(cpu.Encode), DecodeUS: perTick(cpu.Decode), ServerUS: perTick(cpu.Server),
		ClientsUS: perTick(cpu.Clients), ElapsedUS: x.elapsed.Microseconds()}
	if x.views != nil {
		rows := perTick(cpu.Choose)
		t.TickUS.ChooseUS = &rows
	}
	return t
}
