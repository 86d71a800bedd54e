package experiment

import (
	"errors"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/remote"
)

// Over a network a session keeps the pace of the wall clock, and does not go back.
var (
	errOnePace = errors.New("over a network a second takes a second: no other speed, and no seeking")
	errNoWay   = errors.New("over a network nothing that was sent can be taken back: the run before is over")
)

// remoteBeat is the runner's beat then: packets leave, and acks are read, that much late.
const remoteBeat = 2 * time.Millisecond

// behind is how far virtual time may fall behind the wall clock and still hurry after it.
// The display at the far end goes by that clock, and would starve for as long as it takes
// to notice that time went slower here.
func (r *Runner) behind() time.Duration {
	if r.opt.Remote != nil {
		return 2 * longestBeat
	}
	return 4 * beat
}

// network is where the receiver is; nil: here.
func (o *RunnerOptions) network() engine.Network {
	if o.Remote == nil {
		return nil
	}
	return o.Remote
}

// listen takes what came in over the network, to happen until virtual time to, which is
// now; or, if time stands still, when it goes on.
func (r *Runner) listen(to time.Duration) {
	link := r.opt.Remote
	if link == nil || r.err != nil {
		return
	}
	from := r.session.Now()
	link.Paused(r.paused && r.seeking == nowhere)
	link.Poll(r.session.Config(), from, max(to, from+1), time.Now().Add(-to))
	if err := link.Err(); err != nil {
		r.fail(err)
	}
}

// alone takes the shadows out of a change that is about something else too: over a network
// the encoder runs alone.
func alone(ch config.Change) config.Change {
	out := slices.DeleteFunc(slices.Clone(ch), func(x config.Value) bool { return x.Key == "shadow" || x.Key == "shadow_off" })
	if len(out) == 0 {
		return ch // the session says why not
	}
	return out
}

// forwardOnly says why a command cannot be carried out over a network; nil if it can.
func forwardOnly(link *remote.Link, c *Command) error {
	if link != nil && (c.Seek != nil || c.Speed != nil && *c.Speed != 1) {
		return errOnePace
	}
	return nil
}
