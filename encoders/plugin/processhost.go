package plugin

import (
	"encoding/binary"
	"fmt"
	"math"

	"wirelab/internal/panics"
)

// writer appends the parts of messages.
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

// reader reads the parts of messages. Once one is missing, all are zero.
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

// end returns an error unless exactly the whole message was read.
func (r *reader) end() error {
	if r.bad || len(r.left) > 0 {
		return fmt.Errorf("%w: what it says is too short or too long, or has a part that is too long", errNonsense)
	}
	return nil
}

// describeProcess requests the descriptions of a process's encoders.
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

// processHost is a host in a process of its own.
type processHost struct {
	*process
	of     *session
	buf    writer
	result answer
}

func newProcessHost(s *session) (host, error) {
	x, err := s.plugin.start()
	if err != nil {
		return nil, err
	}
	return &processHost{process: x, of: s}, nil
}

func (h *processHost) close()   { h.end() }
func (h *processHost) abandon() { go panics.Guard(h.fail, h.leave)() }

func (h *processHost) create() error {
	s := &h.of.schema
	m := message()
	m.u32(uint32(h.of.codec.index))
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
	m.u32(uint32(len(h.of.params)))
	for _, v := range h.of.params {
		m.f64(v)
	}
	code, answer, err := h.ask("create", askCreate, m, maxText)
	if err == nil && code != 0 {
		err = fmt.Errorf("plugin %s: %s does not take %s%s", h.plugin.Name(), h.of.codec.name, s.Name, because(printable(string(answer))))
	}
	return err
}

// answerRoom returns the most bytes of an answer.
func (h *processHost) answerRoom() int {
	s := h.of
	return max(4*(s.schema.Cells()+len(s.schema.Fields)+8)+packetRoom+s.bodyRoom()+int(s.codec.memoRoom), maxText)
}

// perform implements host. References that the process has are named by their slots; others
// follow with table, body and memo.
func (h *processHost) perform(c *call) (*answer, error) {
	h.buf = append(h.buf[:0], make([]byte, headerSize)...)
	w := &h.buf
	w.u32(uint32(c.into))
	w.u32(uint32(len(c.refs)))
	for i := range c.refs {
		w.u32(uint32(c.slots[i]))
		w.u32(c.refs[i].Frame.Tick)
		w.u32(flag(c.send[i]))
		if c.send[i] {
			w.table(c.refs[i].Frame.Table)
			w.bytes(c.refs[i].Frame.Body)
			var data []byte
			if m, _ := c.refs[i].Memo.(*memo); m != nil {
				data = m.data
			}
			w.bytes(data)
		}
	}
	w.u32(c.cur.Tick)
	kind, name := uint32(askDecode), "decode"
	if c.kind == encodeCall {
		kind, name = askEncode, "encode"
		w.table(c.cur.Table)
		w.bytes(c.cur.Body)
		w.u32(flag(c.account))
	} else {
		w.bytes(c.packet)
	}
	code, message, err := h.ask(name, kind, *w, h.answerRoom())
	if err != nil {
		return nil, err
	}
	a := &h.result
	*a = answer{call: name, code: code}
	if code != 0 {
		a.why = printable(string(message))
		return a, nil
	}
	r := &reader{left: message}
	if c.kind == encodeCall {
		a.packet, a.memo = r.bytes(packetRoom), r.bytes(int(h.of.codec.memoRoom))
		a.bits = r.take(4 * int(min(r.u32(), uint32(len(h.of.schema.Fields)+1))))
	}
	if c.kind == decodeCall || h.of.codec.quantises() {
		a.table, a.body = r.take(4*h.of.schema.Cells()), r.bytes(h.of.bodyRoom())
		if r.bad {
			return nil, h.plugin.broken("the frame", "%w", errNonsense)
		}
	}
	if c.kind == decodeCall {
		a.memo = r.bytes(int(h.of.codec.memoRoom))
	}
	if err := r.end(); err != nil {
		return nil, h.plugin.broken(name, "%w", err)
	}
	return a, nil
}

func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
