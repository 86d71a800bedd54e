package config

import (
	"errors"
	"maps"
	"time"

	"wirelab/lossmodel"
)

// Check says whether ch could be applied to this configuration; the error is
// fit for the person who typed it.
func (c *Config) Check(ch Change) error { return c.Clone().Apply(ch) }

// Apply makes c what it is after ch, or leaves it as it was and says why not.
// An encoder's name without params means that encoder with its defaults.
func (c *Config) Apply(ch Change) error {
	d := c.Clone()
	if ch.Encoder != "" {
		d.Encoder = Encoder{Name: ch.Encoder}
	}
	if len(ch.Params) > 0 {
		if d.Encoder.Params == nil {
			d.Encoder.Params = map[string]any{}
		}
		maps.Copy(d.Encoder.Params, ch.Params)
	}
	if ch.Encoder != "" || len(ch.Params) > 0 {
		if _, _, err := d.Encoder.Resolve("encoder", d.Codecs); err != nil {
			return err
		}
	}
	if err := d.changeShadows(&ch); err != nil {
		return err
	}
	if ch.Profile != "" {
		if err := d.setProfile(ch.Profile); err != nil {
			return err
		}
	}
	if err := patch(&d.Down, "down", ch.Down); err != nil {
		return err
	}
	if err := patch(&d.Up, "up", ch.Up); err != nil {
		return err
	}
	d.Profile = d.matchProfile()
	if ch.Playout != nil {
		d.Receiver.Playout = *ch.Playout
	}
	if ch.Every != 0 {
		d.Sender.Every = ch.Every
	}
	if ch.Playout != nil || ch.Every != 0 {
		if err := d.checkHistories(); err != nil {
			return err
		}
	}
	if ch.Interpolation != "" && !setInterpolation(&d.Receiver.Interpolation, ch.Interpolation) {
		return Unknown("interpolation", "interpolation", ch.Interpolation, Interpolations())
	}
	*c = *d
	return nil
}

// patch sets the keys of one link, then looks at the whole.
func patch(spec *lossmodel.Spec, key string, settings map[string]string) error {
	table := map[string]any{}
	for k, v := range settings {
		table[k] = v
	}
	if err := spec.SetAll(table); err != nil {
		var ke *lossmodel.KeyError
		if errors.As(err, &ke) {
			key += "." + ke.Key
		}
		return ErrorAt(key, err)
	}
	return ErrorAt(key, spec.Validate())
}

// matchProfile returns the name of the profile that both links are, "" if none:
// the present one as long as nothing was altered since.
func (c *Config) matchProfile() string {
	name := ""
	for _, p := range lossmodel.Profiles() {
		if p.Down == c.Down && p.Up == c.Up && (name == "" || p.Name == c.Profile) {
			name = p.Name
		}
	}
	return name
}

// Undo returns the change that turns after back into c.
func (c *Config) Undo(after *Config) Change {
	var ch Change
	was, is := c.Encoder, after.Encoder
	if was.Name != is.Name || !maps.Equal(was.Params, is.Params) {
		ch.Encoder, ch.Params = was.Name, maps.Clone(was.Params)
	}
	ch.Down = specDiff(&c.Down, &after.Down)
	ch.Up = specDiff(&c.Up, &after.Up)
	if c.Receiver.Playout != after.Receiver.Playout {
		p := c.Receiver.Playout
		ch.Playout = &p
	}
	if c.Sender.Every != after.Sender.Every {
		ch.Every = c.Sender.Every
	}
	if c.Receiver.Interpolation != after.Receiver.Interpolation {
		ch.Interpolation = c.Receiver.Interpolation.String()
	}
	c.undoShadows(after, &ch)
	return ch
}

// specDiff lists the settings of was that is does not have.
func specDiff(was, is *lossmodel.Spec) map[string]string {
	var diff map[string]string
	for _, k := range lossmodel.Keys() {
		a, errA := was.Get(k.Key)
		b, errB := is.Get(k.Key)
		if errA != nil || errB != nil || a == b {
			continue
		}
		if diff == nil {
			diff = map[string]string{}
		}
		diff[k.Key] = a
	}
	return diff
}

// Stamp dates a change.
func Stamp(t time.Duration, ch Change) StampedChange {
	return StampedChange{T: t, TS: t.Seconds(), Change: ch}
}
