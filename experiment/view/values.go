package view

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// values stores values of rows, which all servers of a filler share: each value of a row that a client shows, or may show
// after a packet under way, once. A value is identified by its index; 0 means none. Values that are no longer used make
// room for others, so that memory is bounded by what the clients show.
type values struct {
	fields int
	cells  []int32 // value k has cells[k*fields:][:fields]
	list   []value
	free   []uint32
	loaded []uint32 // of each row: the value that load has written; 0 if it may be another

	spareRows [][]sentRow // memory for packets under way
}

// newValues returns values of rows of s.
func newValues(s *frame.Schema) values {
	// Value 0 is not used.
	return values{fields: len(s.Fields), cells: make([]int32, len(s.Fields)), list: make([]value, 1), loaded: make([]uint32, s.Rows)}
}

// value is a value of a row, or unused.
type value struct {
	users  uint32 // how many times the value is referred to
	since  uint32 // 1 + the frame in which the row changed to the value; 0 for a value that a client began with
	costAt uint32 // the since of the row's newest value for which cost is known; 0 if for none
	cost   uint32 // see Filler.cost
	coded  uint32 // index in Filler.coded, if that element names the value
}

// coded is the row's newest value, relative to a reference with another value.
type coded struct {
	value   uint32 // of the reference
	bits    uint32 // estimate of Metric.bits
	hasCode bool
	code    encoders.RowCode
}

// row returns the fields of value k.
func (v *values) row(k uint32) []int32 { return v.cells[int(k)*v.fields:][:v.fields] }

// add stores a value and returns its index. It has one user.
func (v *values) add(row []int32, since uint32) (k uint32) {
	if n := len(v.free); n > 0 {
		k, v.free = v.free[n-1], v.free[:n-1]
		copy(v.row(k), row)
	} else {
		k = uint32(len(v.list))
		v.list, v.cells = append(v.list, value{}), append(v.cells, row...)
	}
	v.list[k] = value{users: 1, since: since}
	return k
}

// retain adds a user of value k and returns k.
func (v *values) retain(k uint32) uint32 {
	v.list[k].users++
	return k
}

// release removes a user of value k of row i, if k is not 0.
func (v *values) release(i int, k uint32) {
	if k == 0 {
		return
	}
	v.list[k].users--
	if v.list[k].users == 0 {
		v.free = append(v.free, k)
		if v.loaded[i] == k {
			v.loaded[i] = 0
		}
	}
}

// replace makes list[i] refer to value k of row i.
func (v *values) replace(list []uint32, i int, k uint32) {
	v.retain(k)
	v.release(i, list[i])
	list[i] = k
}

// load sets all rows of the tables a and b to the values of list. It skips rows that the last call set to the same value,
// so it must always be called with the same two tables.
func (v *values) load(a, b []int32, list []uint32) {
	loaded := v.loaded[:len(list)]
	for i, k := range list {
		if loaded[i] != k {
			loaded[i] = k
			row := v.row(k)
			copy(a[i*v.fields:], row)
			copy(b[i*v.fields:], row)
		}
	}
}

// forgetCosts makes all costs unknown.
func (v *values) forgetCosts() {
	for k := range v.list {
		v.list[k].costAt = 0
	}
}

// isOlder reports whether value j of a row is from an earlier change of the row than value k.
func (v *values) isOlder(j, k uint32) bool { return v.list[j].since < v.list[k].since }
