package cubes

import (
	"errors"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// ChangedIndex lists the changed cubes by index as long as that is shorter than
// one bit for every cube; a bit in front says which it is.
func ChangedIndex() encoders.Codec {
	return encoders.Codec{
		ID: 5, Name: "changed-index", Refs: 1, Suits: frame.IsCubes,
		Summary: "changed cubes named by a 10-bit index each when they are few, else by one bit for every cube",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New: newCodec(func(rows int, _ any) rung {
			return &delta{indices: newIndices(rows), rows: absolutes{}}
		}),
	}
}

// indices names the changed cubes by index, or by bitmap if that is shorter.
type indices struct {
	width uint // bits of an index: 10 for 901 cubes
	most  int  // the longest list that is shorter than the bitmap: 89 for 901 cubes
	count uint // bits of the list's length, which says where it ends: 7 for 901 cubes
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
			if list = c.appendIndex(list, last, int(at), rows); c.err != nil {
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
