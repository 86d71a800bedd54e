// Package teeworlds sends snapshots of Teeworlds as the game does, for comparison: what changed in
// which item, in numbers of variable length, through a static Huffman code. On what the game's
// own demos hold, against the snapshot before, it takes exactly as many bytes as the game took.
//
// The game tells the tick outside of its delta. Here it comes first, in plain bytes, as the
// difference to that of the baseline, and has a slot of its own. Where nothing else changed,
// nothing follows, as the game sends nothing.
package teeworlds

import (
	"fmt"
	"math"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/dataset/teeworlds/protocol"
	"wirelab/encoders"
	"wirelab/internal/bitio"
)

// Codec is the game's own encoder.
func Codec() encoders.Codec {
	return encoders.Codec{
		ID: 42, Name: "teeworlds", Refs: 1, Suits: suits,
		Summary: "what Teeworlds sends itself: differences in numbers of variable length, through a static Huffman code",
		Source:  "Teeworlds 0.7, Magnus Auvinen and others, 2007 to 2020",
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			enc, err := newCoder(s)
			if err != nil {
				return nil, nil, err
			}
			dec, err := newCoder(s)
			return enc, dec, err
		},
	}
}

func suits(s *frame.Schema) bool {
	if s.Name != protocol.Name {
		return false
	}
	_, err := protocol.LayoutOf(s)
	return err == nil
}

// coder is one end.
type coder struct {
	layout  *protocol.Layout
	used    [][]bool // of each part, which columns its items use
	changed frame.Rows

	w     bitio.Writer
	raw   []byte
	ints  []int32
	delta protocol.Delta
}

func newCoder(s *frame.Schema) (*coder, error) {
	layout, err := protocol.LayoutOf(s)
	if err != nil {
		return nil, err
	}
	x := &coder{layout: layout, changed: frame.NewRows(s.Rows)}
	for i := range layout.Parts {
		used := make([]bool, len(s.Fields))
		used[layout.Parts[i].Present] = true
		for _, c := range layout.Parts[i].Columns {
			used[c] = true
		}
		x.used = append(x.used, used)
	}
	return x, nil
}

// Encode implements encoders.Encoder.
func (x *coder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	s := x.layout.Schema
	base := encoders.Base(refs, s.Cells())
	rows := refs[0].Changed
	if rows == nil {
		rows = x.changed
		rows.Compare(cur.Table, base.Table, len(s.Fields))
	}
	before, start := b.Total(), len(dst)
	dst = protocol.AppendInt(dst, cur.Table[x.layout.Now]-base.Table[x.layout.Now])
	b.Bits(encoders.FieldSlot(x.layout.Now), 8*(len(dst)-start))
	x.w.Reset(dst)
	if removed, updated, ok := x.count(cur, base, rows); !ok {
		x.writeAnything(cur, base, rows, b)
	} else if removed+updated > 0 {
		x.writeCounts(removed, updated, 0, b)
		x.writeRemoved(cur, base, rows, b)
		x.writeUpdated(cur, base, rows, b)
	}
	if x.w.Len() > 0 {
		end := protocol.Huffman().Words[protocol.End]
		x.w.Bits(uint64(end.Bits), end.Len)
	}
	whole := x.w.Len() > 0 && x.w.Len()%8 == 0
	dst = x.w.Bytes()
	if whole {
		dst = append(dst, 0) // as the game does
	}
	b.Close(before, len(dst)-start)
	return dst, nil, nil
}

// count counts the items that are removed and updated. It is false for frames that are
// something else than snapshots of the game.
func (x *coder) count(cur, base *frame.Frame, rows frame.Rows) (removed, updated int, ok bool) {
	cells := 0
	if row := x.layout.Row(cur.Table, 0); len(cur.Body) > 0 || !blank(row[x.layout.Now+1:]) || !blank(x.layout.Row(base.Table, 0)[x.layout.Now+1:]) {
		return 0, 0, false
	}
	for i := range x.layout.Parts {
		p := &x.layout.Parts[i]
		for row := p.Row; row < p.Row+p.Rows; row++ {
			if !rows.Has(row) {
				continue
			}
			now, was := x.layout.Row(cur.Table, row), x.layout.Row(base.Table, row)
			if !x.sound(i, now) || !x.sound(i, was) || x.twice(p, row, cur) || x.twice(p, row, base) {
				return 0, 0, false
			}
			switch {
			case now[p.Present] == 0:
				removed += int(was[p.Present])
			case !slices.Equal(now, was):
				updated, cells = updated+1, cells+p.Size
			}
		}
	}
	return removed, updated, removed <= protocol.MaxItems && updated <= protocol.MaxItems && cells <= protocol.MaxCells
}

// sound reports whether a row of a part holds an item and nothing else, or nothing.
func (x *coder) sound(part int, row []int32) bool {
	if row[x.layout.Parts[part].Present] == 0 {
		return blank(row)
	}
	for c, v := range row {
		if v != 0 && !x.used[part][c] {
			return false
		}
	}
	return true
}

// twice reports whether the item of a row is there in another size as well.
func (x *coder) twice(p *protocol.Part, row int, f *frame.Frame) bool {
	if _, fixed := protocol.FixedSize(p.Type); fixed || x.layout.Row(f.Table, row)[p.Present] == 0 {
		return false
	}
	id, n := row-p.Row, 0
	for i := range x.layout.Parts {
		if q := &x.layout.Parts[i]; q.Type == p.Type && id < q.Rows && x.layout.Row(f.Table, q.Row+id)[q.Present] != 0 {
			n++
		}
	}
	return n > 1
}

func blank(row []int32) bool {
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// writeCounts writes how many items of three sorts follow; the game has none of the third.
func (x *coder) writeCounts(removed, updated, third int, b *encoders.Budget) {
	x.put(encoders.SlotFlags, int32(removed), b)
	x.put(encoders.SlotFlags, int32(updated), b)
	x.put(encoders.SlotFlags, int32(third), b)
}

// writeRemoved writes the keys of the items that are gone.
func (x *coder) writeRemoved(cur, base *frame.Frame, rows frame.Rows, b *encoders.Budget) {
	for i := range x.layout.Parts {
		p := &x.layout.Parts[i]
		for row := p.Row; row < p.Row+p.Rows; row++ {
			if rows.Has(row) && x.layout.Row(base.Table, row)[p.Present] == 1 && x.layout.Row(cur.Table, row)[p.Present] == 0 {
				x.put(encoders.SlotIndex, int32(protocol.KeyOf(p.Type, row-p.Row)), b)
			}
		}
	}
}

// writeUpdated writes the items that changed, or are new.
func (x *coder) writeUpdated(cur, base *frame.Frame, rows frame.Rows, b *encoders.Budget) {
	for i := range x.layout.Parts {
		p := &x.layout.Parts[i]
		_, fixed := protocol.FixedSize(p.Type)
		for row := p.Row; row < p.Row+p.Rows; row++ {
			if !rows.Has(row) {
				continue
			}
			now, was := x.layout.Row(cur.Table, row), x.layout.Row(base.Table, row)
			if now[p.Present] == 0 || slices.Equal(now, was) {
				continue
			}
			x.put(encoders.SlotIndex, int32(p.Type), b)
			x.put(encoders.SlotIndex, int32(row-p.Row), b)
			if !fixed {
				x.put(encoders.SlotIndex, int32(p.Size), b)
			}
			for _, c := range p.Columns {
				x.put(encoders.FieldSlot(c), now[c]-was[c], b) // what is not there is all 0
			}
		}
	}
}

// put writes a number and charges its bits.
func (x *coder) put(slot encoders.Slot, v int32, b *encoders.Budget) {
	x.raw = protocol.AppendInt(x.raw[:0], v)
	words := &protocol.Huffman().Words
	for _, symbol := range x.raw {
		w := words[symbol]
		x.w.Bits(uint64(w.Bits), w.Len)
		b.Bits(slot, int(w.Len))
	}
}

// Decode implements encoders.Decoder.
func (x *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	base := encoders.Base(refs, x.layout.Schema.Cells())
	copy(dst.Table, base.Table)
	dst.Body = dst.Body[:0]
	return nil, encoders.DecodeError(x.decode(dst, src, base), protocol.ErrShort)
}

func (x *coder) decode(dst *frame.Frame, src []byte, base *frame.Frame) error {
	after, src, err := protocol.Int(src)
	if err != nil {
		return err
	}
	now := base.Table[x.layout.Now] + after
	if now < 0 {
		return fmt.Errorf("tick %d", now)
	}
	dst.Table[x.layout.Now] = now
	if len(src) == 0 {
		return nil
	}
	if x.raw, err = protocol.Huffman().Decode(x.raw[:0], src, math.MaxInt); err != nil {
		return err
	}
	if x.ints, err = protocol.Ints(x.ints[:0], x.raw, math.MaxInt); err != nil {
		return err
	}
	if anything(x.ints) {
		return x.readAnything(dst, x.ints[3:])
	}
	if err := x.delta.Parse(x.ints); err != nil {
		return err
	}
	if len(x.delta.Removed)+len(x.delta.Updated) == 0 {
		return fmt.Errorf("a delta of nothing")
	}
	for _, k := range x.delta.Removed {
		if !x.remove(dst, k) {
			return fmt.Errorf("item %v is removed, and was not there", k)
		}
	}
	for _, item := range x.delta.Updated {
		if err := x.update(dst, item); err != nil {
			return err
		}
	}
	return nil
}

// remove clears the row of an item, whatever its size; false if none.
func (x *coder) remove(f *frame.Frame, k protocol.Key) bool {
	for i := range x.layout.Parts {
		if p := &x.layout.Parts[i]; p.Type == k.Type() && k.ID() < p.Rows {
			if row := x.layout.Row(f.Table, p.Row+k.ID()); row[p.Present] == 1 {
				clear(row)
				return true
			}
		}
	}
	return false
}

// update adds differences to an item, or its values to nothing.
func (x *coder) update(f *frame.Frame, item protocol.Item) error {
	p, at, ok := x.layout.Find(item.Key, len(item.Values))
	if !ok {
		return fmt.Errorf("there is no row for item %v of %d values", item.Key, len(item.Values))
	}
	row := x.layout.Row(f.Table, at)
	row[p.Present] = 1
	for i, c := range p.Columns {
		row[c] += item.Values[i]
	}
	return x.layout.Schema.CheckRow(f, at)
}
