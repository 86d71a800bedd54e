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
	out   *report.Exporter
	work  chan func()   // executed in order by the goroutine
	done  chan struct{} // closed when the goroutine has ended
	saves chan saves    // has a value unless a write is queued or in progress; capacity 1
}

// saves is the state of writing a report again and again.
type saves struct {
	pace Pace
	err  error // of the last write; after an error nothing more is written
}

// liveQueue is the number of samples, packets and writes that can wait for the disk before the session waits too.
const liveQueue = 4096

// newLiveWriter returns a writer to out and starts its goroutine; close ends it.
func newLiveWriter(out *report.Exporter, clock wallclock.Clock) *liveWriter {
	s := &liveWriter{out: out, work: make(chan func(), liveQueue), done: make(chan struct{}),
		saves: make(chan saves, 1)}
	s.saves <- saves{pace: NewPace(clock, clock.Now(), time.Second)}
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

// saveIfDue queues a write of the report if no other is in progress and the interval of Pace has passed.
// result returns the result so far. saveIfDue returns the error of the write that finished last.
func (s *liveWriter) saveIfDue(result func() *engine.Result) error {
	var last saves
	select {
	case last = <-s.saves:
	default:
		return nil
	}
	if last.err != nil || !last.pace.isDue() {
		s.saves <- last
		return last.err
	}
	r := result()
	r.Partial = true
	s.work <- func() {
		last.err = last.pace.Do(func() error { return s.out.Write(r) })
		s.saves <- last
	}
	return nil
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
