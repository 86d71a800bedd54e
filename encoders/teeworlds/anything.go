package teeworlds

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/dataset/teeworlds/protocol"
	"wirelab/encoders"
)

// Frames that no game would send are coded as well, as whole rows. They follow a count that the
// game has and always sets to 0: so the game's own snapshots take no bit more.

// anything reports whether numbers tell such a frame.
func anything(ints []int32) bool {
	return len(ints) > 3 && ints[0] == 0 && ints[1] == 0 && ints[2] == 1
}

// writeAnything writes the rows that changed, each with its number, then the body.
func (x *coder) writeAnything(cur, base *frame.Frame, rows frame.Rows, b *encoders.Budget) {
	x.writeCounts(0, 0, 1, b)
	x.put(encoders.SlotIndex, int32(rows.Count()), b)
	for row := range rows.All() {
		x.put(encoders.SlotIndex, int32(row), b)
		was := x.layout.Row(base.Table, row)
		for c, v := range x.layout.Row(cur.Table, row) {
			x.put(encoders.FieldSlot(c), v-was[c], b)
		}
	}
	for _, v := range cur.Body {
		x.put(encoders.SlotBody, int32(v), b)
	}
}

// readAnything is the inverse of writeAnything. The tick was read before, and is in the rows again.
func (x *coder) readAnything(dst *frame.Frame, ints []int32) error {
	s := x.layout.Schema
	n, ints := ints[0], ints[1:]
	if n < 0 || int(n) > s.Rows || len(ints) < int(n)*(1+len(s.Fields)) {
		return fmt.Errorf("%w: %d rows in %d numbers", protocol.ErrShort, n, len(ints))
	}
	last := int32(-1)
	for range n {
		at := ints[0]
		if at <= last || int(at) >= s.Rows {
			return fmt.Errorf("row %d after row %d of %d", at, last, s.Rows)
		}
		last = at
		row := x.layout.Row(dst.Table, int(at))
		for c, v := range ints[1 : 1+len(row)] {
			if int(at) > 0 || c != x.layout.Now {
				row[c] += v
			}
		}
		if err := s.CheckRow(dst, int(at)); err != nil {
			return err
		}
		ints = ints[1+len(s.Fields):]
	}
	for _, v := range ints {
		if v < 0 || v > 255 {
			return fmt.Errorf("%d is no byte of a body", v)
		}
		dst.Body = append(dst.Body, byte(v))
	}
	return nil
}
