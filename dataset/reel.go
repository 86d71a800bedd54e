package dataset

import (
	"slices"

	"wirelab/dataset/frame"
)

// maxReel is the most rows that a reel keeps: 65 MB, which are minutes of the walk-off's
// recordings. charlie takes 11 MB.
const maxReel = 1800 << 10

// reel keeps a recording that loops in memory, as the rows that change from each frame to
// the next. Further rounds then need neither the file nor a decompressor.
type reel struct {
	steps [][]newRow // to each frame from the one before it, which in front of the first is the last
	next  int        // frame to be played next
	room  []newRow   // to be used for the next steps
	kept  int        // rows in all
	most  int        // of them
}

// newRow is a row that changes, and what it becomes.
type newRow struct {
	row  int32
	cell [frame.CubeFields]int32
}

// add appends the step to the frame table, in which those rows have changed.
func (r *reel) add(rows frame.Rows, table []int32) {
	r.steps = append(r.steps, r.step(rows, table))
}

func (r *reel) step(rows frame.Rows, table []int32) []newRow {
	const chunk = 1 << 14 // rows; steps are much shorter
	n := rows.Count()
	if n > len(r.room) {
		r.room = make([]newRow, max(n, chunk))
	}
	s := r.room[:n:n]
	r.room, r.kept = r.room[n:], r.kept+n
	k := 0
	for i := range rows.All() {
		s[k] = newRow{int32(i), [frame.CubeFields]int32(table[i*frame.CubeFields:])}
		k++
	}
	return s
}

// full reports whether the reel takes more memory than it may.
func (r *reel) full() bool { return r.kept > r.most }

// close ends the recording. What leads to its first frame is no longer the initial state
// but its last frame.
func (r *reel) close(initial, last []int32) {
	first := slices.Clone(initial)
	apply(r.steps[0], first)
	rows := frame.NewRows(len(last) / frame.CubeFields)
	rows.Compare(first, last, frame.CubeFields)
	r.steps[0] = r.step(rows, first)
}

// play makes table the next frame, and changed the set of the rows that this changes. It
// reports whether the recording begins again.
func (r *reel) play(table []int32, changed frame.Rows) (seam bool) {
	s := r.steps[r.next]
	apply(s, table)
	changed.Clear()
	for i := range s {
		changed.Add(int(s[i].row))
	}
	seam = r.next == 0
	r.next = (r.next + 1) % len(r.steps)
	return seam
}

func apply(s []newRow, table []int32) {
	for i := range s {
		*(*[frame.CubeFields]int32)(table[int(s[i].row)*frame.CubeFields:]) = s[i].cell
	}
}
