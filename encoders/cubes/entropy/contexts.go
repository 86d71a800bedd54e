package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// contextCoder codes the cubes of a frame. Every decision has one context and every
// context one counter. The contexts follow Giesen's program gaffer_net (2015): whether the cube
// changed against its own baseline, its distance from the player, its last motion, and the residuals
// of its coordinates that are already coded.
type contextCoder struct {
	fixed  []rangecoder.Counter // probabilities that never change; nil if they adapt
	limit  int                  // limit of Counter.Update; 0 if counters do not adapt
	counts *decisionCounts      // counts the decisions in training; nil in a codec

	coder     *coder               // the encoder or decoder of the current frame
	counters  []rangecoder.Counter // fixed, or those of the frame's memo
	numberCtx numberContexts       // contexts of the current number
}

// Sizes and offsets of the context tables within the counters. The length of a number is its number
// of bits.
const (
	numTurnClasses     = 10 // lengths of a turn, in steps of a component
	numResidualClasses = 10 // lengths of a residual
	numHistoryClasses  = 12 // see contextCube.historyClass
	numRecentPatterns  = 8  // which of the last three rows changed

	ctxChanged     = 0
	ctxMoved       = ctxChanged + numIdleClasses*numDistanceClasses*numRecentPatterns*2
	ctxTurned      = ctxMoved + numIdleClasses*numSpeedClasses
	ctxInteracting = ctxTurned + numIdleClasses*numSpeedClasses
	ctxLargest     = ctxInteracting + numIdleClasses*2*4      // flag in the baseline; four classes of distance
	ctxX           = ctxLargest + numMargins*numTurnClasses*2 // x
	ctxYZ          = ctxX + numSpeedClasses*numHistoryClasses*lengthNodes
	ctxComponents  = ctxYZ + 2*numResidualClasses*numSpeedClasses*lengthNodes
	ctxSign        = ctxComponents + 3*numResidualClasses*numTurnClasses*lengthNodes
	ctxTopBits     = ctxSign + 6*3*3 // numbers; signs of the motion and of the last residual
	ctxSize        = ctxTopBits + 6*topNodes
)

// numberContexts are the indices of a number's counters: of the tree of its length, of its sign, and of
// the tree of its top bits.
type numberContexts struct{ length, sign, top int }

// codeBit encodes bit with the counter of a context, or decodes and returns it.
func (l *contextCoder) codeBit(context, bit int) int {
	counter := &l.counters[context]
	bit = l.coder.Bit(bit, counter.P())
	if l.limit != 0 {
		counter.Update(bit, l.limit)
	}
	if l.counts != nil {
		l.counts.count(context, bit)
	}
	return bit
}

// codeTree encodes the lower n bits of v, the highest first, or decodes and returns them. The
// counters form a binary tree whose root is at context+1.
func (l *contextCoder) codeTree(context, v int, n uint) int {
	v = l.coder.CodeTree(l.counters[context:], v, n, l.limit)
	if l.counts != nil {
		for node := v | 1<<n; node > 1; node >>= 1 {
			l.counts.count(context+node>>1, node&1)
		}
	}
	return v
}

// codeFrame encodes or decodes all cubes, in the order of rows. past is the memo of base,
// next that of cur, whose counters adapt. Cubes that rested before are coded in batches, except in training, which
// counts every decision.
func (l *contextCoder) codeFrame(e *coder, cur, base *frame.Frame, past, next *memo) error {
	l.coder, l.counters = e, next.counters
	if l.fixed != nil { // the memo has no counters
		l.counters = l.fixed
	}
	player, steps, recent := cube.At(base.Table, 0), past.steps, 0
	k := contextCube{coder: e, contexts: l, lastTicks: past.ticks, ticks: next.ticks}
	for i := 0; i < e.rows; i++ {
		if past.idle[i] > 0 && l.counts == nil && !e.Traced() { // a trace has the flag of each cube
			i, recent = l.codeResting(base, past, next, player, i, recent)
			if i == e.rows {
				break
			}
		}
		q, b := cube.At(cur.Table, i), cube.At(base.Table, i)
		var s *step // last step of the cube; nil if it did not change. steps are in the order of rows
		if len(steps) > 0 && int(steps[0].row) == i {
			s, steps = &steps[0], steps[1:]
		}
		idle, distance := idleClass(past.idle[i]), distanceClass(distance2(b, player))
		var predictedShift [3]int32
		if s != nil {
			predictedShift = s.scaled(past.ticks, next.ticks)
		}
		e.TraceRow(i)
		context := ctxChanged + (changeContext(idle, distance, predictedShift)*2+int(b[frame.CubeInteracting]))*numRecentPatterns + recent
		changed := l.codeBit(context, e.changes.Bit(i))
		e.Charge(encoders.SlotFlags)
		recent = (recent<<1 | changed) & (numRecentPatterns - 1) // the last three changed flags
		if changed == 0 {
			next.recordUnchanged(i)
			continue
		}
		if err := e.checkEncodable(i, q); err != nil {
			return err
		}
		k.cur, k.base, k.lastStep, k.predictedShift, k.idleClass, k.distanceClass, k.maxResidualBits = q, b, s, predictedShift, idle, distance, 0
		k.codeChanged()
		if err := e.checkDecoded(i, q, b); err != nil {
			return err
		}
		next.recordChanged(i, q, b).maxResidualLength = uint8(k.maxResidualBits)
		if i == 0 { // distances of the cubes that follow are from the player's new position
			player = q
		}
	}
	return nil
}

// restBatch is the maximum number of cubes at rest that one call of rangecoder.Coder.Zeros codes.
const restBatch = 32

// codeResting codes the changed flags of the cubes from row i up to the first cube that changed in the
// baseline or changes now; the flags of the cubes before it are all 0. It updates their idle counts in next. recent
// has the changed flags of the last three rows, a bit each. codeResting returns the row of the first cube not coded
// and the new value of recent. In a batch the flags of several cubes take one call of the range coder.
func (l *contextCoder) codeResting(base *frame.Frame, past, next *memo, player *cube.Row, i, recent int) (row, newRecent int) {
	e := l.coder
	for batchFull := true; batchFull; {
		var contexts [restBatch]int32
		n := 0
		for list := past.idle[i:min(i+restBatch, e.rows)]; n < len(list) && list[n] > 0 && e.changes.Bit(i+n) == 0; n++ {
			idle, b := list[n], cube.At(base.Table, i+n)
			next.idle[i+n] = idle + uint8(rangecoder.Flag(idle < idleMax))
			class := idleClass(idle)*numDistanceClasses + distanceClass(distance2(b, player))
			contexts[n] = int32(ctxChanged + (class*2+int(b[frame.CubeInteracting]))*numRecentPatterns + recent)
			recent = recent << 1 & (numRecentPatterns - 1)
		}
		done := e.CodeZeros(l.counters, contexts[:n], l.limit) // a decoder stops before the first flag of 1
		i += done
		if done < n { // the lowest bits of a context are the value of recent before that cube
			recent = int(contexts[done] & (numRecentPatterns - 1))
		}
		batchFull = done == restBatch && i < e.rows
	}
	e.Charge(encoders.SlotFlags)
	return i, recent
}

// contextCube is a changed cube with the values that its contexts depend on.
type contextCube struct {
	coder                    *coder
	contexts                 *contextCoder // codes the decisions
	cur, base                *cube.Row     // the cube in the frame and in the baseline
	lastStep                 *step         // nil if the cube did not change in the baseline
	lastTicks, ticks         int32         // frames of the last step, and from the baseline to this frame
	predictedShift           [3]int32      // motion of x, y and z at the last velocity
	idleClass, distanceClass int           // classes of the time at rest and of the distance from the player
	maxResidualBits          int           // largest bit length of the position residuals so far
}

// changeContext returns the context of the changed flag: by predicted speed for a cube that changed
// in the baseline, otherwise by the time at rest and the distance from the player.
func changeContext(idle, distance int, predictedShift [3]int32) int {
	if idle == 0 {
		return speedClass(predictedShift) // below numDistanceClasses, where the other contexts begin
	}
	return idle*numDistanceClasses + distance
}

// historyClass returns a class of the cube's past: the length of its last position residual if it
// changed in the baseline, otherwise its distance from the player. The two ranges do not overlap.
func (k *contextCube) historyClass() int {
	if k.lastStep == nil {
		return numHistoryClasses - 1 - k.distanceClass/3
	}
	return min(int(k.lastStep.maxResidualLength), numHistoryClasses-1-numDistanceClasses/3)
}

// codeChanged codes a cube that changed: an encoder writes the values of k.cur, a decoder stores
// the values that it reads there. The order is: whether it moved, and if so its position; whether it turned, and if
// so its orientation; whether the interacting flag flipped. The contexts of the first two flags are the time at rest
// and the predicted speed.
func (k *contextCube) codeChanged() {
	l, motionContext := k.contexts, k.idleClass*numSpeedClasses+speedClass(k.predictedShift)
	moved := l.codeBit(ctxMoved+motionContext, rangecoder.Flag(!cube.SamePosition(k.cur, k.base)))
	k.coder.Charge(encoders.SlotFlags)
	if moved != 0 {
		k.codePosition()
		k.coder.Charge(encoders.SlotPosition)
	}
	turned := l.codeBit(ctxTurned+motionContext, rangecoder.Flag(!cube.SameOrientation(k.cur, k.base)))
	k.coder.Charge(encoders.SlotFlags)
	if turned != 0 {
		k.codeOrientation()
		k.coder.Charge(encoders.SlotOrientation)
	}
	flipped := 1 // not coded for a cube that neither moved nor turned: the flag must have flipped
	if moved|turned != 0 {
		context := ctxInteracting + (k.idleClass*2+int(k.base[frame.CubeInteracting]))*4 + k.distanceClass*4/numDistanceClasses
		flipped = l.codeBit(context, int(k.cur[frame.CubeInteracting]^k.base[frame.CubeInteracting]))
	}
	k.cur[frame.CubeInteracting] = k.base[frame.CubeInteracting] ^ int32(flipped)
	k.coder.TraceField(encoders.SlotInteracting, frame.CubeInteracting)
	k.coder.Charge(encoders.SlotInteracting)
}

// codePosition codes x, y and z as residuals of the position that the last velocity predicts. The context of the
// residual's bit length contains the speed and, for x, the history; for y and z, the largest bit length coded before.
func (k *contextCube) codePosition() {
	speed, lastSign := speedClass(k.predictedShift), 1 // lastSign: signClass of the last residual, 1 for 0
	for j, v := range k.predictedShift {
		lengthContext := ctxX + (speed*numHistoryClasses+k.historyClass())*lengthNodes
		if j > 0 {
			lengthContext = ctxYZ + (((j-1)*numResidualClasses+min(k.maxResidualBits,
				numResidualClasses-1))*numSpeedClasses+speed)*lengthNodes
		}
		k.contexts.numberCtx = numberContexts{lengthContext, ctxSign + (j*3+signClass(v))*3 + lastSign, ctxTopBits + j*topNodes}
		p := &k.cur[frame.CubeX+j]
		guess := clampCoordinate(j, k.base[frame.CubeX+j]+v)
		residual := k.contexts.codeNumber(*p - guess)
		*p = guess + residual
		k.coder.TraceField(encoders.SlotPosition, frame.CubeX+j)
		k.maxResidualBits, lastSign = max(k.maxResidualBits, bitLength(residual, 32)), signClass(residual)
	}
}

// codeOrientation codes which component of the orientation is the largest, and the other three as
// residuals. The prediction continues the last change of each component linearly, scaled by the
// ratio of the times. Its contexts are the length of the last turn and the residuals already coded.
func (k *contextCube) codeOrientation() {
	l, q, b := k.contexts, k.cur, k.base
	predicted := orientation(b)
	before := predicted
	if k.lastStep != nil {
		var from cube.Row
		cube.UnpackOrientation(&from, k.lastStep.fromOrientation)
		before = orientation(&from)
		if dot(&before, &predicted) < 0 {
			before = before.Negative() // the same rotation, on the side of predicted
		}
	}
	var turn rotation.Quaternion
	ratio, spin := float64(k.ticks)/float64(k.lastTicks), 0 // spin: length of the last turn's longest component
	for i := range predicted {
		turn[i] = predicted[i] - before[i]
		spin = max(spin, bitLength(int32(float64(turn[i]*stepsToOne)), numTurnClasses-1))
		predicted[i] += float64(turn[i] * ratio)
	}
	k.codeLargest(&predicted, spin)
	if predicted[q[frame.CubeLargest]] < 0 {
		predicted, turn = predicted.Negative(), turn.Negative()
	}
	// The largest bit length of the residuals of this orientation so far, and signClass of the last one, 1 for 0.
	maxComponentBits, lastSign := 0, 1
	for i, j := int32(0), 0; i < 4; i++ {
		if i == q[frame.CubeLargest] {
			continue
		}
		lengthContext := spin // plus the residuals of the position, or of the components coded before
		if j == 0 {
			lengthContext += min(k.maxResidualBits, numResidualClasses-1) * numTurnClasses
		} else {
			lengthContext += (j*numResidualClasses + min(maxComponentBits, numResidualClasses-1)) * numTurnClasses
		}
		l.numberCtx = numberContexts{ctxComponents + lengthContext*lengthNodes,
			ctxSign + ((3+j)*3+floatSignClass(turn[i]))*3 + lastSign, ctxTopBits + (3+j)*topNodes}
		p := &q[frame.CubeA+j]
		guess := gridStep(predicted[i])
		residual := l.codeNumber(*p - guess)
		*p = guess + residual
		k.coder.TraceField(encoders.SlotOrientation, frame.CubeA+j)
		maxComponentBits, lastSign = max(maxComponentBits, bitLength(residual, 32)), signClass(residual)
		j++
	}
}

// codeLargest codes which component is the largest: first whether it is that of guess, then whether
// it is the second largest of guess, and otherwise its index. spin is the length of the last turn.
func (k *contextCube) codeLargest(guess *rotation.Quaternion, spin int) {
	first, second := guess.Largest()
	context := ctxLargest + (marginClass(guess, first, second)*numTurnClasses+spin)*2
	q := &k.cur[frame.CubeLargest]
	switch {
	case k.contexts.codeBit(context, rangecoder.Flag(int(*q) != first)) == 0:
		*q = int32(first)
	case k.contexts.codeBit(context+1, rangecoder.Flag(int(*q) != second)) == 0:
		*q = int32(second)
	default:
		*q = int32(k.coder.Direct(uint64(*q), cube.LargestBits))
	}
	k.coder.TraceField(encoders.SlotOrientation, frame.CubeLargest)
}
