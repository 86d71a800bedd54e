package plugin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// instance is a module with memory of its own.
type instance struct {
	plugin *Plugin
	module api.Module
	memory api.Memory
	calls  map[string]api.Function
	stack  [3]uint64
}

func (p *Plugin) instantiate() (*instance, error) {
	x := &instance{plugin: p, calls: map[string]api.Function{}}
	err := x.within("_initialize", func(ctx context.Context) (err error) {
		x.module, err = p.runtime.InstantiateModule(ctx, p.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
		return err
	})
	if err != nil {
		return nil, err
	}
	x.memory = x.module.Memory()
	if x.memory == nil {
		return nil, fmt.Errorf("%w: it has no memory", ErrContract)
	}
	for _, f := range functions {
		x.calls[f.name] = x.module.ExportedFunction(f.name)
	}
	if abi, err := x.call("wl_abi"); err != nil || abi != ABI {
		return nil, errors.Join(err, fmt.Errorf("%w: it is for version %d of it, expected %d", ErrContract, abi, ABI))
	}
	return x, nil
}

// within runs a call for as long as it may take. What ends it early breaks the instance.
func (x *instance) within(name string, run func(context.Context) error) error {
	ctx := x.plugin.ctx
	if x.plugin.opt.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.plugin.opt.Timeout)
		defer cancel()
	}
	err := run(ctx)
	var exit *sys.ExitError
	switch {
	case err == nil:
		return nil
	case x.plugin.ctx.Err() != nil:
		return x.plugin.ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() == sys.ExitCodeDeadlineExceeded:
		err = fmt.Errorf("%w %v", errLate, x.plugin.opt.Timeout)
	default:
		first, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n")) // the rest is a trace of the module's stack
		err = errors.New(string(first))
	}
	return x.plugin.broken(name, "%w", err)
}

// call calls a function of the contract, which gives one number.
func (x *instance) call(name string, args ...uint32) (uint32, error) {
	for i, a := range args {
		x.stack[i] = uint64(a)
	}
	err := x.within(name, func(ctx context.Context) error { return x.calls[name].CallWithStack(ctx, x.stack[:]) })
	return uint32(x.stack[0]), err
}

// alloc asks the module for memory.
func (x *instance) alloc(size int) (uint32, error) {
	at, err := x.call("wl_alloc", uint32(size))
	if err != nil {
		return 0, err
	}
	if _, ok := x.memory.Read(at, uint32(size)); !ok || at == 0 || at%8 != 0 {
		return 0, x.plugin.broken("wl_alloc", "gave %d for %d bytes, expected the address of so many, aligned to 8, in its memory of %d",
			at, size, x.memory.Size())
	}
	return at, nil
}

// words reads 32-bit numbers.
func (x *instance) words(at uint32, n int) ([]uint32, bool) {
	raw, ok := x.memory.Read(at, uint32(4*n))
	if !ok {
		return nil, false
	}
	list := make([]uint32, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return list, true
}

// maxText bounds texts of a module.
const maxText = 1000

// text reads what ends in a zero; "" if at is 0.
func (x *instance) text(at uint32) (string, bool) {
	if at == 0 {
		return "", true
	}
	if at >= x.memory.Size() {
		return "", false
	}
	raw, _ := x.memory.Read(at, min(maxText+1, x.memory.Size()-at))
	end := bytes.IndexByte(raw, 0)
	if end < 0 {
		return "", false
	}
	return string(raw[:end]), true
}

// why is what the module says of its last failure; "" if nothing.
func (x *instance) why() string {
	at, err := x.call("wl_error")
	if err != nil {
		return ""
	}
	text, _ := x.text(at)
	return printable(text)
}

func (x *instance) close() { _ = x.module.Close(context.Background()) }
