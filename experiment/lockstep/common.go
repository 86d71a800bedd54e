package lockstep

import (
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
)

// A CommonPeriod is the period in which all lanes of a snapshot can be compared, with their samples.
type CommonPeriod struct {
	From, To    time.Duration
	IsRun       bool     // the only lane was never swapped; the period is the run, as far as its samples are stored
	LoopSamples int      // number of samples left out because of a loop point: see dropLoopSamples
	Lanes       []Series // all with the same sample periods
}

// A Series holds the measurements of one lane, one value per sample. It is empty if the lane is absent.
type Series struct {
	Payload, Failed, Changed []float64 // bits, packets, rows
	Age, Aged                []float64 // sum of the ages of displayed frames in ms, and their number

	acrossLoop []bool // samples with packets whose baseline is from before a loop point
}

// IsAbsent reports whether a lane was added after the time of the snapshot, which is possible only while the
// time cursor is in the past.
func IsAbsent(snap *engine.Snapshot, l *engine.Lane) bool { return l.Began > 0 && l.Began >= snap.Now }

// CommonSamples returns the period in which the lanes of a snapshot can be compared, with the samples of
// each lane. Absent lanes have none; the others have the same number. Samples with loop points are left
// out.
func CommonSamples(snap *engine.Snapshot) CommonPeriod {
	isPresent := func(l *engine.Lane) bool { return !IsAbsent(snap, l) }
	began, stored := commonStart(snap, isPresent, (*config.Change).SetsEncoder)
	x := CommonPeriod{From: max(began+engine.WarmUp, stored), Lanes: make([]Series, len(snap.Lanes))}
	if len(snap.Lanes) == 1 && began == 0 {
		x.From, x.IsRun = stored, true
	}
	samples, to := commonSamples(snap, isPresent, x.From)
	x.To = to
	for i := range samples {
		if isPresent(&snap.Lanes[i]) {
			x.Lanes[i] = newSeries(samples[i])
		}
	}
	x.dropLoopSamples()
	return x
}

// values returns pointers to the lists of the series, so that all can be processed alike.
func (r *Series) values() [5]*[]float64 {
	return [5]*[]float64{&r.Payload, &r.Failed, &r.Changed, &r.Age, &r.Aged}
}

// newSeries returns the series of a lane with the given samples. Its lists share one allocation.
func newSeries(samples []meters.Sample) Series {
	n := len(samples)
	series := Series{acrossLoop: make([]bool, n)}
	room := make([]float64, len(series.values())*n)
	for i, v := range series.values() {
		*v = room[i*n : (i+1)*n : (i+1)*n]
	}
	for k := range samples {
		s := &samples[k]
		series.Payload[k], series.Failed[k], series.Changed[k] = float64(s.PayloadBits),
			float64(s.Failed()), float64(s.Changed)
		series.Age[k], series.Aged[k] = s.Age.Seconds()*1000, float64(s.Aged)
		series.acrossLoop[k] = s.CrossingLoop > 0
	}
	return series
}

// dropLoopSamples removes, for all lanes, the samples in which any lane sent packets whose baseline is from
// before a loop point. Their size depends only on how different end and start of the recording are.
func (x *CommonPeriod) dropLoopSamples() {
	n, remaining := 0, 0
	for i := range x.Lanes {
		n = max(n, len(x.Lanes[i].acrossLoop))
	}
	for k := range n {
		if slices.ContainsFunc(x.Lanes, func(r Series) bool {
			return len(r.acrossLoop) > 0 &&
				r.acrossLoop[k]
		}) {
			continue
		}
		for i := range x.Lanes { // move sample k of every lane that is not absent
			if r := &x.Lanes[i]; len(r.acrossLoop) > 0 {
				for _, v := range r.values() {
					(*v)[remaining] = (*v)[k]
				}
			}
		}
		remaining++
	}
	x.LoopSamples = n - remaining
	for i := range x.Lanes {
		r := &x.Lanes[i]
		for _, v := range r.values() {
			*v = (*v)[:min(remaining, len(*v))]
		}
		r.acrossLoop = nil
	}
}

// Kbps returns the payload as a ratio of bits and time.
func (r *Series) Kbps() paired.Ratio {
	return paired.Ratio{Num: r.Payload, Den: r.constant(1000 * meters.SamplePeriod.Seconds())}
}

// PerChanged returns the payload as a ratio of bits and changed rows.
func (r *Series) PerChanged() paired.Ratio { return paired.Ratio{Num: r.Payload, Den: r.Changed} }

// FailedAMinute returns the failed packets per minute, as a ratio of packets and minutes.
func (r *Series) FailedAMinute() paired.Ratio {
	return paired.Ratio{Num: r.Failed, Den: r.constant(meters.SamplePeriod.Minutes())}
}

// AgeMS returns the age of displayed frames as a ratio of milliseconds and display ticks.
func (r *Series) AgeMS() paired.Ratio { return paired.Ratio{Num: r.Age, Den: r.Aged} }

// constant returns a list with v for every sample.
func (r *Series) constant(v float64) []float64 {
	out := make([]float64, len(r.Payload))
	for i := range out {
		out[i] = v
	}
	return out
}

// PayloadRatio returns the payload of lane i divided by that of lane other, with its confidence interval.
func (x *CommonPeriod) PayloadRatio(i, other int) paired.RatioInterval {
	return paired.CompareByRatio(x.Lanes[i].Kbps(), x.Lanes[other].Kbps())
}

// Compare returns the comparison of a snapshot's lanes for a report; nil if there is only one lane.
func Compare(snap *engine.Snapshot) *engine.Comparison {
	if len(snap.Lanes) < 2 {
		return nil
	}
	x := CommonSamples(snap)
	omitted := time.Duration(x.LoopSamples) * meters.SamplePeriod // the time of samples with loop points
	c := &engine.Comparison{FromS: x.From.Seconds(), ToS: max(x.From, x.To).Seconds(),
		SeamS: omitted.Seconds()}
	for i := range x.Lanes {
		l := &x.Lanes[i]
		lane := engine.ComparedLane{Lane: snap.Lanes[i].Letter, Label: snap.Lanes[i].Name(),
			PayloadKbps: finiteValue(l.Kbps()), BitsPerChanged: finiteValue(l.PerChanged())}
		if i > 0 && !IsAbsent(snap, &snap.Lanes[i]) {
			q := x.PayloadRatio(i, 0) // to lane 0, the active encoder
			lane.Times = figures.Finite(q.Ratio)
			if q.Known {
				lane.TimesLo, lane.TimesHi = figures.Finite(q.Lo), figures.Finite(q.Hi)
			}
		}
		c.Lanes = append(c.Lanes, lane)
	}
	if b := CompareBudgets(snap); b != nil && len(b.Lanes) > 1 {
		c.Budgets = b
	}
	return c
}

// finiteValue returns the value of a ratio of bits. An encoder that sent nothing has no figure, because
// 0 would be the best one.
func finiteValue(r paired.Ratio) figures.Figure {
	if !slices.ContainsFunc(r.Num, func(bits float64) bool { return bits > 0 }) {
		return figures.Figure{}
	}
	return figures.Finite(r.Value())
}
