package entropy

import "wirelab/dataset/frame"

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
