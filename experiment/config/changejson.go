package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The JSON of a change is an object whose format must not change: "params", "down", "up" and
// "input" are nested objects, "receiver.playout_delay" is "playout_ns" in nanoseconds, and other
// live settings have their short names.

func (ch Change) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range ch.members() {
		if i > 0 {
			b.WriteByte(',')
		}
		if m.name == playoutName {
			d, err := time.ParseDuration(fmt.Sprint(m.value))
			if err != nil {
				return nil, err
			}
			m.name, m.value = "playout_ns", int64(d)
		}
		data, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", m.name, data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (ch *Change) UnmarshalJSON(data []byte) error {
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return err
	}
	*ch = Change{}
	for _, key := range sortedKeys(tree) {
		if err := ch.setJSON(key, tree[key]); err != nil {
			return err
		}
	}
	return nil
}

// setJSON sets one member of the JSON object. Members whose form differs from that of [[at]] are handled here:
// times in nanoseconds, and the nested objects of parameters, inputs and shadows. Set handles the others.
func (ch *Change) setJSON(key string, v any) error {
	object, isObject := v.(map[string]any)
	switch {
	case key == "playout_ns":
		ns, ok := v.(float64)
		if !ok {
			return &Error{Key: key, Problem: quoteValue(v) + " is not a number", Expected: "nanoseconds"}
		}
		return ch.Set(playoutName, time.Duration(ns).String())
	case key == "params" && !isObject:
		return &Error{Key: key, Problem: quoteValue(v) + " is not a table", Expected: "a table of params"}
	case key == "params": // not by Set, which would split names at dots
		for name, x := range object {
			ch.Params = withEntry(ch.Params, name, x)
		}
		return nil
	case key == "input" && isObject:
		for _, name := range sortedKeys(object) {
			if err := ch.Set(name, object[name]); err != nil {
				return err
			}
		}
		return nil
	case key == "shadow":
		return ch.setShadowJSON(v)
	}
	return ch.Set(key, v)
}

// setShadowJSON sets the shadows from a list of objects with names and parameters.
func (ch *Change) setShadowJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	const expected = "a list of encoders, each a name and params"
	var list []Encoder
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields() // otherwise a misspelt key would be ignored
	if err := dec.Decode(&list); err != nil {
		return &Error{Key: "shadow", Problem: strings.TrimPrefix(err.Error(), "json: "), Expected: expected}
	}
	if len(list) == 0 {
		return &Error{Key: "shadow", Problem: "the list is empty", Expected: expected}
	}
	for i, e := range list {
		if e.Name == "" {
			return &Error{Key: Indexed("shadow", i), Problem: "name is missing", Expected: expected}
		}
	}
	ch.Shadows = list
	return nil
}
