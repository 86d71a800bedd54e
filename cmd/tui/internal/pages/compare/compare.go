package compare

import (
	"math"
	"slices"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/paired"
	"wirelab/internal/quantile"
	"wirelab/internal/units"
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
	figureAge
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
		{"age ms", "ms", "age of what is shown, mean", 1},
	}[f]
}

// write writes a value of the figure.
func (f figure) write(v float64) string {
	if f == figureBits {
		return panes.PerText(v)
	}
	return units.Fixed(v, f.text("").digits)
}

// entry is one lane of the comparison.
type entry struct {
	lockstep.Series     // of every sample that counts
	lane            int // its number; 0 is the encoder under the keys
	name, differs   string
	absent          bool // it had not joined at the moment that is shown
	began           time.Duration
	timing          figures.Timing
	err             error
	figures         [numFigures]float64 // NaN: nothing to say

	sizes          []float64 // of every packet
	encode, decode []float64 // microseconds; of packets that were decoded in all lanes
}

// mark stands behind the times of a plugin.
func (r *entry) mark(f figure) string {
	if f == figureEncode || f == figureDecode {
		return r.timing.Mark()
	}
	return ""
}

// label names the encoder, so that all of them can be told apart.
func (r *entry) label() string { return look.LaneName(r.name, r.differs, math.MaxInt) }

// comparison is all lanes over what they have in common.
type comparison struct {
	lockstep.Stretch
	packets int // that the sizes and times rest on
	entries []entry
}

// compare gathers what the lanes of a snapshot measured. It takes time in
// proportion to samples and lanes; the intervals are for later (see settle).
func compare(snap *engine.Snapshot) comparison {
	c := comparison{Stretch: lockstep.Gather(snap)}
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		c.entries = append(c.entries, entry{Series: c.Lanes[i], lane: i, name: l.Encoder, differs: l.Differs, absent: lockstep.Absent(snap, l), began: l.Began, timing: l.Timing,
			err: l.Err})
	}
	c.packets = c.pairPackets(snap)
	for i := range c.entries {
		c.entries[i].sum()
	}
	return c
}

// pairPackets takes the packets that every lane still knows, and returns how many
// there are.
func (c *comparison) pairPackets(snap *engine.Snapshot) int {
	at := make([]int, len(snap.Lanes))
	row := make([]*packetlog.Record, len(snap.Lanes))
	silent := make([]bool, len(snap.Lanes)) // sends nothing, and must not keep the others from being compared
	n := 0
	for i := range snap.Lanes {
		silent[i] = !slices.ContainsFunc(snap.Lanes[i].Packets, func(p packetlog.Record) bool { return p.Sent >= c.From })
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
		if p.Copy > 0 || p.Sent < c.From {
			continue
		}
		whole, decoded, across := true, true, false
		for i := range row {
			if silent[i] {
				continue
			}
			row[i] = seek(snap.Lanes[i].Packets, &at[i], p.Seq)
			if row[i] == nil {
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
func seek(list []packetlog.Record, at *int, seq uint64) *packetlog.Record {
	for ; *at < len(list) && (list[*at].Seq < seq || list[*at].Copy > 0); *at++ {
	}
	if *at < len(list) && list[*at].Seq == seq {
		return &list[*at]
	}
	return nil
}

// ratio is the figure as a sum over a sum; false if it is no such thing.
func (r *entry) ratio(f figure) (paired.Ratio, bool) {
	switch f {
	case figureKbps:
		return r.Kbps(), true
	case figureBits:
		return r.PerChanged(), true
	case figureFailures:
		return r.FailedAMinute(), true
	case figureAge:
		return r.AgeMS(), true
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
	if len(r.Payload) == 0 || !slices.ContainsFunc(r.Payload, func(v float64) bool { return v > 0 }) {
		return
	}
	for f := range numFigures {
		if x, ok := r.ratio(f); ok {
			r.figures[f] = x.Value()
		} else if v, p := r.quantile(f); len(v) > 0 {
			sorted := slices.Clone(v)
			slices.Sort(sorted)
			r.figures[f] = quantile.NearestRank(sorted, p)
		}
	}
}

// gap is what lies between two entries by a figure: how many times as much one has as
// the other. Failures are told apart by their difference: of one that never fails nothing
// is a multiple.
type gap struct {
	times paired.Quotient
	apart paired.Interval // of failures only
}

// known reports whether there were enough data for an interval.
func (g *gap) known() bool { return g.times.Known || g.apart.Known }

// sure reports whether the two are told apart beyond doubt.
func (g *gap) sure() bool { return g.times.Significant() || g.apart.Significant() }

// block is how many samples or packets are drawn together.
func (g *gap) block() int { return max(g.times.Block, g.apart.Block) }

// gapTo is how far r is from the leader by a figure, with its interval.
func (r *entry) gapTo(leader *entry, f figure) gap {
	const seed = 1 // the same draws every time: the interval moves with the data alone
	if len(r.Payload) != len(leader.Payload) || len(r.sizes) != len(leader.sizes) && f == figurePacket {
		return gap{} // one of them was not there
	}
	a, ok := r.ratio(f)
	b, _ := leader.ratio(f)
	switch {
	case f == figureFailures:
		return gap{apart: paired.Ratios(a, b, seed)}
	case ok:
		return gap{times: paired.Quotients(a, b, seed)}
	}
	x, p := r.quantile(f)
	y, _ := leader.quantile(f)
	if len(x) != len(y) {
		return gap{}
	}
	return gap{times: paired.QuantileQuotients(x, y, p, seed)}
}
