package frame

import "slices"

// Frame is the state of a game at one tick, or one message. Its table and its body may be empty.
type Frame struct {
	// Tick is the number of the frame in its source. It is not part of the content, and is not sent.
	Tick uint32
	// Table has a value for each row and field of the schema, row by row.
	Table []int32
	// Body is data that is not a table.
	Body []byte
	// Residual contains what a source has rounded off: for each value of Table, the original value minus the rounded
	// one, in the unit of its field. nil if the source does not round, or if the original values are unknown. Like
	// Tick it is not part of the content.
	Residual []float32
}

// CopyFrom makes f a deep copy of src. It reuses the memory of f's table and body.
func (f *Frame) CopyFrom(src *Frame) {
	f.Tick = src.Tick
	f.Table = append(f.Table[:0], src.Table...)
	f.Body = append(f.Body[:0], src.Body...)
	f.Residual = append(f.Residual[:0], src.Residual...)
}

// Equal reports whether both frames have the same table and the same body. Ticks and residuals are not compared.
func (f *Frame) Equal(g *Frame) bool {
	return tablesEqual(f.Table, g.Table) && string(f.Body) == string(g.Body)
}

// tablesEqual reports whether a and b are equal. Comparing arrays of fixed size compiles to a
// comparison of memory, which is fast for the usual case that they are equal.
func tablesEqual(a, b []int32) bool {
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

// ChangedRows returns the number of rows, of n fields each, in which f differs from g. It returns 0
// if n is 0. Rows that only one of the frames has are not counted.
func (f *Frame) ChangedRows(g *Frame, fieldsPerRow int) int {
	if fieldsPerRow == 0 {
		return 0
	}
	size := min(len(f.Table), len(g.Table))
	size -= size % fieldsPerRow
	group := fieldsPerRow * max(1, blockCells/fieldsPerRow) // cells to compare at once; a multiple of n
	changed, at := 0, 0
	for ; at+group <= size; at += group {
		if a, b := f.Table[at:at+group], g.Table[at:at+group]; !tablesEqual(a, b) {
			changed += countChanged(a, b, fieldsPerRow)
		}
	}
	return changed + countChanged(f.Table[at:size], g.Table[at:size], fieldsPerRow)
}

// countChanged returns the number of rows, of n cells each, in which a and b differ.
func countChanged(a, b []int32, n int) (changed int) {
	for at := 0; at+n <= len(a); at += n {
		if !slices.Equal(a[at:at+n], b[at:at+n]) {
			changed++
		}
	}
	return changed
}
