package frame

import (
	"iter"
	"math/bits"
	"slices"
)

// Rows is a set of row indices of a table, one bit for each row. Methods with two sets require sets for
// tables of the same size. By convention nil means that the set is unknown, not that it is empty.
type Rows []uint64

// NewRows returns an empty set for a table of n rows.
func NewRows(n int) Rows { return make(Rows, (n+63)/64) }

func (r Rows) Add(i int) { r[i>>6] |= 1 << (i & 63) }

// Remove removes row i from the set.
func (r Rows) Remove(i int) { r[i>>6] &^= 1 << (i & 63) }

// Has reports whether row i is in the set.
func (r Rows) Has(i int) bool { return r[i>>6]>>(i&63)&1 == 1 }

// Clear removes all rows.
func (r Rows) Clear() { clear(r) }

// Union adds the rows of s to r.
func (r Rows) Union(s Rows) {
	for i, w := range s {
		r[i] |= w
	}
}

// Count returns the number of rows in the set.
func (r Rows) Count() int {
	n := 0
	for _, w := range r {
		n += bits.OnesCount64(w)
	}
	return n
}

// All iterates over the rows in ascending order.
func (r Rows) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k, w := range r {
			for ; w != 0; w &= w - 1 { // clears the lowest bit
				if !yield(k<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// SetDiffering sets r to the rows, of n fields each, in which tables a and b differ. The tables must
// have the same length.
func (r Rows) SetDiffering(a, b []int32, n int) {
	r.Clear()
	at := 0
	for ; at+blockCells <= len(a) && at+blockCells <= len(b); at += blockCells {
		if x, y := (*[blockCells]int32)(a[at:]), (*[blockCells]int32)(b[at:]); *x != *y {
			r.addDiffering(x[:], y[:], at, n)
		}
	}
	r.addDiffering(a[at:min(len(a), len(b))], b[at:], at, n)
}

// addDiffering adds the rows in which cells a and b differ. firstCell is the index of
// the first cell in its table, n the number of fields.
func (r Rows) addDiffering(a, b []int32, firstCell, n int) {
	for i, v := range a {
		if v != b[i] {
			r.Add((firstCell + i) / n)
		}
	}
}

// RemoveEqual removes from r the rows, of n fields each, in which tables a and b are equal.
func (r Rows) RemoveEqual(a, b []int32, fieldsPerRow int) {
	for wordIndex, word := range r {
		for remaining := word; remaining != 0; remaining &= remaining - 1 { // once for each row in the set, the lowest first
			firstCell := (wordIndex<<6 + bits.TrailingZeros64(remaining)) * fieldsPerRow
			equal := false
			if fieldsPerRow == CubeFields {
				equal = EqualCubes((*[CubeFields]int32)(a[firstCell:]), (*[CubeFields]int32)(b[firstCell:]))
			} else {
				equal = slices.Equal(a[firstCell:firstCell+fieldsPerRow], b[firstCell:firstCell+fieldsPerRow])
			}
			if equal {
				r[wordIndex] &^= remaining & -remaining // the lowest bit of w
			}
		}
	}
}

// EqualCubes reports whether two rows of cubes are equal. Unlike a == b it compiles to comparisons of
// words without a function call.
func EqualCubes(a, b *[CubeFields]int32) bool {
	return *(*[4]int32)(a[:4]) == *(*[4]int32)(b[:4]) && *(*[4]int32)(a[4:]) == *(*[4]int32)(b[4:])
}

// blockCells is the number of cells that are compared at once.
const blockCells = 64
