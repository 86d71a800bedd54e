package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
)

// ABI is the version of wirelab.h that this package speaks.
const ABI = 1

// Bounds of what a plugin may be and ask for.
const (
	MaxFile       = 64 << 20 // bytes of a module
	DefaultMemory = 256 << 20
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
	Cache   string        // folder of compiled modules; empty: they are compiled anew
	FirstID uint8         // ID of the first codec; the next ones follow
}

// Plugin is a module that was loaded.
type Plugin struct {
	Path   string
	SHA256 string // of the module
	Codecs []encoders.Codec
	// Compiled says that the module runs as machine code; else it is interpreted, some
	// twenty times as slowly.
	Compiled bool

	opt      Options
	ctx      context.Context
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	named    atomic.Uint64 // memos so far: no two of them have one name
}

// function is one that a module has to export.
type function struct {
	name    string
	params  int // all of them i32
	results int
}

var functions = []function{{"wl_abi", 0, 1}, {"wl_alloc", 1, 1}, {"wl_describe", 1, 1}, {"wl_create", 3, 1}, {"wl_encode", 2, 1},
	{"wl_decode", 2, 1}, {"wl_error", 0, 1}}

// Load reads a module, checks it against the contract and asks what encoders it has. ctx ends
// all its calls. Errors name the file; those of the module wrap ErrContract.
func Load(ctx context.Context, path string, opt Options) (*Plugin, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	if opt.Memory == 0 {
		opt.Memory = DefaultMemory
	}
	if opt.Timeout == 0 {
		opt.Timeout = DefaultTimeout
	}
	sum := sha256.Sum256(text)
	p := &Plugin{Path: path, SHA256: hex.EncodeToString(sum[:]), opt: opt, ctx: ctx,
		Compiled: slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH)}
	if err := p.compile(text); err != nil {
		p.Close()
		return nil, fmt.Errorf("plugin %s: %w", path, err)
	}
	if p.Codecs, err = p.describe(); err != nil {
		p.Close()
		return nil, fmt.Errorf("plugin %s: %w", path, err)
	}
	return p, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w: it is no file", path, ErrContract)
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%s: %w: it has %d bytes, expected at most %d", path, ErrContract, info.Size(), MaxFile)
	}
	text, err := os.ReadFile(path)
	if err == nil && !bytes.HasPrefix(text, []byte("\x00asm\x01\x00\x00\x00")) {
		err = fmt.Errorf("%s: %w: it is no WebAssembly module", path, ErrContract)
	}
	return text, err
}

// Close ends all instances.
func (p *Plugin) Close() {
	if p.runtime != nil {
		_ = p.runtime.Close(context.Background())
	}
}

// compile makes machine code of the module, and checks what it imports and exports.
func (p *Plugin) compile(text []byte) error {
	pages := uint32(min(max(p.opt.Memory, pageSize), 4<<30) / pageSize)
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(pages).WithCloseOnContextDone(p.opt.Timeout > 0)
	if p.opt.Cache != "" {
		if cache, err := wazero.NewCompilationCacheWithDir(p.opt.Cache); err == nil { // else it takes longer, and no more
			config = config.WithCompilationCache(cache)
		}
	}
	p.runtime = wazero.NewRuntimeWithConfig(p.ctx, config)
	// Modules of Go and of wasi-libc import these. They get no files, no arguments, and a clock
	// and a source of randomness that always say the same.
	if _, err := wasi_snapshot_preview1.Instantiate(p.ctx, p.runtime); err != nil {
		return err
	}
	var err error
	if p.compiled, err = p.runtime.CompileModule(p.ctx, text); err != nil {
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

func onlyI32(types []api.ValueType, n int) bool {
	return len(types) == n && !slices.ContainsFunc(types, func(t api.ValueType) bool { return t != api.ValueTypeI32 })
}

// Name is the plugin's in messages: its file without folder and ending.
func (p *Plugin) Name() string { return strings.TrimSuffix(filepath.Base(p.Path), ".wasm") }
