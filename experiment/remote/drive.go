package remote

import (
	"context"
	"time"

	"wirelab/experiment/engine"
)

// Near its end a session waits for reports about datagrams in flight. Virtual time stops endMargin
// before the end, so that their arrivals can still be applied within the session.
const (
	endMargin         = time.Millisecond
	drainTimeout      = time.Second // the longest wait for these reports
	drainPollInterval = 5 * time.Millisecond
	maxSleep          = 10 * time.Millisecond // the longest sleep between two polls of the network
)

// Drive advances the virtual time of s at the pace of the wall clock. It returns nil when the
// session or ctx ends, and an error when the session, the network or the peer fails. At the end of
// the session or ctx and after a network error it first waits for reports about datagrams in
// flight; see Settle. onInterval is called every reportInterval; an error of onInterval ends Drive
// at once.
func (l *Link) Drive(ctx context.Context, s *engine.Session, onInterval func() error) error {
	// Virtual time stops endMargin before the end, so that reports about the last datagrams can still be
	// applied.
	zero := time.Now().Add(-s.Now()) // the wall time at which virtual time was zero
	wake := time.NewTimer(0)
	defer wake.Stop()
	reportedAt := time.Now()
	for !s.Done() {
		if behind := time.Since(zero) - s.Now(); behind > suspendThreshold {
			// The process was suspended. Suspend virtual time too; otherwise all due packets would be
			// sent at once.
			zero = zero.Add(behind)
		}
		now := min(time.Since(zero), s.Ends()-endMargin)
		l.Poll(s.Config(), s.Now(), now, zero)
		// One event at a time: an event may end the session early, which changes s.Ends().
		for next := s.NextEvent(); next <= min(now, s.Ends()-endMargin); next = s.NextEvent() {
			if err := s.RunUntil(next); err != nil {
				return err
			}
		}
		if err := s.RunUntil(min(now, s.Ends()-endMargin)); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			l.Settle(s)
			return nil
		case l.Err() != nil:
			l.Settle(s)
			return l.Err()
		case now >= s.Ends()-endMargin:
			l.Settle(s)
			return s.RunUntil(s.Ends())
		}
		if time.Since(reportedAt) >= reportInterval {
			reportedAt = time.Now()
			if err := onInterval(); err != nil {
				return err
			}
		}
		wake.Reset(min(time.Until(zero.Add(s.NextEvent())), maxSleep))
		select {
		case <-ctx.Done():
		case <-l.conn.done:
		case <-l.conn.ready:
		case <-wake.C:
		}
	}
	return nil
}

// Settle waits up to drainTimeout for reports about datagrams in flight, while virtual time stands
// still. It then applies them all within half of endMargin of virtual time, so that a session near
// its end does not end before they are applied.
func (l *Link) Settle(s *engine.Session) {
	if s.Done() {
		return
	}
	// The receiver stops its display and reports more often.
	l.settings.Ending, l.settings.Paused = true, true
	l.sendSettings()
	startedAt := time.Now()
	until := max(s.Now(), l.lastStamp) + endMargin/2
	for time.Since(startedAt) < drainTimeout && l.Err() == nil && l.recordsRead < uint64(l.inFlight.nextNumber) {
		time.Sleep(drainPollInterval)
		// Messages get time stamps as if virtual time had continued since startedAt, but not beyond until.
		l.Poll(s.Config(), s.Now(), until, startedAt.Add(-s.Now()))
	}
	l.acks.limitTimes(until)
	l.arrivals.limitTimes(until)
	_ = s.RunUntil(until) // the session keeps its error and returns it from later calls
	l.settings.Ending, l.settings.Paused = false, false
}
