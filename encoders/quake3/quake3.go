// Package quake3 encodes frames of Quake III Arena as the game itself does, bit for bit, so that
// other encoders can be compared with the game. The game sends the changed fields of an entity up
// to the last changed one, whole-number floats in 13 bits, all through a static Huffman code.
//
// The baseline is the one that the lab chooses; the game also refers to a snapshot that its client
// has acknowledged. An entity that appears is encoded relative to its baseline of the initial state
// (SVC_BASELINE in the game), which is kept in the memo.
//
// A packet holds, in this order: a flag whether the game could have sent the frame, otherwise see
// writeFallback; the time (32 bits); the player; the entities that appeared, changed or vanished,
// each with its number (10 bits) and a flag whether it was removed; and the end mark MaxEntities
// (10 bits).
package quake3

import (
	"errors"
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/encoders"
)

// Codec returns the codec quake3.
func Codec() encoders.Codec {
	return encoders.Codec{
		ID: 41, Name: "quake3", Refs: 1,
		Suits: func(s *frame.Schema) bool {
			_, ok := netcode.LayoutFromSchema(s)
			return ok
		},
		Summary: "Quake III's own encoding: changed fields, whole floats in 13 bits, static Huffman code",
		Source:  "id Software, Quake III Arena, 1999",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			l, ok := netcode.LayoutFromSchema(s)
			if !ok {
				return nil, nil, fmt.Errorf("schema %s is not suited to quake3: expected one of Quake III", s.Name)
			}
			return newCodec(s, l), newCodec(s, l), nil
		},
	}
}

// A codec is the encoder or the decoder.
type codec struct {
	netcode.Layout
	schema        *frame.Schema
	lastBaselines []int32 // last result of findBaselines, shared by memos
	zeros         []int32 // an empty row
	writer        netcode.Writer
	reader        netcode.Reader
	budget        *encoders.Budget // budget of the current packet; may be nil
	fieldBits     []int            // bits of the current packet, by column
	traceColumn   int              // in a trace: the column of the first field that the writer writes
}

// newCodec returns an encoder or a decoder.
func newCodec(s *frame.Schema, l netcode.Layout) *codec {
	return &codec{Layout: l, schema: s, zeros: make([]int32, l.Columns), fieldBits: make([]int, l.Columns)}
}

// A memo is kept along the chain of frames.
type memo struct {
	baselines []int32 // fields of all entities in the initial state, nil if unknown; immutable
}

// newMemo returns the memo for a frame whose baseline is ref. It uses the memory of spare if that is a memo.
func (x *codec) newMemo(ref *encoders.Ref, spare encoders.Memo) *memo {
	next, _ := spare.(*memo)
	if next == nil {
		next = new(memo)
	}
	if past, ok := ref.Memo.(*memo); ok {
		*next = *past
	} else {
		next.baselines = x.findBaselines(ref.Frame.Table)
	}
	return next
}

// findBaselines returns the fields of all entities in a table if it is the initial state, that is,
// at time 0 and without entities; nil otherwise. Equal results share memory: x.lastBaselines.
func (x *codec) findBaselines(table []int32) []int32 {
	if table[x.Rows*x.Columns+x.Time] != 0 { // the row after the entities holds the time and the player
		return nil
	}
	n := len(x.Entities)
	same := len(x.lastBaselines) > 0 // whether the last result can be used again
	for i := range x.Rows {
		row := table[i*x.Columns:]
		if row[netcode.PresentColumn] != 0 {
			return nil
		}
		same = same && slices.Equal(x.lastBaselines[i*n:(i+1)*n], x.entityFields(row))
	}
	if !same {
		x.lastBaselines = make([]int32, 0, x.Rows*n)
		for i := range x.Rows {
			x.lastBaselines = append(x.lastBaselines, x.entityFields(table[i*x.Columns:])...)
		}
	}
	return x.lastBaselines
}

func (x *codec) entityFields(row []int32) []int32 {
	return row[netcode.FirstFieldColumn : netcode.FirstFieldColumn+len(x.Entities)]
}

// oldFields returns the fields relative to which entity i is encoded, and whether it was present in base: its
// fields in base; of an entity that was not present those of m.baselines, or zeros if the memo has none.
func (x *codec) oldFields(base *frame.Frame, m *memo, i int) (fields []int32, existed bool) {
	switch row := base.Table[i*x.Columns:]; {
	case row[netcode.PresentColumn] != 0:
		return x.entityFields(row), true
	case m.baselines == nil:
		return x.zeros[:len(x.Entities)], false
	}
	n := len(x.Entities)
	return m.baselines[i*n : (i+1)*n], false
}

// playerValues returns the player's part of a table.
func (x *codec) playerValues(f *frame.Frame) []int32 {
	return f.Table[x.Rows*x.Columns+x.Player:][:netcode.PlayerValues]
}

// Encode implements encoders.Encoder. See the package comment for the format. cur must be in the ranges of the
// schema.
func (x *codec) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base := encoders.Base(refs, x.schema.Cells())
	if len(cur.Table) != x.schema.Cells() {
		return dst, nil, x.schema.Check(cur) // fails because of the size
	}
	if err := x.schema.CheckChanged(cur, base); err != nil {
		return dst, nil, err
	}
	m := x.newMemo(&refs[0], spare)
	before, start := b.Total(), len(dst)
	x.writer.Reset(dst)
	x.budget = b
	clear(x.fieldBits)
	w, isGameFrame := &x.writer, x.isGameFrame(cur)
	trace := b.Tracing()
	w.OnField = nil
	if trace != nil {
		w.OnField = func(i, begin, end int) {
			trace.ExtendBits(encoders.SlotFlags, encoders.NoField, begin)
			trace.ExtendBits(encoders.FieldSlot(x.traceColumn+i), x.traceColumn+i, end)
		}
	}
	if w.Flag(isGameFrame) {
		timeStart := w.Len()
		trace.SetRow(x.Rows) // of the time and the player
		trace.ExtendBits(encoders.SlotFlags, encoders.NoField, timeStart)
		w.Bits(uint32(cur.Table[x.Rows*x.Columns+x.Time]), 32)
		x.fieldBits[x.Time] = w.Len() - timeStart // the Huffman code makes the length vary
		trace.ExtendBits(encoders.FieldSlot(x.Time), x.Time, w.Len())
		x.traceColumn = x.Player
		w.Player(x.playerValues(base), x.playerValues(cur), x.fieldBits[x.Player:])
		trace.ExtendBits(encoders.SlotFlags, encoders.NoField, w.Len())
		x.traceColumn = netcode.FirstFieldColumn
		numberBits := x.writeEntities(cur, base, m)
		x.charge(numberBits)
	} else {
		x.writeFallback(cur, base)
	}
	dst = w.Bytes()
	b.Close(before, len(dst)-start)
	return dst, m, nil
}

// charge charges the packet to its fields, by x.fieldBits; numberBits, the bits of the entities'
// numbers, to SlotIndex; and the rest, which are flags, to SlotFlags.
func (x *codec) charge(numberBits int) {
	flags := x.writer.Len() - numberBits
	for i, n := range x.fieldBits {
		x.budget.AddUnits(encoders.FieldSlot(i), int64(n)*encoders.BitUnit) // the trace has them already
		flags -= n
	}
	x.budget.AddUnits(encoders.SlotIndex, int64(numberBits)*encoders.BitUnit)
	x.budget.AddUnits(encoders.SlotFlags, int64(flags)*encoders.BitUnit)
}

// entityNumberBits is the number of bits of an entity's number, before the Huffman code.
const entityNumberBits = 10

// writeEntities writes the entities that appeared, changed or vanished. It returns the number of
// bits of their numbers.
func (x *codec) writeEntities(cur, base *frame.Frame, m *memo) (numberBits int) {
	w, trace := &x.writer, x.budget.Tracing()
	for i := range x.Rows {
		row := cur.Table[i*x.Columns:]
		fields, existed := x.oldFields(base, m, i)
		present := row[netcode.PresentColumn] != 0
		if present == existed && (!present || slices.Equal(fields, x.entityFields(row))) {
			continue
		}
		start := w.Len()
		w.Bits(uint32(i), entityNumberBits)
		w.Flag(!present)
		numberBits += w.Len() - start
		trace.SetRow(i)
		trace.ExtendBits(encoders.SlotIndex, encoders.NoField, w.Len())
		if present {
			w.State(x.Entities, fields, x.entityFields(row), x.fieldBits[netcode.FirstFieldColumn:])
			trace.ExtendBits(encoders.SlotFlags, encoders.NoField, w.Len())
		}
	}
	start := w.Len()
	w.Bits(netcode.MaxEntities, entityNumberBits) // the end mark
	trace.SetRow(encoders.NoRow)
	trace.ExtendBits(encoders.SlotIndex, encoders.NoField, w.Len())
	return numberBits + w.Len() - start
}

func (x *codec) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base := encoders.Base(refs, x.schema.Cells())
	m := x.newMemo(&refs[0], spare)
	x.reader.Reset(src)
	dst.Body = dst.Body[:0]
	if x.reader.Flag() {
		clear(dst.Table)
		dst.Table[x.Rows*x.Columns+x.Time] = int32(x.reader.Bits(32))
		copy(x.playerValues(dst), x.playerValues(base))
		x.reader.Player(x.playerValues(dst))
		x.readEntities(dst, base, m)
	} else {
		x.readFallback(dst, base)
	}
	if err := x.reader.Close(); err != nil {
		return nil, fmt.Errorf("quake3: %w", encoders.DecodeError(err, netcode.ErrShort))
	}
	return m, nil
}

// errNumber means that an entity's number is out of order or out of range, or that a removed entity
// was not present.
var errNumber = errors.New("entity number out of order, or removal of an absent entity")

// readEntities is the inverse of writeEntities: it reads entities up to the end mark and copies those that the packet
// does not mention from base. Numbers must ascend.
func (x *codec) readEntities(dst, base *frame.Frame, m *memo) {
	for next := 0; ; next++ { // next is the row after the last entity that was read
		number := int(x.reader.Bits(entityNumberBits))
		if number == netcode.MaxEntities {
			x.copyUnchanged(dst, base, next, x.Rows)
			return
		}
		if number < next || number >= x.Rows {
			x.reader.Fail(errNumber)
			return
		}
		x.copyUnchanged(dst, base, next, number)
		next = number
		fields, existed := x.oldFields(base, m, number)
		if removed := x.reader.Flag(); removed {
			if !existed {
				x.reader.Fail(errNumber)
			}
			continue
		}
		row := dst.Table[number*x.Columns:]
		row[netcode.PresentColumn] = 1
		copy(x.entityFields(row), fields)
		x.reader.State(x.Entities, x.entityFields(row))
	}
}

// copyUnchanged copies the entities of rows from..to-1, which the packet does not mention, from base. The columns
// from x.Time on are not copied: they belong to the row of the time and the player, and are 0 in rows of entities.
func (x *codec) copyUnchanged(dst, base *frame.Frame, from, to int) {
	for i := from; i < to; i++ {
		if row := base.Table[i*x.Columns:]; row[netcode.PresentColumn] != 0 {
			copy(dst.Table[i*x.Columns:], row[:x.Time])
		}
	}
}
