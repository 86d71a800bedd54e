package entropy

import (
	"math"

	"wirelab/dataset/frame"
)

// shift codes the position as what is left of it after the prediction.
func (k *place) shift() {
	p, last := k.p, int32(0)
	var total int32
	for j := range 3 {
		class, f := k.class(j), k.shiftFeatures(j)
		by := p.shifts.predict(class, f[:])
		coord, from := &k.q[frame.CubeX+j], k.base[frame.CubeX+j]
		guess := within(j, from+by)
		by = guess - from

		ownMiss, nearMiss := int32(0), int32(0)
		circumstance := [circumstances]int{length(total, 31), k.missed, 0, k.nearMissed, 0, k.speed, k.ring,
			k.height*idles + k.idle, length(k.v[j], 31), length(last, 31), k.twisted, length(by, 31), span(k.drive, 31)}
		if k.step != nil {
			ownMiss = int32(k.step.miss[j])
			circumstance[2] = 1 + length(ownMiss, 12)
		}
		if k.near != nil {
			nearMiss = k.near.miss[j]
			circumstance[4] = 1 + length(nearMiss, 12)
		}
		expected := p.scale.expect(j, &circumstance)
		group := j / 2
		k.number(j, group, expected, length(by, 7), k.missed, k.off, k.speed*2/3)
		p.number.signAt = signAt + (group*4+size(expected, 1, 8)/2)*27 + (sign(ownMiss)*3+sign(nearMiss))*3 + sign(by)
		miss := number(p.coder, &p.number, *coord-guess)
		if p.fit != nil {
			p.fit.shift.add(class, f[:], *coord-from, *coord-guess)
		}
		*coord = guess + miss
		p.scale.learn(miss)
		k.self.miss[j], k.self.shift[j] = miss, *coord-from
		total += min(max(miss, -miss), 1<<20)
		k.off, last = max(k.off, length(miss, 11)), miss
	}
}

// number sets the contexts of a number: how far off it is expected to be, and
// with that what it would be about, how far off it was last time, and what is
// known of its fellows.
func (k *place) number(kind, group int, expected int32, about, before, fellows, pace int) {
	p := k.p
	fine, coarse := size(expected, 4, sizesFine), size(expected, 1, sizesCoarse)
	p.consider(lengthAt, lengthSizes,
		(group*sizesFine+fine)*lengthNodes,
		((group*sizesCoarse+coarse)*8+about)*lengthNodes,
		((group*sizesCoarse+coarse)*missing+before)*lengthNodes,
		((group*12+fellows)*8+min(pace, 7))*lengthNodes)
	p.own = ownLength + (group*sizesFine/2+fine/2)*lengthNodes
	p.set = setLength + group*lengthNodes
	p.number.topAt = topAt + group*topNodes
}

// Turns are vectors along the axis, as long as the angle (four times the tangent
// of its fourth, to be exact), in units of 1/spinOne.
const (
	spinOne = 4096
	maxSpin = 4 * spinOne
)

// turnBetween returns the turn from one orientation to another.
func turnBetween(from, to *quaternion) (v [3]int32) {
	r := to.times(from.conjugate())
	if r[3] < 0 {
		r = r.negative()
	}
	scale := 4 * spinOne / (1 + r[3])
	for i := range v {
		v[i] = int32(math.Round(min(max(float64(r[i]*scale), -maxSpin), maxSpin)))
	}
	return v
}

// turned returns the orientation after a turn.
func (p *quaternion) turned(v [3]int32) quaternion {
	const unit = 1.0 / (4 * spinOne)
	x, y, z := float64(float64(v[0])*unit), float64(float64(v[1])*unit), float64(float64(v[2])*unit)
	bb := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + bb)
	r := quaternion{float64(2 * x * s), float64(2 * y * s), float64(2 * z * s), float64((1 - bb) * s)}
	return r.times(*p)
}

// turn codes the orientation as what is left of it after the predicted turn.
func (k *place) turn() {
	p, q := k.p, k.q
	from := orientation(k.base)
	guess, expected := k.guessTurn(&from)
	k.largest(&guess, expected)
	g := guess.facing(q[frame.CubeLargest])
	pace, went := length(expected>>4, spins-1), span(k.self.shift, 31)
	var total, last int32
	off := 0
	for i, j := int32(0), 0; i < 4; i++ {
		if i == q[frame.CubeLargest] {
			continue
		}
		small := &q[frame.CubeA+j]
		at := gridStep(g[i])
		circumstance := [circumstances]int{length(total, 31), k.twisted, off, length(last, 31), pace, k.nearTwisted, k.ring,
			k.height*idles + k.idle, k.off, went, length(k.self.miss[0], 31), length(k.self.miss[1], 31), length(k.self.miss[2], 31)}
		scale := p.scale.expect(3+j, &circumstance)
		k.number(3+j, 2, scale, min(k.off, 7), k.twisted, off, pace)
		p.number.signAt = signAt + (2*4+size(scale, 1, 8)/2)*27 + sign(last)*9
		miss := number(p.coder, &p.number, *small-at)
		*small = at + miss
		p.scale.learn(miss)
		total += max(miss, -miss)
		off, last = max(off, length(miss, missing-1)), miss
		j++
	}
	to := orientation(q)
	k.self.twist, k.self.off = turnBetween(&guess, &to), off
}

// guessTurn returns the orientation to expect, and how long the turn to it is.
func (k *place) guessTurn(from *quaternion) (quaternion, int32) {
	p := k.p
	var spin, turn [3]int32
	if k.step != nil {
		before := unpack(k.step.from)
		was := orientation(&before)
		spin = turnBetween(&was, from)
		for i := range spin {
			spin[i] = min(max(spin[i]*k.now/k.was, -maxSpin), maxSpin)
		}
	}
	for axis := range turn {
		f := k.turnFeatures(axis, spin, k.self.shift)
		turn[axis] = min(max(p.turns.predict(k.class(axis), f[:]), -maxSpin), maxSpin)
	}
	if p.fit != nil {
		k.fitTurn(from, spin, turn)
	}
	return from.turned(turn), max(turn[0], -turn[0]) | max(turn[1], -turn[1]) | max(turn[2], -turn[2])
}

// fitTurn shows a trainer what was predicted of a turn and what came.
func (k *place) fitTurn(from *quaternion, spin, turn [3]int32) {
	to := orientation(k.q)
	truth := turnBetween(from, &to)
	for axis := range turn {
		f := k.turnFeatures(axis, spin, k.self.shift)
		k.p.fit.turn.add(k.class(axis), f[:], truth[axis], truth[axis]-turn[axis])
	}
}

// largest codes which component is the largest.
func (k *place) largest(guess *quaternion, turn int32) {
	p, q := k.p, &k.q[frame.CubeLargest]
	first, second := guess.rank()
	lead := margin(guess, first, second)
	p.consider(largestAt, largestSizes, lead*12+k.off, lead*missing+k.twisted, lead*spins+length(turn>>4, spins-1))
	p.own, p.set = ownLargest+lead, setLargest
	switch {
	case p.decide(0, flag(int(*q) != first)) == 0:
		*q = int32(first)
	case p.plain(secondAt+lead, flag(int(*q) != second)) == 0:
		*q = int32(second)
	default:
		*q = int32(p.coder.Direct(uint64(*q), largestBits))
	}
}
