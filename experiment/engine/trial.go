package engine

import (
	"slices"
	"time"

	"wirelab/experiment/config"
)

// What a change of the encoder did cannot be told from what was sent before and after it:
// the data change too. So the setting before the change runs on for some seconds, on the
// same frames and fates, in a lane that is no part of the run: it is in no report, no
// digest and no log, and a replay knows nothing of it. That is a trial. A shadow that has
// the setting already serves as well.

// WarmUp is how long a lane does not count after it began or was swapped: its first
// packets rest on the initial state.
const WarmUp = time.Second

// A trial measures for so long, after the warm-up.
const trialSpan = 4 * time.Second

// maxTriedLanes is the most lanes beside which a trial runs, and maxEffects is how many of
// its results are kept.
const (
	maxTriedLanes = 8
	maxEffects    = 100
)

// Effect is what a change of the encoder did: what the setting before it and the one after
// it sent for the same frames, sample by sample.
type Effect struct {
	T             time.Duration // of the change; of one that was dragged, of its last step
	Until         time.Duration // when the last sample ended
	Before, After []Sample
}

// trial is an effect in the making.
type trial struct {
	lane   *lane
	own    bool // the lane runs for the trial alone
	at     time.Duration
	before config.Encoder
}

// SetSpare says whether the machine has time to spare. If not, no trial begins.
func (s *Session) SetSpare(spare bool) { s.busy = !spare }

// tryBefore begins a trial of the encoder before a change at a time; of one that is being
// dragged it goes on with what was there before the first step.
func (s *Session) tryBefore(at time.Duration, before *config.Config, touched string) {
	was := before.Encoder
	if was.Equal(s.config.Encoder) {
		return
	}
	dragged := s.changed.touched == touched && at-s.changed.at < dragPeriod
	if !dragged || s.prior == nil {
		s.prior = &was
	}
	s.changed.touched, s.changed.at = touched, at
	if !s.opt.Trials || s.delivers || s.opt.Network != nil {
		return
	}
	if dragged && s.trial != nil && s.trial.before.Equal(*s.prior) {
		s.trial.at = at
		return
	}
	s.endTrial()
	t := &trial{at: at, before: *s.prior}
	i := slices.IndexFunc(s.lanes[1:], func(l *lane) bool { return l.config.Equal(t.before) })
	switch {
	case i >= 0:
		t.lane = s.lanes[1+i]
	case s.busy || len(s.lanes) >= maxTriedLanes:
		return
	default:
		l, err := s.join(t.before)
		if err != nil {
			return // what runs now is what counts
		}
		t.lane, t.own = l, true
	}
	s.trial = t
	s.setRunning()
}

// checkTrial takes down the result of a trial whose time has come.
func (s *Session) checkTrial(now time.Duration) {
	t := s.trial
	if t == nil || now < t.at+WarmUp+trialSpan {
		return
	}
	between := func(l *lane) []Sample {
		all := l.meter.samples.view()
		i := slices.IndexFunc(all, func(x Sample) bool { return x.T-SamplePeriod >= t.at+WarmUp })
		return slices.Clone(all[max(i, 0):])
	}
	e := Effect{T: t.at, Until: now, Before: between(t.lane), After: between(s.lanes[0])}
	if n := len(e.Before); n > 0 && n == len(e.After) && e.Before[0].T == e.After[0].T {
		s.effects = append(s.effects[max(0, len(s.effects)-maxEffects+1):len(s.effects):len(s.effects)], e)
	}
	s.endTrial()
}

// endTrial lets the trial go.
func (s *Session) endTrial() {
	if s.trial != nil {
		s.trial = nil
		s.setRunning()
	}
}

// setRunning lists the lanes that get frames: those of the run, and that of the trial.
func (s *Session) setRunning() {
	s.running = append(make([]*lane, 0, len(s.lanes)+1), s.lanes...)
	if t := s.trial; t != nil && t.own {
		s.running = append(s.running, t.lane)
	} else if t != nil && !slices.Contains(s.lanes, t.lane) {
		s.trial = nil // the shadow has left
	}
}
