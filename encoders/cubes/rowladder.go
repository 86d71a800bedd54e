package cubes

import (
	"encoding/binary"

	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// rowLadder is the encoder of a rung that codes each changed cube by itself. It implements encoders.RowCoder.
type rowLadder struct {
	*ladder
	changed *changedRung // the rung of ladder
	row     cube.Row     // memory of CodeRow
	buf     []byte
}

func (l *rowLadder) CodeRow(cur, base []int32) (code encoders.RowCode, ok bool) {
	l.row = cube.Row(cur)
	if !cube.InRange(&l.row) {
		return code, false
	}
	c := &l.coder
	c.beginWrite(l.buf[:0])
	l.changed.rows.codeRow(c, 0, &l.row, (*cube.Row)(base)) // the code does not depend on the place in a list, here 0
	code.Bits = uint(c.w.Len())
	l.buf = append(c.w.Bytes(), make([]byte, 16)...) // at least the two words that are read
	code.Low, code.High = binary.LittleEndian.Uint64(l.buf), binary.LittleEndian.Uint64(l.buf[8:])
	return code, true
}

func (l *rowLadder) AppendRows(dst []byte, list []int32, codes []encoders.RowCode) []byte {
	c := &l.coder
	c.beginWrite(dst)
	l.changed.indices.codeList(c, list, l.rows)
	for i := range codes {
		code := &codes[i]
		c.w.Bits(code.Low, min(code.Bits, 64))
		if code.Bits > 64 {
			c.w.Bits(code.High, code.Bits-64)
		}
	}
	return c.w.Bytes()
}
