package cubes

import (
	"errors"
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

// absolutes is the rowCoder of absolute.
type absolutes struct{}

func (absolutes) begin(*coder, *frame.Frame, *frame.Frame, []int32) {}

func (absolutes) code(c *coder, _ int, q, base *cube.Row) { absolute(c, q, base, 0) }

// appendChanged appends the rows in which two tables differ. It compares eight rows at a
// time, since most are equal. A list is 7 % faster here than cube.Changes.
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

// indices names the changed cubes by index, or by bitmap if that is shorter.
type indices struct {
	width uint // bits of an index: 10 for 901 cubes
	most  int  // the longest list that is shorter than the bitmap: 89 for 901 cubes
	count uint // bits of the list's length: 7 for 901 cubes
}

func newIndices(rows int) indices {
	x := indices{width: uint(bits.Len(uint(rows - 1)))}
	for n := 0; bits.Len(uint(n))+n*int(x.width) < rows && n <= rows; n++ {
		x.most, x.count = n, uint(bits.Len(uint(n)))
	}
	return x
}

var errIndex = errors.New("index does not rise or is past the last cube")

func (x indices) code(c *coder, list []int32, rows int) []int32 {
	few := c.flag(len(list) <= x.most)
	c.charge(encoders.SlotFlags)
	if !few {
		return bitmap{}.code(c, list, rows)
	}
	n := int(c.bits(uint64(len(list)), x.count))
	last := -1
	for k := range n {
		var at int32
		if !c.reading {
			at = list[k]
		}
		at = int32(c.bits(uint64(at), x.width))
		if c.reading {
			list = c.appendIndex(list, last, int(at), rows)
			if c.err != nil {
				return list
			}
		}
		last = int(at)
	}
	c.charge(encoders.SlotIndex)
	return list
}

// appendIndex appends an index that was read, if it can be the next.
func (c *coder) appendIndex(list []int32, last, at, rows int) []int32 {
	if at <= last || at >= rows || c.r.Err() != nil {
		c.fail(errIndex)
		return list
	}
	return append(list, int32(at))
}

// publishedGaps are the ranges of the article: [1,8] in 1+3 bits, [9,40] in
// 1+1+5, and the rest, [41,900] with 901 cubes, in 1+1+10.
var publishedGaps = []uint{3, 5}

// gaps names the changed cubes by the distances between them, or by bitmap if
// that is shorter. Range k follows k "not yet" bits and one "here it is", which
// the last range, wide enough for all that is left, does without.
type gaps struct {
	widths []uint // bits of each range; each begins where the one before ends
	short  uint   // bits of a list's length when it is short
	long   uint   // ... and when it is not; rows at most
}

func newGaps(rows int, widths ...uint) gaps {
	g := gaps{widths: append(append([]uint(nil), widths...), uint(bits.Len(uint(rows-1))))}
	g.long = uint(bits.Len(uint(rows)))
	// One bit for "short" and six: with the bitmap's bit an idle packet is a byte.
	g.short = min(6, g.long)
	return g
}

func (g gaps) code(c *coder, list []int32, rows int) []int32 {
	listed := c.flag(!c.reading && g.cost(list) < rows)
	c.charge(encoders.SlotFlags)
	if !listed {
		return bitmap{}.code(c, list, rows)
	}
	n, last := g.length(c, len(list)), -1
	for k := range n {
		var gap int
		if !c.reading {
			gap = int(list[k]) - last
		}
		at := last + g.gap(c, gap)
		if c.reading {
			list = c.appendIndex(list, last, at, rows)
			if c.err != nil {
				return list
			}
		}
		last = at
	}
	c.charge(encoders.SlotIndex)
	return list
}

// length codes how long the list is.
func (g gaps) length(c *coder, n int) int {
	if g.short == g.long || c.flag(n < 1<<g.short) {
		return int(c.bits(uint64(n), g.short))
	}
	return int(c.bits(uint64(n), g.long))
}

// gap codes one distance, 1 or more: the bits of its range, and its place
// in that.
func (g gaps) gap(c *coder, gap int) int {
	from, last := 1, uint(len(g.widths)-1)
	if c.reading {
		word := c.r.Peek()
		k := uint(bits.TrailingZeros64(word | 1<<last))
		for _, w := range g.widths[:k] {
			from += 1 << w
		}
		skip, w := min(k+1, last), g.widths[k]
		c.r.Skip(skip + w)
		return from + int(word>>skip&(1<<w-1))
	}
	for k, w := range g.widths[:last] {
		if gap < from+1<<w {
			c.w.Bits(uint64(gap-from)<<(k+1)|1<<k, uint(k)+1+w)
			return gap
		}
		from += 1 << w
	}
	c.w.Bits(uint64(gap-from)<<last, last+g.widths[last])
	return gap
}

// cost is the dry run: how many bits the list would take.
func (g gaps) cost(list []int32) int {
	n := int(g.short)
	if g.short != g.long {
		n++
		if len(list) >= 1<<g.short {
			n += int(g.long - g.short)
		}
	}
	last := -1
	for _, at := range list {
		n += g.gapBits(int(at) - last)
		last = int(at)
	}
	return n
}

// gapBits is how many bits a distance takes.
func (g gaps) gapBits(gap int) int {
	from, last := 1, len(g.widths)-1
	for k, w := range g.widths[:last] {
		from += 1 << w
		if gap < from {
			return k + 1 + int(w)
		}
	}
	return last + int(g.widths[last])
}
