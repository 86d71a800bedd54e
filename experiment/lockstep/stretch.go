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

// Stretch is the time that the lanes of a snapshot have in common, with what each of
// them measured in it: all have the same samples.
type Stretch struct {
	From, To time.Duration
	Seams    int // samples left out, for they show how dear a new beginning is and no more
	Lanes    []Series
}

// Series is what one lane measured, one value a sample. It is empty if the lane was not
// there.
type Series struct {
	Payload, Failed, Changed []float64 // bits, packets, rows
	Age, Aged                []float64 // how old what was shown was, in ms, summed over the ticks of the display that showed anything

	across []bool // which samples hold packets that build across a seam
}

// Absent reports whether a lane of a snapshot had not joined yet. Only who looks back
// sees such a lane.
func Absent(snap *engine.Snapshot, l *engine.Lane) bool { return l.Began > 0 && l.Began >= snap.Now }

// Since returns the moment from which all lanes of a snapshot can be compared: after the
// warm-up of the last that joined, or after the encoder of the first was last swapped; and
// as far back as all are remembered.
func Since(snap *engine.Snapshot) time.Duration {
	from := time.Duration(0)
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		if Absent(snap, l) {
			continue
		}
		from = max(from, l.Began)
		if s := l.Samples; len(s) > 0 {
			from = max(from, s[0].T-meters.SamplePeriod-WarmUp)
		}
	}
	for _, c := range snap.Log {
		if c.T <= snap.Now && c.Change.Has("encoder") {
			from = max(from, c.T)
		}
	}
	return from + WarmUp
}

// Gather gathers what the lanes of a snapshot have in common. It takes time in
// proportion to samples and lanes.
func Gather(snap *engine.Snapshot) Stretch {
	x := Stretch{From: Since(snap), To: snap.Now, Lanes: make([]Series, len(snap.Lanes))}
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

// values are all that is measured, one each a sample.
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

// leaveOutSeams drops, for all lanes alike, the samples in which some lane sent packets
// that build on frames from before a seam: what these cost depends on how the data happen
// to end and begin.
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

// Kbps is the payload as a ratio: bits over the time.
func (r *Series) Kbps() paired.Ratio {
	return paired.Ratio{Num: r.Payload, Den: r.each(1000 * meters.SamplePeriod.Seconds())}
}

// PerChanged is the payload as a ratio: bits over changed rows.
func (r *Series) PerChanged() paired.Ratio { return paired.Ratio{Num: r.Payload, Den: r.Changed} }

// FailedAMinute is the packets that failed as a ratio: over the time in minutes.
func (r *Series) FailedAMinute() paired.Ratio {
	return paired.Ratio{Num: r.Failed, Den: r.each(meters.SamplePeriod.Minutes())}
}

// AgeMS is how old what was shown was as a ratio: over the ticks of the display that
// showed anything.
func (r *Series) AgeMS() paired.Ratio { return paired.Ratio{Num: r.Age, Den: r.Aged} }

// each is the same for every sample.
func (r *Series) each(v float64) []float64 {
	out := make([]float64, len(r.Payload))
	for i := range out {
		out[i] = v
	}
	return out
}

// seed makes an interval a function of the data alone.
const seed = 1

// Times returns how many times as much one lane sent as another, with its interval.
func (x *Stretch) Times(i, other int) paired.Quotient {
	return paired.Quotients(x.Lanes[i].Kbps(), x.Lanes[other].Kbps(), seed)
}

// Compare returns the comparison of a snapshot's lanes for a report; nil if nothing ran
// beside the first.
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

// value is the figure of a ratio of bits; none for an encoder that sent nothing: it is not
// the cheapest of all.
func value(r paired.Ratio) figures.Figure {
	if !slices.ContainsFunc(r.Num, func(bits float64) bool { return bits > 0 }) {
		return figures.Figure{}
	}
	return figures.Finite(r.Value())
}
