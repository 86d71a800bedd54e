package session

import (
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// patience is for how many ticks the screen shows what was asked for while no
// snapshot confirms it.
const patience = 20

// pending is what the person has asked for and the snapshot does not show yet.
// Panes show it at once, and the next press of a key goes on from it; so a key
// that is held moves steadily however late the engine answers. Changes are
// gathered and handed over once a tick, one Change for all of them.
type pending struct {
	cfg    *config.Config // nil: nothing beyond the snapshot
	Speed  *float64
	unsent []config.Change
	until  int // tick at which to give up waiting
}

// ask applies a change to what was asked for; the error is for the person.
func (p *pending) ask(from *config.Config, ch config.Change, tick int) error {
	cfg := p.cfg
	if cfg == nil {
		cfg = from.Clone()
	}
	if err := cfg.Apply(ch); err != nil {
		return err
	}
	p.cfg, p.until = cfg, tick+patience
	p.queue(ch)
	return nil
}

// queue adds a change to the last that waits. One that removes shadows stands apart from
// one that adds some: a change removes before it adds.
func (p *pending) queue(ch config.Change) {
	last := len(p.unsent) - 1
	switch {
	case ch.IsZero():
	case last < 0 || len(p.unsent[last].Shadows) > 0 && len(ch.ShadowsOff) > 0:
		p.unsent = append(p.unsent, ch)
	default:
		p.unsent[last] = p.unsent[last].Then(ch)
	}
}

// askSpeed is ask for the speed, which is no part of the configuration.
func (p *pending) askSpeed(v float64, tick int) { p.Speed, p.until = &v, tick+patience }

// config returns the configuration to show.
func (p *pending) config(snap *engine.Snapshot) *config.Config {
	if p.cfg != nil {
		return p.cfg
	}
	return snap.Config
}

// pace returns the speed to show.
func (p *pending) pace(snap *engine.Snapshot) float64 {
	if p.Speed != nil {
		return *p.Speed
	}
	return snap.Speed
}

// settle forgets what the snapshot has caught up with, or never will.
func (p *pending) settle(snap *engine.Snapshot, tick int) {
	late := tick >= p.until
	if p.cfg != nil && len(p.unsent) == 0 && (late || snap.Config.SameLive(p.cfg)) {
		p.cfg = nil
	}
	if p.Speed != nil && (late || snap.Speed == *p.Speed) {
		p.Speed = nil
	}
}

// forget drops all expectations: what comes next may be anything.
func (p *pending) forget() { *p = pending{} }
