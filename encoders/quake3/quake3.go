// Package quake3 codes frames of Quake III Arena as the game itself does, to the bit: the fields
// that changed, up to the last one of them, whole floats in 13 bits, all through a Huffman code
// that was made once for all. It is what other encoders are to be held against.
//
// The game refers to any snapshot that its client has acknowledged, and so does this, whatever
// baseline the lab gives it. An entity that appears begins as its baseline, which both ends know
// from the initial state; that travels along as the memo.
package quake3

import (
	"errors"
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/encoders"
)

// Codec is the game's own coding.
func Codec() encoders.Codec {
	return encoders.Codec{
		ID: 41, Name: "quake3", Refs: 1,
		Suits: func(s *frame.Schema) bool {
			_, ok := netcode.LayoutOf(s)
			return ok
		},
		Summary: "Quake III's own: fields that changed, whole floats in 13 bits, static Huffman",
		Source:  "id Software, Quake III Arena, 1999",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			l, ok := netcode.LayoutOf(s)
			if !ok {
				return nil, nil, fmt.Errorf("quake3 takes no frames of %s", s.Name)
			}
			return newCodec(s, l), newCodec(s, l), nil
		},
	}
}

// codec is one end.
type codec struct {
	netcode.Layout
	schema *frame.Schema
	known  []int32 // the baselines that were found last
	zero   []int32
	w      netcode.Writer
	r      netcode.Reader
	budget *encoders.Budget
	spent  []int // bits, by column
}

func newCodec(s *frame.Schema, l netcode.Layout) *codec {
	return &codec{Layout: l, schema: s, zero: make([]int32, l.Columns), spent: make([]int, l.Columns)}
}

// memo is what travels along the chain of frames.
type memo struct {
	baselines []int32 // the fields of entities in the initial state; never written to
}

// memos returns the memo for a frame that refers to ref.
func (x *codec) memos(ref *encoders.Ref, spare encoders.Memo) *memo {
	next, _ := spare.(*memo)
	if next == nil {
		next = new(memo)
	}
	if past, ok := ref.Memo.(*memo); ok {
		*next = *past
	} else {
		next.baselines = x.baselines(ref.Frame.Table)
	}
	return next
}

// baselines returns the fields of entities in a table, if it is the initial state: at time 0,
// without any entity. Otherwise they are unknown.
func (x *codec) baselines(table []int32) []int32 {
	if table[x.Rows*x.Columns+x.Time] != 0 {
		return nil
	}
	n := len(x.Entities)
	same := len(x.known) > 0
	for i := range x.Rows {
		row := table[i*x.Columns:]
		if row[netcode.Present] != 0 {
			return nil
		}
		same = same && slices.Equal(x.known[i*n:(i+1)*n], x.fields(row))
	}
	if !same {
		x.known = make([]int32, 0, x.Rows*n)
		for i := range x.Rows {
			x.known = append(x.known, x.fields(table[i*x.Columns:])...)
		}
	}
	return x.known
}

// fields returns the fields of an entity in its row.
func (x *codec) fields(row []int32) []int32 {
	return row[netcode.Fields : netcode.Fields+len(x.Entities)]
}

// base returns the fields that an entity is a difference to.
func (x *codec) base(base *frame.Frame, m *memo, i int) (fields []int32, there bool) {
	switch row := base.Table[i*x.Columns:]; {
	case row[netcode.Present] != 0:
		return x.fields(row), true
	case m.baselines == nil:
		return x.zero[:len(x.Entities)], false
	}
	n := len(x.Entities)
	return m.baselines[i*n : (i+1)*n], false
}

// player returns the player's values.
func (x *codec) player(f *frame.Frame) []int32 {
	return f.Table[x.Rows*x.Columns+x.Player:][:netcode.PlayerValues]
}

// Encode implements encoders.Encoder.
func (x *codec) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base := encoders.Base(refs, x.schema.Cells())
	if len(cur.Table) != x.schema.Cells() {
		return dst, nil, x.schema.Check(cur)
	}
	if err := x.schema.CheckSince(cur, base); err != nil {
		return dst, nil, err
	}
	m := x.memos(&refs[0], spare)
	before, start := b.Total(), len(dst)
	x.w.Reset(dst)
	x.budget = b
	clear(x.spent)
	w, possible := &x.w, x.possible(cur)
	if w.Flag(possible) {
		time := w.Len()
		w.Bits(uint32(cur.Table[x.Rows*x.Columns+x.Time]), 32)
		x.spent[x.Time] = w.Len() - time
		w.Player(x.player(base), x.player(cur), x.spent[x.Player:])
		numbers := x.writeEntities(cur, base, m)
		x.charge(numbers)
	} else {
		x.writeAnything(cur, base)
	}
	dst = w.Bytes()
	b.Close(before, len(dst)-start)
	return dst, m, nil
}

// charge accounts for a packet, of which the first bits list the entities.
func (x *codec) charge(numbers int) {
	flags := x.w.Len() - numbers
	for i, n := range x.spent {
		x.budget.Bits(encoders.FieldSlot(i), n)
		flags -= n
	}
	x.budget.Bits(encoders.SlotIndex, numbers)
	x.budget.Bits(encoders.SlotFlags, flags)
}

// writeEntities writes those that came, changed or went. It returns how many bits their numbers
// took.
func (x *codec) writeEntities(cur, base *frame.Frame, m *memo) (numbers int) {
	w := &x.w
	for i := range x.Rows {
		row := cur.Table[i*x.Columns:]
		fields, there := x.base(base, m, i)
		is := row[netcode.Present] != 0
		if is == there && (!is || slices.Equal(fields, x.fields(row))) {
			continue
		}
		at := w.Len()
		w.Bits(uint32(i), 10)
		w.Flag(!is)
		numbers += w.Len() - at
		if is {
			w.State(x.Entities, fields, x.fields(row), x.spent[netcode.Fields:])
		}
	}
	at := w.Len()
	w.Bits(netcode.MaxEntities, 10)
	return numbers + w.Len() - at
}

// Decode implements encoders.Decoder.
func (x *codec) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base := encoders.Base(refs, x.schema.Cells())
	m := x.memos(&refs[0], spare)
	x.r.Reset(src)
	dst.Body = dst.Body[:0]
	if x.r.Flag() {
		clear(dst.Table)
		dst.Table[x.Rows*x.Columns+x.Time] = int32(x.r.Bits(32))
		copy(x.player(dst), x.player(base))
		x.r.Player(x.player(dst))
		x.readEntities(dst, base, m)
	} else {
		x.readAnything(dst, base)
	}
	if err := x.r.Close(); err != nil {
		return nil, fmt.Errorf("quake3: %w", encoders.DecodeError(err, netcode.ErrShort))
	}
	return m, nil
}

var errNumber = errors.New("an entity comes twice, or goes without having been there, or cannot be")

// readEntities is the inverse of writeEntities.
func (x *codec) readEntities(dst, base *frame.Frame, m *memo) {
	for next := 0; ; next++ {
		number := int(x.r.Bits(10))
		if number == netcode.MaxEntities {
			x.keep(dst, base, next, x.Rows)
			return
		}
		if number < next || number >= x.Rows {
			x.r.Fail(errNumber)
			return
		}
		x.keep(dst, base, next, number)
		next = number
		fields, there := x.base(base, m, number)
		if removed := x.r.Flag(); removed {
			if !there {
				x.r.Fail(errNumber)
			}
			continue
		}
		row := dst.Table[number*x.Columns:]
		row[netcode.Present] = 1
		copy(x.fields(row), fields)
		x.r.State(x.Entities, x.fields(row))
	}
}

// keep copies the entities of rows that are not named.
func (x *codec) keep(dst, base *frame.Frame, from, to int) {
	for i := from; i < to; i++ {
		if row := base.Table[i*x.Columns:]; row[netcode.Present] != 0 {
			copy(dst.Table[i*x.Columns:], row[:x.Time])
		}
	}
}
