package dataset

import (
	"slices"

	"wirelab/dataset/frame"
)

// maxReelRows is the maximum number of rows in a reel. They use 65 MB, which is enough for minutes
// of the walk-off's recordings; the recording charlie needs 11 MB.
const maxReelRows = 1800 << 10

// reel stores a looping recording in memory as the rows that change from frame to frame, so that later
// rounds need neither the file nor a decompressor.
type reel struct {
	steps   [][]newRow // by frame: the rows that differ from the frame before; frame 0 has the difference to the last frame
	next    int        // index of the frame to play next
	buf     []newRow   // preallocated memory for further steps
	rows    int        // number of rows stored
	maxRows int        // number of rows beyond which the reel is full
}

// newRow is a row that changed, with its new values.
type newRow struct {
	row  int32
	cell [frame.CubeFields]int32
}

// add appends a frame. rows are the rows in which its table differs from the frame before.
func (r *reel) add(rows frame.Rows, table []int32) {
	r.steps = append(r.steps, r.newStep(rows, table))
}

// newStep returns copies of the given rows of table, in memory that belongs to the reel.
func (r *reel) newStep(rows frame.Rows, table []int32) []newRow {
	const chunk = 1 << 14 // rows to allocate at once; steps are much shorter
	n := rows.Count()
	if n > len(r.buf) {
		r.buf = make([]newRow, max(n, chunk))
	}
	s := r.buf[:n:n]
	r.buf, r.rows = r.buf[n:], r.rows+n
	k := 0
	for i := range rows.All() {
		s[k] = newRow{int32(i), [frame.CubeFields]int32(table[i*frame.CubeFields:])}
		k++
	}
	return s
}

// full reports whether the reel exceeds its maximum.
func (r *reel) full() bool { return r.rows > r.maxRows }

// closeLoop completes the reel after the last frame. It replaces the step to the first frame, which
// was the difference to the initial state, by the difference to the last frame.
func (r *reel) closeLoop(initial, last []int32) {
	first := slices.Clone(initial)
	applyStep(r.steps[0], first)
	rows := frame.NewRows(len(last) / frame.CubeFields)
	rows.SetDiffering(first, last, frame.CubeFields)
	r.steps[0] = r.newStep(rows, first)
}

// play changes table from the frame before to the next frame, and sets changed to the rows that differ.
// It reports whether the next frame is at the loop point.
func (r *reel) play(table []int32, changed frame.Rows) (atLoopPoint bool) {
	s := r.steps[r.next]
	applyStep(s, table)
	changed.Clear()
	for i := range s {
		changed.Add(int(s[i].row))
	}
	atLoopPoint = r.next == 0
	r.next = (r.next + 1) % len(r.steps)
	return atLoopPoint
}

// applyStep copies the rows of a step into table.
func applyStep(s []newRow, table []int32) {
	for i := range s {
		*(*[frame.CubeFields]int32)(table[int(s[i].row)*frame.CubeFields:]) = s[i].cell
	}
}
