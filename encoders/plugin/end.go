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
	packetRoom = 65_536 // bytes of a packet
	numSlots   = 16     // frames that a plugin keeps: the references of most packets
)

// memo is the memo of a frame: the bytes of the plugin's memo, and a number that identifies the frame.
type memo struct {
	id   uint64
	data []byte
}

// session holds what a plugin is created with.
type session struct {
	plugin *Plugin
	codec  *description
	schema frame.Schema
	params []float64
}

// bodyRoom returns the most bytes of a body that a plugin may decode.
func (s *session) bodyRoom() int {
	if s.schema.Rows == 0 {
		return packetRoom
	}
	return 64
}

// host runs the plugin's code for one end: a module instance or a process.
type host interface {
	create() error // passes schema and parameters to the plugin
	// claim prepares for a call; it returns false if the host has ended. release follows the call.
	claim() bool
	release()
	perform(c *call) (*answer, error) // makes a call; the answer is valid until the next one
	close()
	abandon() // closes it without waiting
}

// callKind is the kind of a call.
type callKind int

const (
	encodeCall callKind = iota
	decodeCall
)

// call is a call of a plugin. Each frame has a slot, in which the plugin keeps it.
type call struct {
	kind    callKind
	cur     *frame.Frame // the frame to encode; of a decode only its tick counts
	packet  []byte       // to decode
	account bool         // the plugin reports what bits were spent on
	refs    []encoders.Ref
	slots   [2]int  // of refs
	send    [2]bool // whether the slot does not hold the reference yet
	into    int     // slot of cur
}

// answer is the result of a call. A code other than 0 is a refusal, with a reason.
type answer struct {
	call              string // its name, for errors
	code              int32
	why               string
	packet, bits      []byte // of an encode
	table, body, memo []byte // table and body: of a decode, or of an encoder that quantises
}

// held identifies the frame in a slot.
type held struct {
	id   uint64 // of its memo; 0 means none
	used uint64 // the last call that used it
}

// end is one end of a session with a plugin. A call that breaks the contract ends the host; the next
// call begins a new one, since all that lasts is in memos.
type end struct {
	*session
	open      func(*session) (host, error)
	host      host // nil: to be opened
	slots     [numSlots]held
	used      uint64 // calls so far
	patience  patience
	abandoned runtime.Cleanup // closes the host when the end is garbage
}

// newEnd creates an end.
func (p *Plugin) newEnd(d *description, s *frame.Schema, params any) (*end, error) {
	e := &end{session: &session{plugin: p, codec: d, schema: *s, params: values(params)}, open: newModule}
	if p.Runs == Process {
		e.open = newProcessHost
	}
	if err := e.begin(); err != nil {
		return nil, err
	}
	e.host.release()
	return e, nil
}

// begin opens a host and claims it.
func (e *end) begin() error {
	e.abandoned.Stop()
	h, err := e.open(e.session)
	if err != nil {
		return err
	}
	e.host, e.slots = h, [numSlots]held{}
	p := e.plugin
	e.abandoned = runtime.AddCleanup(e, func(h host) { panics.Guard(p.recordPanic, h.abandon)() }, h)
	if err := h.create(); err != nil {
		e.closeHost()
		return err
	}
	return nil
}

// closeHost closes the host; the next call opens a new one.
func (e *end) closeHost() {
	if e.host != nil {
		e.abandoned.Stop() // the cleanup would keep the host's memory
		e.host.close()
		e.host = nil
	}
}

// call makes a call about frame cur with a host that is opened if necessary.
func (e *end) call(c *call) (*answer, error) {
	if e.host == nil || !e.host.claim() {
		if err := e.begin(); err != nil {
			return nil, err
		}
	}
	defer e.host.release()
	e.used++
	for i := range c.refs {
		m, _ := c.refs[i].Memo.(*memo)
		c.slots[i], c.send[i] = e.place(m, c.slots[:i])
	}
	c.into = e.oldest(c.slots[:len(c.refs)])
	e.slots[c.into] = held{used: e.used}
	return e.host.perform(c)
}

// place returns the slot of a reference with memo m, other than those in not, and whether the
// reference has to be sent.
func (e *end) place(m *memo, not []int) (slot int, send bool) {
	id := uint64(0)
	if m != nil {
		id = m.id
		for k := range e.slots {
			if e.slots[k].id == id {
				e.slots[k].used = e.used
				return k, false
			}
		}
	}
	slot = e.oldest(not)
	e.slots[slot] = held{id, e.used}
	return slot, true
}

// oldest returns the slot that was used least recently, other than those in not.
func (e *end) oldest(not []int) int {
	best := -1
	for i := range e.slots {
		if (len(not) > 0 && not[0] == i) || (len(not) > 1 && not[1] == i) {
			continue
		}
		if best < 0 || e.slots[i].used < e.slots[best].used {
			best = i
		}
	}
	return best
}

// Encode implements encoders.Encoder.
func (e *end) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := e.patience.over(); err != nil {
		return dst, nil, err
	}
	out, m, err := e.encode(dst, cur, refs, spare, b)
	e.patience.note(err)
	if err != nil {
		e.closeHost()
	}
	return out, m, err
}

// encode encodes cur and appends the packet to dst. If the codec quantises, encode replaces cur by the
// frame that the receiver will decode. spare is a memo that encode may reuse for its result, nil if
// there is none. The bits are charged to b unless b is nil.
func (e *end) encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if len(cur.Table) != e.schema.Cells() {
		return dst, nil, fmt.Errorf("a frame of %d values, expected %d", len(cur.Table), e.schema.Cells())
	}
	c := call{kind: encodeCall, cur: cur, refs: refs, account: b != nil}
	a, err := e.call(&c)
	if err == nil && a.code != 0 {
		err = e.plugin.broken(a.call, "it answers %s%s", answerName(a.code), because(a.why))
	}
	if err != nil {
		return dst, nil, err
	}
	if e.codec.quantises() {
		if err := e.storeFrame(&c, a, cur); err != nil {
			return dst, nil, e.plugin.broken(a.call, "%w", err)
		}
	}
	if b != nil {
		charge(b, len(a.packet), len(e.schema.Fields), a.bits)
	}
	return append(dst, a.packet...), e.remember(c.into, a.memo, spare), nil
}

// charge charges to b what a plugin reports that its bits were spent on, as far as that can be
// true: numbers of 32 bits, one for each field and then one for all else.
func charge(b *encoders.Budget, size, fields int, raw []byte) {
	before := b.Total()
	left := int64(size) * 8 * encoders.BitUnit
	for i := range min(fields+1, len(raw)/4) {
		units := min(int64(binary.LittleEndian.Uint32(raw[4*i:]))*(encoders.BitUnit/1024), left)
		left -= units
		k := encoders.SlotFlags
		if i < fields {
			k = encoders.FieldSlot(i)
		}
		b.Charge(k, units)
	}
	if left == int64(size)*8*encoders.BitUnit { // it reports nothing
		b.Charge(encoders.SlotBody, left)
	}
	b.Close(before, size)
}

// Decode implements encoders.Decoder. What breaks the contract counts as a corrupt payload: the
// next one gets a new host.
func (e *end) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if err := e.patience.over(); err != nil {
		return nil, fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	m, err := e.decode(dst, src, refs, spare)
	e.patience.note(err)
	if errors.Is(err, encoders.ErrBroken) {
		e.closeHost()
		err = fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	return m, err
}

// decode decodes src into dst. spare is a memo that decode may reuse for its result, nil if there is
// none.
func (e *end) decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if len(src) > packetRoom {
		return nil, fmt.Errorf("%w: %d bytes, expected at most %d", encoders.ErrCorrupt, len(src), packetRoom)
	}
	c := call{kind: decodeCall, cur: dst, packet: src, refs: refs}
	a, err := e.call(&c)
	switch {
	case err != nil:
		return nil, err
	case a.code == -1:
		return nil, fmt.Errorf("%w: plugin %s%s", encoders.ErrTruncated, e.plugin.Name(), because(a.why))
	case a.code != 0:
		return nil, fmt.Errorf("%w: plugin %s answers %s%s", encoders.ErrCorrupt, e.plugin.Name(), answerName(a.code), because(a.why))
	}
	if err := e.storeFrame(&c, a, dst); err != nil {
		return nil, err
	}
	return e.remember(c.into, a.memo, spare), nil
}

// storeFrame replaces f by the frame in the plugin's answer, and checks it against the first
// reference of the call.
func (e *end) storeFrame(c *call, a *answer, f *frame.Frame) error {
	f.Body = append(f.Body[:0], a.body...)
	fromBytes(f.Table, a.table)
	if err := e.schema.CheckSince(f, c.refs[0].Frame); err != nil {
		return fmt.Errorf("%w: plugin %s: %s: %w", encoders.ErrCorrupt, e.plugin.Name(), a.call, err)
	}
	return nil
}

// remember returns a memo for the frame in a slot, with a new number. It reuses spare unless that is
// nil.
func (e *end) remember(slot int, data []byte, spare encoders.Memo) encoders.Memo {
	m, _ := spare.(*memo)
	if m == nil {
		m = &memo{}
	}
	m.id, m.data = e.plugin.named.Add(1), append(m.data[:0], data...)
	e.slots[slot].id = m.id
	return m
}

// because returns ": " and the text, "" if that is empty.
func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func answerName(code int32) string {
	switch code {
	case -1:
		return "WL_TRUNCATED"
	case -2:
		return "WL_CORRUPT"
	case -3:
		return "WL_REFUSED"
	}
	return fmt.Sprint(code)
}

// littleEndian reports whether numbers lie in memory as in a module's.
var littleEndian = *(*byte)(unsafe.Pointer(&[]uint16{1}[0])) == 1

// toBytes copies values into a module's memory, 4 bytes each.
func toBytes(dst []byte, src []int32) {
	if littleEndian && len(src) > 0 {
		copy(dst, unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), 4*len(src)))
		return
	}
	for i, v := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
	}
}

// fromBytes copies values out of it.
func fromBytes(dst []int32, src []byte) {
	if littleEndian && len(dst) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)), src)
		return
	}
	for i := range dst {
		dst[i] = int32(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// errLate means that a call was ended because of its time.
var errLate = errors.New("took longer than")

// maxLate is the number of calls in a row that may be ended because of their time. Each takes the
// whole timeout, and a user would wait for every single frame.
const maxLate = 3

// patience counts the late calls in a row.
type patience struct {
	late int
	last error
}

// over returns an error if no more calls are made.
func (p *patience) over() error {
	if p.late < maxLate {
		return nil
	}
	return fmt.Errorf("%w, %d times in a row: it is not asked again", p.last, p.late)
}

// note counts the result of a call.
func (p *patience) note(err error) {
	if !errors.Is(err, errLate) {
		p.late = 0
		return
	}
	p.late, p.last = p.late+1, err
}
