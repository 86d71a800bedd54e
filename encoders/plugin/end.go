package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/panics"
)

const (
	packetRoom = 65_536
	numSlots   = 16 // frames that the module has at hand: the references of most packets
	frameWords = 8
	callWords  = 3*frameWords + 5
)

// memo is what was attached to a frame: the bytes of the module's, and a name by which its
// frame is known.
type memo struct {
	id   uint64
	data []byte
}

// slot is room for a frame in the module's memory.
type slot struct {
	table, body, memo  uint32 // addresses
	bodyRoom           int
	tick               uint32
	bodySize, memoSize int
	id                 uint64 // of the memo of the frame that it holds; 0: of none
	used               uint64 // when, in calls
}

// end is one end of a session: a wl_end, in an instance of its own. A call that breaks it
// ends the instance; the next call begins a new one, since all that lasts is in memos.
type end struct {
	plugin    *Plugin
	codec     *description
	quantises bool
	schema    frame.Schema
	params    []float64

	*instance
	self, call, packet, bits uint32 // addresses
	slots                    [numSlots]slot
	used                     uint64

	patience
	abandoned runtime.Cleanup // what closes the instance if nobody has the end any more
}

// newEnd creates an end.
func (p *Plugin) newEnd(d *description, s *frame.Schema, params any) (*end, error) {
	e := &end{plugin: p, codec: d, quantises: d.flags&quantises != 0, schema: *s, params: values(params)}
	return e, e.begin()
}

// begin makes the instance.
func (e *end) begin() error {
	x, err := e.plugin.instantiate()
	if err != nil {
		return err
	}
	e.instance, e.slots = x, [numSlots]slot{}
	e.abandoned = runtime.AddCleanup(e, func(x *instance) { panics.Guard(x.plugin.fail, x.close)() }, x)
	if err := e.create(); err != nil {
		e.fail()
		return err
	}
	return nil
}

// fail gives the instance up.
func (e *end) fail() {
	if e.instance != nil {
		e.abandoned.Stop() // or it would hold the memory of the instance
		e.instance.close()
		e.instance = nil
	}
}

// create passes schema and params to the module.
func (e *end) create() error {
	schema, err := e.schemaAt()
	if err != nil {
		return err
	}
	params, err := e.alloc(max(8*len(e.params), 8))
	if err != nil {
		return err
	}
	for i, v := range e.params {
		e.memory.WriteFloat64Le(params+uint32(8*i), v)
	}
	for _, x := range []struct {
		at   *uint32
		size int
	}{{&e.call, 4 * callWords}, {&e.packet, packetRoom}, {&e.bits, 4 * (len(e.schema.Fields) + 1)}} {
		if *x.at, err = e.alloc(x.size); err != nil {
			return err
		}
	}
	if e.self, err = e.instance.call("wl_create", uint32(e.codec.index), schema, params); err != nil {
		return err
	}
	if e.self == 0 {
		return fmt.Errorf("plugin %s: %s does not take %s%s", e.plugin.Name(), e.codec.name, e.schema.Name, because(e.why()))
	}
	return nil
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// schemaAt writes a wl_schema.
func (e *end) schemaAt() (uint32, error) {
	s := &e.schema
	texts := make([]byte, 0, 256)
	put := func(t string) int { texts = append(append(texts, t...), 0); return len(texts) - len(t) - 1 }
	name := put(s.Name)
	starts := make([]int, len(s.Fields))
	for i := range s.Fields {
		starts[i] = put(s.Fields[i].Name)
	}
	const head, field = 5 * 4, 5 * 4
	fields := head + 4
	at, err := e.alloc(fields + field*len(s.Fields) + len(texts))
	if err != nil {
		return 0, err
	}
	first := at + uint32(fields+field*len(s.Fields))
	words := []uint32{first + uint32(name), uint32(s.Rows), uint32(len(s.Fields)), uint32(s.TickHz), at + uint32(fields), 0}
	for i := range s.Fields {
		f := &s.Fields[i]
		words = append(words, first+uint32(starts[i]), uint32(f.Kind), uint32(f.Min), uint32(f.Max), math.Float32bits(float32(f.Step())))
	}
	for i, w := range words {
		e.memory.WriteUint32Le(at+uint32(4*i), w)
	}
	e.memory.Write(first, texts)
	return at, nil
}

// hold returns the slot of a reference, bringing it into the module if it is not there.
func (e *end) hold(r *encoders.Ref, held *slot) (*slot, error) {
	m, _ := r.Memo.(*memo)
	if m != nil {
		for i := range e.slots {
			if s := &e.slots[i]; s.id == m.id {
				s.used, s.tick = e.used, r.Frame.Tick
				return s, nil
			}
		}
	}
	s, err := e.free(held, nil)
	if err != nil {
		return nil, err
	}
	if err := e.put(s, r.Frame); err != nil {
		return nil, err
	}
	s.id, s.memoSize = 0, 0
	if m != nil {
		s.id, s.memoSize = m.id, len(m.data)
		e.memory.Write(s.memo, m.data)
	}
	return s, nil
}

// free returns the slot that was used least recently, but for two.
func (e *end) free(a, b *slot) (*slot, error) {
	var oldest *slot
	for i := range e.slots {
		if s := &e.slots[i]; s != a && s != b && (oldest == nil || s.used < oldest.used) {
			oldest = s
		}
	}
	oldest.used, oldest.id = e.used, 0
	if oldest.table == 0 {
		var err error
		if oldest.table, err = e.alloc(max(4*e.schema.Cells(), 8)); err != nil {
			return nil, err
		}
		if oldest.memo, err = e.alloc(max(int(e.codec.memoRoom), 8)); err != nil {
			return nil, err
		}
	}
	return oldest, nil
}

// put copies a frame into a slot.
func (e *end) put(s *slot, f *frame.Frame) error {
	if len(f.Table) != e.schema.Cells() {
		return fmt.Errorf("a frame of %d values, expected %d", len(f.Table), e.schema.Cells())
	}
	if err := e.bodyRoom(s, len(f.Body)); err != nil {
		return err
	}
	s.tick, s.bodySize = f.Tick, len(f.Body)
	if !e.memory.Write(s.body, f.Body) {
		return e.broken("memory", "shrank")
	}
	raw, ok := e.memory.Read(s.table, uint32(4*len(f.Table)))
	if !ok {
		return e.broken("memory", "shrank")
	}
	toBytes(raw, f.Table)
	return nil
}

// bodyRoom sees to room for a body. What was too small is lost to the module.
func (e *end) bodyRoom(s *slot, n int) (err error) {
	if n <= s.bodyRoom && s.body != 0 {
		return nil
	}
	s.bodyRoom = max(2*n, 64)
	s.body, err = e.alloc(s.bodyRoom)
	return err
}

// run writes a wl_call and makes it.
func (e *end) run(name string, cur *slot, refs []*slot, packet int, bits uint32) (code int32, err error) {
	words := make([]uint32, 0, callWords)
	for _, s := range append([]*slot{cur}, refs...) {
		words = append(words, s.tick, s.table, s.body, uint32(s.bodySize), uint32(s.bodyRoom), s.memo, uint32(s.memoSize), e.codec.memoRoom)
	}
	for len(words) < 3*frameWords {
		words = append(words, 0)
	}
	words = append(words, uint32(len(refs)), e.packet, uint32(packet), packetRoom, bits)
	raw, ok := e.memory.Read(e.call, 4*callWords)
	if !ok {
		return 0, e.broken("memory", "shrank")
	}
	for i, w := range words {
		binary.LittleEndian.PutUint32(raw[4*i:], w)
	}
	got, err := e.instance.call(name, e.self, e.call)
	return int32(got), err
}

// Encode implements encoders.Encoder.
func (e *end) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := e.over(); err != nil {
		return dst, nil, err
	}
	out, m, err := e.encode(dst, cur, refs, spare, b)
	e.note(err)
	if err != nil {
		e.fail()
	}
	return out, m, err
}

func (e *end) encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	held, here, err := e.prepare(refs)
	if err != nil {
		return dst, nil, err
	}
	if err := e.put(here, cur); err != nil {
		return dst, nil, err
	}
	var bits uint32
	if b != nil {
		bits = e.bits
		raw, _ := e.memory.Read(bits, uint32(4*(len(e.schema.Fields)+1)))
		clear(raw)
	}
	code, err := e.run("wl_encode", here, held, 0, bits)
	if err == nil && code != 0 {
		err = fmt.Errorf("plugin %s: %w: wl_encode: it answers %s%s", e.plugin.Name(), encoders.ErrBroken, answerName(code), because(e.why()))
	}
	if err != nil {
		return dst, nil, err
	}
	size, _ := e.memory.ReadUint32Le(e.call + 4*(3*frameWords+2))
	packet, ok := e.memory.Read(e.packet, size)
	if size > packetRoom || !ok {
		return dst, nil, e.broken("wl_encode", "it says that the packet has %d bytes, expected at most %d", size, packetRoom)
	}
	dst = append(dst, packet...)
	if e.quantises {
		if err := e.get("wl_encode", here, cur, refs[0].Frame); err != nil {
			return dst, nil, e.broken("wl_encode", "%w", err)
		}
	}
	if b != nil {
		raw, _ := e.memory.Read(e.bits, uint32(4*(len(e.schema.Fields)+1)))
		charge(b, int(size), len(e.schema.Fields), raw)
	}
	m, err := e.remember("wl_encode", here, spare)
	return dst, m, err
}

// charge takes over what a plugin says that its bits were spent on, as far as it can be
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
	if left == int64(size)*8*encoders.BitUnit { // it keeps no account
		b.Charge(encoders.SlotBody, left)
	}
	b.Close(before, size)
}

// Decode implements encoders.Decoder. What breaks the instance counts as a payload that is
// corrupt: the next one gets a new instance.
func (e *end) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if err := e.over(); err != nil {
		return nil, fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	m, err := e.decode(dst, src, refs, spare)
	e.note(err)
	if errors.Is(err, encoders.ErrBroken) {
		e.fail()
		err = fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	return m, err
}

func (e *end) decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	held, here, err := e.prepare(refs)
	if err != nil {
		return nil, err
	}
	if len(src) > packetRoom || !e.memory.Write(e.packet, src) {
		return nil, fmt.Errorf("%w: %d bytes, expected at most %d", encoders.ErrCorrupt, len(src), packetRoom)
	}
	here.tick, here.bodySize, here.memoSize = dst.Tick, 0, 0
	room := 64
	if e.schema.Rows == 0 {
		room = packetRoom
	}
	if err := e.bodyRoom(here, room); err != nil {
		return nil, err
	}
	code, err := e.run("wl_decode", here, held, len(src), 0)
	switch {
	case err != nil:
		return nil, err
	case code == -1:
		return nil, fmt.Errorf("%w: plugin %s%s", encoders.ErrTruncated, e.plugin.Name(), because(e.why()))
	case code != 0:
		return nil, fmt.Errorf("%w: plugin %s answers %s%s", encoders.ErrCorrupt, e.plugin.Name(), answerName(code), because(e.why()))
	}
	if err := e.get("wl_decode", here, dst, refs[0].Frame); err != nil {
		return nil, err
	}
	return e.remember("wl_decode", here, spare)
}

// prepare brings the references into the module, and returns their slots and one for the
// frame itself.
func (e *end) prepare(refs []encoders.Ref) (held []*slot, here *slot, err error) {
	if e.instance == nil {
		if err := e.begin(); err != nil {
			return nil, nil, err
		}
	}
	e.used++
	var other *slot
	for i := range refs {
		s, err := e.hold(&refs[i], other)
		if err != nil {
			return nil, nil, err
		}
		held, other = append(held, s), s
	}
	if len(held) > 1 {
		here, err = e.free(held[0], held[1])
	} else {
		here, err = e.free(other, nil)
	}
	if err == nil {
		here.memoSize = 0
	}
	return held, here, err
}

// get copies a frame out of a slot, as the module says that it is. base is a reference.
func (e *end) get(call string, s *slot, f, base *frame.Frame) error {
	size, _ := e.memory.ReadUint32Le(e.call + 4*3)
	body, ok := e.memory.Read(s.body, size)
	if !ok || int(size) > s.bodyRoom {
		return e.broken(call, "it says that the body has %d bytes, expected at most %d", size, s.bodyRoom)
	}
	s.bodySize = int(size)
	f.Body = append(f.Body[:0], body...)
	raw, ok := e.memory.Read(s.table, uint32(4*len(f.Table)))
	if !ok {
		return e.broken("memory", "shrank")
	}
	fromBytes(f.Table, raw)
	if err := e.schema.CheckSince(f, base); err != nil {
		return fmt.Errorf("%w: plugin %s: %s: %w", encoders.ErrCorrupt, e.plugin.Name(), call, err)
	}
	return nil
}

// remember takes the memo out of a slot, and names its frame.
func (e *end) remember(call string, s *slot, spare encoders.Memo) (encoders.Memo, error) {
	size, _ := e.memory.ReadUint32Le(e.call + 4*6)
	raw, ok := e.memory.Read(s.memo, size)
	if !ok || size > e.codec.memoRoom {
		return nil, e.broken(call, "it says that the memo has %d bytes, expected at most %d", size, e.codec.memoRoom)
	}
	m, _ := spare.(*memo)
	if m == nil {
		m = &memo{}
	}
	m.id, m.data = e.plugin.named.Add(1), append(m.data[:0], raw...)
	s.id, s.memoSize = m.id, int(size)
	return m, nil
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

// littleEndian says whether numbers lie in memory as they do in a module's.
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
