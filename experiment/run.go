package experiment

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/crowd"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/page"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/wallclock"
)

// RunOptions configure headless runs. All fields may be zero.
type RunOptions struct {
	// Progress receives the virtual time that is done and the total of all runs, in seconds; the total
	// is 0 if unknown. It is called by one goroutine at a time.
	Progress func(done, total float64)
	// Packing receives the progress of the patches that are made before a run begins, in bytes. In a
	// sweep several goroutines call it.
	Packing func(encoder string, done, total float64)

	Clock   wallclock.Clock     // monotonic wall clock, for timings and for the interval between saves
	Dir     string              // folder of the report, written at most once a second and at the end; empty if none
	Force   bool                // replace the report of another run in Dir; also engine.Options.Force
	Disk    *atomicfile.Disk    // file system of Dir; nil means the operating system's
	Workers int                 // parallel runs of a sweep; 0 means one per core
	Remote  *remote.Link        // link to a remote receiver, in real time; nil means a receiver in this process
	Packs   *delivery.PackCache // cache of patches, shared by the runs; nil means none
	files   *report.Files       // data files that the runs read, shared by the runs
	writer  *liveWriter         // writes the report of a run in real time; nil if none
}

// Lengths of the slices of virtual time in which a session runs. The context is checked after each.
const (
	runSlice   = 100 * time.Millisecond
	shortSlice = runSlice / 8                  // used after a slice took longer than maxSliceNS
	maxSliceNS = int64(200 * time.Millisecond) // wall time; a frame of tens of thousands of cubes can take a second
)

// Run runs an experiment as fast as possible, or all points of its sweep if it has one. When ctx ends,
// Run returns the results so far, marked as interrupted, and no error. If reading the data or writing
// the report fails, it returns both the results so far and the error.
func Run(ctx context.Context, c *config.Config, opt RunOptions) (*report.Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if opt.Remote != nil && len(c.Sweep) > 0 {
		return nil, &config.Error{Key: "sweep", Problem: "a sweep cannot run over a real network",
			Expected: "one run with --to or --udp, or a sweep without"}
	}
	if opt.Remote != nil && c.Crowd.Clients > 0 {
		return nil, crowd.RemoteError(c)
	}
	var folder *atomicfile.Folder
	if opt.Dir != "" {
		var err error
		if folder, err = report.OpenFolder(opt.Disk, opt.Dir, opt.Force); err != nil {
			return nil, err
		}
		defer func() { _ = folder.Close() }() // closes it if no run began; otherwise a second Close without effect
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
	r.SetReason(err)
	return r, err
}

// inspectedPackets is the number of stored packets from which failures of later packets are explained:
// 17 s at 60 packets a second.
const inspectedPackets = 1024

// comparedSamples is the number of stored samples of each encoder that the comparison of encoders
// covers: five minutes.
const comparedSamples = 3000

// runOne runs a single configuration, and writes the report to out while the run continues. With an
// error it also returns the results so far; nil if the run did not begin.
func runOne(ctx context.Context, c *config.Config, opt RunOptions, out *report.Exporter) (*engine.Result,
	error) {
	if c.Crowd.Clients > 0 {
		return runCrowd(ctx, c, opt, out)
	}
	// One stored sample suffices, because the observer writes each sample to the report.
	sessionOpt := engine.Options{Clock: opt.Clock, Packs: opt.Packs, Force: opt.Force, KeepSamples: 1,
		Observer: out.Observer()}
	if opt.Remote != nil {
		sessionOpt.Network = opt.Remote
	}
	if opt.Remote != nil && sessionOpt.Observer != nil { // in real time
		opt.writer = newLiveWriter(out, opt.Clock)
		sessionOpt.Observer = opt.writer
	}
	startsShadow := func(scripted config.StampedChange) bool { return len(scripted.Change.Shadows()) > 0 }
	if len(c.Shadows) > 0 || slices.ContainsFunc(c.At, startsShadow) {
		sessionOpt.KeepSamples = comparedSamples // for the comparison of the encoder with its shadows
	}
	// Packets are inspected for the explanations in the report, so only if one is written.
	sessionOpt.Inspect, sessionOpt.KeepPackets = sessionOpt.Observer != nil, inspectedPackets
	if c.ResolvePath == nil && opt.files != nil {
		c = c.Clone()
		c.ResolvePath = opt.files.Note // records the data files that the session reads
	}
	s, err := engine.NewSession(ctx, c, sessionOpt)
	if err != nil {
		opt.writer.close()
		return nil, err
	}
	if sessionOpt.Observer != nil {
		opt.files.List(".") // hashes the data files now, so that writing the report is fast
	}
	// An interruption while packing is no error: driveSession returns an interrupted result then.
	if err := s.Pack(opt.newPacking(ctx)); err != nil && ctx.Err() == nil {
		opt.writer.close()
		return nil, errors.Join(err, s.Close())
	}
	result, err := driveSession(ctx, s, opt, out)
	if result != nil {
		result.Files = opt.files.List(".")
	}
	return result, errors.Join(err, s.Close(), out.Close())
}

// runCrowd runs a configuration with many receivers, and writes its report to out. With an error it also
// returns the results so far; nil if the run did not begin.
func runCrowd(ctx context.Context, c *config.Config, opt RunOptions, out *report.Exporter) (*engine.Result,
	error) {
	if opt.files != nil {
		c = c.Clone()
		c.ResolvePath = opt.files.Note // records the data files that the run reads
	}
	startedAt := opt.Clock.Now()
	r, err := crowd.Run(ctx, c, crowd.Options{Clock: opt.Clock, Progress: opt.Progress, Force: opt.Force})
	if r == nil {
		return nil, errors.Join(err, out.Close())
	}
	if elapsed := opt.Clock.Now() - startedAt; elapsed > 0 {
		r.Timing.RealTimeFactor = float64(r.DurationNS) / float64(elapsed)
	}
	r.Planned, r.PlannedS, r.Set = 1, c.Duration.Seconds(), out.Set
	r.Files = opt.files.List(".")
	report.SetReason(r, err)
	if writeErr := out.Write(r); writeErr != nil {
		report.SetReason(r, writeErr)
		err = errors.Join(err, writeErr)
	}
	return r, errors.Join(err, out.Close())
}

// newPacking returns a delivery.Packing that reports progress to o.Packing, if set, and cancels packing
// when ctx ends.
func (o *RunOptions) newPacking(ctx context.Context) *delivery.Packing {
	return &delivery.Packing{Clock: o.Clock, Progress: func(encoder string, done, total int64) error {
		if o.Packing != nil {
			o.Packing(encoder, float64(done), float64(total))
		}
		return ctx.Err()
	}}
}

// driveSession runs a session to its end, and writes its report at the intervals of Pace and at the
// end. With an error it also returns the results so far.
func driveSession(ctx context.Context, s *engine.Session, opt RunOptions,
	out *report.Exporter) (*engine.Result, error) {
	startedAt, planned := opt.Clock.Now(), s.Planned()
	now := func() *engine.Result {
		r := resultNow(s, startedAt, opt.Clock)
		if opt.Remote != nil {
			opt.Remote.Describe(r)
		}
		r.Planned, r.PlannedS, r.Reason, r.Set = 1, planned.Seconds(), engine.Unfinished, out.Set
		return r
	}
	pace := NewPace(opt.Clock, startedAt, time.Second)
	step, sliceStart := runSlice, startedAt
	var runErr error
	if opt.Remote != nil {
		runErr = driveRemote(ctx, s, opt, now)
	}
	for !s.Done() && ctx.Err() == nil && runErr == nil {
		runErr = s.Advance(step)
		if ctx.Err() != nil && errors.Is(runErr, os.ErrDeadlineExceeded) {
			runErr = nil // the end of ctx interrupted reading from a pipe
			break
		}
		if runErr != nil {
			break
		}
		sliceEnd := opt.Clock.Now()
		if sliceEnd-sliceStart > maxSliceNS {
			step = shortSlice // for the rest of the run
		}
		sliceStart = sliceEnd
		if opt.Progress != nil {
			opt.Progress(s.Progress())
		}
		runErr = pace.Do(func() error {
			r := now()
			r.Partial = true
			return out.Write(r)
		})
	}
	if !s.Done() || runErr != nil {
		s.Interrupt()
	}
	opt.writer.close()
	r := now()
	r.Interrupted = r.Interrupted && runErr == nil // after an error, the error is the reason for the end
	report.SetReason(r, runErr)
	if errors.Is(runErr, report.ErrWrite) {
		return r, runErr // the folder keeps the last complete report
	}
	err := out.Write(r)
	if err != nil {
		report.SetReason(r, err)
	}
	return r, errors.Join(runErr, err)
}

// Pace limits how often a report is written during a run: it enforces a minimum interval between two
// calls of save, and spends at most a twentieth of the time in them.
type Pace struct {
	clock       wallclock.Clock
	minInterval time.Duration // between two calls of save
	next        int64         // earliest clock time of the next call of save, in nanoseconds
}

// NewPace returns a Pace whose first interval begins at clock time begun.
func NewPace(clock wallclock.Clock, begun int64, minInterval time.Duration) Pace {
	return Pace{clock, minInterval, begun + int64(minInterval)}
}

// maxPause is the maximum interval after a slow save. Without a maximum, a jump of the clock during a
// save could stop saving for long.
const maxPause = time.Minute

// isDue reports whether the interval since the last call of save has passed.
func (p *Pace) isDue() bool { return p.clock.Now() >= p.next }

// Do calls save, and returns its error, if that is due.
func (p *Pace) Do(save func() error) error {
	if !p.isDue() {
		return nil
	}
	now := p.clock.Now()
	err := save()
	end := p.clock.Now()
	p.next = end + max(min(20*(end-now), int64(maxPause)),
		int64(p.minInterval)) // 20 times as long as the save took
	return err
}

// resultNow returns the session's result so far, with the comparison of the encoders that run alongside,
// if any. startedAt is the clock time at the start of the run, from which the real-time factor is
// computed.
func resultNow(s *engine.Session, startedAt int64, clock wallclock.Clock) *engine.Result {
	r := s.Result()
	lockstep.Complete(r, s)
	if elapsed := clock.Now() - startedAt; elapsed > 0 {
		r.Timing.RealTimeFactor = float64(s.Now()) / float64(elapsed)
	}
	return r
}

// Check returns the error with which a run of c, or of any point of its sweep, would fail to begin; nil
// if all could begin. It also fills in the settings of c that depend on the data, like Settle.
func Check(ctx context.Context, c *config.Config) error {
	err := Settle(ctx, c)
	if len(c.Sweep) == 0 || ctx.Err() != nil {
		return err
	}
	// An error of c itself does not matter if every point is correct: the sweep may set the wrong key.
	grid, err := c.Points()
	if err != nil {
		return err
	}
	const force = false
	return checkPoints(ctx, c, grid, force)
}

// checkPoints returns an error for the first point in grid, the grid of c, at which a run could not
// begin. force is engine.Options.Force.
func checkPoints(ctx context.Context, c *config.Config, grid []config.Point, force bool) error {
	checker := engine.NewChecker(force)
	for i := range grid {
		if err := ctx.Err(); err != nil {
			return err
		}
		point := grid[i].Config
		var err error
		if point.Crowd.Clients > 0 {
			err = crowd.Check(ctx, point.Clone(), force) // a clone, because crowd.Check fills in settings
		} else {
			err = checker.Check(ctx, point)
		}
		if err != nil {
			return c.AtPoint(&grid[i], err)
		}
	}
	return nil
}

// Settle opens the data and fills in the settings of c that depend on the data and were not set, so
// that c is the complete configuration of a run. It returns an error if the data cannot be opened, or
// if the encoders cannot encode them.
func Settle(ctx context.Context, c *config.Config) error {
	if c.Crowd.Clients > 0 {
		return crowd.Check(ctx, c, false)
	}
	s, err := engine.NewSession(ctx, c, engine.Options{})
	if err != nil {
		return err
	}
	c.AdoptFit(s.StartConfig())
	return s.Close()
}
