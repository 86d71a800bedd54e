package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"wirelab/encoders"
)

// Equal reports whether two configurations of an encoder are the same. Both must
// have been checked, which gives their params one form.
func (e Encoder) Equal(o Encoder) bool {
	return e.Name == o.Name && maps.Equal(e.Params, o.Params)
}

// maxShadows is how many encoders may run beside the first: twice as many as there are.
const maxShadows = 64

func tooManyShadows(key string, n int) error {
	return &Error{Key: key, Problem: fmt.Sprintf("%d encoders at once are more than anyone can compare", n+1),
		Expected: fmt.Sprintf("at most %d shadows", maxShadows)}
}

// Text names the encoder and the params that are set.
func (e Encoder) Text() string {
	text := e.Name
	for _, k := range sortedKeys(e.Params) {
		text += fmt.Sprintf(" %s=%v", k, e.Params[k])
	}
	return text
}

// Same reports whether two encoders send the same, also where one spells out a param that
// the other leaves at its default. nil stands for the codecs of the table.
func (e Encoder) Same(o Encoder, known []encoders.Codec) bool {
	_, a, err := e.Resolve("encoder", known)
	_, b, other := o.Resolve("encoder", known)
	return e.Name == o.Name && err == nil && other == nil && reflect.DeepEqual(a, b)
}

// In reports whether list has the same.
func (e Encoder) In(list []Encoder) bool { return slices.ContainsFunc(list, e.Equal) }

// setShadow sets one key about shadows: "shadow" and "shadow_off" take a name or
// a list of names, "shadow[0].name" and "shadow[0].params.small" spell one out.
func (ch *Change) setShadow(key, head, rest string, value any) error {
	if name, index, isItem := cutIndex(head); isItem && name == "shadow" {
		joins := slices.Clone(ch.Shadows)
		for len(joins) <= index {
			joins = append(joins, Encoder{})
		}
		joins[index] = joins[index].Clone()
		ch.Shadows = joins
		return joins[index].set(key, rest, value)
	}
	if list, ok := value.([]Encoder); ok && key == "shadow" {
		ch.Shadows = slices.Concat(ch.Shadows, list)
		return nil
	}
	names, ok := namesOf(value)
	if !ok {
		return &Error{Key: key, Problem: show(value) + " is no name", Expected: "the name of an encoder, or a list of names"}
	}
	if key == "shadow_off" {
		ch.ShadowsOff = slices.Concat(ch.ShadowsOff, names)
		return nil
	}
	ch.Shadows = slices.Clip(ch.Shadows)
	for _, n := range names {
		ch.Shadows = append(ch.Shadows, Encoder{Name: n})
	}
	return nil
}

// namesOf reads a name or a list of names.
func namesOf(value any) ([]string, bool) {
	if names, ok := value.([]string); ok {
		return names, len(names) > 0
	}
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

// shadowTable is how a script holds shadows: as names, unless one has params.
func shadowTable(list []Encoder) any {
	var names []string
	var full []any
	for _, s := range list {
		full = append(full, s.values())
		if len(s.Params) == 0 {
			names = append(names, s.Name)
		}
	}
	if len(names) < len(full) {
		return full
	}
	return names
}

// shadowLabels describes in words which shadows leave and join.
func (ch Change) shadowLabels() (words []string) {
	for _, name := range ch.ShadowsOff {
		words = append(words, "shadow "+name+" off")
	}
	for _, s := range ch.Shadows {
		words = append(words, "shadow "+s.Text()+" on")
	}
	return words
}

func (c *Config) removeShadows(names []string) error {
	for _, name := range names {
		n := len(c.Shadows)
		c.Shadows = slices.DeleteFunc(slices.Clone(c.Shadows), func(s Encoder) bool { return s.Name == name })
		if len(c.Shadows) < n {
			continue
		}
		if n == 0 {
			return &Error{Key: "shadow_off", Problem: "no shadow runs", Expected: "one that was added before"}
		}
		var running []string
		for _, s := range c.Shadows {
			running = append(running, s.Name)
		}
		return Unknown("shadow_off", "shadow", name, running)
	}
	return nil
}

func (c *Config) addShadows(list []Encoder) error {
	for i, s := range list {
		s, err := s.normal(Indexed("shadow", i), c.Codecs)
		if err != nil {
			return err
		}
		if s.In(c.Shadows) {
			return &Error{Key: "shadow", Problem: s.Name + " runs as a shadow already", Expected: "another encoder, or other params"}
		}
		if len(c.Shadows) == maxShadows {
			return tooManyShadows("shadow", len(c.Shadows)+1)
		}
		c.Shadows = append(c.Shadows, s)
	}
	return nil
}

// undoShadows returns the names that leave and the encoders that join so that the shadows is
// become was. Shadows that share a name leave together, so all of them join again.
func undoShadows(was, is []Encoder) (off []string, joins []Encoder) {
	for _, s := range is {
		if !s.In(was) && !slices.Contains(off, s.Name) {
			off = append(off, s.Name)
		}
	}
	for _, s := range was {
		if !s.In(is) || slices.Contains(off, s.Name) {
			joins = append(joins, s.Clone())
		}
	}
	return off, joins
}
