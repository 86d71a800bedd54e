package entropy

import (
	"math"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// predictive is the traversal of the codec predictive. Linear models predict position and orientation
// of each cube from its last motion, its neighbour and the player; another model predicts the size of
// the residual, which selects the contexts in which the residual is coded.
type predictive struct {
	mixing
	neighbours  neighbourhood // order of the cubes, and the coded cubes near a cube
	shiftModel  linear        // predicts the shift of the position
	turnModel   linear        // predicts the turn: the rotation since the baseline
	sizeModel   sizeModel     // predicts the sizes of residuals
	stepIndex   []int32       // of each row: 1 + the index of its step in the baseline's memo; 0 if none
	fits        *fits         // in training: samples for fitting the linear models; nil in a codec
	coder       *coder        // the encoder or decoder of the current frame
	recent      int           // the last changed flags, the newest in the lowest bit
	playerShift [3]int32      // since the baseline; 0 until the player is coded
}

// cubeContext is a cube with the values that its contexts and predictions depend on. One instance
// serves all cubes of a frame, because most cubes rest and need few of the values. A length is a
// number of bits.
type cubeContext struct {
	p                        *predictive
	cur, base                *cube.Row  // the cube in the frame and in the baseline
	player                   *cube.Row  // the player's row in the baseline
	playerShift              [3]int32   // of the player since the baseline; 0 until it is coded
	lastStep                 *step      // nil if the cube did not change in the baseline
	predictedShift           [3]int32   // the shift at the last velocity
	lastTicks, ticks         int32      // frames of the last step, and from the baseline to this frame
	neighbour                *neighbour // the nearest coded cube; nil if none is near
	own                      *neighbour // the entry of this cube, for those that follow
	distance                 int64      // from the player, in units
	idleClass, distanceClass int        // classes of the time at rest and of the distance from the player
	ring, heightClass        int        // ring: class of the distance, finer than distanceClass
	speedClass               int        // bit length of the largest component of predictedShift
	lastResidual             int        // length of the last residual of the position
	lastTurnResidual         int        // length of the last residual of the orientation
	neighbourResidual        int        // 1 + length of the neighbour's residual of the position; 0 without one
	neighbourTurnResidual    int        // 1 + length of the neighbour's residual of the orientation; 0 without one
	positionResidual         int        // length of the residuals of this position so far
}

// codeFrame implements traversal. It codes the cubes in the order of p.neighbours: the player, row 0,
// is the first, so its shift is known when the other cubes are coded.
func (p *predictive) codeFrame(e *coder, cur, base *frame.Frame, past, next *memo) error {
	p.begin(e, base, past, next)
	k := cubeContext{p: p, player: cube.At(base.Table, 0), lastTicks: past.ticks, ticks: next.ticks}
	for _, i := range p.neighbours.order {
		q, b := cube.At(cur.Table, int(i)), cube.At(base.Table, int(i))
		k.cur, k.base, k.lastStep = q, b, nil
		e.TraceRow(int(i))
		if stepNumber := p.stepIndex[i]; stepNumber != 0 {
			k.lastStep = &past.steps[stepNumber-1]
		}
		k.setClasses(past.idle[i], int(p.neighbours.rings[i]), int(p.neighbours.distanceClasses[i]))
		if k.codeChanged(past.idle[i], e.changes.Bit(int(i))) == 0 {
			next.recordUnchanged(int(i))
			continue
		}
		if err := e.checkEncodable(int(i), q); err != nil {
			return err
		}
		k.codeCube()
		if err := e.checkDecoded(int(i), q, b); err != nil {
			return err
		}
		k.recordResiduals(next.recordChanged(int(i), q, b))
		if i == 0 {
			p.playerShift = k.own.shift
		}
	}
	return nil
}

// begin prepares for a frame: it orders the cubes and finds their last steps. The counters and weights
// are those of next, which codeFrame updates.
func (p *predictive) begin(e *coder, base *frame.Frame, past, next *memo) {
	p.coder, p.rangeCoder = e, &e.Coder
	p.counters, p.weights = next.counters, next.weights
	if p.trainedWeights != nil {
		p.weights = p.trainedWeights
	}
	p.neighbours.begin(base, e.rows)
	p.stepIndex = slices.Grow(p.stepIndex[:0], e.rows)[:e.rows]
	clear(p.stepIndex)
	for stepNumber := range past.steps {
		p.stepIndex[past.steps[stepNumber].row] = int32(stepNumber + 1)
	}
	p.recent, p.playerShift = 0, [3]int32{}
}

// setClasses sets the classes of the cube in k.cur, and its predicted shift. idle is the number of packets since
// the cube changed. ring and distance are a fine and a coarse class of its distance from the player, see
// neighbourhood. The rings below 26, very close to the player, share a class.
func (k *cubeContext) setClasses(idle uint8, ring, distance int) {
	k.idleClass, k.distanceClass, k.ring = idleClass(idle), distance, min(max(ring-24, 0)/2, numBuckets-1)
	k.heightClass = heightClass(k.base[frame.CubeZ])
	k.predictedShift, k.playerShift = [3]int32{}, k.p.playerShift
	k.speedClass, k.lastResidual, k.lastTurnResidual = 0, 0, 0
	if s := k.lastStep; s != nil {
		k.predictedShift = s.scaled(k.lastTicks, k.ticks)
		k.speedClass = maxBitLength(k.predictedShift, numSpeedClasses-1)
		k.lastResidual = maxBitLength([3]int32{int32(s.residual[0]), int32(s.residual[1]), int32(s.residual[2])},
			numLastResiduals-1)
		k.lastTurnResidual = int(s.maxResidualLength)
	}
}

// codeChanged finds the neighbour of the cube and encodes differs, which is 1 if the cube changed since
// the baseline, or decodes and returns it. idle is the number of packets since the cube changed. The contexts
// combine the time at rest, the distance from the player, the last flags, the speeds of the cube and of its
// neighbour, and their distance.
func (k *cubeContext) codeChanged(idle uint8, differs int) int {
	p := k.p
	// Classes of the neighbour's distance and of its shift; 0 without a neighbour. The class of the
	// distance is linear in its square, with 1<<14 for each class.
	neighbourGap, neighbourPace := 0, 0
	k.neighbourResidual, k.neighbourTurnResidual = 0, 0
	var neighbourDistance2 uint64
	k.neighbour, neighbourDistance2 = p.neighbours.nearest(k.base)
	if k.neighbour != nil {
		neighbourGap = 1 + min(int(neighbourDistance2>>14), numGaps-2)
		neighbourPace = maxBitLength(k.neighbour.shift, numPaces-1)
		k.neighbourResidual = 1 + maxBitLength(k.neighbour.residual, numResidualLengths-2)
		k.neighbourTurnResidual = 1 + k.neighbour.maxTurnResidual
	}
	p.setContexts(5, &changedTables, [maxContexts]int{
		(k.idleClass*numDistanceClasses+k.distanceClass)*8 + p.recent&7, // the changed flags of the last three cubes
		int(min(idle, 31))*numSpeedClasses + k.speedClass,
		(neighbourGap*numPaces+neighbourPace)*4 + min(k.idleClass, 3),
		p.recent*numIdleClasses + k.idleClass,
		((k.idleClass*numSpeedClasses+k.speedClass)*6+k.distanceClass/2)*2 + int(k.base[frame.CubeInteracting])})
	p.counterContext, p.weightSet = counterChanged+k.idleClass*numSpeedClasses+k.speedClass, setChanged+k.idleClass
	changed := p.codeMixed(flagNode, differs)
	p.recent = (p.recent<<1 | changed) & (numRecents - 1)
	p.coder.Charge(encoders.SlotFlags)
	return changed
}

// codeCube codes a cube that changed, in this order: whether it moved, and if so its position; whether it turned, and
// if so its orientation; whether the interacting flag changed. The residuals of the position are contexts of the
// orientation.
func (k *cubeContext) codeCube() {
	p, e := k.p, k.p.coder
	k.distance = int64(math.Sqrt(float64(distance2(k.base, k.player))))
	k.own, k.positionResidual = p.neighbours.addCube(k.base), 0
	p.setContexts(3, &movedTables, [maxContexts]int{
		(k.idleClass*numSpeedClasses+k.speedClass)*numLastResiduals + k.lastResidual,
		k.distanceClass*numResidualLengths + k.neighbourResidual,
		(k.lastTurnResidual*numHeights+k.heightClass)*numIdleClasses + k.idleClass})
	p.counterContext, p.weightSet = counterMoved+k.speedClass, setMoved
	moved := p.codeMixed(flagNode, rangecoder.Flag(!cube.SamePosition(k.cur, k.base)))
	e.Charge(encoders.SlotFlags)
	if moved != 0 {
		k.codePosition()
		e.Charge(encoders.SlotPosition)
	}
	p.setContexts(4, &turnedTables, [maxContexts]int{
		(k.idleClass*numSpeedClasses+k.speedClass)*2 + moved,
		k.positionResidual*numResidualLengths + k.neighbourResidual,
		(k.lastTurnResidual*numResidualLengths+k.positionResidual)*2 + moved,
		k.positionResidual*numDistanceClasses + k.distanceClass})
	p.counterContext, p.weightSet = counterTurned+k.positionResidual, setTurned
	turned := p.codeMixed(flagNode, rangecoder.Flag(!cube.SameOrientation(k.cur, k.base)))
	e.Charge(encoders.SlotFlags)
	if turned != 0 {
		k.codeOrientation()
		e.Charge(encoders.SlotOrientation)
	}
	k.codeInteracting(moved|turned != 0)
	e.TraceField(encoders.SlotInteracting, frame.CubeInteracting)
	e.Charge(encoders.SlotInteracting)
}

// codeInteracting codes whether the interacting flag changed. coded is false if neither position nor
// orientation changed; the flag must have changed then and takes no bits.
func (k *cubeContext) codeInteracting(coded bool) {
	p, flipped, old := k.p, 1, int(k.base[frame.CubeInteracting])
	if coded {
		p.setContexts(3, &interactingTables, [maxContexts]int{
			(k.distanceClass*numIdleClasses+k.idleClass)*2 + old,
			(k.neighbourResidual*numSpeedClasses+k.speedClass)*2 + old,
			(k.positionResidual*numDistanceClasses+k.distanceClass)*2 + old})
		p.counterContext, p.weightSet = counterInteracting+old, setInteracting
		flipped = p.codeMixed(flagNode, int(k.cur[frame.CubeInteracting])^old)
	}
	k.cur[frame.CubeInteracting] = int32(old ^ flipped)
}

// recordResiduals stores the residuals of the cube in its step, for later frames: those of the position, clamped to
// 16 bits, and the bit length of the largest of the orientation.
func (k *cubeContext) recordResiduals(s *step) {
	for j := range s.residual {
		s.residual[j] = int16(min(max(k.own.residual[j], -1<<15), 1<<15-1))
	}
	s.maxResidualLength = uint8(k.own.maxTurnResidual)
}

// codePosition codes x, y and z as residuals of the linear prediction, and stores the residuals and the shifts in
// k.own; the shift of a coordinate is its difference from the baseline.
// The predicted size of each residual selects the contexts of its length. The context of its sign is that
// size and the signs of the last residual, the neighbour's residual and the predicted shift. Features of the size
// model are lengths in bits, at most 31 because the model has 32 weights for each.
func (k *cubeContext) codePosition() {
	p := k.p
	var total, last int32 // sum of the magnitudes of the residuals of this position, and the last residual
	for j := range 3 {
		class, f := k.linearClass(j), k.shiftFeatures(j)
		shift := p.shiftModel.predict(class, f[:])
		coord, base := &k.cur[frame.CubeX+j], k.base[frame.CubeX+j]
		predicted := clampCoordinate(j, base+shift)
		shift = predicted - base

		lastResidual, neighbourResidual := int32(0), int32(0)
		features := [numSizeFeatures]int{ // of the size model; elements 2 and 4 are set below
			bitLength(total, 31), k.lastResidual, 0, k.neighbourResidual, 0, k.speedClass, k.ring,
			k.heightClass*numIdleClasses + k.idleClass, bitLength(k.predictedShift[j], 31), bitLength(last, 31),
			k.lastTurnResidual, bitLength(shift, 31), maxBitLength(k.playerShift, 31)}
		if k.lastStep != nil {
			lastResidual = int32(k.lastStep.residual[j])
			features[2] = 1 + bitLength(lastResidual, 12)
		}
		if k.neighbour != nil {
			neighbourResidual = k.neighbour.residual[j]
			features[4] = 1 + bitLength(neighbourResidual, 12)
		}
		expected := p.sizeModel.predict(j, &features)
		group := j / 2 // 0 for x and y, 1 for z
		k.setNumberContexts(group, expected, bitLength(shift, numPaces-1), k.lastResidual, k.positionResidual,
			k.speedClass*2/3) // 12 classes of the speed become 8
		p.signContext = signOffset + (group*4+bucket(expected, 1, 8)/2)*numSigns +
			(signClass(lastResidual)*3+signClass(neighbourResidual))*3 + signClass(shift)
		residual := p.mixing.codeNumber(*coord - predicted)
		if p.fits != nil {
			p.fits.shift.addSample(class, f[:], *coord-base, *coord-predicted)
		}
		*coord = predicted + residual
		p.coder.TraceField(encoders.SlotPosition, frame.CubeX+j)
		p.sizeModel.train(residual)
		k.own.residual[j], k.own.shift[j] = residual, *coord-base
		total += min(max(residual, -residual), 1<<20)
		k.positionResidual, last = max(k.positionResidual, bitLength(residual, numResidualLengths-1)), residual
	}
}

// setNumberContexts sets the contexts of a residual. group is 0 for x and y, 1 for z and 2 for the
// orientation; expected is the predicted binary logarithm of 1+|residual|, times 65536. The contexts combine it with
// the lengths of the predicted shift, of the last residual, of the residuals of other coordinates,
// and with the speed.
func (k *cubeContext) setNumberContexts(group int, expected int32, shiftLength, lastResidual, otherResidual, speed int) {
	p := k.p
	fine, coarse := bucket(expected, 4, numFineSizes), bucket(expected, 1, numCoarseSizes)
	p.setContexts(4, &lengthTables, [maxContexts]int{
		(group*numFineSizes + fine) * lengthNodes,
		((group*numCoarseSizes+coarse)*numPaces + shiftLength) * lengthNodes,
		((group*numCoarseSizes+coarse)*numLastResiduals + lastResidual) * lengthNodes,
		((group*numResidualLengths+otherResidual)*numPaces + min(speed, numPaces-1)) * lengthNodes})
	// Each context has a tree of lengthNodes decisions.
	p.counterContext = counterLength + (group*numFineSizes/2+fine/2)*lengthNodes
	p.weightSet = setLength + group*lengthNodes
	p.topContext = topOffset + group*topNodes
}

// codeOrientation codes which component of the orientation is the largest, and the other three as
// residuals of the predicted orientation. It stores the residuals in k.own. Features of the size model are lengths
// in bits, at most 31 because the model has 32 weights for each.
func (k *cubeContext) codeOrientation() {
	p, q := k.p, k.cur
	from := orientation(k.base)
	guess, expected := k.predictOrientation(&from) // expected has the bit length of the predicted turn
	k.codeLargest(&guess, expected)
	signed := withPositiveComponent(guess, q[frame.CubeLargest])
	// turnLength is the bit length of the turn in units of 16/turnUnit.
	turnLength, shiftLength := bitLength(expected>>4, numTurnClasses-1), maxBitLength(k.own.shift, 31)
	var total, last int32                 // sum of the magnitudes of the residuals of this orientation, and the last residual
	maxResidual := 0                      // largest length of these residuals
	for i, j := int32(0), 0; i < 4; i++ { // component i of the quaternion is the j-th of those that are coded
		if i == q[frame.CubeLargest] {
			continue
		}
		component := &q[frame.CubeA+j]
		predicted := gridStep(signed[i])
		features := [numSizeFeatures]int{
			bitLength(total, 31), k.lastTurnResidual, maxResidual, bitLength(last, 31), turnLength,
			k.neighbourTurnResidual, k.ring, k.heightClass*numIdleClasses + k.idleClass, k.positionResidual, shiftLength,
			bitLength(k.own.residual[0], 31), bitLength(k.own.residual[1], 31), bitLength(k.own.residual[2], 31)}
		size := p.sizeModel.predict(3+j, &features) // kinds 0 to 2 are x, y and z
		const group = 2                             // of the contexts: the orientation, see setNumberContexts
		k.setNumberContexts(group, size, min(k.positionResidual, numPaces-1), k.lastTurnResidual, maxResidual, turnLength)
		p.signContext = signOffset + (group*4+bucket(size, 1, 8)/2)*numSigns + signClass(last)*9
		residual := p.mixing.codeNumber(*component - predicted)
		*component = predicted + residual
		p.coder.TraceField(encoders.SlotOrientation, frame.CubeA+j)
		p.sizeModel.train(residual)
		total += max(residual, -residual)
		maxResidual, last = max(maxResidual, bitLength(residual, numLastResiduals-1)), residual
		j++
	}
	final := orientation(q)
	k.own.turnResidual, k.own.maxTurnResidual = turnBetween(&guess, &final), maxResidual
}

// predictOrientation returns the orientation after the predicted turn from the baseline's, from, and the
// bitwise or of the magnitudes of the turn's components: its bit length is that of the longest.
func (k *cubeContext) predictOrientation(from *rotation.Quaternion) (rotation.Quaternion, int32) {
	p := k.p
	var lastTurn, turn [3]int32
	if k.lastStep != nil {
		var before cube.Row
		cube.UnpackOrientation(&before, k.lastStep.fromOrientation)
		lastOrientation := orientation(&before)
		lastTurn = turnBetween(&lastOrientation, from)
		for i := range lastTurn {
			lastTurn[i] = min(max(lastTurn[i]*k.ticks/k.lastTicks, -maxTurn), maxTurn) // the turn at the last spin
		}
	}
	for axis := range turn {
		f := k.turnFeatures(axis, lastTurn, k.own.shift)
		turn[axis] = min(max(p.turnModel.predict(k.linearClass(axis), f[:]), -maxTurn), maxTurn)
	}
	if p.fits != nil {
		k.addTurnSamples(from, lastTurn, turn)
	}
	return rotate(from, turn), max(turn[0], -turn[0]) | max(turn[1], -turn[1]) | max(turn[2], -turn[2])
}

// addTurnSamples adds samples of the turn to p.fits, in training.
func (k *cubeContext) addTurnSamples(from *rotation.Quaternion, lastTurn, turn [3]int32) {
	final := orientation(k.cur)
	truth := turnBetween(from, &final)
	for axis := range turn {
		f := k.turnFeatures(axis, lastTurn, k.own.shift)
		k.p.fits.turn.addSample(k.linearClass(axis), f[:], truth[axis], truth[axis]-turn[axis])
	}
}

// codeLargest codes which component of the orientation is the largest: first whether it is that of
// the prediction guess, then whether it is the second largest of guess, and otherwise its index. turn is a
// number with as many bits as the longest component of the predicted turn in units of 1/turnUnit; a context is
// the bit length of turn/16.
func (k *cubeContext) codeLargest(guess *rotation.Quaternion, turn int32) {
	p, q := k.p, &k.cur[frame.CubeLargest]
	first, second := guess.Largest()
	margin := marginClass(guess, first, second)
	p.setContexts(3, &largestTables, [maxContexts]int{
		margin*numResidualLengths + k.positionResidual, margin*numLastResiduals + k.lastTurnResidual,
		margin*numTurnClasses + bitLength(turn>>4, numTurnClasses-1)})
	p.counterContext, p.weightSet = counterLargest+margin, setLargest
	switch {
	case p.codeMixed(flagNode, rangecoder.Flag(int(*q) != first)) == 0:
		*q = int32(first)
	case p.codeTrained(secondOffset+margin, rangecoder.Flag(int(*q) != second)) == 0:
		*q = int32(second)
	default:
		*q = int32(p.rangeCoder.Direct(uint64(*q), cube.LargestBits))
	}
	p.coder.TraceField(encoders.SlotOrientation, frame.CubeLargest)
}
