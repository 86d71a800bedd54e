package sweep

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// Watch collects the figures of a sweep while it runs, for a display. Its methods AddResult, SetProgress
// and AddNotice are callbacks for Options. All methods are safe for concurrent use and return at once:
// none waits for a disk or a run.
type Watch struct {
	Axes []WatchAxis
	*samples

	mu       sync.Mutex
	state    WatchState
	hasFirst bool // state.First has been set
}

// WatchAxis is an axis of the grid with the values that points have on it.
type WatchAxis struct {
	Key    string
	Values []string
}

// WatchState is the progress of a sweep.
type WatchState struct {
	Progress
	First   int      // number of results loaded from the folder of a resumed sweep
	Notices []string // messages for the user, the newest last
	Ended   string   // why the sweep ended; "" while it runs
}

// NewWatch returns a Watch for the sweep of p.
func NewWatch(p *Plan) *Watch {
	w := &Watch{samples: newSamples(p)}
	for _, axis := range p.Config.Axes() {
		a := WatchAxis{Key: axis.Key}
		for _, v := range axis.Values {
			a.Values = append(a.Values, fmt.Sprint(v))
		}
		w.Axes = append(w.Axes, a)
	}
	w.state.Planned = p.Runs()
	return w
}

// AddResult adds the result of a run.
func (w *Watch) AddResult(o Outcome) { w.add(o) }

// SetProgress sets the progress of the sweep. The results in the first call are those that were loaded:
// it also sets First.
func (w *Watch) SetProgress(p Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Progress = p
	if !w.hasFirst {
		w.state.First, w.hasFirst = p.Runs, true
	}
}

// AddNotice adds a notice for the user.
func (w *Watch) AddNotice(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	newest := w.state.Notices[max(len(w.state.Notices)-(maxNotices-1), 0):]
	w.state.Notices = append(slices.Clip(newest),
		text) // clipped to copy: callers of State share the old slice
}

// maxNotices is the number of notices that are stored; older ones are dropped.
const maxNotices = 5

// SetEnded records why the sweep ended.
func (w *Watch) SetEnded(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Ended = why
}

// State returns a copy of the progress. Until the first call of SetProgress it counts the results, which are loaded then.
func (w *Watch) State() WatchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	if w.hasFirst {
		return s
	}
	for point := range w.plan.Points {
		seeds := w.seeds(point)
		s.Runs += seeds
		if seeds == w.Repeat() {
			s.Points++
		}
	}
	s.First = s.Runs
	return s
}

// Repeat returns the number of seeds of each point.
func (w *Watch) Repeat() int { return w.plan.Repeat }

// PointIndex returns the number of the point whose value on axis i is Axes[i].Values[at[i]].
func (w *Watch) PointIndex(at []int) (n int) {
	for d, a := range w.Axes {
		n = n*len(a.Values) + at[d]
	}
	return n
}

// Means returns, for every point, the mean of a figure over its results so far and the number of results. figure is
// an index in Names.
func (w *Watch) Means(figure int) (means []figures.Mean, seeds []int) {
	for point := range w.plan.Points {
		means = append(means, w.Mean(point, figure))
		seeds = append(seeds, w.seeds(point))
	}
	return means, seeds
}

// Points returns the points of the grid, by number. The caller must not modify them.
func (w *Watch) Points() []config.Point { return w.plan.Points }

// WriteCSV writes the figures of the points of list, in this order, with their ratios to the point reference.
func (w *Watch) WriteCSV(out io.Writer, list []int, reference int) error {
	return w.writeCSV(out, list, reference, "reference")
}
