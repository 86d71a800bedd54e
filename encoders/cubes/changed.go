package cubes

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// delta is a rung that sends only the cubes that differ from the baseline: first their
// indices, then their rows.
type delta struct {
	indices indexCoder
	rows    rowCoder
	list    []int32 // the cubes that changed, rising; memory that is reused
}

// indexCoder codes an ascending list of rows. A writer is given the list; a reader
// returns the one it read, in list's memory.
type indexCoder interface {
	code(c *coder, list []int32, rows int) []int32
}

// rowCoder codes the rows of the changed cubes.
type rowCoder interface {
	// begin codes what the listed cubes share.
	begin(c *coder, cur, base *frame.Frame, list []int32)
	// code codes q, the k-th of the list.
	code(c *coder, k int, q, base *cube.Row)
}

// independent is a rowCoder whose cubes share nothing.
type independent func(c *coder, q, base *cube.Row)

func (independent) begin(*coder, *frame.Frame, *frame.Frame, []int32) {}

func (one independent) code(c *coder, _ int, q, base *cube.Row) { one(c, q, base) }

func (d *delta) code(c *coder, cur, base *frame.Frame) {
	rows := len(cur.Table) / frame.CubeFields
	d.list = d.list[:0]
	switch {
	case c.reading:
	case c.changed != nil:
		for i := range c.changed.All() {
			d.list = append(d.list, int32(i))
		}
	default:
		d.list = appendChanged(d.list, cur.Table, base.Table)
	}
	for _, i := range d.list { // none of a reader
		if q := cube.At(cur.Table, int(i)); !cube.InRange(q) {
			c.fail(cube.RangeError(int(i), q))
			return
		}
	}
	d.list = d.indices.code(c, d.list, rows)
	d.rows.begin(c, cur, base, d.list)
	for k, i := range d.list {
		q, p := cube.At(cur.Table, int(i)), cube.At(base.Table, int(i))
		d.rows.code(c, k, q, p)
		if c.reading && (!cube.InRange(q) || frame.SameCube(q, p)) {
			c.fail(cube.ChangedError(int(i), q))
		}
		if c.err != nil {
			return
		}
	}
}

// appendChanged appends the rows in which two tables differ. It compares eight rows at a
// time, since most are equal.
func appendChanged(list []int32, cur, base []int32) []int32 {
	const block = 8 * frame.CubeFields
	at := 0
	for ; at+block <= len(cur); at += block {
		a, b := (*[block]int32)(cur[at:]), (*[block]int32)(base[at:])
		if *a != *b {
			list = appendChangedRows(list, a[:], b[:], at/frame.CubeFields)
		}
	}
	return appendChangedRows(list, cur[at:], base[at:], at/frame.CubeFields)
}

// appendChangedRows compares row by row; the first is called row first.
func appendChangedRows(list []int32, cur, base []int32, first int) []int32 {
	for i := range len(cur) / frame.CubeFields {
		if !frame.SameCube(cube.At(cur, i), cube.At(base, i)) {
			list = append(list, int32(first+i))
		}
	}
	return list
}

// bitmap names the changed cubes by one bit for every cube.
type bitmap struct{}

func (bitmap) code(c *coder, list []int32, rows int) []int32 {
	k := 0
	for first := 0; first < rows; first += 32 {
		var word uint64
		for ; k < len(list) && int(list[k]) < first+32; k++ {
			word |= 1 << (int(list[k]) - first)
		}
		word = c.bits(word, uint(min(32, rows-first)))
		for ; c.reading && word != 0; word &= word - 1 {
			list = append(list, int32(first+bits.TrailingZeros64(word)))
			k++
		}
	}
	c.charge(encoders.SlotFlags)
	return list
}
