// Package datagram provides two encoders for the datagrams of any program, whatever their format:
// datagram codes each datagram by itself, datagram-acked uses acknowledged datagrams as references.
// Both need a model that was trained on captures of the program and that both endpoints load.
//
// # Format
//
// A datagram is a sequence of messages, and a message a sequence of units of up to 8 bits, in most
// cases bytes. A message begins at an anchor, four bytes with which many datagrams of the captures
// begin, or at a fixed number of bytes after the last one, if it is a record of a list. Messages of
// one kind have the same layout. One unit of it, the key, distinguishes what messages are about: it
// may be the number of a player. The reference of a message is the latest acknowledged message of
// the same kind and key. The layout of a packet is described at the top of packet.go.
//
// # Model
//
// The bits of a unit are predicted and then coded by a range coder. A prediction is a sum of logits
// with trained weights, as in PAQ (Mahoney, "Adaptive Weighing of Context Models for Lossless Data
// Compression", 2005), but nothing adapts during coding: packets can be lost. The logits are those
// of the position in the message, of three contexts chosen by training, of the same unit in the
// reference and in the latest message of the kind, and of the numeric predictions of the field that
// the unit belongs to. Fields are numbers of any byte order and width; they are predicted from
// earlier values, velocities and rotations: see predictor.
//
// Everything is computed with integers, so that encoder and decoder agree on every machine.
//
// # Training
//
// Trainers finds anchors, lists, keys, byte orders, fields, their predictors, contexts and weights,
// in this order, each by the cost in bits of the captures.
//
// README.md has the measured sizes and times.
package datagram

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// modelParams are the parameters of both encoders.
type modelParams struct {
	Model string `toml:"model" help:"model file written by tui train; both endpoints need it; empty: an untrained model, which compresses nothing" file:"true"`
}

const source = "ours, after Mahoney's PAQ; the idea of a trained, stateless model is Oodle Network's (RAD, 2016)"

// Datagram returns the encoder that codes every datagram by itself.
func Datagram() encoders.Codec {
	return encoders.Codec{
		// Every packet decodes without a reference; Refs must be at least 1.
		ID: 28, Name: "datagram", Refs: 1, Standalone: true, Suits: isPacketSchema, Source: source, Params: &modelParams{},
		Summary: "each datagram of a game by itself, with a model trained on captures of the game",
		New:     newFunc("datagram", false), // models do not use acknowledged datagrams
	}
}

// Acked returns the encoder that codes a datagram with acknowledged datagrams as references.
func Acked() encoders.Codec {
	return encoders.Codec{
		ID: 29, Name: "datagram-acked", Refs: 2, Suits: isPacketSchema, Source: source, Params: &modelParams{},
		Summary: "like datagram, with the latest acknowledged message about the same thing as reference",
		New:     newFunc("datagram-acked", true), // models use acknowledged datagrams
	}
}

// isPacketSchema reports whether the frames of schema s are datagrams of a capture, which have a body and
// no rows.
func isPacketSchema(s *frame.Schema) bool { return s.Rows == 0 && s.Name == "packets" }

// newFunc returns the New function of the codec called name, which loads the model file given by its
// parameters. acked is whether its models use acknowledged datagrams; a model for the other codec is
// an error.
func newFunc(name string, acked bool) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(_ *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		path := params.(*modelParams).Model
		if path == "" {
			m := newUntrained(acked)
			return newCodec(m, asEncoder), newCodec(m, asDecoder), nil
		}
		m, err := load(path)
		if err == nil && m.acked != acked {
			err = fmt.Errorf("%s: %w", path, errOtherEncoder)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%w model: %w; expected a file written by tui train --encoder %s", encoders.ErrParam, err, name)
		}
		encoder, decoder := newCodec(m, asEncoder), newCodec(m, asDecoder)
		return encoder, decoder, nil
	}
}

// A codec implements encoders.Encoder or encoders.Decoder.
type codec struct {
	*coder
	mergedLog ackedLog // memory for the result of mergeRefs
	singleLog ackedLog // memory for the result of refLog
	merger    merger
}

// newCodec returns a decoder if decoding is true, otherwise an encoder.
func newCodec(m *model, decoding bool) *codec { return &codec{coder: newCoder(m, decoding)} }

// Encode implements encoders.Encoder. The memo that it returns holds the messages that the receiver will
// have if it receives the packet.
func (e *codec) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if len(cur.Body) > maxDatagram {
		return dst, nil, fmt.Errorf("datagram: a datagram of %d bytes, expected at most %d", len(cur.Body), maxDatagram)
	}
	acked := e.mergeRefs(refs)
	out := e.encode(dst, cur.Body, acked)
	b.Bits(encoders.SlotBody, 8*(len(out)-len(dst)))
	return out, e.newMemo(acked, cur, spare), nil
}

func (e *codec) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	acked := e.mergeRefs(refs)
	var err error
	if dst.Body, err = e.decode(dst.Body[:0], src, acked); err != nil {
		return nil, err
	}
	return e.newMemo(acked, dst, spare), nil
}

// mergeRefs returns the messages of the one or two references, nil if the model does not use
// acknowledged datagrams. The result is valid until the next call.
func (e *codec) mergeRefs(refs []encoders.Ref) *ackedLog {
	if !e.model.acked {
		return nil
	}
	if len(refs) == 0 {
		panic("datagram: no reference, expected at least one")
	}
	newest := e.refLog(&refs[0])
	if len(refs) < 2 {
		return newest
	}
	second, _ := refs[1].Memo.(*ackedLog)
	if second == nil { // such as the initial state, which has no memo
		return newest
	}
	e.merger.merge(&e.mergedLog, newest, second, nil, nil) // nil: no newer datagram
	return &e.mergedLog
}

// refLog returns a reference's memo. If the reference has none, such as the initial state, it returns a
// log with the messages of the reference alone.
func (e *codec) refLog(r *encoders.Ref) *ackedLog {
	if log, _ := r.Memo.(*ackedLog); log != nil {
		return log
	}
	e.mergeDatagram(&e.singleLog, &ackedLog{}, r.Frame)
	return &e.singleLog
}

// newMemo returns the memo of frame f: the messages in acked and in f. It reuses spare if that is not
// nil. If acked is nil, which means that the model does not use acknowledged datagrams, the memo is nil.
func (e *codec) newMemo(acked *ackedLog, f *frame.Frame, spare encoders.Memo) encoders.Memo {
	if acked == nil {
		return nil
	}
	memo, _ := spare.(*ackedLog)
	if memo == nil {
		memo = &ackedLog{}
	}
	e.mergeDatagram(memo, acked, f)
	return memo
}

// mergeDatagram replaces the contents of dst by the messages of acked and those of datagram f, which is newer
// than all of acked. If f is too long to be modelled, dst gets the messages of acked only.
func (e *codec) mergeDatagram(dst, acked *ackedLog, f *frame.Frame) {
	if len(f.Body) > maxBytes {
		e.merger.merge(dst, acked, &emptyLog, nil, nil) // nil: no newer datagram
		return
	}
	e.parse(f.Body, nil, nil) // finds the messages, which needs neither references nor a visitor
	for i := range e.parser.records {
		e.parser.records[i].tick = f.Tick
	}
	datagramUnits := e.parser.units[history:] // units begins with history zeros
	e.merger.merge(dst, acked, &emptyLog, e.parser.records, datagramUnits)
}

// emptyLog stands for no log in merges. It must not be changed.
var emptyLog ackedLog
