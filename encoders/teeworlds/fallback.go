package teeworlds

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/dataset/teeworlds/protocol"
	"wirelab/encoders"
)

// Frames that the game would not send are encoded as complete rows. The third count of a delta marks
// them: the game always sends 0 there, so its own snapshots take no additional bits.

// isFallback reports whether the numbers of a delta begin with the counts that writeFallback writes: 0 removed
// and 0 updated items, and 1 as the third count, where the game always has 0.
func isFallback(ints []int32) bool {
	return len(ints) > 3 && ints[0] == 0 && ints[1] == 0 && ints[2] == 1
}

// writeFallback writes a frame that the game would not send: the counts 0, 0, 1; the number of changed rows;
// each of these with its index and the differences of all fields; then the body.
func (x *coder) writeFallback(cur, base *frame.Frame, rows frame.Rows, b *encoders.Budget) {
	x.writeCounts(0, 0, 1, b) // 1 marks the fallback
	x.writeInt(encoders.SlotIndex, int32(rows.Count()), b)
	for row := range rows.All() {
		b.SetRow(row)
		x.writeInt(encoders.SlotIndex, int32(row), b)
		oldRow := x.layout.Row(base.Table, row)
		for c, v := range x.layout.Row(cur.Table, row) {
			x.writeInt(encoders.FieldSlot(c), v-oldRow[c], b)
		}
	}
	b.SetRow(encoders.NoRow)
	for _, v := range cur.Body {
		x.writeInt(encoders.SlotBody, int32(v), b)
	}
}

// readFallback is the inverse of writeFallback, from the numbers after the three counts. The tick, which is
// already decoded, is repeated in row 0 and ignored there.
func (x *coder) readFallback(dst *frame.Frame, ints []int32) error {
	s := x.layout.Schema
	rows, ints := ints[0], ints[1:]
	if rows < 0 || int(rows) > s.Rows || len(ints) < int(rows)*(1+len(s.Fields)) {
		return fmt.Errorf("%w: %d rows do not fit in %d numbers", protocol.ErrShort, rows, len(ints))
	}
	last := int32(-1)
	for range rows {
		index := ints[0]
		if index <= last || int(index) >= s.Rows {
			return fmt.Errorf("row %d, expected more than %d and less than %d", index, last, s.Rows)
		}
		last = index
		row := x.layout.Row(dst.Table, int(index))
		for c, v := range ints[1 : 1+len(row)] {
			if int(index) > 0 || c != x.layout.TickCell {
				row[c] += v
			}
		}
		if err := s.CheckRow(dst, int(index)); err != nil {
			return err
		}
		ints = ints[1+len(s.Fields):]
	}
	for _, v := range ints {
		if v < 0 || v > 255 {
			return fmt.Errorf("value %d for a byte of the body, expected 0 to 255", v)
		}
		dst.Body = append(dst.Body, byte(v))
	}
	return nil
}
