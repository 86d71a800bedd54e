package experiment

import (
	"context"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/report"
	"wirelab/internal/wallclock"
)

// scribe keeps the report of a run in real time current, in a goroutine of its own: a
// disk that takes its time must not keep packets from leaving.
type scribe struct {
	out     *report.Exporter
	work    chan func()
	done    chan struct{}
	clock   wallclock.Clock
	last    int64
	written chan written // holds one: of the write that was done last
	busy    bool
	took    int64
	err     error
}

type written struct {
	err  error
	took int64
}

// newScribe starts the goroutine; close ends it.
func newScribe(out *report.Exporter, clock wallclock.Clock) *scribe {
	s := &scribe{out: out, work: make(chan func(), 4096), done: make(chan struct{}), clock: clock, last: clock.Now(),
		written: make(chan written, 1)}
	go func() {
		defer close(s.done)
		for f := range s.work {
			f()
		}
	}()
	return s
}

// Sample implements engine.Observer.
func (s *scribe) Sample(x *meters.Sample) {
	y := *x
	s.work <- func() { s.out.Sample(&y) }
}

// Packet implements engine.Observer.
func (s *scribe) Packet(r *packetlog.Record, p *engine.Problem) {
	e := report.Ended(r, p)
	s.work <- func() { s.out.Add(e) }
}

// Settled implements engine.Observer.
func (s *scribe) Settled(seq uint64) { s.work <- func() { s.out.Settled(seq) } }

// keep has the report written if it is time: once a second, and not for more than a
// twentieth of the time. It returns the error of the write before.
func (s *scribe) keep(now func() *engine.Result) error {
	select {
	case w := <-s.written:
		s.busy, s.took, s.err = false, w.took, w.err
	default:
	}
	if at := s.clock.Now(); !s.busy && s.err == nil && at-s.last >= max(int64(time.Second), min(20*s.took, int64(longestPause))) {
		s.busy, s.last = true, at
		r := now()
		r.Partial = true
		s.work <- func() {
			begun := s.clock.Now()
			err := s.out.Write(r)
			s.written <- written{err, s.clock.Now() - begun}
		}
	}
	return s.err
}

// close waits until all is written. A nil scribe has nothing to write.
func (s *scribe) close() {
	if s == nil {
		return
	}
	close(s.work)
	<-s.done
}

// driveRemote runs a session to its end in real time, and keeps its report current.
func driveRemote(ctx context.Context, s *engine.Session, opt RunOptions, now func() *engine.Result) error {
	return opt.Remote.Drive(ctx, s, func() error {
		if opt.Progress != nil {
			opt.Progress(s.Progress())
		}
		if opt.scribe == nil {
			return nil
		}
		return opt.scribe.keep(now)
	})
}
