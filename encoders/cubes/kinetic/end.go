package kinetic

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
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

// Encode implements encoders.Encoder.
func (e *end) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base := e.reference(refs)
	err := cube.CheckFrame(cur, e.rows)
	for i := 0; err == nil && i < e.rows; i++ {
		if q := cube.At(cur.Table, i); !cube.InRange(q) {
			err = cube.RangeError(i, q)
		}
	}
	if err != nil {
		return dst, nil, fmt.Errorf("kinetic: %w", err)
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
	if err = encoders.DecodeError(err, rangecoder.ErrShort); err != nil {
		return nil, fmt.Errorf("kinetic: %w", err)
	}
	return m, nil
}

func (e *end) reference(refs []encoders.Ref) *frame.Frame {
	return encoders.Base(refs, e.rows*frame.CubeFields)
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
	q, base := cube.At(s.cur, i), cube.At(s.base, i)
	c := s.judge(i)
	moved := e.moved(!cube.SamePose(q, base), i, &c)
	e.charge(encoders.SlotFlags)
	if moved {
		e.motion(i, q, base, &c)
		if e.rc.Reading() {
			if err := e.rc.Err(); err != nil {
				return err
			}
			if cube.SamePose(q, base) {
				return cube.ErrUnchanged
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
func (e *end) motion(i int, q, base *cube.Row, c *situation) {
	s := &e.scene
	subject := s.regard(i)
	s.fill(&e.sheet, &subject)
	e.consult(e.model.place)
	s.guessPlace(&e.guess, &subject)
	e.expect(q, base, 0)
	for a := range 3 {
		was := base[frame.CubeX+a]
		low, high := cube.Bounds(a)
		d := e.value(q[frame.CubeX+a]-was, low-was, high-was, &e.mix, a, a, c.miss)
		q[frame.CubeX+a] = was + d
	}
	e.charge(encoders.SlotPosition)
	s.fillMiss(&e.sheet, &subject, position(q).minus(position(base)).times(1/s.reach))
	e.consult(e.model.pose)
	poses := s.poses(&subject)
	largest := e.largest(int(q[frame.CubeLargest]), poses[1], int(base[frame.CubeLargest]), c)
	q[frame.CubeLargest] = int32(largest)
	for k := range poses {
		e.guess.base[k] = small(poses[k], largest)
	}
	e.guess.rows = jacobian(poses[1], largest)
	e.expect(q, base, 3)
	for a := range 3 {
		k := frame.CubeA + a
		q[k] = e.value(q[k], 0, cube.SmallMax, &e.mix, a, 3+a, c.miss)
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
func (e *end) expect(q, base *cube.Row, coordinate int) {
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
