package compare

import (
	"math"
	"slices"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/paired"
	"wirelab/internal/quantile"
)

// laneData is what was measured of a lane in the period in which all lanes ran.
type laneData struct {
	lockstep.Series
	encode []float64 // microseconds, of every packet; see pairPackets
	decode []float64 // microseconds, of packets that all lanes decoded
}

// comparison compares all lanes over the period in which all of them ran.
type comparison struct {
	lockstep.CommonPeriod
	packets int    // number of packets behind the times
	rows    []*row // one for each lane
}

// compareLanes compares the lanes of a snapshot. It takes time in proportion to samples and lanes. The
// confidence intervals take longer and are computed later, one per tick; see computeNextGap.
func compareLanes(snap *engine.Snapshot) comparison {
	c := comparison{CommonPeriod: lockstep.CommonSamples(snap)}
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		if n := len(l.Samples); n > 0 && !l.Samples[n-1].CostsPerChange() {
			c.Lanes[i].Changed = make([]float64, len(c.Lanes[i].Changed)) // its bits per changed item are unknown
		}
		c.rows = append(c.rows, &row{
			key:  "lane " + l.Letter, // which no other lane of the session has
			name: l.Letter + " " + l.Name(), timing: l.Timing, err: l.Err,
			isLane: true, lane: i, lanes: laneData{Series: c.Lanes[i]},
			absent: lockstep.IsAbsent(snap, l), began: l.Began,
		})
	}
	c.packets = c.pairPackets(snap)
	for _, r := range c.rows {
		r.figures = r.lanes.figures()
	}
	return c
}

// pairPackets collects, for each lane, the times of the packets that every lane still stores, so that
// element i of all lanes is the same packet. It returns the number of packets. Lanes that send nothing are
// ignored, and so are packets with references from before a loop point, where the data jump because a
// recording restarts. The packets of all lanes are sorted by sequence, so one pass with an index per lane
// suffices.
func (c *comparison) pairPackets(snap *engine.Snapshot) (n int) {
	var sending []int // the lanes that send
	for i := range snap.Lanes {
		isNew := func(p packetlog.Record) bool { return p.Sent >= c.From }
		if slices.ContainsFunc(snap.Lanes[i].Packets, isNew) {
			sending = append(sending, i)
		}
	}
	if len(sending) == 0 {
		return 0
	}
	first := snap.Lanes[sending[0]].Packets // looked up in the other lanes
	for _, i := range sending {
		data := &c.rows[i].lanes
		data.encode = make([]float64, 0, len(first))
		data.decode = make([]float64, 0, len(first))
	}
	next := make([]int, len(sending))                  // the index of the next packet of each lane
	same := make([]*packetlog.Record, 0, len(sending)) // the same packet in each lane
	for k := range first {
		isCopy, isOld := first[k].Copy > 0, first[k].Sent < c.From
		if isCopy || isOld {
			continue
		}
		same = same[:0]
		for at, i := range sending {
			if p := findPacket(snap.Lanes[i].Packets, &next[at], first[k].Seq); p != nil && !p.CrossesLoop {
				same = append(same, p)
			}
		}
		if len(same) < len(sending) {
			continue
		}
		n++
		isUndecoded := func(p *packetlog.Record) bool { return p.DecodeNS == 0 }
		allDecoded := !slices.ContainsFunc(same, isUndecoded)
		for at, p := range same {
			data := &c.rows[sending[at]].lanes
			data.encode = append(data.encode, float64(p.EncodeNS)/1000)
			if allDecoded {
				data.decode = append(data.decode, float64(p.DecodeNS)/1000)
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

// ratio returns a figure that is the ratio of two sums over the common period. It returns false for the other
// figures, which are quantiles of packets.
func (d *laneData) ratio(f figure) (paired.Ratio, bool) {
	switch f {
	case figureKbps:
		return d.Kbps(), true
	case figureBits:
		return d.PerChanged(), true
	case figureFailures:
		return d.FailedAMinute(), true
	case figureAge:
		return d.AgeMS(), true
	}
	return paired.Ratio{}, false
}

// times returns the values by packet of figureEncode or figureDecode, of which the median is shown.
func (d *laneData) times(f figure) []float64 {
	if f == figureEncode {
		return d.encode
	}
	return d.decode
}

// figures returns the figures of a lane. All figures of an encoder that sent nothing are unknown, so that
// it is not ranked as the cheapest.
func (d *laneData) figures() rowFigures {
	list := unknownFigures()
	sends := func(bits float64) bool { return bits > 0 }
	if !slices.ContainsFunc(d.Payload, sends) {
		return list
	}
	unordered := make([]float64, 0, len(d.encode))
	for f := range numFigures {
		if ratio, ok := d.ratio(f); ok {
			list[f] = ratio.Value()
		} else if values := d.times(f); len(values) > 0 {
			unordered = append(unordered[:0], values...)
			list[f] = quantile.SelectRank(unordered, 0.5)
		}
	}
	return list
}

// gap compares a lane with the reference by a figure: the ratio, or the difference for failures, because
// the ratio to an encoder that never fails would be infinite. The interval is unknown if the lanes cannot
// be compared.
type gap struct {
	estimate, lo, hi float64
	block            int  // block length of the jackknife, in samples or packets
	known            bool // there are enough data for an interval
	significant      bool
}

// gapTo compares a lane with another one by figure f, with a 95 % confidence interval. The gap is zero if
// the lanes do not have the same samples or packets.
func (d *laneData) gapTo(other *laneData, f figure) gap {
	ownRatio, isRatio := d.ratio(f)
	otherRatio, _ := other.ratio(f)
	if len(d.Payload) != len(other.Payload) { // one of the two did not run all the time
		return gap{}
	}
	if f == figureFailures {
		x := paired.CompareByDifference(ownRatio, otherRatio)
		return gap{x.Estimate, x.Lo, x.Hi, x.Block, x.Known, x.Significant()}
	}
	var x paired.RatioInterval
	own, others := d.times(f), other.times(f)
	switch {
	case isRatio:
		x = paired.CompareByRatio(ownRatio, otherRatio)
	case len(own) == len(others) && len(d.Payload) >= paired.MinPairs:
		x = paired.CompareQuantilesByRatio(own, others, 0.5)
	}
	return gap{x.Ratio, x.Lo, x.Hi, x.Block, x.Known, x.Significant()}
}

// lastMinute returns the payload bits of the samples of the last minute, which a sparkline shows.
func (d *laneData) lastMinute() []float64 {
	return d.Payload[max(len(d.Payload)-minuteSamples, 0):]
}

// unknownFigures returns figures that are all unknown.
func unknownFigures() (list rowFigures) {
	for f := range list {
		list[f] = math.NaN()
	}
	return list
}
