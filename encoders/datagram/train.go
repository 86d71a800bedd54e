package datagram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
)

// Bounds of what is learnt from, in datagrams, and of the file that is made of it.
const (
	mostSamples = 40_000
	quick       = 300
	defaultSize = 256 << 10
	smallest    = 32 << 10
)

// errFew means that there are too few datagrams to learn from.
var errFew = errors.New("too few datagrams to learn from")

// Trainers returns the trainers of models: one for each encoder.
func Trainers() []train.Trainer {
	list := []train.Trainer{{Encoder: "datagram"}, {Encoder: "datagram-acked"}}
	for i := range list {
		t := &list[i]
		acked := i == 1
		t.Folder, t.Model, t.Suits = "encoders/datagram", true, suits
		t.From, t.Per = "a capture, as packets:FILE.pcap", "byte"
		t.Train = func(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
			m, err := learnModel(ctx, job, log, acked)
			if err != nil {
				return nil, err
			}
			return []train.File{{Name: t.Encoder + ".model", Data: m.Bytes()}}, nil
		}
	}
	return list
}

// learnModel trains a model on clips of datagrams. The same clips give the same model on every
// machine, because all arithmetic is on integers.
func learnModel(ctx context.Context, job train.Job, log train.Log, acked bool) (*model, error) {
	t := &trainer{log: log, budget: defaultSize}
	if job.Size > 0 {
		t.budget = job.Size
	}
	if t.budget < smallest || t.budget > maxFile {
		return nil, fmt.Errorf("%w: %d bytes, expected %d to %d", train.ErrSize, t.budget, smallest, maxFile)
	}
	most := mostSamples / max(len(job.Clips), 1)
	if job.Quick {
		most = min(most, quick)
	}
	taken := make([]int, len(job.Clips))
	err := train.Frames(ctx, job.Clips, func(i int, f *frame.Frame) error {
		if len(f.Body) > 0 && taken[i] < most {
			t.samples = append(t.samples, sample{data: bytes.Clone(f.Body), clip: i})
			taken[i]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.samples) < folds {
		return nil, fmt.Errorf("%w: %d, expected some hundreds", errFew, len(t.samples))
	}
	deal(t.samples)
	m, err := t.run(ctx, acked)
	if err != nil {
		return nil, err
	}
	if n := len(m.Bytes()); n > t.budget {
		return nil, fmt.Errorf("%w: %d bytes, expected %d at least for what these datagrams hold", train.ErrSize, t.budget, n)
	}
	return m, job.Measure(log, "model", func(clips ...train.Clip) (float64, error) { return bitsPerByte(ctx, m, clips) })
}

// bitsPerByte returns the bits of the packets of clips for each byte of the datagrams.
func bitsPerByte(ctx context.Context, m *model, clips []train.Clip) (float64, error) {
	in, out := 0, 0
	f, k := newFlow(m), newCoder(m, false)
	var packet []byte
	err := train.Frames(ctx, clips, func(i int, x *frame.Frame) error {
		past := f.before(&sample{data: x.Body, clip: i})
		packet = k.encode(packet[:0], x.Body, past)
		in, out = in+len(x.Body), out+len(packet)
		return nil
	})
	return 8 * float64(out) / float64(max(in, 1)), err
}

// ackLag is the age, in datagrams, of the newest acknowledged one when a model for acknowledged
// datagrams is trained: 100 ms at 40 a second.
const ackLag = 4

// sample is a datagram to learn from.
type sample struct {
	data []byte
	clip int // the flow it is of
	fold int
}

// folds is the number of parts of the samples: weights of one part are learnt with the counts of
// the others.
const folds = 8

// deal divides samples into folds: by clip if there are several, so that what is constant in only
// one of them is not trusted, otherwise by time.
func deal(list []sample) {
	last := list[len(list)-1].clip
	for i := range list {
		list[i].fold = i * folds / len(list)
		if last > 0 {
			list[i].fold = list[i].clip * folds / (last + 1)
		}
	}
}

// flow provides what was acknowledged before each sample.
type flow struct {
	e    *end
	logs [ackLag + 2]log
	past log
	n    int
	clip int
}

func newFlow(m *model) *flow { return &flow{e: newEnd(m, false), clip: -1} }

// before returns what was acknowledged when s was sent, valid until the next call, and adds s.
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

// eachSample visits samples in order, with a coder of the model and what was acknowledged before
// each, which is nil for a model without acknowledgements.
func (t *trainer) eachSample(samples []sample, visit func(k *coder, s *sample, past *log)) {
	f, k := newFlow(t.m), newCoder(t.m, false)
	for i := range samples {
		visit(k, &samples[i], f.before(&samples[i]))
	}
}

// trainer makes a model.
type trainer struct {
	m       *model
	samples []sample
	budget  int       // bytes that the file may have
	pieces  [][]piece // of each kind
	clocks  [][]clock // of each kind
	log     train.Log
}

// run makes the model.
func (t *trainer) run(ctx context.Context, acked bool) (*model, error) {
	fillCountLogs()
	m := &model{kinds: []kind{{key: -1, clock: -1}}, acked: true, shift: maxShift, lines: make([]line, 1<<(32-maxShift))}
	t.m = m
	t.resize()
	for i, step := range []func(){
		t.findAnchors, t.findKeys, t.findLists, t.findKeys, t.findLayouts, t.findKeys,
		func() { m.acked = acked },
		t.findFields, func() { t.findRecipes(ctx) }, t.learnWeights, t.learnLengths,
	} {
		t.log.Progress("learning", int64(i), 11)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step()
	}
	return m, ctx.Err()
}

// resize makes room for the places of all kinds.
func (t *trainer) resize() {
	t.m.places = make([]place, len(t.m.kinds)*maxPlaces)
	for i := range t.m.places {
		t.m.places[i].field = -1
	}
	t.m.index()
}

// compared is a message with those that it is compared with.
type compared struct {
	raw, units     []byte // as sent, and as coded
	now            uint32
	ref, ref2, any message
}

// messages cuts samples into messages, by kind, with the references that the model's keys give.
func (t *trainer) messages(samples []sample) [][]compared {
	out := make([][]compared, len(t.m.kinds))
	t.eachSample(samples, func(k *coder, s *sample, past *log) {
		w, data := &k.w, s.data
		var c compared
		kind, start, first := uint8(0), 0, 0
		note := func(end, done int) {
			if end > start {
				c.raw, c.units = data[start:end], bytes.Clone(w.units[history+first:history+done])
				c.ref, c.ref2, c.any = c.ref.clone(), c.ref2.clone(), c.any.clone()
				out[kind] = append(out[kind], c)
			}
		}
		k.follow(data, past, func(byte, uint) {
			if w.start != start || w.kind != kind {
				note(w.start, w.first)
				kind, start, first = w.kind, w.start, w.first
			}
			c = compared{now: w.now, ref: w.ref, ref2: w.ref2, any: w.any}
		})
		note(len(data), w.done)
	})
	return out
}

func (m message) clone() message { return message{bytes.Clone(m.units), m.now} }

// countLogs holds the binary logarithms of i+0.4 and i+0.8, in 1/1024, for the cost of a bit that is
// coded adaptively.
var countLogs struct{ one, all [4096]int32 }

// fillCountLogs computes countLogs. Trainers call it before they begin.
var fillCountLogs = sync.OnceFunc(func() {
	for i := range countLogs.one {
		countLogs.one[i] = int32((rangecoder.Log2(uint32(10*i+4)) - rangecoder.Log2(10)) >> 6)
		countLogs.all[i] = int32((rangecoder.Log2(uint32(10*i+8)) - rangecoder.Log2(10)) >> 6)
	}
})
