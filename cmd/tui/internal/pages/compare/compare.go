package compare

import (
	"math"
	"slices"
	"strings"
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

// figure identifies a measured quantity by which encoders are compared, such as the payload bandwidth.
// Lower is better for all of them.
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

// figureText is the text of a figure: column head, unit, full name and decimal places.
type figureText struct {
	head, unit, long string
	digits           int
}

// text returns the text of the figure. per names the item that figureBits counts bits per, such as "changed cube";
// see panes.PerItemUnit.
func (f figure) text(per string) figureText {
	return [numFigures]figureText{ // head, unit, long, digits
		{"kbps", "kbps", "payload bandwidth", 1},
		{"p95 B", "B", "95th percentile of packet sizes", 0},
		{"bits/" + panes.PerItemHeading(per), "bits", "bits per " + per, 1},
		{"fail/min", "/min", "packets that arrived but could not be decoded, per minute", 1},
		{"enc µs", "µs", "median time to encode", 1},
		{"dec µs", "µs", "median time to decode", 1},
		{"age ms", "ms", "mean age of the displayed data", 1},
	}[f]
}

// format formats a value of the figure.
func (f figure) format(v float64) string {
	if f == figureBits {
		return panes.FormatBitsPerItem(v)
	}
	return units.Fixed(v, f.text("").digits)
}

// entry is one lane of the comparison.
type entry struct {
	lockstep.Series                     // of the samples of the common period
	lane            int                 // index in the snapshot; 0 is the active encoder
	name            string              // letter of the lane, which other lanes of the run do not have, and encoder
	differs         string              // the parameters that distinguish lanes with one name
	absent          bool                // not yet started at the displayed time
	started         time.Duration       // virtual time at which the lane was added
	timing          figures.Timing      // whether encode and decode times include the communication with a plugin
	err             error               // the newest error of the encoder
	figures         [numFigures]float64 // NaN if unknown

	sizes  []float64 // payload bytes of every packet; see pairPackets
	encode []float64 // microseconds, of every packet
	decode []float64 // microseconds, of packets that all lanes decoded
}

// timingMark returns the marker that follows encode and decode times of a plugin, because they are not
// comparable with those of built-in encoders; "" for other figures.
func (r *entry) timingMark(f figure) string {
	if f == figureEncode || f == figureDecode {
		return r.timing.Mark()
	}
	return ""
}

// label returns the letter of the lane, the name of the encoder and the params that distinguish it.
func (r *entry) label() string { return look.LaneName(r.name, r.differs, math.MaxInt) }

// comparison compares all lanes over the period in which all of them ran.
type comparison struct {
	lockstep.CommonPeriod
	packets int // number of packets behind sizes and times
	entries []entry
}

// compare compares the lanes of a snapshot. It takes time in proportion to samples and
// lanes. The confidence intervals take longer and are computed later, one per tick (see computeNextGap).
func compare(snap *engine.Snapshot) comparison {
	c := comparison{CommonPeriod: lockstep.CommonSamples(snap)}
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		if n := len(l.Samples); n > 0 && !l.Samples[n-1].CostsPerChange() {
			c.Lanes[i].Changed = make([]float64, len(c.Lanes[i].Changed)) // its bits per changed item are unknown
		}
		c.entries = append(c.entries, entry{Series: c.Lanes[i], lane: i, name: strings.TrimSpace(l.Letter + " " + l.Encoder), differs: l.Differs, absent: lockstep.IsAbsent(snap, l), started: l.Began, timing: l.Timing,
			err: l.Err})
	}
	c.packets = c.pairPackets(snap)
	for i := range c.entries {
		c.entries[i].computeFigures()
	}
	return c
}

// pairPackets collects, for each entry, sizes and times of the packets that every lane still stores, so
// that element i of all entries is the same packet. It returns the number of packets. Lanes that send
// nothing are ignored, and so are packets with references from before a loop point, where the data jump
// because a recording restarts. The packets of all lanes are sorted by sequence, so one pass with an index
// per lane suffices.
func (c *comparison) pairPackets(snap *engine.Snapshot) int {
	nextIndex := make([]int, len(snap.Lanes))         // index in the packets of each lane
	row := make([]*packetlog.Record, len(snap.Lanes)) // the same packet in each lane
	silent := make([]bool, len(snap.Lanes))           // the lane sends nothing
	n := 0
	for i := range snap.Lanes {
		silent[i] = !slices.ContainsFunc(snap.Lanes[i].Packets, func(p packetlog.Record) bool { return p.Sent >= c.From })
		for _, list := range []*[]float64{&c.entries[i].sizes, &c.entries[i].encode, &c.entries[i].decode} {
			*list = make([]float64, 0, len(snap.Lanes[i].Packets))
		}
	}
	first := slices.Index(silent, false) // its packets are looked up in the other lanes
	if first < 0 {
		return 0
	}
	for k := range snap.Lanes[first].Packets {
		p := &snap.Lanes[first].Packets[k]
		if p.Copy > 0 || p.Sent < c.From { // a duplicate made by the link, or before the common period
			continue
		}
		inAllLanes, decoded, crossesLoop := true, true, false
		for i := range row {
			if silent[i] {
				continue
			}
			row[i] = findPacket(snap.Lanes[i].Packets, &nextIndex[i], p.Seq)
			if row[i] == nil {
				inAllLanes = false
				break
			}
			decoded, crossesLoop = decoded && row[i].DecodeNS > 0, crossesLoop || row[i].CrossesLoop
		}
		if !inAllLanes || crossesLoop {
			continue
		}
		n++
		for i, p := range row {
			if silent[i] {
				continue
			}
			r := &c.entries[i]
			r.sizes = append(r.sizes, float64(p.Payload))
			r.encode = append(r.encode, float64(p.EncodeNS)/1000) // in microseconds
			if decoded {
				r.decode = append(r.decode, float64(p.DecodeNS)/1000)
			}
		}
	}
	return n
}

// findPacket advances next to the packet with sequence seq and returns it, nil if list has none.
// list is sorted by sequence; duplicates are skipped.
func findPacket(list []packetlog.Record, next *int, seq uint64) *packetlog.Record {
	for ; *next < len(list) && (list[*next].Seq < seq || list[*next].Copy > 0); *next++ {
	}
	if *next < len(list) && list[*next].Seq == seq {
		return &list[*next]
	}
	return nil
}

// ratioOfSums returns a figure that is the ratio of two sums over the common period. It returns false for
// the other figures, which are quantiles of the values that samplesFor returns.
func (r *entry) ratioOfSums(f figure) (paired.Ratio, bool) {
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

// samplesFor returns the values per packet of a figure that is a quantile, and which quantile is shown: p
// is 0.95 for sizes, and 0.5, the median, for times.
func (r *entry) samplesFor(f figure) (values []float64, p float64) {
	switch f {
	case figurePacket:
		return r.sizes, 0.95
	case figureEncode:
		return r.encode, 0.5
	}
	return r.decode, 0.5
}

// computeFigures computes the figures; NaN if unknown. All figures of an encoder that
// sent nothing are NaN, so that it is not ranked as the cheapest.
func (r *entry) computeFigures() {
	for f := range numFigures {
		r.figures[f] = math.NaN()
	}
	if len(r.Payload) == 0 || !slices.ContainsFunc(r.Payload, func(v float64) bool { return v > 0 }) {
		return
	}
	for f := range numFigures {
		if ratio, ok := r.ratioOfSums(f); ok {
			r.figures[f] = ratio.Value()
		} else if values, p := r.samplesFor(f); len(values) > 0 {
			sorted := slices.Clone(values)
			slices.Sort(sorted)
			r.figures[f] = quantile.NearestRank(sorted, p)
		}
	}
}

// gap compares an entry with the best entry by a figure, as a ratio. Failures are compared by their
// difference, because the ratio to an encoder that never fails would be infinite. Only one of the two
// is set; neither if the entries cannot be compared.
type gap struct {
	ratio      paired.RatioInterval
	difference paired.Interval // of failures only
}

// hasInterval reports whether there are enough data for a confidence interval.
func (g *gap) hasInterval() bool { return g.ratio.Known || g.difference.Known }

// isSignificant reports whether the difference is significant.
func (g *gap) isSignificant() bool { return g.ratio.Significant() || g.difference.Significant() }

// blockLength returns the number of samples or packets in a block of the jackknife.
func (g *gap) blockLength() int { return max(g.ratio.Block, g.difference.Block) }

// gapTo compares r with the best entry by figure f, with a 95 % confidence interval. The gap is zero if
// the entries do not have the same samples or packets.
func (r *entry) gapTo(best *entry, f figure) gap {
	if len(r.Payload) != len(best.Payload) || len(r.sizes) != len(best.sizes) && f == figurePacket {
		return gap{} // one of the two did not run all the time
	}
	ownRatio, isRatio := r.ratioOfSums(f)
	bestRatio, _ := best.ratioOfSums(f)
	switch {
	case f == figureFailures:
		return gap{difference: paired.CompareByDifference(ownRatio, bestRatio)}
	case isRatio:
		return gap{ratio: paired.CompareByRatio(ownRatio, bestRatio)}
	}
	ownValues, quantile := r.samplesFor(f)
	bestValues, _ := best.samplesFor(f)
	if len(ownValues) != len(bestValues) || len(r.Payload) < paired.MinPairs { // not the same packets, or too early
		return gap{}
	}
	return gap{ratio: paired.CompareQuantilesByRatio(ownValues, bestValues, quantile)}
}
