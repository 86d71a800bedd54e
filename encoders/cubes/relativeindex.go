package cubes

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// RelativeIndex lists the changed cubes by the distance from one to the next,
// which is small since cubes that touch are often neighbours. A dry run finds
// out whether one bit for every cube would be shorter.
func RelativeIndex() encoders.Codec {
	return encoders.Codec{
		ID: 6, Name: "relative-index", Refs: 1, Suits: frame.IsCubes,
		Summary: "indices of changed cubes as the distance from one to the next, in 4, 7 or 12 bits",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New: newCodec(func(rows int, _ any) rung {
			return &delta{indices: newGaps(rows, publishedGaps...), rows: absolutes{}}
		}),
	}
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
			if list = c.appendIndex(list, last, at, rows); c.err != nil {
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

// gap codes one distance, 1 or more: the bits that say which range it is in, and its place
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
		if from += 1 << w; gap < from {
			return k + 1 + int(w)
		}
	}
	return last + int(g.widths[last])
}
