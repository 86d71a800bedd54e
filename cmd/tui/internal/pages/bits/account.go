package bits

import (
	"slices"
	"time"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// stackUnit is what the height of the areas stands for.
type stackUnit uint8

const (
	byKbps stackUnit = iota
	byShare
	byChanged
	numUnits
)

// account is what the page shows: whose bits, in what unit, and which part is
// looked at.
type account struct {
	snap   *engine.Snapshot
	lanes  []engine.Lane
	used   encoders.Budget // see tally
	parts  []encoders.Slot // charged by any of the two, in their fixed order
	unit   stackUnit
	zoom   int
	chosen int // slot; -1: none
	solo   bool
	second *panes.Second // the lane beside the first
	shown  int           // its number when the page was last drawn
	alone  bool          // where there is room for one chart: that of the second
	newest int64
}

func (a *account) observe(v room.View) bool {
	same := a.snap != nil && len(a.lanes) == len(v.Snap.Lanes) && a.ending(v.Snap) == a.newest &&
		panes.SameMarks(a.snap.Marks, v.Snap.Marks)
	if same && a.shown != a.second.Index(a.lanes) { // another was chosen on another page
		same, v.Slow, v.Spare = false, true, true
	}
	if a.snap != nil && (same || v.Running() && !(v.Slow && v.Spare)) {
		return false
	}
	a.snap, a.lanes, a.newest = v.Snap, v.Snap.Lanes, a.ending(v.Snap)
	a.shown = a.second.Index(a.lanes)
	a.parts = a.parts[:0]
	a.tally()
	for k, u := range a.used.Units {
		if u > 0 {
			a.parts = append(a.parts, encoders.Slot(k))
		}
	}
	if !slices.Contains(a.parts, encoders.Slot(max(a.chosen, 0))) {
		a.chosen, a.solo = -1, false
	}
	return true
}

// ending is the end of the newest sample, in periods.
func (a *account) ending(snap *engine.Snapshot) int64 {
	if len(snap.Lanes) == 0 || len(snap.Lanes[0].Samples) == 0 {
		return 0
	}
	all := snap.Lanes[0].Samples
	return int64(all[len(all)-1].T / meters.SamplePeriod)
}

// tally sums up what both encoders spent in the time that the charts show: a part keeps its
// line though nothing was spent on it lately.
func (a *account) tally() {
	a.used = encoders.Budget{}
	for _, l := range []*engine.Lane{a.first(), a.other()} {
		if l == nil {
			continue
		}
		a.used.Add(&l.Recent.Budget)
		recent := meters.Tail(l.Samples, a.span())
		for i := range recent {
			a.used.Add(&recent[i].Budget)
		}
	}
}

// span is how much time the charts show.
func (a *account) span() time.Duration {
	l := a.first()
	if l == nil {
		return panes.VisibleSpan(panes.ChartSpans(), a.zoom, 0)
	}
	return panes.VisibleSpan(panes.ChartSpans(), a.zoom, time.Duration(len(l.Samples))*meters.SamplePeriod)
}

// first is the encoder under the keys; nil before the first frame.
func (a *account) first() *engine.Lane {
	if len(a.lanes) == 0 {
		return nil
	}
	return &a.lanes[0]
}

// other is the shadow beside it; nil if there is none.
func (a *account) other() *engine.Lane {
	if i := a.second.Index(a.lanes); i > 0 {
		return &a.lanes[i]
	}
	return nil
}

// choose moves among the parts.
func (a *account) choose(n int) {
	if len(a.parts) == 0 {
		return
	}
	at := slices.Index(a.parts, encoders.Slot(max(a.chosen, 0)))
	if a.chosen < 0 {
		at = -1
		if n < 0 {
			at = 0
		}
	}
	at = min(max(at+n, 0), len(a.parts)-1)
	a.chosen = int(a.parts[at])
}

// turn goes to another unit.
func (a *account) turn(n int) {
	a.unit = stackUnit((int(a.unit) + int(numUnits) + n%int(numUnits)) % int(numUnits))
}

// item is what the rows of the data are called.
func (a *account) item() string {
	if a.snap == nil || a.snap.Item == "" {
		return "item"
	}
	return a.snap.Item
}
