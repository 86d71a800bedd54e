package quake3

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/encoders"
)

// possible reports whether the game could have sent a frame: absent rows are empty, values fit
// their bits, nothing is where its row has no field. All others are coded without a model.
func (x *codec) possible(f *frame.Frame) bool {
	if len(f.Body) > 0 {
		return false
	}
	for i := range x.Rows {
		row := f.Table[i*x.Columns : (i+1)*x.Columns]
		if row[netcode.Present] == 0 {
			if !empty(row) {
				return false
			}
			continue
		}
		if !empty(row[x.Time:]) || !fit(x.Entities, x.fields(row)) {
			return false
		}
	}
	player := f.Table[x.Rows*x.Columns:]
	return empty(player[:x.Time]) && fit(netcode.PlayerFields(), player[x.Player:])
}

func empty(values []int32) bool {
	for _, v := range values {
		if v != 0 {
			return false
		}
	}
	return true
}

// fit reports whether flags fit the bits of their fields. Of other kinds the schema sees to that.
func fit(fields []netcode.Field, values []int32) bool {
	for i := range fields {
		if n := fields[i].Bits; n > 0 && uint64(uint32(values[i]))>>n != 0 {
			return false
		}
	}
	return true
}

// writeAnything writes any frame: the cells that changed in 32 bits, then the body.
func (x *codec) writeAnything(cur, base *frame.Frame) {
	w := &x.w
	for i, v := range cur.Table {
		w.Flag(v != base.Table[i])
		if v != base.Table[i] {
			w.Bits(uint32(v), 32)
		}
	}
	x.budget.Bits(encoders.SlotTable, w.Len())
	at := w.Len()
	w.Bits(uint32(len(cur.Body)), 32)
	for _, c := range cur.Body {
		w.Bits(uint32(c), 8)
	}
	x.budget.Bits(encoders.SlotBody, w.Len()-at)
}

// readAnything is the inverse of writeAnything.
func (x *codec) readAnything(dst, base *frame.Frame) {
	r := &x.r
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
