package remote

import (
	"context"
	"time"

	"wirelab/experiment/engine"
)

// Near its end a session waits for reports about datagrams in flight. Virtual time stops endMargin
// before the end, so that their arrivals can still be applied within the session.
const (
	endMargin    = time.Millisecond
	drainTimeout = time.Second // the longest wait for these reports
	pollInterval = 2 * time.Millisecond
)

// suspendThreshold is how far virtual time falls behind only if the process was suspended.
const suspendThreshold = time.Second

// Drive advances the virtual time of s at the pace of the wall clock. It returns nil when the
// session or ctx ends, and an error when the session, the network or the peer fails. At the end of
// the session or ctx and after a network error it first waits for reports about datagrams in
// flight; see settle. onInterval is called every reportInterval; an error of onInterval ends Drive
// at once.
func (l *Link) Drive(ctx context.Context, s *engine.Session, onInterval func() error) error {
	zero := time.Now().Add(-s.Now()) // the wall time at which virtual time was zero
	reportedAt := time.Now()
	for !s.Done() {
		if behind := time.Since(zero) - s.Now(); behind > suspendThreshold {
			// Virtual time is suspended too; otherwise all due packets would be sent at once.
			zero = zero.Add(behind)
		}
		now := time.Since(zero)
		l.Poll(s.Config(), s.Now(), min(now, s.Ends()-endMargin), zero)
		// One event at a time: an event may end the session early, which changes s.Ends().
		limit := func() time.Duration { return min(now, s.Ends()-endMargin) }
		for !s.Done() && s.Now() < limit() {
			if err := s.RunUntil(min(s.NextEvent(), limit())); err != nil {
				return err
			}
		}
		switch {
		case s.Done():
			return nil
		case ctx.Err() != nil:
			l.settle(s)
			return nil
		case l.Err() != nil:
			l.settle(s)
			return l.Err()
		case now >= s.Ends()-endMargin:
			l.settle(s)
			return s.RunUntil(s.Ends())
		}
		if time.Since(reportedAt) >= reportInterval {
			reportedAt = time.Now()
			if err := onInterval(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-l.conn.open.Done():
		case <-time.After(min(time.Until(zero.Add(s.NextEvent())), pollInterval)):
		}
	}
	return nil
}

// settle waits up to drainTimeout for reports about datagrams in flight, while virtual time stands
// still. It then applies them all within half of endMargin of virtual time, so that a session near
// its end does not end before they are applied.
func (l *Link) settle(s *engine.Session) {
	l.SetPaused(true) // the receiver stops its display
	startedAt := time.Now()
	until := max(s.Now(), l.lastStamp) + endMargin/2
	for time.Since(startedAt) < drainTimeout && l.Err() == nil && l.recordsRead < l.inFlight.next {
		// Messages get time stamps as if virtual time had continued since startedAt, but not beyond until.
		l.Poll(s.Config(), s.Now(), until, startedAt.Add(-s.Now()))
		time.Sleep(pollInterval)
	}
	l.acks.limitTimes(until)
	l.arrivals.limitTimes(until)
	_ = s.RunUntil(until) // the session keeps its error and returns it from later calls
}
