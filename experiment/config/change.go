package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wirelab/lossmodel"
)

// Change is what is altered while a session runs. A keystroke, a typed command, a line of
// a script and a replay all make the same Change. A field that is zero leaves its part
// unchanged. Copies of a change share its maps and lists: they are never written again.
type Change struct {
	Encoder    string            // name; without Params the encoder gets its defaults
	Params     map[string]any    // of the encoder, by name
	Profile    string            // the link profile that both links begin with
	Down, Up   map[string]string // the values of a link, by key
	Live       map[string]any    // the values of live settings by key, in the form of Values
	Input      *Input            // of a player
	ShadowsOff []string          // names of shadows that leave
	Shadows    []Encoder         // shadows that join after that
	Mark       string            // a bookmark in the timeline: it changes nothing
}

// StampedChange is a change with the virtual time at which it took effect: it
// was applied before any other event of that instant.
type StampedChange struct {
	T      time.Duration `json:"t_ns"`
	TS     float64       `json:"t_s"` // the same, in seconds, for people
	Change Change        `json:"change"`

	Undo bool `json:"undo,omitempty"` // takes an earlier change back: not itself undone
}

// Stamp dates a change.
func Stamp(t time.Duration, ch Change) StampedChange {
	return StampedChange{T: t, TS: t.Seconds(), Change: ch}
}

// NewChange returns the change that sets each key of pairs, key by key, to the value
// behind it. It is for keys and values that the program knows to be right, and panics
// if they are not; what a person typed goes through Set.
func NewChange(pairs ...any) Change {
	var ch Change
	for i := 0; i < len(pairs); i += 2 {
		if err := ch.Set(pairs[i].(string), pairs[i+1]); err != nil {
			panic("config: NewChange: " + err.Error())
		}
	}
	return ch
}

// with returns a copy of m in which key has another value.
func with[V any](m map[string]V, key string, v V) map[string]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

// member is one value of a change under the name that it has in a script.
type member struct {
	name  string
	value any
	set   bool
}

// members lists what the change sets, in the order of its JSON.
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
		list = append(list, member{s.Short, v, set})
	}
	list = append(list,
		member{"input", ch.Input, ch.Input != nil},
		member{"shadow", ch.Shadows, len(ch.Shadows) > 0},
		member{"shadow_off", ch.ShadowsOff, len(ch.ShadowsOff) > 0},
		member{"mark", ch.Mark, ch.Mark != ""})
	return slices.DeleteFunc(list, func(m member) bool { return !m.set })
}

// Keys lists the keys that the change sets, in the order of its JSON.
func (ch Change) Keys() (keys []string) {
	for _, m := range ch.members() {
		switch m.name {
		case "encoder":
			keys = append(keys, "encoder.name")
		case "params":
			keys = append(keys, below("encoder.params.", ch.Params)...)
		case "down":
			keys = append(keys, below("down.", ch.Down)...)
		case "up":
			keys = append(keys, below("up.", ch.Up)...)
		case "input":
			for _, x := range ch.Input.members() {
				keys = append(keys, x.name)
			}
		default:
			if s := settingNamed(m.name); s != nil {
				m.name = s.Key
			}
			keys = append(keys, m.name)
		}
	}
	return keys
}

// below lists the keys of m behind a prefix, sorted.
func below[V any](prefix string, m map[string]V) (keys []string) {
	for _, name := range sortedKeys(m) {
		keys = append(keys, prefix+name)
	}
	return keys
}

// table returns the change as a table that Set takes apart again.
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

// Set sets one key of a change, named as under [[at]] in a configuration:
// "encoder", "params.small", "profile", "down.loss", "up.loss", "link.loss" or
// plain "loss" (both directions), the name of a live setting in full or in short
// ("receiver.playout_delay", "playout_delay"), "shadow", "shadow_off", "mark", or one
// of inputKeys.
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
		return noLink(key, value)
	case isLink:
		ch.setLink(head, rest, value)
		return nil
	case isLinkKey(head):
		ch.setLink("link", key, value)
		return nil
	}
	if s := settingNamed(key); s != nil && s.Short != "" {
		return ch.setLive(s, key, value)
	} else if s != nil {
		return &Error{Key: key, Problem: "it is settled when a run begins, and a script cannot change it",
			Expected: "one of encoder, params, profile, the keys of down, up and link, shadow, shadow_off, mark, " +
				strings.Join(scriptedNames(), ", ")}
	}
	return Unknown(key, "key", key, changeKeys())
}

func isTable(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// scriptedNames lists the settings that a script can change, and the actions of a player.
func scriptedNames() (names []string) {
	for _, s := range liveRows() {
		if !s.Restarts {
			names = append(names, s.Short)
		}
	}
	return append(names, inputKeys()...)
}

// changeKeys lists the keys that Set takes, for near names.
func changeKeys() []string {
	known := []string{"t", "encoder", "params", "profile", "down", "up", "link", "shadow", "shadow_off", "mark"}
	for _, s := range liveRows() {
		known = append(known, s.Short)
	}
	known = append(known, inputKeys()...)
	for _, k := range lossmodel.Keys() {
		known = append(known, k.Key)
	}
	return known
}

func setName(dst *string, key string, value any) error {
	return accept(setText(dst, value), key, value, "is no text", "a name")
}

// setLive sets a live setting.
func (ch *Change) setLive(s *scalar, key string, value any) error {
	c := Default()
	if err := s.Set(c, value); err != nil {
		return underKey(key, err)
	}
	ch.Live = with(ch.Live, s.Key, s.Get(c))
	return nil
}

// setParams sets a parameter of the encoder, or a table of them.
func (ch *Change) setParams(name, key string, value any) error {
	if name == "" && !isTable(value) {
		return &Error{Key: key, Problem: show(value) + " is no table", Expected: "the encoder's parameters, such as params.NAME = VALUE"}
	}
	flat := map[string]any{}
	flatten(name, value, flat)
	for k, v := range flat {
		ch.Params = with(ch.Params, k, v)
	}
	return nil
}

// setLink sets one key of a link, or each key of a table; the way "link" is both links.
func (ch *Change) setLink(way, key string, value any) {
	flat := map[string]any{}
	flatten(key, value, flat)
	for k, v := range flat {
		if way != "up" {
			ch.Down = with(ch.Down, k, fmt.Sprint(v))
		}
		if way != "down" {
			ch.Up = with(ch.Up, k, fmt.Sprint(v))
		}
	}
}

func isLinkKey(key string) bool {
	return slices.ContainsFunc(lossmodel.Keys(), func(k lossmodel.KeyInfo) bool { return k.Key == key })
}

// Label describes in a few words what the change does: "encoder rotor, loss 5%".
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
			words = append(words, s.Word()+" "+fmt.Sprint(v))
		}
	}
	words = append(words, ch.Input.labels()...)
	if ch.Mark != "" {
		words = append(words, ch.Mark)
	}
	return strings.Join(words, ", ")
}

// linkLabels describes the changes of the links. A value that both links get is named once.
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

// Then returns the change that does what ch and then next would do, unless ch adds shadows
// and next removes some: a change removes before it adds.
func (ch Change) Then(next Change) Change {
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

// merged returns the values of a, and those of b in place of them.
func merged[V any](a, b map[string]V) map[string]V {
	if len(a) == 0 {
		return b
	}
	a = maps.Clone(a)
	maps.Copy(a, b)
	return a
}

// IsZero reports whether the change leaves everything unchanged.
func (ch Change) IsZero() bool { return len(ch.members()) == 0 }

// SetsEncoder reports whether the change sets the encoder or its parameters.
func (ch Change) SetsEncoder() bool { return ch.Encoder != "" || len(ch.Params) > 0 }

// WithMark returns the change with another bookmark; "" removes it.
func (ch Change) WithMark(text string) Change {
	ch.Mark = text
	return ch
}

// Restarts reports whether the run must begin again for the change to take effect.
func (ch Change) Restarts() bool {
	return slices.ContainsFunc(sortedKeys(ch.Live), func(key string) bool { return settingNamed(key).Restarts })
}

// Touches names the settings that the change alters, whatever their values: changes
// that follow each other fast and touch the same settings are undone together.
// Another encoder, profile or shadow is another setting.
func (ch Change) Touches() string {
	names := ch.shadowLabels()
	for _, s := range [][2]string{{"encoder.name", ch.Encoder}, {"profile", ch.Profile}} {
		if s[1] != "" {
			names = append(names, s[0]+" "+s[1])
		}
	}
	rest := Change{Params: ch.Params, Down: ch.Down, Up: ch.Up, Live: ch.Live}
	names = append(names, rest.Keys()...)
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Normal returns ch in the form in which it was understood: parameters of the encoder have the
// types of its codec. after is the configuration that ch was applied to.
func (ch Change) Normal(after *Config) Change {
	params := map[string]any{}
	for name := range ch.Params {
		params[name] = after.Encoder.Params[name]
	}
	if len(params) > 0 {
		ch.Params = params
	}
	return ch
}
