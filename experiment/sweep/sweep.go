package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
	"wirelab/internal/words"
)

// Options are the options of Run.
type Options struct {
	Clock wallclock.Clock // monotonic wall time, from which the times of saving follow
	// Jobs is how many jobs this machine runs in parallel. With a queue, 0 means that only other
	// machines run jobs; without, it means 1.
	Jobs  int
	Queue *queue // nil means that this machine runs everything
	// Verify is the share of runs, 0 to 1, that this machine repeats at the end to compare the results. If
	// it is 0, VerifyQueued is the share of those runs whose results workers in other processes sent
	// through a queue.
	Verify, VerifyQueued float64
	Store                *Store // nil means that results are in memory only
	// OnProgress is called with the progress of the sweep, by one goroutine at a time. It may be nil.
	OnProgress func(Progress)
	// OnResult is called once with every result, by one goroutine at a time. It may be nil.
	OnResult func(Outcome)
	// OnNotice is called with messages for the user, such as that a worker was refused. It may be nil.
	OnNotice func(text string)

	maxJobRuns int // maximum number of runs of a job; 0 means the default
	run        func(context.Context, *config.Config) (*engine.Result,
		error) // replaces the execution of a run in benchmarks; may be nil
}

// Progress is the progress of a sweep.
type Progress struct {
	Runs, Planned int // runs with a result, and all runs
	Points        int // points whose runs all have a result
	Workers       int // workers that are alive
	Verified      int // runs that were repeated
	ToVerify      int // runs to be repeated
}

// activeSweep is a sweep while Run executes it.
type activeSweep struct {
	plan *Plan
	opt  Options

	mu       sync.Mutex
	records  []record               // by run
	kept     map[int]*engine.Result // by run; nil if the results are in opt.Store
	progress Progress
	sum      *Summary
	unsaved  bool // results were added since the summary was saved
	pace     experiment.Pace
	err      error
	closed   bool               // the work has ended; later results are ignored
	ended    context.Context    // ends when all runs have a result, or after an error
	end      context.CancelFunc // ends ended
	once     sync.Once          // calls end
}

// A record describes the result of a run. The zero record stands for a run without a result.
type record struct {
	done    bool
	worker  string      // the worker that ran it
	queued  bool        // the result is from another process
	content contentHash // of the result
}

// Run runs the runs of the plan that have no result in opt.Store, and returns the summary of all. If
// ctx ends first, the summary covers the results so far and is marked as interrupted; that is not an
// error. On an error the summary is valid too.
func Run(ctx context.Context, p *Plan, opt Options) (*Summary, error) {
	s := newActiveSweep(p, opt)
	skipped, err := opt.Store.Load(p, func(loaded batch, name string) error {
		if err := s.addBatch(loaded, alreadyStored); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(resultsName, name), err)
		}
		return nil
	})
	if err != nil {
		return s.sum, err
	}
	if len(skipped) > 0 {
		s.opt.OnNotice(fmt.Sprintf("%s in %s skipped, missing runs are run again: %v",
			words.Count(len(skipped), "file"), opt.Store.resultsDir(), skipped[0]))
	}
	s.mu.Lock()
	s.reportLocked()
	s.mu.Unlock()
	s.pace = experiment.NewPace(opt.Clock, opt.Clock.Now(), saveEvery)
	if len(s.missing()) > 0 {
		s.runMissing(ctx)
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.finish(nil) // from here on s.err does not change
	interrupted := ctx.Err() != nil && s.err == nil
	if s.err == nil && !interrupted {
		s.err = s.verify(ctx)
		interrupted = ctx.Err() != nil
	}
	s.sum.finish(s.err, interrupted)
	s.mu.Lock()
	defer s.mu.Unlock()
	const last = true
	return s.sum, errors.Join(s.err, s.saveLocked(last))
}

// newActiveSweep returns a sweep without results.
func newActiveSweep(p *Plan, opt Options) *activeSweep {
	if opt.OnNotice == nil {
		opt.OnNotice = func(string) {}
	}
	s := &activeSweep{plan: p, opt: opt, records: make([]record, p.Runs()), sum: newSummary(p)}
	s.ended, s.end = context.WithCancel(context.Background())
	s.progress.Planned = p.Runs()
	if opt.Store == nil {
		s.kept = map[int]*engine.Result{}
	}
	return s
}

// missing returns the numbers of the runs without a result.
func (s *activeSweep) missing() (runs []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.records {
		if !s.records[n].done {
			runs = append(runs, n)
		}
	}
	return runs
}

// runMissing runs jobs, on this machine or through the queue, until all runs have a result, an
// error occurs or ctx ends.
func (s *activeSweep) runMissing(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(s.ended, cancel)
	if s.opt.Queue == nil {
		s.runLocally(ctx)
		return
	}
	if s.opt.Jobs > 0 {
		ended := make(chan struct{})
		opt := WorkerOptions{Jobs: s.opt.Jobs, Name: hostName(), Version: s.plan.Version,
			local: s.executor(), add: s.addOrFinish}
		go func() {
			defer close(ended)
			err := panics.Call(func() error { return Work(ctx, s.opt.Queue, opt) })
			if errors.As(err, new(*panics.Error)) { // other errors end only this machine's workers
				s.finish(err)
			}
		}()
		defer func() { cancel(); <-ended }()
	}
	if err := s.opt.Queue.coordinate(ctx, s); err != nil && ctx.Err() == nil {
		s.finish(err)
	}
}

// jobsPerWorker is the number of jobs for each goroutine without a queue.
const jobsPerWorker = 8

// runLocally runs jobs on opt.Jobs goroutines, without a queue.
func (s *activeSweep) runLocally(ctx context.Context) {
	workers := max(s.opt.Jobs, 1)
	s.setWorkers(workers)
	exec, jobs := s.executor(), s.plan.jobs(s.missing(), jobsPerWorker*workers, s.opt.maxJobRuns)
	err := experiment.Many(ctx, workers, len(jobs), func(ctx context.Context, i int) error {
		return exec.runJob(ctx, jobs[i].Runs, s.addOrFinish)
	})
	if err != nil {
		s.finish(err) // a panic; other errors have ended the sweep already
	}
}

// addOrFinish adds a batch of this process, and ends the sweep if that fails.
func (s *activeSweep) addOrFinish(b batch) error {
	err := s.addBatch(b, storeBatch)
	if err != nil {
		s.finish(err)
	}
	return err
}

// executor returns an executor for this machine.
func (s *activeSweep) executor() *executor {
	x := newExecutor(s.plan, hostName(), s.opt.Clock)
	if s.opt.run != nil { // in benchmarks
		x.run = s.opt.run
	}
	return x
}

// Arguments for the parameter store of addBatch.
const (
	storeBatch    = true
	alreadyStored = false // the batch was loaded from the store
)

// addBatch adds the runs of a batch that have no result yet, and stores them if store is set. It ignores
// batches with runs that are not of the sweep, and those that arrive after the sweep was closed. It
// fails if a figure is impossible, if a run has another result already, if the job failed, or if the
// results cannot be stored.
func (s *activeSweep) addBatch(b batch, store bool) error {
	if err := s.plan.check(&b); errors.As(err, new(*impossibleError)) {
		return fmt.Errorf("the result of worker %.200s is refused: %w", b.Worker, err)
	} else if err != nil {
		return nil
	}
	contents := make([]contentHash, len(b.Runs))
	for i, o := range b.Runs {
		var err error
		if contents[i], err = hashContent(o.Result); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	var added []Outcome
	for i, o := range b.Runs {
		switch r := &s.records[o.Run]; {
		case !r.done:
			added = append(added, o)
			r.content = contents[i]
		case r.content != contents[i]:
			return s.mismatch(o.Run, o.Result, b.Worker)
		}
	}
	b.Runs = added
	if len(added) > 0 && store {
		if err := s.opt.Store.Save(s.plan, b); err != nil {
			return err
		}
	}
	for _, o := range added {
		r := &s.records[o.Run]
		r.done, r.worker, r.queued = true, b.Worker, b.Queued
		s.addRun(o)
	}
	s.unsaved = s.unsaved || len(added) > 0
	if b.Error != "" {
		return fmt.Errorf("%s (on %s)", b.Error, b.Worker)
	}
	if s.progress.Runs == s.progress.Planned {
		s.finish(nil)
	}
	if !store {
		return nil // while loading; Run reports the progress and saves after that
	}
	s.reportLocked()
	const last = false
	return s.saveLocked(last)
}

// addRun adds the first result of a run to the summary and the progress. s.mu is locked.
func (s *activeSweep) addRun(o Outcome) {
	if s.kept != nil {
		s.kept[o.Run] = o.Result
	}
	s.sum.add(o)
	s.progress.Runs++
	if s.sum.Points[o.Run/s.plan.Repeat].Seeds == s.plan.Repeat {
		s.progress.Points++
	}
	if s.opt.OnResult != nil {
		s.opt.OnResult(o)
	}
}

// mismatch returns the error for a run with two different results: the one that the sweep has, and
// other. worker names who computed other: the worker that sent it or, in a verification, this machine.
// The error names the run, both workers and, if the first result can still be read, a figure that differs.
func (s *activeSweep) mismatch(run int, other *engine.Result, worker string) error {
	point := s.plan.Run(run)
	description := describeRun(point.Set, point.Config.Seed)
	before := s.records[run].worker
	text := fmt.Sprintf("%.200s and %.200s got different results for one run, %s: one of them is wrong",
		before, worker, description)
	if before == worker {
		text = fmt.Sprintf("%.200s got two different results for one run, %s: the run is not deterministic there, or its result was altered",
			worker, description)
	}
	first, file := s.kept[run], ""
	if s.opt.Store != nil {
		first, file = s.opt.Store.find(s.plan, run, s.records[run].content)
	}
	if first != nil {
		x, err := contentOf(first)
		y, err2 := contentOf(other)
		if keys := differences(x, y); err == nil && err2 == nil && len(keys) > 0 {
			key := keys[0]
			text += fmt.Sprintf(": %s is %.80s, then %.80s (%s)", strings.TrimPrefix(key, "totals."),
				fmt.Sprint(x[key]), fmt.Sprint(y[key]),
				words.Count(len(keys), "difference"))
		}
	}
	if file != "" {
		text += "; the first result is in " + filepath.Join(resultsName, file)
	}
	return errors.New(text)
}

// finish ends the work, with an error unless err is nil. Only the first call has an effect.
func (s *activeSweep) finish(err error) {
	s.once.Do(func() {
		s.err = err
		s.end()
	})
}

// setWorkers sets the number of workers and reports it.
func (s *activeSweep) setWorkers(workers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.Workers = workers
	if !s.closed {
		s.reportLocked()
	}
}

// reportLocked reports the progress. The caller holds s.mu.
func (s *activeSweep) reportLocked() {
	if s.opt.OnProgress != nil {
		s.opt.OnProgress(s.progress)
	}
}

// saveEvery is the shortest time between two updates of the reports while the sweep runs.
const saveEvery = 5 * time.Second

// saveLocked writes the reports if last is set or if there are new results and the last update, which
// takes long for large grids, is long enough ago. The caller holds s.mu.
func (s *activeSweep) saveLocked(last bool) error {
	switch {
	case s.opt.Store == nil || !last && !s.unsaved:
		return nil
	case last:
		return s.opt.Store.writeReports(s.sum)
	}
	return s.pace.Do(func() error {
		s.unsaved = false
		return s.opt.Store.writeReports(s.sum)
	})
}

// writeReports writes the reports of a sweep: JSON, CSV, Markdown and HTML.
func (s *Store) writeReports(sum *Summary) error {
	sum.updateFigures()
	entries := []atomicfile.Entry{atomicfile.JSON("report.json", sum), {Name: "summary.csv", Write: sum.CSV}}
	if sum.Reason != engine.Unfinished ||
		len(sum.Points) <= maxLivePoints { // a large grid: only when it ends
		entries = append(entries, report.DocumentEntries(sum.Document())...)
	}
	return report.WriteError(s.folder.Update(entries))
}

// maxLivePoints is the largest grid whose report.md and report.html are updated while the sweep runs. For
// larger ones they are written at the end only.
const maxLivePoints = 500
