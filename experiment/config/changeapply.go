package config

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"wirelab/lossmodel"
)

// Check returns an error, suitable for users, if ch cannot be applied to this configuration.
func (c *Config) Check(ch Change) error {
	_, err := c.WithChange(ch)
	return err
}

// Apply applies ch to c. On error c is unchanged. An encoder's name without parameters means that encoder
// with its defaults.
func (c *Config) Apply(ch Change) error {
	changed, err := c.WithChange(ch)
	if err == nil {
		*c = *changed
	}
	return err
}

// apply applies ch to c. If it returns an error, c may be partly changed; Apply, which calls it, prevents
// this with a copy.
func (c *Config) apply(ch Change) error {
	clients := c.Crowd.Clients
	for _, s := range ch {
		if err := c.applySet(s); err != nil {
			return err
		}
	}
	return firstError(
		func() error { return linkError("down", c.Down.SetAll(ch.under("down."))) },
		func() error { return linkError("up", c.Up.SetAll(ch.under("up."))) },
		c.normaliseEncoder,
		func() error { return c.replaceShadow(ch) },
		c.checkLive,
		func() error { return checkClientsChange(clients, c.Crowd.Clients) })
}

// applySet applies one setting of a change. Keys of links are left out: they must be set together,
// because some depend on others.
func (c *Config) applySet(s Set) error {
	switch head, _, _ := strings.Cut(s.Key, "."); {
	case s.Key == "shadow_off":
		return c.removeShadows(s.Value.([]string))
	case s.Key == "shadow":
		return c.addShadows(s.Value.([]Encoder))
	case s.Key == "mark" || isInput(s.Key) || head == "down" || head == "up":
		return nil
	case s.Key == keyEncoder:
		c.Encoder = Encoder{}
	}
	return c.set(s.Key, s.Value)
}

// replaceShadow removes the shadow that equals the encoder that ch sets, unless ch adds that shadow. Two lanes with the same
// encoder would be equal, and those that ch adds are refused.
func (c *Config) replaceShadow(ch Change) error {
	if ch.SetsEncoder() && !c.Encoder.IsIn(ch.Shadows()) {
		c.Shadows = slices.DeleteFunc(slices.Clone(c.Shadows), c.Encoder.Equal)
	}
	return withKey("shadow", c.checkShadows())
}

// linkError returns err as an error about a key of a link. dir is "down" or "up".
func linkError(dir string, err error) error {
	var ke *lossmodel.KeyError
	if errors.As(err, &ke) {
		dir += "." + ke.Key
	}
	return ErrorAt(dir, err)
}

// Undo returns the change that turns the configuration after back into c: it sets all settings that a session
// can change and that differ to their values in c.
func (c *Config) Undo(after *Config) Change {
	var ch Change
	if !c.Encoder.Equal(after.Encoder) {
		ch.put(keyEncoder, c.Encoder.Name)
		for name, value := range c.Encoder.Params {
			ch.put(paramsPrefix+name, value)
		}
	}
	removed, added := undoShadows(c.Shadows, after.Shadows)
	if len(removed) > 0 {
		ch.put("shadow_off", removed)
	}
	if len(added) > 0 {
		ch.put("shadow", added)
	}
	down, up := after.Down, after.Up // the links after the profile of ch
	if c.Profile != after.Profile {
		ch.put("profile", cmp.Or(c.Profile, noProfile))
		if p := findProfile(c.Profile); p != nil {
			down, up = p.Down, p.Up
		}
	}
	ch.putDiff("down.", &c.Down, &down)
	ch.putDiff("up.", &c.Up, &up)
	for _, r := range LiveSettings() {
		if r.label(c) != r.label(after) {
			ch.put(r.Key, r.Get(c))
		}
	}
	return ch
}

// putDiff sets the keys of link spec, each with the prefix, that differ from those of link other.
func (ch *Change) putDiff(prefix string, spec, other *lossmodel.Spec) {
	if *spec == *other {
		return
	}
	for _, k := range lossmodel.Keys() {
		a, _ := spec.Get(k.Key) // Get accepts every key of Keys
		b, _ := other.Get(k.Key)
		if a != b {
			ch.put(prefix+k.Key, a)
		}
	}
}

// SameLive reports whether two configurations agree in everything that a session can change.
func (c *Config) SameLive(o *Config) bool { return c.Undo(o).IsZero() }

// perfectProfile is the name of the profile of new links.
const perfectProfile = "perfect"

// LinkProfile returns the profile that was set last, and whether the links differ from it.
func (c *Config) LinkProfile() (p *lossmodel.Profile, changed bool) {
	p = findProfile(cmp.Or(c.Profile, perfectProfile))
	return p, p.Down != c.Down || p.Up != c.Up
}

// LinkProfileText returns LinkProfile as text for the user, such as "lte" or "lte, changed".
func (c *Config) LinkProfileText() string {
	p, changed := c.LinkProfile()
	if changed {
		return p.Name + ", changed"
	}
	return p.Name
}

// LinkSettings describes the links by the name of their profile and the settings that differ from it, such as "lte, loss
// 5%". Without a profile these are the settings that differ from a perfect link.
func (c *Config) LinkSettings() string {
	p, changed := c.LinkProfile()
	if !changed {
		return p.Name
	}
	var ch Change
	ch.putDiff("down.", &c.Down, &p.Down)
	ch.putDiff("up.", &c.Up, &p.Up)
	return strings.TrimPrefix(p.Name+", "+ch.Label(), perfectProfile+", ")
}

// LinkText describes the links: by the name of their profile, or by the settings that differ from a
// perfect link, then what each client of a crowd draws instead, such as "perfect, crowd.loss=5%".
func (c *Config) LinkText() string {
	parts := []string{c.commonLinkText()}
	for _, s := range []struct{ key, text string }{
		{profilesKey, cmp.Or(c.Crowd.Profiles, linkSpread)}, {"crowd.rtt", spreadField{&c.Crowd.RTT, &times}.String()},
		{"crowd.jitter", spreadField{&c.Crowd.Jitter, &times}.String()}, {"crowd.loss", spreadField{&c.Crowd.Loss, &shares}.String()},
	} {
		if s.text != linkSpread {
			parts = append(parts, s.key+"="+s.text)
		}
	}
	return strings.Join(parts, ", ")
}

// commonLinkText is LinkText without what clients draw.
func (c *Config) commonLinkText() string {
	var parts []string
	for _, dir := range c.linkDirections() {
		for _, k := range lossmodel.Keys() {
			if text := LinkValue(c, dir, k.Key); text != k.Default {
				parts = append(parts, dir.String()+"."+k.Key+"="+text)
			}
		}
	}
	const maxParts = 3 // a profile that consists of fewer settings is described by them
	if 0 < len(parts) && len(parts) < maxParts {
		return strings.Join(parts, " ")
	}
	if c.Profile != "" || len(parts) == 0 {
		return c.LinkProfileText()
	}
	for _, p := range profiles() { // the links of a report have no name
		if p.Down == c.Down && p.Up == c.Up {
			return p.Name
		}
	}
	return strings.Join(parts, " ")
}

// linkDirections returns both directions, or BothDirections alone if the links are equal.
func (c *Config) linkDirections() []Direction {
	if c.Down == c.Up {
		return []Direction{BothDirections}
	}
	return []Direction{DownOnly, UpOnly}
}

// profiles returns the link profiles. The list is made once, because every change searches it.
var profiles = sync.OnceValue(lossmodel.Profiles)

// findProfile returns the link profile called name, nil if there is none.
func findProfile(name string) *lossmodel.Profile {
	if i := slices.IndexFunc(profiles(), func(p lossmodel.Profile) bool { return p.Name == name }); i >= 0 {
		return &profiles()[i]
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
