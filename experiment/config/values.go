package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Values is a configuration as nested tables of text, numbers and lists, as reports hold it.
type Values map[string]any

// Values returns the effective configuration. scalar them all on a Default gives c again.
func (c *Config) Values() Values {
	v := Values{"down": c.Down.Values(), "up": c.Up.Values(), "encoder": c.Encoder.values()}
	for _, s := range rows() {
		if s.omit == nil || !s.omit(c) {
			putNested(v, s.Key, s.Get(c))
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

// putNested sets a dotted key of nested tables.
func putNested(table map[string]any, key string, v any) {
	head, rest, below := strings.Cut(key, ".")
	if !below {
		table[key] = v
		return
	}
	sub, ok := table[head].(map[string]any)
	if !ok {
		sub = map[string]any{}
		table[head] = sub
	}
	putNested(sub, rest, v)
}

// listValues adds the arrays of tables.
func (c *Config) listValues(v map[string]any) {
	var at, clients, shadows, sweep []any
	for _, x := range c.Clients {
		clients = append(clients, x.values())
	}
	for _, a := range c.At {
		m := a.Change.table()
		m["t"] = a.T.String()
		at = append(at, m)
	}
	for _, s := range c.Shadows {
		shadows = append(shadows, s.values())
	}
	for _, x := range c.Sweep {
		if x.Repeat > 0 {
			sweep = append(sweep, map[string]any{"repeat": x.Repeat})
			continue
		}
		sweep = append(sweep, map[string]any{"key": x.Key, "values": x.Values})
	}
	for key, list := range map[string][]any{"at": at, "client": clients, "shadow": shadows, "sweep": sweep} {
		if len(list) > 0 {
			v[key] = list
		}
	}
	if list := c.pluginValues(v); len(list) > 0 {
		v["plugin"] = list
	}
}

func (e Encoder) values() map[string]any {
	m := map[string]any{"name": e.Name}
	if len(e.Params) > 0 {
		m["params"] = maps.Clone(e.Params)
	}
	return m
}

// TOML returns the effective configuration as a file that Parse takes.
func (c *Config) TOML() ([]byte, error) { return toml.Marshal(c.Values()) }

// Chosen is TOML without what nobody chose and what therefore follows the data: the file
// means the same where the data are swept.
func (c *Config) Chosen() ([]byte, error) {
	values := c.Values()
	for _, key := range followers {
		if c.chosen[key] || key == "encoder.name" && len(c.Encoder.Params) > 0 {
			continue
		}
		head, rest, below := strings.Cut(key, ".")
		if table, ok := values[head].(map[string]any); ok && below {
			delete(table, rest)
		} else {
			delete(values, head)
		}
	}
	return toml.Marshal(values)
}

// lastKey ranks what must be set after all other keys of its link: while a netem line is
// on, nothing that it decides can be set.
func lastKey(key string) int {
	if key == "down.netem" || key == "up.netem" || key == "link.netem" {
		return 1
	}
	return 0
}

// Text returns a value as text by its dotted key; "" if it is missing.
func (v Values) Text(key string) string {
	var x any = map[string]any(v)
	for name := range strings.SplitSeq(key, ".") {
		table, _ := x.(map[string]any)
		x = table[name]
	}
	if x == nil {
		return ""
	}
	return fmt.Sprint(x)
}

// Config builds a configuration from what Config.Values returned, perhaps by way
// of JSON or TOML; name stands in errors.
func (v Values) Config(name string) (*Config, error) {
	c := Default()
	flat := map[string]any{}
	flatten("", map[string]any(v), flat)
	keys := append(slices.Clone(firstKeys), sortedKeys(flat)...)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(lastKey(a), lastKey(b)) })
	for _, key := range keys {
		if _, set := flat[key]; !set {
			continue
		}
		if err := c.set(key, flat[key]); err != nil {
			return nil, Located(name, nil, err)
		}
		delete(flat, key)
	}
	if err := c.Validate(); err != nil {
		return nil, Located(name, nil, err)
	}
	if err := c.Normalise(); err != nil {
		return nil, Located(name, nil, err)
	}
	return c, nil
}

// Settings returns the configuration as flat keys with their values as text, but for
// the script, the sweep and the assertions.
func (c *Config) Settings() map[string]string {
	d := c.Clone()
	d.At, d.Clients, d.Sweep, d.Search, d.Assert, d.Duration = nil, nil, nil, Search{}, nil, 0
	flat := map[string]any{}
	flatten("", map[string]any(d.Values()), flat)
	out := make(map[string]string, len(flat))
	for k, v := range flat {
		out[k] = fmt.Sprint(v)
	}
	return out
}
