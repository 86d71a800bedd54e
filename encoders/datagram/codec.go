// Package datagram holds two encoders for the datagrams of any program, with a model that was
// trained on captures of it and that both ends have: datagram codes each datagram by itself,
// datagram-acked with the help of those that were acknowledged.
//
// A datagram is cut into messages: where four bytes appear with which many datagrams begin, and
// where a list continues with its next record. A unit, mostly a byte, is identified by the kind
// of its message and its place in it. For each place, training chooses the contexts that predict
// best: some bits of a few units before, or of the last message about the same thing. It also
// finds the numbers, in any byte order, and how they continue. The predictions are mixed with
// trained weights (after Mahoney's PAQ) and range-coded.
// README.md has the figures.
package datagram

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// modelParams are the parameters of both encoders.
type modelParams struct {
	Model string `toml:"model" help:"file of the model that both ends have, as tui train writes it" file:"true"`
}

const source = "ours, after Mahoney's PAQ; the idea of a trained, stateless model is Oodle Network's (RAD, 2016)"

// Datagram codes every datagram by itself.
func Datagram() encoders.Codec {
	return encoders.Codec{
		ID: 28, Name: "datagram", Refs: 1, Standalone: true, Suits: suits, Source: source, Params: &modelParams{},
		Summary: "every datagram of a game by itself, with a model trained on captures that both ends have",
		New:     with("datagram", false),
	}
}

// Acked codes a datagram with the help of those that were acknowledged.
func Acked() encoders.Codec {
	return encoders.Codec{
		ID: 29, Name: "datagram-acked", Refs: 2, Suits: suits, Source: source, Params: &modelParams{},
		Summary: "the same against what acknowledged datagrams said last of the same thing",
		New:     with("datagram-acked", true),
	}
}

// suits reports whether frames are datagrams of a program, which have only a body.
func suits(s *frame.Schema) bool { return s.Rows == 0 && s.Name == "packets" }

// with returns the New of a codec.
func with(name string, acked bool) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(_ *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		path := params.(*modelParams).Model
		if path == "" {
			return nil, nil, fmt.Errorf("%w model: none is named; expected a file, as tui train --encoder %s "+
				"--data packets:FILE.pcap --out FILE.model makes it", encoders.ErrParam, name)
		}
		m, err := load(path)
		if err == nil && m.acked != acked {
			err = fmt.Errorf("%s: %w", path, errOther)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%w model: %w; expected a file that tui train --encoder %s made", encoders.ErrParam, err, name)
		}
		return newEnd(m, false), newEnd(m, true), nil
	}
}

// end is an encoder or a decoder.
type end struct {
	*coder
	both, alone log
	merger      merger
}

func newEnd(m *model, read bool) *end { return &end{coder: newCoder(m, read)} }

// Encode implements encoders.Encoder.
func (e *end) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if len(cur.Body) > maxDatagram {
		return dst, nil, fmt.Errorf("datagram: %d bytes, expected at most %d", len(cur.Body), maxDatagram)
	}
	past := e.past(refs)
	out := e.encode(dst, cur.Body, past)
	b.Bits(encoders.SlotBody, 8*(len(out)-len(dst)))
	return out, e.memo(past, cur, spare), nil
}

// Decode implements encoders.Decoder.
func (e *end) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	past := e.past(refs)
	var err error
	if dst.Body, err = e.decode(dst.Body[:0], src, past); err != nil {
		return nil, err
	}
	return e.memo(past, dst, spare), nil
}

// past returns the log of the references together, nil for a model without acknowledgements.
func (e *end) past(refs []encoders.Ref) *log {
	if !e.m.acked {
		return nil
	}
	if len(refs) == 0 {
		panic("datagram: the endpoints must hand over a reference")
	}
	a := e.logOf(&refs[0])
	if len(refs) < 2 {
		return a
	}
	b, _ := refs[1].Memo.(*log)
	if b == nil {
		return a
	}
	e.merger.merge(&e.both, a, b, nil, nil)
	return &e.both
}

// logOf returns a reference's memo, or a log of itself only if it has none.
func (e *end) logOf(r *encoders.Ref) *log {
	if l, _ := r.Memo.(*log); l != nil {
		return l
	}
	e.add(&e.alone, &log{}, r.Frame)
	return &e.alone
}

// memo returns the log for the time when f is acknowledged.
func (e *end) memo(past *log, f *frame.Frame, spare encoders.Memo) encoders.Memo {
	if past == nil {
		return nil
	}
	l, _ := spare.(*log)
	if l == nil {
		l = &log{}
	}
	e.add(l, past, f)
	return l
}

// add fills l with past and f.
func (e *end) add(l, past *log, f *frame.Frame) {
	if len(f.Body) > maxBytes {
		e.merger.merge(l, past, &nothing, nil, nil)
		return
	}
	e.follow(f.Body, nil, nil)
	for i := range e.w.records {
		e.w.records[i].tick = f.Tick
	}
	e.merger.merge(l, past, &nothing, e.w.records, e.w.units[history:])
}

var nothing log
