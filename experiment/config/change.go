package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wirelab/lossmodel"
)

// A Change is a set of settings that are changed during a session, by a key, a typed command, a script
// or a replay. Zero fields change nothing. The fields are applied in the order Encoder, ShadowsOff,
// Shadows, Profile, Down and Up, Live. Copies of a Change share its maps and lists, which must not be
// modified.
type Change struct {
	Encoder    string            // name of the new encoder; without Params it gets its default parameters
	Params     map[string]any    // encoder parameters, by name; without Encoder, those of the present encoder
	Profile    string            // link profile for both links; Down and Up are applied after it
	Down, Up   map[string]string // settings of the downlink and the uplink, by key such as "loss"
	Live       map[string]any    // values of live settings by full key, in the form of Config.Values
	Input      *Input            // action of the player of a live world; nil if none
	ShadowsOff []string          // names of shadows to remove
	Shadows    []Encoder         // shadows to add
	Mark       string            // a bookmark in the timeline; changes no setting
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

// withEntry returns a copy of m in which key has the value v. m may be nil.
func withEntry[V any](m map[string]V, key string, v V) map[string]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

// A member is one value of a change or of an input.
type member struct {
	name  string // in scripts and JSON
	value any
	set   bool // false if the change does not set the value
}

// members returns the values that the change sets, in the order of its JSON.
func (ch Change) members() []member {
	list := []member{
		{"encoder", ch.Encoder, ch.Encoder != ""},
		{"params", ch.Params, len(ch.Params) > 0},
		{"profile", ch.Profile, ch.Profile != ""},
		{"down", ch.Down, len(ch.Down) > 0},
		{"up", ch.Up, len(ch.Up) > 0},
	}
	for _, s := range liveRows() {
		v, set := ch.Live[s.Key]
		name := s.Short
		if set && name == playoutName && checkPlayoutKey(name, v) != nil {
			name = policyName
		}
		list = append(list, member{name, v, set})
	}
	list = append(list,
		member{"input", ch.Input, ch.Input != nil},
		member{"shadow", ch.Shadows, len(ch.Shadows) > 0},
		member{"shadow_off", ch.ShadowsOff, len(ch.ShadowsOff) > 0},
		member{"mark", ch.Mark, ch.Mark != ""})
	return slices.DeleteFunc(list, func(m member) bool { return !m.set })
}

// Keys returns the keys that the change sets, in the order of its JSON. Settings have their full key in the TOML
// file, such as "sender.every". Actions such as "press", "shadow" or "mark" have their key in an [[at]] table.
func (ch Change) Keys() (keys []string) {
	for _, m := range ch.members() {
		switch m.name {
		case "encoder":
			keys = append(keys, "encoder.name")
		case "params":
			keys = append(keys, prefixedKeys("encoder.params.", ch.Params)...)
		case "down":
			keys = append(keys, prefixedKeys("down.", ch.Down)...)
		case "up":
			keys = append(keys, prefixedKeys("up.", ch.Up)...)
		case "input":
			for _, x := range ch.Input.members() {
				keys = append(keys, x.name)
			}
		default:
			if s := findSetting(m.name); s != nil {
				m.name = s.Key // the full key; m.name was the short name
			} else if m.name == policyName {
				m.name = playoutPolicyKey
			}
			keys = append(keys, m.name)
		}
	}
	return keys
}

// prefixedKeys returns the keys of m, sorted and each with the prefix.
func prefixedKeys[V any](prefix string, m map[string]V) (keys []string) {
	for _, name := range sortedKeys(m) {
		keys = append(keys, prefix+name)
	}
	return keys
}

// table returns the change as a table of names and values, as in a file.
func (ch Change) table() map[string]any {
	table := map[string]any{}
	for _, m := range ch.members() {
		switch m.name {
		case "input":
			for _, x := range ch.Input.members() {
				table[x.name] = x.value
			}
		case "shadow":
			table[m.name] = shadowTable(ch.Shadows)
		default:
			table[m.name] = m.value
		}
	}
	return table
}

// Set sets one key of a change. Keys are those of [[at]] in a configuration: "encoder",
// "params.small", "profile", "down.loss", "up.loss", "link.loss" or "loss" (both directions), the
// full or short name of a live setting ("receiver.playout_delay", "playout_delay"), "shadow",
// "shadow_off", "mark", or one of inputKeys.
func (ch *Change) Set(key string, value any) error {
	head, rest, _ := strings.Cut(key, ".")
	isLink := head == "down" || head == "up" || head == "link"
	switch {
	case key == "encoder" || key == "encoder.name":
		return setName(&ch.Encoder, key, value)
	case key == "profile":
		return setName(&ch.Profile, key, value)
	case key == "mark":
		return setName(&ch.Mark, key, value)
	case slices.Contains(inputKeys(), key):
		return ch.setInput(key, value)
	case head == "shadow" || head == "shadow_off" || strings.HasPrefix(head, "shadow["):
		return ch.setShadow(key, head, rest, value)
	case head == "params":
		return ch.setParams(rest, key, value)
	case head == "encoder" && (rest == "params" || strings.HasPrefix(rest, "params.")):
		return ch.setParams(strings.TrimPrefix(strings.TrimPrefix(rest, "params"), "."), key, value)
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
	known := []string{"t", "from", "encoder", "params", "profile", "down", "up", "link", "shadow", "shadow_off", "mark"}
	for _, s := range liveRows() {
		known = append(known, s.Short)
	}
	known = append(append(known, policyName), inputKeys()...)
	for _, k := range lossmodel.Keys() {
		known = append(known, k.Key)
	}
	return known
}

// setName sets a text. key is for the error.
func setName(dst *string, key string, value any) error {
	return errorUnless(setText(dst, value), key, value, "is not text", "a name")
}

// setLive sets the live setting s (one that a session can change). key is for the error.
func (ch *Change) setLive(s *scalarSetting, key string, value any) error {
	c := Default() // checks the value and converts it to the form of Values
	if err := s.Set(c, value); err != nil {
		return withKey(key, err)
	}
	ch.Live = withEntry(ch.Live, s.Key, s.Get(c))
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
		ch.Params = withEntry(ch.Params, k, v)
	}
	return nil
}

// setLink sets a key of a link. If value is a table, such as the parameters of a loss model, setLink sets each
// of its keys; with the key "", these are keys of the link. dir is "down", "up", or "link" for both directions.
// Values are checked when the change is applied.
func (ch *Change) setLink(dir, key string, value any) {
	flat := map[string]any{}
	flatten(key, value, flat)
	for k, v := range flat {
		if dir != "up" {
			ch.Down = withEntry(ch.Down, k, fmt.Sprint(v))
		}
		if dir != "down" {
			ch.Up = withEntry(ch.Up, k, fmt.Sprint(v))
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
	if ch.Encoder != "" {
		words = append(words, "encoder "+ch.Encoder)
	}
	for _, name := range sortedKeys(ch.Params) {
		words = append(words, fmt.Sprintf("%s %v", name, ch.Params[name]))
	}
	words = append(append(words, ch.shadowLabels()...), ch.linkLabels()...)
	for _, s := range liveRows() {
		if v, set := ch.Live[s.Key]; set {
			text := s.labelValue(v)
			if p, err := s.Policies.Parse(text); err == nil {
				text = p.Label()
			}
			words = append(words, s.CommandName()+" "+text)
		}
	}
	words = append(words, ch.Input.labels()...)
	if ch.Mark != "" {
		words = append(words, ch.Mark)
	}
	return strings.Join(words, ", ")
}

// linkLabels describes the changes of the links. A value that is the same for both links is listed once.
func (ch Change) linkLabels() (words []string) {
	if ch.Profile != "" {
		words = append(words, "profile "+ch.Profile)
	}
	for _, k := range sortedKeys(ch.Down) {
		if ch.Up[k] == ch.Down[k] {
			words = append(words, k+" "+ch.Down[k])
		} else {
			words = append(words, "down "+k+" "+ch.Down[k])
		}
	}
	for _, k := range sortedKeys(ch.Up) {
		if ch.Up[k] != ch.Down[k] {
			words = append(words, "up "+k+" "+ch.Up[k])
		}
	}
	return words
}

// Merge returns the change that has the effect of ch followed by next, with one exception: a shadow that ch adds
// and next removes is added, because a change removes shadows before it adds others.
func (ch Change) Merge(next Change) Change {
	if next.Encoder != "" {
		ch.Encoder, ch.Params = next.Encoder, nil
	}
	if next.Profile != "" {
		ch.Profile, ch.Down, ch.Up = next.Profile, nil, nil
	}
	ch.Params, ch.Live = merged(ch.Params, next.Params), merged(ch.Live, next.Live)
	ch.Down, ch.Up = merged(ch.Down, next.Down), merged(ch.Up, next.Up)
	ch.Input = ch.Input.then(next.Input)
	ch.Shadows, ch.ShadowsOff = slices.Concat(ch.Shadows, next.Shadows), slices.Concat(ch.ShadowsOff, next.ShadowsOff)
	if next.Mark != "" {
		ch.Mark = next.Mark
	}
	return ch
}

// merged returns the entries of a and b; those of b take precedence. It modifies neither, but may return one
// of them.
func merged[V any](a, b map[string]V) map[string]V {
	if len(a) == 0 {
		return b
	}
	a = maps.Clone(a)
	maps.Copy(a, b)
	return a
}

// IsZero reports whether the change sets nothing.
func (ch Change) IsZero() bool { return len(ch.members()) == 0 }

// SetsEncoder reports whether the change sets the encoder or its parameters.
func (ch Change) SetsEncoder() bool { return ch.Encoder != "" || len(ch.Params) > 0 }

// SetsBudget reports whether the change sets the budget of the sender or how it is used.
func (ch Change) SetsBudget() bool {
	return slices.ContainsFunc([]string{BudgetKey, burstKey, priorityKey, weightsKey}, func(key string) bool { return ch.Live[key] != nil })
}

// WithMark returns the change with the bookmark text; "" removes the bookmark.
func (ch Change) WithMark(text string) Change {
	ch.Mark = text
	return ch
}

// Restarts reports whether the change restarts the run, because one of its live settings does.
func (ch Change) Restarts() bool {
	return slices.ContainsFunc(sortedKeys(ch.Live), func(key string) bool { return findSetting(key).Restarts })
}

// TouchedKeys returns a text that identifies the settings that the change sets, without their values. Two
// consecutive changes with the same text are undone together. The names of an encoder, profile or shadow are
// part of the text, so changing to another encoder is undone separately. Inputs and bookmarks, which cannot be
// undone, are left out.
func (ch Change) TouchedKeys() string {
	names := ch.shadowLabels()
	if ch.Encoder != "" {
		names = append(names, "encoder.name "+ch.Encoder)
	}
	if ch.Profile != "" {
		names = append(names, "profile "+ch.Profile)
	}
	withoutNames := Change{Params: ch.Params, Down: ch.Down, Up: ch.Up, Live: ch.Live}
	names = append(names, withoutNames.Keys()...)
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Normalised returns ch with the encoder's parameters in the types of its codec. after is the configuration with
// ch applied.
func (ch Change) Normalised(after *Config) Change {
	params := map[string]any{}
	for name := range ch.Params {
		params[name] = after.Encoder.Params[name]
	}
	if len(params) > 0 {
		ch.Params = params
	}
	return ch
}
