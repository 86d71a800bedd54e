package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Equal reports whether two configurations of an encoder are the same. Both must
// have been checked, which gives their params one form.
func (e Encoder) Equal(o Encoder) bool {
	return e.Name == o.Name && maps.Equal(e.Params, o.Params)
}

func (e Encoder) In(list []Encoder) bool { return slices.ContainsFunc(list, e.Equal) }

// setShadow notes one key about shadows: "shadow" and "shadow_off" take a name or
// a list of names, "shadow[0].name" and "shadow[0].params.small" spell one out.
func (ch *Change) setShadow(key, rest string, value any) error {
	name, index, isItem := cutIndex(key[:len(key)-len(rest)])
	if isItem && name == "shadow" {
		for len(ch.Shadow) <= index {
			ch.Shadow = append(ch.Shadow, Encoder{})
		}
		return ch.Shadow[index].set(key, strings.TrimPrefix(rest, "."), value)
	}
	names, ok := namesOf(value)
	if !ok {
		return &Error{Key: key, Problem: show(value) + " is no name", Expected: "the name of an encoder, or a list of names"}
	}
	if key == "shadow_off" {
		ch.ShadowOff = append(ch.ShadowOff, names...)
		return nil
	}
	for _, n := range names {
		ch.Shadow = append(ch.Shadow, Encoder{Name: n})
	}
	return nil
}

// namesOf reads a name or a list of names.
func namesOf(value any) ([]string, bool) {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	names := make([]string, len(list))
	for i, v := range list {
		if !setText(&names[i], v) {
			return nil, false
		}
	}
	return names, len(names) > 0
}

// shadowValues adds what setShadow takes apart again.
func (ch *Change) shadowValues(m map[string]any) {
	var plain []any
	var full []any
	for _, s := range ch.Shadow {
		full = append(full, s.values())
		if len(s.Params) == 0 {
			plain = append(plain, s.Name)
		}
	}
	switch {
	case len(full) == 0:
	case len(plain) < len(full):
		m["shadow"] = full
	default:
		m["shadow"] = plain
	}
	if len(ch.ShadowOff) > 0 {
		var off []any
		for _, name := range ch.ShadowOff {
			off = append(off, name)
		}
		m["shadow_off"] = off
	}
}

// shadowLabel says in words which shadows leave and join.
func (ch *Change) shadowLabel() (parts []string) {
	for _, name := range ch.ShadowOff {
		parts = append(parts, "shadow "+name+" off")
	}
	for _, s := range ch.Shadow {
		text := "shadow " + s.Name
		for _, k := range sortedKeys(s.Params) {
			text += fmt.Sprintf(" %s=%v", k, s.Params[k])
		}
		parts = append(parts, text+" on")
	}
	return parts
}

// changeShadows lets shadows leave, then others join.
func (c *Config) changeShadows(ch *Change) error {
	for _, name := range ch.ShadowOff {
		n := len(c.Shadows)
		c.Shadows = slices.DeleteFunc(c.Shadows, func(s Encoder) bool { return s.Name == name })
		if len(c.Shadows) == n {
			var running []string
			for _, s := range c.Shadows {
				running = append(running, s.Name)
			}
			if n == 0 {
				return &Error{Key: "shadow_off", Problem: "no shadow runs", Expected: "one that was added before"}
			}
			return Unknown("shadow_off", "shadow", name, running)
		}
	}
	for i, s := range ch.Shadow {
		s = s.Clone()
		if _, _, err := s.Resolve(Indexed("shadow", i), c.Codecs); err != nil {
			return err
		}
		if s.In(c.Shadows) {
			return &Error{Key: "shadow", Problem: s.Name + " runs as a shadow already", Expected: "another encoder, or other params"}
		}
		c.Shadows = append(c.Shadows, s)
	}
	return nil
}

// undoShadows adds to ch what turns the shadows of after into those of c. Those
// that share a name leave together, so all of them join again.
func (c *Config) undoShadows(after *Config, ch *Change) {
	for _, s := range after.Shadows {
		if !s.In(c.Shadows) && !slices.Contains(ch.ShadowOff, s.Name) {
			ch.ShadowOff = append(ch.ShadowOff, s.Name)
		}
	}
	for _, s := range c.Shadows {
		if !s.In(after.Shadows) || slices.Contains(ch.ShadowOff, s.Name) {
			ch.Shadow = append(ch.Shadow, s.Clone())
		}
	}
}
