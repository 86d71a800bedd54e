package engine

import (
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/policy"
)

// laneControl is the lab's view of the send-rate control of a lane. The control itself is part of
// endpoint.Sender.
type laneControl struct {
	arrivals bool  // acks contain arrival times
	held     int64 // snapshots held back since the lane began
	steps    meters.Steps
}

// arrivalTag marks acks with an arrival time on modelled links, where the control may change while acks
// are in flight.
const arrivalTag = 1

// setControl applies the control of c, the configuration of the lane.
func (l *lane) setControl(c *config.Config) {
	p := c.Sender.Control
	l.snd.SetControl(p, c.SendInterval())
	if l.paths.peer == nil { // a remote receiver sends arrival times in all acks of a session or in none
		l.control.arrivals = endpoint.NeedsArrivals(p)
	}
}

// offer sends the snapshot that is due at now, or skips it if the control or the stream of messages
// holds it back.
func (l *lane) offer(now time.Duration, cur *frame.Shared) {
	if !l.snd.Due(now) || l.messenger.skipPacket() {
		l.snd.Hold(&cur.Frame, l.unsent)
		l.countHeld()
		return
	}
	l.send(now, cur)
	l.unsent.Clear()
	l.restartUnsent = false
}

// countHeld counts a snapshot that is not sent, because the control, the stream of messages or the
// budget holds it back.
func (l *lane) countHeld() {
	l.meter.Now.Held++
	l.control.held++
}

// checkControl returns an error if a control of c cannot work in this session.
func (s *Session) checkControl(c *config.Config) error {
	for key, p := range c.LaneControls() {
		switch {
		case s.schema.Delivery != frame.Latest:
			return &config.Error{Key: key, Problem: "a control skips snapshots, and these data must not be skipped: the receiver needs every one",
				Expected: "snapshots, such as cubes, or off"}
		case len(s.lanes) > 0 && s.lanes[0].paths.peer != nil && endpoint.NeedsArrivals(p) && !s.lanes[0].control.arrivals:
			return &config.Error{Key: key, Problem: p.Name() + " needs arrival times in acks, which a remote receiver sends only in sessions that began with such a control",
				Expected: "a policy without them, or a new run with " + p.Name()}
		}
	}
	return nil
}

// controlFigures returns the figures of the lane's control; nil if it has none.
func (l *lane) controlFigures() *figures.Control {
	state := l.snd.Control()
	if state == nil {
		return nil
	}
	f := &figures.Control{Policy: state.Policy.String(), Held: l.control.held, HeldBy: figures.HeldCounts{}, RateCuts: state.Cuts,
		HeldRatio: figures.RatioFigure(float64(l.control.held), float64(l.control.held+l.meter.Total().Sent)), Steps: l.control.steps.Figures()}
	if state.TargetBps > 0 {
		f.TargetKbps = figures.Known(float64(state.TargetBps) / 1000)
	}
	for why := endpoint.HeldByRate; why <= endpoint.HeldToDrain; why++ {
		f.HeldBy[why.String()] = state.Held[why]
	}
	for i := range state.Decisions {
		d := &state.Decisions[i]
		f.Decisions = append(f.Decisions, figures.ControlDecision{TS: d.At.Seconds(), UntilS: d.Until.Seconds(), Held: d.Held, Reason: d.Why.String(), Text: d.Text()})
	}
	return f
}

// ControlView is the state of a lane's send-rate control in a Snapshot.
type ControlView struct {
	Policy    policy.Policy
	TargetBps int64               // rate in bits per second; 0 if the policy has none
	Held      int64               // snapshots held back since the lane began
	Decisions []endpoint.Decision // the newest, oldest first
}

// controlView returns the state of the lane's control; nil if it has none.
func (l *lane) controlView() *ControlView {
	state := l.snd.Control()
	if state == nil {
		return nil
	}
	return &ControlView{state.Policy, state.TargetBps, l.control.held, slices.Clone(state.Decisions)}
}
