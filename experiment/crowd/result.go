package crowd

import (
	"encoding/hex"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
	"wirelab/lossmodel"
)

// result returns the results of a run that ended at end.
func (r *run) result(end time.Duration) *engine.Result {
	clients := r.clientFigures(end, nil)
	totals := r.totals(end, clients)
	result := engine.NewResult(r.config, r.schema, end, uint64(r.packets), totals)
	result.Digest, result.Timing, result.Clients = hex.EncodeToString(r.digest.Sum(nil)), r.timing(), clients
	codec := r.workers[0].encoder.Codec
	result.Codecs = map[string]int{}
	if codec.Plugin == nil {
		result.Codecs[codec.Name] = codec.PacketVersion()
	}
	err := r.encodeErr
	for _, w := range r.workers {
		if err == nil {
			err = w.err
		}
	}
	if err != nil {
		result.CodecError = err.Error()
	}
	return result
}

// clientFigures returns the figures of each client at end: of the run, or of the time since a mark, which contains the
// counts of all clients at an earlier time.
func (r *run) clientFigures(end time.Duration, since *mark) (list []figures.CrowdClient) {
	list = make([]figures.CrowdClient, 0, r.config.Crowd.Clients)
	for i := range r.shards {
		for k := range r.shards[i].clients {
			c := &r.shards[i].clients[k]
			n := c.counts
			if since != nil && len(list) < len(since.counts) {
				n = n.since(&since.counts[len(list)])
			}
			span := end
			if since != nil {
				span -= since.at
			}
			list = append(list, r.figuresOf(c, &n, span))
		}
	}
	return list
}

// figuresOf returns the figures of c, of which n are the counts of a time span.
func (r *run) figuresOf(c *client, n *counts, span time.Duration) figures.CrowdClient {
	kilobits := func(bytes uint64) figures.Figure { return figures.RatioFigure(float64(bytes)*8/1000, span.Seconds()) }
	ticks := float64(r.cadence.TickHz) / float64(r.cadence.RateHz)
	return figures.CrowdClient{
		PayloadKbps: kilobits(n.payloadBytes), WireKbps: kilobits(n.wireBytes),
		BaselineAgeTicks: figures.RatioFigure(float64(n.ageSum)*ticks, float64(n.withBaseline)),
		LossRatio:        figures.RatioFigure(float64(n.lost+n.fragmentLost), float64(n.sent)),
		Failures:         figures.Known(float64(n.failed())),
		RoundTripMS:      figures.Known(float64(c.down.Latency()+c.up.Latency()) / float64(time.Millisecond))}
}

// totals returns the figures of the run, whose end is given: sums and distributions over all clients.
func (r *run) totals(end time.Duration, clients []figures.CrowdClient) figures.Totals {
	var n counts
	var t figures.Totals
	t.LostBy = figures.LostBy(nil)
	for i := range r.shards {
		s := &r.shards[i]
		for k := range s.clients {
			n.add(&s.clients[k].counts)
			t.Sent += int64(s.clients[k].sent) // the sums of uint32 could overflow
			t.Decoded += int64(s.clients[k].counts.decoded)
			t.Stale += int64(s.clients[k].stale)
			t.LostBy[lossmodel.Loss.String()] += int64(s.clients[k].lost)
			t.LostBy[lossmodel.Fragment.String()] += int64(s.clients[k].fragmentLost)
		}
		for _, packets := range s.packets.slots {
			t.InFlight += int64(len(packets))
		}
	}
	t.Lost = t.LostBy[lossmodel.Loss.String()] + t.LostBy[lossmodel.Fragment.String()]
	t.Wrong, t.Undetected = int64(n.wrong), int64(n.wrong)
	t.Failures = figures.Failures{NoBaseline: int64(n.noBaseline), Corrupt: int64(n.corrupt)}
	t.DecodeRefused, t.EncodeFailed, t.Reordered = int64(n.corrupt), int64(n.encodeFailed), t.Stale
	secs := end.Seconds()
	t.PayloadKbps = figures.RatioOrZero(float64(n.payloadBytes)*8/1000, secs)
	t.WireKbps = figures.RatioOrZero(float64(n.wireBytes)*8/1000, secs)
	t.FeedbackKbps = figures.RatioOrZero(float64(n.feedbackBytes)*8/1000, secs)
	t.BitsPerItem = figures.RatioFigure(float64(n.payloadBytes)*8, float64(t.Sent)*float64(r.schema.Rows))
	if frame.IsCubes(r.schema) {
		t.BitsPerCube = &t.BitsPerItem
	}
	t.PacketBytes, t.BaselineAgeTicks = meters.QuantilesOf(&r.sizes), meters.QuantilesOf(&r.ages)
	t.Network.LossRate = figures.RatioFigure(float64(t.Lost), float64(t.Sent))
	t.Crowd = r.crowdFigures(clients)
	if r.baselines.policy == anchors {
		ratio := figures.RatioFigure(float64(r.memoUsers), float64(t.Sent))
		t.Crowd.MemoRatio = &ratio
	}
	return t
}

// add adds the counts that are small or have 64 bits.
func (n *counts) add(x *counts) {
	n.payloadBytes += x.payloadBytes
	n.wireBytes += x.wireBytes
	n.feedbackBytes += x.feedbackBytes
	n.noBaseline += x.noBaseline
	n.corrupt += x.corrupt
	n.wrong += x.wrong
	n.encodeFailed += x.encodeFailed
}

// crowdFigures returns the quantiles over clients.
func (r *run) crowdFigures(clients []figures.CrowdClient) *figures.Crowd {
	out := &figures.Crowd{Clients: len(clients), EncodingsPerTick: figures.RatioFigure(float64(r.encodingSum), float64(r.packets)),
		MaxEncodings: r.maxEncodings}
	out.SetQuantiles(clients)
	return out
}

// timing returns the durations of the run's work.
func (r *run) timing() (t figures.Timing) {
	if r.clock == nil || r.ticks == 0 {
		return t
	}
	perTick := func(ns int64) figures.Figure { return figures.Known(float64(ns) / 1000 / float64(r.ticks)) }
	var server, clients int64
	for i := range r.shards {
		server += r.shards[i].timed.server
		clients += r.shards[i].timed.clients
	}
	t.EncodeUS, t.DecodeUS = r.encodeTimes.microseconds(), r.decodeTimes.microseconds()
	t.TickUS = &figures.CrowdTiming{EncodeUS: perTick(r.encodeTimes.sum + r.anchorNS + r.againNS), DecodeUS: perTick(r.decodeTimes.sum),
		ServerUS: perTick(server), ClientsUS: perTick(clients), ElapsedUS: r.elapsed.microseconds()}
	return t
}

// durations contains durations in nanoseconds: their sum, and a sample of them that stays small.
type durations struct {
	sum    int64
	n      int64
	every  int64   // one of this number of durations is in the sample
	sample []int64 // at most maxSample
}

// maxSample is the largest number of durations in a sample.
const maxSample = 1 << 16

// add adds a duration.
func (d *durations) add(ns int64) {
	d.every = max(d.every, 1)
	if d.sum += ns; d.n%d.every == 0 {
		d.sample = append(d.sample, ns)
	}
	d.n++
	if len(d.sample) < maxSample {
		return
	}
	for i := range maxSample / 2 { // keep every second one
		d.sample[i] = d.sample[2*i]
	}
	d.sample, d.every = d.sample[:maxSample/2], 2*d.every
}

// microseconds returns quantiles in microseconds.
func (d *durations) microseconds() figures.Quantiles {
	if d.n == 0 {
		return figures.Quantiles{}
	}
	sorted := slices.Sorted(slices.Values(d.sample))
	q := func(p float64) float64 { return float64(quantile.NearestRank(sorted, p)) / 1000 }
	return figures.Quantiles{Min: q(0), P50: q(.5), P95: q(.95), P99: q(.99), Max: q(1), N: d.n}
}
