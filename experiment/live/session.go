package live

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// Numbers of stored samples and packets per lane.
const (
	liveSamples   = 3000     // five minutes
	keptPackets   = 1024     // from which failures of later packets are explained
	remotePackets = 300 * 60 // five minutes at 60 Hz: a session over a network cannot be repeated
)

// session is the experiment of a Runner with one receiver.
type session struct {
	*engine.Session
	opened *config.Config // with which it was opened
}

// openSession opens a session of c that runs until it is stopped: recordings play in a loop, and files
// are delivered repeatedly. It measures and stores everything that the dashboard can show. o may be nil.
func openSession(ctx context.Context, c *config.Config, r *Runner, o engine.Observer) (*session, error) {
	c.Data.Loop = true
	c.Data.Again = c.HasFileData()
	opt := engine.Options{Clock: r.opt.Clock, Packs: r.packs, KeepSamples: liveSamples, KeepPackets: keptPackets,
		KeepHistory: true, Trials: true, Endless: true, Inspect: true, KeepSent: true, Observer: o}
	if r.opt.Remote != nil {
		opt.Network = r.opt.Remote
		opt.KeepPackets = remotePackets
	}
	s, err := engine.NewSession(ctx, c, opt)
	if err != nil {
		return nil, err
	}
	c.AdoptFit(s.StartConfig()) // opening the session fitted settings, such as the encoder, to the data
	return &session{s, c}, nil
}

// change implements run. The new run has the configuration of this one, the changes that the user made
// since, and ch. The script runs again from its start.
func (s *session) change(ch config.Change) (*config.Config, error) {
	if !ch.Restarts() {
		return nil, s.Change(ch)
	}
	next := s.ManualConfig(s.opened).Clone()
	return next, next.Apply(ch)
}

// repeat implements run.
func (s *session) repeat(r *Runner, t time.Duration) (opener, error) {
	open := s.repeater(r, t)
	return func(ctx context.Context) (run, error) { return open(ctx, nil) }, s.checkRepeatable(r)
}

// repeater returns a function that opens the run again, as repeat does, with an observer; nil means none.
func (s *session) repeater(r *Runner, t time.Duration) func(context.Context, engine.Observer) (run, error) {
	c := s.opened.Clone()
	log := s.Log()
	return func(ctx context.Context, o engine.Observer) (run, error) {
		again, err := openSession(ctx, c, r, o)
		if err != nil {
			return nil, err
		}
		again.ReplayChanges(log, t)
		return again, nil
	}
}

// checkRepeatable returns an error if the run cannot be repeated.
func (s *session) checkRepeatable(r *Runner) error {
	if r.opt.Remote != nil {
		return errors.New("a session over a network cannot be repeated; only stored packets can be shown")
	}
	return checkReadable(s.opened)
}

// checkReadable returns an error if the data of c cannot be read once more.
func checkReadable(c *config.Config) error {
	path, isFile := strings.CutPrefix(c.Data.Source, "file:")
	if info, err := os.Stat(path); isFile && err == nil && !info.Mode().IsRegular() {
		return errors.New("the data come from a pipe and cannot be read again, so the run cannot be repeated")
	}
	return nil
}

// view implements run.
func (s *session) view(r *Runner) *engine.Snapshot {
	snap := s.View(engine.ShownPackets)
	r.addPatchProgress(snap)
	if r.opt.Remote != nil {
		snap.To = r.opt.Remote.PeerName()
	}
	return snap
}

// prepareReport implements run. It copies the results of the session. The returned function repeats the
// run for its samples and packets. If the run ends now, or cannot be repeated, the report has those that
// are stored.
func (s *session) prepareReport(ctx context.Context, r *Runner, why engine.Ending) (reportWriter, error) {
	result := s.Result()
	result.Planned = 1
	result.Reason = why
	if r.opt.Remote != nil {
		r.opt.Remote.Describe(result)
	}
	switch {
	case errors.As(r.err, new(*engine.NetworkError)):
		result.Reason = engine.BadNetwork
		result.Error = r.err.Error()
	case r.err != nil:
		result.Reason = engine.BadData
		result.Error = r.err.Error()
	case s.Done():
		result.Reason = engine.Finished
	}
	if why == engine.Interrupted || r.err != nil || s.checkRepeatable(r) != nil {
		var stored report.SessionCopy
		s.ReplayStored(&stored)
		lockstep.Complete(result, s.Session)
		return func(folder *atomicfile.Folder) error {
			return stored.Write(folder, r.files, page.Pages(), result)
		}, nil
	}
	now := s.Now()
	ctx = context.WithoutCancel(ctx) // the report is finished if the user quits meanwhile
	open := s.repeater(r, now)
	return func(folder *atomicfile.Folder) error {
		out := report.NewExporter(folder, nil, r.files, page.Pages())
		x, err := open(ctx, out)
		if err != nil {
			return err
		}
		again := sessionOf(x)
		if err := again.RunUntil(now); err != nil {
			return errors.Join(err, again.Close())
		}
		lockstep.Complete(result, again)
		again.Interrupt() // gives the packets in flight to out
		return errors.Join(again.Close(), out.Write(result), out.Close())
	}, nil
}

// errRealTimeOnly is the error for a speed or a seek over a network.
var errRealTimeOnly = errors.New("a session over a network runs in real time: no other speed and no jump ahead; < and b look back")

// pollNetwork receives datagrams from the network, if the session uses one, and schedules them as events at
// virtual times up to to, which corresponds to the current wall time. While the session is paused, they are
// scheduled right after the current virtual time, so they take effect when it continues.
func (r *Runner) pollNetwork(to time.Duration) {
	link := r.opt.Remote
	if link == nil || r.err != nil {
		return
	}
	from := r.current.Now()
	link.SetPaused(r.paused && r.seekTarget == noSeek)
	virtualZero := time.Now().Add(-to) // the wall time at virtual time 0
	link.Poll(r.current.Config(), from, max(to, from+1), virtualZero)
	if err := link.Err(); err != nil {
		r.fail(err)
	}
}

// withoutShadows returns ch without its changes of shadows, which are impossible over a network. If ch
// changes nothing else, it returns ch unchanged, and the session will return an error for it.
func withoutShadows(ch config.Change) config.Change {
	if out := ch.WithoutShadows(); !out.IsZero() {
		return out
	}
	return ch
}
