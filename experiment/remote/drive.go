package remote

import (
	"context"
	"time"

	"wirelab/experiment/engine"
)

// At its end a session waits for reports of what is under way: its time stands still a
// little before the end.
const (
	beforeEnd  = time.Millisecond
	lastWait   = time.Second
	endedBeat  = 5 * time.Millisecond
	longestNap = 10 * time.Millisecond
)

// Drive lets a session's time pass as the wall clock's does while this process runs, until
// the session ends, ctx does, or the far end is gone. each is called some times a second; its error ends it too.
// What is under way at the end is waited for, for a moment.
func (l *Link) Drive(ctx context.Context, s *engine.Session, each func() error) error {
	zero := time.Now().Add(-s.Now())
	nap := time.NewTimer(0)
	defer nap.Stop()
	looked := time.Now()
	for !s.Done() {
		if behind := time.Since(zero) - s.Now(); behind > absent {
			zero = zero.Add(behind) // this process was stopped: so was time, or all that is due would leave at once
		}
		now := min(time.Since(zero), s.Ends()-beforeEnd)
		l.Poll(s.Config(), s.Now(), now, zero)
		for at := s.NextEvent(); at <= min(now, s.Ends()-beforeEnd); at = s.NextEvent() { // one by one: the data may tell the end
			if err := s.RunUntil(at); err != nil {
				return err
			}
		}
		if err := s.RunUntil(min(now, s.Ends()-beforeEnd)); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			l.Settle(s)
			return nil
		case l.Err() != nil:
			l.Settle(s)
			return l.Err()
		case now >= s.Ends()-beforeEnd:
			l.Settle(s)
			return s.RunUntil(s.Ends())
		}
		if time.Since(looked) >= reportEvery {
			looked = time.Now()
			if err := each(); err != nil {
				return err
			}
		}
		nap.Reset(min(time.Until(zero.Add(s.NextEvent())), longestNap))
		select {
		case <-ctx.Done():
		case <-l.conn.Done():
		case <-l.conn.Ready():
		case <-nap.C:
		}
	}
	return nil
}

// Settle waits for reports of what is under way, and lets it happen within the next
// fraction of a millisecond of the session's time.
func (l *Link) Settle(s *engine.Session) {
	if l.conn == nil || s.Done() {
		return
	}
	l.sent.ending, l.sent.paused = true, true
	l.confirm()
	begun := time.Now()
	to := max(s.Now(), l.stamped) + beforeEnd/2
	for time.Since(begun) < lastWait && l.Err() == nil && l.read < uint64(l.flying.next) {
		time.Sleep(endedBeat)
		l.Poll(s.Config(), s.Now(), to, begun.Add(-s.Now()))
	}
	l.acks.limitTimes(to)
	l.arrivals.limitTimes(to)
	_ = s.RunUntil(to) // the session says so itself
	l.sent.ending, l.sent.paused = false, false
}
