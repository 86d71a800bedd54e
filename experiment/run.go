package experiment

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/page"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/wallclock"
)

// RunOptions are what a headless run gets from its caller.
type RunOptions struct {
	// Progress receives the seconds of virtual time that are done, and the total of all runs; 0 if
	// unknown. One goroutine at a time calls it.
	Progress func(done, total float64)
	// Packing receives the progress of the patches that are made before a run begins; in a sweep
	// several goroutines call it.
	Packing func(encoder string, done, total float64)
	Clock   wallclock.Clock     // monotonic wall time, for timings and for the pace of saving
	Dir     string              // the report's folder, written at most once a second and at the end; "" for none
	Force   bool                // overwrite the report of another run in Dir, and exceed the memory limit of engine.Checker
	Disk    *atomicfile.Disk    // where Dir is; nil: the machine's file system
	Workers int                 // concurrent runs in a sweep; 0: one per core
	Remote  *remote.Link        // link to a receiver elsewhere, in real time; nil: the receiver is in this process
	Packs   *delivery.PackCache // patches of earlier runs, shared by the runs; nil: none
	files   *report.Files       // the data files that the runs read, shared by the runs
	scribe  *scribe             // writes the report of a run in real time; nil: none
}

// slice is the virtual time between two checks of the context. If a slice takes longer than
// tooLong, thinSlice is used: a single frame of tens of thousands of cubes can take a second.
const (
	slice     = 100 * time.Millisecond
	thinSlice = slice / 8
	tooLong   = int64(200 * time.Millisecond) // of wall time, for a slice
)

// Run runs an experiment as fast as it can, all points of its sweep if it has one. If ctx ends, it
// returns what was measured until then, marked Interrupted, and no error. If reading the data or
// writing the report fails, it returns both: what was measured until then, and the error.
func Run(ctx context.Context, c *config.Config, opt RunOptions) (*report.Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if opt.Remote != nil && len(c.Sweep) > 0 {
		return nil, &config.Error{Key: "sweep", Problem: "a sweep runs as fast as it can, and a network as fast as it is",
			Expected: "one run with --to or --udp, or a sweep without"}
	}
	var folder *atomicfile.Folder
	if opt.Dir != "" {
		var err error
		if folder, err = report.OpenFolder(opt.Disk, opt.Dir, opt.Force); err != nil {
			return nil, err
		}
		defer func() { _ = folder.Close() }() // a second Close if the run began
	}
	opt.Clock, opt.files = opt.Clock.Steady(), &report.Files{}
	if len(c.Sweep) > 0 {
		return sweep(ctx, c, opt, folder)
	}
	r := &report.Report{Planned: 1}
	result, err := runOne(ctx, c, opt, report.NewExporter(folder, nil, opt.files, page.Pages()))
	if result != nil {
		r.Runs, r.Interrupted = []*engine.Result{result}, result.Interrupted
	}
	r.End(err)
	return r, err
}

// inspected is the number of packets that are kept to explain later packets: 17 s of packets.
const inspected = 1024

// runOne runs a single configuration and keeps the folder of out current, if any. With an
// error it also returns what was measured until then, nil if the run did not begin.
func runOne(ctx context.Context, c *config.Config, opt RunOptions, out *report.Exporter) (*engine.Result, error) {
	so := engine.Options{Clock: opt.Clock, Packs: opt.Packs, Force: opt.Force, KeepSamples: 1,
		Observer: out.Observer()}
	if opt.Remote != nil {
		so.Network = opt.Remote
	}
	if opt.Remote.Live() && so.Observer != nil {
		opt.scribe = newScribe(out, opt.Clock)
		so.Observer = opt.scribe
	}
	if len(c.Shadows) > 0 || slices.ContainsFunc(c.At, func(x config.StampedChange) bool { return len(x.Change.Shadows) > 0 }) {
		so.KeepSamples = liveSamples // to compare the lanes by
	}
	so.Inspect, so.KeepPackets = so.Observer != nil, inspected
	if c.Find == nil && opt.files != nil {
		c = c.Clone()
		c.Find = opt.files.Note
	}
	s, err := engine.NewSession(ctx, c, so)
	if err != nil {
		opt.scribe.close()
		return nil, err
	}
	if so.Observer != nil {
		opt.files.List(".") // reads large files now, rather than while a report is due
	}
	if err := s.Pack(opt.newPacking(ctx)); err != nil && ctx.Err() == nil {
		opt.scribe.close()
		return nil, errors.Join(err, s.Close())
	}
	result, err := drive(ctx, s, opt, out)
	if result != nil {
		result.Files = opt.files.List(".")
	}
	return result, errors.Join(err, s.Close(), out.Close())
}

// newPacking returns a delivery.Packing that reports progress to o.Packing, if set, and cancels the
// work when ctx ends.
func (o *RunOptions) newPacking(ctx context.Context) *delivery.Packing {
	return &delivery.Packing{Clock: o.Clock, Progress: func(encoder string, done, total int64) error {
		if o.Packing != nil {
			o.Packing(encoder, float64(done), float64(total))
		}
		return ctx.Err()
	}}
}

// drive runs a session to its end and keeps its report current. It writes the report at
// most once a second, and spends at most a twentieth of the time on that.
func drive(ctx context.Context, s *engine.Session, opt RunOptions, out *report.Exporter) (*engine.Result, error) {
	begun, planned := opt.Clock.Now(), s.Planned()
	now := func() *engine.Result {
		r := resultNow(s, begun, opt.Clock)
		if opt.Remote != nil {
			opt.Remote.AddTo(r)
		}
		r.Planned, r.PlannedS, r.Reason, r.Set = 1, planned.Seconds(), engine.Unfinished, out.Set
		return r
	}
	pace := NewPace(opt.Clock, begun, time.Second)
	step, looked := slice, begun
	var failed error
	if opt.Remote.Live() {
		failed = driveRemote(ctx, s, opt, now)
	}
	for !s.Done() && ctx.Err() == nil && failed == nil {
		failed = s.Advance(step)
		if ctx.Err() != nil && errors.Is(failed, os.ErrDeadlineExceeded) {
			failed = nil // ctx ended the wait for the writing end of a pipe
			break
		}
		if failed != nil {
			break
		}
		if at := opt.Clock.Now(); at-looked > tooLong {
			step, looked = thinSlice, at
		} else {
			looked = at
		}
		if opt.Progress != nil {
			opt.Progress(s.Progress())
		}
		failed = pace.Do(func() error {
			r := now()
			r.Partial = true
			return out.Write(r)
		})
	}
	if !s.Done() || failed != nil {
		s.Interrupt()
	}
	opt.scribe.close()
	r := now()
	r.Interrupted = r.Interrupted && failed == nil
	report.End(r, failed)
	if errors.Is(failed, report.ErrWrite) {
		return r, failed // the folder keeps the last complete report
	}
	err := out.Write(r)
	if err != nil {
		report.End(r, err)
	}
	return r, errors.Join(failed, err)
}

// Pace limits how often a report is written during a run: it enforces a minimum interval between two
// calls, and at most a twentieth of the time spent in calls.
type Pace struct {
	clock wallclock.Clock
	least time.Duration // minimum interval between two calls
	next  int64         // earliest time of the next call
}

// NewPace returns a pace that begins at a moment of the clock.
func NewPace(clock wallclock.Clock, begun int64, least time.Duration) Pace {
	return Pace{clock, least, begun + int64(least)}
}

// longestPause is the maximum pause that a slow save causes. A clock that jumps during a
// save makes the save look slow.
const longestPause = time.Minute

// Do calls save if enough time has passed since the last call.
func (p *Pace) Do(save func() error) error {
	now := p.clock.Now()
	if now < p.next {
		return nil
	}
	err := save()
	end := p.clock.Now()
	p.next = end + max(min(20*(end-now), int64(longestPause)), int64(p.least))
	return err
}

// resultNow returns the session's result so far, with the ratio of virtual to wall time since begun.
func resultNow(s *engine.Session, begun int64, clock wallclock.Clock) *engine.Result {
	r := s.Result()
	if len(r.Shadows) > 0 {
		r.Comparison, r.SamplesByLane = lockstep.Compare(s.View(0)), s.SamplesByLane()
	}
	if spent := clock.Now() - begun; spent > 0 {
		r.Timing.RealTimeFactor = float64(s.Now()) / float64(spent)
	}
	return r
}

// Check returns why a run of c could not begin, at any point of its sweep, and settles c as Settle
// does.
func Check(ctx context.Context, c *config.Config) error {
	err := Settle(ctx, c)
	if len(c.Sweep) == 0 || ctx.Err() != nil {
		return err
	}
	grid, err := c.Points() // what is wrong with c alone may be right at every point
	if err != nil {
		return err
	}
	return checkPoints(ctx, c, grid, false)
}

// checkPoints returns an error for the first point of the grid of c at which a run could not begin.
// force is as in engine.Options.
func checkPoints(ctx context.Context, c *config.Config, grid []config.Point, force bool) error {
	checker := engine.NewChecker(force)
	for i := range grid {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checker.Check(ctx, grid[i].Config); err != nil {
			return c.AtPoint(&grid[i], err)
		}
	}
	return nil
}

// Settle opens the data, as a run would, and fits the settings to it that were not chosen: c is then
// the configuration of the run. It fails as a run would, if the data cannot be opened or the encoders
// cannot send it.
func Settle(ctx context.Context, c *config.Config) error {
	s, err := engine.NewSession(ctx, c, engine.Options{})
	if err != nil {
		return err
	}
	c.Adopt(s.StartConfig())
	return s.Close()
}
