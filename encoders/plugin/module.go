package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Sizes of structs of wirelab.h, in 32-bit words.
const (
	frameWords = 8                // wl_frame
	callWords  = 3*frameWords + 5 // wl_call: the frame, two references, and five words
)

// A frameBuffer is the memory of a module for the frame in one slot.
type frameBuffer struct {
	table, body, memo  uint32 // addresses; 0 if not allocated
	bodyCap            int    // size of the memory at body
	tick               uint32
	bodySize, memoSize int
}

// A module is a host: one wl_end in a module instance of its own.
type module struct {
	*instance
	session *session

	// Addresses in the module's memory: of its wl_end, the wl_call, the packet and the reported bits.
	handle, callAddr, packetAddr, bitsAddr uint32

	buffers [numSlots]frameBuffer // memory for the frames, by slot
	result  answer                // what perform returns
}

// newModule returns a module in a new instance.
func newModule(s *session) (host, error) {
	x, err := s.plugin.instantiate()
	if err != nil {
		return nil, err
	}
	return &module{instance: x, session: s}, nil
}

// abandon implements host. Closing a module does not wait.
func (m *module) abandon() { m.close() }

// create implements host. It allocates the module's memory for schema, parameters, calls, packets and bits, and
// calls wl_create.
func (m *module) create() error {
	schema, err := m.writeSchema()
	if err != nil {
		return err
	}
	s := m.session
	params, err := m.alloc(max(8*len(s.params), 8)) // an address must not be 0, even without parameters
	if err != nil {
		return err
	}
	for i, v := range s.params {
		m.memory.WriteFloat64Le(params+uint32(8*i), v)
	}
	for _, buffer := range []struct {
		at   *uint32
		size int
	}{{&m.callAddr, 4 * callWords}, {&m.packetAddr, maxPacket}, {&m.bitsAddr, 4 * (len(s.schema.Fields) + 1)}} {
		if *buffer.at, err = m.alloc(buffer.size); err != nil {
			return err
		}
	}
	if m.handle, err = m.call("wl_create", uint32(s.desc.index), schema, params); err != nil {
		return err
	}
	if m.handle == 0 {
		return fmt.Errorf("plugin %s: %s does not accept %s%s", m.plugin.Name(), s.desc.name, s.schema.Name, withReason(m.lastError()))
	}
	return nil
}

// writeSchema writes a wl_schema to the module's memory and returns its address. The wl_schema is followed by
// its fields (each five words: address of the name, kind, min, max, step), by the hints if the encoder reads them, and
// by the texts.
func (m *module) writeSchema() (uint32, error) {
	s := &m.session.schema
	texts := make([]byte, 0, 256)
	// addText appends a text with a zero byte and returns its offset in texts.
	addText := func(t string) uint32 { texts = append(append(texts, t...), 0); return uint32(len(texts) - len(t) - 1) }
	const headSize, fieldSize = 6 * 4, 5 * 4
	hintsStart := uint32(headSize + fieldSize*len(s.Fields)) // offset of the hints
	textStart := hintsStart                                  // offset of the texts
	if m.session.desc.hints() {
		textStart += uint32(4 * hintWords * len(s.Fields))
	}
	// The head: name, rows, number of fields, ticks per second, and the addresses of the fields and of the hints.
	words := []uint32{textStart + addText(s.Name), uint32(s.Rows), uint32(len(s.Fields)), uint32(s.TickHz), headSize, 0}
	for i := range s.Fields {
		f := &s.Fields[i]
		words = append(words, textStart+addText(f.Name), uint32(f.Kind), uint32(f.Min), uint32(f.Max), math.Float32bits(float32(f.Step())))
	}
	addr, err := m.alloc(int(textStart) + len(texts))
	if err != nil {
		return 0, err
	}
	for i := range words {
		// The name, the list of fields and the name of each field are addresses: so far, offsets from addr.
		if i == 0 || i == 4 || i >= 6 && (i-6)%5 == 0 {
			words[i] += addr
		}
	}
	if m.session.desc.hints() {
		words[5] = addr + hintsStart
		for i := range s.Fields {
			words = appendHint(words, &s.Fields[i].Hint)
		}
	}
	for i, w := range words {
		m.memory.WriteUint32Le(addr+uint32(4*i), w)
	}
	m.memory.Write(addr+textStart, texts)
	return addr, nil
}

// loadRef writes the reference r with its memo to buffer s if send is true. Otherwise s contains the frame
// already, and only its tick is set.
func (m *module) loadRef(s *frameBuffer, r *encoders.Ref, send bool) error {
	s.tick = r.Frame.Tick
	if !send {
		return nil
	}
	if err := m.writeFrame(s, r.Frame); err != nil {
		return err
	}
	s.memoSize = 0
	if x, _ := r.Memo.(*memo); x != nil {
		s.memoSize = len(x.data)
		m.memory.Write(s.memo, x.data)
	}
	return nil
}

// reserve allocates the memory that a buffer needs for a table, a memo and a body of n bytes. The memory of a
// body that was too small cannot be freed, because the contract has no such function, so the size doubles.
func (m *module) reserve(s *frameBuffer, n int) (err error) {
	if s.table == 0 {
		if s.table, err = m.alloc(max(4*m.session.schema.Cells(), 8)); err != nil {
			return err
		}
		if s.memo, err = m.alloc(max(int(m.session.desc.memoRoom), 8)); err != nil {
			return err
		}
	}
	if n <= s.bodyCap && s.body != 0 {
		return nil
	}
	s.bodyCap = max(2*n, 64)
	s.body, err = m.alloc(s.bodyCap)
	return err
}

// writeFrame writes a frame without a memo to a buffer.
func (m *module) writeFrame(s *frameBuffer, f *frame.Frame) error {
	if len(f.Table) != m.session.schema.Cells() {
		return fmt.Errorf("frame has %d values, expected %d", len(f.Table), m.session.schema.Cells())
	}
	if err := m.reserve(s, len(f.Body)); err != nil {
		return err
	}
	s.tick, s.bodySize = f.Tick, len(f.Body)
	raw, ok := m.memory.Read(s.table, uint32(4*len(f.Table)))
	if !ok || !m.memory.Write(s.body, f.Body) {
		return m.shrunkError()
	}
	putInt32s(raw, f.Table)
	return nil
}

// shrunkError returns the error for an address that was valid before but no longer is.
func (m *module) shrunkError() error { return m.plugin.callError("memory", "has shrunk") }

// perform implements host: it writes the frames, the packet and a wl_call to the module's memory, calls
// wl_encode or wl_decode, and reads the result.
func (m *module) perform(c *call) (*answer, error) {
	cur := &m.buffers[c.curSlot]
	buffers := [3]*frameBuffer{cur}
	for i := range c.refs {
		buffers[1+i] = &m.buffers[c.refSlots[i]]
		if err := m.loadRef(buffers[1+i], &c.refs[i], c.sendRef[i]); err != nil {
			return nil, err
		}
	}
	cur.memoSize = 0
	bits := uint32(0)
	if c.kind == decodeCall { // the module writes the frame: pass only its tick, and memory for its body
		if !m.memory.Write(m.packetAddr, c.packet) {
			return nil, m.shrunkError()
		}
		cur.tick, cur.bodySize = c.cur.Tick, 0
		if err := m.reserve(cur, m.session.maxBody()); err != nil {
			return nil, err
		}
	} else {
		if err := m.writeFrame(cur, c.cur); err != nil {
			return nil, err
		}
		if c.wantBits {
			bits = m.bitsAddr
			raw, _ := m.memory.Read(bits, uint32(4*(len(m.session.schema.Fields)+1)))
			clear(raw)
		}
	}
	raw, ok := m.memory.Read(m.callAddr, 4*callWords)
	if !ok {
		return nil, m.shrunkError()
	}
	var words [callWords]uint32 // in the order of wl_call and wl_frame in wirelab.h
	for i, s := range buffers[:1+len(c.refs)] {
		copy(words[i*frameWords:], []uint32{s.tick, s.table, s.body, uint32(s.bodySize), uint32(s.bodyCap), s.memo,
			uint32(s.memoSize), m.session.desc.memoRoom})
	}
	copy(words[3*frameWords:], []uint32{uint32(len(c.refs)), m.packetAddr, uint32(len(c.packet)), maxPacket, bits})
	for i, w := range words {
		binary.LittleEndian.PutUint32(raw[4*i:], w)
	}
	name := [...]string{"wl_encode", "wl_decode"}[c.kind]
	code, err := m.call(name, m.handle, m.callAddr)
	if err != nil {
		return nil, err
	}
	m.result = answer{callName: name, code: int32(code)}
	if code != 0 {
		m.result.reason = m.lastError()
		return &m.result, nil
	}
	return &m.result, m.readAnswer(c, cur, bits)
}

// readAnswer sets m.result to what the module wrote during the call c. cur is the buffer of the call's
// frame; bits is the address of the reported bits, 0 if they were not requested.
func (m *module) readAnswer(c *call, cur *frameBuffer, bits uint32) error {
	a := &m.result
	// word returns a word of the wl_call: 3 is frame.body_size, 6 frame.memo_size, 3*frameWords+2 packet_size.
	word := func(i int) uint32 { v, _ := m.memory.ReadUint32Le(m.callAddr + uint32(4*i)); return v }
	// limited returns the size bytes at addr that the module reported. It fails if size exceeds limit or the bytes are
	// outside of the memory. part names them in the error.
	limited := func(part string, addr, size, limit uint32) ([]byte, error) {
		raw, ok := m.memory.Read(addr, size)
		if size > limit || !ok {
			return nil, m.plugin.callError(a.callName, "the %s has %d bytes, expected at most %d", part, size, limit)
		}
		return raw, nil
	}
	var err error
	if c.kind == encodeCall {
		if a.packet, err = limited("packet", m.packetAddr, word(3*frameWords+2), maxPacket); err != nil {
			return err
		}
	}
	if c.kind == decodeCall || m.session.desc.quantises() {
		if a.body, err = limited("body", cur.body, word(3), uint32(cur.bodyCap)); err != nil {
			return err
		}
		cur.bodySize = len(a.body)
		var ok bool
		a.table, ok = m.memory.Read(cur.table, uint32(4*m.session.schema.Cells()))
		if !ok {
			return m.shrunkError()
		}
	}
	if bits != 0 {
		a.bits, _ = m.memory.Read(bits, uint32(4*(len(m.session.schema.Fields)+1)))
	}
	if a.memo, err = limited("memo", cur.memo, word(6), m.session.desc.memoRoom); err != nil {
		return err
	}
	cur.memoSize = len(a.memo)
	return nil
}

// An instance is an instance of the module, with memory of its own.
type instance struct {
	plugin    *Plugin
	module    api.Module
	memory    api.Memory
	functions map[string]api.Function
	stack     [3]uint64 // arguments and result of a call
	stderr    firstText // what the module wrote to standard error during the last call
	clock     slowClock
}

// A slowClock is the monotonic clock of a module. It does not measure time, so that modules compute the same in every
// run: each reading is 1 ns after the last. Readings must be close together, because Go's runtime measures how long it
// collects garbage. If that is more than a second, and more than half of the time, the runtime restricts the collection;
// in a module it then never ends, because the runtime's own goroutines run only while a goroutine of the module waits.
type slowClock struct{ ns int64 }

// read returns the time of the clock and advances it.
func (c *slowClock) read() int64 {
	c.ns++
	return c.ns
}

// sleep advances the clock by ns nanoseconds without waiting.
func (c *slowClock) sleep(ns int64) { c.ns += max(ns, 0) }

// firstText is a writer that stores the first maxStderrInError bytes.
type firstText []byte

func (t *firstText) Write(b []byte) (int, error) {
	*t = append(*t, b[:min(len(b), maxStderrInError-len(*t))]...)
	return len(b), nil
}

// summary returns the first paragraph of the stored text as one printable line. Go's runtime writes the reason of a
// panic, then an empty line and its stack.
func (t firstText) summary() string {
	paragraph, _, _ := strings.Cut(strings.Trim(string(t), "\r\n"), "\n\n")
	return printable(strings.ToValidUTF8(strings.ReplaceAll(paragraph, "\n", " / "), ""))
}

// instantiate returns a new instance of the module. It runs the module's initialisation, finds the functions of
// the contract, and checks that the module implements version abiVersion of it.
func (p *Plugin) instantiate() (*instance, error) {
	x := &instance{plugin: p, functions: map[string]api.Function{}}
	err := x.runWithTimeout("_initialize", func(ctx context.Context) (err error) {
		// Without a name, because several instances of a module cannot have the same one.
		x.module, err = p.runtime.InstantiateModule(ctx, p.compiled, wazero.NewModuleConfig().WithName("").
			WithStartFunctions("_initialize").WithStderr(&x.stderr).
			WithNanotime(x.clock.read, 1).WithNanosleep(x.clock.sleep))
		return err
	})
	if err != nil {
		return nil, err
	}
	x.memory = x.module.Memory()
	if x.memory == nil {
		return nil, fmt.Errorf("%w: has no memory", errContract)
	}
	for _, f := range requiredExports {
		x.functions[f.name] = x.module.ExportedFunction(f.name)
	}
	if abi, err := x.call("wl_abi"); err != nil || abi != abiVersion {
		return nil, errors.Join(err, fmt.Errorf("%w: version %d of the contract, expected %d", errContract, abi, abiVersion))
	}
	return x, nil
}

// runWithTimeout calls run with a context that ends after Options.Timeout. name is the function of the module
// that run calls, for errors. After an error the instance can no longer be used. The error wraps
// encoders.ErrBroken, unless the plugin's context is done.
func (x *instance) runWithTimeout(name string, run func(context.Context) error) error {
	ctx := x.plugin.ctx
	x.stderr = x.stderr[:0]
	timeout := cmp.Or(x.plugin.opt.timeouts[name], x.plugin.opt.Timeout)
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
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
		err = fmt.Errorf("%w %v", errLate, timeout)
	default:
		first, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n")) // the other lines are a stack trace of the module
		err = errors.New(string(first))
	}
	if text := x.stderr.summary(); text != "" {
		err = fmt.Errorf("%w; standard error: %s", err, text)
	}
	return x.plugin.callError(name, "%w", err)
}

// call calls an exported function, of at most 3 parameters, and returns its result.
func (x *instance) call(name string, args ...uint32) (uint32, error) {
	for i, a := range args {
		x.stack[i] = uint64(a)
	}
	err := x.runWithTimeout(name, func(ctx context.Context) error { return x.functions[name].CallWithStack(ctx, x.stack[:]) })
	return uint32(x.stack[0]), err
}

// alloc calls wl_alloc and checks the address.
func (x *instance) alloc(size int) (uint32, error) {
	addr, err := x.call("wl_alloc", uint32(size))
	if err != nil {
		return 0, err
	}
	if _, ok := x.memory.Read(addr, uint32(size)); !ok || addr == 0 || addr%8 != 0 {
		return 0, x.plugin.callError("wl_alloc", "returned %d for %d bytes, expected an address aligned to 8 within the memory of %d bytes",
			addr, size, x.memory.Size())
	}
	return addr, nil
}

// readWords reads n 32-bit numbers. It returns false if they are outside of the memory.
func (x *instance) readWords(addr uint32, n int) ([]uint32, bool) {
	raw, ok := x.memory.Read(addr, uint32(4*n))
	if !ok {
		return nil, false
	}
	list := make([]uint32, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return list, true
}

// maxText is the maximum length of a text of a plugin, in bytes.
const maxText = 1000

// readText reads a string that ends with a zero byte; "" if addr is 0. It returns false if the string is too
// long or outside of the memory.
func (x *instance) readText(addr uint32) (string, bool) {
	if addr == 0 {
		return "", true
	}
	if addr >= x.memory.Size() {
		return "", false
	}
	raw, _ := x.memory.Read(addr, min(maxText+1, x.memory.Size()-addr))
	end := bytes.IndexByte(raw, 0)
	if end < 0 {
		return "", false
	}
	return string(raw[:end]), true
}

// lastError returns the result of wl_error; "" if it is empty or the call fails.
func (x *instance) lastError() string {
	addr, err := x.call("wl_error")
	if err != nil {
		return ""
	}
	text, _ := x.readText(addr)
	return printable(text)
}

// close frees the instance. An error would not matter, because the instance is no longer used.
func (x *instance) close() { _ = x.module.Close(context.Background()) }
