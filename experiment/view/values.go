package view

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// values stores values of rows, which all servers of a filler share: each value of a row that a client shows, or may show
// after a packet under way, once. Values that are no longer used make room for others, so that memory is bounded by what
// the clients show.
type values struct {
	fields int
	rows   []rowValues
	loaded []valueID // of each row: the value that load has written; 0 if it may be another

	spareRows [][]sentRow // memory for packets under way
}

// valueID identifies a value of a row; 0 means none.
type valueID uint16

// MaxServers is the largest number of servers of a filler. A server refers to two values of a row and to that in each
// packet under way, and a filler to two, so that all have an ID.
const MaxServers = (1<<16 - 1 - 2) / (2 + maxUnderWay)

// rowValues has the values of a row.
type rowValues struct {
	list      []value // by ID; the first is not used
	cells     []int32 // of the fields of each value
	free      valueID // the first unused value, which names the next in users; 0 if none
	newest    valueID // the value in the newest frame; 0 if no server has been sent it
	root      valueID // the value in the frame with which the newest client began
	changedAt uint32  // number of the newest frame in which the row changed; 0 if it never did
}

// value is a value of a row, or unused.
type value struct {
	users  uint32 // how many times the value is referred to
	since  uint32 // 1 + the frame in which the row changed to the value; 0 for a value that a client began with
	costAt uint32 // the since of the row's newest value for which cost is known; 0 if for none
	cost   uint32 // see Filler.cost
	coded  uint32 // index in Filler.coded, if that element names the value
}

// coded is the newest value of a row, relative to a reference with another value.
type coded struct {
	row     int32
	value   valueID // of the reference
	hasCode bool
	bits    int32 // estimate of Metric.bits
	code    encoders.RowCode
}

// newValues returns values of rows of s.
func newValues(s *frame.Schema) values {
	v := values{fields: len(s.Fields), rows: make([]rowValues, s.Rows), loaded: make([]valueID, s.Rows)}
	for i := range v.rows {
		v.rows[i] = rowValues{list: make([]value, 1), cells: make([]int32, v.fields)}
	}
	return v
}

// row returns the fields of value k of row i.
func (v *values) row(i int, k valueID) []int32 { return v.rows[i].cells[int(k)*v.fields:][:v.fields] }

// add stores a value of row i and returns its ID. It has one user.
func (v *values) add(i int, row []int32, since uint32) (k valueID) {
	r := &v.rows[i]
	if k = r.free; k != 0 {
		r.free = valueID(r.list[k].users)
		copy(v.row(i, k), row)
	} else {
		if len(r.list) == cap(r.list) { // grow by less than append does: there are many rows with few values
			n := len(r.list)*5/4 + 2
			r.list, r.cells = append(make([]value, 0, n), r.list...), append(make([]int32, 0, n*v.fields), r.cells...)
		}
		k = valueID(len(r.list))
		r.list = append(r.list, value{})
		r.cells = append(r.cells, row...)
	}
	r.list[k] = value{users: 1, since: since}
	return k
}

// retain adds a user of value k of row i and returns k.
func (v *values) retain(i int, k valueID) valueID {
	v.rows[i].list[k].users++
	return k
}

// release removes a user of value k of row i, if k is not 0.
func (v *values) release(i int, k valueID) {
	if k == 0 {
		return
	}
	r := &v.rows[i]
	x := &r.list[k]
	x.users--
	if x.users == 0 {
		x.users, r.free = uint32(r.free), k
		if v.loaded[i] == k {
			v.loaded[i] = 0
		}
	}
}

// replace makes *place, which refers to a value of row i, refer to value k.
func (v *values) replace(i int, place *valueID, k valueID) {
	v.retain(i, k)
	v.release(i, *place)
	*place = k
}

// load sets all rows of the tables a and b to the values of list. It skips rows that the last call set to the same value,
// so it must always be called with the same two tables.
func (v *values) load(a, b []int32, list []valueID) {
	for i, k := range list {
		if v.loaded[i] != k {
			v.loaded[i] = k
			row := v.row(i, k)
			copy(a[i*v.fields:], row)
			copy(b[i*v.fields:], row)
		}
	}
}

// forgetCosts makes all costs unknown.
func (v *values) forgetCosts() {
	for i := range v.rows {
		for k := range v.rows[i].list {
			v.rows[i].list[k].costAt = 0
		}
	}
}

// isOlder reports whether value j of row i is from an earlier change of the row than value k.
func (v *values) isOlder(i int, j, k valueID) bool {
	list := v.rows[i].list
	return list[j].since < list[k].since
}
