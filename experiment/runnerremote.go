package experiment

import (
	"errors"
	"time"

	"wirelab/experiment/config"
)

// errRealTimeOnly is the error for a speed or a seek over a network.
var errRealTimeOnly = errors.New("a session over a network runs in real time: speed and seeking are not available")

// remoteTickInterval replaces tickInterval over a network. Packets are sent and acks are read up to
// this much late.
const remoteTickInterval = 2 * time.Millisecond

// maxBacklog returns how far virtual time may fall behind the wall clock and still catch up. It is
// longer over a network: the remote display follows its own clock, and starves if this one slows down.
func (l *liveLoop) maxBacklog() time.Duration {
	if l.opt.Remote != nil {
		return 2 * maxElapsed
	}
	return 4 * tickInterval
}

// pollNetwork receives datagrams from the network, if the session uses one, and schedules them as events at
// virtual times up to to, which corresponds to the current wall time. While the session is paused, they are
// scheduled right after the current virtual time, so they take effect when it continues.
func (r *Runner) pollNetwork(to time.Duration) {
	link := r.opt.Remote
	if link == nil || r.err != nil {
		return
	}
	from := r.session.Now()
	link.SetPaused(r.paused && r.seekTarget == noSeek)
	virtualZero := time.Now().Add(-to) // the wall time at virtual time 0
	link.Poll(r.session.Config(), from, max(to, from+1), virtualZero)
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
