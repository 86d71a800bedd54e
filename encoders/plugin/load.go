// Package plugin runs encoders from outside: WebAssembly modules that keep the contract of
// wirelab.h. Load reads, checks and describes one; its codecs then stand beside the built-in
// ones. Each end of a session is an instance of its own, so that sender and receiver share no
// memory, and an instance can neither see the clock nor files, nor take more memory or time
// than it is given. What goes wrong in one is an error that names plugin and call.
package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"wirelab/encoders"
	"wirelab/internal/boundedio"
	"wirelab/internal/panics"
)

// ABI is the version of wirelab.h that this package speaks.
const ABI = 1

// Bounds of what a plugin may be and ask for.
const (
	maxFile       = 64 << 20 // bytes of a module
	defaultMemory = 256 << 20
	pageSize      = 64 << 10
	maxCodecs     = 16
)

// DefaultTimeout is how long one call may take.
const DefaultTimeout = time.Second

// ErrContract says that a module does not keep the contract of wirelab.h.
var ErrContract = errors.New("does not keep the contract of wirelab.h")

// Options configure Load. The zero value means the defaults.
type Options struct {
	Memory  int64         // bytes that an instance may take
	Timeout time.Duration // of one call; negative: the plugin is trusted, nothing looks at the time
	Cache   string        // folder of compiled modules, which Load keeps small; empty: they are compiled each time
	SHA256  string        // what there must be; empty: whatever is
}

// How a plugin can run; see encoders.Plugin.Runs.
const (
	Compiled    = "WebAssembly"
	Interpreted = "interpreted WebAssembly" // some twenty times as slowly
	Process     = "process"
)

// Plugin is a module that was loaded, or a command that keeps the same contract.
type Plugin struct {
	Path   string
	SHA256 string // of the module; of a process: of its command line and all files that it names
	Codecs []encoders.Codec
	Runs   string // how: Compiled, Interpreted or Process

	opt Options
	// ctx ends all calls. It is a field because the calls come from Encode and Decode, whose interfaces,
	// those of all encoders, have no context.
	ctx      context.Context
	cache    wazero.CompilationCache // nil: none
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	command  []string      // of a process
	alive    processes     // those of ends
	named    atomic.Uint64 // memos so far: no two of them have one name

	bug atomic.Pointer[panics.Error] // the first panic of a goroutine of the plugin; nil if none
}

// recordPanic keeps err if it is the first recovered panic; other errors are ignored. The next failed
// call of any process of the plugin returns the panic, and Close panics with it.
func (p *Plugin) recordPanic(err error) {
	var bug *panics.Error
	if errors.As(err, &bug) {
		p.bug.CompareAndSwap(nil, bug)
	}
}

// broken returns the error of a call that did not keep the contract.
func (p *Plugin) broken(call, format string, args ...any) error {
	return fmt.Errorf("plugin %s: %w: %s: %w", p.Name(), encoders.ErrBroken, call, fmt.Errorf(format, args...))
}

// function is one that a module has to export.
type function struct {
	name    string
	params  int // all of them i32
	results int
}

var functions = []function{{"wl_abi", 0, 1}, {"wl_alloc", 1, 1}, {"wl_describe", 1, 1}, {"wl_create", 3, 1}, {"wl_encode", 2, 1},
	{"wl_decode", 2, 1}, {"wl_error", 0, 1}}

// Load reads a module, checks it against the contract and asks what encoders it has; or does
// the same with a process, for a path of exec: and a command. ctx ends all calls. Errors name
// the file; those of the plugin wrap ErrContract, or ErrOther if it is not what was asked for.
func Load(ctx context.Context, path string, opt Options) (*Plugin, error) {
	if opt.Memory == 0 {
		opt.Memory = defaultMemory
	}
	if opt.Timeout == 0 {
		opt.Timeout = DefaultTimeout
	}
	p := &Plugin{Path: path, opt: opt, ctx: ctx, Runs: Interpreted}
	if command, ok := strings.CutPrefix(path, encoders.ProcessPrefix); ok {
		p.Runs = Process
		return p.begin(func() error { return p.prepareProcess(command) })
	}
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	if slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH) {
		p.Runs = Compiled
	}
	sum := sha256.Sum256(text)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p.begin(func() error { return p.compile(text) })
}

// ErrOther says that a plugin is not the one that was asked for.
var ErrOther = errors.New("it is another one now")

// begin calls prepare, checks the hash and reads the list of encoders.
func (p *Plugin) begin(prepare func() error) (*Plugin, error) {
	err := prepare()
	if err == nil && p.opt.SHA256 != "" && p.opt.SHA256 != p.SHA256 {
		err = fmt.Errorf("%w, with SHA-256 %.16s", ErrOther, p.SHA256)
	}
	if err == nil {
		p.Codecs, err = p.describe()
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("plugin %s: %w", p.Path, err)
	}
	return p, nil
}

// origin returns the description of the plugin that its encoders carry.
func (p *Plugin) origin() *encoders.Plugin {
	x := &encoders.Plugin{Path: p.Path, SHA256: p.SHA256, Memory: p.opt.Memory, Timeout: p.opt.Timeout, Runs: p.Runs}
	if x.Memory == defaultMemory || p.Runs == Process {
		x.Memory = 0
	}
	if x.Timeout == DefaultTimeout {
		x.Timeout = 0
	}
	return x
}

func read(path string) ([]byte, error) {
	text, err := boundedio.ReadFile(path, maxFile)
	var tooLarge *boundedio.SizeError
	switch {
	case errors.As(err, new(*boundedio.KindError)):
		return nil, fmt.Errorf("%s: %w: it is no file", path, ErrContract)
	case errors.As(err, &tooLarge):
		return nil, fmt.Errorf("%s: %w: it has %d bytes, expected at most %d", path, ErrContract, max(tooLarge.Size, maxFile+1), maxFile)
	case err != nil:
		return nil, err
	case !bytes.HasPrefix(text, []byte("\x00asm\x01\x00\x00\x00")):
		return nil, fmt.Errorf("%s: %w: it is no WebAssembly module", path, ErrContract)
	}
	return text, nil
}

// Close ends all instances and processes. It panics if one of their goroutines panicked.
func (p *Plugin) Close() {
	if p.runtime != nil {
		_ = p.runtime.Close(context.Background())
	}
	if p.cache != nil {
		_ = p.cache.Close(context.Background())
	}
	p.alive.end()
	if bug := p.bug.Load(); bug != nil {
		panic(bug)
	}
}

// compile compiles the module and checks its imports and exports.
func (p *Plugin) compile(text []byte) error {
	text, err := boundTables(text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrContract, err)
	}
	const mostPages = 1<<16 - 1 // one less than there can be: the size of all in bytes is a number of 32 bits
	pages := uint32(min(max(p.opt.Memory, pageSize)/pageSize, mostPages))
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(pages).WithCloseOnContextDone(p.opt.Timeout > 0)
	if p.opt.Cache != "" {
		pruneCache(p.opt.Cache)
		if cache, err := wazero.NewCompilationCacheWithDir(p.opt.Cache); err == nil { // else it takes longer, and no more
			p.cache, config = cache, config.WithCompilationCache(cache)
		}
	}
	p.runtime = wazero.NewRuntimeWithConfig(p.ctx, config)
	// Modules of Go and of wasi-libc import these. They get no files, no arguments, and a clock
	// and a source of randomness that always say the same.
	if _, err := wasi_snapshot_preview1.Instantiate(p.ctx, p.runtime); err != nil {
		return err
	}
	if p.compiled, err = compileModule(p.ctx, p.runtime, text); err != nil {
		return fmt.Errorf("%w: %w", ErrContract, err)
	}
	for _, f := range p.compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasi_snapshot_preview1.ModuleName {
			return fmt.Errorf("%w: it imports %s.%s, expected nothing but WASI", ErrContract, from, name)
		}
	}
	if len(p.compiled.ImportedMemories()) > 0 || p.compiled.ExportedMemories()["memory"] == nil {
		return fmt.Errorf("%w: it exports no memory called memory", ErrContract)
	}
	exported := p.compiled.ExportedFunctions()
	for _, f := range functions {
		d := exported[f.name]
		if d == nil {
			return fmt.Errorf("%w: it exports no function %s", ErrContract, f.name)
		}
		if !onlyI32(d.ParamTypes(), f.params) || !onlyI32(d.ResultTypes(), f.results) {
			return fmt.Errorf("%w: %s takes %d values and gives %d, expected %d and %d of 32 bits", ErrContract, f.name,
				len(d.ParamTypes()), len(d.ResultTypes()), f.params, f.results)
		}
	}
	return nil
}

// compileModule compiles text. The validator of wazero 1.12 panics on some damaged modules, such as
// one that calls a function whose type does not exist; compileModule returns an error for these too.
func compileModule(ctx context.Context, r wazero.Runtime, text []byte) (module wazero.CompiledModule, err error) {
	err = panics.Call(func() (err error) {
		module, err = r.CompileModule(ctx, text)
		return err
	})
	var bug *panics.Error
	if errors.As(err, &bug) {
		return nil, fmt.Errorf("the module is damaged: %v", bug.Value)
	}
	return module, err
}

func onlyI32(types []api.ValueType, n int) bool {
	return len(types) == n && !slices.ContainsFunc(types, func(t api.ValueType) bool { return t != api.ValueTypeI32 })
}

// maxCache is how much a folder of compiled modules may hold, in bytes, before one is added.
const maxCache = 256 << 20

// pruneCache removes the files that were written first, until the rest is small enough. What
// cannot be removed is left: a cache is no reason to fail.
func pruneCache(dir string) {
	type entry struct {
		path string
		info fs.FileInfo
	}
	var list []entry
	var total int64
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			list, total = append(list, entry{path, info}), total+info.Size()
		}
		return nil
	})
	slices.SortFunc(list, func(a, b entry) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	for _, x := range list {
		if total <= maxCache {
			return
		}
		if os.Remove(x.path) == nil {
			total -= x.info.Size()
		}
	}
}

// Name returns the name of the plugin for messages: its file name without folder and extension.
func (p *Plugin) Name() string {
	if p.Runs == Process && len(p.command) > 0 {
		return printable(filepath.Base(p.command[0]))
	}
	return printable(strings.TrimSuffix(filepath.Base(p.Path), ".wasm"))
}
