package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/encoders/plugin"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
)

// pluginFlags name encoders from outside.
type pluginFlags struct {
	paths   []string
	memory  string
	timeout time.Duration
}

func (f *pluginFlags) add(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringArrayVar(&f.paths, "plugin", nil, "load encoders of yours from this WebAssembly `FILE`; may be repeated; see tui plugins")
	flags.StringVar(&f.memory, "plugin-memory", "256MB", "the most memory that each end of a plugin may take (`SIZE`)")
	flags.DurationVar(&f.timeout, "plugin-timeout", plugin.DefaultTimeout, "the longest that a call of a plugin may take (`TIME`); 0: it is trusted")
}

// options are what the flags say.
func (f *pluginFlags) options() (o plugin.Options, err error) {
	if o.Memory, err = parseMemory(f.memory); err != nil {
		return o, err
	}
	switch o.Timeout = f.timeout; {
	case f.timeout < 0:
		return o, usagef("--plugin-timeout %v makes no sense; expected a time, as in 100ms, or 0", f.timeout)
	case f.timeout == 0:
		o.Timeout = -1
	}
	if dir, err := os.UserCacheDir(); err == nil {
		o.Cache = filepath.Join(dir, "wirelab", "plugins")
	}
	return o, nil
}

// args are the flags as another process of this program takes them.
func (f *pluginFlags) args() (list []string) {
	for _, path := range f.paths {
		list = append(list, "--plugin", path)
	}
	return append(list, "--plugin-memory", f.memory, "--plugin-timeout", f.timeout.String())
}

// parseMemory reads a size such as 64MB.
func parseMemory(text string) (int64, error) {
	var n int64
	var unit string
	bad := usagef("--plugin-memory %q makes no sense; expected a size from 1MB to 4GB", text)
	if _, err := fmt.Sscanf(strings.ToUpper(text)+" ", "%d%s", &n, &unit); err != nil {
		return 0, bad
	}
	switch unit {
	case "MB":
		n <<= 20
	case "GB":
		n <<= 30
	default:
		return 0, bad
	}
	if n < 1<<20 || n > 4<<30 {
		return 0, bad
	}
	return n, nil
}

// loadPlugins loads what the flags name; its encoders then stand with all others.
func (a *app) loadPlugins(ctx context.Context) error {
	o, err := a.plugins.options()
	if err != nil {
		return err
	}
	for _, path := range a.plugins.paths {
		o.FirstID = uint8(table.FirstPluginID + len(table.Outside()))
		p, err := plugin.Load(ctx, path, o)
		if err != nil {
			return usage(readable(err))
		}
		remove, err := table.Register(p.Codecs)
		if err != nil {
			p.Close()
			return usagef("plugin %s: %w", path, err)
		}
		a.loaded = append(a.loaded, p)
		a.unload = append(a.unload, func() { remove(); p.Close() })
	}
	return nil
}

// unloadPlugins ends them.
func (a *app) unloadPlugins() {
	for _, end := range a.unload {
		end()
	}
	a.unload, a.loaded = nil, nil
}

// pluginInfo is a plugin in JSON.
type pluginInfo struct {
	Path     string        `json:"path"`
	SHA256   string        `json:"sha256"`
	Compiled bool          `json:"compiled"`
	Encoders []encoderInfo `json:"encoders"`
}

func infoOfPlugin(p *plugin.Plugin) pluginInfo {
	x := pluginInfo{Path: p.Path, SHA256: p.SHA256, Compiled: p.Compiled}
	for i := range p.Codecs {
		x.Encoders = append(x.Encoders, infoOf(&p.Codecs[i]))
	}
	return x
}

func (a *app) pluginsCommand() *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:     "plugins",
		GroupID: groupLists,
		Short:   "List encoders of your own, check them, or begin one",
		Long: `Encoders of your own, in any language that compiles to WebAssembly: --plugin FILE.wasm
loads one, on every command, and its encoders stand with all others: in the picker, in
walk-offs and audits, beside others, in sweeps. The contract is one C header.

Without more it lists what --plugin has loaded.`,
		Example: `  tui plugins new --lang c my-delta
  tui plugins check my-delta/my-delta.wasm
  tui plugins --plugin my-delta/my-delta.wasm
  tui --plugin my-delta/my-delta.wasm --encoder my-delta`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			list := []pluginInfo{}
			for _, p := range a.loaded {
				list = append(list, infoOfPlugin(p))
			}
			if json {
				return a.stdout.json(map[string]any{"plugins": list})
			}
			a.listPlugins(list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "write one JSON document to standard output")
	cmd.AddCommand(a.pluginsCheckCommand(), a.pluginsNewCommand())
	return cmd
}

func (a *app) listPlugins(list []pluginInfo) {
	if len(list) == 0 {
		fmt.Fprint(a.stdout, "No plugin is loaded: --plugin FILE.wasm does. tui plugins new begins one of yours.\n")
		return
	}
	g := newGrid("encoder", "plugin", "runs as", "idea")
	for _, p := range list {
		for _, c := range p.Encoders {
			g.row(c.Name, p.Path, runsAs(p.Compiled), c.Summary)
		}
	}
	g.write(a.stdout, a.columns)
}

func runsAs(compiled bool) string {
	if compiled {
		return "machine code"
	}
	return "interpreted, slowly"
}

func (a *app) pluginsCheckCommand() *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Say on one page whether a plugin keeps the contract",
		Long: `Load a plugin, let each of its encoders send a recording of its kind, frame by frame with
old and new references, damaged packets and all, and say what holds and what does not.

Exits with 1 if the contract is broken.`,
		Example: `  tui plugins check my-delta.wasm
  tui plugins check my-delta.wasm --json`,
		Args: oneArg("a plugin: FILE.wasm"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.plugins.paths = nil
			o, err := a.plugins.options()
			if err != nil {
				return err
			}
			o.FirstID = table.FirstPluginID
			p, err := plugin.Load(cmd.Context(), args[0], o)
			if err != nil {
				return usage(readable(err))
			}
			defer p.Close()
			return a.checkPlugin(p, json)
		},
		ValidArgsFunction: completeFiles("wasm"),
	}
	cmd.Flags().BoolVar(&json, "json", false, "write one JSON document to standard output")
	return cmd
}

// checkPlugin tries every encoder and tells what came of it.
func (a *app) checkPlugin(p *plugin.Plugin, json bool) error {
	doc := struct {
		pluginInfo
		Checks []plugin.Check `json:"checks"`
	}{infoOfPlugin(p), nil}
	var failed []string
	for i := range p.Codecs {
		for _, c := range plugin.Try(&p.Codecs[i]) {
			doc.Checks = append(doc.Checks, c)
			if c.Problem != "" {
				failed = append(failed, fmt.Sprintf("%s: %s: %s", c.Encoder, c.Name, config.Printable(c.Problem)))
			}
		}
	}
	if json {
		if err := a.stdout.json(doc); err != nil {
			return err
		}
		return held(failed)
	}
	fmt.Fprintf(a.stdout, "%s: sha256 %.12s, runs as %s\n\n", p.Path, p.SHA256, runsAs(p.Compiled))
	for i := range p.Codecs {
		a.describe(infoOf(&p.Codecs[i]))
		g := newGrid("", "what was tried", "result")
		for _, c := range doc.Checks {
			if c.Encoder == p.Codecs[i].Name {
				mark, result := "ok", c.Result
				if c.Problem != "" {
					mark, result = "NO", config.Printable(c.Problem)
				}
				g.row(mark, c.Name, result)
			}
		}
		fmt.Fprintln(a.stdout)
		g.write(a.stdout, a.columns)
	}
	return held(failed)
}

func (a *app) pluginsNewCommand() *cobra.Command {
	lang := "c"
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a folder with an encoder to begin with",
		Long: `Write a folder called NAME: the header, an encoder that sends what differs from the
baseline, the line that builds it and a README. It builds as it is.

--lang c and cpp need clang with lld; rust needs the target wasm32-unknown-unknown; go
needs nothing but Go.`,
		Example: `  tui plugins new --lang c my-delta
  tui plugins new --lang go mine`,
		Args: oneArg("a name: a letter, then a-z, 0-9 and -"),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := plugin.Template(lang, args[0])
			if err != nil {
				return usage(err)
			}
			return a.writeTemplate(args[0], files)
		},
	}
	cmd.Flags().StringVar(&lang, "lang", lang, "language: `NAME` is one of "+strings.Join(plugin.Languages(), ", "))
	complete(cmd, "lang", func() []cobra.Completion { return plugin.Languages() })
	return cmd
}

// writeTemplate writes a folder that must not be there yet.
func (a *app) writeTemplate(dir string, files []plugin.File) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		if os.IsExist(err) {
			return usagef("%s is there already; expected the name of a new folder", dir)
		}
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		mode := os.FileMode(0o666)
		if f.Runs {
			mode = 0o777
		}
		if err := os.WriteFile(path, f.Text, mode); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.stdout, "%s is written. Next:\n  cd %[1]s && ./build && tui plugins check %[1]s.wasm\n", dir)
	return nil
}
