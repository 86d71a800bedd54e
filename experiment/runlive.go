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

// liveWriter writes the report of a run in real time, in its own goroutine, so that a slow disk does
// not delay packets. It implements engine.Observer.
type liveWriter struct {
	out         *report.Exporter
	work        chan func()   // executed in order by the goroutine
	done        chan struct{} // closed when the goroutine has ended
	clock       wallclock.Clock
	lastWriteAt int64            // clock time at which the last write was queued
	results     chan writeResult // result of a finished write; capacity 1, because only one write is queued at a time
	writing     bool             // a write is queued or in progress
	lastTook    int64            // duration of the last finished write in nanoseconds
	err         error            // error of the last finished write; after one, nothing more is written
}

// liveQueue is the number of samples, packets and writes that can wait for the disk before the session waits too.
const liveQueue = 4096

// writeResult is the result of writing a report.
type writeResult struct {
	err  error
	took int64 // nanoseconds
}

// newLiveWriter returns a writer to out and starts its goroutine; close ends it.
func newLiveWriter(out *report.Exporter, clock wallclock.Clock) *liveWriter {
	s := &liveWriter{out: out, work: make(chan func(), liveQueue), done: make(chan struct{}), clock: clock, lastWriteAt: clock.Now(),
		results: make(chan writeResult, 1)}
	go func() {
		defer close(s.done)
		for f := range s.work {
			f()
		}
	}()
	return s
}

// Sample implements engine.Observer. It queues a copy, since the pointer is valid only during the call.
func (s *liveWriter) Sample(x *meters.Sample) {
	copied := *x
	s.work <- func() { s.out.Sample(&copied) }
}

// Packet implements engine.Observer. It queues a copy, since the pointers are valid only during the call.
func (s *liveWriter) Packet(r *packetlog.Record, p *engine.Problem) {
	e := report.NewPacketEntry(r, p)
	s.work <- func() { s.out.Add(e) }
}

// Settled implements engine.Observer: the outcomes of all packets before seq are known.
func (s *liveWriter) Settled(seq uint64) { s.work <- func() { s.out.Settled(seq) } }

// saveIfDue starts writing the report in another goroutine if that is due: at most once a second, and so rarely
// that writing takes at most a twentieth of the time. result returns the result so far. saveIfDue returns the
// error of the write that finished last.
func (s *liveWriter) saveIfDue(result func() *engine.Result) error {
	select {
	case w := <-s.results:
		s.writing, s.lastTook, s.err = false, w.took, w.err
	default:
	}
	minInterval := max(int64(time.Second), min(20*s.lastTook, int64(maxPause))) // nanoseconds
	if now := s.clock.Now(); !s.writing && s.err == nil && now-s.lastWriteAt >= minInterval {
		s.writing, s.lastWriteAt = true, now
		r := result()
		r.Partial = true
		s.work <- func() {
			begun := s.clock.Now()
			err := s.out.Write(r)
			s.results <- writeResult{err, s.clock.Now() - begun}
		}
	}
	return s.err
}

// close waits until all queued work is done and ends the goroutine. A nil liveWriter does nothing.
func (s *liveWriter) close() {
	if s == nil {
		return
	}
	close(s.work)
	<-s.done
}

// driveRemote runs a session over a network to its end, in real time, and writes its report meanwhile.
// result returns the result so far.
func driveRemote(ctx context.Context, s *engine.Session, opt RunOptions, result func() *engine.Result) error {
	return opt.Remote.Drive(ctx, s, func() error {
		if opt.Progress != nil {
			opt.Progress(s.Progress())
		}
		if opt.writer == nil {
			return nil
		}
		return opt.writer.saveIfDue(result)
	})
}
