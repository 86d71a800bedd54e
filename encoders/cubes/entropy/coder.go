package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// traversal is the part in which the codecs of the family differ: the traversal of a frame,
// written once for both directions. It passes every decision to e's coder and stores the
// result. When e reads, cur starts as a copy of base. It fills next.
type traversal interface {
	frame(e *coder, cur, base *frame.Frame, past, next *memo) error
}

// coder is the encoder or the decoder of a codec.
type coder struct {
	encoders.TableCoder[memo]
	rows int
	body traversal

	changes cube.Changes
}

// newCoder returns an end for some cubes. initial is the memo of frames without one.
func newCoder(rows int, body traversal, initial *memo) *coder {
	e := &coder{body: body}
	e.TableCoder = encoders.TableCoder[memo]{Name: "entropy", Check: e.check, Code: e.code}
	e.resize(rows, initial)
	return e
}

// resize makes e an end for another number of cubes.
func (e *coder) resize(rows int, initial *memo) {
	e.rows, e.Cells, e.Initial = rows, rows*frame.CubeFields, initial
}

// check refuses a frame that cannot be coded, and finds the cubes that changed, unless the caller
// knows.
func (e *coder) check(cur *frame.Frame, ref *encoders.Ref) error {
	if err := cube.CheckFrame(cur, e.rows); err != nil {
		return err
	}
	e.changes.Find(cur.Table, ref.Frame.Table, ref.Changed)
	return nil
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) error {
	if e.Reading() {
		e.changes.Clear(e.rows)
	}
	next.begin(past, cur, base)
	return e.body.frame(e, cur, base, past, next)
}

// admit returns an error if changed cube i may not be coded. A writer refuses one that is out of
// range.
func (e *coder) admit(i int, q *cube.Row) error {
	if !e.Reading() && !cube.InRange(q) {
		return cube.RangeError(i, q)
	}
	return nil
}

// accept returns an error unless a cube that was read is valid: in range, different from the
// baseline, and read before the packet's end.
func (e *coder) accept(i int, q, base *cube.Row) error {
	if !e.Reading() {
		return nil
	}
	if err := e.Err(); err != nil {
		return err
	}
	if !cube.InRange(q) || frame.SameCube(q, base) {
		return cube.ChangedError(i, q)
	}
	return nil
}
