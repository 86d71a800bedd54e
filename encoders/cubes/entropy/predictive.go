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

// predictive is the traversal of predictive: it predicts the position and orientation of
// each cube and the size of the residual, and codes the residual.
type predictive struct {
	mixing
	neighbours neighbourhood
	shifts     linear
	turns      linear
	scale      scale
	steps      []int32 // by row: one more than the index of its step in the memo
	fit        *fits   // of a trainer: samples for fitting the predictions
	e          *coder
	recent     int // the last decisions on "changed", newest lowest
	drive      [3]int32
}

// cubeContext is a cube and the values of its contexts and predictions. One serves all cubes of a
// frame, because most of them rest and need few of the values.
type cubeContext struct {
	p                *predictive
	q, base          *cube.Row
	player           *cube.Row // in the base frame
	drive            [3]int32
	step             *step
	v                [3]int32 // the shift predicted by its last velocity
	lastTicks, ticks int32
	near             *neighbour
	self             *neighbour
	distance         int64
	idle, far        int
	ring, height     int
	speed            int // length of v
	lastMiss         int // length of its last residual of position
	lastTurnMiss     int // length of its last residual of orientation
	nearMissed       int // 1 + the neighbour's; 0 without a neighbour
	nearTurnMiss     int
	off              int // length of the residuals of this position so far
}

func (p *predictive) frame(e *coder, cur, base *frame.Frame, past, next *memo) error {
	p.begin(e, base, past, next)
	k := cubeContext{p: p, player: cube.At(base.Table, 0), lastTicks: past.ticks, ticks: next.ticks}
	for _, i := range p.neighbours.order {
		q, b := cube.At(cur.Table, int(i)), cube.At(base.Table, int(i))
		k.q, k.base, k.step = q, b, nil
		if at := p.steps[i]; at != 0 {
			k.step = &past.moved[at-1]
		}
		k.setFeatures(past.idle[i], int(p.neighbours.rings[i]), int(p.neighbours.far[i]))
		if k.changed(past.idle[i], e.changes.Bit(int(i))) == 0 {
			next.noteUnchanged(int(i))
			continue
		}
		if err := e.admit(int(i), q); err != nil {
			return err
		}
		k.code()
		if err := e.accept(int(i), q, b); err != nil {
			return err
		}
		k.record(next.noteChanged(int(i), q, b))
		if i == 0 {
			p.drive = k.self.shift
		}
	}
	return nil
}

// begin prepares for a frame.
func (p *predictive) begin(e *coder, base *frame.Frame, past, next *memo) {
	p.e, p.coder = e, &e.Coder
	p.counters, p.weights = next.counters, next.weights
	if p.trainedWeights != nil {
		p.weights = p.trainedWeights
	}
	p.neighbours.begin(base, e.rows)
	p.steps = slices.Grow(p.steps[:0], e.rows)[:e.rows]
	clear(p.steps)
	for at := range past.moved {
		p.steps[past.moved[at].row] = int32(at + 1)
	}
	p.recent, p.drive = 0, [3]int32{}
}

// setFeatures computes the classes of a cube.
func (k *cubeContext) setFeatures(idle uint8, ring, far int) {
	k.idle, k.far, k.ring = idleClass(idle), far, min(max(ring-24, 0)/2, buckets-1)
	k.height = height(k.base[frame.CubeZ])
	k.v, k.drive = [3]int32{}, k.p.drive
	k.speed, k.lastMiss, k.lastTurnMiss = 0, 0, 0
	if s := k.step; s != nil {
		k.v = s.scaled(k.lastTicks, k.ticks)
		k.speed = span(k.v, speeds-1)
		k.lastMiss = span([3]int32{int32(s.miss[0]), int32(s.miss[1]), int32(s.miss[2])}, missClasses-1)
		k.lastTurnMiss = int(s.turnMiss)
	}
}

// changed codes whether the cube differs from its baseline.
func (k *cubeContext) changed(idle uint8, differ int) int {
	p := k.p
	gap, pace := 0, 0
	k.nearMissed, k.nearTurnMiss = 0, 0
	var d uint64
	k.near, d = p.neighbours.nearest(k.base)
	if k.near != nil {
		gap = 1 + min(int(d>>14), gaps-2)
		pace = span(k.near.shift, paces-1)
		k.nearMissed = 1 + span(k.near.miss, offs-2)
		k.nearTurnMiss = 1 + k.near.off
	}
	p.setContexts(5, &changedAt, [maxContexts]int{
		(k.idle*distanceClasses+k.far)*8 + p.recent&7,
		int(min(idle, 31))*speeds + k.speed,
		(gap*paces+pace)*4 + min(k.idle, 3),
		p.recent*idleClasses + k.idle,
		((k.idle*speeds+k.speed)*6+k.far/2)*2 + int(k.base[frame.CubeInteracting])})
	p.adaptive, p.set = ownChanged+k.idle*speeds+k.speed, setChanged+k.idle
	changed := p.codeMixed(0, differ)
	p.recent = (p.recent<<1 | changed) & (recents - 1)
	p.e.Charge(encoders.SlotFlags)
	return changed
}

// code codes a cube that changed.
func (k *cubeContext) code() {
	p, e := k.p, k.p.e
	k.distance = int64(math.Sqrt(float64(distance2(k.base, k.player))))
	k.self, k.off = p.neighbours.add(k.base), 0
	p.setContexts(3, &movedAt, [maxContexts]int{
		(k.idle*speeds+k.speed)*missClasses + k.lastMiss,
		k.far*offs + k.nearMissed,
		(k.lastTurnMiss*heights+k.height)*idleClasses + k.idle})
	p.adaptive, p.set = ownMoved+k.speed, setMoved
	moved := p.codeMixed(0, rangecoder.Flag(!cube.SamePosition(k.q, k.base)))
	e.Charge(encoders.SlotFlags)
	if moved != 0 {
		k.shift()
		e.Charge(encoders.SlotPosition)
	}
	p.setContexts(4, &turnedAt, [maxContexts]int{
		(k.idle*speeds+k.speed)*2 + moved,
		k.off*offs + k.nearMissed,
		(k.lastTurnMiss*offs+k.off)*2 + moved,
		k.off*distanceClasses + k.far})
	p.adaptive, p.set = ownTurned+k.off, setTurned
	turned := p.codeMixed(0, rangecoder.Flag(!cube.SameOrientation(k.q, k.base)))
	e.Charge(encoders.SlotFlags)
	if turned != 0 {
		k.turn()
		e.Charge(encoders.SlotOrientation)
	}
	k.codeInteracting(moved|turned != 0)
	e.Charge(encoders.SlotInteracting)
}

// codeInteracting codes whether the interacting flag changed. For a cube that neither
// moved nor turned it must have.
func (k *cubeContext) codeInteracting(open bool) {
	p, flipped, was := k.p, 1, int(k.base[frame.CubeInteracting])
	if open {
		p.setContexts(3, &touchedAt, [maxContexts]int{
			(k.far*idleClasses+k.idle)*2 + was,
			(k.nearMissed*speeds+k.speed)*2 + was,
			(k.off*distanceClasses+k.far)*2 + was})
		p.adaptive, p.set = ownTouched+was, setTouched
		flipped = p.codeMixed(0, int(k.q[frame.CubeInteracting])^was)
	}
	k.q[frame.CubeInteracting] = int32(was ^ flipped)
}

// record stores the residuals in the cube's step for later packets.
func (k *cubeContext) record(s *step) {
	for j := range s.miss {
		s.miss[j] = int16(min(max(k.self.miss[j], -1<<15), 1<<15-1))
	}
	s.turnMiss = uint8(k.self.off)
}

// shift codes the position as the residual of the prediction.
func (k *cubeContext) shift() {
	p, last := k.p, int32(0)
	var total int32
	for j := range 3 {
		class, f := k.class(j), k.shiftFeatures(j)
		by := p.shifts.predict(class, f[:])
		coord, from := &k.q[frame.CubeX+j], k.base[frame.CubeX+j]
		guess := clampCoordinate(j, from+by)
		by = guess - from

		ownMiss, nearMiss := int32(0), int32(0)
		features := [scaleFeatures]int{length(total, 31), k.lastMiss, 0, k.nearMissed, 0, k.speed, k.ring,
			k.height*idleClasses + k.idle, length(k.v[j], 31), length(last, 31), k.lastTurnMiss, length(by, 31), span(k.drive, 31)}
		if k.step != nil {
			ownMiss = int32(k.step.miss[j])
			features[2] = 1 + length(ownMiss, 12)
		}
		if k.near != nil {
			nearMiss = k.near.miss[j]
			features[4] = 1 + length(nearMiss, 12)
		}
		expected := p.scale.expect(j, &features)
		group := j / 2
		k.setNumberContexts(group, expected, length(by, paces-1), k.lastMiss, k.off, k.speed*2/3)
		p.signAt = signAt + (group*4+bucket(expected, 1, 8)/2)*signs + (sign(ownMiss)*3+sign(nearMiss))*3 + sign(by)
		miss := p.mixing.number(*coord - guess)
		if p.fit != nil {
			p.fit.shift.add(class, f[:], *coord-from, *coord-guess)
		}
		*coord = guess + miss
		p.scale.learn(miss)
		k.self.miss[j], k.self.shift[j] = miss, *coord-from
		total += min(max(miss, -miss), 1<<20)
		k.off, last = max(k.off, length(miss, offs-1)), miss
	}
}

// setNumberContexts sets the contexts of a residual: its predicted size, with the
// predicted shift, the last residual, the residuals of other coordinates, and the speed.
func (k *cubeContext) setNumberContexts(group int, expected int32, way, before, fellows, pace int) {
	p := k.p
	fine, coarse := bucket(expected, 4, sizesFine), bucket(expected, 1, sizesCoarse)
	p.setContexts(4, &lengthAt, [maxContexts]int{
		(group*sizesFine + fine) * lengthNodes,
		((group*sizesCoarse+coarse)*paces + way) * lengthNodes,
		((group*sizesCoarse+coarse)*missClasses + before) * lengthNodes,
		((group*offs+fellows)*paces + min(pace, paces-1)) * lengthNodes})
	p.adaptive = ownLength + (group*sizesFine/2+fine/2)*lengthNodes
	p.set = setLength + group*lengthNodes
	p.topAt = topAt + group*topNodes
}

// turn codes the orientation as the residual of the predicted turn.
func (k *cubeContext) turn() {
	p, q := k.p, k.q
	from := orientation(k.base)
	guess, expected := k.guessTurn(&from)
	k.largest(&guess, expected)
	g := withPositive(guess, q[frame.CubeLargest])
	pace, went := length(expected>>4, spins-1), span(k.self.shift, 31)
	var total, last int32
	off := 0
	for i, j := int32(0), 0; i < 4; i++ {
		if i == q[frame.CubeLargest] {
			continue
		}
		small := &q[frame.CubeA+j]
		at := gridStep(g[i])
		features := [scaleFeatures]int{length(total, 31), k.lastTurnMiss, off, length(last, 31), pace, k.nearTurnMiss, k.ring,
			k.height*idleClasses + k.idle, k.off, went, length(k.self.miss[0], 31), length(k.self.miss[1], 31), length(k.self.miss[2], 31)}
		scale := p.scale.expect(3+j, &features)
		k.setNumberContexts(2, scale, min(k.off, paces-1), k.lastTurnMiss, off, pace)
		p.signAt = signAt + (2*4+bucket(scale, 1, 8)/2)*signs + sign(last)*9
		miss := p.mixing.number(*small - at)
		*small = at + miss
		p.scale.learn(miss)
		total += max(miss, -miss)
		off, last = max(off, length(miss, missClasses-1)), miss
		j++
	}
	to := orientation(q)
	k.self.turnMiss, k.self.off = turnBetween(&guess, &to), off
}

// guessTurn returns the predicted orientation and the length of the predicted turn.
func (k *cubeContext) guessTurn(from *rotation.Quaternion) (rotation.Quaternion, int32) {
	p := k.p
	var spin, turn [3]int32
	if k.step != nil {
		var before cube.Row
		cube.UnpackOrientation(&before, k.step.from)
		was := orientation(&before)
		spin = turnBetween(&was, from)
		for i := range spin {
			spin[i] = min(max(spin[i]*k.ticks/k.lastTicks, -maxSpin), maxSpin)
		}
	}
	for axis := range turn {
		f := k.turnFeatures(axis, spin, k.self.shift)
		turn[axis] = min(max(p.turns.predict(k.class(axis), f[:]), -maxSpin), maxSpin)
	}
	if p.fit != nil {
		k.fitTurn(from, spin, turn)
	}
	return rotated(from, turn), max(turn[0], -turn[0]) | max(turn[1], -turn[1]) | max(turn[2], -turn[2])
}

// fitTurn adds samples of the turn for a trainer.
func (k *cubeContext) fitTurn(from *rotation.Quaternion, spin, turn [3]int32) {
	to := orientation(k.q)
	truth := turnBetween(from, &to)
	for axis := range turn {
		f := k.turnFeatures(axis, spin, k.self.shift)
		k.p.fit.turn.add(k.class(axis), f[:], truth[axis], truth[axis]-turn[axis])
	}
}

// largest codes which component is the largest.
func (k *cubeContext) largest(guess *rotation.Quaternion, turn int32) {
	p, q := k.p, &k.q[frame.CubeLargest]
	first, second := guess.Largest()
	lead := margin(guess, first, second)
	p.setContexts(3, &largestAt, [maxContexts]int{
		lead*offs + k.off, lead*missClasses + k.lastTurnMiss, lead*spins + length(turn>>4, spins-1)})
	p.adaptive, p.set = ownLargest+lead, setLargest
	switch {
	case p.codeMixed(0, rangecoder.Flag(int(*q) != first)) == 0:
		*q = int32(first)
	case p.codeTrained(secondAt+lead, rangecoder.Flag(int(*q) != second)) == 0:
		*q = int32(second)
	default:
		*q = int32(p.coder.Direct(uint64(*q), cube.LargestBits))
	}
}
