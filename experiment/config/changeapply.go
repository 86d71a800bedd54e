package config

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"wirelab/lossmodel"
)

// Check reports whether ch could be applied to this configuration; the error is
// fit for the person who typed it.
func (c *Config) Check(ch Change) error {
	_, err := c.After(ch)
	return err
}

// Apply applies ch to c. On error c is unchanged.
// An encoder's name without params means that encoder with its defaults.
func (c *Config) Apply(ch Change) error {
	d := c.fork()
	if err := d.apply(ch); err != nil {
		return err
	}
	*c = *d
	return nil
}

// apply is Apply that may leave c half changed.
func (c *Config) apply(ch Change) error {
	err := firstError(
		func() error { return c.applyEncoder(ch) },
		func() error { return c.removeShadows(ch.ShadowsOff) },
		func() error { return c.addShadows(ch.Shadows) },
		func() error { return c.applyLinks(ch) },
		func() error { return c.applyLive(ch) })
	if err == nil {
		c.Profile = c.matchProfile()
	}
	return err
}

func (c *Config) applyLive(ch Change) error {
	if len(ch.Live) == 0 {
		return nil
	}
	for _, s := range liveRows() {
		if v, set := ch.Live[s.Key]; set {
			if err := s.Set(c, v); err != nil {
				return err
			}
		}
	}
	return c.checkHistories()
}

func (c *Config) applyEncoder(ch Change) (err error) {
	if !ch.SetsEncoder() {
		return nil
	}
	if ch.Encoder != "" {
		c.Encoder = Encoder{Name: ch.Encoder}
	}
	c.Encoder.Params = merged(c.Encoder.Params, ch.Params)
	c.Encoder, err = c.Encoder.normal("encoder", c.Codecs)
	return err
}

func (c *Config) applyLinks(ch Change) error {
	if ch.Profile == "" && len(ch.Down) == 0 && len(ch.Up) == 0 {
		return nil
	}
	if ch.Profile != "" {
		if err := c.setProfile(ch.Profile); err != nil {
			return err
		}
	}
	return errors.Join(patch(&c.Down, "down", ch.Down), patch(&c.Up, "up", ch.Up))
}

// patch sets keys of one link, then validates the whole link.
func patch(spec *lossmodel.Spec, way string, values map[string]string) error {
	table := map[string]any{}
	for k, v := range values {
		table[k] = v
	}
	if err := spec.SetAll(table); err != nil {
		key := way
		var ke *lossmodel.KeyError
		if errors.As(err, &ke) {
			key += "." + ke.Key
		}
		return ErrorAt(key, err)
	}
	return ErrorAt(way, spec.Validate())
}

// Undo returns the change that turns after back into c.
func (c *Config) Undo(after *Config) Change {
	var ch Change
	if !c.Encoder.Equal(after.Encoder) {
		ch.Encoder, ch.Params = c.Encoder.Name, maps.Clone(c.Encoder.Params)
	}
	ch.ShadowsOff, ch.Shadows = undoShadows(c.Shadows, after.Shadows)
	ch.Down, ch.Up = specDiff(&c.Down, &after.Down), specDiff(&c.Up, &after.Up)
	for _, s := range liveRows() {
		if v := s.Get(c); v != s.Get(after) {
			ch.Live = with(ch.Live, s.Key, v)
		}
	}
	return ch
}

// specDiff returns the values of was that differ from those of is; nil if none do.
func specDiff(was, is *lossmodel.Spec) (values map[string]string) {
	if *was == *is {
		return nil
	}
	for _, k := range lossmodel.Keys() {
		a, errA := was.Get(k.Key)
		b, errB := is.Get(k.Key)
		if errA == nil && errB == nil && a != b {
			values = with(values, k.Key, a)
		}
	}
	return values
}

// SameLive reports whether two configurations agree in all that can be changed while a
// session runs.
func (c *Config) SameLive(o *Config) bool { return c.Profile == o.Profile && c.Undo(o).IsZero() }

// matchProfile returns the name of the profile that both links equal, "" if none:
// the present one as long as nothing was altered since.
func (c *Config) matchProfile() string {
	name := ""
	for _, p := range profiles() {
		if p.Down == c.Down && p.Up == c.Up && (name == "" || p.Name == c.Profile) {
			name = p.Name
		}
	}
	return name
}

// profiles lists the link profiles. It is made once: every change is compared with it.
var profiles = sync.OnceValue(lossmodel.Profiles)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
