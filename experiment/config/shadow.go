package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Equal reports whether two encoders have the same name, the same parameters, and the same settings of their
// own. Both must have been normalised.
func (e Encoder) Equal(o Encoder) bool {
	return e.Name == o.Name && maps.Equal(e.Own, o.Own) && maps.Equal(e.Params, o.Params)
}

// ownSettings returns the names of the settings of the table sender that a shadow may have for itself.
func ownSettings() []string { return []string{"budget", "control", "priority"} }

// setOwn sets a setting of e's own to the normal form of value. key is the key of the value in errors.
func (e *Encoder) setOwn(key, name string, value any) error {
	row, scratch := findSetting("sender."+name), Config{}
	if err := row.Set(&scratch, value); err != nil {
		return withKey(key, err)
	}
	own := maps.Clone(e.Own)
	if own == nil {
		own = map[string]string{}
	}
	own[name] = row.Text(&scratch)
	e.Own = own
	return nil
}

// ForLane returns the configuration of the lane of e: c with the settings that e has for itself. The
// result shares all lists with c.
func (c *Config) ForLane(e Encoder) *Config {
	if len(e.Own) == 0 {
		return c
	}
	lane := *c
	for name, text := range e.Own {
		if err := findSetting("sender."+name).Set(&lane, text); err != nil {
			panic("config: a setting of a shadow was checked before: " + err.Error())
		}
	}
	return &lane
}

// Lanes returns the configuration of each lane: that of the active encoder, then those of the shadows.
// Only their settings of the sender differ from c.
func (c *Config) Lanes() []*Config {
	lanes := []*Config{c}
	for _, e := range c.Shadows {
		lanes = append(lanes, c.ForLane(e))
	}
	return lanes
}

// LaneKey returns the key that determines the setting called key of lane i: that of the shadow if it has
// its own.
func (c *Config) LaneKey(i int, key string) string {
	if i > 0 && c.Shadows[i-1].hasOwn(key) {
		return Indexed("shadow", i-1) + strings.TrimPrefix(key, "sender")
	}
	return key
}

// hasOwn reports whether e has its own value of the setting of all lanes called key.
func (e Encoder) hasOwn(key string) bool {
	return e.Own[strings.TrimPrefix(key, "sender.")] != ""
}

// maxShadows is the maximum number of shadows, the encoders that run alongside on the same frames.
const maxShadows = 64

// tooManyShadows returns the error for n shadows, about key.
func tooManyShadows(key string, n int) error {
	return refuse(key, fmt.Sprintf("%d shadows are too many", n),
		fmt.Sprintf("at most %d shadows", maxShadows))
}

// Text returns the name of a lane with this encoder, which no other lane has: the name of the encoder, its
// parameters that differ from the defaults, and its own settings, such as "rotor bits=8 control=gcc". e must
// have been normalised; otherwise the text contains all parameters that were set.
func (e Encoder) Text() string {
	text := e.Name
	for _, k := range sortedKeys(e.Params) {
		text += fmt.Sprintf(" %s=%v", k, e.Params[k])
	}
	for _, name := range sortedKeys(e.Own) {
		row, scratch := findSetting("sender."+name), Config{}
		label := e.Own[name] // without parameters that have their default, unless it is not checked yet
		if row.Set(&scratch, label) == nil {
			label = row.Show(&scratch)
		}
		text += " " + name + "=" + label
	}
	return text
}

// ParseEncoder is the inverse of Text for words that were separated by spaces: a name, then parameters as
// NAME=VALUE, then settings of its own, such as control=VALUE, each of which its parameters may follow.
// Values are texts, and are not checked.
func ParseEncoder(words []string) (e Encoder, err error) {
	if len(words) == 0 {
		return e, errors.New("expected the name of an encoder")
	}
	e.Name, e.Params, e.Own = words[0], map[string]any{}, map[string]string{}
	own := "" // the setting whose parameters the next words are; "" before the first
	for _, pair := range words[1:] {
		name, value, ok := strings.Cut(pair, "=")
		isOwn := slices.Contains(ownSettings(), name) && e.Own[name] == ""
		switch {
		case isOwn && value == "":
			return e, fmt.Errorf("expected a value after %s=", name)
		case isOwn: // the same setting a second time is an unknown parameter of its policy
			own = name
			e.Own[own] = value
		case own != "":
			e.Own[own] += " " + pair
		case !ok || name == "":
			return e, fmt.Errorf("expected a parameter as NAME=VALUE, not %q", pair)
		default:
			e.Params[name] = value
		}
	}
	return e, nil
}

// IsIn reports whether list contains an equal encoder.
func (e Encoder) IsIn(list []Encoder) bool { return slices.ContainsFunc(list, e.Equal) }

// setShadow sets one key about shadows. "shadow" and "shadow_off" accept a name or a list of names;
// "shadow[0].name" and "shadow[0].params.small" set parts of one shadow. head and rest are the parts of
// key before and after its first dot.
func (ch *Change) setShadow(key, head, rest string, value any) error {
	list, isList := value.([]Encoder)
	names, ok := parseNames(value)
	switch name, index, isItem := cutIndex(head); {
	case isItem && name == "shadow":
		shadows := slices.Clone(ch.Shadows())
		for len(shadows) <= index {
			shadows = append(shadows, Encoder{})
		}
		shadows[index] = shadows[index].Clone()
		ch.put("shadow", shadows)
		return shadows[index].set(key, rest, value, ownSettings()...)
	case key != "shadow" && key != "shadow_off":
		return Unknown(key, "key", key, changeKeys())
	case isList && key == "shadow":
	case !ok:
		return invalid(key, value, "the name of an encoder, or a list of names")
	case key == "shadow_off":
		ch.put(key, slices.Concat(ch.ShadowsOff(), names))
		return nil
	}
	for _, n := range names {
		list = append(list, Encoder{Name: n})
	}
	ch.put("shadow", slices.Concat(ch.Shadows(), list))
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

// shadowTable returns shadows as the value of the key "shadow" in an [[at]] table: a list of names, or a
// list of tables if at least one shadow has more than a name.
func shadowTable(list []Encoder) any {
	var names []string
	var full []any
	for _, s := range list {
		full = append(full, s.values())
		if len(s.Params) == 0 && len(s.Own) == 0 {
			names = append(names, s.Name)
		}
	}
	if len(names) < len(full) { // a shadow has parameters or settings of its own
		return full
	}
	return names
}

// shadowLabels describes a value of the key "shadow" or "shadow_off".
func shadowLabels(value any) string {
	var words []string
	if names, ok := value.([]string); ok {
		for _, name := range names {
			words = append(words, "shadow "+name+" off")
		}
	} else {
		for _, s := range value.([]Encoder) {
			words = append(words, "shadow "+s.Text()+" on")
		}
	}
	return strings.Join(words, ", ")
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
			return refuse("shadow_off", "there are no shadows",
				"the name of a shadow that was added before")
		}
		var running []string
		for _, s := range c.Shadows {
			running = append(running, s.Name)
		}
		return Unknown("shadow_off", "shadow", name, running)
	}
	return nil
}

// addShadows adds shadows, encoders that encode the same frames as the active one for comparison.
func (c *Config) addShadows(list []Encoder) error {
	for i, added := range list {
		s, err := added.normalised(Indexed("shadow", i), c.Codecs)
		if err != nil {
			return err
		}
		if len(c.Shadows) == maxShadows {
			return tooManyShadows("shadow", len(c.Shadows)+1)
		}
		c.Shadows = append(c.Shadows, s)
	}
	return nil
}

// checkShadows returns an error if a shadow equals the active encoder or a shadow before it. All encoders must
// have been normalised.
func (c *Config) checkShadows() error {
	for i, s := range c.Shadows {
		problem := ""
		switch {
		case s.Equal(c.Encoder):
			problem = " is the active encoder already"
		case s.IsIn(c.Shadows[:i]):
			problem = " is a shadow already"
		}
		if problem != "" {
			return refuse(Indexed("shadow", i), s.Text()+problem,
				"another encoder, or other parameters, such as /shadow "+s.Name+" NAME=VALUE")
		}
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
