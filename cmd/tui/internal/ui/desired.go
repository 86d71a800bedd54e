package ui

import (
	"maps"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// patience is how many ticks a change may take to come back in a snapshot before
// the screen believes the snapshot rather than the keys.
const patience = 20

// desired is what the person has asked for and the snapshot does not show yet.
// Panes show it at once, and the next press of a key goes on from it; so a key
// that is held moves steadily however late the engine answers. Changes are
// gathered and handed over once a tick, one Change for all of them.
type desired struct {
	cfg    *config.Config // nil: nothing beyond the snapshot
	speed  *float64
	unsent config.Change
	until  int // tick at which to give up waiting
}

// ask applies a change to what is desired; the error is for the person.
func (d *desired) ask(from *config.Config, ch config.Change, tick int) error {
	cfg := d.cfg
	if cfg == nil {
		cfg = from.Clone()
	}
	if err := cfg.Apply(ch); err != nil {
		return err
	}
	d.cfg, d.unsent, d.until = cfg, merge(d.unsent, ch), tick+patience
	return nil
}

// askSpeed is ask for the speed, which is no part of the configuration.
func (d *desired) askSpeed(v float64, tick int) { d.speed, d.until = &v, tick+patience }

// config returns the configuration to show.
func (d *desired) config(snap *engine.Snapshot) *config.Config {
	if d.cfg != nil {
		return d.cfg
	}
	return snap.Config
}

// pace returns the speed to show.
func (d *desired) pace(snap *engine.Snapshot) float64 {
	if d.speed != nil {
		return *d.speed
	}
	return snap.Speed
}

// settle forgets what the snapshot has caught up with, or never will.
func (d *desired) settle(snap *engine.Snapshot, tick int) {
	late := tick >= d.until
	if d.cfg != nil && d.unsent.IsZero() && (late || sameSettings(snap.Config, d.cfg)) {
		d.cfg = nil
	}
	if d.speed != nil && (late || snap.Speed == *d.speed) {
		d.speed = nil
	}
}

// sameSettings reports whether two configurations of a session agree in
// everything that a change can alter.
func sameSettings(a, b *config.Config) bool {
	return a.Encoder.Name == b.Encoder.Name && maps.Equal(a.Encoder.Params, b.Encoder.Params) &&
		a.Profile == b.Profile && a.Down == b.Down && a.Up == b.Up && a.Receiver.Playout == b.Receiver.Playout &&
		a.Receiver.Interpolation == b.Receiver.Interpolation && a.Sender.Every == b.Sender.Every &&
		slices.EqualFunc(a.Shadows, b.Shadows, config.Encoder.Equal)
}

// forget drops all expectations: what comes next may be anything.
func (d *desired) forget() { *d = desired{} }

// merge returns the change that does what a and then b would do.
func merge(a, b config.Change) config.Change {
	if b.Encoder != "" {
		a.Encoder, a.Params = b.Encoder, nil
	}
	a.Params = merged(a.Params, b.Params)
	if b.Profile != "" {
		a.Profile, a.Down, a.Up = b.Profile, nil, nil
	}
	a.ShadowOff, a.Shadow = append(slices.Clip(a.ShadowOff), b.ShadowOff...), append(slices.Clip(a.Shadow), b.Shadow...)
	a.Down, a.Up = merged(a.Down, b.Down), merged(a.Up, b.Up)
	if b.Playout != nil {
		a.Playout = b.Playout
	}
	if b.Every != 0 {
		a.Every = b.Every
	}
	if b.Interpolation != "" {
		a.Interpolation = b.Interpolation
	}
	return a
}

func merged[V any](a, b map[string]V) map[string]V {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
}
