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

const (
	maxSamples      = 40_000    // datagrams of all clips
	defaultFileSize = 256 << 10 // bytes of a model file
	minFileSize     = 32 << 10
)

// errTooFewDatagrams means that the clips have too few datagrams to train a model.
var errTooFewDatagrams = errors.New("too few datagrams")

// Trainers returns one trainer of models for each encoder of this package.
func Trainers() []train.Trainer {
	list := []train.Trainer{{Encoder: "datagram"}, {Encoder: "datagram-acked"}}
	for i := range list {
		t := &list[i]
		acked := i == 1 // the encoder datagram-acked
		t.Suits = isPacketSchema
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

// learnModel trains a model on the clips of job, and logs how well it compresses them. acked is whether the
// model may use acknowledged datagrams. The same clips give the same model on every machine, because
// all arithmetic is on integers. It returns an error if there are too few datagrams, or if the model
// file would be larger than job.Size.
func learnModel(ctx context.Context, job train.Job, log train.Log, acked bool) (*model, error) {
	t := &trainer{log: log, budget: defaultFileSize}
	if job.Size > 0 {
		t.budget = job.Size
	}
	if t.budget < minFileSize || t.budget > maxFile {
		return nil, fmt.Errorf("%w: %d bytes, expected %d to %d", train.ErrSize, t.budget, minFileSize, maxFile)
	}
	maxPerClip := maxSamples / max(len(job.Clips), 1) // each clip has an equal share
	counts := make([]int, len(job.Clips))
	err := train.ForEachFrame(ctx, job.Clips, func(i int, f *frame.Frame) error {
		if len(f.Body) > 0 && counts[i] < maxPerClip {
			t.samples = append(t.samples, sample{data: bytes.Clone(f.Body), clip: i})
			counts[i]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.samples) < folds {
		return nil, fmt.Errorf("%w: %d, expected at least %d; some hundreds make a useful model",
			errTooFewDatagrams, len(t.samples), folds)
	}
	assignFolds(t.samples)
	m, err := t.train(ctx, acked)
	if err != nil {
		return nil, err
	}
	if n := len(m.Bytes()); n > t.budget {
		return nil, fmt.Errorf("%w: %d bytes, expected at least %d for these datagrams", train.ErrSize, t.budget, n)
	}
	return m, job.Measure(log, "model", func(clips ...train.Clip) (float64, error) { return bitsPerByte(ctx, m, clips) })
}

// bitsPerByte codes clips with model m, as if each datagram were acknowledged after ackLag more datagrams, and
// returns the bits of the packets per byte of the datagrams.
func bitsPerByte(ctx context.Context, m *model, clips []train.Clip) (float64, error) {
	in, out := 0, 0
	replay, k := newAckReplay(m), newCoder(m, asEncoder)
	var packet []byte
	err := train.ForEachFrame(ctx, clips, func(i int, x *frame.Frame) error {
		acked := replay.next(&sample{data: x.Body, clip: i})
		packet = k.encode(packet[:0], x.Body, acked)
		in, out = in+len(x.Body), out+len(packet)
		return nil
	})
	return 8 * float64(out) / float64(max(in, 1)), err
}

// ackLag is the age of the newest acknowledged datagram in training, in datagrams: 100 ms at 40
// datagrams per second.
const ackLag = 4

// A sample is a datagram of the training data.
type sample struct {
	data []byte // bytes of the datagram
	clip int    // index of its clip; samples of a clip are consecutive
	fold int    // number of its fold of the cross-validation, from 0 to folds-1
}

// folds is the number of folds of the cross-validation: weights are learned on each fold with the
// counts of the other folds.
const folds = 8

// assignFolds divides samples into folds: by clip if there are several clips, otherwise by time. Folds of
// whole clips keep values that are constant only within a clip from getting weight.
func assignFolds(list []sample) {
	nClips := list[len(list)-1].clip + 1 // clips are numbered from 0, in order
	for i := range list {
		list[i].fold = i * folds / len(list)
		if nClips > 1 {
			list[i].fold = list[i].clip * folds / nClips
		}
	}
}

// An ackReplay provides the acknowledged messages for each sample, as in a session in which every
// datagram is acknowledged after ackLag further ones.
type ackReplay struct {
	encoder *codec               // parses the datagrams and merges their messages
	logs    [ackLag + 2]ackedLog // memos of the last datagrams, as a ring
	merged  ackedLog             // result of next
	count   int                  // datagrams of the clip so far
	clip    int                  // -1 before the first sample
}

// newAckReplay returns a replay for samples of model m.
func newAckReplay(m *model) *ackReplay { return &ackReplay{encoder: newCodec(m, asEncoder), clip: -1} }

// next returns the messages that were acknowledged when s was sent, and adds s. The result is valid
// until the next call; it is nil if the model does not use acknowledged datagrams. Samples must be
// passed in order.
func (f *ackReplay) next(s *sample) *ackedLog {
	if !f.encoder.model.acked {
		return nil
	}
	if s.clip != f.clip {
		f.count, f.clip = 0, s.clip
	}
	// logAt returns the memo of the datagram that was sent age datagrams ago; 0 is the current one.
	logAt := func(age int) *ackedLog { return &f.logs[(f.count+len(f.logs)-age)%len(f.logs)] }
	newest, second := &emptyLog, &emptyLog
	if f.count >= ackLag {
		newest = logAt(ackLag)
	}
	if f.count > ackLag {
		second = logAt(ackLag + 1)
	}
	f.encoder.merger.merge(&f.merged, newest, second, nil, nil) // no newer datagram
	f.encoder.mergeDatagram(logAt(0), &f.merged, &frame.Frame{Tick: uint32(f.count), Body: s.data})
	f.count++
	return &f.merged
}

// forEachSample calls visit with each sample in order, with one coder of the model and the acknowledged
// messages for the sample: see ackReplay.next.
func (t *trainer) forEachSample(samples []sample, visit func(k *coder, s *sample, acked *ackedLog)) {
	replay, k := newAckReplay(t.model), newCoder(t.model, asEncoder)
	for i := range samples {
		visit(k, &samples[i], replay.next(&samples[i]))
	}
}

// A trainer trains a model in several steps: see train.
type trainer struct {
	model   *model             // trained so far
	samples []sample           // datagrams of all clips
	budget  int                // maximum size of the model file, in bytes
	pieces  [][]piece          // by kind: found by findLayouts
	clocks  [][]clockCandidate // by kind: found by findLayouts
	log     train.Log
}

// train finds the structure of the messages, then the predictions, then the probabilities. It returns an
// error if ctx is done. The structure is found with acknowledged datagrams even for a model that does not use
// them, because comparing messages about the same thing shows it best. acked is whether the model may use them.
// The keys are searched again whenever the kinds or the layout change.
func (t *trainer) train(ctx context.Context, acked bool) (*model, error) {
	fillCountLogs()
	m := &model{kinds: []messageKind{{keyUnit: -1, clockByte: -1}}, acked: true, hashShift: maxShift, slots: make([]slot, 1<<(32-maxShift))}
	t.model = m
	t.allocUnits()
	steps := []func(){
		t.findAnchors, t.findKeys, t.findLists, t.findKeys, t.findLayouts, t.findKeys,
		func() { m.acked = acked },
		t.findFields, func() { t.findRecipes(ctx) }, t.learnWeights, t.learnLengths,
	}
	for i, step := range steps {
		t.log.Progress("learning", int64(i), int64(len(steps)))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step()
	}
	return m, ctx.Err()
}

// newUntrained returns a model that knows nothing about the datagrams: all bytes are equally likely. Its packets are about
// a byte longer than the datagrams. acked is as in model.
func newUntrained(acked bool) *model {
	m := &model{acked: acked, kinds: []messageKind{{keyUnit: -1, clockByte: -1}}, hashShift: maxShift, slots: make([]slot, 1<<(32-maxShift))}
	(&trainer{model: m}).allocUnits()
	const rare, even = 1 << 11, 1 << 15 // probabilities, of 65536: no length is common, and all differences are equally likely
	for size := range m.lengths.commonProb {
		for i := range m.lengths.commonProb[size] {
			m.lengths.commonProb[size][i] = rare
		}
	}
	for i := range m.lengths.offsetProb {
		m.lengths.offsetProb[i] = even
	}
	m.buildTables()
	return m
}

// allocUnits replaces model.units by empty models for the units of all kinds.
func (t *trainer) allocUnits() {
	t.model.units = make([]unitModel, len(t.model.kinds)*unitsPerKind)
	for i := range t.model.units {
		t.model.units[i].field = -1 // none
	}
	t.model.buildIndex()
}

// A comparedMessage is a message of the samples with the messages that the parser compares it with.
type comparedMessage struct {
	raw, units             []byte // the bytes, and the units that they are coded as
	clock                  uint32 // time in the datagram
	ref, prevRef, sameKind message
}

// collectMessages returns the messages of samples by kind, as the model divides the samples at present.
func (t *trainer) collectMessages(samples []sample) [][]comparedMessage {
	out := make([][]comparedMessage, len(t.model.kinds))
	t.forEachSample(samples, func(k *coder, s *sample, acked *ackedLog) {
		p, data := &k.parser, s.data
		var c comparedMessage
		kind, start, firstUnit := uint8(0), 0, 0 // of the current message
		// emit adds the current message, which ends before byte end and unit endUnit of the datagram.
		emit := func(end, endUnit int) {
			if end > start {
				c.raw, c.units = data[start:end], bytes.Clone(p.units[history+firstUnit:history+endUnit])
				c.ref, c.prevRef, c.sameKind = c.ref.clone(), c.prevRef.clone(), c.sameKind.clone()
				out[kind] = append(out[kind], c)
			}
		}
		k.parse(data, acked, func(byte, uint) {
			if p.msgStart != start || p.kind != kind { // the parser has started the next message
				emit(p.msgStart, p.msgFirstUnit)
				kind, start, firstUnit = p.kind, p.msgStart, p.msgFirstUnit
			}
			// Set at each unit, so that the references at the last unit remain: those found by the key.
			c = comparedMessage{clock: p.clock, ref: p.ref, prevRef: p.prevRef, sameKind: p.sameKind}
		})
		emit(len(data), p.unitCount)
	})
	return out
}

// clone returns a copy of m with its own units. Those of m may belong to a coder, which overwrites them later.
func (m message) clone() message { return message{bytes.Clone(m.units), m.clock} }

// countLogs holds the binary logarithms of i+0.4 (one) and i+0.8 (all), in units of 1/1024. They estimate the
// cost of a bit that is coded adaptively: all[m]-one[n] in units of 1/1024 bit, if m bits have occurred in its
// context so far and n of them had the same value as this bit.
var countLogs struct{ one, all [4096]int32 }

// fillCountLogs computes countLogs, once. trainer.train calls it first.
var fillCountLogs = sync.OnceFunc(func() {
	for i := range countLogs.one {
		countLogs.one[i] = int32((rangecoder.Log2(uint32(10*i+4)) - rangecoder.Log2(10)) >> 6)
		countLogs.all[i] = int32((rangecoder.Log2(uint32(10*i+8)) - rangecoder.Log2(10)) >> 6)
	}
})
