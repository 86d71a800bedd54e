package labtest

import (
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/live"
)

// Echo is a lab that executes changes, pause and speed in a session of its own. Time passes only by Pass.
type Echo struct {
	Lab
	session *engine.Session
}

// NewEcho returns an Echo 90 s after the start of a session like that of NewChanged.
func NewEcho() *Echo {
	l := &Echo{session: open(changed)}
	l.Snap = runTo(l.session, runLength)
	return l
}

func (l *Echo) Do(c live.Command) bool {
	if c.Change != nil {
		if err := l.session.Change(*c.Change); err != nil {
			panic(err) // the dashboard validates changes before it sends them
		}
		l.Pass(0)
	}
	next := *l.Snap
	if c.Pause != nil {
		next.State = engine.Running
		if *c.Pause {
			next.State = engine.Paused
		}
	}
	if c.Speed != nil {
		next.Speed = *c.Speed
	}
	l.Snap = &next
	return l.Lab.Do(c)
}

// Pass advances virtual time by d.
func (l *Echo) Pass(d time.Duration) {
	state, pace := l.Snap.State, l.Snap.Pace
	l.Snap = runTo(l.session, l.session.Now()+d)
	l.Snap.State, l.Snap.Pace = state, pace
}
