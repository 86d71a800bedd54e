package compare

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/paired"
)

// figure is something to compare encoders by. Of all of them less is better.
type figure uint8

// The figures, in the order of the columns.
const (
	figureKbps figure = iota
	figurePacket
	figureBits
	figureFailures
	figureEncode
	figureDecode
	numFigures
)

// figureText is how a figure is written: heads for wide and narrow columns.
type figureText struct {
	head, unit, long string
	digits           int
}

// text names the figure; per is what bits are divided by: see panes.PerItem.
func (f figure) text(per string) figureText {
	return [numFigures]figureText{
		{"kbps", "kbps", "payload bandwidth", 1},
		{"p95 B", "B", "95th percentile of packet sizes", 0},
		{"bits/" + panes.PerHead(per), "bits", "bits per " + per, 1},
		{"fail/min", "/min", "packets that arrived and could not be decoded, a minute", 1},
		{"enc µs", "µs", "median time to encode", 1},
		{"dec µs", "µs", "median time to decode", 1},
	}[f]
}

// entry is one lane of the comparison.
type entry struct {
	lane    int // its number; 0 is the encoder under the keys
	name    string
	began   time.Duration
	err     error
	figures [numFigures]float64 // NaN: nothing to say

	payload, failed, changed []float64 // of every sample that counts
	across                   []bool    // which samples hold packets that build across a seam
	sizes                    []float64 // of every packet
	encode, decode           []float64 // microseconds; of packets that were decoded in all lanes

}

// comparison is all lanes over what they have in common.
type comparison struct {
	from, to time.Duration // what was compared
	packets  int           // that the sizes and times rest on
	seams    int           // samples left out, for they show how dear a new beginning is and no more
	entries  []entry
}

// beginning is the moment from which all lanes can be compared.
func beginning(snap *engine.Snapshot) time.Duration {
	from := time.Duration(0)
	for i := range snap.Lanes {
		from = max(from, snap.Lanes[i].Began)
		if s := snap.Lanes[i].Samples; len(s) > 0 {
			from = max(from, s[0].T-engine.SamplePeriod-lockstep.WarmUp)
		}
	}
	for _, c := range snap.Log {
		if c.T <= snap.Now && c.Change.Has("encoder") {
			from = max(from, c.T)
		}
	}
	return from + lockstep.WarmUp
}

// compare gathers what the lanes of a snapshot measured. It takes time in
// proportion to samples and lanes; the intervals are for later (see settle).
func compare(snap *engine.Snapshot) comparison {
	c := comparison{from: beginning(snap), to: snap.Now}
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		samples := room.Between(l.Samples, c.from, c.to)
		if n := len(samples); n > 0 {
			c.to = samples[n-1].T
		}
		c.entries = append(c.entries, newEntry(i, l, samples))
	}
	n := math.MaxInt
	for i := range c.entries {
		n = min(n, len(c.entries[i].payload))
	}
	for i := range c.entries { // all end at the same sample
		r := &c.entries[i]
		for _, v := range []*[]float64{&r.payload, &r.failed, &r.changed} {
			*v = (*v)[len(*v)-n:]
		}
		r.across = r.across[len(r.across)-n:]
	}
	c.leaveOutSeams(n)
	c.packets = c.pairPackets(snap)
	for i := range c.entries {
		c.entries[i].sum()
	}
	return c
}

// leaveOutSeams drops, of all n samples and for all lanes alike, those in which some lane
// sent packets that build on frames from before a seam: what these cost depends on how the
// data happen to end and begin.
func (c *comparison) leaveOutSeams(n int) {
	kept := 0
	for k := range n {
		if slices.ContainsFunc(c.entries, func(r entry) bool { return r.across[k] }) {
			continue
		}
		for i := range c.entries {
			r := &c.entries[i]
			r.payload[kept], r.failed[kept], r.changed[kept] = r.payload[k], r.failed[k], r.changed[k]
		}
		kept++
	}
	c.seams = n - kept
	for i := range c.entries {
		r := &c.entries[i]
		r.payload, r.failed, r.changed, r.across = r.payload[:kept], r.failed[:kept], r.changed[:kept], nil
	}
}

func newEntry(i int, l *engine.Lane, samples []engine.Sample) entry {
	r := entry{lane: i, name: l.Encoder, began: l.Began, err: l.Err}
	values := make([]float64, 3*len(samples))
	n := len(samples)
	r.payload, r.failed, r.changed, r.across = values[:n:n], values[n:2*n:2*n], values[2*n:], make([]bool, n)
	for k := range samples {
		s := &samples[k]
		r.payload[k], r.failed[k], r.changed[k] = float64(s.PayloadBits), float64(s.Failed()), float64(s.Changed)
		r.across[k] = s.Across > 0
	}
	return r
}

// pairPackets takes the packets that every lane still knows, and returns how many
// there are.
func (c *comparison) pairPackets(snap *engine.Snapshot) int {
	at := make([]int, len(snap.Lanes))
	row := make([]*engine.PacketRecord, len(snap.Lanes))
	silent := make([]bool, len(snap.Lanes)) // sends nothing, and must not keep the others from being compared
	n := 0
	for i := range snap.Lanes {
		silent[i] = !slices.ContainsFunc(snap.Lanes[i].Packets, func(p engine.PacketRecord) bool { return p.Sent >= c.from })
		for _, v := range []*[]float64{&c.entries[i].sizes, &c.entries[i].encode, &c.entries[i].decode} {
			*v = make([]float64, 0, len(snap.Lanes[i].Packets))
		}
	}
	first := slices.Index(silent, false)
	if first < 0 {
		return 0
	}
	for k := range snap.Lanes[first].Packets {
		p := &snap.Lanes[first].Packets[k]
		if p.Copy > 0 || p.Sent < c.from {
			continue
		}
		whole, decoded, across := true, true, false
		for i := range row {
			if silent[i] {
				continue
			}
			if row[i] = seek(snap.Lanes[i].Packets, &at[i], p.Seq); row[i] == nil {
				whole = false
				break
			}
			decoded, across = decoded && row[i].DecodeNS > 0, across || row[i].Across
		}
		if !whole || across {
			continue
		}
		n++
		for i, p := range row {
			if silent[i] {
				continue
			}
			r := &c.entries[i]
			r.sizes = append(r.sizes, float64(p.Payload))
			r.encode = append(r.encode, float64(p.EncodeNS)/1000)
			if decoded {
				r.decode = append(r.decode, float64(p.DecodeNS)/1000)
			}
		}
	}
	return n
}

// seek moves at on to the packet of a sequence; nil if there is none.
func seek(list []engine.PacketRecord, at *int, seq uint64) *engine.PacketRecord {
	for ; *at < len(list) && (list[*at].Seq < seq || list[*at].Copy > 0); *at++ {
	}
	if *at < len(list) && list[*at].Seq == seq {
		return &list[*at]
	}
	return nil
}

// periods is a one for every sample: what a rate is over.
func (r *entry) periods(seconds float64) []float64 {
	v := make([]float64, len(r.payload))
	for i := range v {
		v[i] = seconds
	}
	return v
}

// ratio is the figure as a sum over a sum; false if it is no such thing.
func (r *entry) ratio(f figure) (paired.Ratio, bool) {
	const period = 1 / room.PerSecond
	switch f {
	case figureKbps:
		return paired.Ratio{Num: r.payload, Den: r.periods(1000 * period)}, true
	case figureBits:
		return paired.Ratio{Num: r.payload, Den: r.changed}, true
	case figureFailures:
		return paired.Ratio{Num: r.failed, Den: r.periods(period / 60)}, true
	}
	return paired.Ratio{}, false
}

// quantile is the figure as a quantile of packets.
func (r *entry) quantile(f figure) (values []float64, p float64) {
	switch f {
	case figurePacket:
		return r.sizes, 0.95
	case figureEncode:
		return r.encode, 0.5
	}
	return r.decode, 0.5
}

// sum works out the figures. An encoder that sent nothing has none: it is not the
// cheapest of all.
func (r *entry) sum() {
	for f := range numFigures {
		r.figures[f] = math.NaN()
	}
	if len(r.payload) == 0 || !slices.ContainsFunc(r.payload, func(v float64) bool { return v > 0 }) {
		return
	}
	for f := range numFigures {
		if x, ok := r.ratio(f); ok {
			r.figures[f] = total(x.Num) / total(x.Den)
		} else if v, p := r.quantile(f); len(v) > 0 {
			sorted := slices.Sorted(slices.Values(v))
			r.figures[f] = sorted[max(int(math.Ceil(p*float64(len(v)))), 1)-1]
		}
	}
}

func total(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// gapTo is how far r is from the leader by a figure, with its interval.
func (r *entry) gapTo(leader *entry, f figure) paired.Interval {
	const seed = 1 // the same draws every time: the interval moves with the data alone
	a, ok := r.ratio(f)
	if b, _ := leader.ratio(f); ok {
		return paired.Ratios(a, b, seed)
	}
	x, p := r.quantile(f)
	y, _ := leader.quantile(f)
	return paired.Quantiles(x, y, p, seed)
}
