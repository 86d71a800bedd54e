package experiment

import (
	"time"

	"wirelab/experiment/engine"
)

// rowCostEvery is the minimum time between two computations of the costs of rows, for which the packets since
// the last one are encoded once more.
const rowCostEvery = 500 * time.Millisecond

// prioritiesEvery is the minimum virtual time between two computations of priorities.
const prioritiesEvery = 250 * time.Millisecond

// tracing contains what the user requested to see of the bits of packets, and the newest results.
type tracing struct {
	tracedSeq    *uint64         // the packet of the last Command.Trace; nil if none
	traced       *engine.Traced  // its description
	tracedOf     *engine.Session // the session that traced and rowCosts belong to
	showRowCosts bool
	showCarried  bool
	rowCosts     *engine.RowCosts // nil if not computed yet
	rowCostsAt   time.Duration    // wall time at which rowCosts was computed

	showPriorities bool
	priorities     *engine.Priorities // nil if not computed yet
}

// handle records what a command requests.
func (x *tracing) handle(c *Command) {
	if c.Trace != nil {
		x.tracedSeq, x.traced = c.Trace, nil
	}
	if c.Priorities != nil {
		x.showPriorities, x.priorities = *c.Priorities, nil
	}
	if c.RowCosts != nil {
		x.showRowCosts, x.rowCosts = *c.RowCosts, nil
	}
	if c.Carried != nil {
		x.showCarried, x.rowCosts = *c.Carried, nil
	}
}

// addTraces adds the requested descriptions to a snapshot. A packet is described once, and again when its ack is
// known. The description stays when the sender no longer stores the packet.
func (r *Runner) addTraces(snap *engine.Snapshot) {
	x := &r.tracing
	if x.tracedOf != r.session {
		x.traced, x.rowCosts, x.priorities, x.tracedOf = nil, nil, nil, r.session
	}
	if x.tracedSeq != nil {
		if x.traced == nil || x.traced.Packet == nil {
			x.traced = r.session.Trace(*x.tracedSeq)
		}
		x.traced = r.session.WithAck(x.traced)
		snap.Traced = x.traced
	}
	if x.showPriorities {
		if x.priorities == nil || snap.Now-x.priorities.Now >= prioritiesEvery || snap.Now < x.priorities.Now {
			x.priorities = r.session.Priorities()
		}
		snap.Priorities = x.priorities
	}
	if !x.showRowCosts && !x.showCarried {
		return
	}
	wall := r.opt.Clock()
	if x.rowCosts == nil || wall-x.rowCostsAt >= rowCostEvery && x.rowCosts.Now != snap.Now {
		x.rowCosts, x.rowCostsAt = r.session.RowCosts(), wall
	}
	if x.showRowCosts {
		snap.RowCosts = x.rowCosts
	}
	if x.showCarried {
		snap.Carried = x.rowCosts
	}
}
