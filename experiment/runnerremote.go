package experiment

import (
	"errors"
	"time"

	"wirelab/experiment/config"
)

// Over a network a session keeps the pace of the wall clock, and does not go back.
var (
	errOnePace = errors.New("over a network a second takes a second: no other speed, and no seeking")
	errNoWay   = errors.New("over a network nothing that was sent can be taken back: the run before is over")
)

// remoteTickInterval is tickInterval over a network. Packets are sent, and acks are read, up to this much
// late.
const remoteTickInterval = 2 * time.Millisecond

// behind is how far virtual time may fall behind the wall clock and still catch up. The display at
// the far end follows that clock, and would starve until it notices that time is slower here.
func (r *Runner) behind() time.Duration {
	if r.opt.Remote != nil {
		return 2 * maxElapsed
	}
	return 4 * tickInterval
}

// listen reads what came in over the network, to happen until virtual time to, which is now; or, if
// time stands still, when it continues.
func (r *Runner) listen(to time.Duration) {
	link := r.opt.Remote
	if link == nil || r.err != nil {
		return
	}
	from := r.session.Now()
	link.Paused(r.paused && r.seeking == noSeek)
	link.Poll(r.session.Config(), from, max(to, from+1), time.Now().Add(-to))
	if err := link.Err(); err != nil {
		r.fail(err)
	}
}

// withoutShadows removes the shadows from a change that has other settings too: over a network the
// encoder runs alone. Of other changes the session returns an error.
func withoutShadows(ch config.Change) config.Change {
	out := ch
	out.Shadows, out.ShadowsOff = nil, nil
	if out.IsZero() {
		return ch
	}
	return out
}
