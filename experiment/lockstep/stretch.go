package lockstep

import (
	"math"
	"slices"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
)

// Stretch is the time that the lanes of a snapshot have in common, with what each of them measured
// in it. All have samples of the same periods.
type Stretch struct {
	From, To time.Duration
	Seams    int // samples left out because the recording restarted: they measure only the cost of that
	Lanes    []Series
}

// Series is what one lane measured, one value per sample. It is empty if the lane had not joined.
type Series struct {
	Payload, Failed, Changed []float64 // bits, packets, rows
	Age, Aged                []float64 // age of what was shown, in ms, summed over the display ticks counted in Aged

	across []bool // which samples hold packets that build across a seam
}

// Absent reports whether a lane of a snapshot had not joined yet, which happens only in snapshots of
// the past.
func Absent(snap *engine.Snapshot, l *engine.Lane) bool { return l.Began > 0 && l.Began >= snap.Now }

// since returns the moment from which all lanes of a snapshot can be compared: after the warm-up of
// the last that joined, after the encoder of the first was last swapped, and not before the oldest
// sample that all keep.
func since(snap *engine.Snapshot) time.Duration {
	from := time.Duration(0)
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		if Absent(snap, l) {
			continue
		}
		from = max(from, l.Began)
		if s := l.Samples; len(s) > 0 {
			from = max(from, s[0].T-meters.SamplePeriod-engine.WarmUp)
		}
	}
	for _, c := range snap.Log {
		if c.T <= snap.Now && c.Change.SetsEncoder() {
			from = max(from, c.T)
		}
	}
	return from + engine.WarmUp
}

// Gather gathers what the lanes of a snapshot have in common. It takes time in
// proportion to samples and lanes.
func Gather(snap *engine.Snapshot) Stretch {
	x := Stretch{From: since(snap), To: snap.Now, Lanes: make([]Series, len(snap.Lanes))}
	n := math.MaxInt
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		if Absent(snap, l) {
			continue
		}
		samples := meters.Between(l.Samples, x.From, x.To)
		if k := len(samples); k > 0 {
			x.To = samples[k-1].T
		}
		x.Lanes[i] = series(samples)
		n = min(n, len(samples))
	}
	for i := range x.Lanes { // all end at the same sample
		r := &x.Lanes[i]
		for _, v := range r.values() {
			*v = (*v)[max(len(*v)-n, 0):]
		}
		r.across = r.across[max(len(r.across)-n, 0):]
	}
	x.leaveOutSeams()
	return x
}

// values returns pointers to all lists of values.
func (r *Series) values() [5]*[]float64 {
	return [5]*[]float64{&r.Payload, &r.Failed, &r.Changed, &r.Age, &r.Aged}
}

func series(samples []meters.Sample) Series {
	n := len(samples)
	r := Series{across: make([]bool, n)}
	room := make([]float64, len(r.values())*n)
	for i, v := range r.values() {
		*v = room[i*n : (i+1)*n : (i+1)*n]
	}
	for k := range samples {
		s := &samples[k]
		r.Payload[k], r.Failed[k], r.Changed[k] = float64(s.PayloadBits), float64(s.Failed()), float64(s.Changed)
		r.Age[k], r.Aged[k] = s.Age.Seconds()*1000, float64(s.Aged)
		r.across[k] = s.Across > 0
	}
	return r
}

// leaveOutSeams drops, for all lanes, the samples in which any lane sent packets that build on frames
// from before a restart of the recording (a seam): their cost depends only on how the data end and
// begin.
func (x *Stretch) leaveOutSeams() {
	n, kept := 0, 0
	for i := range x.Lanes {
		n = max(n, len(x.Lanes[i].across))
	}
	for k := range n {
		if slices.ContainsFunc(x.Lanes, func(r Series) bool { return len(r.across) > 0 && r.across[k] }) {
			continue
		}
		for i := range x.Lanes {
			if r := &x.Lanes[i]; len(r.across) > 0 {
				for _, v := range r.values() {
					(*v)[kept] = (*v)[k]
				}
			}
		}
		kept++
	}
	x.Seams = n - kept
	for i := range x.Lanes {
		r := &x.Lanes[i]
		for _, v := range r.values() {
			*v = (*v)[:min(kept, len(*v))]
		}
		r.across = nil
	}
}

// Kbps returns the payload as a ratio of bits and time.
func (r *Series) Kbps() paired.Ratio {
	return paired.Ratio{Num: r.Payload, Den: r.each(1000 * meters.SamplePeriod.Seconds())}
}

// PerChanged returns the payload as a ratio of bits and changed rows.
func (r *Series) PerChanged() paired.Ratio { return paired.Ratio{Num: r.Payload, Den: r.Changed} }

// FailedAMinute returns the failed packets as a ratio of packets and minutes.
func (r *Series) FailedAMinute() paired.Ratio {
	return paired.Ratio{Num: r.Failed, Den: r.each(meters.SamplePeriod.Minutes())}
}

// AgeMS returns the age of what was shown, as a ratio of milliseconds and display ticks.
func (r *Series) AgeMS() paired.Ratio { return paired.Ratio{Num: r.Age, Den: r.Aged} }

// each returns v for every sample.
func (r *Series) each(v float64) []float64 {
	out := make([]float64, len(r.Payload))
	for i := range out {
		out[i] = v
	}
	return out
}

// seed of the intervals: a constant, so that they depend only on the data.
const seed = 1

// Times returns the payload of one lane divided by that of another, with its interval.
func (x *Stretch) Times(i, other int) paired.Quotient {
	return paired.Quotients(x.Lanes[i].Kbps(), x.Lanes[other].Kbps(), seed)
}

// Compare returns the comparison of a snapshot's lanes for a report; nil without shadows.
func Compare(snap *engine.Snapshot) *engine.Comparison {
	if len(snap.Lanes) < 2 {
		return nil
	}
	x := Gather(snap)
	seams := time.Duration(x.Seams) * meters.SamplePeriod
	c := &engine.Comparison{FromS: x.From.Seconds(), ToS: max(x.From, x.To).Seconds(), SeamS: seams.Seconds()}
	for i := range x.Lanes {
		l := &x.Lanes[i]
		lane := engine.ComparedLane{Label: snap.Lanes[i].Name(), PayloadKbps: value(l.Kbps()), BitsPerChanged: value(l.PerChanged())}
		if i > 0 {
			q := x.Times(i, 0)
			lane.Times = figures.Finite(q.Times)
			if q.Known {
				lane.TimesLo, lane.TimesHi = figures.Finite(q.Lo), figures.Finite(q.Hi)
			}
		}
		c.Lanes = append(c.Lanes, lane)
	}
	return c
}

// value returns the figure of a ratio of bits; none for an encoder that sent nothing, which would
// otherwise look the cheapest.
func value(r paired.Ratio) figures.Figure {
	if !slices.ContainsFunc(r.Num, func(bits float64) bool { return bits > 0 }) {
		return figures.Figure{}
	}
	return figures.Finite(r.Value())
}
