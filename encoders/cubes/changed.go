package cubes

import (
	"errors"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// changedRung is a rung that sends only the cubes that differ from the baseline: first their
// indices, then their rows.
type changedRung struct {
	indices indexCoder // codes the list of changed cubes
	rows    rowCoder   // codes the rows of these cubes
	alone   bool       // rows has nothing to code that cubes have in common
	changed []int32    // the cubes that changed, ascending; memory is reused
}

// indexCoder codes an ascending list of row numbers below rows.
type indexCoder interface {
	// codeList encodes list and returns it. When decoding, list is empty, and codeList returns the
	// decoded list in its memory.
	codeList(c *coder, list []int32, rows int) []int32
}

// rowCoder codes the rows of the changed cubes.
type rowCoder interface {
	// beginRows codes what the cubes of the list have in common.
	beginRows(c *coder, cur, base *frame.Frame, list []int32)
	// codeRow codes q, cube number k of the list passed to beginRows. When decoding, q starts as a copy
	// of base.
	codeRow(c *coder, k int, q, base *cube.Row)
}

// independent is a rowCoder that codes each cube by itself. The function codes q.
type independent func(c *coder, q, base *cube.Row)

// beginRows implements rowCoder: the cubes have nothing in common.
func (independent) beginRows(*coder, *frame.Frame, *frame.Frame, []int32) {}

// codeRow implements rowCoder: it codes q with the function codeOne.
func (codeOne independent) codeRow(c *coder, _ int, q, base *cube.Row) { codeOne(c, q, base) }

// codeFrame implements rung. A decoder refuses rows that are out of range or do not differ from the
// baseline, because no encoder writes them.
func (d *changedRung) codeFrame(c *coder, cur, base *frame.Frame) {
	rows := len(cur.Table) / frame.CubeFields
	d.changed = d.changed[:0]
	switch {
	case c.reading: // the list is in the packet
	case c.changed != nil: // the caller of Encode has the changed rows
		for i := range c.changed.All() {
			d.changed = append(d.changed, int32(i))
		}
	default:
		d.changed = appendChanged(d.changed, cur.Table, base.Table)
	}
	for _, i := range d.changed { // empty when decoding
		if q := cube.At(cur.Table, int(i)); !cube.InRange(q) {
			c.fail(cube.RangeError(int(i), q))
			return
		}
	}
	d.changed = d.indices.codeList(c, d.changed, rows)
	d.rows.beginRows(c, cur, base, d.changed)
	for k, i := range d.changed {
		q, old := cube.At(cur.Table, int(i)), cube.At(base.Table, int(i))
		c.traceRow(int(i))
		d.rows.codeRow(c, k, q, old)
		if c.reading && (!cube.InRange(q) || frame.EqualCubes(q, old)) {
			c.fail(cube.ChangedError(int(i), q))
		}
		if c.err != nil {
			return
		}
	}
}

// absolutes is a rowCoder that codes each cube with codeAbsolute.
type absolutes struct{}

// beginRows implements rowCoder: the cubes have nothing in common.
func (absolutes) beginRows(*coder, *frame.Frame, *frame.Frame, []int32) {}

// codeRow implements rowCoder: it codes all fields of q in 80 bits, without the baseline.
func (absolutes) codeRow(c *coder, _ int, q, base *cube.Row) {
	const noTicks = 0 // codeAbsolute ignores the time since the baseline
	codeAbsolute(c, q, base, noTicks)
	if c.trace != nil {
		c.traceAbsolute()
	}
}

// appendChanged appends the numbers of the rows in which two tables differ. It compares eight rows at
// a time, because most are equal. A list is 7 % faster here than the set cube.Changes.
func appendChanged(list []int32, cur, base []int32) []int32 {
	const block = 8 * frame.CubeFields
	offset := 0
	for ; offset+block <= len(cur); offset += block {
		a, b := (*[block]int32)(cur[offset:]), (*[block]int32)(base[offset:])
		if *a != *b {
			list = appendChangedRows(list, a[:], b[:], offset/frame.CubeFields)
		}
	}
	return appendChangedRows(list, cur[offset:], base[offset:], offset/frame.CubeFields)
}

// appendChangedRows is appendChanged for parts of two tables that begin with row first. It compares
// row by row.
func appendChangedRows(list []int32, cur, base []int32, first int) []int32 {
	for i := range len(cur) / frame.CubeFields {
		if !frame.EqualCubes(cube.At(cur, i), cube.At(base, i)) {
			list = append(list, int32(first+i))
		}
	}
	return list
}

// bitmap is an indexCoder: one bit for every cube, 1 if the cube is in the list.
type bitmap struct{}

// codeList implements indexCoder: a bit for each row, 1 if the row is in the list, in words of 32 rows.
func (bitmap) codeList(c *coder, list []int32, rows int) []int32 {
	k := 0
	for first := 0; first < rows; first += 32 {
		var word uint64
		for ; k < len(list) && int(list[k]) < first+32; k++ {
			word |= 1 << (int(list[k]) - first)
		}
		word = c.codeBits(word, uint(min(32, rows-first)))
		if c.trace != nil {
			c.traceBitmap(first, min(32, rows-first))
		}
		for ; c.reading && word != 0; word &= word - 1 { // clears the lowest 1
			list = append(list, int32(first+bits.TrailingZeros64(word)))
			k++ // stays the length of list, so that the loop above does nothing in a decoder
		}
	}
	c.charge(encoders.SlotFlags)
	return list
}

// indices is an indexCoder: a flag, and then either the length of the list and the index of each
// changed cube, or a bitmap if that is shorter.
type indices struct {
	indexBits  uint // bits of an index: 10 for 901 cubes
	maxLength  int  // length of the longest list that is shorter than the bitmap: 89 for 901 cubes
	lengthBits uint // bits of the list's length: 7 for 901 cubes
}

// newIndices returns the coder for lists of cubes below rows.
func newIndices(rows int) indices {
	x := indices{indexBits: uint(bits.Len(uint(rows - 1)))}
	// Find the longest list whose length and indices take fewer bits than the bitmap.
	for n := 0; bits.Len(uint(n))+n*int(x.indexBits) < rows && n <= rows; n++ {
		x.maxLength, x.lengthBits = n, uint(bits.Len(uint(n)))
	}
	return x
}

// errIndex marks a decoded list that no encoder writes.
var errIndex = errors.New("index of a changed cube is not larger than the one before it or is past the last cube")

// codeList implements indexCoder: a flag, and if it is 1 the length of the list and each index, otherwise a bitmap.
func (x indices) codeList(c *coder, list []int32, rows int) []int32 {
	asIndices := c.codeFlag(len(list) <= x.maxLength)
	c.charge(encoders.SlotFlags)
	c.traceTo(encoders.SlotFlags)
	if !asIndices {
		return bitmap{}.codeList(c, list, rows)
	}
	n := int(c.codeBits(uint64(len(list)), x.lengthBits))
	c.traceTo(encoders.SlotIndex)
	last := -1
	for k := range n {
		var index int32 // the next index; not known yet when decoding
		if !c.reading {
			index = list[k]
		}
		index = int32(c.codeBits(uint64(index), x.indexBits))
		if c.trace != nil {
			c.traceIndex(int(index))
		}
		if c.reading {
			list = c.appendIndex(list, last, int(index), rows)
			if c.err != nil {
				return list
			}
		}
		last = int(index)
	}
	c.charge(encoders.SlotIndex)
	return list
}

// appendIndex appends a decoded index to list. Unless the index is larger than last, the index before it, and below
// rows, it stores an error in c and returns list unchanged. It does the same if the packet is too short.
func (c *coder) appendIndex(list []int32, last, index, rows int) []int32 {
	if index <= last || index >= rows || c.r.Err() != nil {
		c.fail(errIndex)
		return list
	}
	return append(list, int32(index))
}

// publishedGapWidths are the widths of the ranges in Fiedler's article: distances 1 to 8 take 1+3
// bits, 9 to 40 take 2+5, and the rest, up to 900 for 901 cubes, 2+10.
var publishedGapWidths = []uint{3, 5}

// gaps is an indexCoder: a flag, and then either the length of the list and the distance of each
// changed cube from the one before, or a bitmap if that is shorter. The first distance counts from
// -1. A distance is the number of its range in unary (k zeros and a one; the last range has no one)
// and the offset within the range.
type gaps struct {
	widths    []uint // bits of the offset in each range; a range begins where the one before ends
	shortBits uint   // bits of the length of a short list
	longBits  uint   // bits of the length of a longer list, for up to all rows
}

// newGaps returns the coder for lists of cubes below rows. widths are those of all ranges but the
// last, which covers all larger distances.
func newGaps(rows int, widths ...uint) gaps {
	g := gaps{widths: append(append([]uint(nil), widths...), uint(bits.Len(uint(rows-1))))}
	g.longBits = uint(bits.Len(uint(rows)))
	// 6 bits, the flag before the list and the flag of a short list make one byte: the size of an empty list.
	g.shortBits = min(6, g.longBits)
	return g
}

// codeList implements indexCoder: a flag, and if it is 1 the length of the list and each distance, otherwise a bitmap.
func (g gaps) codeList(c *coder, list []int32, rows int) []int32 {
	listed := c.codeFlag(!c.reading && g.listBits(list) < rows)
	c.charge(encoders.SlotFlags)
	c.traceTo(encoders.SlotFlags)
	if !listed {
		return bitmap{}.codeList(c, list, rows)
	}
	n, last := g.codeLength(c, len(list)), -1
	c.traceTo(encoders.SlotIndex)
	for k := range n {
		var gap int
		if !c.reading {
			gap = int(list[k]) - last
		}
		index := last + g.codeGap(c, gap)
		if c.trace != nil {
			c.traceIndex(index)
		}
		if c.reading {
			list = c.appendIndex(list, last, index, rows)
			if c.err != nil {
				return list
			}
		}
		last = index
	}
	c.charge(encoders.SlotIndex)
	return list
}

// codeLength encodes the length of the list, n, or decodes and returns it: a flag whether it is short
// and its bits. The flag is left out if short and long lengths have the same number of bits.
func (g gaps) codeLength(c *coder, n int) int {
	if g.shortBits == g.longBits || c.codeFlag(n < 1<<g.shortBits) {
		return int(c.codeBits(uint64(n), g.shortBits))
	}
	return int(c.codeBits(uint64(n), g.longBits))
}

// codeGap encodes one distance, at least 1, or decodes and returns it: for range k of g.widths k zeros, a one
// unless the range is the last, and the offset within the range.
func (g gaps) codeGap(c *coder, gap int) int {
	from, lastRange := 1, uint(len(g.widths)-1) // from: the first distance of the range
	if c.reading {                              // the number of zeros before the first 1 is the range, at most the last one
		word := c.r.Peek()
		rangeIndex := uint(bits.TrailingZeros64(word | 1<<lastRange))
		for _, w := range g.widths[:rangeIndex] {
			from += 1 << w
		}
		prefixBits, w := min(rangeIndex+1, lastRange), g.widths[rangeIndex]
		c.r.Skip(prefixBits + w)
		return from + int(word>>prefixBits&(1<<w-1))
	}
	for rangeIndex, w := range g.widths[:lastRange] {
		if gap < from+1<<w {
			c.w.Bits(uint64(gap-from)<<(rangeIndex+1)|1<<rangeIndex, uint(rangeIndex)+1+w)
			return gap
		}
		from += 1 << w
	}
	c.w.Bits(uint64(gap-from)<<lastRange, lastRange+g.widths[lastRange])
	return gap
}

// listBits returns the number of bits that the list would take, without the flag before it.
func (g gaps) listBits(list []int32) int {
	n := int(g.shortBits) // the length of the list, then all distances
	if g.shortBits != g.longBits {
		n++ // the flag of a short list
		if len(list) >= 1<<g.shortBits {
			n += int(g.longBits - g.shortBits)
		}
	}
	last := -1
	for _, index := range list {
		n += g.gapBits(int(index) - last)
		last = int(index)
	}
	return n
}

// gapBits returns the number of bits that codeGap takes for a distance.
func (g gaps) gapBits(gap int) int {
	end, lastRange := 1, len(g.widths)-1 // end: the first distance after range k
	for k, w := range g.widths[:lastRange] {
		end += 1 << w
		if gap < end {
			return k + 1 + int(w) // k zeros, a one, the offset
		}
	}
	return lastRange + int(g.widths[lastRange]) // the last range has no one after its zeros
}
