package kinetic

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/nn"
)

// coder is an encoder or a decoder: one traversal serves both directions.
type coder struct {
	encoders.RangeCoder               // encodes a decision, or decodes it
	model               *model        // nets and weights, trained
	rows                int           // number of cubes, the player included
	scene               scene         // the cubes coded so far, and the baseline
	memo                *memo         // of the frame that is coded
	contexts            contexts      // the weights that add to the logit of the current decision
	cachedProbs         [2]cachedProb // of quiet cubes: the moved and the interacting flag
	moveHistory         int           // the last six "moved" flags, one bit each

	features  featureVector     // inputs of the net
	scratch   nn.Scratch        // memory of the nets
	netOutput [netOutputs]int32 // outputs of the net evaluated last
	mixture   mixture           // of the value that is coded
	bases     mixtureBases      // predictions that the net corrects

	changed cube.Changes // cubes that differ from the baseline; empty when decoding

	simulation *simulationConfig // nil in kinetic-lite, which does not simulate
	forecaster *forecaster       // allocated with the first frame; nil in kinetic-lite
	learner    *learner          // observes the coder in training; nil in a codec

	deferred   bool // Defer was called: Finish writes memos
	unfinished bool // the last memo is not written yet
}

func (e *coder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base := e.baseline(refs)
	err := cube.CheckFrame(cur, e.rows)
	if err == nil {
		err = e.findChanges(cur, base, refs[0].Changed)
	}
	if err != nil {
		return dst, nil, fmt.Errorf("kinetic: %w", err)
	}
	e.Finish()
	e.BeginEncode(dst, b)
	if err := e.codeFrame(cur, base, refs, spare); err != nil {
		return dst, nil, err
	}
	return e.FinishEncode(dst, b), e.endFrame(), nil
}

// findChanges sets e.changed to the cubes that differ from the baseline. known is that set if the
// caller has it, else nil. The error reports a changed cube with a field out of range.
func (e *coder) findChanges(cur, base *frame.Frame, known frame.Rows) error {
	e.changed.Find(cur.Table, base.Table, known)
	for i := range e.changed.All() {
		if q := cube.At(cur.Table, i); !cube.InRange(q) {
			return cube.RangeError(i, q)
		}
	}
	return nil
}

func (e *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base := e.baseline(refs)
	e.Finish()
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = dst.Body[:0]
	e.changed.Clear(e.rows)
	e.BeginDecode(src)
	if err := e.FinishDecode(e.codeFrame(dst, base, refs, spare)); err != nil {
		return nil, fmt.Errorf("kinetic: %w", err)
	}
	return e.endFrame(), nil
}

// baseline returns the frame of the newest reference. It panics if the frame's table has another size.
func (e *coder) baseline(refs []encoders.Ref) *frame.Frame {
	return encoders.Base(refs, e.rows*frame.CubeFields)
}

// codeFrame encodes cur, or decodes into cur, which then starts as a copy of base. It does not
// write the memo: endFrame does. spare is a memo that may be overwritten, or nil.
func (e *coder) codeFrame(cur, base *frame.Frame, refs []encoders.Ref, spare encoders.Memo) error {
	e.beginFrame(cur, base, refs, spare)
	for _, i := range e.scene.order {
		if err := e.codeCube(int(i)); err != nil {
			return fmt.Errorf("cube %d: %w", i, err)
		}
	}
	return nil
}

// beginFrame prepares for the first cube of a frame. The adaptive weights start as those of the
// baseline's memo, or at 0 without one. A second reference is used only for the speeds of cubes.
func (e *coder) beginFrame(cur, base *frame.Frame, refs []encoders.Ref, spare encoders.Memo) {
	past, _ := refs[0].Memo.(*memo)
	e.memo = newMemo(spare, e.rows)
	e.memo.adaptive = [adaptiveSize]int16{}
	if past != nil {
		e.memo.adaptive = past.adaptive
	}
	e.moveHistory = 0 // no "moved" flags yet
	if e.simulation != nil && e.forecaster == nil {
		e.forecaster = newForecaster(e.rows, e.simulation)
	}
	e.scene.simulates, e.scene.forecast = e.simulation != nil, nil
	e.scene.begin(cur.Table, base.Table, cur.Tick-base.Tick, past)
	if len(refs) > 1 && len(refs[1].Frame.Table) == len(base.Table) {
		e.scene.second, e.scene.secondAge = refs[1].Frame.Table, base.Tick-refs[1].Frame.Tick
	}
}

// endFrame returns the memo of the frame that was coded. After Defer it is incomplete until Finish.
func (e *coder) endFrame() *memo {
	e.unfinished = true
	if !e.deferred {
		e.Finish()
	}
	return e.memo
}

func (e *coder) Defer() { e.deferred = true }

// Finish implements encoders.Finisher. It repeats the simulation with corrected speeds, because
// the frame at its end is now known, and writes the memo.
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

// codeCube codes cube i: the moved flag, the pose if it moved, and the interacting flag. After the
// player, cube 0, it runs the forecast for all others. The short code for quiet cubes (quiet.go)
// gives the same bits; training does not use it because the learner needs each context.
func (e *coder) codeCube(i int) error {
	s := &e.scene
	e.TraceRow(i)
	quiet := s.isQuiet(i) && e.learner == nil
	if quiet && e.codeQuiet(i) {
		return nil
	}
	q, base := cube.At(s.cur, i), cube.At(s.base, i)
	c, moved := s.classify(i), quiet // a quiet cube gets here only if it moved
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
	e.TraceField(encoders.SlotInteracting, frame.CubeInteracting)
	e.Charge(encoders.SlotInteracting)
	s.recordCube(i)
	if i == 0 && e.forecaster != nil {
		e.forecaster.forecast(s)
	}
	return nil
}

// codeMotion codes position and orientation of a cube that moved. Each coordinate is coded as the
// difference from the baseline, within the bounds of the schema. The residual of the position is
// an input of the orientation's net: a cube that was hit has moved and turned. The components of
// the orientation need no difference because their mixture is centred at the prediction.
func (e *coder) codeMotion(i int, q, base *cube.Row, c *contextClasses) {
	s := &e.scene
	state := s.newCubeState(i)
	s.fillFeatures(&e.features, &state)
	e.runNet(e.model.positionNet)
	s.setPositionBases(&e.bases, &state)
	e.setMixture(q, base, 0) // coordinates 0 to 2: x, y, z
	for a := range 3 {
		old := base[frame.CubeX+a]
		low, high := cube.Bounds(a)
		// a is the axis in the mixture and the number of the coordinate.
		d := e.codeValue(q[frame.CubeX+a]-old, low-old, high-old, &e.mixture, a, a, c.residual)
		q[frame.CubeX+a] = old + d
		e.TraceField(encoders.SlotPosition, frame.CubeX+a)
	}
	e.Charge(encoders.SlotPosition)
	s.fillPositionResidual(&e.features, &state, position(q).minus(position(base)).times(1/s.baselineAge))
	e.runNet(e.model.orientationNet)
	poses := s.orientationBases(&state) // poses[1] is the main prediction
	largest := e.codeLargest(int(q[frame.CubeLargest]), poses[1], int(base[frame.CubeLargest]), c)
	q[frame.CubeLargest] = int32(largest)
	e.TraceField(encoders.SlotOrientation, frame.CubeLargest)
	for k := range poses {
		e.bases.base[k] = smallestThree(poses[k], largest)
	}
	e.bases.jacobian = jacobian(poses[1], largest)
	e.setMixture(q, base, 3) // coordinates 3 to 5: the components of the orientation
	for a := range 3 {
		k := frame.CubeA + a
		q[k] = e.codeValue(q[k], 0, cube.SmallMax, &e.mixture, a, 3+a, c.residual)
		e.TraceField(encoders.SlotOrientation, k)
	}
	e.Charge(encoders.SlotOrientation)
}

// runNet evaluates a net on e.features into e.netOutput. While samples for training the nets are gathered, there
// are no nets yet, and the output is 0.
func (e *coder) runNet(net *nn.Net) {
	if e.learner != nil && e.learner.sample != nil {
		e.netOutput = [netOutputs]int32{}
		return
	}
	net.Run(e.netOutput[:], e.features.v[:e.features.n], &e.scratch)
}

// setMixture computes e.mixture from the net's output and e.bases. firstCoordinate is 0 before
// the position and 3 before the orientation. In training the learner observes the cube first.
func (e *coder) setMixture(q, base *cube.Row, firstCoordinate int) {
	if e.learner != nil {
		e.learner.observe(e, q, base, firstCoordinate)
	}
	e.mixture.setFromNet(&e.netOutput, &e.bases)
}
