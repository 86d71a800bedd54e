package live

import (
	"context"
	"errors"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// Number of stored samples and packets per lane of a live session: five minutes at 60 packets a
// second. A snapshot contains fewer packets, as many as a screen can show.
const (
	liveSamples = 3000
	livePackets = 300 * 60
)

// session is the experiment of a Runner with one receiver.
type session struct {
	*engine.Session
	opened *config.Config // with which it was opened
}

// openSession opens a session of c that runs until it is stopped: recordings play in a loop, and files are delivered
// repeatedly. It measures and stores everything that the dashboard can show.
func openSession(ctx context.Context, c *config.Config, r *Runner) (*session, error) {
	c.Data.Loop = true
	c.Data.Again = c.HasFileData()
	opt := engine.Options{Clock: r.opt.Clock, KeepSamples: liveSamples, KeepPackets: livePackets,
		Trials: true, Endless: true, WithPicture: true, Inspect: true, KeepSent: true, Packs: r.packs}
	if r.opt.Remote != nil {
		opt.Network = r.opt.Remote
	}
	s, err := engine.NewSession(ctx, c, opt)
	if err != nil {
		return nil, err
	}
	c.AdoptFit(s.StartConfig()) // opening the session fitted settings, such as the encoder, to the data
	return &session{s, c}, nil
}

// successor implements run. The new run has the configuration of this one, the changes that the user made
// since, and ch. The script runs again from its start.
func (s *session) successor(ch config.Change) (*config.Config, error) {
	if !ch.Restarts() {
		return nil, nil
	}
	next := s.ManualConfig(s.opened).Clone()
	return next, next.Apply(ch)
}

// repeat implements run.
func (s *session) repeat(ctx context.Context, r *Runner, t time.Duration) (run, error) {
	again, err := openSession(ctx, s.opened.Clone(), r)
	if err != nil {
		return nil, err
	}
	again.ReplayChanges(s.Log(), t)
	return again, nil
}

// view implements run.
func (s *session) view(r *Runner) *engine.Snapshot {
	snap := s.View(engine.ShownPackets)
	if packets := r.standing.update(r, s.Session); packets != nil {
		snap.Lanes[0].Packets = packets
	}
	r.addPatchProgress(snap)
	if r.opt.Remote != nil {
		snap.To = r.opt.Remote.PeerName()
	}
	r.viewing.add(snap, s.Session, r.opt.Clock())
	return snap
}

// prepareReport implements run. It copies the results of the session: all changes and totals, and the samples
// and packets of the last five minutes.
func (s *session) prepareReport(_ context.Context, r *Runner, why engine.Ending) (write func(*atomicfile.Folder) error, err error) {
	result := s.Result()
	var snap *engine.Snapshot // compared in the returned function, since this takes some time
	if len(result.Shadows) > 0 {
		snap, result.SamplesByLane = s.View(0), s.SamplesByLane()
	}
	result.Planned, result.Reason = 1, why
	if r.opt.Remote != nil {
		r.opt.Remote.Describe(result)
	}
	switch {
	case errors.As(r.err, new(*engine.NetworkError)):
		result.Reason, result.Error = engine.BadNetwork, r.err.Error()
	case r.err != nil:
		result.Reason, result.Error = engine.BadData, r.err.Error()
	case s.Done():
		result.Reason = engine.Finished
	}
	var stored report.SessionCopy
	s.ReplayStored(&stored)
	return func(folder *atomicfile.Folder) error {
		if snap != nil {
			result.Comparison = lockstep.Compare(snap)
		}
		return stored.Write(folder, r.files, page.Pages(), result)
	}, nil
}

// errRealTimeOnly is the error for a speed or a seek over a network.
var errRealTimeOnly = errors.New("a session over a network runs in real time: speed and seeking are not available")

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
