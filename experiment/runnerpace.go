package experiment

import (
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
)

// pace measures how fast virtual time really goes.
type pace struct {
	wall, virtual time.Duration
	started       bool
	factor        float64
}

func (p *pace) note(wall, virtual time.Duration) {
	if !p.started || virtual < p.virtual {
		p.wall, p.virtual, p.started = wall, virtual, true
		return
	}
	if d := wall - p.wall; d >= time.Second {
		p.factor = float64(virtual-p.virtual) / float64(d)
		p.wall, p.virtual = wall, virtual
	}
}

func (p *pace) rest() { p.started = false }

// rest is what the runner shows beyond the usual while time stands still: every
// packet that it remembers, so that a person can look back at them. They are
// copied once for each time that it comes to rest, and let go of when it goes on.
type rest struct {
	stood   int // snapshots since time stood still
	packets []packetlog.Record
}

// restBefore is how many snapshots show the usual first: whoever steps from frame
// to frame would copy all packets for each of them.
const restBefore = 4

// show puts what is remembered into snap, if time has stood still long enough.
func (x *rest) show(r *Runner, snap *engine.Snapshot) {
	if r.seeking != nowhere || !r.paused && !r.session.Done() || r.err != nil {
		*x = rest{}
		return
	}
	if x.stood++; x.stood <= restBefore {
		return
	}
	if x.packets == nil {
		x.packets = r.session.Packets()
	}
	snap.Lanes[0].Packets = x.packets
}
