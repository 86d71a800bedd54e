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
		return &Error{Key: key, Problem: "too many plugins", Expected: fmt.Sprintf("at most %d", maxPlugins)}
	}
	c.Plugins = slices.Clone(c.Plugins) // copies of c share the list
	p := entryAt(&c.Plugins, i, table.Wanted{})
	found, err := setRow(pluginRows(), p, key, rest, value)
	if !found {
		return Unknown(key, "key", rest, []string{"path", "memory", "timeout", "sha256"})
	}
	return err
}

// pluginRows returns the table rows of the keys of [[plugin]]. Each row has functions that read a key from and
// store it in a table.Wanted.
func pluginRows() []setting.Row[table.Wanted] {
	type wanted = table.Wanted
	return []setting.Row[wanted]{
		newSettingRow("path", invalidValue, "the path of a module, relative to this file", func(p *wanted) any {
			// Values are written to reports in other folders, so paths are absolute. The path of a process is a command.
			if abs, err := filepath.Abs(p.Path); err == nil && !encoders.IsProcess(p.Path) {
				return abs
			}
			return p.Path
		}, func(p *wanted, v any) bool { return setText(&p.Path, v) }),
		newSettingRow("memory", invalidValue, "a size from 1MB to 4GB", func(p *wanted) any {
			if p.Memory == 0 {
				return nil
			}
			return formatSize(p.Memory)
		}, func(p *wanted, v any) (ok bool) {
			var text string
			if setText(&text, v) {
				p.Memory, ok = ParseSize(text)
			}
			return ok
		}),
		newSettingRow("timeout", invalidValue, `a time such as "100ms", or "0s" for no limit`, func(p *wanted) any {
			if p.Timeout == 0 {
				return nil
			}
			return max(p.Timeout, 0).String() // -1 (no limit) becomes "0s"
		}, func(p *wanted, v any) bool {
			ok := setDuration(&p.Timeout, v, 0, maxPluginTimeout)
			if p.Timeout == 0 {
				p.Timeout = -1 // no limit; 0 would mean the default
			}
			return ok
		}),
		newSettingRow("sha256", invalidValue, "64 hexadecimal digits, 0-9 and a-f", func(p *wanted) any { return p.SHA256 },
			func(p *wanted, v any) bool { return setText(&p.SHA256, v) && hashPattern.MatchString(p.SHA256) }),
	}
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
			return &Error{Key: Indexed("plugin", i), Problem: "path is missing", Expected: `path = "FILE.wasm"`}
		case !encoders.IsProcess(p.Path) && !filepath.IsAbs(p.Path):
			p.Path = filepath.Join(dir, filepath.FromSlash(p.Path))
		}
	}
	if failed, err := table.Load(c.Plugins); err != nil { // failed is the index of the plugin
		return withKey(Indexed("plugin", failed)+".path", err)
	}
	return nil
}

// Plugin returns the path of the first plugin of the configuration; ok is false if there is none.
func (v Values) Plugin() (path string, ok bool) {
	list, _ := v["plugin"].([]any)
	for _, p := range list {
		if p, isTable := p.(map[string]any); isTable {
			return fmt.Sprint(p["path"]), true
		}
	}
	return "", false
}

// LoadPlugins loads the plugins of the values into the table of encoders. It does nothing without plugins.
func (v Values) LoadPlugins() error {
	list, ok := v["plugin"]
	if !ok {
		return nil
	}
	var c Config
	flat := map[string]any{}
	flatten("plugin", list, flat)
	for _, key := range sortedKeys(flat) {
		head, rest, _ := strings.Cut(key, ".")
		_, i, isItem := cutIndex(head)
		if !isItem {
			return &Error{Key: key, Problem: "is not a list of plugins", Expected: "[[plugin]]"}
		}
		if err := c.setPlugin(i, key, rest, flat[key]); err != nil {
			return err
		}
	}
	return c.loadPlugins("") // no folder: the paths in values are absolute
}

// pluginValues returns the plugins for the values v of a configuration: all loaded plugins if v contains the
// name of one of their encoders, because their order determines the codec IDs in packets; otherwise
// those of the configuration's file.
func (c *Config) pluginValues(v Values) (list []any) {
	wanted := c.Plugins
	loaded := table.Plugins() // all encoders of all plugins, grouped by plugin
	if slices.ContainsFunc(loaded, func(x encoders.Codec) bool { return containsText(map[string]any(v), x.Name) }) {
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
		m := map[string]any{}
		addRowValues(pluginRows(), &p, m)
		list = append(list, m)
	}
	return list
}

// containsText reports whether v, or a nested value in it, is the text name.
func containsText(v any, name string) bool {
	switch x := v.(type) {
	case string:
		return x == name
	case []string:
		return slices.Contains(x, name)
	case []any:
		return slices.ContainsFunc(x, func(y any) bool { return containsText(y, name) })
	case map[string]any:
		for _, y := range x {
			if containsText(y, name) {
				return true
			}
		}
	}
	return false
}
