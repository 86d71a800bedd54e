package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/encoders"
	"wirelab/encoders/plugin"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/internal/texttable"
)

// pluginFlags name encoders from outside.
type pluginFlags struct {
	paths   []string
	sums    []string // of what each has to be; for processes of this program
	memory  string
	timeout time.Duration
}

func (f *pluginFlags) add(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringArrayVar(&f.paths, "plugin", nil, "load encoders of yours: a WebAssembly `FILE`, or exec:COMMAND; may be repeated; see tui plugins")
	flags.StringVar(&f.memory, "plugin-memory", "256MiB", "the most memory that each end of a plugin may take (`SIZE`)")
	flags.DurationVar(&f.timeout, "plugin-timeout", plugin.DefaultTimeout, "the longest that a call of a plugin may take (`TIME`); 0: it is trusted")
	flags.StringArrayVar(&f.sums, "plugin-sha256", nil, "what each plugin has to be")
	_ = flags.MarkHidden("plugin-sha256") // it is there
}

// options are what the flags say.
func (f *pluginFlags) options() (o plugin.Options, err error) {
	memory, ok := config.ParseSize(f.memory)
	if !ok {
		return o, usagef("--plugin-memory %q makes no sense; expected a size from 1MB to 4GB", f.memory)
	}
	if f.timeout < 0 {
		return o, usagef("--plugin-timeout %v makes no sense; expected a time, as in 100ms, or 0", f.timeout)
	}
	o.Memory, o.Timeout = memory, cmp.Or(f.timeout, -1)
	if dir, err := os.UserCacheDir(); err == nil {
		o.Cache = filepath.Join(dir, "wirelab", "plugins")
	}
	return o, nil
}

// pluginArgs are the plugins that are loaded, as another process of this program takes them.
func (a *app) pluginArgs() (list []string) {
	for _, p := range a.loaded {
		list = append(list, "--plugin", p.Path, "--plugin-sha256", p.SHA256)
	}
	return append(list, "--plugin-memory", a.plugins.memory, "--plugin-timeout", a.plugins.timeout.String())
}

// loadPlugins loads what the flags name; its encoders then stand with all others. From then
// on those that a configuration names are loaded as well.
func (a *app) loadPlugins(ctx context.Context) error {
	o, err := a.plugins.options()
	if err != nil {
		return err
	}
	for i, path := range a.plugins.paths {
		if i < len(a.plugins.sums) {
			o.SHA256 = a.plugins.sums[i]
		}
		p, err := plugin.Load(ctx, path, o)
		if err != nil {
			return usage(readable(err))
		}
		if err := a.putPlugins(append(slices.Clone(a.loaded), p)); err != nil {
			p.Close()
			return usagef("plugin %s: %w", path, err)
		}
	}
	o.SHA256 = ""
	table.SetLoader(func(list []table.Wanted) (int, error) { return a.wantedPlugins(ctx, list, o) })
	return nil
}

// putPlugins makes the encoders of these plugins those from outside, in this order.
func (a *app) putPlugins(list []*plugin.Plugin) error {
	var codecs []encoders.Codec
	for _, p := range list {
		codecs = append(codecs, p.Codecs...)
	}
	if err := table.SetOutside(codecs); err != nil {
		return err
	}
	a.loaded = list
	return nil
}

// wantedPlugins loads what a configuration names, unless it is loaded, and puts it before all
// others, so that packets call its encoders by the same numbers as when a report was written.
func (a *app) wantedPlugins(ctx context.Context, list []table.Wanted, o plugin.Options) (at int, err error) {
	a.loading.Lock()
	defer a.loading.Unlock()
	var first, fresh []*plugin.Plugin
	defer func() {
		for _, p := range fresh {
			p.Close()
		}
	}()
	for i, w := range list {
		p := a.loadedAs(w)
		if p == nil {
			if p, err = a.loadWanted(ctx, w, o); err != nil {
				return i, err
			}
			fresh = append(fresh, p)
		}
		if !slices.Contains(first, p) {
			first = append(first, p)
		}
	}
	if slices.Equal(first, a.loaded[:min(len(first), len(a.loaded))]) {
		return 0, nil
	}
	rest := slices.DeleteFunc(slices.Clone(a.loaded), func(p *plugin.Plugin) bool { return slices.Contains(first, p) })
	if err := a.putPlugins(append(first, rest...)); err != nil {
		return len(list) - 1, err
	}
	fresh = nil
	return 0, nil
}

// loadedAs returns the plugin that is meant, if it is loaded.
func (a *app) loadedAs(w table.Wanted) *plugin.Plugin {
	for _, p := range a.loaded {
		if w.SHA256 == p.SHA256 || w.SHA256 == "" && samePath(w.Path, p.Path) {
			return p
		}
	}
	return nil
}

func samePath(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return a == b || errX == nil && errY == nil && x == y
}

// loadWanted loads a plugin that a configuration names. A process is started for nobody but
// those who name it themselves: a file from elsewhere could run anything.
func (a *app) loadWanted(ctx context.Context, w table.Wanted, o plugin.Options) (*plugin.Plugin, error) {
	flag := "--plugin " + w.Path
	if encoders.IsProcess(w.Path) {
		flag = fmt.Sprintf("--plugin %q", w.Path)
	}
	if w.SHA256 != "" {
		flag += fmt.Sprintf(", with SHA-256 %.16s...", w.SHA256)
	}
	for _, p := range a.loaded {
		if w.SHA256 != "" && filepath.Base(p.Path) == filepath.Base(w.Path) {
			return nil, &config.Error{Problem: fmt.Sprintf("%s, which was given, has SHA-256 %.16s...", p.Path, p.SHA256), Expected: flag}
		}
	}
	if encoders.IsProcess(w.Path) {
		return nil, &config.Error{Problem: "a process is not started because a file says so", Expected: flag + ", on the command line"}
	}
	o.SHA256 = w.SHA256
	if w.Memory != 0 {
		o.Memory = w.Memory
	}
	if w.Timeout != 0 {
		o.Timeout = w.Timeout
	}
	p, err := plugin.Load(ctx, w.Path, o)
	switch {
	case errors.Is(err, plugin.ErrOther), w.SHA256 != "" && errors.Is(err, fs.ErrNotExist):
		return nil, &config.Error{Problem: err.Error(), Expected: flag}
	case errors.Is(err, fs.ErrNotExist):
		return nil, &config.Error{Problem: w.Path + " is not there", Expected: "a WebAssembly module; its path is seen from this file"}
	}
	return p, err
}

// unloadPlugins ends them.
func (a *app) unloadPlugins() {
	table.SetLoader(nil)
	_ = table.SetOutside(nil) // nothing is taken
	for _, p := range a.loaded {
		p.Close()
	}
	a.loaded = nil
}

// pluginInfo is a plugin in JSON.
type pluginInfo struct {
	Path     string        `json:"path"`
	SHA256   string        `json:"sha256"`
	RunsAs   string        `json:"runs_as"`  // WebAssembly, interpreted WebAssembly or process
	Compiled bool          `json:"compiled"` // it runs as machine code
	Encoders []encoderInfo `json:"encoders"`
}

func infoOfPlugin(p *plugin.Plugin) pluginInfo {
	return pluginInfo{Path: p.Path, SHA256: p.SHA256, RunsAs: p.Runs, Compiled: p.Runs != plugin.Interpreted, Encoders: infosOf(p.Codecs)}
}

func (a *app) pluginsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugins",
		GroupID: groupLists,
		Short:   "List encoders of your own, check them, or begin one",
		Long: `Encoders of your own, in any language that compiles to WebAssembly: --plugin FILE.wasm
loads one, on every command, and its encoders stand with all others: in the picker, in
walk-offs and audits, beside others, in sweeps. The contract is one C header.

--plugin "exec:COMMAND" starts a process instead, which answers messages; PROCESS.md beside
the header has their form. In a configuration: [[plugin]] path = "FILE.wasm", seen from there.

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
			return a.answer(map[string]any{"plugins": list}, func(w io.Writer) { a.listPlugins(w, list) })
		},
	}
	a.addJSON(cmd)
	cmd.AddCommand(a.pluginsCheckCommand(), a.pluginsNewCommand())
	return cmd
}

func (a *app) listPlugins(w io.Writer, list []pluginInfo) {
	if len(list) == 0 {
		fmt.Fprint(w, "No plugin is loaded: --plugin FILE.wasm does, or \"exec:COMMAND\". tui plugins new begins one of yours.\n")
		return
	}
	g := texttable.New("encoder", "plugin", "runs as", "idea")
	for _, p := range list {
		for _, c := range p.Encoders {
			g.Add(c.Name, config.Printable(p.Path), p.RunsAs, c.Summary)
		}
	}
	g.WriteText(w, a.columns)
}

func (a *app) pluginsCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Say on one page whether a plugin keeps the contract",
		Long: `Load a plugin, let each of its encoders send a recording of its kind, frame by frame with
old and new references, damaged packets and all, and say what holds and what does not.

Exits with 1 if the contract is broken.`,
		Example: `  tui plugins check my-delta.wasm
  tui plugins check my-delta.wasm --json`,
		Args: oneArg("a plugin: FILE.wasm, or exec:COMMAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.plugins.options()
			if err != nil {
				return err
			}
			p, err := plugin.Load(cmd.Context(), args[0], o)
			if err != nil {
				return usage(readable(err))
			}
			defer p.Close()
			return a.checkPlugin(p)
		},
		ValidArgsFunction: completeFiles(1, "wasm"),
	}
	a.addJSON(cmd)
	return cmd
}

// checkPlugin tries every encoder and tells what came of it.
func (a *app) checkPlugin(p *plugin.Plugin) error {
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
	err := a.answer(doc, func(io.Writer) { a.writeChecks(p, doc.Checks) })
	return cmp.Or(err, held(failed))
}

// writeChecks prints for each encoder of a plugin what it is and which checks hold.
func (a *app) writeChecks(p *plugin.Plugin, checks []plugin.Check) {
	fmt.Fprintf(a.stdout, "%s: sha256 %.12s, runs as %s\n\n", config.Printable(p.Path), p.SHA256, p.Runs)
	for i := range p.Codecs {
		a.describe(infoOf(&p.Codecs[i]))
		g := texttable.New("", "what was tried", "result")
		for _, c := range checks {
			if c.Encoder == p.Codecs[i].Name {
				mark, result := "ok", c.Result
				if c.Problem != "" {
					mark, result = "NO", config.Printable(c.Problem)
				}
				g.Add(mark, c.Name, result)
			}
		}
		fmt.Fprintln(a.stdout)
		g.WriteText(a.stdout, a.columns)
	}
}

func (a *app) pluginsNewCommand() *cobra.Command {
	lang := "c"
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a folder with an encoder to begin with",
		Long: `Write a folder called NAME: the header, an encoder that sends what differs from the
baseline, the line that builds it and a README. It builds as it is.

--lang c and cpp need clang with lld; rust needs the target wasm32-unknown-unknown; go
needs nothing but Go, and builds as a process too; python is a process.`,
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
	complete(cmd, "lang", plugin.Languages)
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
	next := fmt.Sprintf("./build && tui plugins check %s.wasm", dir)
	if !slices.ContainsFunc(files, func(f plugin.File) bool { return f.Name == "build" }) {
		next = fmt.Sprintf("tui plugins check \"exec:python3 %s.py\"", dir)
	}
	fmt.Fprintf(a.stdout, "%s is written. Next:\n  cd %[1]s && %s\n", dir, next)
	return nil
}
