package sweep

import (
	"fmt"
	"slices"
	"sync"

	"wirelab/experiment/figures"
)

// Watch keeps the figures of a sweep for somebody who looks on while it runs. Ran, Tell and
// Say are for Options; the rest may be asked at any moment, from any goroutine, and never
// waits for a disk or a run.
type Watch struct {
	Names []string // of the figures
	Axes  []WatchAxis
	plan  *Plan

	mu sync.Mutex
	samples
	seeds []int // of each point that are there
	state WatchState
	known bool // how many runs were there when it began
}

// WatchAxis is an axis of the grid with the values that points have on it.
type WatchAxis struct {
	Key    string
	Values []string
}

// WatchState is how far a sweep is.
type WatchState struct {
	Progress
	First   int      // runs that were there before this sweep began: it went on
	Notices []string // the newest last
	Ended   string   // why it ended; "": it goes on
}

// NewWatch begins to look on.
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

// Ran takes a result.
func (w *Watch) Ran(o Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set(o)
	w.seeds[o.Run/w.plan.Repeat]++
}

// Tell takes how far the sweep is.
func (w *Watch) Tell(p Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Progress = p
	if !w.known {
		w.state.First, w.known = p.Runs, true
	}
}

// Say takes what a person should know.
func (w *Watch) Say(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Notices = append(slices.Clip(w.state.Notices[max(len(w.state.Notices)-maxNotices+1, 0):]), text)
}

// maxNotices is the number of notices that are kept.
const maxNotices = 5

// End notes why the sweep ended.
func (w *Watch) End(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Ended = why
}

// State returns how far the sweep is.
func (w *Watch) State() WatchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Repeat returns how many seeds a point has.
func (w *Watch) Repeat() int { return w.plan.Repeat }

// Point returns the number of the point that has these places on the axes.
func (w *Watch) Point(at []int) (n int) {
	for d, a := range w.Axes {
		n = n*len(a.Values) + at[d]
	}
	return n
}

// Means returns of every point the mean of a figure over the seeds that are there, NaN
// without one, and how many are there.
func (w *Watch) Means(figure int) (means []float64, seeds []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	means = make([]float64, len(w.seeds))
	for p := range means {
		sum, list := 0.0, w.column(p, figure)
		for _, v := range list {
			sum += v
		}
		means[p] = sum / float64(len(list)) // NaN if there is none
	}
	return means, slices.Clone(w.seeds)
}

// Values returns a figure of a point, over the seeds that have it.
func (w *Watch) Values(point, figure int) (list []float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.column(point, figure)
}

// Ratio returns a figure of a point against that of the first, over the seeds that both have.
func (w *Watch) Ratio(point, figure int) figures.Mean {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ratio(point, figure)
}
