package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

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
