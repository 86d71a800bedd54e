package live

import (
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
)

// rowCostEvery is the minimum time between two computations of the costs of rows, for which the packets since
// the last one are encoded once more.
const rowCostEvery = 500 * time.Millisecond

// prioritiesEvery is the minimum virtual time between two computations of priorities.
const prioritiesEvery = 250 * time.Millisecond

// viewing contains what the user requested to see in snapshots besides figures, and the newest results.
type viewing struct {
	inspected *packetlog.ID     // the packet of the last Command.Open; nil if none
	client    int               // the client of a crowd whose packets snapshots contain, from 1; 0 means none
	opened    *inspector.Opened // the newest details of the inspected packet
	tracedSeq *uint64           // the packet of the last Command.Trace; nil if none
	traced    *engine.Traced    // its description
	of        *engine.Session   // the session that the results belong to

	showRowCosts bool
	showCarried  bool
	rowCosts     *engine.RowCosts // nil if not computed yet
	rowCostsAt   time.Duration    // wall time at which rowCosts was computed

	showPriorities bool
	priorities     *engine.Priorities // nil if not computed yet
}

// handle records what a command requests.
func (x *viewing) handle(c *Command) {
	if c.Client > 0 {
		x.client = c.Client
		x.forget()
	}
	if c.Open != nil {
		x.inspected = c.Open
	}
	if c.Trace != nil {
		x.tracedSeq = c.Trace
		x.traced = nil
	}
	if c.Priorities != nil {
		x.showPriorities = *c.Priorities
		x.priorities = nil
	}
	if c.RowCosts != nil {
		x.showRowCosts = *c.RowCosts
		x.rowCosts = nil
	}
	if c.Carried != nil {
		x.showCarried = *c.Carried
		x.rowCosts = nil
	}
}

// forget removes the details of packets, because those of another client follow.
func (x *viewing) forget() {
	x.opened = nil
	x.traced = nil
}

// add adds what was requested of session s, nil if there is none, to its snapshot. wall is the wall time. A
// packet is described once, and again when its ack is known. Details and description stay when the
// session no longer stores the packet, or when s repeats the session that stored it.
func (x *viewing) add(snap *engine.Snapshot, s *engine.Session, wall time.Duration) {
	if x.of != s {
		x.rowCosts = nil
		x.priorities = nil
		x.of = s
	}
	if s == nil {
		return
	}
	if x.inspected != nil {
		if o := s.Opened(*x.inspected); !o.Gone || x.opened == nil || x.opened.ID != o.ID {
			x.opened = o
		}
		snap.Opened = x.opened
	}
	if x.tracedSeq != nil {
		if x.traced == nil || x.traced.Packet == nil {
			x.traced = s.Trace(*x.tracedSeq)
		}
		x.traced = s.WithAck(x.traced)
		snap.Traced = x.traced
	}
	isAhead := s.Now() > snap.Now // of a look back at a packet, which has the priorities of its moment
	switch {
	case !x.showPriorities:
		snap.Priorities = nil
	case !isAhead:
		if x.priorities == nil || snap.Now-x.priorities.Now >= prioritiesEvery || snap.Now < x.priorities.Now {
			x.priorities = s.Priorities()
		}
		snap.Priorities = x.priorities
	}
	if !x.showRowCosts && !x.showCarried {
		return
	}
	if x.rowCosts == nil || wall-x.rowCostsAt >= rowCostEvery && x.rowCosts.Now != snap.Now {
		x.rowCosts = s.RowCosts(snap.Now)
		x.rowCostsAt = wall
	}
	if x.showRowCosts {
		snap.RowCosts = x.rowCosts
	}
	if x.showCarried {
		snap.Carried = x.rowCosts
	}
}
