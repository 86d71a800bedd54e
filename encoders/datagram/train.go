package datagram

import (
	"bytes"
	"context"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

// ackLag is how many datagrams back the newest acknowledged one is when a model for
// acknowledged datagrams is trained: 100 ms at 40 a second.
const ackLag = 4

// sample is a datagram to learn from.
type sample struct {
	data []byte
	clip int // the flow it is of
	fold int
}

// folds is how many parts the samples are dealt into: what was counted in the others says
// what a count is worth.
const folds = 8

// deal divides samples into folds: by clip if there are several, so that what is constant
// in one only is not trusted, otherwise by time.
func deal(list []sample) {
	last := list[len(list)-1].clip
	for i := range list {
		if list[i].fold = i * folds / len(list); last > 0 {
			list[i].fold = list[i].clip * folds / (last + 1)
		}
	}
}

// flow hands out what was acknowledged before each sample.
type flow struct {
	e    *end
	logs [ackLag + 2]log
	past log
	n    int
	clip int
}

func newFlow(m *Model) *flow { return &flow{e: newEnd(m, false), clip: -1} }

// before returns what was acknowledged when s was sent, and takes note of s. It holds
// until the next call.
func (f *flow) before(s *sample) *log {
	if !f.e.m.acked {
		return nil
	}
	if s.clip != f.clip {
		f.n, f.clip = 0, s.clip
	}
	at := func(back int) *log { return &f.logs[(f.n+len(f.logs)-back)%len(f.logs)] }
	last, before := &nothing, &nothing
	if f.n >= ackLag {
		last = at(ackLag)
	}
	if f.n > ackLag {
		before = at(ackLag + 1)
	}
	f.e.merger.merge(&f.past, last, before, nil, nil)
	f.e.add(at(0), &f.past, &frame.Frame{Tick: uint32(f.n), Body: s.data})
	f.n++
	return &f.past
}

// trainer makes a model.
type trainer struct {
	ctx     context.Context
	m       *Model
	samples []sample
	budget  int       // bytes that the file may have
	pieces  [][]piece // of each kind
	clocks  [][]clock // likewise
	step    func(what string, done, total int64)
}

// tell reports what is being done, and whether to go on.
func (t *trainer) tell(what string, done, total int) error {
	if t.step != nil {
		t.step(what, int64(done), int64(total))
	}
	return t.ctx.Err()
}

// run makes the model.
func (t *trainer) run(acked bool) (*Model, error) {
	m := &Model{kinds: []kind{{key: -1, clock: -1}}, acked: true, shift: maxShift, lines: make([]line, 1<<(32-maxShift))}
	t.m = m
	t.resize()
	for i, step := range []func(){
		t.findAnchors, t.findKeys, t.findLists, t.findKeys, t.findLayouts, t.findKeys,
		func() { m.acked = acked },
		t.findFields, t.findRecipes, t.learnWeights, t.learnLengths,
	} {
		if err := t.tell("learning", i, 11); err != nil {
			return nil, err
		}
		step()
	}
	return m, t.ctx.Err()
}

// resize makes room for the places of all kinds.
func (t *trainer) resize() {
	t.m.places = make([]place, len(t.m.kinds)*maxPlaces)
	for i := range t.m.places {
		t.m.places[i].field = -1
	}
	t.m.index()
}

// compared is a message with what it is compared with.
type compared struct {
	raw, units     []byte // as it was sent, and as it is coded
	now            uint32
	ref, ref2, any message
}

// messages cuts all samples, with the references that the model's keys give.
func (t *trainer) messages() [][]compared { return t.messagesOf(t.samples) }

func (t *trainer) messagesOf(samples []sample) [][]compared {
	out := make([][]compared, len(t.m.kinds))
	f, k := newFlow(t.m), newCoder(t.m, false)
	w := &k.w
	for i := range samples {
		data := samples[i].data
		var c compared
		kind, start, first := uint8(0), 0, 0
		note := func(end, done int) {
			if end > start {
				c.raw, c.units = data[start:end], bytes.Clone(w.units[history+first:history+done])
				c.ref, c.ref2, c.any = c.ref.clone(), c.ref2.clone(), c.any.clone()
				out[kind] = append(out[kind], c)
			}
		}
		k.follow(data, f.before(&samples[i]), func(byte, uint) {
			if w.start != start || w.kind != kind {
				note(w.start, w.first)
				kind, start, first = w.kind, w.start, w.first
			}
			c = compared{now: w.now, ref: w.ref, ref2: w.ref2, any: w.any}
		})
		note(len(data), w.done)
	}
	return out
}

func (m message) clone() message { return message{bytes.Clone(m.units), m.now} }

// bitsOf are logarithms of i+0.4 and i+0.8, in 1/1024: what adaptive counts cost.
var bitsOf, bitsOfAll = func() (a, b [4096]int32) {
	for i := range a {
		a[i] = int32((rangecoder.Log2(uint32(10*i+4)) - rangecoder.Log2(10)) >> 6)
		b[i] = int32((rangecoder.Log2(uint32(10*i+8)) - rangecoder.Log2(10)) >> 6)
	}
	return a, b
}()
