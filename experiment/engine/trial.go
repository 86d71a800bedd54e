package engine

import (
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
)

// The effect of a change of the encoder cannot be measured from what was sent before and after
// it: the data change too. So the setting before the change runs on for some seconds, on the same
// frames and fates, in a lane that is no part of the run: it is in no report, no digest and no
// log, and replays do not have it. That is a trial. A shadow that has the setting already serves
// as well.

// WarmUp is how long a lane does not count after it began or was swapped: its first packets
// build on the initial state.
const WarmUp = time.Second

const (
	trialTime     = 4 * time.Second // how long a trial measures, after the warm-up
	maxTrialLanes = 8               // with as many lanes no trial begins
	maxEffects    = 100             // how many results are kept
)

// Effect is what a change of the encoder did: what the setting before it and the one after it
// sent for the same frames, sample by sample.
type Effect struct {
	T             time.Duration // of the change; of a drag, of its last step
	Until         time.Duration // when the last sample ended
	Before, After []meters.Sample
}

// trials are the trials of a session.
type trials struct {
	trial       *trial // the current one; nil: none
	effects     []Effect
	busy        bool            // no trial begins
	prior       *config.Encoder // the encoder before it was last changed; nil: it was not
	swapTouched string          // the settings that this change altered
	swappedAt   time.Duration   // when
}

// trial is an effect in the making.
type trial struct {
	lane   *lane
	own    bool // the lane runs for the trial alone
	at     time.Duration
	before config.Encoder
}

// SetSpare sets whether the machine has time to spare. If not, no trial begins.
func (s *Session) SetSpare(spare bool) { s.busy = !spare }

// tryBefore begins a trial of the encoder before a change at a time. If the change continues a
// drag of the same settings, the encoder is that of before the first step.
func (s *Session) tryBefore(at time.Duration, before *config.Config, touched string) {
	was := before.Encoder
	if was.Equal(s.config.Encoder) {
		return
	}
	dragged := s.swapTouched == touched && at-s.swappedAt < dragPeriod
	if !dragged || s.prior == nil {
		s.prior = &was
	}
	s.swapTouched, s.swappedAt = touched, at
	if !s.opt.Trials || s.delivers || s.opt.Network != nil {
		return
	}
	if dragged && s.trial != nil && s.trial.before.Equal(*s.prior) {
		s.trial.at = at
		return
	}
	s.endTrial()
	t := &trial{lane: s.shadowOf(*s.prior), at: at, before: *s.prior}
	if t.lane == nil {
		if s.busy || len(s.lanes) >= maxTrialLanes {
			return
		}
		l, err := s.join(t.before)
		if err != nil {
			return // the run itself continues
		}
		t.lane, t.own = l, true
	}
	s.trial = t
	s.setRunning()
}

// checkTrial records the result of a trial that has run its time.
func (s *Session) checkTrial(now time.Duration) {
	t := s.trial
	if t == nil || now < t.at+WarmUp+trialTime {
		return
	}
	measured := func(l *lane) []meters.Sample {
		return slices.Clone(meters.Between(l.meter.Samples(), t.at+WarmUp, now))
	}
	e := Effect{T: t.at, Until: now, Before: measured(t.lane), After: measured(s.lanes[0])}
	if n := len(e.Before); n > 0 && n == len(e.After) && e.Before[0].T == e.After[0].T {
		kept := s.effects[max(0, len(s.effects)-maxEffects+1):]
		s.effects = append(slices.Clip(kept), e) // snapshots share the old list
	}
	s.endTrial()
}

// endTrial ends the current trial without a result.
func (s *Session) endTrial() {
	if s.trial != nil {
		s.trial = nil
		s.setRunning()
	}
}
