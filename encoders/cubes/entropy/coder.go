package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
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

	differ   frame.Rows // of a writer: the rows that differ from base; of a reader: none
	compared frame.Rows // memory for differ
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
	e.rows, e.Cells, e.Initial, e.compared = rows, rows*frame.CubeFields, initial, frame.NewRows(rows)
}

// check refuses a frame that cannot be coded, and finds the cubes that changed, unless the caller
// knows.
func (e *coder) check(cur *frame.Frame, ref *encoders.Ref) error {
	if err := cube.CheckFrame(cur, e.rows); err != nil {
		return err
	}
	e.differ = ref.Changed
	if e.differ == nil {
		e.compare(cur.Table, ref.Frame.Table)
	}
	return nil
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) error {
	if e.Reading() {
		e.compared.Clear()
		e.differ = e.compared
	}
	next.begin(past, cur, base)
	return e.body.frame(e, cur, base, past, next)
}

// compare notes which cubes changed, in the order of rows for the sake of the cache: first a
// block of them at a time, because most rest.
func (e *coder) compare(cur, base []int32) {
	const block = 8 * frame.CubeFields
	e.compared.Clear()
	e.differ = e.compared
	for i := 0; i < e.rows; i++ {
		if i&7 == 0 && i+8 <= e.rows {
			at := i * frame.CubeFields
			if *(*[block]int32)(cur[at:]) == *(*[block]int32)(base[at:]) {
				i += 7
				continue
			}
		}
		e.differ[i>>6] |= uint64(differs(cube.At(cur, i), cube.At(base, i))) << (i & 63)
	}
}

// differs returns 1 if two cubes differ. It is faster than !=, which calls a function and
// branches.
func differs(q, p *cube.Row) int {
	return rangecoder.Flag((q[0]^p[0])|(q[1]^p[1])|(q[2]^p[2])|(q[3]^p[3])|(q[4]^p[4])|(q[5]^p[5])|(q[6]^p[6])|(q[7]^p[7]) != 0)
}

// differs returns 1 if a writer's cube i differs from base, 0 of a reader.
func (e *coder) differs(i int) int { return int(e.differ[i>>6] >> (i & 63) & 1) }

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
