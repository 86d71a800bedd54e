package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// Options are how a sweep is run.
type Options struct {
	Clock wallclock.Clock // monotonic wall time: for the size of jobs, and for what is told
	// Jobs is how many run side by side on this machine; with a queue 0 is none.
	Jobs  int
	Queue *queue // nil: this machine's cores alone
	// Verify is the share of runs, 0 to 1, that this machine repeats when all are there.
	Verify float64
	Store  *Store // nil: results are kept in memory only
	// Tell hears, from one goroutine at a time, how far the sweep is. nil: nobody asks.
	Tell func(Progress)
	// Ran hears of every result, once each, from one goroutine at a time.
	Ran func(Outcome)
	// Say hears what a person should know: a worker that was refused. nil: nobody.
	Say func(text string)

	chunk int                                                           // runs of a job at most; 0: maxChunk
	run   func(context.Context, *config.Config) (*engine.Result, error) // in place of a run, for benchmarks
}

// Progress is how far a sweep is.
type Progress struct {
	Runs, Planned int // runs
	Points        int // of which all runs are there
	Workers       int // alive
	Verified      int // runs that were repeated, of Verify
	Verify        int
}

// state is a sweep under way.
type state struct {
	plan   *Plan
	opt    Options
	chunks *chunks

	mu       sync.Mutex
	workers  []string // who ran it
	progress Progress
	sum      *Summary
	news     bool // since the summary was saved last
	pace     experiment.Pace
	failed   error
	closed   bool          // the work has ended: what still comes changes nothing
	done     chan struct{} // closed when no result is missing, or when it failed
	once     sync.Once
	helpers  chan struct{} // closed when this machine's own workers of the queue have ended; nil: there are none
}

// Run runs what is missing of the plan and returns what there is then. When ctx ends it
// returns what was measured until then, marked as interrupted, and no error.
func Run(ctx context.Context, p *Plan, opt Options) (*Summary, error) {
	s := newState(p, opt)
	skipped, err := opt.Store.Load(p, func(d jobResult) error { return s.take(d, false) })
	if err != nil {
		return s.sum, err
	}
	if skipped > 0 {
		s.opt.Say(fmt.Sprintf("%d files in %s are no results of this sweep, or not whole: what they should hold is run again", skipped, opt.Store.results()))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.tellLocked()
	s.mu.Unlock()
	s.pace = experiment.NewPace(opt.Clock, opt.Clock.Now(), saveEvery)
	if runs, _ := s.chunks.unfinished(); runs > 0 {
		s.work(ctx)
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.finish(nil) // unless it has ended: then s.failed is settled
	interrupted := ctx.Err() != nil && s.failed == nil
	if s.failed == nil && !interrupted {
		s.failed = s.verify(ctx)
		interrupted = ctx.Err() != nil
	}
	s.sum.end(s.failed, interrupted)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum, errors.Join(s.failed, s.saveLocked(true))
}

func newState(p *Plan, opt Options) *state {
	if opt.Say == nil {
		opt.Say = func(string) {}
	}
	n := p.Runs()
	s := &state{plan: p, opt: opt, chunks: newChunks(p, opt.Clock), workers: make([]string, n), done: make(chan struct{}), sum: newSummary(p)}
	s.progress.Planned = n
	if opt.chunk > 0 {
		s.chunks.maxRuns = opt.chunk
	}
	return s
}

// work has the jobs done, here or elsewhere, until nothing is missing.
func (s *state) work(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go panics.Guard(s.finish, func() {
		select {
		case <-s.done:
			cancel()
		case <-ctx.Done():
		}
	})()
	if s.opt.Queue != nil {
		if s.opt.Jobs > 0 {
			ended := make(chan struct{})
			s.helpers = ended
			go func() {
				defer close(ended)
				err := panics.Call(func() error {
					return Work(ctx, s.opt.Queue, WorkerOptions{Clock: s.opt.Clock, Jobs: s.opt.Jobs, Name: hostName(),
						Version: s.plan.Version, known: s.executor()})
				})
				if errors.As(err, new(*panics.Error)) {
					s.finish(err)
				}
			}()
			defer func() { cancel(); <-ended }()
		}
		if err := s.opt.Queue.coordinate(ctx, s); err != nil && ctx.Err() == nil {
			s.finish(err)
		}
		return
	}
	s.cores(ctx)
}

// cores runs jobs on this machine's cores.
func (s *state) cores(ctx context.Context) {
	jobs := max(s.opt.Jobs, 1)
	s.chunks.setWorkers(jobs)
	s.alive(jobs)
	x := s.executor()
	panics.Each(jobs, jobs, func(int) error {
		panics.Guard(s.finish, func() {
			for ctx.Err() == nil {
				j, ok := s.chunks.take()
				if !ok {
					return // other goroutines run what is missing
				}
				d, _ := x.do(ctx, j)
				if err := s.take(d, true); err != nil {
					s.finish(err)
				}
			}
		})()
		return nil
	})
}

// executor runs jobs on this machine.
func (s *state) executor() *executor {
	x := newExecutor(s.plan, hostName(), s.opt.Clock)
	if s.opt.run != nil {
		x.run = s.opt.run
	}
	return x
}

// take takes what a job came to, and keeps it if it is news.
func (s *state) take(d jobResult, keep bool) error {
	if err := s.plan.accepts(&d); err != nil {
		return nil // of another sweep: nothing to us
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	var fresh []Outcome
	for _, o := range d.Runs {
		switch was := s.sum.digests[o.Run]; {
		case was == "":
			fresh = append(fresh, o)
		case was != o.Result.Digests():
			return s.differ(o.Run, d.Worker, s.workers[o.Run])
		}
	}
	if len(fresh) > 0 && keep {
		news := d
		news.Runs = fresh
		if err := s.opt.Store.Save(s.plan, news); err != nil {
			return err
		}
	}
	for _, o := range fresh {
		s.workers[o.Run] = d.Worker
		s.chunks.markDone(o.Run)
		s.sum.add(o)
		s.progress.Runs++
		if s.sum.Points[o.Run/s.plan.Repeat].Seeds == s.plan.Repeat {
			s.progress.Points++
		}
		if s.opt.Ran != nil {
			s.opt.Ran(o)
		}
	}
	s.chunks.endJob(d.Key, d.Seconds, len(d.Runs))
	s.news = s.news || len(fresh) > 0
	if d.Error != "" {
		return fmt.Errorf("%s (on %s)", d.Error, d.Worker)
	}
	if s.progress.Runs == s.progress.Planned {
		s.finish(nil)
	}
	if !keep {
		return nil // loaded: it is told, and saved with what follows, when all of it is
	}
	s.tellLocked()
	return s.saveLocked(false)
}

// differ says that two workers came to different results of one run.
func (s *state) differ(run int, a, b string) error {
	point := s.plan.Run(run)
	return &differError{Set: point.Set, Seed: point.Config.Seed, Workers: [2]string{a, b}}
}

// differError says that two machines came to different results of one run.
type differError struct {
	Set     map[string]string
	Seed    uint64
	Workers [2]string
}

// Error names both machines.
func (e *differError) Error() string {
	if e.Workers[0] == e.Workers[1] {
		return fmt.Sprintf("%s came to two results of one run, %s: it is not deterministic there", e.Workers[0], place(e.Set, e.Seed))
	}
	return fmt.Sprintf("%s and %s came to different results of one run, %s: one of them cannot be trusted", e.Workers[0], e.Workers[1],
		place(e.Set, e.Seed))
}

// finish ends the work: with err, because of it.
func (s *state) finish(err error) {
	s.once.Do(func() {
		s.failed = err
		close(s.done)
	})
}

// alive notes how many workers there are.
func (s *state) alive(workers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.Workers = workers
	if !s.closed {
		s.tellLocked()
	}
}

func (s *state) tellLocked() {
	if s.opt.Tell != nil {
		s.opt.Tell(s.progress)
	}
}

// saveEvery is how often the pages of a folder are written anew while results come in.
const saveEvery = 5 * time.Second

// saveLocked writes the pages of the folder, if it is time or the last time. Pages of a
// large grid take a while.
func (s *state) saveLocked(last bool) error {
	switch {
	case s.opt.Store == nil || !last && !s.news:
		return nil
	case last:
		return s.opt.Store.pages(s.sum)
	}
	return s.pace.Do(func() error {
		s.news = false
		return s.opt.Store.pages(s.sum)
	})
}

// pages writes the pages of a sweep for people and for other programs.
func (s *Store) pages(sum *Summary) error {
	sum.reckon()
	entries := []atomicfile.Entry{
		atomicfile.JSON("report.json", sum),
		{Name: "report.md", Write: sum.markdown},
		{Name: "summary.csv", Write: sum.CSV},
	}
	if sum.Reason != engine.Unfinished || len(sum.Points) <= manyPoints {
		entries = append(entries, atomicfile.Entry{Name: "report.html", Write: sum.Write})
	}
	return report.WriteError(s.folder.Update(entries))
}

// manyPoints is from where on the page for a browser is written at the end alone.
const manyPoints = 500
