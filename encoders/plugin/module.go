package plugin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

const (
	frameWords = 8
	callWords  = 3*frameWords + 5
)

// slot is room for a frame in a module's memory.
type slot struct {
	table, body, memo  uint32 // addresses; 0: not allocated
	bodyRoom           int
	tick               uint32
	bodySize, memoSize int
}

// module is a host: a wl_end in a module instance of its own.
type module struct {
	*instance
	of                       *session
	self, args, packet, bits uint32 // addresses
	slots                    [numSlots]slot
	result                   answer
}

func newModule(s *session) (host, error) {
	x, err := s.plugin.instantiate()
	if err != nil {
		return nil, err
	}
	return &module{instance: x, of: s}, nil
}

func (m *module) claim() bool { return true }
func (m *module) release()    {}
func (m *module) abandon()    { m.close() }

func (m *module) create() error {
	schema, err := m.putSchema()
	if err != nil {
		return err
	}
	s := m.of
	params, err := m.alloc(max(8*len(s.params), 8))
	if err != nil {
		return err
	}
	for i, v := range s.params {
		m.memory.WriteFloat64Le(params+uint32(8*i), v)
	}
	for _, x := range []struct {
		at   *uint32
		size int
	}{{&m.args, 4 * callWords}, {&m.packet, packetRoom}, {&m.bits, 4 * (len(s.schema.Fields) + 1)}} {
		if *x.at, err = m.alloc(x.size); err != nil {
			return err
		}
	}
	if m.self, err = m.call("wl_create", uint32(s.codec.index), schema, params); err != nil {
		return err
	}
	if m.self == 0 {
		return fmt.Errorf("plugin %s: %s does not take %s%s", m.plugin.Name(), s.codec.name, s.schema.Name, because(m.why()))
	}
	return nil
}

// putSchema writes a wl_schema and returns its address.
func (m *module) putSchema() (uint32, error) {
	s := &m.of.schema
	texts := make([]byte, 0, 256)
	put := func(t string) uint32 { texts = append(append(texts, t...), 0); return uint32(len(texts) - len(t) - 1) }
	const head, field = 6 * 4, 5 * 4
	first := uint32(head + field*len(s.Fields)) // of the texts
	words := []uint32{first + put(s.Name), uint32(s.Rows), uint32(len(s.Fields)), uint32(s.TickHz), head, 0}
	for i := range s.Fields {
		f := &s.Fields[i]
		words = append(words, first+put(f.Name), uint32(f.Kind), uint32(f.Min), uint32(f.Max), math.Float32bits(float32(f.Step())))
	}
	at, err := m.alloc(int(first) + len(texts))
	if err != nil {
		return 0, err
	}
	for i, w := range words {
		if i == 0 || i == 4 || i >= 6 && (i-6)%5 == 0 { // an address
			w += at
		}
		m.memory.WriteUint32Le(at+uint32(4*i), w)
	}
	m.memory.Write(at+first, texts)
	return at, nil
}

// hold writes a reference into a slot unless it is there.
func (m *module) hold(s *slot, r *encoders.Ref, send bool) error {
	s.tick = r.Frame.Tick
	if !send {
		return nil
	}
	if err := m.put(s, r.Frame); err != nil {
		return err
	}
	s.memoSize = 0
	if x, _ := r.Memo.(*memo); x != nil {
		s.memoSize = len(x.data)
		m.memory.Write(s.memo, x.data)
	}
	return nil
}

// room allocates what a slot needs for a body of n bytes. A room that was too small is lost to the
// module.
func (m *module) room(s *slot, n int) (err error) {
	if s.table == 0 {
		if s.table, err = m.alloc(max(4*m.of.schema.Cells(), 8)); err != nil {
			return err
		}
		if s.memo, err = m.alloc(max(int(m.of.codec.memoRoom), 8)); err != nil {
			return err
		}
	}
	if n <= s.bodyRoom && s.body != 0 {
		return nil
	}
	s.bodyRoom = max(2*n, 64)
	s.body, err = m.alloc(s.bodyRoom)
	return err
}

// put writes a frame into a slot.
func (m *module) put(s *slot, f *frame.Frame) error {
	if len(f.Table) != m.of.schema.Cells() {
		return fmt.Errorf("a frame of %d values, expected %d", len(f.Table), m.of.schema.Cells())
	}
	if err := m.room(s, len(f.Body)); err != nil {
		return err
	}
	s.tick, s.bodySize = f.Tick, len(f.Body)
	raw, ok := m.memory.Read(s.table, uint32(4*len(f.Table)))
	if !ok || !m.memory.Write(s.body, f.Body) {
		return m.shrank()
	}
	toBytes(raw, f.Table)
	return nil
}

func (m *module) shrank() error { return m.plugin.broken("memory", "shrank") }

// perform implements host.
func (m *module) perform(c *call) (*answer, error) {
	here := &m.slots[c.into]
	list := [3]*slot{here}
	for i := range c.refs {
		list[1+i] = &m.slots[c.slots[i]]
		if err := m.hold(list[1+i], &c.refs[i], c.send[i]); err != nil {
			return nil, err
		}
	}
	here.memoSize = 0
	bits := uint32(0)
	if c.kind == decodeCall {
		if !m.memory.Write(m.packet, c.packet) {
			return nil, m.shrank()
		}
		here.tick, here.bodySize = c.cur.Tick, 0
		if err := m.room(here, m.of.bodyRoom()); err != nil {
			return nil, err
		}
	} else {
		if err := m.put(here, c.cur); err != nil {
			return nil, err
		}
		if c.account {
			bits = m.bits
			raw, _ := m.memory.Read(bits, uint32(4*(len(m.of.schema.Fields)+1)))
			clear(raw)
		}
	}
	raw, ok := m.memory.Read(m.args, 4*callWords)
	if !ok {
		return nil, m.shrank()
	}
	var words [callWords]uint32
	for i, s := range list[:1+len(c.refs)] {
		copy(words[i*frameWords:], []uint32{s.tick, s.table, s.body, uint32(s.bodySize), uint32(s.bodyRoom), s.memo,
			uint32(s.memoSize), m.of.codec.memoRoom})
	}
	copy(words[3*frameWords:], []uint32{uint32(len(c.refs)), m.packet, uint32(len(c.packet)), packetRoom, bits})
	for i, w := range words {
		binary.LittleEndian.PutUint32(raw[4*i:], w)
	}
	name := [...]string{"wl_encode", "wl_decode"}[c.kind]
	code, err := m.call(name, m.self, m.args)
	if err != nil {
		return nil, err
	}
	m.result = answer{call: name, code: int32(code)}
	if code != 0 {
		m.result.why = m.why()
		return &m.result, nil
	}
	return &m.result, m.read(c, here, bits)
}

// read reads the answer of a call.
func (m *module) read(c *call, here *slot, bits uint32) error {
	a := &m.result
	word := func(i int) uint32 { v, _ := m.memory.ReadUint32Le(m.args + uint32(4*i)); return v }
	limited := func(what string, at, size, limit uint32) ([]byte, error) {
		raw, ok := m.memory.Read(at, size)
		if size > limit || !ok {
			return nil, m.plugin.broken(a.call, "it says that the %s has %d bytes, expected at most %d", what, size, limit)
		}
		return raw, nil
	}
	var err error
	if c.kind == encodeCall {
		if a.packet, err = limited("packet", m.packet, word(3*frameWords+2), packetRoom); err != nil {
			return err
		}
	}
	if c.kind == decodeCall || m.of.codec.quantises() {
		if a.body, err = limited("body", here.body, word(3), uint32(here.bodyRoom)); err != nil {
			return err
		}
		here.bodySize = len(a.body)
		var ok bool
		a.table, ok = m.memory.Read(here.table, uint32(4*m.of.schema.Cells()))
		if !ok {
			return m.shrank()
		}
	}
	if bits != 0 {
		a.bits, _ = m.memory.Read(bits, uint32(4*(len(m.of.schema.Fields)+1)))
	}
	if a.memo, err = limited("memo", here.memo, word(6), m.of.codec.memoRoom); err != nil {
		return err
	}
	here.memoSize = len(a.memo)
	return nil
}

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
