package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/lossmodel"
)

// A Set gives a setting a value. Key is its full key, such as "sender.every", or an action: "shadow" and "shadow_off"
// add and remove shadows, those of inputKeys are actions of a player, and "mark" is a bookmark. Value has the form of
// Config.Values; for "shadow" it is an []Encoder, for "shadow_off" a []string, for a key of a link, "press" and "mark" a
// text, and for the other actions a bool.
type Set struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// A Change is a list of settings that are changed during a session, by a key, a typed command, a script or a replay.
// The list has the order in which they are applied, see rank, and each key once. Copies of a Change share its elements,
// which must not be modified.
type Change []Set

// keyEncoder is the key of the name of the encoder. A change that sets it resets the encoder's parameters, whose keys
// begin with paramsPrefix.
const (
	keyEncoder   = "encoder.name"
	paramsPrefix = "encoder.params."
)

// rank returns the rank of a key in the order of a change, in which equal ranks are ordered by key: the encoder, its
// parameters, removed and added shadows, the profile, the links, the settings in the order of their table, the actions
// of a player and the bookmark.
func rank(key string) int {
	heads := []string{keyEncoder, paramsPrefix, "shadow_off", "shadow", "profile", "down.", "up."}
	if i := slices.IndexFunc(heads, func(head string) bool { return strings.HasPrefix(key, head) }); i >= 0 {
		return i // "shadow_off" comes before its prefix "shadow"
	}
	if row := changeRow(key); row != nil {
		return len(heads) + slices.IndexFunc(rows(), func(s scalarSetting) bool { return s.Key == row.Key })
	}
	return len(heads) + len(rows()) + slices.Index(append(inputKeys(), "mark"), key)
}

// changeRow returns the row of the table of settings for a key of a change; nil for other keys. The playout policy has
// the row of the playout delay.
func changeRow(key string) *scalarSetting {
	if key == playoutPolicyKey {
		key = playoutKey
	}
	return findSetting(key)
}

// put sets key to value. It copies the list, because copies of a Change share its elements. The playout has two keys,
// of which a change has one: playoutKey if value is a time, otherwise playoutPolicyKey.
func (ch *Change) put(key string, value any) {
	if key == playoutKey || key == playoutPolicyKey {
		key = playoutKey
		if checkPlayoutKey(key, value) != nil {
			key = playoutPolicyKey
		}
		*ch = ch.without(func(k string) bool { return k == playoutKey || k == playoutPolicyKey })
	}
	i, found := slices.BinarySearchFunc(*ch, key, func(s Set, key string) int {
		return cmp.Or(cmp.Compare(rank(s.Key), rank(key)), strings.Compare(s.Key, key))
	})
	list := slices.Clone(*ch)
	if found {
		list[i].Value = value
	} else {
		list = slices.Insert(list, i, Set{key, value})
	}
	*ch = list
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

// SetsLinks reports whether the change sets the profile or a key of a link.
func (ch Change) SetsLinks() bool {
	return slices.ContainsFunc(ch, func(s Set) bool { return isOfLinks(s.Key) })
}

// isOfLinks reports whether a key of a change is about the links.
func isOfLinks(key string) bool {
	return key == "profile" || strings.HasPrefix(key, "down.") || strings.HasPrefix(key, "up.")
}

// A StampedChange is a change with the virtual time at which it takes effect, before any other event of
// that time.
type StampedChange struct {
	T      time.Duration `json:"t_ns"`
	TS     float64       `json:"t_s"` // T in seconds, for human readers
	Change Change        `json:"change"`

	Undo bool `json:"undo,omitempty"` // undoes an earlier change and cannot be undone itself

	// FromFirstDatagram means that T counts from the first datagram of a client of a proxy instead of the start.
	// It is set only in a Config, where it is the same for all changes.
	FromFirstDatagram bool `json:"-"`
}

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

// table returns the change as a table of an [[at]] entry, with the short names of settings.
func (ch Change) table() map[string]any {
	table := map[string]any{}
	for _, s := range ch {
		key, value := strings.TrimPrefix(s.Key, "encoder."), s.Value
		switch row := findSetting(s.Key); {
		case s.Key == keyEncoder:
			key = "encoder"
		case s.Key == "shadow":
			value = shadowTable(ch.Shadows())
		case s.Key == playoutPolicyKey:
			key = policyName
		case row != nil:
			key = row.Short
		}
		setNested(table, key, value)
	}
	return table
}

// Set sets one key of a change. Keys are those of [[at]] in a configuration: "encoder",
// "params.small", "profile", "down.loss", "up.loss", "link.loss" or "loss" (both directions), the
// full or short name of a live setting ("receiver.playout_delay", "playout_delay"), "shadow",
// "shadow_off", "mark", or one of inputKeys. It returns an *Error for an unknown key, for a setting that cannot change
// during a run, and for an invalid value. Values of links, shadows and parameters are checked when the change is applied.
func (ch *Change) Set(key string, value any) error {
	head, rest, _ := strings.Cut(key, ".")
	isLink := head == "down" || head == "up" || head == "link"
	switch {
	case key == "encoder" || key == keyEncoder:
		return ch.setName(keyEncoder, key, value)
	case key == "profile" || key == "mark":
		return ch.setName(key, key, value)
	case slices.Contains(inputKeys(), key):
		return ch.setInput(key, value)
	case head == "shadow" || head == "shadow_off" || strings.HasPrefix(head, "shadow["):
		return ch.setShadow(key, head, rest, value)
	case head == "params" || head == "encoder" && (rest == "params" || strings.HasPrefix(rest, "params.")):
		_, name, _ := strings.Cut(strings.TrimPrefix(key, "encoder."), ".")
		return ch.setParams(name, key, value)
	case isLink && rest == "" && !isTable(value):
		return notLinkError(key, value)
	case isLink:
		ch.setLink(head, rest, value)
		return nil
	case isLinkKey(head):
		ch.setLink("link", key, value)
		return nil
	}
	if key == policyName || key == playoutPolicyKey {
		return ch.setLive(findSetting(playoutKey), key, value)
	}
	if s := findSetting(key); s != nil && s.Short != "" {
		if err := checkPlayoutKey(key, value); err != nil {
			return err
		}
		return ch.setLive(s, key, value)
	} else if s != nil {
		return &Error{Key: key, Problem: "cannot be changed during a run",
			Expected: "one of encoder, params, profile, the keys of down, up and link, shadow, shadow_off, mark, " +
				strings.Join(scriptedNames(), ", ")}
	}
	return Unknown(key, "key", key, changeKeys())
}

// isTable reports whether v is a TOML table.
func isTable(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// scriptedNames returns the names of settings that a script can change, and of the actions of a player.
func scriptedNames() (names []string) {
	for _, s := range liveRows() {
		if !s.Restarts {
			names = append(names, s.Short)
		}
	}
	return append(append(names, policyName), inputKeys()...)
}

// changeKeys returns the keys that Set accepts, for suggestions.
func changeKeys() []string {
	known := append([]string{"t", "from", "encoder", "params", "profile", "down", "up", "link", "shadow", "shadow_off", "mark"}, scriptedNames()...)
	for _, k := range lossmodel.Keys() {
		known = append(known, k.Key)
	}
	return known
}

// setName sets full, a full key, to a text. key is for the error.
func (ch *Change) setName(full, key string, value any) error {
	var text string
	if !setText(&text, value) {
		return &Error{Key: key, Problem: quoteValue(value) + " is not text", Expected: "a name"}
	}
	ch.put(full, text)
	return nil
}

// setLive sets the live setting s (one that a session can change). key is for the error.
func (ch *Change) setLive(s *scalarSetting, key string, value any) error {
	c := Default() // Set checks the value, and Get returns it in the form of Values
	if err := s.Set(c, value); err != nil {
		return withKey(key, err)
	}
	ch.put(s.Key, s.Get(c))
	return nil
}

// setParams sets the encoder's parameter name, or if name is "", all parameters in the table value. key is
// the key in an error.
func (ch *Change) setParams(name, key string, value any) error {
	if name == "" && !isTable(value) {
		return &Error{Key: key, Problem: quoteValue(value) + " is not a table",
			Expected: "the encoder's parameters, such as params.NAME = VALUE"}
	}
	flat := map[string]any{}
	flatten(name, value, flat)
	for k, v := range flat {
		ch.put(paramsPrefix+k, v)
	}
	return nil
}

// setLink sets a key of a link. If value is a table, such as the parameters of a loss model, setLink sets each
// of its keys. If key is "", value is a table of keys of the link. dir is "down", "up", or "link" for both directions.
// Values are checked when the change is applied.
func (ch *Change) setLink(dir, key string, value any) {
	flat := map[string]any{}
	flatten(key, value, flat)
	for k, v := range flat {
		if dir != "up" {
			ch.put("down."+k, fmt.Sprint(v))
		}
		if dir != "down" {
			ch.put("up."+k, fmt.Sprint(v))
		}
	}
}

// isLinkKey reports whether key, such as "loss", is a key of a link.
func isLinkKey(key string) bool {
	return slices.ContainsFunc(lossmodel.Keys(), func(k lossmodel.KeyInfo) bool { return k.Key == key })
}

// Label describes the change briefly: "encoder rotor, loss 5%"; "" for a change that sets nothing.
func (ch Change) Label() string {
	var words []string
	down, up := ch.under("down."), ch.under("up.")
	for _, s := range ch {
		head, name, _ := strings.Cut(s.Key, ".")
		switch row := changeRow(s.Key); {
		case s.Key == keyEncoder:
			words = append(words, "encoder "+ch.Encoder())
		case head == "encoder":
			words = append(words, fmt.Sprintf("%s %v", strings.TrimPrefix(s.Key, paramsPrefix), s.Value))
		case s.Key == "shadow_off" || s.Key == "shadow":
			words = append(words, shadowLabels(s.Value)...)
		case head == "profile":
			words = append(words, "profile "+ch.Text("profile"))
		case head == "down" && up[name] == s.Value:
			words = append(words, name+" "+ch.Text(s.Key)) // once for both links
		case head == "down", head == "up" && down[name] != s.Value:
			words = append(words, head+" "+name+" "+ch.Text(s.Key))
		case head == "up": // described with the same value of "down"
		case row != nil:
			words = append(words, row.CommandName()+" "+row.labelValue(s.Value))
		default:
			words = append(words, inputLabel(s))
		}
	}
	return strings.Join(words, ", ")
}

// Merge returns the change that has the effect of ch followed by next, with one exception: a shadow that ch adds
// and next removes is added, because a change removes shadows before it adds others.
func (ch Change) Merge(next Change) Change {
	// In next, the encoder precedes its parameters and the profile the keys of links, so that they reset only those of ch.
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
	return slices.ContainsFunc(ch, func(s Set) bool { return strings.HasPrefix(s.Key, "encoder.") })
}

// SetsBudget reports whether the change sets the budget of the sender or how it is used.
func (ch Change) SetsBudget() bool {
	return slices.ContainsFunc(ch, func(s Set) bool {
		return slices.Contains([]string{BudgetKey, burstKey, priorityKey, weightsKey}, s.Key)
	})
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
	return slices.ContainsFunc(ch, func(s Set) bool { row := findSetting(s.Key); return row != nil && row.Restarts })
}

// TouchedKeys returns a text that identifies the settings that the change sets, without their values. Two
// consecutive changes with the same text are undone together. The names of an encoder, profile or shadow are
// part of the text, so changing to another encoder is undone separately. Inputs and bookmarks, which cannot be
// undone, are left out.
func (ch Change) TouchedKeys() string {
	var names []string
	for _, s := range ch {
		switch s.Key {
		case keyEncoder, "profile":
			names = append(names, s.Key+" "+ch.Text(s.Key))
		case "shadow", "shadow_off":
			names = append(names, shadowLabels(s.Value)...)
		default:
			if s.Key != "mark" && !isInput(s.Key) {
				names = append(names, s.Key)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Normalised returns ch with the encoder's parameters in the types of its codec. after is the configuration with
// ch applied.
func (ch Change) Normalised(after *Config) Change {
	ch = slices.Clone(ch)
	for i, s := range ch {
		if name, isParam := strings.CutPrefix(s.Key, paramsPrefix); isParam {
			ch[i].Value = after.Encoder.Params[name]
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
		set := ch.Set
		if s.Key == "shadow" { // a list of encoders as objects, which Set does not accept
			set = func(_ string, value any) error { return ch.setShadowJSON(value) }
		}
		if err := set(s.Key, s.Value); err != nil {
			return err
		}
	}
	return nil
}
