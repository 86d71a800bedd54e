package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/panics"
)

const (
	maxPacket = 65_536 // maximum size of a packet, in bytes
	numSlots  = 16     // recent frames that a plugin stores: enough for the references of most packets
)

// A memo is the memo of a frame: the bytes that the plugin wrote, and a number that identifies the frame
// among all frames of the plugin.
type memo struct {
	id   uint64
	data []byte
}

// A session holds the arguments of wl_create: encoder, schema and parameters.
type session struct {
	plugin *Plugin
	desc   *description
	schema frame.Schema
	params []float64
}

// maxBody returns the maximum size of a decoded body in bytes. Frames with rows have their data in the table,
// so a few bytes suffice for their body.
func (s *session) maxBody() int {
	if s.schema.Rows == 0 {
		return maxPacket
	}
	return 64
}

// A host runs the plugin's code for one encoder or decoder: a module instance or a process.
type host interface {
	// create passes the session to the plugin. It is called once, before perform.
	create() error

	// perform makes a call. The answer is valid until the next call.
	perform(c *call) (*answer, error)

	// close ends the host and waits for that.
	close()

	// abandon ends the host without waiting.
	abandon()
}

// callKind is the kind of a call.
type callKind int

const (
	encodeCall callKind = iota
	decodeCall
)

// A call is a call of wl_encode or wl_decode. Each of its frames has a slot, one of numSlots buffers in
// which the plugin keeps recent frames, so that most references need not be sent again.
type call struct {
	kind     callKind
	cur      *frame.Frame   // encodeCall: the frame to encode; decodeCall: only the tick is used
	packet   []byte         // decodeCall: the packet
	wantBits bool           // encodeCall: the plugin is to report what the bits were spent on
	refs     []encoders.Ref // the newest first
	refSlots [2]int         // slots of refs
	sendRef  [2]bool        // the slot does not hold the reference yet
	curSlot  int            // slot for cur
}

// An answer is the result of a call. Its slices belong to the host.
type answer struct {
	callName     string // name of the call, for errors
	code         int32  // return code: WL_OK is 0; after other codes only reason is set
	reason       string // may be empty
	packet, bits []byte // encodeCall
	table, body  []byte // set by decodeCall, and by encodeCall if the encoder quantises
	memo         []byte
}

// A slotState identifies the frame in a slot.
type slotState struct {
	memoID   uint64 // memo.id of the frame; 0 if it has no memo or the slot is empty
	lastCall uint64 // number of the call (codec.calls) that last used the slot; 0 if none
}

// A codec is an encoder or a decoder of a plugin; it implements both interfaces. After a call that violates
// the contract, the host is closed and the next call opens a new one.
type codec struct {
	*session
	openHost  func(*session) (host, error)
	host      host // nil if it has to be opened
	slots     [numSlots]slotState
	calls     uint64          // calls so far
	lateCalls lateCalls       // calls that exceeded the timeout
	cleanup   runtime.Cleanup // abandons the host when the codec is garbage
}

// newCodec returns an encoder or decoder for frames of schema s.
func (p *Plugin) newCodec(d *description, s *frame.Schema, params any) (*codec, error) {
	// The host is an instance of the WebAssembly module, or a process.
	e := &codec{session: &session{plugin: p, desc: d, schema: *s, params: paramValues(params)}, openHost: newModule}
	if p.Runs == Process {
		e.openHost = newProcessHost
	}
	// Start the host now, so that a schema or parameters that the plugin rejects are an error of New.
	if err := e.startHost(); err != nil {
		return nil, err
	}
	return e, nil
}

// startHost opens a host and creates the session in it. The slots of a new host are empty. The host is ended when the codec is garbage, because encoders have no Close.
func (e *codec) startHost() error {
	e.cleanup.Stop() // the cleanup would abandon the previous host
	h, err := e.openHost(e.session)
	if err != nil {
		return err
	}
	e.host, e.slots = h, [numSlots]slotState{}
	p := e.plugin
	e.cleanup = runtime.AddCleanup(e, func(h host) { panics.Guard(p.recordPanic, h.abandon)() }, h)
	if err := h.create(); err != nil {
		e.closeHost()
		return err
	}
	return nil
}

// closeHost closes the host; the next call opens a new one.
func (e *codec) closeHost() {
	if e.host != nil {
		e.cleanup.Stop() // otherwise the cleanup would keep the memory of the host in use
		e.host.close()
		e.host = nil
	}
}

// call assigns slots to the frames of c, which sets the slot fields of c, and makes the call. It opens a host
// if none is open.
func (e *codec) call(c *call) (*answer, error) {
	if e.host == nil {
		if err := e.startHost(); err != nil {
			return nil, err
		}
	}
	e.calls++
	for i := range c.refs {
		m, _ := c.refs[i].Memo.(*memo)
		c.refSlots[i], c.sendRef[i] = e.assignSlot(m, c.refSlots[:i])
	}
	c.curSlot = e.leastRecentlyUsed(c.refSlots[:len(c.refs)])
	e.slots[c.curSlot] = slotState{lastCall: e.calls}
	return e.host.perform(c)
}

// assignSlot returns the slot for a reference with memo m. send is true if no slot contains the reference;
// it is then to be sent into the returned slot, the least recently used one except for those in exclude.
// m is nil for a reference without a memo, which is always sent.
func (e *codec) assignSlot(m *memo, exclude []int) (slot int, send bool) {
	id := uint64(0)
	if m != nil {
		id = m.id
		for k := range e.slots {
			if e.slots[k].memoID == id {
				e.slots[k].lastCall = e.calls
				return k, false
			}
		}
	}
	slot = e.leastRecentlyUsed(exclude)
	e.slots[slot] = slotState{id, e.calls}
	return slot, true
}

// leastRecentlyUsed returns the slot that was used least recently, except for those in exclude, which has
// at most 2 elements.
func (e *codec) leastRecentlyUsed(exclude []int) int {
	best := -1
	for i := range e.slots {
		if (len(exclude) > 0 && exclude[0] == i) || (len(exclude) > 1 && exclude[1] == i) {
			continue
		}
		if best < 0 || e.slots[i].lastCall < e.slots[best].lastCall {
			best = i
		}
	}
	return best
}

// Encode implements encoders.Encoder. After an error the next call has a new host. After maxLateCalls calls
// that exceeded the timeout, the plugin is no longer called.
func (e *codec) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := e.lateCalls.check(); err != nil {
		return dst, nil, err
	}
	out, m, err := e.encode(dst, cur, refs, spare, b)
	e.lateCalls.record(err)
	if err != nil {
		e.closeHost()
	}
	return out, m, err
}

// encode encodes cur and appends the packet to dst. If the codec quantises, encode replaces cur by the
// frame that the receiver will decode. spare is a memo that encode may reuse for its result, or
// nil. The bits are charged to b unless b is nil.
func (e *codec) encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if len(cur.Table) != e.schema.Cells() {
		return dst, nil, fmt.Errorf("frame has %d values, expected %d", len(cur.Table), e.schema.Cells())
	}
	c := call{kind: encodeCall, cur: cur, refs: refs, wantBits: b != nil}
	a, err := e.call(&c)
	if err == nil && a.code != 0 {
		err = e.plugin.callError(a.callName, "returned %s%s", codeName(a.code), withReason(a.reason))
	}
	if err != nil {
		return dst, nil, err
	}
	if e.desc.quantises() {
		if err := e.storeFrame(&c, a, cur); err != nil {
			return dst, nil, e.plugin.callError(a.callName, "%w", err)
		}
	}
	if b != nil {
		chargeBits(b, len(a.packet), len(e.schema.Fields), a.bits)
	}
	return append(dst, a.packet...), e.newMemo(c.curSlot, a.memo, spare), nil
}

// chargeBits charges the bits of a packet of size bytes to b as the plugin reports them in raw: one
// 32-bit number in 1/1024 bit for each field, then one for everything else. fields is the number of fields of
// the schema. The sum is limited to the size of the packet. If nothing is reported, the packet is charged as
// body; b.Close then charges what is left of a packet that was reported in part.
func chargeBits(b *encoders.Budget, size, fields int, raw []byte) {
	before := b.Total()
	remaining := int64(size) * 8 * encoders.BitUnit
	for i := range min(fields+1, len(raw)/4) {
		// The plugin reports 1/1024 bits; a budget has BitUnit units per bit.
		units := min(int64(binary.LittleEndian.Uint32(raw[4*i:]))*(encoders.BitUnit/1024), remaining)
		remaining -= units
		slot := encoders.SlotFlags
		if i < fields {
			slot = encoders.FieldSlot(i)
		}
		b.AddUnits(slot, units) // not in a trace: the plugin does not report where the bits are
	}
	if remaining == int64(size)*8*encoders.BitUnit { // nothing was reported
		b.AddUnits(encoders.SlotBody, remaining)
	}
	b.Close(before, size)
}

// Decode implements encoders.Decoder. A call that violates the contract counts as a corrupt payload. After several
// calls in a row that exceeded the timeout, the plugin is no longer called: see lateCalls.
func (e *codec) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if err := e.lateCalls.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	m, err := e.decode(dst, src, refs, spare)
	e.lateCalls.record(err)
	if errors.Is(err, encoders.ErrBroken) {
		e.closeHost()
		err = fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	return m, err
}

// decode decodes src into dst. spare is a memo that decode may reuse for its result, nil if there is
// none.
func (e *codec) decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if len(src) > maxPacket {
		return nil, fmt.Errorf("%w: packet of %d bytes, expected at most %d", encoders.ErrCorrupt, len(src), maxPacket)
	}
	c := call{kind: decodeCall, cur: dst, packet: src, refs: refs}
	a, err := e.call(&c)
	switch {
	case err != nil:
		return nil, err
	case a.code == codeTruncated:
		return nil, fmt.Errorf("%w: plugin %s%s", encoders.ErrTruncated, e.plugin.Name(), withReason(a.reason))
	case a.code != 0:
		return nil, fmt.Errorf("%w: plugin %s returned %s%s", encoders.ErrCorrupt, e.plugin.Name(), codeName(a.code), withReason(a.reason))
	}
	if err := e.storeFrame(&c, a, dst); err != nil {
		return nil, err
	}
	return e.newMemo(c.curSlot, a.memo, spare), nil
}

// storeFrame replaces f by the frame in the plugin's answer a, and checks that its values are valid in the
// schema. Rows that equal those of the newest reference are not checked again.
func (e *codec) storeFrame(c *call, a *answer, f *frame.Frame) error {
	f.Body = append(f.Body[:0], a.body...)
	getInt32s(f.Table, a.table)
	if err := e.schema.CheckChanged(f, c.refs[0].Frame); err != nil {
		return fmt.Errorf("%w: plugin %s: %s: %w", encoders.ErrCorrupt, e.plugin.Name(), a.callName, err)
	}
	return nil
}

// newMemo returns a memo with the given data and a new ID for the frame in a slot. It reuses spare unless
// spare is nil.
func (e *codec) newMemo(slot int, data []byte, spare encoders.Memo) encoders.Memo {
	m, _ := spare.(*memo)
	if m == nil {
		m = &memo{}
	}
	m.id, m.data = e.plugin.lastMemoID.Add(1), append(m.data[:0], data...)
	e.slots[slot].memoID = m.id
	return m
}

// withReason returns the text to append to an error: ": " and text, or "" if text is empty.
func withReason(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// Return codes of wirelab.h: WL_TRUNCATED, WL_CORRUPT and WL_REFUSED. 0 is WL_OK.
const (
	codeTruncated = -1
	codeCorrupt   = -2
	codeRefused   = -3
)

// codeName returns the name of a return code in wirelab.h, or the number of an unknown code.
func codeName(code int32) string {
	switch code {
	case codeTruncated:
		return "WL_TRUNCATED"
	case codeCorrupt:
		return "WL_CORRUPT"
	case codeRefused:
		return "WL_REFUSED"
	}
	return fmt.Sprint(code)
}

// littleEndian is whether this machine stores integers in the byte order of WebAssembly.
var littleEndian = *(*byte)(unsafe.Pointer(&[]uint16{1}[0])) == 1

// putInt32s stores the values of src in dst, little-endian, 4 bytes each.
func putInt32s(dst []byte, src []int32) {
	if littleEndian && len(src) > 0 {
		copy(dst, unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), 4*len(src)))
		return
	}
	for i, v := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
	}
}

// getInt32s loads values into dst from src, little-endian, 4 bytes each.
func getInt32s(dst []int32, src []byte) {
	if littleEndian && len(dst) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)), src)
		return
	}
	for i := range dst {
		dst[i] = int32(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// errLate means that a call exceeded Options.Timeout. Errors that wrap it append the duration to its text.
var errLate = errors.New("took longer than")

// maxLateCalls is the number of consecutive calls that may exceed the timeout. After that the plugin is no
// longer called, because the session would wait for the timeout with every frame.
const maxLateCalls = 3

// lateCalls counts consecutive calls that exceeded the timeout.
type lateCalls struct {
	count   int
	lastErr error
}

// check returns an error if the last maxLateCalls calls exceeded the timeout, so that the plugin must no
// longer be called.
func (p *lateCalls) check() error {
	if p.count < maxLateCalls {
		return nil
	}
	return fmt.Errorf("%w, %d times in a row: no further calls", p.lastErr, p.count)
}

// record counts a call that returned err, which may be nil. A call within the timeout resets the count.
func (p *lateCalls) record(err error) {
	if !errors.Is(err, errLate) {
		p.count = 0
		return
	}
	p.count, p.lastErr = p.count+1, err
}
