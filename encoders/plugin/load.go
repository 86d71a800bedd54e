// Package plugin runs encoders that are not part of Wirelab: WebAssembly modules that implement the
// contract in wirelab.h, and processes that exchange the messages described in PROCESS.md.
//
// Load reads a plugin, checks it against the contract and returns its encoders as values of type
// encoders.Codec, which are used like the built-in ones:
//
//	p, err := plugin.Load(ctx, "mine.wasm", plugin.Options{})
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//	encoder, decoder, err := p.Codecs[0].New(schema, p.Codecs[0].Defaults())
//
// # Isolation
//
// Every encoder and decoder is a module instance or a process of its own, so that sender and receiver
// share nothing. A module has no access to clock, randomness, files or network, and its memory and
// time are limited by Options. A process has the rights of the user; only its time is limited.
//
// # Errors
//
// A call that traps, takes too long or violates the contract returns an error that names the plugin
// and the call and wraps encoders.ErrBroken, and for a decoder encoders.ErrCorrupt. The next call
// runs in a new instance or process. Nothing is lost with the old one, because whatever an encoder
// learns is in memos, which the caller holds.
package plugin

import (
	"bytes"
	"cmp"
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

// abiVersion is the version of wirelab.h and PROCESS.md that this package implements.
const abiVersion = 1

// Limits of a plugin.
const (
	maxFile       = 64 << 20  // size of a module, in bytes
	defaultMemory = 256 << 20 // memory of a module instance, in bytes
	pageSize      = 64 << 10  // size of a page, the unit of a module's memory, in bytes
	maxCodecs     = 16

	maxCompileTime = time.Minute // time to compile a module
)

// DefaultTimeout is the default of Options.Timeout.
const DefaultTimeout = time.Second

// errContract means that a module or a process violates the contract of wirelab.h.
var errContract = errors.New("violates the contract of wirelab.h")

// Options configure Load. The zero value selects the defaults.
type Options struct {
	// Memory is the maximum memory of a module instance in bytes. 0 means 256 MiB. It does not apply to
	// processes.
	Memory int64

	// Timeout is the maximum duration of a call. 0 means DefaultTimeout. A negative value means no
	// limit: calls are faster then, but an endless loop of the plugin never returns.
	Timeout time.Duration

	// Cache is a folder for compiled modules, which are then compiled only once. Load removes the oldest
	// files from it beyond 256 MiB. Empty means no cache.
	Cache string

	// SHA256 is the expected hash of the plugin in hexadecimal, see Plugin.SHA256. If another is found,
	// Load returns an error that wraps ErrHashMismatch. Empty means any.
	SHA256 string

	compileTime time.Duration            // maximum time to compile a module; 0 means maxCompileTime
	timeouts    map[string]time.Duration // timeouts of calls by their name, instead of Timeout
	exitGrace   time.Duration            // time for a process to exit after the end of its input; 0 means the constant
}

// Values of Plugin.Runs and encoders.Plugin.Runs.
const (
	Compiled    = "WebAssembly"
	Interpreted = "interpreted WebAssembly" // about 20 times slower; on processors other than amd64 and arm64
	Process     = "process"
)

// A Plugin is a loaded module, or a command that is run as processes. Its codecs may be used by several
// goroutines; an encoder or decoder made by them must be used by one at a time.
type Plugin struct {
	// Path is the path passed to Load.
	Path string

	// SHA256 is the hash of the module in hexadecimal; for a process, that of its command line and of the
	// contents of all files named in it.
	SHA256 string

	// Codecs are the encoders of the plugin, at least one.
	Codecs []encoders.Codec

	// Runs is how the plugin is run: Compiled, Interpreted or Process.
	Runs string

	opt Options
	// ctx ends all calls. It is a field because Encode and Decode have no context parameter.
	ctx        context.Context
	cache      wazero.CompilationCache // nil if none
	runtime    wazero.Runtime
	compiled   wazero.CompiledModule
	command    []string      // the words of the command line, if the plugin is a process
	processes  processList   // the running processes
	lastMemoID atomic.Uint64 // memo.id of the newest memo

	firstPanic atomic.Pointer[panics.Error] // the first panic of a goroutine of the plugin; nil if none
}

// recordPanic stores the recovered panic that err wraps, if it is the first one of the plugin. It ignores
// later panics and errors that wrap none. The next failed call of any process of the plugin returns the
// stored panic, and Close panics with it.
func (p *Plugin) recordPanic(err error) {
	var bug *panics.Error
	if errors.As(err, &bug) {
		p.firstPanic.CompareAndSwap(nil, bug)
	}
}

// callError returns an error for a call that violated the contract. It wraps encoders.ErrBroken.
func (p *Plugin) callError(call, format string, args ...any) error {
	return fmt.Errorf("plugin %s: %w: %s: %w", p.Name(), encoders.ErrBroken, call, fmt.Errorf(format, args...))
}

// An export describes a function that a module must export.
type export struct {
	name    string
	params  int // number of parameters, all of type i32
	results int // number of results, all of type i32
}

// requiredExports are the functions declared in wirelab.h.
var requiredExports = []export{ // name, parameters, results
	{"wl_abi", 0, 1}, {"wl_alloc", 1, 1}, {"wl_describe", 1, 1}, {"wl_create", 3, 1}, {"wl_encode", 2, 1},
	{"wl_decode", 2, 1}, {"wl_error", 0, 1}}

// Load loads the module at path and checks it against the contract. A path of exec: and a command, such
// as "exec:./mine --fast", starts the command as a process; see PROCESS.md.
//
// When ctx is done, running calls end and later ones fail, also those of the encoders. Close must be
// called when the plugin is no longer used.
//
// Errors name the path. They wrap errContract if the file is not a module or violates the contract,
// and ErrHashMismatch if opt.SHA256 does not match.
func Load(ctx context.Context, path string, opt Options) (*Plugin, error) {
	if opt.Memory == 0 {
		opt.Memory = defaultMemory
	}
	if opt.Timeout == 0 {
		opt.Timeout = DefaultTimeout
	}
	if opt.compileTime == 0 {
		opt.compileTime = maxCompileTime
	}
	opt.exitGrace = cmp.Or(opt.exitGrace, exitGrace)
	p := &Plugin{Path: path, opt: opt, ctx: ctx, Runs: Interpreted}
	if command, ok := strings.CutPrefix(path, encoders.ProcessPrefix); ok {
		p.Runs = Process
		return p.finishLoad(func() error { return p.prepareProcess(command) })
	}
	text, err := readModule(path)
	if err != nil {
		return nil, err
	}
	if slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH) {
		p.Runs = Compiled
	}
	sum := sha256.Sum256(text)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p.finishLoad(func() error { return p.compile(text) })
}

// ErrHashMismatch means that the hash of a plugin differs from Options.SHA256.
var ErrHashMismatch = errors.New("unexpected SHA-256")

// finishLoad calls prepare, which must set p.SHA256, checks the hash and reads the list of encoders. After
// an error, p is closed.
func (p *Plugin) finishLoad(prepare func() error) (*Plugin, error) {
	err := prepare()
	if err == nil && p.opt.SHA256 != "" && p.opt.SHA256 != p.SHA256 {
		err = fmt.Errorf("%w %.16s, expected %.16s", ErrHashMismatch, p.SHA256, p.opt.SHA256)
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

// origin returns the description of the plugin for encoders.Codec.Plugin. Reports store it, so options that have
// their default are 0 in it.
func (p *Plugin) origin() *encoders.Plugin {
	origin := &encoders.Plugin{Path: p.Path, SHA256: p.SHA256, Memory: p.opt.Memory, Timeout: p.opt.Timeout, Runtime: p.Runs}
	if origin.Memory == defaultMemory || p.Runs == Process {
		origin.Memory = 0
	}
	if origin.Timeout == DefaultTimeout {
		origin.Timeout = 0
	}
	return origin
}

// readModule reads the file at path and checks that it begins as a WebAssembly module of version 1.
func readModule(path string) ([]byte, error) {
	text, err := boundedio.ReadFile(path, maxFile)
	var tooLarge *boundedio.SizeError
	switch {
	case errors.As(err, new(*boundedio.KindError)):
		return nil, fmt.Errorf("%s: %w: not a regular file", path, errContract)
	case errors.As(err, &tooLarge):
		return nil, fmt.Errorf("%s: %w: %d bytes, expected at most %d", path, errContract, max(tooLarge.Size, maxFile+1), maxFile)
	case err != nil:
		return nil, err
	case !bytes.HasPrefix(text, []byte("\x00asm\x01\x00\x00\x00")):
		return nil, fmt.Errorf("%s: %w: not a WebAssembly module", path, errContract)
	}
	return text, nil
}

// Close ends all instances and processes of the plugin. If one of its goroutines has panicked, Close
// panics with that value.
func (p *Plugin) Close() {
	if p.runtime != nil {
		_ = p.runtime.Close(context.Background())
	}
	if p.cache != nil {
		_ = p.cache.Close(context.Background())
	}
	p.processes.shutdownAll()
	if bug := p.firstPanic.Load(); bug != nil {
		panic(bug)
	}
}

// compile compiles the module in text, the contents of a .wasm file, and checks its imports and exports.
func (p *Plugin) compile(text []byte) error {
	text, err := limitModule(text)
	if err != nil {
		return fmt.Errorf("%w: %w", errContract, err)
	}
	const maxPages = 1<<16 - 1 // not 1<<16: the size in bytes must fit into 32 bits
	pages := uint32(min(max(p.opt.Memory, pageSize)/pageSize, maxPages))
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(pages).WithCloseOnContextDone(p.opt.Timeout > 0)
	if p.opt.Cache != "" {
		pruneCache(p.opt.Cache)
		if cache, err := wazero.NewCompilationCacheWithDir(p.opt.Cache); err == nil { // without a cache, compiling takes longer
			p.cache, config = cache, config.WithCompilationCache(cache)
		}
	}
	p.runtime = wazero.NewRuntimeWithConfig(p.ctx, config)
	// Modules compiled from Go or with wasi-libc import WASI. Here it provides no files and no arguments; its
	// clock and its random numbers are the same in every run.
	if _, err := wasi_snapshot_preview1.Instantiate(p.ctx, p.runtime); err != nil {
		return err
	}
	if err := p.compileInTime(text); err != nil {
		return err
	}
	for _, f := range p.compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasi_snapshot_preview1.ModuleName {
			return fmt.Errorf("%w: imports %s.%s, expected only WASI", errContract, from, name)
		}
	}
	if p.compiled.ExportedMemories()["memory"] == nil {
		return fmt.Errorf("%w: exports no memory named memory", errContract)
	}
	exported := p.compiled.ExportedFunctions()
	for _, f := range requiredExports {
		d := exported[f.name]
		if d == nil {
			return fmt.Errorf("%w: exports no function %s", errContract, f.name)
		}
		if !areI32(d.ParamTypes(), f.params) || !areI32(d.ResultTypes(), f.results) {
			return fmt.Errorf("%w: %s has %d parameters and %d results, expected %d and %d of type i32", errContract, f.name,
				len(d.ParamTypes()), len(d.ResultTypes()), f.params, f.results)
		}
	}
	return nil
}

// compileInTime sets p.compiled to the compiled text. It returns an error after p.opt.compileTime, or when p.ctx is
// done. The compiler cannot be interrupted, so it then continues in the background, and the runtime and the cache
// are closed when it has finished.
func (p *Plugin) compileInTime(text []byte) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.opt.compileTime)
	defer cancel()
	runtime, cache := p.runtime, p.cache
	var module wazero.CompiledModule
	var err error
	finished := make(chan struct{})
	go panics.Guard(p.recordPanic, func() {
		defer close(finished)
		module, err = compileModule(p.ctx, runtime, text)
	})()
	select {
	case <-finished:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		p.runtime, p.cache = nil, nil
		go panics.Guard(p.recordPanic, func() {
			<-finished
			_ = runtime.Close(context.Background())
			if cache != nil {
				_ = cache.Close(context.Background())
			}
		})()
		return cmp.Or(p.ctx.Err(), fmt.Errorf("%w: compiling the module %w %v", errContract, errLate, p.opt.compileTime))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errContract, err)
	}
	p.compiled = module
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

// areI32 reports whether types are n times i32.
func areI32(types []api.ValueType, n int) bool {
	return len(types) == n && !slices.ContainsFunc(types, func(t api.ValueType) bool { return t != api.ValueTypeI32 })
}

// maxCacheSize is the maximum size of Options.Cache in bytes, before a module is added.
const maxCacheSize = 256 << 20

// pruneCache removes the oldest files in dir until the rest has at most maxCacheSize bytes. It ignores
// files that it cannot remove, because a plugin works without its cache.
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
		if total <= maxCacheSize {
			return
		}
		if os.Remove(x.path) == nil {
			total -= x.info.Size()
		}
	}
}

// Name returns a short name of the plugin for messages: the base name of the module without .wasm, or of
// the program.
func (p *Plugin) Name() string {
	if p.Runs == Process && len(p.command) > 0 {
		return printable(filepath.Base(p.command[0]))
	}
	return printable(strings.TrimSuffix(filepath.Base(p.Path), ".wasm"))
}
