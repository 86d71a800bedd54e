package experiment

import (
	"context"
	"errors"
	"os"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// RunOptions are what a headless run needs from its surroundings.
type RunOptions struct {
	// Progress is told, from one goroutine at a time, how many seconds of virtual
	// time are done of how many in all runs together; total is 0 if unknown.
	Progress func(done, total float64)
	// Packing is told of the patches that are made before a run begins; of a sweep,
	// by several goroutines. nil: nobody asks.
	Packing func(encoder string, done, total float64)
	Clock   engine.Clock  // monotonic wall time, for timings and for the pace of saving
	Dir     string        // the report's folder, "" for none; written at most once a second and at the end
	Workers int           // runs side by side in a sweep; 0: one a core
	packs   *engine.Packs // shared by the runs
}

// slice is how much virtual time passes between two looks at the context; less than a
// frame where that takes long, since tens of thousands of cubes can take a second each.
const (
	slice     = 100 * time.Millisecond
	thinSlice = slice / 8
	tooLong   = int64(200 * time.Millisecond) // of wall time, for a slice
)

// Run runs an experiment as fast as it can, all points of its sweep if it has
// one. When ctx is cancelled it returns what was measured until then, marked
// Interrupted, and no error.
func Run(ctx context.Context, c *config.Config, opt RunOptions) (*report.Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if opt.Dir != "" {
		if err := report.CheckDir(opt.Dir); err != nil {
			return nil, err
		}
	}
	if len(c.Sweep) > 0 {
		return sweep(ctx, c, opt)
	}
	out := &report.Exporter{Dir: opt.Dir}
	result, err := runOne(ctx, c, opt, out)
	if err != nil {
		return nil, err
	}
	return &report.Report{Runs: []*engine.Result{result}, Interrupted: result.Interrupted}, nil
}

// runOne runs a single configuration; out's folder, if it has one, is kept current.
func runOne(ctx context.Context, c *config.Config, opt RunOptions, out *report.Exporter) (*engine.Result, error) {
	so := engine.Options{Context: ctx, Clock: opt.Clock, Packs: opt.packs}
	if out.Dir != "" {
		so.Observer = out
	}
	s, err := engine.NewSession(c, so)
	if err != nil {
		return nil, err
	}
	if err := s.Pack(opt.packing(ctx)); err != nil && ctx.Err() == nil {
		return nil, errors.Join(err, s.Close())
	}
	result, err := drive(ctx, s, opt, out)
	return result, errors.Join(err, s.Close())
}

// packing is who hears of patches that are made, and ends that when ctx does.
func (o *RunOptions) packing(ctx context.Context) *engine.Packing {
	return &engine.Packing{Clock: o.Clock, Progress: func(encoder string, done, total int64) error {
		if o.Packing != nil {
			o.Packing(encoder, float64(done), float64(total))
		}
		return ctx.Err()
	}}
}

// drive runs a session to its end and keeps its report current: at most once a
// second, and never for more than a twentieth of the time.
func drive(ctx context.Context, s *engine.Session, opt RunOptions, out *report.Exporter) (*engine.Result, error) {
	begun := opt.Clock.Now()
	saved, pause := begun, int64(time.Second)
	step, looked := slice, begun
	for !s.Done() && ctx.Err() == nil {
		if err := s.Advance(step); err != nil && ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			break // it waited for whoever writes into a pipe
		} else if err != nil {
			s.Interrupt()
			return nil, errors.Join(err, out.Write(resultNow(s, begun, opt.Clock)))
		}
		if opt.Progress != nil {
			opt.Progress(s.Progress())
		}
		now := opt.Clock.Now()
		if now-looked > tooLong {
			step = thinSlice
		}
		looked = now
		if now-saved >= pause {
			r := resultNow(s, begun, opt.Clock)
			r.Partial = true
			if err := out.Write(r); err != nil {
				return nil, err
			}
			saved = opt.Clock.Now()
			pause = max(int64(time.Second), 20*(saved-now))
		}
	}
	if !s.Done() {
		s.Interrupt()
	}
	r := resultNow(s, begun, opt.Clock)
	return r, out.Write(r)
}

// resultNow is the session's result with the pace since begun.
func resultNow(s *engine.Session, begun int64, clock engine.Clock) *engine.Result {
	r := s.Result()
	if spent := clock.Now() - begun; spent > 0 {
		r.Timing.RealTimeFactor = float64(s.Now()) / float64(spent)
	}
	return r
}

// Check finds whatever would keep a run of c from beginning, at every point of its
// sweep, and settles c as Settle does.
func Check(ctx context.Context, c *config.Config) error {
	err := Settle(ctx, c)
	if len(c.Sweep) == 0 || ctx.Err() != nil {
		return err
	}
	grid, err := c.Points() // what is wrong with c alone may be right at every point
	if err != nil {
		return err
	}
	return checkPoints(ctx, c, grid)
}

// checkPoints says at which point of the grid of c a run could not begin.
func checkPoints(ctx context.Context, c *config.Config, grid []config.Point) error {
	checker := engine.NewChecker()
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

// Settle opens the data, as a run would, and makes what nobody has chosen fit it:
// the configuration is then the one that a run goes by. It fails as a run would,
// if the data cannot be had or the encoders do not take it.
func Settle(ctx context.Context, c *config.Config) error {
	s, err := engine.NewSession(c, engine.Options{Context: ctx})
	if err != nil {
		return err
	}
	c.Adopt(s.Settled())
	return s.Close()
}
