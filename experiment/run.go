package experiment

import (
	"context"
	"errors"
	"time"

	"wirelab/dataset"
	"wirelab/experiment/endpoint"
)

// RunOptions are what a headless run needs from its surroundings.
type RunOptions struct {
	// Progress is told, from one goroutine at a time, how many seconds of virtual
	// time are done of how many in all runs together; total is 0 if unknown.
	Progress func(done, total float64)
	// Packing is told of the patches that are made before a run begins; of a sweep,
	// by several goroutines. nil: nobody asks.
	Packing func(encoder string, done, total float64)
	Clock   Clock  // monotonic wall time, for timings and for the pace of saving
	Dir     string // the report's folder, "" for none; written at most once a second and at the end
	Workers int    // runs side by side in a sweep; 0: one a core
	packs   *Packs // shared by the runs
}

// slice is how much virtual time passes between two looks at the context.
const slice = 100 * time.Millisecond

// Run runs an experiment as fast as it can, all points of its sweep if it has
// one. When ctx is cancelled it returns what was measured until then, marked
// Interrupted, and no error.
func Run(ctx context.Context, c *Config, opt RunOptions) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if opt.Dir != "" {
		if err := CheckDir(opt.Dir); err != nil {
			return nil, err
		}
	}
	if len(c.Sweep) > 0 {
		return sweep(ctx, c, opt)
	}
	out := &exporter{dir: opt.Dir}
	result, err := runOne(ctx, c, opt, out)
	if err != nil {
		return nil, err
	}
	return &Report{Runs: []*Result{result}, Interrupted: result.Interrupted}, nil
}

// runOne runs a single configuration; out's folder, if it has one, is kept current.
func runOne(ctx context.Context, c *Config, opt RunOptions, out *exporter) (*Result, error) {
	so := SessionOptions{Clock: opt.Clock, Packs: opt.packs}
	if out.dir != "" {
		so.Observer = out
	}
	s, err := NewSession(c, so)
	if err != nil {
		return nil, err
	}
	if err := s.pack(opt.packing(ctx)); err != nil && ctx.Err() == nil {
		return nil, errors.Join(err, s.Close())
	}
	result, err := drive(ctx, s, opt, out)
	return result, errors.Join(err, s.Close())
}

// packing is who hears of patches that are made, and ends that when ctx does.
func (o *RunOptions) packing(ctx context.Context) *Packing {
	return &Packing{Clock: o.Clock, Progress: func(encoder string, done, total int64) error {
		if o.Packing != nil {
			o.Packing(encoder, float64(done), float64(total))
		}
		return ctx.Err()
	}}
}

// drive runs a session to its end and keeps its report current: at most once a
// second, and never for more than a twentieth of the time.
func drive(ctx context.Context, s *Session, opt RunOptions, out *exporter) (*Result, error) {
	begun := opt.Clock.now()
	saved, pause := begun, int64(time.Second)
	for !s.Done() && ctx.Err() == nil {
		if err := s.RunUntil(s.now + slice); err != nil {
			s.interrupt()
			return nil, errors.Join(err, out.write(s.resultNow(begun, opt.Clock)))
		}
		if opt.Progress != nil {
			opt.Progress(s.progress())
		}
		if now := opt.Clock.now(); now-saved >= pause {
			r := s.resultNow(begun, opt.Clock)
			r.Partial = true
			if err := out.write(r); err != nil {
				return nil, err
			}
			saved = opt.Clock.now()
			pause = max(int64(time.Second), 20*(saved-now))
		}
	}
	if !s.Done() {
		s.interrupt()
	}
	r := s.resultNow(begun, opt.Clock)
	return r, out.write(r)
}

// progress returns how far the session is, of how far it will go: in seconds, or of
// files in bytes.
func (s *Session) progress() (done, total float64) {
	if s.delivers {
		return s.delivered()
	}
	return s.Now().Seconds(), s.expected().Seconds()
}

// expected returns when the session will end, 0 if that is not known yet.
func (s *Session) expected() time.Duration {
	if s.end < never {
		return s.end
	}
	if src, ok := s.source.(dataset.Sized); ok {
		return endpoint.TickTime(uint64(src.Frames()), s.schema.TickHz)
	}
	return 0
}

// interrupt ends the session right after the present instant.
func (s *Session) interrupt() {
	s.interrupted = true
	s.finish(s.now + 1)
}

// resultNow is result with the pace since begun.
func (s *Session) resultNow(begun int64, clock Clock) *Result {
	r := s.result()
	r.Interrupted = s.interrupted
	if spent := clock.now() - begun; spent > 0 {
		r.Timing.RealTimeFactor = float64(s.Now()) / float64(spent)
	}
	return r
}
