package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Values returns the effective configuration as nested tables of text, numbers
// and lists: what reports hold. Setting them all on a Default gives c again.
func (c *Config) Values() map[string]any {
	v := map[string]any{
		"seed": int64(c.Seed),
		"data": map[string]any{"source": c.Data.Source, "cubes": int64(c.Data.Cubes), "script": c.Data.Script, "loop": c.Data.Loop, "message": int64(c.Data.Message)},
		"down": c.Down.Values(),
		"up":   c.Up.Values(),
		"sender": map[string]any{
			"rate_hz": int64(c.Sender.RateHz), "every": int64(c.Sender.Every), "history": int64(c.Sender.History)},
		"receiver": map[string]any{
			"history": int64(c.Receiver.History), "playout_delay": c.Receiver.Playout.String(), "interpolation": c.Receiver.Interpolation.String(),
			"display_hz": float64(c.Receiver.DisplayMilliHz) / 1000},
		"encoder": c.Encoder.values(),
	}
	c.fileValues(v)
	if c.Seed >= 1<<53 {
		v["seed"] = strconv.FormatUint(c.Seed, 10) // JSON readers make floats of numbers
	}
	if c.Duration > 0 {
		v["duration"] = c.Duration.String()
	}
	if len(c.Assert) > 0 {
		m := map[string]any{}
		for _, a := range c.Assert {
			m[a.Name] = a.Text()
		}
		v["assert"] = m
	}
	c.listValues(v)
	return v
}

// fileValues adds what is about whole files, where the data are files or somebody
// has set it.
func (c *Config) fileValues(v map[string]any) {
	usual, sender := Default().Sender, v["sender"].(map[string]any)
	kind, _, _ := strings.Cut(c.Data.Source, ":")
	if kind == "files" || c.Sender.Block != usual.Block || c.Sender.Window != usual.Window {
		sender["block"], sender["window"] = int64(c.Sender.Block), int64(c.Sender.Window)
	}
	if c.Data.Again && kind == "files" {
		v["data"].(map[string]any)["again"] = true
	}
}

// listValues adds the arrays of tables.
func (c *Config) listValues(v map[string]any) {
	var at, shadows, sweep []any
	for _, a := range c.At {
		m := a.Change.values()
		m["t"] = a.T.String()
		at = append(at, m)
	}
	for _, s := range c.Shadows {
		shadows = append(shadows, s.values())
	}
	for _, x := range c.Sweep {
		sweep = append(sweep, map[string]any{"key": x.Key, "values": x.Values})
	}
	for key, list := range map[string][]any{"at": at, "shadow": shadows, "sweep": sweep} {
		if len(list) > 0 {
			v[key] = list
		}
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

// FromValues builds a configuration from what Values returned, perhaps by way
// of JSON or TOML; name stands in errors.
func FromValues(name string, values map[string]any) (*Config, error) {
	c := Default()
	flat := map[string]any{}
	flatten("", values, flat)
	if v, ok := flat["profile"]; ok {
		if err := c.Set("profile", v); err != nil {
			return nil, Located(name, nil, err)
		}
	}
	for _, key := range sortedKeys(flat) {
		if key == "profile" {
			continue
		}
		if err := c.Set(key, flat[key]); err != nil {
			return nil, Located(name, nil, err)
		}
	}
	if err := c.Validate(); err != nil {
		return nil, Located(name, nil, err)
	}
	return c, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Settings returns the configuration as flat keys with their values as text, but for
// the script, the sweep and the assertions.
func (c *Config) Settings() map[string]string {
	d := c.Clone()
	d.At, d.Sweep, d.Assert, d.Duration = nil, nil, nil, 0
	flat := map[string]any{}
	flatten("", d.Values(), flat)
	out := make(map[string]string, len(flat))
	for k, v := range flat {
		out[k] = fmt.Sprint(v)
	}
	return out
}
