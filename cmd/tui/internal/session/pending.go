package session

import (
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// confirmTicks is the number of ticks for which requested settings are shown while no snapshot confirms
// them.
const confirmTicks = 20

// pending contains the settings that the user requested and that the snapshot does not show yet. Panes
// show them at once, and the next key changes them further, so that a held key moves a control steadily
// although the engine answers later. Changes are combined and sent once per tick.
type pending struct {
	cfg    *config.Config  // the requested configuration; nil if it is that of the snapshot
	Speed  *float64        // the requested speed; nil if it is that of the snapshot
	unsent []config.Change // not sent to the lab yet
	until  int             // tick at which cfg and Speed are dropped if no snapshot confirmed them
}

// applyChange applies a change to the requested configuration, or to a copy of current, the configuration of
// the snapshot, if nothing is pending, and queues it. tick is the present. The error is meant for the user;
// the change is not queued then.
func (p *pending) applyChange(current *config.Config, ch config.Change, tick int) error {
	cfg := p.cfg
	if cfg == nil {
		cfg = current.Clone()
	}
	if err := cfg.Apply(ch); err != nil {
		return err
	}
	p.cfg, p.until = cfg, tick+confirmTicks
	p.queueChange(ch)
	return nil
}

// queueChange combines a change with the last unsent one. It starts a new one if a removal of shadows
// follows an addition, because a combined change removes before it adds.
func (p *pending) queueChange(ch config.Change) {
	last := len(p.unsent) - 1
	switch {
	case ch.IsZero():
	case last < 0 || len(p.unsent[last].Shadows()) > 0 && len(ch.ShadowsOff()) > 0:
		p.unsent = append(p.unsent, ch)
	default:
		p.unsent[last] = p.unsent[last].Merge(ch)
	}
}

// setSpeed requests a speed, which is not part of the configuration.
func (p *pending) setSpeed(v float64, tick int) { p.Speed, p.until = &v, tick+confirmTicks }

// config returns the configuration to show.
func (p *pending) config(snap *engine.Snapshot) *config.Config {
	if p.cfg != nil {
		return p.cfg
	}
	return snap.Config
}

// speed returns the speed to show.
func (p *pending) speed(snap *engine.Snapshot) float64 {
	if p.Speed != nil {
		return *p.Speed
	}
	return snap.Speed
}

// dropConfirmed drops settings that the snapshot confirms, and those that it did not confirm in time.
func (p *pending) dropConfirmed(snap *engine.Snapshot, tick int) {
	expired := tick >= p.until
	if p.cfg != nil && len(p.unsent) == 0 && (expired || snap.Config.SameLive(p.cfg)) {
		p.cfg = nil
	}
	if p.Speed != nil && (expired || snap.Speed == *p.Speed) {
		p.Speed = nil
	}
}

// forget drops all requested settings, for example after an undo, whose result is not known in advance.
func (p *pending) forget() { *p = pending{} }
