package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/panics"
)

// writer appends what messages are made of.
type writer []byte

func message() writer          { return make(writer, headerSize) } // the header is written when it is sent
func (w *writer) u32(v uint32) { *w = binary.LittleEndian.AppendUint32(*w, v) }
func (w *writer) f64(v float64) {
	*w = binary.LittleEndian.AppendUint64(*w, math.Float64bits(v))
}
func (w *writer) bytes(b []byte) {
	w.u32(uint32(len(b)))
	*w = append(*w, b...)
}
func (w *writer) table(t []int32) {
	n := len(*w)
	*w = append(*w, make([]byte, 4*len(t))...)
	toBytes((*w)[n:], t)
}

// reader takes them apart. Once something is missing all is zero.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.left) {
		r.bad, r.left = true, nil
		return nil
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) f64() float64 {
	if b := r.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// bytes reads at most limit bytes with their number before them.
func (r *reader) bytes(limit int) []byte {
	n := r.u32()
	if uint64(n) > uint64(limit) {
		r.bad, r.left = true, nil
		return nil
	}
	return r.take(int(n))
}

func (r *reader) text() string { return string(r.bytes(maxText)) }

// table reads as many values as there are.
func (r *reader) table(t []int32) {
	if b := r.take(4 * len(t)); b != nil {
		fromBytes(t, b)
	}
}

// end says whether all was read, and no more is there.
func (r *reader) end() error {
	if r.bad || len(r.left) > 0 {
		return fmt.Errorf("%w: what it says is too short or too long, or has a part that is too long", errNonsense)
	}
	return nil
}

// describeProcess asks a process what encoders it has.
func (p *Plugin) describeProcess() (list []description, err error) {
	x, err := p.start()
	if err != nil {
		return nil, err
	}
	defer x.leave()
	m := message()
	m.u32(ABI)
	code, answer, err := x.ask("describe", askDescribe, m, maxDescription)
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return nil, fmt.Errorf("%w: describe: it answers %s%s", ErrContract, answerName(code), because(printable(string(answer))))
	}
	r := &reader{left: answer}
	if abi := r.u32(); abi != ABI {
		return nil, fmt.Errorf("%w: it is for version %d of it, expected %d", ErrContract, abi, ABI)
	}
	n := r.u32()
	if n > maxCodecs {
		return nil, fmt.Errorf("%w: it has %d encoders, expected at most %d", ErrContract, n, maxCodecs)
	}
	for i := range int(n) {
		d := description{index: i, name: r.text(), summary: r.text(), source: r.text(), refs: r.u32(), suits: r.u32(), flags: r.u32(), memoRoom: r.u32()}
		params := r.u32()
		if params > maxParams {
			return nil, fmt.Errorf("%w: encoder %d: %w", ErrContract, i, tooManyParams(params))
		}
		for range int(params) {
			d.params = append(d.params, param{name: r.text(), help: r.text(), unit: r.text(), kind: int(int32(r.u32())), initial: r.f64(), min: r.f64(), max: r.f64()})
		}
		list = append(list, d)
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%w: describe: %w", ErrContract, err)
	}
	return list, nil
}

// heldFrame is a frame that a process has in one of its slots.
type heldFrame struct {
	id   uint64 // of its memo; 0: of none
	used uint64 // when, in calls
}

// processEnd is one end of a session in a process of its own. A call that breaks it ends the
// process; the next call begins a new one.
type processEnd struct {
	plugin    *Plugin
	codec     *description
	quantises bool
	schema    frame.Schema
	params    []float64

	x     *process // nil: it is to be started
	slots [numSlots]heldFrame
	used  uint64
	buf   writer

	patience
	abandoned runtime.Cleanup // what ends the process if nobody has the end any more
}

func (p *Plugin) newProcessEnd(d *description, s *frame.Schema, params any) (*processEnd, error) {
	e := &processEnd{plugin: p, codec: d, quantises: d.flags&quantises != 0, schema: *s, params: values(params)}
	if err := e.begin(); err != nil {
		return nil, err
	}
	e.x.letGo()
	return e, nil
}

// begin starts a process and takes it.
func (e *processEnd) begin() error {
	x, err := e.plugin.start()
	if err != nil {
		return err
	}
	e.abandoned.Stop()
	e.x, e.slots = x, [numSlots]heldFrame{}
	e.abandoned = runtime.AddCleanup(e, func(x *process) { go panics.Guard(x.fail, x.leave)() }, x)
	if err := e.create(); err != nil {
		e.fail()
		return err
	}
	return nil
}

// fail gives the process up.
func (e *processEnd) fail() {
	if e.x != nil {
		e.abandoned.Stop()
		e.x.end()
		e.x = nil
	}
}

// create passes schema and params on.
func (e *processEnd) create() error {
	s := &e.schema
	m := message()
	m.u32(uint32(e.codec.index))
	m.bytes([]byte(s.Name))
	m.u32(uint32(s.Rows))
	m.u32(uint32(s.TickHz))
	m.u32(uint32(len(s.Fields)))
	for i := range s.Fields {
		f := &s.Fields[i]
		m.bytes([]byte(f.Name))
		m.u32(uint32(f.Kind))
		m.u32(uint32(f.Min))
		m.u32(uint32(f.Max))
		m.u32(math.Float32bits(float32(f.Step())))
	}
	m.u32(uint32(len(e.params)))
	for _, v := range e.params {
		m.f64(v)
	}
	code, answer, err := e.x.ask("create", askCreate, m, maxText)
	if err == nil && code != 0 {
		err = fmt.Errorf("plugin %s: %s does not take %s%s", e.plugin.Name(), e.codec.name, s.Name, because(printable(string(answer))))
	}
	return err
}

// prepare takes the process and begins the message of a call.
func (e *processEnd) prepare() (err error) {
	if e.x == nil || !e.x.take() {
		if err := e.begin(); err != nil {
			return err
		}
	}
	e.used++
	e.buf = append(e.buf[:0], make([]byte, headerSize)...)
	return nil
}

// references puts the slot for the frame itself and the references into the message: those
// that the process has by slot, others whole.
func (e *processEnd) references(refs []encoders.Ref) (into int) {
	var slots [2]int
	var whole [2]bool
	for i := range refs {
		m, _ := refs[i].Memo.(*memo)
		slots[i], whole[i] = -1, true
		for k := range e.slots {
			if m != nil && e.slots[k].id == m.id {
				slots[i], whole[i] = k, false
			}
		}
		if slots[i] < 0 {
			slots[i] = e.oldest(slots[:i])
			e.slots[slots[i]].id = 0
			if m != nil {
				e.slots[slots[i]].id = m.id
			}
		}
		e.slots[slots[i]].used = e.used
	}
	into = e.oldest(slots[:len(refs)])
	e.slots[into] = heldFrame{used: e.used}
	w := &e.buf
	w.u32(uint32(into))
	w.u32(uint32(len(refs)))
	for i := range refs {
		w.u32(uint32(slots[i]))
		w.u32(refs[i].Frame.Tick)
		if !whole[i] {
			w.u32(0)
			continue
		}
		w.u32(1)
		w.table(refs[i].Frame.Table)
		w.bytes(refs[i].Frame.Body)
		var data []byte
		if m, _ := refs[i].Memo.(*memo); m != nil {
			data = m.data
		}
		w.bytes(data)
	}
	return into
}

// oldest returns the slot that was used least recently, but for some.
func (e *processEnd) oldest(not []int) int {
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

// bodyRoom is the most bytes of a body.
func (e *processEnd) bodyRoom() int {
	if e.schema.Rows == 0 {
		return packetRoom
	}
	return 64
}

// answerRoom is the most bytes of an answer.
func (e *processEnd) answerRoom() int {
	return max(4*(e.schema.Cells()+len(e.schema.Fields)+8)+packetRoom+e.bodyRoom()+int(e.codec.memoRoom), maxText)
}

// Encode implements encoders.Encoder.
func (e *processEnd) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := e.over(); err != nil {
		return dst, nil, err
	}
	if err := e.prepare(); err != nil {
		return dst, nil, err
	}
	defer e.done()
	out, m, err := e.encode(dst, cur, refs, spare, b)
	e.note(err)
	if err != nil {
		e.fail()
	}
	return out, m, err
}

// done lets the process go, if it is still there.
func (e *processEnd) done() {
	if e.x != nil {
		e.x.letGo()
	}
}

func (e *processEnd) encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if len(cur.Table) != e.schema.Cells() {
		return dst, nil, fmt.Errorf("a frame of %d values, expected %d", len(cur.Table), e.schema.Cells())
	}
	into := e.references(refs)
	w := &e.buf
	w.u32(cur.Tick)
	w.table(cur.Table)
	w.bytes(cur.Body)
	wanted := uint32(0)
	if b != nil {
		wanted = 1
	}
	w.u32(wanted)
	code, answer, err := e.x.ask("encode", askEncode, *w, e.answerRoom())
	if err == nil && code != 0 {
		err = fmt.Errorf("plugin %s: %w: encode: it answers %s%s", e.plugin.Name(), encoders.ErrBroken, answerName(code), because(printable(string(answer))))
	}
	if err != nil {
		return dst, nil, err
	}
	r := &reader{left: answer}
	packet, data := r.bytes(packetRoom), r.bytes(int(e.codec.memoRoom))
	bits := r.take(4 * int(min(r.u32(), uint32(len(e.schema.Fields)+1))))
	if e.quantises {
		if err := e.get(r, cur, refs[0].Frame); err != nil {
			return dst, nil, e.broken("encode", err)
		}
	}
	if err := r.end(); err != nil {
		return dst, nil, e.broken("encode", err)
	}
	if b != nil {
		charge(b, len(packet), len(e.schema.Fields), bits)
	}
	return append(dst, packet...), e.remember(into, data, spare), nil
}

// Decode implements encoders.Decoder. What breaks the process counts as a payload that is
// corrupt: the next one gets a new process.
func (e *processEnd) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if err := e.over(); err != nil {
		return nil, fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	if err := e.prepare(); err != nil {
		return nil, fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	defer e.done()
	m, err := e.decode(dst, src, refs, spare)
	e.note(err)
	if errors.Is(err, encoders.ErrBroken) {
		e.fail()
		err = fmt.Errorf("%w: %w", encoders.ErrCorrupt, err)
	}
	return m, err
}

func (e *processEnd) decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if len(src) > packetRoom {
		return nil, fmt.Errorf("%w: %d bytes, expected at most %d", encoders.ErrCorrupt, len(src), packetRoom)
	}
	into := e.references(refs)
	e.buf.u32(dst.Tick)
	e.buf.bytes(src)
	code, answer, err := e.x.ask("decode", askDecode, e.buf, e.answerRoom())
	switch {
	case err != nil:
		return nil, err
	case code == -1:
		return nil, fmt.Errorf("%w: plugin %s%s", encoders.ErrTruncated, e.plugin.Name(), because(printable(string(answer))))
	case code != 0:
		return nil, fmt.Errorf("%w: plugin %s answers %s%s", encoders.ErrCorrupt, e.plugin.Name(), answerName(code), because(printable(string(answer))))
	}
	r := &reader{left: answer}
	if err := e.get(r, dst, refs[0].Frame); err != nil {
		return nil, err
	}
	data := r.bytes(int(e.codec.memoRoom))
	if err := r.end(); err != nil {
		return nil, e.broken("decode", err)
	}
	return e.remember(into, data, spare), nil
}

func (e *processEnd) broken(call string, err error) error {
	return fmt.Errorf("plugin %s: %w: %s: %w", e.plugin.Name(), encoders.ErrBroken, call, err)
}

// get reads a frame. base is a reference.
func (e *processEnd) get(r *reader, f, base *frame.Frame) error {
	r.table(f.Table)
	f.Body = append(f.Body[:0], r.bytes(e.bodyRoom())...)
	if r.bad {
		return e.broken("the frame", errNonsense)
	}
	if err := e.schema.CheckSince(f, base); err != nil {
		return fmt.Errorf("%w: plugin %s: %w", encoders.ErrCorrupt, e.plugin.Name(), err)
	}
	return nil
}

// remember names a frame that is in a slot now.
func (e *processEnd) remember(into int, data []byte, spare encoders.Memo) encoders.Memo {
	m, _ := spare.(*memo)
	if m == nil {
		m = &memo{}
	}
	m.id, m.data = e.plugin.named.Add(1), append(m.data[:0], data...)
	e.slots[into].id = m.id
	return m
}
