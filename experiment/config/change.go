package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/lossmodel"
)

// Change is anything that may be altered while a session runs. A keystroke, a
// typed command, a line of a script and a replay all make the same Change. Empty
// fields mean "leave it".
type Change struct {
	Encoder       string            `json:"encoder,omitempty"`
	Params        map[string]any    `json:"params,omitempty"`  // of the encoder named, or of the present one
	Profile       string            `json:"profile,omitempty"` // a link profile: sets down and up
	Down          map[string]string `json:"down,omitempty"`    // settings of the link sender -> receiver, by key of lossmodel.Keys
	Up            map[string]string `json:"up,omitempty"`      // settings of the link receiver -> sender
	Playout       *time.Duration    `json:"playout_ns,omitempty"`
	Every         int               `json:"every,omitempty"`         // of the snapshots, which are sent: SenderConfig.Every
	Interpolation string            `json:"interpolation,omitempty"` // of the receiver's display: a name of Interpolations
	Input         *Input            `json:"input,omitempty"`         // of whoever plays a live world
	Shadow        []Encoder         `json:"shadow,omitempty"`        // join as shadows, after those below have left
	ShadowOff     []string          `json:"shadow_off,omitempty"`    // shadows of these names leave
	Mark          string            `json:"mark,omitempty"`          // changes nothing: a bookmark in the timeline
}

// StampedChange is a change with the virtual time at which it took effect: it
// was applied before any other event of that instant.
type StampedChange struct {
	T      time.Duration `json:"t_ns"`
	TS     float64       `json:"t_s"` // the same, in seconds, for people
	Change Change        `json:"change"`

	Undo bool `json:"undo,omitempty"` // takes an earlier change back: not itself undone
}

// Set sets one key of a change, named as under [[at]] in a configuration:
// "encoder", "params.small", "profile", "down.loss", "up.loss", "link.loss" or
// plain "loss" (both directions), "playout_delay", "interpolation", "every", "shadow", "shadow_off", "mark", or one of InputKeys.
func (ch *Change) Set(key string, value any) error {
	head, rest, _ := strings.Cut(key, ".")
	switch {
	case key == "encoder" || key == "encoder.name":
		return textInto(&ch.Encoder, key, value)
	case key == "profile":
		return textInto(&ch.Profile, key, value)
	case key == "mark":
		return textInto(&ch.Mark, key, value)
	case key == "playout_delay" || key == "receiver.playout_delay":
		var d time.Duration
		if !setDuration(&d, value, 0, time.Hour) {
			return &Error{Key: key, Problem: show(value) + " is no time", Expected: `a time such as "85ms"`}
		}
		ch.Playout = &d
		return nil
	case key == "every" || key == "sender.every":
		if !setInt(&ch.Every, value, 1, maxEvery) {
			return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: "1 to 60: every so many-th snapshot is sent"}
		}
		return nil
	case key == "interpolation" || key == "receiver.interpolation":
		var i Interpolation
		if !setInterpolation(&i, value) {
			return &Error{Key: key, Problem: show(value) + " makes no sense here", Expected: `"linear" or "hermite"`}
		}
		ch.Interpolation = i.String()
		return nil
	case slices.Contains(InputKeys(), key):
		if ch.Input == nil {
			ch.Input = &Input{}
		}
		return ch.Input.set(key, value)
	case head == "shadow" || head == "shadow_off" || strings.HasPrefix(head, "shadow["):
		return ch.setShadow(key, key[len(head):], value)
	case head == "params" || strings.HasPrefix(key, "encoder.params."):
		if ch.Params == nil {
			ch.Params = map[string]any{}
		}
		ch.Params[strings.TrimPrefix(strings.TrimPrefix(key, "encoder."), "params.")] = value
		return nil
	case head == "down":
		return ch.setLink(&ch.Down, rest, value)
	case head == "up":
		return ch.setLink(&ch.Up, rest, value)
	case head == "link":
		return ch.setBoth(rest, value)
	case isLinkKey(head):
		return ch.setBoth(key, value)
	}
	known := []string{"t", "encoder", "params", "profile", "down", "up", "link", "playout_delay", "interpolation", "every", "shadow", "shadow_off", "mark"}
	known = append(known, InputKeys()...)
	for _, k := range lossmodel.Keys() {
		known = append(known, k.Key)
	}
	return Unknown(key, "key", key, known)
}

func textInto(dst *string, key string, value any) error {
	if !setText(dst, value) {
		return &Error{Key: key, Problem: show(value) + " is no text", Expected: "a name"}
	}
	return nil
}

func isLinkKey(key string) bool {
	for _, k := range lossmodel.Keys() {
		if k.Key == key {
			return true
		}
	}
	return false
}

func (ch *Change) setBoth(key string, value any) error {
	if err := ch.setLink(&ch.Down, key, value); err != nil {
		return err
	}
	return ch.setLink(&ch.Up, key, value)
}

// setLink notes one setting of a link, an inline table as one setting a key.
func (ch *Change) setLink(m *map[string]string, key string, value any) error {
	flat := map[string]any{}
	flatten(key, value, flat)
	if *m == nil {
		*m = map[string]string{}
	}
	for k, v := range flat {
		(*m)[k] = fmt.Sprint(v)
	}
	return nil
}

// values returns the change as a table that Set takes apart again.
func (ch *Change) values() map[string]any {
	m := map[string]any{}
	for key, text := range map[string]string{"encoder": ch.Encoder, "profile": ch.Profile, "mark": ch.Mark, "interpolation": ch.Interpolation} {
		if text != "" {
			m[key] = text
		}
	}
	if len(ch.Params) > 0 {
		m["params"] = ch.Params
	}
	for key, link := range map[string]map[string]string{"down": ch.Down, "up": ch.Up} {
		if len(link) > 0 {
			m[key] = link
		}
	}
	if ch.Playout != nil {
		m["playout_delay"] = ch.Playout.String()
	}
	if ch.Every != 0 {
		m["every"] = int64(ch.Every)
	}
	ch.shadowValues(m)
	if ch.Input != nil {
		ch.Input.values(m)
	}
	return m
}

// Label says in a few words what the change does: "encoder rotor, loss 5%".
func (ch *Change) Label() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if ch.Encoder != "" {
		add("encoder %s", ch.Encoder)
	}
	for _, k := range sortedKeys(ch.Params) {
		add("%s %v", k, ch.Params[k])
	}
	if ch.Profile != "" {
		add("profile %s", ch.Profile)
	}
	for _, k := range sortedKeys(ch.Down) {
		if ch.Up[k] == ch.Down[k] {
			add("%s %s", k, ch.Down[k])
		} else {
			add("down %s %s", k, ch.Down[k])
		}
	}
	for _, k := range sortedKeys(ch.Up) {
		if ch.Up[k] != ch.Down[k] {
			add("up %s %s", k, ch.Up[k])
		}
	}
	if ch.Playout != nil {
		add("playout %v", *ch.Playout)
	}
	if ch.Every != 0 {
		add("every %d", ch.Every)
	}
	if ch.Interpolation != "" {
		add("interpolation %s", ch.Interpolation)
	}
	parts = append(parts, ch.shadowLabel()...)
	if ch.Input != nil {
		parts = append(parts, ch.Input.label()...)
	}
	if ch.Mark != "" {
		add("%s", ch.Mark)
	}
	return strings.Join(parts, ", ")
}

// IsZero reports whether the change leaves everything as it is.
func (ch *Change) IsZero() bool { return ch.Label() == "" }

// touches names the settings that the change alters, whatever their values.
func (ch *Change) Touches() string {
	names := make([]string, 0, 4)
	if ch.Encoder != "" {
		names = append(names, "encoder "+ch.Encoder)
	}
	if ch.Profile != "" {
		names = append(names, "profile "+ch.Profile)
	}
	if ch.Playout != nil {
		names = append(names, "playout")
	}
	if ch.Every != 0 {
		names = append(names, "every")
	}
	if ch.Interpolation != "" {
		names = append(names, "interpolation")
	}
	names = append(names, ch.shadowLabel()...)
	for prefix, keys := range map[string][]string{"params.": sortedKeys(ch.Params), "down.": sortedKeys(ch.Down), "up.": sortedKeys(ch.Up)} {
		for _, k := range keys {
			names = append(names, prefix+k)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
