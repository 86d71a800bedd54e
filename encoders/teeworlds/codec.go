// Package teeworlds encodes snapshots of Teeworlds as the game does, for comparison with other
// encoders: the differences of changed items as variable-length integers, through a static Huffman
// code. For the game's own demos, with the snapshot before as the baseline, packets have exactly
// the size of the game's.
//
// The game sends the tick outside of the delta. Here it comes first, as the difference from the
// baseline's tick, not Huffman coded, and has its own slot. If nothing else changed, nothing
// follows, as in the game. Otherwise the delta follows, see protocol.Delta: the numbers of removed
// and updated items and 0; the keys of removed items; and the updated items, each with type, id,
// size (if the type has no fixed size) and differences.
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

// Codec returns the codec teeworlds.
func Codec() encoders.Codec {
	return encoders.Codec{
		ID: 42, Name: "teeworlds", Refs: 1, Suits: suits,
		Summary: "Teeworlds' own encoding: differences as variable-length integers, static Huffman code",
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

// suits reports whether a schema is one of Teeworlds.
func suits(s *frame.Schema) bool {
	if s.Name != protocol.Name {
		return false
	}
	_, err := protocol.NewLayout(s)
	return err == nil
}

// A coder is the encoder or the decoder of teeworlds.
type coder struct {
	layout      *protocol.Layout
	usedColumns [][]bool   // by part: the columns that its items use
	changed     frame.Rows // rows that differ, if the caller did not compare the frames

	writer bitio.Writer   // writes what follows the tick
	bytes  []byte         // memory for bytes before the Huffman code
	ints   []int32        // memory for the numbers of a packet
	delta  protocol.Delta // the packet being decoded
}

// newCoder returns an encoder or a decoder, or an error if the schema is not one of Teeworlds.
func newCoder(s *frame.Schema) (*coder, error) {
	layout, err := protocol.NewLayout(s)
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
		x.usedColumns = append(x.usedColumns, used)
	}
	return x, nil
}

// Encode implements encoders.Encoder. See the package comment for the format. Only the rows in the newest
// reference's set of changed rows are compared, if it has one.
func (x *coder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	s := x.layout.Schema
	base := encoders.Base(refs, s.Cells())
	rows := refs[0].Changed
	if rows == nil {
		rows = x.changed
		rows.SetDiffering(cur.Table, base.Table, len(s.Fields))
	}
	before, start := b.Total(), len(dst)
	dst = protocol.AppendInt(dst, cur.Table[x.layout.TickCell]-base.Table[x.layout.TickCell])
	b.SetRow(0) // which contains the tick
	b.Bits(encoders.FieldSlot(x.layout.TickCell), 8*(len(dst)-start))
	b.SetRow(encoders.NoRow)
	x.writer.Reset(dst)
	if removed, updated, ok := x.countItems(cur, base, rows); !ok {
		x.writeFallback(cur, base, rows, b)
	} else if removed+updated > 0 {
		x.writeCounts(removed, updated, 0, b) // the game always sends 0 as the third count
		x.writeRemoved(cur, base, rows, b)
		x.writeUpdated(cur, base, rows, b)
	}
	b.SetRow(encoders.NoRow)
	if x.writer.Len() > 0 { // anything but the tick
		end := protocol.Huffman().Words[protocol.EndSymbol]
		x.writer.Bits(uint64(end.Bits), end.Len)
	}
	byteAligned := x.writer.Len() > 0 && x.writer.Len()%8 == 0
	dst = x.writer.Bytes()
	if byteAligned {
		dst = append(dst, 0) // the game adds a zero byte if the code ends at a byte boundary
	}
	b.Close(before, len(dst)-start)
	return dst, nil, nil
}

// countItems returns the numbers of removed and updated items. ok is false if the game could not have
// sent the frame: it has a body, a value outside of an item's fields, an item in two sizes, or more
// items or values than the game allows. rows holds the rows that may differ.
func (x *coder) countItems(cur, base *frame.Frame, rows frame.Rows) (removed, updated int, ok bool) {
	cells := 0
	// Row 0 contains the tick and nothing else.
	if row := x.layout.Row(cur.Table, 0); len(cur.Body) > 0 || !allZero(row[x.layout.TickCell+1:]) || !allZero(x.layout.Row(base.Table, 0)[x.layout.TickCell+1:]) {
		return 0, 0, false
	}
	for i := range x.layout.Parts {
		p := &x.layout.Parts[i]
		for row := p.Row; row < p.Row+p.Rows; row++ {
			if !rows.Has(row) {
				continue
			}
			newRow, oldRow := x.layout.Row(cur.Table, row), x.layout.Row(base.Table, row)
			if !x.isValidRow(i, newRow) || !x.isValidRow(i, oldRow) || x.hasOtherSize(p, row, cur) || x.hasOtherSize(p, row, base) {
				return 0, 0, false
			}
			switch {
			case newRow[p.Present] == 0:
				removed += int(oldRow[p.Present])
			case !slices.Equal(newRow, oldRow):
				updated, cells = updated+1, cells+p.Size
			}
		}
	}
	return removed, updated, removed <= protocol.MaxItems && updated <= protocol.MaxItems && cells <= protocol.MaxCells
}

// isValidRow reports whether a row of a part is empty, or has an item and zeros in all other
// columns.
func (x *coder) isValidRow(part int, row []int32) bool {
	if row[x.layout.Parts[part].Present] == 0 {
		return allZero(row)
	}
	for c, v := range row {
		if v != 0 && !x.usedColumns[part][c] {
			return false
		}
	}
	return true
}

// hasOtherSize reports whether the item of a row is also present in another size, which the game
// cannot express.
func (x *coder) hasOtherSize(p *protocol.Part, row int, f *frame.Frame) bool {
	if _, fixed := protocol.FixedSize(p.Type); fixed || x.layout.Row(f.Table, row)[p.Present] == 0 {
		return false
	}
	id, n := row-p.Row, 0 // n counts the present items of this type and id
	for i := range x.layout.Parts {
		if q := &x.layout.Parts[i]; q.Type == p.Type && id < q.Rows && x.layout.Row(f.Table, q.Row+id)[q.Present] != 0 {
			n++
		}
	}
	return n > 1
}

// allZero reports whether all values of a row are 0.
func allZero(row []int32) bool {
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// writeCounts writes the three counts of a delta. The third is 0 in the game; see isFallback.
func (x *coder) writeCounts(removed, updated, third int, b *encoders.Budget) {
	x.writeInt(encoders.SlotFlags, int32(removed), b)
	x.writeInt(encoders.SlotFlags, int32(updated), b)
	x.writeInt(encoders.SlotFlags, int32(third), b)
}

// writeRemoved writes the keys of removed items: those of rows present in base but not in cur.
func (x *coder) writeRemoved(cur, base *frame.Frame, rows frame.Rows, b *encoders.Budget) {
	for i := range x.layout.Parts {
		p := &x.layout.Parts[i]
		for row := p.Row; row < p.Row+p.Rows; row++ {
			if rows.Has(row) && x.layout.Row(base.Table, row)[p.Present] == 1 && x.layout.Row(cur.Table, row)[p.Present] == 0 {
				b.SetRow(row)
				x.writeInt(encoders.SlotIndex, int32(protocol.NewKey(p.Type, row-p.Row)), b)
			}
		}
	}
}

// writeUpdated writes new and changed items: type, id, size (if the type has no fixed size), and the
// difference of each field. rows holds the rows that may differ.
func (x *coder) writeUpdated(cur, base *frame.Frame, rows frame.Rows, b *encoders.Budget) {
	for i := range x.layout.Parts {
		p := &x.layout.Parts[i]
		_, fixed := protocol.FixedSize(p.Type)
		for row := p.Row; row < p.Row+p.Rows; row++ {
			if !rows.Has(row) {
				continue
			}
			newRow, oldRow := x.layout.Row(cur.Table, row), x.layout.Row(base.Table, row)
			if newRow[p.Present] == 0 || slices.Equal(newRow, oldRow) {
				continue
			}
			b.SetRow(row)
			x.writeInt(encoders.SlotIndex, int32(p.Type), b)
			x.writeInt(encoders.SlotIndex, int32(row-p.Row), b)
			if !fixed {
				x.writeInt(encoders.SlotIndex, int32(p.Size), b)
			}
			for _, c := range p.Columns {
				x.writeInt(encoders.FieldSlot(c), newRow[c]-oldRow[c], b) // a new item is relative to zeros
			}
		}
	}
}

// writeInt writes the number v through the Huffman code and charges its bits to a slot of b.
func (x *coder) writeInt(slot encoders.Slot, v int32, b *encoders.Budget) {
	x.bytes = protocol.AppendInt(x.bytes[:0], v)
	words, total := &protocol.Huffman().Words, 0
	for _, symbol := range x.bytes {
		w := words[symbol]
		x.writer.Bits(uint64(w.Bits), w.Len)
		total += int(w.Len)
	}
	b.Bits(slot, total)
}

// Decode implements encoders.Decoder.
func (x *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	base := encoders.Base(refs, x.layout.Schema.Cells())
	copy(dst.Table, base.Table)
	dst.Body = dst.Body[:0]
	return nil, encoders.DecodeError(x.decode(dst, src, base), protocol.ErrShort)
}

// decode decodes src into dst, which starts as a copy of base. See the package comment for the
// format.
func (x *coder) decode(dst *frame.Frame, src []byte, base *frame.Frame) error {
	tickDelta, src, err := protocol.ReadInt(src)
	if err != nil {
		return err
	}
	tick := base.Table[x.layout.TickCell] + tickDelta
	if tick < 0 {
		return fmt.Errorf("tick is %d, expected at least 0", tick)
	}
	dst.Table[x.layout.TickCell] = tick
	if len(src) == 0 { // nothing else changed
		return nil
	}
	// math.MaxInt: no limit on the number of bytes and of integers.
	if x.bytes, err = protocol.Huffman().Decode(x.bytes[:0], src, math.MaxInt); err != nil {
		return err
	}
	if x.ints, err = protocol.ReadInts(x.ints[:0], x.bytes, math.MaxInt); err != nil {
		return err
	}
	if isFallback(x.ints) {
		return x.readFallback(dst, x.ints[3:]) // after the three counts
	}
	if err := x.delta.Parse(x.ints); err != nil {
		return err
	}
	if len(x.delta.Removed)+len(x.delta.Updated) == 0 {
		return fmt.Errorf("delta has no items, expected at least one")
	}
	for _, k := range x.delta.Removed {
		if !x.removeItem(dst, k) {
			return fmt.Errorf("removed item %v is not in the baseline", k)
		}
	}
	for _, item := range x.delta.Updated {
		if err := x.updateItem(dst, item); err != nil {
			return err
		}
	}
	return nil
}

// removeItem clears the row of an item of any size; it returns false if the item is not present.
func (x *coder) removeItem(f *frame.Frame, k protocol.Key) bool {
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

// updateItem adds differences to the fields of an item, which is created if it is not present.
func (x *coder) updateItem(f *frame.Frame, item protocol.Item) error {
	p, index, ok := x.layout.Find(item.Key, len(item.Values))
	if !ok {
		return fmt.Errorf("no row for item %v with %d values", item.Key, len(item.Values))
	}
	row := x.layout.Row(f.Table, index)
	row[p.Present] = 1
	for i, c := range p.Columns {
		row[c] += item.Values[i]
	}
	return x.layout.Schema.CheckRow(f, index)
}
