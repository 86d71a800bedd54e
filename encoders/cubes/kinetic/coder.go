package kinetic

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/nn"
)

// coder is the encoder or the decoder: one traversal serves both directions. A packet has the
// player and then the cubes by distance from it, each as: whether it moved; if it did its
// position, the largest component of its orientation, and the other three; whether it interacts.
type coder struct {
	encoders.Ranged
	model *model
	rows  int
	scene scene
	memo  *memo
	ctx   contexts
	quiet [2]probability
	run   int // history of the last six "moved" flags

	features featureVector
	scratch  nn.Scratch
	out      [netOutputs]int32
	mix      mixture
	bases    mixtureBases

	changed cube.Changes

	law        *law        // nil in kinetic-lite, which does not simulate
	forecaster *forecaster // allocated with the first frame
	learner    *learner    // nil except in training

	defers     bool // Finish writes memos
	unfinished bool // the last memo is not written yet
}

// Encode implements encoders.Encoder.
func (e *coder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base := e.base(refs)
	err := cube.CheckFrame(cur, e.rows)
	if err == nil {
		err = e.compare(cur, base, refs[0].Changed)
	}
	if err != nil {
		return dst, nil, fmt.Errorf("kinetic: %w", err)
	}
	e.Finish()
	e.Begin(dst, b)
	if err := e.code(cur, base, refs, spare); err != nil {
		return dst, nil, err
	}
	return e.End(dst, b), e.end(), nil
}

// compare finds the cubes that differ from the baseline, unless the caller knows them, and returns an
// error if one of them is out of range.
func (e *coder) compare(cur, base *frame.Frame, known frame.Rows) error {
	e.changed.Find(cur.Table, base.Table, known)
	for i := range e.changed.All() {
		if q := cube.At(cur.Table, i); !cube.InRange(q) {
			return cube.RangeError(i, q)
		}
	}
	return nil
}

// Decode implements encoders.Decoder.
func (e *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base := e.base(refs)
	e.Finish()
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = dst.Body[:0]
	e.changed.Clear(e.rows)
	e.Open(src)
	if err := e.Ended(e.code(dst, base, refs, spare)); err != nil {
		return nil, fmt.Errorf("kinetic: %w", err)
	}
	return e.end(), nil
}

func (e *coder) base(refs []encoders.Ref) *frame.Frame {
	return encoders.Base(refs, e.rows*frame.CubeFields)
}

// code codes cur. When reading, cur starts as a copy of base. The memo is still to be
// written.
func (e *coder) code(cur, base *frame.Frame, refs []encoders.Ref, spare encoders.Memo) error {
	e.begin(cur, base, refs, spare)
	for _, i := range e.scene.order {
		if err := e.codeCube(int(i)); err != nil {
			return fmt.Errorf("cube %d: %w", i, err)
		}
	}
	return nil
}

// begin prepares for the first cube of a frame.
func (e *coder) begin(cur, base *frame.Frame, refs []encoders.Ref, spare encoders.Memo) {
	past, _ := refs[0].Memo.(*memo)
	e.memo = newMemo(spare, e.rows)
	e.memo.adaptive = [adaptiveSize]int16{}
	if past != nil {
		e.memo.adaptive = past.adaptive
	}
	e.run = 0
	if e.law != nil && e.forecaster == nil {
		e.forecaster = newForecaster(e.rows, e.law)
	}
	e.scene.simulates, e.scene.forecast = e.law != nil, nil
	e.scene.begin(cur.Table, base.Table, cur.Tick-base.Tick, past)
	if len(refs) > 1 && len(refs[1].Frame.Table) == len(base.Table) {
		e.scene.second, e.scene.secondAge = refs[1].Frame.Table, base.Tick-refs[1].Frame.Tick
	}
}

// end returns the memo of the frame that was coded, complete unless that is deferred.
func (e *coder) end() *memo {
	e.unfinished = true
	if !e.defers {
		e.Finish()
	}
	return e.memo
}

// Defer implements encoders.Finisher.
func (e *coder) Defer() { e.defers = true }

// Finish implements encoders.Finisher: it simulates the past again, now that its end is
// known, and writes the memo.
func (e *coder) Finish() {
	if !e.unfinished {
		return
	}
	e.unfinished = false
	if e.forecaster != nil {
		e.forecaster.refine(&e.scene)
	}
	e.scene.writeMemo(e.memo)
}

// codeCube codes cube i.
func (e *coder) codeCube(i int) error {
	s := &e.scene
	quiet := s.isQuiet(i) && e.learner == nil
	if quiet && e.codeQuiet(i) {
		return nil
	}
	q, base := cube.At(s.cur, i), cube.At(s.base, i)
	c, moved := s.classify(i), quiet // which it was, but it moved
	if !quiet {
		moved = e.codeMoved(e.changed.Has(i) && !cube.SamePose(q, base), i, &c)
	}
	e.Charge(encoders.SlotFlags)
	if moved {
		e.codeMotion(i, q, base, &c)
		if e.Reading() {
			if err := e.Err(); err != nil {
				return err
			}
			if cube.SamePose(q, base) {
				return cube.ErrUnchanged
			}
		}
	}
	q[frame.CubeInteracting] = e.codeInteracting(q[frame.CubeInteracting], i, moved, &c)
	e.Charge(encoders.SlotInteracting)
	s.record(i)
	if i == 0 && e.forecaster != nil {
		e.forecaster.forecast(s)
	}
	return nil
}

// codeMotion codes position and orientation of a cube that moved.
func (e *coder) codeMotion(i int, q, base *cube.Row, c *contextClasses) {
	s := &e.scene
	subject := s.stateOf(i)
	s.fill(&e.features, &subject)
	e.runNet(e.model.place)
	s.setPositionBases(&e.bases, &subject)
	e.setMixture(q, base, 0)
	for a := range 3 {
		was := base[frame.CubeX+a]
		low, high := cube.Bounds(a)
		d := e.codeValue(q[frame.CubeX+a]-was, low-was, high-was, &e.mix, a, a, c.miss)
		q[frame.CubeX+a] = was + d
	}
	e.Charge(encoders.SlotPosition)
	s.fillMiss(&e.features, &subject, position(q).minus(position(base)).times(1/s.reach))
	e.runNet(e.model.pose)
	poses := s.orientationBases(&subject)
	largest := e.codeLargest(int(q[frame.CubeLargest]), poses[1], int(base[frame.CubeLargest]), c)
	q[frame.CubeLargest] = int32(largest)
	for k := range poses {
		e.bases.base[k] = small(poses[k], largest)
	}
	e.bases.rows = jacobian(poses[1], largest)
	e.setMixture(q, base, 3)
	for a := range 3 {
		k := frame.CubeA + a
		q[k] = e.codeValue(q[k], 0, cube.SmallMax, &e.mix, a, 3+a, c.miss)
	}
	e.Charge(encoders.SlotOrientation)
}

// runNet evaluates a net, unless samples are gathered for training it.
func (e *coder) runNet(net *nn.Net) {
	if e.learner != nil && e.learner.sample != nil {
		e.out = [netOutputs]int32{}
		return
	}
	net.Run(e.out[:], e.features.v[:e.features.n], &e.scratch)
}

// setMixture makes the mixture from the net's output and the bases. coordinate is the
// first of the three that follow.
func (e *coder) setMixture(q, base *cube.Row, coordinate int) {
	if e.learner != nil {
		e.learner.observe(e, q, base, coordinate)
	}
	e.mix.set(&e.out, &e.bases)
}
