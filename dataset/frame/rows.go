package frame

import (
	"iter"
	"math/bits"
	"slices"
)

// Rows is a set of rows of a table, with a bit for each. Sets of one table have the same
// length. nil is no set: it says that nobody knows.
type Rows []uint64

// NewRows returns an empty set for a table of n rows.
func NewRows(n int) Rows { return make(Rows, (n+63)/64) }

// Add adds row i.
func (r Rows) Add(i int) { r[i>>6] |= 1 << (i & 63) }

// Has reports whether row i is in the set.
func (r Rows) Has(i int) bool { return r[i>>6]>>(i&63)&1 == 1 }

// Clear removes all rows.
func (r Rows) Clear() { clear(r) }

// Union adds the rows of s.
func (r Rows) Union(s Rows) {
	for i, w := range s {
		r[i] |= w
	}
}

// Count returns how many rows there are.
func (r Rows) Count() int {
	n := 0
	for _, w := range r {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the rows in ascending order.
func (r Rows) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k, w := range r {
			for ; w != 0; w &= w - 1 {
				if !yield(k<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Compare makes r the set of the rows, of n fields each, in which two tables differ. It
// compares blocks, since most rows of most frames are equal.
func (r Rows) Compare(a, b []int32, n int) {
	r.Clear()
	at := 0
	for ; at+block <= len(a) && at+block <= len(b); at += block {
		if x, y := (*[block]int32)(a[at:]), (*[block]int32)(b[at:]); *x != *y {
			r.compare(x[:], y[:], at, n)
		}
	}
	r.compare(a[at:min(len(a), len(b))], b[at:], at, n)
}

// compare adds the rows of cells that differ. The first cell is number at of its table.
func (r Rows) compare(a, b []int32, at, n int) {
	for i, v := range a {
		if v != b[i] {
			r.Add((at + i) / n)
		}
	}
}

// Differing removes the rows, of n fields each, in which two tables are equal.
func (r Rows) Differing(a, b []int32, n int) {
	for k, all := range r {
		for w := all; w != 0; w &= w - 1 {
			at := (k<<6 + bits.TrailingZeros64(w)) * n
			equal := false
			if n == CubeFields {
				equal = SameCube((*[CubeFields]int32)(a[at:]), (*[CubeFields]int32)(b[at:]))
			} else {
				equal = slices.Equal(a[at:at+n], b[at:at+n])
			}
			if equal {
				r[k] &^= w & -w
			}
		}
	}
}

// SameCube reports whether two rows of cubes are equal. Unlike ==, it is compiled to
// comparisons of words, without a call: most of what is compared is a row at a time.
func SameCube(a, b *[CubeFields]int32) bool {
	return *(*[4]int32)(a[:4]) == *(*[4]int32)(b[:4]) && *(*[4]int32)(a[4:]) == *(*[4]int32)(b[4:])
}

// block is how many cells are compared at once.
const block = 64
