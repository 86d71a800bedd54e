package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Values is a configuration as nested tables of texts, numbers and lists, as in reports.
type Values map[string]any

// Values returns all settings of the configuration as nested tables, as in a TOML file. Values.Config
// converts them back.
func (c *Config) Values() Values {
	v := Values{"down": c.Down.Values(), "up": c.Up.Values(), "encoder": c.Encoder.values()}
	for i := range Rows() {
		r := &Rows()[i]
		isPlayout := r.Key == playoutKey || r.Key == playoutPolicyKey // two keys of one setting, of which a file has one
		isOther := isPlayout && c.Playout().IsFixed() != (r.Key == playoutKey)
		if !isOther {
			setNested(v, r.Key, r.Get(c))
		}
	}
	if len(c.Assert) > 0 {
		m := map[string]any{}
		for _, a := range c.Assert {
			m[a.Name] = a.Text()
		}
		v["assert"] = m
	}
	if m := c.Search.values(); m != nil {
		v["search"] = m
	}
	c.listValues(v)
	return v
}

// setNested sets a dotted key to v in nested tables, which it adds where they are missing.
func setNested(table map[string]any, key string, v any) {
	head, rest, isNested := strings.Cut(key, ".")
	if !isNested {
		table[key] = v
		return
	}
	sub, ok := table[head].(map[string]any)
	if !ok {
		sub = map[string]any{}
		table[head] = sub
	}
	setNested(sub, rest, v)
}

// listValues adds the arrays of tables, such as [[at]], to v.
func (c *Config) listValues(v Values) {
	lists := map[string][]any{}
	add := func(key string, table map[string]any) { lists[key] = append(lists[key], table) }
	for _, x := range c.Clients {
		add("client", x.values())
	}
	for _, a := range c.At {
		m := a.Change.table()
		m["t"] = a.T.String()
		if a.FromFirstDatagram {
			m["from"] = firstDatagram
		}
		add("at", m)
	}
	for _, s := range c.Shadows {
		add("shadow", s.values())
	}
	for _, x := range c.Sweep {
		m := map[string]any{"key": x.Key, "values": x.Values}
		if x.Repeat > 0 {
			m = map[string]any{"repeat": x.Repeat}
		}
		add("sweep", m)
	}
	for key, list := range lists {
		v[key] = list
	}
	if list := c.pluginValues(v); len(list) > 0 {
		v["plugin"] = list
	}
}

// values returns the encoder as a table, as in a file.
func (e Encoder) values() map[string]any {
	m := map[string]any{"name": e.Name}
	if len(e.Params) > 0 {
		m["params"] = maps.Clone(e.Params)
	}
	for name, text := range e.Own {
		m[name] = text
	}
	return m
}

// MarshalJSON returns the table of the encoder as in a file.
func (e Encoder) MarshalJSON() ([]byte, error) { return json.Marshal(e.values()) }

// TOML returns the effective configuration as a file for Parse.
func (c *Config) TOML() ([]byte, error) { return toml.Marshal(c.Values()) }

// ExplicitTOML returns the configuration as TOML text. Unlike TOML, it leaves out settings whose defaults
// depend on the data, unless they were set explicitly. So a sweep over several data sources chooses them
// for each source.
func (c *Config) ExplicitTOML() ([]byte, error) {
	values := c.Values()
	for _, key := range dataDependentKeys {
		if c.chosen[key] || key == "encoder.name" && len(c.Encoder.Params) > 0 {
			continue
		}
		head, rest, isNested := strings.Cut(key, ".")
		if table, ok := values[head].(map[string]any); ok && isNested {
			delete(table, rest)
		} else {
			delete(values, head)
		}
	}
	return toml.Marshal(values)
}

// compareKeys compares two keys in the order in which keys are set: by rank, then by name. Other keys
// modify the profile or are chosen for the data, the name of an encoder resets its parameters, and
// shadows are removed before others are added. Once a netem line is set, the keys that it determines
// cannot be set.
func compareKeys(a, b string) int { return cmp.Or(keyRank(a)-keyRank(b), strings.Compare(a, b)) }

// keyRank returns the rank of a key for compareKeys.
func keyRank(key string) int {
	first := []string{"data.source", keyEncoder, "profile", "shadow_off"}
	switch i := slices.Index(first, key); {
	case i >= 0:
		return i
	case strings.HasSuffix(key, ".netem"):
		return len(first) + 1
	}
	return len(first)
}

// Text returns the value of a key, such as "down.loss" or "plugin[0].path", as text; "" if the key is missing.
func (v Values) Text(key string) string {
	if x, ok := v.flat()[key]; ok {
		return fmt.Sprint(x)
	}
	return ""
}

// flat returns the values by key.
func (v Values) flat() map[string]any {
	flat := map[string]any{}
	flatten("", map[string]any(v), flat)
	return flat
}

// Config returns the configuration with the given values, which may have been converted to JSON or TOML and
// back. name is the name of the file in errors.
func (v Values) Config(name string) (*Config, error) {
	c := Default()
	flat := v.flat()
	for _, key := range slices.SortedFunc(maps.Keys(flat), compareKeys) {
		if err := c.set(key, flat[key]); err != nil {
			return nil, Located(name, nil, err)
		}
	}
	if err := cmp.Or(c.Validate(), c.Normalise()); err != nil {
		return nil, Located(name, nil, err)
	}
	return c, nil
}

// Settings returns the values of all keys as text, by key. Duration, script, clients, sweep, search and
// assertions are left out.
func (c *Config) Settings() map[string]string {
	d := c.Clone()
	d.At, d.Clients, d.Sweep, d.Search, d.Assert = nil, nil, nil, Search{}, nil
	flat := d.Values().flat()
	delete(flat, "duration")
	out := make(map[string]string, len(flat))
	for k, v := range flat {
		out[k] = fmt.Sprint(v)
	}
	return out
}

// IsCondition reports whether a key describes the network or the data, which are given, rather than a
// choice, such as the encoder.
func IsCondition(key string) bool {
	for _, prefix := range []string{"down.", "up.", "link.", "data.", "crowd.clients", "crowd.rtt", "crowd.jitter", "crowd.loss", "crowd.profiles", "crowd.uplink_"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return key == "profile" || key == "traffic"
}
