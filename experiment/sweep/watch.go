package sweep

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// Watch collects the figures of a sweep while it runs, for a display. Its methods AddResult, SetProgress and AddNotice
// are callbacks for Options. All methods are safe for concurrent use and return at once: none waits
// for a disk or a run.
type Watch struct {
	Names []string // of the figures
	Axes  []WatchAxis
	plan  *Plan

	mu sync.Mutex
	samples
	seeds    []int // number of results of each point
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
	w := &Watch{plan: p, samples: newSamples(p), seeds: make([]int, len(p.Points))}
	w.Names = w.names
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
func (w *Watch) AddResult(o Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set(o)
	w.seeds[o.Run/w.plan.Repeat]++
}

// SetProgress sets the progress of the sweep. The results in the first call are those that were loaded: it also
// sets First.
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
	w.state.Notices = append(slices.Clip(newest), text) // clipped to copy: callers of State share the old slice
}

// maxNotices is the number of notices that are stored; older ones are dropped.
const maxNotices = 5

// SetEnded records why the sweep ended.
func (w *Watch) SetEnded(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Ended = why
}

// State returns a copy of the progress.
func (w *Watch) State() WatchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
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

// Means returns, for every point, the mean of a figure over its results so far (NaN if no result has
// the figure) and the number of results. figure is an index in Names.
func (w *Watch) Means(figure int) (means []float64, seeds []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	means = make([]float64, len(w.seeds))
	for p := range means {
		sum, list := 0.0, w.pointValues(p, figure)
		for _, v := range list {
			sum += v
		}
		means[p] = sum / float64(len(list)) // 0/0 is NaN
	}
	return means, slices.Clone(w.seeds)
}

// Values returns a figure of the results of a point, without results that lack it.
func (w *Watch) Values(point, figure int) (list []float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pointValues(point, figure)
}

// Mean returns the mean of a figure over the results of a point that have it. Without one N is 0.
func (w *Watch) Mean(point, figure int) figures.Mean {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mean(point, figure)
}

// Ratio returns the ratio of a figure of a point to that of the point reference, over the seeds for which
// both points have it. Without such a seed N is 0.
func (w *Watch) Ratio(point, reference, figure int) figures.Mean {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ratio(point, reference, figure)
}

// Points returns the points of the grid, by number. The caller must not modify them.
func (w *Watch) Points() []config.Point { return w.plan.Points }

// WriteCSV writes one row for each point of list, in this order: its settings, the number of seeds, and for each
// figure the mean and the ratio to the point reference, both with their intervals. Unknown values are empty.
func (w *Watch) WriteCSV(out io.Writer, list []int, reference int) error {
	var heads []string
	for _, a := range w.Axes {
		heads = append(heads, a.Key)
	}
	heads = append(heads, "seeds")
	for _, name := range w.Names {
		heads = append(heads, name, name+".lo", name+".hi", name+".ratio_to_reference", name+".ratio_lo", name+".ratio_hi")
	}
	t := texttable.New(heads...)
	for _, point := range list {
		var settings, row []string
		for _, a := range w.Axes {
			settings = append(settings, w.plan.Points[point].Set[a.Key])
		}
		for f := range w.Names {
			row = append(append(row, csvCells(w.Mean(point, f))...), csvCells(w.Ratio(point, reference, f))...)
		}
		w.mu.Lock()
		seeds := w.seeds[point]
		w.mu.Unlock()
		t.Add(settings, seeds, row)
	}
	return t.WriteCSV(out)
}
