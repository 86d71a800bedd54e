package quake3

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/encoders"
)

// isGameFrame reports whether the game could have sent a frame: absent rows are empty, values fit
// the bits of their fields, and cells outside of a row's fields are 0. Other frames are encoded by
// writeFallback.
func (x *codec) isGameFrame(f *frame.Frame) bool {
	if len(f.Body) > 0 {
		return false
	}
	for i := range x.Rows {
		row := f.Table[i*x.Columns : (i+1)*x.Columns]
		if row[netcode.PresentColumn] == 0 {
			if !allZero(row) {
				return false
			}
			continue
		}
		if !allZero(row[x.Time:]) || !flagsFit(x.Entities, x.entityFields(row)) {
			return false
		}
	}
	player := f.Table[x.Rows*x.Columns:]
	return allZero(player[:x.Time]) && flagsFit(netcode.PlayerFields(), player[x.Player:])
}

// allZero reports whether all values are 0.
func allZero(values []int32) bool {
	for _, v := range values {
		if v != 0 {
			return false
		}
	}
	return true
}

// flagsFit reports whether the values of fields with a fixed number of bits fit these bits. The
// schema bounds the others.
func flagsFit(fields []netcode.Field, values []int32) bool {
	for i := range fields {
		if n := fields[i].Bits; n > 0 && uint64(uint32(values[i]))>>n != 0 {
			return false
		}
	}
	return true
}

// writeFallback writes a frame that the game could not have sent: for each cell a flag whether it
// changed and its 32 bits if so; then the length of the body (32 bits) and its bytes.
func (x *codec) writeFallback(cur, base *frame.Frame) {
	w := &x.writer
	for i, v := range cur.Table {
		w.Flag(v != base.Table[i])
		if v != base.Table[i] {
			w.Bits(uint32(v), 32)
		}
	}
	x.budget.Bits(encoders.SlotTable, w.Len())
	tableBits := w.Len()
	w.Bits(uint32(len(cur.Body)), 32)
	for _, c := range cur.Body {
		w.Bits(uint32(c), 8)
	}
	x.budget.Bits(encoders.SlotBody, w.Len()-tableBits)
}

// readFallback is the inverse of writeFallback: it reads for each cell a flag whether it changed and its 32 bits if
// so, then the length of the body (32 bits) and its bytes.
func (x *codec) readFallback(dst, base *frame.Frame) {
	r := &x.reader
	for i, v := range base.Table {
		if r.Flag() {
			v = int32(r.Bits(32))
		}
		dst.Table[i] = v
	}
	for n := r.Bits(32); n > 0 && r.Err() == nil; n-- {
		dst.Body = append(dst.Body, byte(r.Bits(8)))
	}
	if err := x.schema.Check(dst); err != nil {
		r.Fail(err)
	}
}
