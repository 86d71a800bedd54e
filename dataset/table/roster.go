package table

import (
	"cmp"
	"slices"
)

// maxKey is the maximum length of a key in bytes.
const maxKey = 64

// duplicateKey is the row of a key that has been found in this frame already.
const duplicateKey = -1

// roster gives things, which keys identify, the rows of a table. A thing keeps its row while it is present. A row that
// becomes free keeps its key, so that the thing gets the same row if it returns in time. New things get the row that
// has been free for longest, in the order of their keys, so that the rows do not depend on the order within a frame.
type roster struct {
	rowOf map[string]int // by key: its row; ^i for newcomer i
	keyOf []string       // by row: the key that has or had the row; "" if none had
	frame int            // number of the current frame, from 1
	seen  []int          // by row: number of the newest frame in which its thing was present; 0 if never

	// The free rows, those longest free first, are a ring of indices. The index len(keyOf) is before its first and after
	// its last row.
	next, previous []int

	newcomers []string // keys that have no row yet
	values    []int32  // rows of the newcomers, in their order
	residual  []float32
	order     []int // indices of the newcomers by key
}

// reset frees all rows, of which there are n.
func (r *roster) reset(n int) {
	*r = roster{rowOf: map[string]int{}, keyOf: make([]string, n), seen: make([]int, n), next: make([]int, n+1), previous: make([]int, n+1),
		frame: 1, newcomers: r.newcomers[:0], values: r.values[:0], residual: r.residual[:0], order: r.order[:0]}
	r.next[n], r.previous[n] = n, n
	for row := range n {
		r.pushFree(row)
	}
}

// pushFree adds a row to the end of the free rows.
func (r *roster) pushFree(row int) {
	end := len(r.keyOf)
	last := r.previous[end]
	r.next[last], r.previous[row], r.next[row], r.previous[end] = row, last, end, row
}

func (r *roster) removeFree(row int) {
	before, after := r.previous[row], r.next[row]
	r.next[before], r.previous[after] = after, before
}

// find returns the row of the thing called key, which is present in the current frame. It returns duplicateKey if the
// thing was found already, and false if it has no row yet.
func (r *roster) find(key []byte) (row int, known bool) {
	row, known = r.rowOf[string(key)]
	switch {
	case !known:
		return 0, false
	case row < 0 || r.seen[row] == r.frame:
		return duplicateKey, true
	case r.seen[row] < r.frame-1: // it was away
		r.removeFree(row)
	}
	r.seen[row] = r.frame
	return row, true
}

// newRow returns a row of n values, and their residuals, to fill for a thing that has no row yet. Both are valid until
// the next call.
func (r *roster) newRow(key []byte, n int) (values []int32, residual []float32) {
	r.rowOf[string(key)] = ^len(r.newcomers)
	r.newcomers = append(r.newcomers, string(key))
	end := len(r.values) + n
	r.values = slices.Grow(r.values, n)[:end]
	r.residual = slices.Grow(r.residual, n)[:end]
	clear(r.residual[end-n:])
	return r.values[end-n:], r.residual[end-n:]
}

// finish completes a frame: it frees the rows of things that are not present any more, and copies the rows of new things,
// of n values each, to free rows of table and residual. There must be enough.
func (r *roster) finish(table []int32, residual []float32, n int) {
	for row, seen := range r.seen {
		if seen > 0 && seen == r.frame-1 {
			r.pushFree(row)
		}
	}
	r.order = r.order[:0]
	for i := range r.newcomers {
		r.order = append(r.order, i)
	}
	slices.SortFunc(r.order, func(i, j int) int { // whole numbers by value, since a shorter key comes first
		a, b := r.newcomers[i], r.newcomers[j]
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, i := range r.order {
		key, row := r.newcomers[i], r.next[len(r.keyOf)]
		r.removeFree(row)
		if r.keyOf[row] != "" {
			delete(r.rowOf, r.keyOf[row])
		}
		r.keyOf[row], r.rowOf[key], r.seen[row] = key, row, r.frame
		copy(table[row*n:(row+1)*n], r.values[i*n:])
		copy(residual[row*n:(row+1)*n], r.residual[i*n:])
	}
	r.newcomers, r.values, r.residual = r.newcomers[:0], r.values[:0], r.residual[:0]
	r.frame++
}
