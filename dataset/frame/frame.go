package frame

import "slices"

// Frame is one unit of data: a row-major table of Rows x len(Fields) integers
// and a body of bytes, either of which may be empty.
type Frame struct {
	Tick  uint32  // the source's frame counter; not part of the content
	Table []int32 // Rows*len(Fields) values, row-major
	Body  []byte
}

// CopyFrom makes f a deep copy of src, reusing f's memory.
func (f *Frame) CopyFrom(src *Frame) {
	f.Tick = src.Tick
	f.Table = append(f.Table[:0], src.Table...)
	f.Body = append(f.Body[:0], src.Body...)
}

// Equal reports whether both frames hold the same content. Ticks are not
// compared: they are bookkeeping, and do not travel.
func (f *Frame) Equal(g *Frame) bool {
	return equal(f.Table, g.Table) && string(f.Body) == string(g.Body)
}

// equal compares blocks, as memory: a frame that was decoded is nearly always right.
func equal(a, b []int32) bool {
	const block = 256
	if len(a) != len(b) {
		return false
	}
	for ; len(a) >= block; a, b = a[block:], b[block:] {
		if *(*[block]int32)(a) != *(*[block]int32)(b) {
			return false
		}
	}
	return slices.Equal(a, b)
}

// ChangedRows counts the rows, of n fields each, in which f differs from g.
func (f *Frame) ChangedRows(g *Frame, n int) int {
	if n == 0 {
		return 0
	}
	size := min(len(f.Table), len(g.Table))
	size -= size % n
	group := n * max(1, block/n) // cells that are compared at once
	changed, at := 0, 0
	for ; at+group <= size; at += group {
		if a, b := f.Table[at:at+group], g.Table[at:at+group]; !equal(a, b) {
			changed += countChanged(a, b, n)
		}
	}
	return changed + countChanged(f.Table[at:size], g.Table[at:size], n)
}

func countChanged(a, b []int32, n int) (changed int) {
	for at := 0; at+n <= len(a); at += n {
		if !slices.Equal(a[at:at+n], b[at:at+n]) {
			changed++
		}
	}
	return changed
}
