package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/lossmodel"
)

// Value is a key with what it is set to.
type Value struct {
	Key   string // canonical, such as "encoder.name", "down.loss" or "sender.every"
	Value any
}

// Change is what is altered while a session runs: values of live settings, in
// canonical order, each key at most once. A keystroke, a typed command, a line of a
// script and a replay all make the same Change. Besides the keys of the
// configuration it may hold those of InputKeys, "shadow" and "shadow_off" (shadows
// join and leave), and "mark", which changes nothing and is a bookmark in the
// timeline.
type Change []Value

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

// keyOrder ranks the keys as they follow each other in a change: that is also their
// order in JSON.
func keyOrder(key string) int {
	head, _, _ := strings.Cut(key, ".")
	switch {
	case key == "encoder.name":
		return 0
	case head == "encoder":
		return 1
	case key == "profile":
		return 2
	case head == "down":
		return 3
	case head == "up":
		return 4
	case slices.Contains(InputKeys(), key):
		return 1000 + slices.Index(InputKeys(), key)
	case key == "shadow":
		return 1100
	case key == "shadow_off":
		return 1101
	case key == "mark":
		return 1102
	}
	return 10 + settingIndex(key)
}

// put sets a canonical key to a value in its normal form.
func (ch *Change) put(key string, v any) {
	at, found := slices.BinarySearchFunc(*ch, key, func(x Value, key string) int {
		return cmp.Or(cmp.Compare(keyOrder(x.Key), keyOrder(key)), cmp.Compare(x.Key, key))
	})
	if found {
		*ch = slices.Clone(*ch)
		(*ch)[at].Value = v
		return
	}
	*ch = slices.Insert(slices.Clone(*ch), at, Value{key, v})
}

// Get returns what the change sets a canonical key to; false if it leaves it alone.
func (ch Change) Get(key string) (any, bool) {
	for _, x := range ch {
		if x.Key == key {
			return x.Value, true
		}
	}
	return nil, false
}

// Text returns what the change sets a canonical key to, as text; "" if it leaves it
// alone.
func (ch Change) Text(key string) string {
	if v, ok := ch.Get(key); ok {
		return fmt.Sprint(v)
	}
	return ""
}

// Has reports whether the change sets a key, or one below it: "encoder" stands for the
// encoder's name and params.
func (ch Change) Has(key string) bool {
	return slices.ContainsFunc(ch, func(x Value) bool { return x.Key == key || strings.HasPrefix(x.Key, key+".") })
}

// Set sets one key of a change, named as under [[at]] in a configuration:
// "encoder", "params.small", "profile", "down.loss", "up.loss", "link.loss" or
// plain "loss" (both directions), the name of a live setting in full or in short
// ("receiver.playout_delay", "playout_delay"), "shadow", "shadow_off", "mark", or one
// of InputKeys.
func (ch *Change) Set(key string, value any) error {
	head, rest, _ := strings.Cut(key, ".")
	switch {
	case key == "encoder" || key == "encoder.name":
		return ch.setName("encoder.name", key, value)
	case key == "profile" || key == "mark":
		return ch.setName(key, key, value)
	case slices.Contains(InputKeys(), key):
		return ch.setInput(key, value)
	case head == "shadow" || head == "shadow_off" || strings.HasPrefix(head, "shadow["):
		return ch.setShadow(key, key[len(head):], value)
	case head == "params":
		return ch.setParams(rest, key, value)
	case head == "encoder" && (rest == "params" || strings.HasPrefix(rest, "params.")):
		return ch.setParams(strings.TrimPrefix(strings.TrimPrefix(rest, "params"), "."), key, value)
	case (head == "down" || head == "up" || head == "link") && rest == "" && !isTable(value):
		return noLink(key, value)
	case head == "down" || head == "up":
		ch.setLink(head, rest, value)
		return nil
	case head == "link":
		key = rest
		fallthrough
	case isLinkKey(head):
		ch.setLink("down", key, value)
		ch.setLink("up", key, value)
		return nil
	}
	if s := settingNamed(key); s != nil && s.Live != Fixed {
		return ch.setSetting(s, key, value)
	} else if s != nil {
		return &Error{Key: key, Problem: "it is settled when a run begins, and a script cannot change it",
			Expected: "one of encoder, params, profile, the keys of down, up and link, shadow, shadow_off, mark, " +
				strings.Join(liveNames(), ", ")}
	}
	return Unknown(key, "key", key, changeKeys())
}

func isTable(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// liveNames lists the live settings as a script calls them, and what a player may do.
func liveNames() (names []string) {
	for _, s := range LiveSettings() {
		if s.Live == Live {
			names = append(names, s.Short)
		}
	}
	return append(names, InputKeys()...)
}

// changeKeys lists what a change may be told to set, for near names.
func changeKeys() []string {
	known := []string{"t", "encoder", "params", "profile", "down", "up", "link", "shadow", "shadow_off", "mark"}
	for _, s := range LiveSettings() {
		known = append(known, s.Short)
	}
	known = append(known, InputKeys()...)
	for _, k := range lossmodel.Keys() {
		known = append(known, k.Key)
	}
	return known
}

func (ch *Change) setName(canonical, key string, value any) error {
	var text string
	if !setText(&text, value) {
		return &Error{Key: key, Problem: show(value) + " is no text", Expected: "a name"}
	}
	ch.put(canonical, text)
	return nil
}

// setSetting notes a value of a row of the table, in the form that Values gives it.
func (ch *Change) setSetting(s *Setting, key string, value any) error {
	c := Default()
	if !s.set(c, value) {
		return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: s.Expected}
	}
	ch.put(s.Key, s.get(c))
	return nil
}

// setParams notes a parameter of the encoder, or a table of them.
func (ch *Change) setParams(name, key string, value any) error {
	if name == "" && !isTable(value) {
		return &Error{Key: key, Problem: show(value) + " is no table", Expected: "the encoder's parameters, such as params.NAME = VALUE"}
	}
	flat := map[string]any{}
	flatten(name, value, flat)
	for k, v := range flat {
		ch.put("encoder.params."+k, v)
	}
	return nil
}

// setLink notes one setting of a link, a table as one setting a key.
func (ch *Change) setLink(way, key string, value any) {
	flat := map[string]any{}
	flatten(key, value, flat)
	for k, v := range flat {
		ch.put(way+"."+k, fmt.Sprint(v))
	}
}

func isLinkKey(key string) bool {
	return slices.ContainsFunc(lossmodel.Keys(), func(k lossmodel.KeyInfo) bool { return k.Key == key })
}

// table returns the change as a table that Set takes apart again.
func (ch Change) table() map[string]any {
	m := map[string]any{}
	for _, p := range parts() {
		p.write(ch.of(&p), m)
	}
	return m
}

// Label says in a few words what the change does: "encoder rotor, loss 5%".
func (ch Change) Label() string {
	var words []string
	for _, p := range parts() {
		words = append(words, p.label(ch.of(&p))...)
	}
	return strings.Join(words, ", ")
}

// Then returns the change that does what ch and then next would do, unless ch adds shadows
// and next removes some: a change removes before it adds.
func (ch Change) Then(next Change) Change {
	drop := func(x Value) bool {
		return next.Has("encoder.name") && x.Key != "encoder.name" && strings.HasPrefix(x.Key, "encoder.") ||
			next.Has("profile") && (strings.HasPrefix(x.Key, "down.") || strings.HasPrefix(x.Key, "up."))
	}
	out := slices.DeleteFunc(slices.Clone(ch), drop)
	for _, x := range next {
		switch list := x.Value.(type) {
		case []Encoder:
			x.Value = append(slices.Clone(out.Shadows()), list...)
		case []string:
			x.Value = append(slices.Clone(out.ShadowsOff()), list...)
		}
		out.put(x.Key, x.Value)
	}
	return out
}

// IsZero reports whether the change leaves everything as it is.
func (ch Change) IsZero() bool { return len(ch) == 0 }

// Mark returns the bookmark that the change sets; "" if it sets none.
func (ch Change) Mark() string { return ch.Text("mark") }

// WithMark returns the change with another bookmark; "" removes it.
func (ch Change) WithMark(text string) Change {
	ch = slices.DeleteFunc(slices.Clone(ch), func(x Value) bool { return x.Key == "mark" })
	if text != "" {
		ch.put("mark", text)
	}
	return ch
}

// Touches names the settings that the change alters, whatever their values: changes
// that follow each other fast and touch the same are one to whoever takes them back.
// Another encoder, profile or shadow is another setting.
func (ch Change) Touches() string {
	var names []string
	for _, x := range ch {
		switch {
		case x.Key == "mark" || slices.Contains(InputKeys(), x.Key):
		case x.Key == "encoder.name" || x.Key == "profile":
			names = append(names, x.Key+" "+fmt.Sprint(x.Value))
		case x.Key == "shadow" || x.Key == "shadow_off":
			names = append(names, shadowLabel(Change{x})...)
		default:
			names = append(names, x.Key)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Check says whether ch could be applied to this configuration; the error is
// fit for the person who typed it.
func (c *Config) Check(ch Change) error {
	_, err := c.After(ch)
	return err
}

// Apply makes c what it is after ch, or leaves it as it was and says why not.
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
	for _, p := range parts() {
		if values := ch.of(&p); len(values) > 0 {
			if err := p.apply(c, values); err != nil {
				return err
			}
		}
	}
	c.Profile = c.matchProfile()
	return nil
}

// Normal returns ch as it was understood: params of the encoder typed as its codec has
// them. after is the configuration that ch was applied to.
func (ch Change) Normal(after *Config) Change {
	out := slices.Clone(ch)
	for i, x := range out {
		if name, ok := strings.CutPrefix(x.Key, "encoder.params."); ok {
			out[i].Value = after.Encoder.Params[name]
		}
	}
	return out
}

// Undo returns the change that turns after back into c.
func (c *Config) Undo(after *Config) Change {
	var ch Change
	for _, p := range parts() {
		if p.undo != nil {
			p.undo(c, after, func(x Value) { ch.put(x.Key, x.Value) })
		}
	}
	return ch
}

// SameLive reports whether two configurations agree in all that can be changed while a
// session runs.
func (c *Config) SameLive(o *Config) bool { return c.Profile == o.Profile && c.Undo(o).IsZero() }
