package engine

import (
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
)

// A trial is a measurement of the effect of a change of the encoder. Comparing the packets before and after
// the change would not do, because the data change too. Instead the previous encoder continues for
// seventeen seconds after the change, on the same frames and losses, in an extra lane. That lane is not
// part of the run: reports, digests and logs do not contain it, and replays do not run it. If a shadow
// already runs the previous encoder, the trial uses the shadow's lane.

// WarmUp is the time after a lane began or its encoder was swapped that figures leave out, because
// the first packets are encoded against the initial state.
const WarmUp = time.Second

const (
	earlyResult   = 4 * time.Second  // duration of the measurement, after the warm-up, until its first result
	trialDuration = 16 * time.Second // duration of the whole measurement, enough for a confidence interval; see paired.MinPairs
	maxTrialLanes = 8                // no trial begins if the session has this many lanes
	maxEffects    = 100              // number of newest effects that are stored
)

// Effect is the measured effect of a change of the encoder: the samples of the encoders before and after
// the change over the same frames. Before[i] and After[i] cover the same period. A trial gives two effects:
// an early one after earlyResult, too short for a confidence interval, and one of the whole measurement,
// which follows in the list.
type Effect struct {
	T             time.Duration // when the encoder was changed; for a drag of a slider, its last step
	Until         time.Duration // end of the last sample
	Before, After []meters.Sample
}

// trials is the state of a session's trials.
type trials struct {
	trial           *trial // the current trial; nil if none
	effects         []Effect
	paused          bool            // no trial may begin
	previousEncoder *config.Encoder // the encoder before its last change; nil if it was not changed
	lastSwapKeys    string          // the configuration keys of that change
	swappedAt       time.Duration   // the time of that change
}

// trial is a running trial: the measurement described at the top of this file.
type trial struct {
	lane      *lane // runs the previous encoder
	ownsLane  bool  // the lane was started for the trial; otherwise it is a shadow's
	changedAt time.Duration
	before    config.Encoder // the previous encoder
	reported  bool           // the early result was recorded
}

// AllowTrials sets whether new trials may begin. The caller disallows them when the machine is too
// slow to run another lane.
func (s *Session) AllowTrials(allowed bool) { s.paused = !allowed }

// startTrial begins a trial after a change of the encoder at time at, and updates s.previousEncoder. before
// is the configuration before the change, and touched the keys that it set. If the change continues a drag
// of the same setting, which means that it follows within dragPeriod, the trial measures against the
// encoder before the first step of the drag. No trial begins if Options.Trials is not set, for files and
// real networks, or if there is no room for another lane.
func (s *Session) startTrial(at time.Duration, before *config.Config, touched string) {
	encoderBefore := before.Encoder
	if encoderBefore.Equal(s.config.Encoder) {
		return
	}
	dragged := s.lastSwapKeys == touched && at-s.swappedAt < dragPeriod
	if !dragged || s.previousEncoder == nil {
		s.previousEncoder = &encoderBefore
	}
	s.lastSwapKeys, s.swappedAt = touched, at
	if !s.opt.Trials || s.isFile || s.opt.Network != nil {
		return
	}
	if dragged && s.trial != nil && s.trial.before.Equal(*s.previousEncoder) {
		s.trial.changedAt, s.trial.reported = at, false // the trial continues and measures from this step on
		return
	}
	if t := s.trial; t != nil && t.reported { // the result of the time until now replaces the early one
		s.recordEffect(t, at)
	}
	s.endTrial()
	t := &trial{lane: s.shadowOf(*s.previousEncoder), changedAt: at, before: *s.previousEncoder}
	if t.lane == nil {
		if s.paused || len(s.lanes) >= maxTrialLanes { // AllowTrials(false), or no room for a lane
			return
		}
		l, err := s.newShadowLane(t.before)
		if err != nil {
			return // only the effect is not measured
		}
		t.lane, t.ownsLane = l, true
	}
	s.trial = t
	s.updateRunning()
}

// measureTrial records the early result of the current trial and, when its time is over, the final result;
// then it ends the trial.
func (s *Session) measureTrial(now time.Duration) {
	t := s.trial
	if t == nil {
		return
	}
	measured := now - t.changedAt - WarmUp
	if !t.reported && measured >= earlyResult {
		t.reported = true
		s.recordEffect(t, now)
	}
	if measured >= trialDuration {
		s.recordEffect(t, now)
		s.endTrial()
	}
}

// recordEffect records the effect that trial t has measured until now. Both lanes are measured after the
// change, over the same period: t.lane still runs the encoder before the change, s.lanes[0] the one after
// it. It records nothing if the lanes do not have samples of the same periods.
func (s *Session) recordEffect(t *trial, now time.Duration) {
	measured := func(l *lane) []meters.Sample {
		return slices.Clone(meters.Between(l.meter.Samples(), t.changedAt+WarmUp, now))
	}
	e := Effect{T: t.changedAt, Until: now, Before: measured(t.lane), After: measured(s.lanes[0])}
	if n := len(e.Before); n > 0 && n == len(e.After) && e.Before[0].T == e.After[0].T {
		stored := s.effects[max(0, len(s.effects)-maxEffects+1):]
		s.effects = append(slices.Clip(stored), e) // snapshots share the old list
	}
}

// endTrial ends the current trial without a result.
func (s *Session) endTrial() {
	if s.trial != nil {
		s.trial = nil
		s.updateRunning()
	}
}
