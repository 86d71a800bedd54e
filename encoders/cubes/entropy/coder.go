package entropy

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// traversal is what the codecs of the family differ in: the traversal of a frame,
// written once for both directions. It passes every decision to e's coder and stores the
// result. When e reads, cur starts as a copy of base. It fills next.
type traversal interface {
	frame(e *coder, cur, base *frame.Frame, past, next *memo)
}

// coder is the encoder or the decoder of a codec.
type coder struct {
	c       encoders.Ranged
	rows    int
	initial *memo // of frames without a memo, as the initial state
	body    traversal

	differ   frame.Rows // of a writer: the rows that are others than in base; of a reader: none
	compared frame.Rows // memory for differ where nobody has compared
	err      error      // the first error
}

// compare notes which cubes changed, unless the caller knows, in the order of rows, which
// memory likes: first a block of them at a time, for most rest.
func (e *coder) compare(cur, base []int32, known frame.Rows) {
	if e.differ = known; known != nil {
		return
	}
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

// differs returns 1 if a writer's cube i is another than in base, 0 of a reader.
func (e *coder) differs(i int) int { return int(e.differ[i>>6] >> (i & 63) & 1) }

// admit reports whether changed cube i may be coded. A writer refuses one that is out of
// range.
func (e *coder) admit(i int, q *cube.Row) bool {
	if !e.c.Reading() && !cube.InRange(q) {
		e.err = cube.RangeError(i, q)
	}
	return e.err == nil
}

// accept reports whether a cube that was read is valid: in range, different from the
// baseline, and read before the packet's end.
func (e *coder) accept(i int, q, base *cube.Row) bool {
	if e.c.Reading() {
		if e.err = e.c.Err(); e.err != nil {
			return false
		}
		if !cube.InRange(q) || frame.SameCube(q, base) {
			e.err = cube.ChangedError(i, q)
		}
	}
	return e.err == nil
}

// references returns the reference, its memo, and the memo to write.
func (e *coder) references(refs []encoders.Ref, spare encoders.Memo) (base *frame.Frame, past, next *memo) {
	base = encoders.Base(refs, e.rows*frame.CubeFields)
	past, next = encoders.Memos(refs, spare, e.initial)
	return base, past, next
}

// Encode implements encoders.Encoder.
func (e *coder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base, past, next := e.references(refs, spare)
	if err := cube.CheckFrame(cur, e.rows); err != nil {
		return dst, nil, fmt.Errorf("entropy: %w", err)
	}
	e.c.Begin(dst, b)
	e.err = nil
	next.begin(past, cur, base)
	e.compare(cur.Table, base.Table, refs[0].Changed)
	e.body.frame(e, cur, base, past, next)
	if e.err != nil {
		return dst, nil, fmt.Errorf("entropy: %w", e.err)
	}
	return e.c.End(dst, b), next, nil
}

// Decode implements encoders.Decoder.
func (e *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base, past, next := e.references(refs, spare)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = dst.Body[:0]
	e.c.Open(src)
	e.err = nil
	next.begin(past, dst, base)
	e.compared.Clear()
	e.differ = e.compared
	e.body.frame(e, dst, base, past, next)
	if err := e.c.Ended(e.err); err != nil {
		return nil, fmt.Errorf("entropy: %w", err)
	}
	return next, nil
}
