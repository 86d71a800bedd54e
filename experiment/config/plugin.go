package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/setting"
)

// maxPlugins is the maximum number of plugins: the number of codec IDs for their encoders.
const maxPlugins = 128 - table.FirstPluginID

// Limits of the memory and timeout that can be set for a plugin.
const (
	minPluginMemory  = 1_000_000
	maxPluginMemory  = 4 << 30
	maxPluginTimeout = time.Hour
)

// hashPattern matches a SHA-256 in hexadecimal.
var hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// setPlugin sets key rest of [[plugin]] entry i. key is the full key, for errors.
func (c *Config) setPlugin(i int, key, rest string, value any) error {
	if i >= maxPlugins {
		return refuse(key, "too many plugins",
			fmt.Sprintf("at most %d", maxPlugins))
	}
	c.Plugins = slices.Clone(c.Plugins) // copies of c share the list
	p := entryAt(&c.Plugins, i, table.Wanted{})
	if r := findRow(pluginRows, rest); r != nil {
		return withKey(key, r.Set(p, value))
	}
	return Unknown(key, "key", rest, []string{"path", "memory", "timeout", "sha256"})
}

// pluginRows are the keys of [[plugin]].
var pluginRows = []row[table.Wanted]{
	{Key: "path", Expected: "the path of a module, relative to this file"},
	{Key: "memory", Min: minPluginMemory, Max: maxPluginMemory, quantity: unit("a size", "64MB", ParseSize, formatSize),
		Expected: "a size from 1MB to 4GB"},
	{Key: "timeout",
		Expected: `a time such as "100ms", or "0s" for no limit`, Field: func(p *table.Wanted) any {
			return parsed[time.Duration]{&p.Timeout, parseTimeout, timeoutText}
		}},
	{Key: "sha256", Expected: "64 hexadecimal digits, 0-9 and a-f", Field: func(p *table.Wanted) any {
		return parsed[string]{&p.SHA256, parseHash, strings.Clone}
	}},
}

// absolutePath returns the path of a plugin for reports, which are written in other folders. The path of
// a process is a command.
func absolutePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" && !encoders.IsProcess(path) {
		return abs
	}
	return path
}

// parseTimeout parses a timeout. No limit is -1, because 0 means the default.
func parseTimeout(text string) (time.Duration, error) {
	n, ok := span.parse(text)
	switch {
	case !ok || n < 0 || n > float64(maxPluginTimeout):
		return 0, errInvalid
	case n == 0:
		return -1, nil
	}
	return time.Duration(n), nil
}

// timeoutText returns the text for parseTimeout; "" if the timeout is not set.
func timeoutText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return max(d, 0).String()
}

// parseHash parses a SHA-256.
func parseHash(text string) (string, error) {
	if !hashPattern.MatchString(text) {
		return "", errInvalid
	}
	return text, nil
}

// ParseSize parses the memory limit of a plugin, such as 64MB or 64MiB. ok is false if it is outside of 1 MB
// to 4 GiB.
func ParseSize(text string) (n int64, ok bool) {
	n, ok = setting.Size.Parse(strings.ToUpper(text))
	return n, ok && n >= minPluginMemory && n <= maxPluginMemory
}

// formatSize formats a size for ParseSize.
func formatSize(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	return fmt.Sprintf("%dB", n)
}

// loadPlugins loads the plugins of a configuration into the table of encoders. dir is the folder to which
// their paths are relative.
func (c *Config) loadPlugins(dir string) error {
	if len(c.Plugins) == 0 {
		return nil
	}
	for i := range c.Plugins {
		p := &c.Plugins[i]
		switch {
		case p.Path == "":
			return refuse(Indexed("plugin", i), "path is missing",
				`path = "FILE.wasm"`)
		case !encoders.IsProcess(p.Path) && !filepath.IsAbs(p.Path):
			p.Path = filepath.Join(dir, filepath.FromSlash(p.Path))
		}
	}
	if failed, err := table.Load(c.Plugins); err != nil { // failed is the index of the plugin
		return withKey(Indexed("plugin", failed)+".path", err)
	}
	return nil
}

// LoadPlugins loads the plugins of the values into the table of encoders. It does nothing without plugins.
func (v Values) LoadPlugins() error {
	if v["plugin"] == nil {
		return nil
	}
	c, err := Values{"plugin": v["plugin"]}.Config("")
	if err != nil {
		return err
	}
	return c.loadPlugins("") // no folder: the paths in values are absolute
}

// pluginValues returns the plugins for the values v of a configuration: all loaded plugins if v contains the
// name of one of their encoders, because their order determines the codec IDs in packets; otherwise
// those of the configuration's file.
func (c *Config) pluginValues(v Values) (list []any) {
	wanted := c.Plugins
	loaded := table.Plugins() // all encoders of all plugins, grouped by plugin
	isSeparator := func(r rune) bool { return strings.ContainsRune(" :[]", r) }
	words := strings.FieldsFunc(fmt.Sprint(v), isSeparator) // all keys and values
	if slices.ContainsFunc(loaded, func(x encoders.Codec) bool { return slices.Contains(words, x.Name) }) {
		wanted = nil
		for i := range loaded {
			p := loaded[i].Plugin
			if p == nil || len(wanted) > 0 && wanted[len(wanted)-1].SHA256 == p.SHA256 {
				continue // no plugin, or another encoder of the same plugin
			}
			w := table.Wanted{Path: p.Path, SHA256: p.SHA256, Memory: p.Memory, Timeout: p.Timeout}
			if k := slices.IndexFunc(c.Plugins, func(x table.Wanted) bool { return x.SHA256 == p.SHA256 }); k >= 0 {
				w = c.Plugins[k] // the path in the configuration, even if the plugin was loaded from another path
			}
			wanted = append(wanted, w)
		}
	}
	for _, p := range wanted {
		p.Path = absolutePath(p.Path)
		m := map[string]any{}
		addRowValues(pluginRows, &p, m)
		list = append(list, m)
	}
	return list
}
