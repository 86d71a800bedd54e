package live

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// clientSession repeats the selected client of a crowd beside it, in a session with one receiver, for what a crowd does
// not store: packets bit by bit, and what the client displays.
type clientSession struct {
	number   int           // of the client; 0 if none, or not repeated yet
	session  *session      // at the time of the crowd; nil if none
	err      error         // why there is no session for the client
	outdated bool          // the crowd was changed since the session was opened
	next     *clientReplay // replaces session; nil if none
}

// clientReplay is a job that opens a session for a client, and repeats the run up to the present.
type clientReplay struct {
	*job
	number  int
	cancel  context.CancelFunc
	reached atomic.Int64 // virtual time
	session *session     // valid after the job
}

// stop cancels the replay, if any, and waits for its end.
func (c *clientSession) stop() {
	if c.next == nil {
		return
	}
	c.next.cancel()
	<-c.next.finished
	if s := c.next.session; s != nil {
		_ = s.Close() // nothing of it is kept
	}
	c.next = nil
}

// replace makes s the session of client n. The details of packets are those of another client then.
func (c *clientSession) replace(n int, s *session, err error) {
	if c.session != nil {
		_ = c.session.Close()
	}
	c.number, c.session, c.err = n, s, err
}

// addTo adds the snapshot of the session to that of the crowd.
func (c *clientSession) addTo(snap *engine.Snapshot, r *Runner) {
	switch {
	case snap.Crowd.Selected == 0:
		snap.Crowd.NoClient = "no client is in the game"
	case c.err != nil:
		snap.Crowd.NoClient = c.err.Error()
	case c.session != nil:
		snap.Crowd.Client = c.session.view(r)
		snap.Crowd.Client.Client = c.number
	default:
		past := &engine.Past{To: snap.Now, Reached: time.Duration(c.next.reached.Load())}
		snap.Crowd.Client = &engine.Snapshot{Now: snap.Now, Config: snap.Config, Item: snap.Item, Schema: snap.Schema, Past: past}
	}
}

// follow begins to repeat client n in another goroutine, unless its session is up to date; 0 means no client. The session
// of another client ends at once.
func (x *receivers) follow(n int) {
	c := &x.client
	if next := c.next; next != nil && next.number == n && !c.outdated {
		select {
		case <-next.finished:
			c.next = nil
			x.adopt(next)
		default:
		}
		return
	}
	c.stop()
	if c.number != n {
		c.replace(0, nil, nil)
	}
	if n == c.number && !c.outdated {
		return
	}
	c.outdated = false
	alone, err := x.ClientConfig(n)
	if err != nil {
		c.replace(n, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	next := &clientReplay{number: n, cancel: cancel}
	to := x.Now()
	next.job = startJob(func() (err error) {
		next.session, err = repeatClient(ctx, alone, x.runner, to, &next.reached)
		return err
	})
	c.next = next
}

// adopt makes a finished replay the session of its client, and lets it catch up with the crowd.
func (x *receivers) adopt(next *clientReplay) {
	err := next.err
	if err == nil {
		err = next.session.RunUntil(x.Now())
	}
	x.client.replace(next.number, next.session, err)
	x.runner.viewing.forget()
}

// followNow repeats client n up to the present. It returns the error of ctx if that ends before.
func (x *receivers) followNow(ctx context.Context, n int) error {
	c := &x.client
	if n == 0 || n == c.number {
		return nil
	}
	c.stop()
	alone, err := x.ClientConfig(n)
	if err != nil {
		c.replace(n, nil, err)
		return nil
	}
	s, err := repeatClient(ctx, alone, x.runner, x.Now(), new(atomic.Int64))
	c.replace(n, s, err)
	return ctx.Err()
}

// repeatClient opens a session with the configuration of a client, and runs it up to the given time. reached is set to the
// virtual time so far.
func repeatClient(ctx context.Context, alone *config.Config, r *Runner, to time.Duration, reached *atomic.Int64) (*session, error) {
	if err := checkReadable(alone); err != nil {
		return nil, err
	}
	s, err := openSession(ctx, alone, r, nil)
	if err != nil {
		return nil, err
	}
	for err == nil && s.Now() < to && !s.Done() {
		err = errors.Join(ctx.Err(), s.RunUntil(min(s.Now()+pastSlice, to)))
		reached.Store(int64(s.Now()))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// RunUntil implements run.
func (x *receivers) RunUntil(t time.Duration) error {
	err := x.Live.RunUntil(t)
	if s := x.client.session; s != nil {
		err = errors.Join(err, s.RunUntil(x.Now()))
	}
	return err
}

// Close implements run.
func (x *receivers) Close() error {
	x.client.stop()
	x.client.replace(0, nil, nil)
	return x.Live.Close()
}
