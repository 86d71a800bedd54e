package experiment

import "fmt"

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
