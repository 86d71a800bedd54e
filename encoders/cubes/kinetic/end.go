package kinetic

import (
	"errors"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/nn"
	"wirelab/encoders/rangecoder"
)

// end is the encoder or the decoder: one traversal of the cubes serves both.
type end struct {
	model *model
	rows  int
	rc    rangecoder.Coder
	scene scene
	memo  *memo
	ctx   contexts
	run   int // the last six answers to "has it moved", as bits

	sheet   sheet
	scratch nn.Scratch
	out     [netOutputs]int32
	mix     mixture
	guess   guess

	law    *law    // nil: no forecast
	oracle *oracle // made when there is something to forecast
	pupil  *pupil  // nil unless it is being trained
	budget *encoders.Budget
	spent  int64
}

var (
	errRange = errors.New("out of range")
	errSilly = errors.New("marked as moved, but it is where it was")
)

// bounds are the least and the largest x, y and z.
var bounds = [...][2]int32{{-1 << 17, 1<<17 - 1}, {-1 << 17, 1<<17 - 1}, {0, 1<<14 - 1}}

// inRange reports whether q is one that can be coded.
func inRange(q *cube) bool {
	for k, b := range bounds {
		if v := q[frame.CubeX+k]; v < b[0] || v > b[1] {
			return false
		}
	}
	return uint32(q[frame.CubeLargest]) < 4 && uint32(q[frame.CubeInteracting]) < 2 &&
		uint32(q[frame.CubeA]|q[frame.CubeB]|q[frame.CubeC]) <= smallMax
}

// Encode implements encoders.Encoder.
func (e *end) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base := e.reference(refs)
	if len(cur.Table) != len(base.Table) || len(cur.Body) != 0 {
		return dst, nil, fmt.Errorf("kinetic: frame of %d values and a body of %d bytes, expected %d and none", len(cur.Table), len(cur.Body), len(base.Table))
	}
	for i := range e.rows {
		if q := row(cur.Table, i); !inRange(q) {
			return dst, nil, fmt.Errorf("kinetic: cube %d: %w: %v", i, errRange, *q)
		}
	}
	before := b.Total()
	e.rc.Write(dst)
	e.budget, e.spent = b, 0
	m, err := e.code(cur, base, refs, spare)
	if err != nil {
		return dst, nil, err
	}
	out := e.rc.Finish()
	b.Close(before, len(out)-len(dst))
	return out, m, nil
}

// Decode implements encoders.Decoder.
func (e *end) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base := e.reference(refs)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = dst.Body[:0]
	e.rc.Read(src)
	e.budget = nil
	m, err := e.code(dst, base, refs, spare)
	if err == nil {
		err = e.rc.Close()
	}
	switch {
	case errors.Is(err, rangecoder.ErrShort):
		return nil, fmt.Errorf("kinetic: %w: %w", encoders.ErrTruncated, err)
	case err != nil:
		return nil, fmt.Errorf("kinetic: %w: %w", encoders.ErrCorrupt, err)
	}
	return m, nil
}

func (e *end) reference(refs []encoders.Ref) *frame.Frame {
	if len(refs) == 0 || len(refs[0].Frame.Table) != e.rows*frame.CubeFields {
		panic("kinetic: the endpoints must hand over a reference of the schema's size")
	}
	return refs[0].Frame
}

// code codes cur, which when reading holds what base does.
func (e *end) code(cur, base *frame.Frame, refs []encoders.Ref, spare encoders.Memo) (*memo, error) {
	e.open(cur, base, refs, spare)
	for _, i := range e.scene.order {
		if err := e.cube(int(i)); err != nil {
			return nil, fmt.Errorf("cube %d: %w", i, err)
		}
	}
	return e.shut(), nil
}

// open sets everything for the first cube.
func (e *end) open(cur, base *frame.Frame, refs []encoders.Ref, spare encoders.Memo) {
	past, _ := refs[0].Memo.(*memo)
	e.memo = renew(spare, e.rows)
	e.memo.lessons = [lessons]int16{}
	if past != nil {
		e.memo.lessons = past.lessons
	}
	e.run = 0
	if e.law != nil && e.oracle == nil {
		e.oracle = newOracle(e.rows, e.law)
	}
	e.scene.simulates, e.scene.ahead = e.law != nil, nil
	e.scene.begin(cur.Table, base.Table, cur.Tick-base.Tick, past)
	if len(refs) > 1 && len(refs[1].Frame.Table) == len(base.Table) {
		e.scene.second, e.scene.apart = refs[1].Frame.Table, base.Tick-refs[1].Frame.Tick
	}
}

// shut makes the memo, after the last cube.
func (e *end) shut() *memo {
	if e.oracle != nil {
		e.oracle.review(&e.scene)
	}
	e.scene.remember(e.memo)
	return e.memo
}

// cube codes cube i.
func (e *end) cube(i int) error {
	s := &e.scene
	q, base := row(s.cur, i), row(s.base, i)
	c := s.judge(i)
	moved := e.moved(!same(q, base), i, &c)
	e.charge(encoders.SlotFlags)
	if moved {
		e.motion(i, q, base, &c)
		if e.rc.Reading() {
			if err := e.rc.Err(); err != nil {
				return err
			}
			if same(q, base) {
				return errSilly
			}
		}
	}
	q[frame.CubeInteracting] = e.interacting(q[frame.CubeInteracting], i, moved, &c)
	e.charge(encoders.SlotInteracting)
	s.settle(i)
	if i == 0 && e.oracle != nil {
		s.ahead = e.oracle.forecast(s)
	}
	return nil
}

// motion codes position and orientation of a cube that moved.
func (e *end) motion(i int, q, base *cube, c *situation) {
	s := &e.scene
	subject := s.regard(i)
	s.fill(&e.sheet, &subject)
	e.consult(e.model.place)
	s.guessPlace(&e.guess, &subject)
	e.expect(q, base, 0)
	for a := range 3 {
		was := base[frame.CubeX+a]
		b := &bounds[a]
		d := e.value(q[frame.CubeX+a]-was, b[0]-was, b[1]-was, &e.mix, a, a, c.miss)
		q[frame.CubeX+a] = was + d
	}
	e.charge(encoders.SlotPosition)
	s.fillMiss(&e.sheet, &subject, position(q).minus(position(base)).times(1/s.reach))
	e.consult(e.model.pose)
	poses := s.poses(&subject)
	largest := e.largest(int(q[frame.CubeLargest]), poses[1], int(base[frame.CubeLargest]), c)
	q[frame.CubeLargest] = int32(largest)
	for k := range poses {
		e.guess.base[k] = poses[k].small(largest)
	}
	e.guess.rows = poses[1].jacobian(largest)
	e.expect(q, base, 3)
	for a := range 3 {
		k := frame.CubeA + a
		q[k] = e.value(q[k], 0, smallMax, &e.mix, a, 3+a, c.miss)
	}
	e.charge(encoders.SlotOrientation)
}

// consult asks a net. Whoever gathers samples has none to ask.
func (e *end) consult(net *nn.Net) {
	if e.pupil != nil && e.pupil.sample != nil {
		e.out = [netOutputs]int32{}
		return
	}
	net.Run(e.out[:], e.sheet.v[:e.sheet.n], &e.scratch)
}

// expect makes the mixture of the net's answer and the guess. Coordinate is the
// first of the three that follow.
func (e *end) expect(q, base *cube, coordinate int) {
	if e.pupil != nil {
		e.pupil.watch(e, q, base, coordinate)
	}
	e.mix.set(&e.out, &e.guess)
}

// charge accounts for all bits since the last charge.
func (e *end) charge(k encoders.Slot) {
	if e.budget != nil {
		at := e.rc.Spent()
		e.budget.Charge(k, at-e.spent)
		e.spent = at
	}
}
