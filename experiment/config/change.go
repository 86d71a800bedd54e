package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/encoders"
	"wirelab/internal/setting"
	"wirelab/lossmodel"
)

// A Set gives a setting a value. Key is its full key, such as "sender.every", or an action: "shadow" and
// "shadow_off" add and remove shadows, those of inputKeys are actions of a player, and "mark" is a
// bookmark. Value has the form of Config.Values; for "shadow" it is an []Encoder, for "shadow_off" a
// []string, for a key of a link, "press" and "mark" a text, and for the other actions a bool.
type Set struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// A Change is a list of settings that are changed during a session, by a key, a typed command, a script
// or a replay. The list has the order in which they are applied, see compareKeys, and each key once.
// Copies of a Change share its elements, which must not be modified.
type Change []Set

// keyEncoder is the key of the name of the encoder. A change that sets it resets the encoder's
// parameters, whose keys begin with paramsPrefix.
const (
	keyEncoder   = "encoder.name"
	paramsPrefix = "encoder.params."
)

// put sets key to value. It copies the list, because copies of a Change share its elements. The playout
// has two keys, of which a change has one.
func (ch *Change) put(key string, value any) {
	isPlayout := func(key string) bool { return key == playoutKey || key == playoutPolicyKey }
	list := ch.without(func(k string) bool { return k == key || isPlayout(k) && isPlayout(key) })
	i, _ := slices.BinarySearchFunc(list, key, func(s Set, key string) int { return compareKeys(s.Key, key) })
	*ch = slices.Insert(list, i, Set{key, value})
}

// without returns the change without the keys for which drop returns true.
func (ch Change) without(drop func(key string) bool) Change {
	return slices.DeleteFunc(slices.Clone(ch), func(s Set) bool { return drop(s.Key) })
}

// Value returns the value of a key; nil if the change does not set it.
func (ch Change) Value(key string) any {
	if i := slices.IndexFunc(ch, func(s Set) bool { return s.Key == key }); i >= 0 {
		return ch[i].Value
	}
	return nil
}

// Text returns the value of a key that is a text; "" if the change does not set it.
func (ch Change) Text(key string) string {
	text, _ := ch.Value(key).(string)
	return text
}

// under returns the values of the keys that begin with prefix, by the rest of the key; nil if there are none.
func (ch Change) under(prefix string) (values map[string]any) {
	for _, s := range ch {
		if name, ok := strings.CutPrefix(s.Key, prefix); ok {
			if values == nil {
				values = map[string]any{}
			}
			values[name] = s.Value
		}
	}
	return values
}

// Encoder returns the name of the encoder that the change sets; "" if it sets none.
func (ch Change) Encoder() string { return ch.Text(keyEncoder) }

// Mark returns the bookmark of the change; "" if it has none.
func (ch Change) Mark() string { return ch.Text("mark") }

// Params returns the parameters of the encoder that the change sets, by name; nil if none.
func (ch Change) Params() map[string]any { return ch.under(paramsPrefix) }

// ShadowsOff returns the names of the shadows that the change removes.
func (ch Change) ShadowsOff() []string {
	names, _ := ch.Value("shadow_off").([]string)
	return names
}

// Shadows returns the shadows that the change adds.
func (ch Change) Shadows() []Encoder {
	list, _ := ch.Value("shadow").([]Encoder)
	return list
}

// WithoutShadows returns the change without the shadows that it adds and removes.
func (ch Change) WithoutShadows() Change {
	return ch.without(func(key string) bool { return key == "shadow" || key == "shadow_off" })
}

// sets reports whether the change sets a key for which match returns true.
func (ch Change) sets(match func(key string) bool) bool { return slices.ContainsFunc(ch.Keys(), match) }

// isOfLinks reports whether a key of a change is about the links.
func isOfLinks(key string) bool {
	return key == "profile" || strings.HasPrefix(key, "down.") || strings.HasPrefix(key, "up.")
}

// WithoutLinks returns ch without what sets links.
func (ch Change) WithoutLinks() Change { return ch.without(isOfLinks) }

// SetsLinks reports whether ch sets the links or their profile.
func (ch Change) SetsLinks() bool { return slices.ContainsFunc(ch.Keys(), isOfLinks) }

// A StampedChange is a change with the virtual time at which it takes effect, before any other event of
// that time.
type StampedChange struct {
	T      time.Duration `json:"t_ns"`
	TS     float64       `json:"t_s"` // T in seconds, for human readers
	Change Change        `json:"change"`

	Undo bool `json:"undo,omitempty"` // undoes an earlier change and cannot be undone itself

	// FromFirstDatagram means that T counts from the first datagram of a client of a proxy instead of the
	// start. It is set only in a Config, where it is the same for all changes.
	FromFirstDatagram bool `json:"-"`
}

// Stamp returns a change with its time.
func Stamp(t time.Duration, ch Change) StampedChange {
	return StampedChange{T: t, TS: t.Seconds(), Change: ch}
}

// NewChange returns the change that sets keys to values, which alternate in pairs. It panics if a key or a
// value is invalid; use Set for what users enter.
func NewChange(pairs ...any) Change {
	var ch Change
	for i := 0; i < len(pairs); i += 2 {
		if err := ch.Set(pairs[i].(string), pairs[i+1]); err != nil {
			panic("config: NewChange: " + err.Error())
		}
	}
	return ch
}

// Keys returns the keys that the change sets.
func (ch Change) Keys() (keys []string) {
	for _, s := range ch {
		keys = append(keys, s.Key)
	}
	return keys
}

// table returns the change as a table of an [[at]] entry.
func (ch Change) table() map[string]any {
	table := map[string]any{}
	for _, s := range ch {
		value := s.Value
		if s.Key == "shadow" {
			value = shadowTable(ch.Shadows())
		}
		setNested(table, s.Key, value)
	}
	return table
}

// Set sets one key of a change. Keys are those of [[at]] in a configuration: "encoder", "params.small",
// "profile", "down.loss", "up.loss", "link.loss" or "loss" (both directions), the full or short name of a
// live setting ("receiver.playout_delay", "playout_delay"), "shadow", "shadow_off", "mark", or one of
// inputKeys. It returns an *Error for an unknown key, for a setting that cannot change during a run, and
// for an invalid value. Values of links, shadows and parameters are checked when the change is applied.
func (ch *Change) Set(key string, value any) error {
	flat := map[string]any{}
	flatten(FullKey(key), value, flat)
	for _, full := range sortedKeys(flat) {
		if err := ch.setFull(key, full, flat[full]); err != nil {
			return err
		}
	}
	return nil
}

// setFull sets the full key of a value that is no table. key is the key in errors.
func (ch *Change) setFull(key, full string, value any) error {
	head, rest, _ := strings.Cut(full, ".")
	dir, _, isLink := cutDirection(full)
	row := findSetting(full)
	switch {
	case full == "mark":
		var text string
		if !setText(&text, value) {
			return invalid(key, value, "a text")
		}
		ch.put(full, text)
		return nil
	case isInput(full):
		return ch.setInput(full, value)
	case head == "shadow" || head == "shadow_off" || strings.HasPrefix(head, "shadow["):
		return ch.setShadow(full, head, rest, value)
	case isLink && rest == "":
		return notLinkError(key, value)
	case isLink:
		for _, table := range linkTables[1:] {
			if dir == BothDirections || table == head {
				ch.put(table+"."+rest, fmt.Sprint(value))
			}
		}
		return nil
	case row != nil && row.Short == "":
		return refuse(key, "cannot be changed during a run", OneOf(changeKeys()))
	case row == nil && head != "encoder" && full != "profile":
		return Unknown(key, "key", key, changeKeys())
	}
	probe := Default() // checks the value; Get returns it in the form of Values
	if err := probe.set(full, value); err != nil {
		return withKey(key, err)
	}
	if row != nil {
		value = row.Get(probe)
	}
	ch.put(full, value)
	return nil
}

// changeKeys returns the keys that Set accepts, for suggestions.
func changeKeys() []string {
	return slices.Concat([]string{"t", "from", "encoder", "params", "profile", "down", "up", "link",
		"shadow", "shadow_off", "mark"}, inputKeys(), shortNames())
}

// shortNames returns the short names of settings and the keys of links without a direction.
func shortNames() (names []string) {
	for _, r := range LiveSettings() {
		names = append(names, r.Short)
	}
	for _, k := range lossmodel.Keys() {
		names = append(names, k.Key)
	}
	return names
}

// isLinkKey reports whether key, such as "loss", is a key of a link.
func isLinkKey(key string) bool {
	return slices.ContainsFunc(lossmodel.Keys(), func(k lossmodel.KeyInfo) bool { return k.Key == key })
}

// Label describes the change briefly: "encoder rotor, loss 5%"; "" for a change that sets nothing.
func (ch Change) Label() string {
	var words []string
	for _, s := range ch {
		if text := ch.label(s); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, ", ")
}

// label describes one setting of the change; "" for a key of the uplink that is described with that of
// the downlink.
func (ch Change) label(s Set) string {
	if row := findSetting(s.Key); row != nil {
		c := Default()
		_ = row.Set(c, s.Value) // has been checked
		return row.Short + " " + row.label(c)
	}
	text := fmt.Sprint(s.Value)
	switch s.Key {
	case keyEncoder:
		return "encoder " + text
	case "profile", "press":
		return s.Key + " " + text
	case "shadow", "shadow_off":
		return shadowLabels(s.Value)
	case "reset":
		return "reset the world"
	case "mark":
		return ch.Mark()
	}
	if isInput(s.Key) {
		return s.Key + " " + setting.Switch.Format(s.Value == true)
	}
	head, name, _ := strings.Cut(s.Key, ".")
	switch head {
	case "up":
		if ch.Value("down."+name) == s.Value {
			return ""
		}
		name = "up " + name
	case "down":
		if ch.Value("up."+name) != s.Value {
			name = "down " + name
		}
	}
	return strings.TrimPrefix(name, "params.") + " " + text
}

// Merge returns the change that has the effect of ch followed by next, with one exception: a shadow that
// ch adds and next removes is added, because a change removes shadows before it adds others.
func (ch Change) Merge(next Change) Change {
	// In next, the encoder precedes its parameters and the profile the keys of links, so that they reset
	// only those of ch.
	for _, s := range next {
		switch s.Key {
		case keyEncoder:
			ch = ch.without(func(key string) bool { return strings.HasPrefix(key, paramsPrefix) })
		case "profile":
			ch = ch.without(isOfLinks)
		case "shadow":
			s.Value = slices.Concat(ch.Shadows(), next.Shadows())
		case "shadow_off":
			s.Value = slices.Concat(ch.ShadowsOff(), next.ShadowsOff())
		}
		ch.put(s.Key, s.Value)
	}
	return ch
}

// IsZero reports whether the change sets nothing.
func (ch Change) IsZero() bool { return len(ch) == 0 }

// SetsEncoder reports whether the change sets the encoder or its parameters.
func (ch Change) SetsEncoder() bool {
	return ch.sets(func(key string) bool { return strings.HasPrefix(key, "encoder.") })
}

// SetsBudget reports whether the change sets the budget of the sender or how it is used.
func (ch Change) SetsBudget() bool {
	return ch.sets(func(key string) bool {
		return strings.HasPrefix(key, BudgetKey) || key == priorityKey || key == weightsKey
	})
}

// WithoutClients returns the change without the number of clients of a crowd.
func (ch Change) WithoutClients() Change {
	return ch.without(func(key string) bool { return key == "crowd.clients" })
}

// WithMark returns the change with the bookmark text; "" removes the bookmark.
func (ch Change) WithMark(text string) Change {
	ch = ch.without(func(key string) bool { return key == "mark" })
	if text != "" {
		ch.put("mark", text)
	}
	return ch
}

// Restarts reports whether the change restarts the run, because one of its settings does.
func (ch Change) Restarts() bool {
	return ch.sets(func(key string) bool { row := findSetting(key); return row != nil && row.Restarts })
}

// TouchedKeys returns a text that identifies the settings that the change sets, without their values. Two
// consecutive changes with the same text are undone together. The names of an encoder, profile or shadow
// are part of the text, so changing to another encoder is undone separately. Inputs and bookmarks, which
// cannot be undone, are left out.
func (ch Change) TouchedKeys() string {
	var names []string
	for _, s := range ch {
		switch s.Key {
		case keyEncoder, "profile", "shadow", "shadow_off":
			names = append(names, ch.label(s))
		default:
			if s.Key != "mark" && !isInput(s.Key) {
				names = append(names, s.Key)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Normalised returns ch with the encoder's parameters in the types of its codec. after is the
// configuration with ch applied.
func (ch Change) Normalised(after *Config) Change {
	ch = slices.Clone(ch)
	_, params, _ := after.Encoder.Resolve(keyEncoder, after.Codecs) // was resolved when ch was applied
	for i, s := range ch {
		if name, isParam := strings.CutPrefix(s.Key, paramsPrefix); isParam {
			ch[i].Value, _ = encoders.ParamValue(params, name)
		}
	}
	return ch
}

// UnmarshalJSON checks the keys and values, as Set does.
func (ch *Change) UnmarshalJSON(data []byte) error {
	var list []Set
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*ch = nil
	for _, s := range list {
		if err := ch.Set(s.Key, s.Value); err != nil {
			return err
		}
	}
	return nil
}
