package lockstep

import (
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
	"wirelab/experiment/view"
)

// CompareBudgets compares what the receivers of the lanes with a budget show, over the period in which all of these
// lanes ran with their present settings. It returns nil if no lane has a budget.
func CompareBudgets(snap *engine.Snapshot) *engine.BudgetComparison {
	isCompared := func(l *engine.Lane) bool { return l.Budget.Bps > 0 && !IsAbsent(snap, l) }
	restarts := func(ch *config.Change) bool { return ch.SetsEncoder() || ch.SetsBudget() }
	began, stored := commonStart(snap, isCompared, restarts)
	from := max(began+engine.WarmUp, stored)
	samples, to := commonSamples(snap, isCompared, from)
	c := &engine.BudgetComparison{FromS: from.Seconds(), ToS: max(from, to).Seconds(),
		Unit: view.UnitOf(snap.Schema)}
	var errors []paired.Ratio // of each compared lane
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		if !isCompared(l) {
			continue
		}
		var bits, seconds, leftOut float64
		var e paired.Ratio
		for k := range samples[i] {
			isCatchingUp := func(other []meters.Sample) bool {
				return len(other) > 0 && other[k].View.CatchingUp
			}
			if slices.ContainsFunc(samples, isCatchingUp) {
				leftOut++
				continue
			}
			v := &samples[i][k].View
			bits += float64(v.Bits)
			seconds += meters.SamplePeriod.Seconds()
			e.Num = append(e.Num, float64(v.Error)/view.ErrorUnit)
			e.Den = append(e.Den, float64(v.Rows))
		}
		c.LeftOutS = leftOut * meters.SamplePeriod.Seconds() // the same of each lane
		errors = append(errors, e)
		c.Lanes = append(c.Lanes, engine.BudgetLane{Lane: l.Letter, Encoder: l.Encoder, Label: l.Name(),
			Policy:    view.OrDefault(l.Budget.Priority).Label(),
			LimitKbps: float64(l.Budget.Bps) / 1000, UsedKbps: figures.RatioFigure(bits/1000, seconds),
			MeanError: figures.Finite(e.Value())})
	}
	if len(c.Lanes) == 0 {
		return nil
	}
	for _, group := range c.ByLimit() {
		best := group[0]
		_, known := c.Lanes[best].MeanError.Value()
		c.Lanes[best].IsBest = known && len(group) > 1
		for _, i := range group[1:] {
			lane := &c.Lanes[i]
			q := paired.CompareByRatio(errors[i], errors[best])
			lane.VsBest = figures.Finite(q.Ratio)
			if q.Known {
				lane.VsBestLo = figures.Finite(q.Lo)
				lane.VsBestHi = figures.Finite(q.Hi)
			}
		}
	}
	return c
}

// commonStart returns when the last of the included lanes of a snapshot was added, or the last change was made for
// which restarts is true, and the start of the oldest sample that all of these lanes still store. The lanes can be
// compared engine.WarmUp after began, as far as their samples are stored.
func commonStart(snap *engine.Snapshot, includes func(*engine.Lane) bool,
	restarts func(*config.Change) bool) (began, stored time.Duration) {
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		if !includes(l) {
			continue
		}
		began = max(began, l.Began)
		if s := l.Samples; len(s) > 0 {
			stored = max(stored, s[0].T-meters.SamplePeriod) // T is the end of the sample
		}
	}
	for i := range snap.Log {
		if c := &snap.Log[i]; c.T <= snap.Now && restarts(&c.Change) {
			began = max(began, c.T)
		}
	}
	return began, stored
}

// commonSamples returns the samples of each lane from the given time on, and their end. Lanes that are not included have
// none; the others have the same number.
func commonSamples(snap *engine.Snapshot, includes func(*engine.Lane) bool,
	from time.Duration) (lists [][]meters.Sample, to time.Duration) {
	lists = make([][]meters.Sample, len(snap.Lanes))
	to = snap.Now
	n := -1
	for i := range snap.Lanes {
		if !includes(&snap.Lanes[i]) {
			continue
		}
		lists[i] = meters.Between(snap.Lanes[i].Samples, from, to)
		k := len(lists[i])
		if k > 0 {
			to = lists[i][k-1].T
		}
		if n < 0 || k < n {
			n = k
		}
	}
	for i, list := range lists { // all end at the same sample, so of each the last n samples are of the same period
		lists[i] = list[max(len(list)-max(n, 0), 0):]
	}
	return lists, to
}
