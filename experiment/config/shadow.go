package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"wirelab/encoders"
)

// Equal reports whether two encoders have the same name and the same explicit parameters (those that the
// configuration sets). Both must have been normalised.
func (e Encoder) Equal(o Encoder) bool {
	return e.Name == o.Name && e.Control == o.Control && maps.Equal(e.Params, o.Params)
}

// maxShadows is the maximum number of shadows, the encoders that run alongside on the same frames.
const maxShadows = 64

// tooManyShadows returns the error for n shadows, about key.
func tooManyShadows(key string, n int) error {
	return &Error{Key: key, Problem: fmt.Sprintf("%d shadows are too many", n),
		Expected: fmt.Sprintf("at most %d shadows", maxShadows)}
}

// Text returns the name of the encoder, its explicit parameters and its control: "rotor bits=8".
func (e Encoder) Text() string {
	text := e.Name
	for _, k := range sortedKeys(e.Params) {
		text += fmt.Sprintf(" %s=%v", k, e.Params[k])
	}
	if e.Control != "" {
		text += " control=" + e.controlLabel()
	}
	return text
}

// ParseEncoder is the inverse of Text for words that were separated by spaces: a name, then parameters as NAME=VALUE, then
// a control as control=VALUE, whose parameters may follow. Values are texts, and are not checked.
func ParseEncoder(words []string) (e Encoder, err error) {
	if len(words) == 0 {
		return e, errors.New("expected the name of an encoder")
	}
	e.Name = words[0]
	for i, pair := range words[1:] {
		name, value, ok := strings.Cut(pair, "=")
		if name == "control" { // the words after it are its parameters
			e.Control = strings.Join(append([]string{value}, words[i+2:]...), " ")
			break
		}
		if !ok || name == "" {
			return e, fmt.Errorf("expected a parameter as NAME=VALUE, not %q", pair)
		}
		if e.Params == nil {
			e.Params = map[string]any{}
		}
		e.Params[name] = value
	}
	return e, nil
}

// controlLabel returns the control of e, which is not "", without parameters that have their default.
func (e Encoder) controlLabel() string {
	if p, err := parseControl(e.Control); err == nil && e.Control != noControl {
		return p.Label()
	}
	return e.Control
}

// IsEquivalent reports whether two encoders have the same name and the same values of all parameters, including
// defaults. known are the available codecs, nil means those of package table.
func (e Encoder) IsEquivalent(o Encoder, known []encoders.Codec) bool {
	_, a, err := e.Resolve("encoder", known)
	_, b, errOther := o.Resolve("encoder", known)
	return e.Name == o.Name && e.Control == o.Control && err == nil && errOther == nil && reflect.DeepEqual(a, b)
}

// IsIn reports whether list contains an equal encoder.
func (e Encoder) IsIn(list []Encoder) bool { return slices.ContainsFunc(list, e.Equal) }

// setShadow sets one key about shadows. "shadow" and "shadow_off" accept a name or a list of names;
// "shadow[0].name" and "shadow[0].params.small" set parts of one shadow. head and rest are the parts of
// key before and after its first dot.
func (ch *Change) setShadow(key, head, rest string, value any) error {
	if name, index, isItem := cutIndex(head); isItem && name == "shadow" {
		shadows := slices.Clone(ch.Shadows)
		for len(shadows) <= index {
			shadows = append(shadows, Encoder{})
		}
		shadows[index] = shadows[index].Clone()
		ch.Shadows = shadows
		return shadows[index].setShadow(key, rest, value)
	}
	if list, ok := value.([]Encoder); ok && key == "shadow" {
		ch.Shadows = slices.Concat(ch.Shadows, list)
		return nil
	}
	names, ok := parseNames(value)
	if !ok {
		return &Error{Key: key, Problem: quoteValue(value) + " is not a name",
			Expected: "the name of an encoder, or a list of names"}
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

// parseNames converts a name or a list of names; false if value is neither, or empty.
func parseNames(value any) ([]string, bool) {
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

// shadowTable returns shadows as the value of the key "shadow" in an [[at]] table: a list of names, or a list of
// tables if at least one shadow has parameters.
func shadowTable(list []Encoder) any {
	var names []string
	var full []any
	for _, s := range list {
		full = append(full, s.values())
		if len(s.Params) == 0 && s.Control == "" {
			names = append(names, s.Name)
		}
	}
	if len(names) < len(full) { // a shadow has parameters or a control
		return full
	}
	return names
}

// shadowLabels describes which shadows the change removes and adds.
func (ch Change) shadowLabels() (words []string) {
	for _, name := range ch.ShadowsOff {
		words = append(words, "shadow "+name+" off")
	}
	for _, s := range ch.Shadows {
		words = append(words, "shadow "+s.Text()+" on")
	}
	return words
}

// removeShadows removes all shadows with the given names. A name without a shadow is an error.
func (c *Config) removeShadows(names []string) error {
	for _, name := range names {
		n := len(c.Shadows)
		c.Shadows = slices.DeleteFunc(slices.Clone(c.Shadows), func(s Encoder) bool { return s.Name == name })
		if len(c.Shadows) < n {
			continue
		}
		if n == 0 {
			return &Error{Key: "shadow_off", Problem: "there are no shadows",
				Expected: "the name of a shadow that was added before"}
		}
		var running []string
		for _, s := range c.Shadows {
			running = append(running, s.Name)
		}
		return Unknown("shadow_off", "shadow", name, running)
	}
	return nil
}

// addShadows adds shadows, encoders that encode the same frames as the active one for comparison. A shadow that
// exists already is an error.
func (c *Config) addShadows(list []Encoder) error {
	for i, added := range list {
		s, err := added.normalised(Indexed("shadow", i), c.Codecs)
		if err != nil {
			return err
		}
		if s.IsIn(c.Shadows) {
			return &Error{Key: "shadow", Problem: s.Name + " is already a shadow", Expected: "another encoder, or other params"}
		}
		if len(c.Shadows) == maxShadows {
			return tooManyShadows("shadow", len(c.Shadows)+1)
		}
		c.Shadows = append(c.Shadows, s)
	}
	return nil
}

// undoShadows returns the change that turns the list of shadows after back into before: the names of the
// shadows to remove and the encoders to add. Removing a name removes all shadows with that name, so those
// that must stay are added again.
func undoShadows(before, after []Encoder) (removed []string, added []Encoder) {
	for _, s := range after {
		if !s.IsIn(before) && !slices.Contains(removed, s.Name) {
			removed = append(removed, s.Name)
		}
	}
	for _, s := range before {
		if !s.IsIn(after) || slices.Contains(removed, s.Name) {
			added = append(added, s.Clone())
		}
	}
	return removed, added
}
