package session

import (
	"math"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// snapshot returns a copy of w.snap with only the samples, packets, marks and effects of the window, and the means at
// its end. Sums over the whole run are those of w.snap, and there are no frames of a window that ends before it.
func (w window) snapshot() *engine.Snapshot {
	snap := *w.snap
	snap.Lanes = make([]engine.Lane, len(w.snap.Lanes))
	for i := range snap.Lanes {
		snap.Lanes[i] = w.cutLane(&w.snap.Lanes[i])
	}
	if w.to > 0 {
		snap.Now, snap.TrialAt, snap.World, snap.Frames = w.to, 0, nil, nil // no effect is being measured in the past
		snap.Effects = before(w.to, snap.Effects, func(e engine.Effect) time.Duration { return e.Until })
		snap.Marks = before(w.to, snap.Marks, func(m engine.Mark) time.Duration { return m.T })
	}
	if snap.Crowd != nil && snap.Crowd.Client != nil {
		crowd := *snap.Crowd
		crowd.Client = window{crowd.Client, w.from, w.to}.snapshot()
		snap.Crowd = &crowd
	}
	return &snap
}

// before returns the elements of a list, in ascending order of their times, up to t.
func before[T any](t time.Duration, list []T, timeOf func(T) time.Duration) []T {
	n := len(list)
	for n > 0 && timeOf(list[n-1]) > t {
		n--
	}
	return list[:n:n]
}

// cutLane returns lane with the samples of the window and, if that ends in the past, with the packets, the encoder and
// the recent figures at its end.
func (w window) cutLane(lane *engine.Lane) engine.Lane {
	l := *lane
	if w.to == 0 { // the window ends at the present, which the figures of lane describe
		l.Samples = meters.Between(l.Samples, w.from, w.snap.Now)
		return l
	}
	l.Samples = meters.Between(l.Samples, w.from, w.to)
	l.History, l.Packets = packetlog.History{}, newestPackets(lane, w.to)
	if n := len(l.Samples); n > 0 {
		l.SetName(l.Samples[n-1].Encoder)
	}
	l.Recent = meters.RecentOf(l.Samples, w.snap.Schema.TickHz)
	l.Recent.EncodeUS, l.Recent.DecodeUS = math.NaN(), math.NaN() // samples do not contain them
	return l
}

// newestPackets returns the packets of a lane that were the newest at time t.
func newestPackets(lane *engine.Lane, t time.Duration) (list []packetlog.Record) {
	end := lane.RecordsUntil(t)
	for n := max(lane.History.First(), end-min(end, engine.ShownPackets)); n < end; n++ {
		list = append(list, *lane.Record(n))
	}
	return list
}
