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

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/plugin"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/internal/texttable"
)

// pluginFlags are the flags that load encoders from outside of the program.
type pluginFlags struct {
	paths   []string      // paths of WebAssembly files, or exec:COMMAND
	sha256s []string      // sha256s[i] is the expected hash of paths[i]; missing elements mean any hash
	memory  string        // limit for each encoder and decoder, such as "256MiB"
	timeout time.Duration // limit for each call; 0 means no limit
}

// add registers the flags for all commands. --plugin-sha256 is hidden: only this program sets it,
// when it starts itself for an audit, so that a file that changed meanwhile is refused.
func (f *pluginFlags) add(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringArrayVar(&f.paths, "plugin", nil, "load encoders from a WebAssembly `FILE` or exec:COMMAND; may be repeated; see tui plugins")
	flags.StringVar(&f.memory, "plugin-memory", "256MiB", "limit the memory of each plugin encoder and decoder to `SIZE`")
	flags.DurationVar(&f.timeout, "plugin-timeout", plugin.DefaultTimeout, "limit each call into a plugin to `TIME`; 0 means no limit")
	flags.StringArrayVar(&f.sha256s, "plugin-sha256", nil, "expected SHA-256 of each --plugin, in the same order")
	_ = flags.MarkHidden("plugin-sha256") // fails only for an unknown flag
}

// options returns the options that the flags set.
func (f *pluginFlags) options() (o plugin.Options, err error) {
	memory, ok := config.ParseSize(f.memory)
	if !ok {
		return o, usagef("--plugin-memory %q makes no sense; expected a size from 1MB to 4GB", f.memory)
	}
	if f.timeout < 0 {
		return o, usagef("--plugin-timeout %v makes no sense; expected a time, as in 100ms, or 0", f.timeout)
	}
	o.Memory, o.Timeout = memory, cmp.Or(f.timeout, -1) // in Options 0 means the default, -1 no limit
	if dir, err := os.UserCacheDir(); err == nil {      // without this folder, compiled plugins are not stored
		o.Cache = filepath.Join(dir, "wirelab", "plugins")
	}
	return o, nil
}

// pluginArgs returns the flags with which another process of this program loads the same plugins.
func (a *app) pluginArgs() (list []string) {
	for _, p := range a.loadedPlugins {
		list = append(list, "--plugin", p.Path, "--plugin-sha256", p.SHA256)
	}
	return append(list, "--plugin-memory", a.plugins.memory, "--plugin-timeout", a.plugins.timeout.String())
}

// loadPlugins loads the plugins that the flags name and adds their encoders to the encoder table.
// It also installs a function in the table that loads the plugins that configurations name.
func (a *app) loadPlugins(ctx context.Context) error {
	o, err := a.plugins.options()
	if err != nil {
		return err
	}
	for i, path := range a.plugins.paths {
		if i < len(a.plugins.sha256s) {
			o.SHA256 = a.plugins.sha256s[i]
		}
		p, err := plugin.Load(ctx, path, o)
		if err != nil {
			return asUsageError(withoutSyscall(err))
		}
		if err := a.setPlugins(append(slices.Clone(a.loadedPlugins), p)); err != nil {
			p.Close()
			return usagef("plugin %s: %w", path, err)
		}
	}
	o.SHA256 = "" // configurations state the hashes of their plugins
	table.SetLoader(func(list []table.Wanted) (int, error) { return a.loadConfigPlugins(ctx, list, o) })
	return nil
}

// setPlugins replaces the loaded plugins by list. The encoder table numbers their encoders in the
// order of list.
func (a *app) setPlugins(list []*plugin.Plugin) error {
	var codecs []encoders.Codec
	for _, p := range list {
		codecs = append(codecs, p.Codecs...)
	}
	if err := table.SetPlugins(codecs); err != nil {
		return err
	}
	a.loadedPlugins = list
	return nil
}

// loadConfigPlugins loads the plugins that a configuration names, unless they are loaded already,
// and puts them before all other plugins. The numbers of their encoders in packets are then those
// of the run that wrote the report. If it fails, failedIndex is the index in list of the plugin
// with the error.
func (a *app) loadConfigPlugins(ctx context.Context, list []table.Wanted, o plugin.Options) (failedIndex int, err error) {
	a.loadMutex.Lock()
	defer a.loadMutex.Unlock()
	var wanted, added []*plugin.Plugin // all plugins of list, in its order; those that this call has loaded
	defer func() {                     // after an error, close the plugins loaded here
		for _, p := range added {
			p.Close()
		}
	}()
	for i, w := range list {
		p := a.findLoaded(w)
		if p == nil {
			if p, err = a.loadConfigPlugin(ctx, w, o); err != nil {
				return i, err
			}
			added = append(added, p)
		}
		if !slices.Contains(wanted, p) {
			wanted = append(wanted, p)
		}
	}
	if slices.Equal(wanted, a.loadedPlugins[:min(len(wanted), len(a.loadedPlugins))]) {
		return 0, nil // the plugins are loaded and in the right order
	}
	others := slices.DeleteFunc(slices.Clone(a.loadedPlugins), func(p *plugin.Plugin) bool { return slices.Contains(wanted, p) })
	if err := a.setPlugins(append(wanted, others...)); err != nil {
		return len(list) - 1, err // the cause could be any plugin of the list
	}
	added = nil // now owned by a.loadedPlugins
	return 0, nil
}

// findLoaded returns the loaded plugin with the hash of w or, if w has no hash, with its path;
// nil if none.
func (a *app) findLoaded(w table.Wanted) *plugin.Plugin {
	for _, p := range a.loadedPlugins {
		if w.SHA256 == p.SHA256 || w.SHA256 == "" && samePath(w.Path, p.Path) {
			return p
		}
	}
	return nil
}

// samePath reports whether two paths name the same file, without following links.
func samePath(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return a == b || errX == nil && errY == nil && x == y
}

// loadConfigPlugin loads the plugin w that a configuration names, with the options o unless w has
// limits of its own. It never starts a process: the configuration may come from someone else, and a
// process could do anything. Processes must be named on the command line. Errors state the flag
// that would load the expected plugin.
func (a *app) loadConfigPlugin(ctx context.Context, w table.Wanted, o plugin.Options) (*plugin.Plugin, error) {
	flag := "--plugin " + w.Path
	if encoders.IsProcess(w.Path) { // a command line contains spaces
		flag = fmt.Sprintf("--plugin %q", w.Path)
	}
	if w.SHA256 != "" {
		flag += fmt.Sprintf(", with SHA-256 %.16s...", w.SHA256)
	}
	// No loaded plugin has the hash of w, but one may have the same file name: another version.
	for _, p := range a.loadedPlugins {
		if w.SHA256 != "" && filepath.Base(p.Path) == filepath.Base(w.Path) {
			return nil, &config.Error{Problem: fmt.Sprintf("the loaded plugin %s has SHA-256 %.16s...", p.Path, p.SHA256), Expected: flag}
		}
	}
	if encoders.IsProcess(w.Path) {
		return nil, &config.Error{Problem: "a configuration cannot start a plugin process", Expected: fmt.Sprintf("%s, on the command line", flag)}
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
	case errors.Is(err, plugin.ErrHashMismatch), w.SHA256 != "" && errors.Is(err, fs.ErrNotExist):
		return nil, &config.Error{Problem: err.Error(), Expected: flag}
	case errors.Is(err, fs.ErrNotExist):
		return nil, &config.Error{Problem: fmt.Sprintf("%s does not exist", w.Path), Expected: "a WebAssembly module; its path is relative to this file"}
	}
	return p, err
}

// unloadPlugins removes the encoders of plugins from the table and closes the plugins.
func (a *app) unloadPlugins() {
	table.SetLoader(nil)      // configurations can no longer load plugins
	_ = table.SetPlugins(nil) // cannot fail for an empty list
	for _, p := range a.loadedPlugins {
		p.Close()
	}
	a.loadedPlugins = nil
}

// pluginInfo describes a plugin in JSON output.
type pluginInfo struct {
	Path     string        `json:"path"`
	SHA256   string        `json:"sha256"`
	RunsAs   string        `json:"runs_as"`  // WebAssembly, interpreted WebAssembly or process
	Compiled bool          `json:"compiled"` // whether it runs as machine code
	Encoders []encoderInfo `json:"encoders"`
}

// newPluginInfo returns the description of a plugin.
func newPluginInfo(p *plugin.Plugin) pluginInfo {
	return pluginInfo{Path: p.Path, SHA256: p.SHA256, RunsAs: p.Runs, Compiled: p.Runs != plugin.Interpreted, Encoders: encoderInfos(p.Codecs)}
}

// pluginsCommand returns tui plugins, which lists the loaded plugins, with its subcommands.
func (a *app) pluginsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugins",
		GroupID: groupLists,
		Short:   "List, check or create plugins: encoders of your own",
		Long: `A plugin contains encoders written in any language that compiles to WebAssembly.
--plugin FILE.wasm loads a plugin in every command, and its encoders can be used like the
built-in ones: in the dashboard, walk-offs, audits, as shadows and in sweeps. The
interface is one C header.

--plugin "exec:COMMAND" starts a process that answers messages; PROCESS.md next to the
header describes them. In a configuration, write [[plugin]] path = "FILE.wasm" with a path
relative to the configuration.

Without a subcommand, tui plugins lists the loaded plugins.`,
		Example: `  tui plugins new --lang c my-delta
  tui plugins check my-delta/my-delta.wasm
  tui plugins --plugin my-delta/my-delta.wasm
  tui --plugin my-delta/my-delta.wasm --encoder my-delta`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			list := []pluginInfo{}
			for _, p := range a.loadedPlugins {
				list = append(list, newPluginInfo(p))
			}
			return a.writeResult(map[string]any{"plugins": list}, func(w io.Writer) { a.listPlugins(w, list) })
		},
	}
	a.addJSON(cmd)
	cmd.AddCommand(a.pluginsCheckCommand(), a.pluginsNewCommand())
	return cmd
}

// listPlugins writes the encoders of all loaded plugins as a table.
func (a *app) listPlugins(w io.Writer, list []pluginInfo) {
	if len(list) == 0 {
		fmt.Fprint(w, "No plugin is loaded. --plugin FILE.wasm or --plugin \"exec:COMMAND\" loads one; tui plugins new creates one.\n")
		return
	}
	g := texttable.New("encoder", "plugin", "runs as", "idea")
	for _, p := range list {
		for _, c := range p.Encoders {
			g.Add(c.Name, p.Path, p.RunsAs, c.Summary)
		}
	}
	g.WriteText(w, a.columns)
}

// pluginsCheckCommand returns tui plugins check.
func (a *app) pluginsCheckCommand() *cobra.Command {
	var data dataFlags
	frames := defaultCheckFrames
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Test whether a plugin meets the interface",
		Long: `Load a plugin and test each of its encoders on synthetic frames of each kind that it
accepts, or with --data on the frames of your data: with old and new references and with
damaged packets. Print one page with the result of each test.

The exit code is 1 if a test fails.`,
		Example: `  tui plugins check my-delta.wasm
  tui plugins check my-delta.wasm --data table:game.toml,game.csv --frames 1000
  tui plugins check my-delta.wasm --json`,
		Args: oneArg("a plugin: FILE.wasm, or exec:COMMAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.plugins.options()
			if err != nil {
				return err
			}
			p, err := plugin.Load(cmd.Context(), args[0], o)
			if err != nil {
				return asUsageError(withoutSyscall(err))
			}
			defer p.Close()
			if data.spec == "" {
				if cmd.Flags().Changed("frames") {
					return usagef("--frames limits the frames of --data; expected --data SPEC, too")
				}
				return a.checkPlugin(p, plugin.CheckCodec)
			}
			s, list, err := a.readCheckFrames(cmd.Context(), &data, frames)
			if err != nil {
				return err
			}
			return a.checkPlugin(p, func(c *encoders.Codec) []plugin.Check {
				copies := make([]*frame.Frame, len(list)) // an encoder that quantises rewrites the frames
				for i := range list {
					copies[i] = cloneFrame(list[i])
				}
				return plugin.CheckFrames(c, s, copies)
			})
		},
		ValidArgsFunction: completeFiles(1, "wasm"),
	}
	data.add(cmd, "")
	cmd.Flags().IntVar(&frames, "frames", frames, "test with the first `N` frames of --data")
	a.addJSON(cmd)
	return cmd
}

// Numbers of frames with which tui plugins check --data tests. All are in memory.
const (
	defaultCheckFrames = 200
	maxCheckFrames     = 10_000
)

// readCheckFrames reads the initial state of the data and the first n frames. Their ticks are their indices.
func (a *app) readCheckFrames(ctx context.Context, data *dataFlags, n int) (*frame.Schema, []*frame.Frame, error) {
	if n < 1 || n > maxCheckFrames {
		return nil, nil, usagef("--frames %d makes no sense; expected 1 to %d", n, maxCheckFrames)
	}
	src, err := data.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer closeSource(src)
	a.printRemarks(src)
	f := src.Schema().NewFrame()
	src.Initial(f)
	var list []*frame.Frame
	add := func(tick int) {
		list = append(list, cloneFrame(f))
		list[tick].Tick = uint32(tick)
	}
	add(0)
	_, err = dataset.Read(ctx, src, f, n, func(i int) error {
		add(i + 1)
		return nil
	})
	if err != nil {
		return nil, nil, asUsageError(withoutSyscall(err))
	}
	return src.Schema(), list, nil
}

// cloneFrame returns a copy of a frame.
func cloneFrame(f *frame.Frame) *frame.Frame {
	c := &frame.Frame{}
	c.CopyFrom(f)
	return c
}

// checkPlugin tests every encoder of a plugin by check and writes the results.
func (a *app) checkPlugin(p *plugin.Plugin, check func(*encoders.Codec) []plugin.Check) error {
	doc := struct {
		pluginInfo
		Checks []plugin.Check `json:"checks"`
	}{newPluginInfo(p), nil}
	var failed []string
	for i := range p.Codecs {
		for _, c := range check(&p.Codecs[i]) {
			doc.Checks = append(doc.Checks, c)
			if c.Problem != "" {
				failed = append(failed, fmt.Sprintf("%s: %s: %s", c.Encoder, c.Name, c.Problem))
			}
		}
	}
	err := a.writeResult(doc, func(io.Writer) { a.writeChecks(p, doc.Checks) })
	return cmp.Or(err, newFailure(failed))
}

// writeChecks writes, for each encoder of a plugin, its description and the result of each test.
func (a *app) writeChecks(p *plugin.Plugin, checks []plugin.Check) {
	printf(a.stdout, "%s: sha256 %.12s, runs as %s\n\n", p.Path, p.SHA256, p.Runs)
	for i := range p.Codecs {
		a.writeEncoder(newEncoderInfo(&p.Codecs[i]))
		g := texttable.New("", "test", "result")
		for _, c := range checks {
			if c.Encoder == p.Codecs[i].Name {
				status, result := "ok", c.Result
				if c.Problem != "" {
					status, result = "FAIL", c.Problem
				}
				g.Add(status, c.Name, result)
			}
		}
		fmt.Fprintln(a.stdout)
		g.WriteText(a.stdout, a.columns)
	}
}

// pluginsNewCommand returns tui plugins new.
func (a *app) pluginsNewCommand() *cobra.Command {
	lang := "c"
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a folder with a working encoder as a starting point",
		Long: `Create the folder NAME with the header, an encoder that sends the differences from the
baseline, a build script and a README. The encoder builds without changes.

--lang c and cpp need clang with lld; rust needs the target wasm32-unknown-unknown; go
needs only Go and can also build a process; python runs as a process.`,
		Example: `  tui plugins new --lang c my-delta
  tui plugins new --lang go mine`,
		Args: oneArg("a name: a letter, then a-z, 0-9 and -"),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := plugin.Template(lang, args[0])
			if err != nil {
				return asUsageError(err)
			}
			return a.writeTemplate(args[0], files)
		},
	}
	cmd.Flags().StringVar(&lang, "lang", lang, "write the encoder in language `NAME`: "+strings.Join(plugin.Languages(), ", "))
	complete(cmd, "lang", plugin.Languages)
	return cmd
}

// writeTemplate writes files to a new folder and prints the commands to continue with.
func (a *app) writeTemplate(dir string, files []plugin.File) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		if os.IsExist(err) {
			return usagef("%s already exists; expected the name of a new folder", dir)
		}
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		mode := os.FileMode(0o666)
		if f.Executable { // the file is a script or another program
			mode = 0o777
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			return err
		}
	}
	next := fmt.Sprintf("./build && tui plugins check %s.wasm", dir)
	if !slices.ContainsFunc(files, func(f plugin.File) bool { return f.Name == "build" }) { // Python needs no build
		next = fmt.Sprintf("tui plugins check \"exec:python3 %s.py\"", dir)
	}
	printf(a.stdout, "Created %s. Next:\n  cd %[1]s && %s\n", dir, next)
	return nil
}
