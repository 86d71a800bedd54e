package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The JSON of a change is an object. Its form is older than the table of settings and
// stays: "encoder", "params", "down", "up" and "input" are nested, and
// "receiver.playout_delay" travels as "playout_ns", in nanoseconds. Every other live
// setting travels under its short name.

// nested returns the object that a key travels in, and its name there.
func nested(key string) (object, name string) {
	head, rest, _ := strings.Cut(key, ".")
	switch {
	case key == "encoder.name":
		return "", "encoder"
	case head == "encoder":
		return "params", strings.TrimPrefix(rest, "params.")
	case head == "down" || head == "up":
		return head, rest
	case slices.Contains(InputKeys(), key):
		return "input", key
	}
	if s := settingNamed(key); s != nil {
		if s.Key == playoutKey {
			return "", "playout_ns"
		}
		return "", s.Short
	}
	return "", key
}

// MarshalJSON implements json.Marshaler.
func (ch Change) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	open := ""
	b.WriteByte('{')
	for i, x := range ch {
		object, name := nested(x.Key)
		switch {
		case object != open && open != "":
			b.WriteString("},")
		case i > 0:
			b.WriteByte(',')
		}
		if object != open && object != "" {
			fmt.Fprintf(&b, `"%s":{`, object)
		}
		open = object
		key, err := json.Marshal(name) // of a param it may be anything
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(jsonValue(x))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%s", key, data)
	}
	if open != "" {
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// jsonValue is a value as it travels.
func jsonValue(x Value) any {
	if x.Key != playoutKey {
		return x.Value
	}
	d, err := time.ParseDuration(fmt.Sprint(x.Value))
	if err != nil {
		panic("config: a playout delay that is no time: " + err.Error())
	}
	return int64(d)
}

// UnmarshalJSON implements json.Unmarshaler.
func (ch *Change) UnmarshalJSON(data []byte) error {
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return err
	}
	*ch = nil
	for _, key := range sortedKeys(tree) {
		if err := ch.setJSON(key, tree[key]); err != nil {
			return err
		}
	}
	return nil
}

func (ch *Change) setJSON(key string, v any) error {
	object, isObject := v.(map[string]any)
	switch {
	case key == "playout_ns":
		ns, ok := v.(float64)
		if !ok {
			return &Error{Key: key, Problem: show(v) + " is no number", Expected: "nanoseconds"}
		}
		return ch.Set(playoutKey, time.Duration(ns).String())
	case key == "params" && !isObject:
		return &Error{Key: key, Problem: show(v) + " is no table", Expected: "a table of params"}
	case key == "params":
		for name, x := range object {
			ch.put("encoder.params."+name, x)
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

// setShadowJSON takes the shadows of a change, which stand there in full.
func (ch *Change) setShadowJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	const expected = "a list of encoders, each a name and params"
	var list []Encoder
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields() // a misspelt key would be an encoder with its defaults
	if err := dec.Decode(&list); err != nil {
		return &Error{Key: "shadow", Problem: strings.TrimPrefix(err.Error(), "json: "), Expected: expected}
	}
	if len(list) == 0 {
		return &Error{Key: "shadow", Problem: "it names none", Expected: expected}
	}
	for i, e := range list {
		if e.Name == "" {
			return &Error{Key: Indexed("shadow", i), Problem: "it has no name", Expected: expected}
		}
	}
	ch.put("shadow", list)
	return nil
}
