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
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
)

// Result returns the results so far.
func (x *session) Result() *engine.Result {
	end := x.Now()
	now := x.mark(nil)
	clients := x.clientsBetween(&mark{}, &now)
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

// clientsBetween returns the figures of each client between two marks, in the order of their numbers; unknown for a
// client that has never been in the game.
func (x *session) clientsBetween(from, to *mark) (list []figures.CrowdClient) {
	interpolates := frame.IsCubes(x.schema) || playout.FindColumns(x.schema) != nil
	for i := range x.clientCount() {
		before, after := from.of(i), to.of(i)
		s, k := x.at(i)
		c := &s.clients[k]
		active := after.active - before.active
		after.subtract(&before.counts)
		f := after.figures(&c.tenure, active, interpolates, x.displayHz())
		if v := c.viewer; v != nil {
			if server, filler := v.sender.View(); s.connections[k].isActive && server != nil {
				v.meter.Waited(filler.LongestWait(server), x.config.SendInterval())
			}
			limitBps := after.limit.meanSince(before.limit, before.active, active)
			f.View = v.meter.ClientFigures(before.view, after.view, active, limitBps)
		}
		list = append(list, f)
	}
	return list
}

// displayHz returns the rate of displays.
func (x *session) displayHz() float64 {
	return float64(x.config.DisplayMilliHz(x.schema.TickHz)) / 1000
}

// figures returns the figures of a client that was in the game for the given time. interpolates means
// that displays interpolate between snapshots; otherwise the age of what they show is unknown.
func (c *counts) figures(t *tenure, active time.Duration, interpolates bool, displayHz float64) figures.CrowdClient {
	kilobits := func(bytes int64) figures.Figure { return figures.RatioFigure(float64(bytes)*8/1000, active.Seconds()) }
	f := figures.CrowdClient{PayloadKbps: kilobits(c.n[payloadBytes]), WireKbps: kilobits(c.n[wireBytes]),
		BaselineAgeTicks: c.ratio(baselineTicks, withBaseline), LossRatio: c.lossRatio()}
	if active > 0 {
		f.RoundTripMS = t.roundTripMS
	}
	if c.n[sent] > 0 { // packets that arrived without giving the client a correct frame
		f.Failures = figures.Known(float64(c.outcomes[packetlog.NoBaseline] + c.outcomes[packetlog.Corrupt] + c.outcomes[packetlog.Wrong]))
	}
	shown := c.display.Figures(displayHz)
	f.Playout.StarvedRatio, f.Playout.LongestFreezeMS = shown.StarvedRatio, shown.LongestFreezeMS
	if c.display.Shown > 0 {
		f.Playout.Late = figures.Known(float64(c.display.Late))
	}
	if interpolates {
		f.AgeMS = figures.RatioFigure(float64(c.n[ageSum])/1e6, float64(c.display.Shown))
	}
	return f
}

// totals returns the figures of the run until end: sums and distributions over all clients.
func (x *session) totals(end time.Duration, clients []figures.CrowdClient) figures.Totals {
	all, lagUS := counts{}, int64(0) // the lag is rounded for each client
	var t figures.Totals
	for i := range x.shards {
		for k := range x.shards[i].counts {
			c := &x.shards[i].counts[k]
			all.add(c)
			lagUS += c.n[lagSum] / 1000
		}
	}
	for outcome := range packetlog.NumOutcomes {
		*outcome.In(&t.Counts) = all.outcomes[outcome]
	}
	t.Sent, t.Duplicated, t.EncodeFailed = all.n[sent], all.n[duplicated], all.n[encodeFailed]
	t.Reordered, t.DecodeRefused = all.n[reordered], all.n[decodeRefused]
	x.addLinkTotals(&t)
	t.Playout = all.display.Figures(x.displayHz())
	t.Playout.ClockLagMS = figures.RatioFigure(float64(lagUS)/1000, float64(all.display.Shown))
	rate := func(bytes count) float64 { return figures.RatioOrZero(float64(all.n[bytes])*8/1000, end.Seconds()) }
	t.PayloadKbps, t.WireKbps, t.FeedbackKbps = rate(payloadBytes), rate(wireBytes), rate(feedbackBytes)
	t.BitsPerItem = figures.RatioFigure(float64(all.n[payloadBytes])*8, float64(t.Sent)*float64(x.schema.Rows))
	if frame.IsCubes(x.schema) {
		t.BitsPerCube = &t.BitsPerItem
	}
	t.PacketBytes, t.BaselineAgeTicks = figures.QuantilesOf(&x.sizes, 1), figures.QuantilesOf(&x.ages, 1)
	t.Network.LossRate = all.lossRatio()
	t.Crowd = x.crowdFigures(clients)
	t.View = x.viewFigures(end)
	return t
}

// addLinkTotals adds what the links have lost, with the copies they made, and what is in flight.
func (x *session) addLinkTotals(t *figures.Totals) {
	t.Lost = 0 // without copies
	for i := range x.shards {
		s := &x.shards[i]
		for cause, n := range s.lostBy {
			t.LostBy[cause] += n
			t.Lost += n
		}
		for _, packets := range s.packets.slots {
			t.InFlight += int64(len(packets))
		}
		for k := range s.clients {
			if full := s.clients[k].full; full != nil {
				t.InFlight += int64(full.down.InFlight())
			}
		}
	}
}

// viewFigures returns the figures of all clients under a budget together; nil without a budget. The
// limit is crowd.budget, or sender.budget for each client.
func (x *session) viewFigures(end time.Duration) *figures.View {
	if x.views == nil {
		return nil
	}
	all, held := x.views.truth.NewView(x.cadence), int64(0)
	for i := range x.shards {
		for k := range x.shards[i].clients {
			v := x.shards[i].clients[k].viewer
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
	f.Held = held
	return f
}

// crowdFigures returns the quantiles over clients.
func (x *session) crowdFigures(clients []figures.CrowdClient) *figures.Crowd {
	out := &figures.Crowd{EncodingsPerTick: figures.RatioFigure(float64(x.encodingSum), float64(x.packets)), MaxEncodings: x.maxEncodings}
	for i := range clients {
		if clients[i].WasInGame() {
			out.Clients++
		}
	}
	out.SetQuantiles(clients)
	if x.uplink.BitsPerSecond > 0 {
		wait := figures.Known(float64(x.uplink.peak) / 1e6)
		out.UplinkPeakMS = &wait
	}
	return out
}

// timing returns the durations of the work of a tick in which a packet was sent.
func (x *session) timing() (t figures.Timing) {
	if x.Clock == nil || x.packets == 0 {
		return t
	}
	perTick := func(ns int64) figures.Figure { return figures.Known(float64(ns) / 1000 / float64(x.packets)) }
	cpu := x.sums().CPU
	t.EncodeUS, t.DecodeUS = figures.QuantilesOf(&x.encodeTimes, 1000), figures.QuantilesOf(&x.decodeTimes, 1000)
	t.TickUS = &figures.CrowdTiming{EncodeUS: perTick(cpu.Encode), DecodeUS: perTick(cpu.Decode), ServerUS: perTick(cpu.Server),
		ClientsUS: perTick(cpu.Clients), ElapsedUS: figures.QuantilesOf(&x.elapsed, 1000)}
	if x.views != nil {
		rows := perTick(cpu.Choose)
		t.TickUS.ChooseUS = &rows
	}
	return t
}
