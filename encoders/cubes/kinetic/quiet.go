package kinetic

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

// This file is a fast path. Most cubes of a large world are quiet: the baseline's memo has no track
// of them, the forecast does not move them, no cube near them has moved in this packet, and the
// player is far away. The contexts of a quiet cube, except two, depend only on its age and
// interacting flag, so the sums of their weights are computed once for each model. The logits, and
// so the bits, are those of codeMoved and codeInteracting.

// quietDistance is the smallest horizontal distance between the player and a quiet cube. From it on
// the contexts do not depend on the distance: it is the start of the last class of player
// distances, and lies beyond the last of pushDistanceBounds.
const quietDistance = numPlayerClasses * 100

// quietSums are the sums of the trained weights of quiet cubes.
type quietSums struct {
	moved    [numHistoryClasses][2]int32        // by history class and interacting flag
	interact [2 * 2 * 2 * numInteractAges]int32 // see quietInteractIndex
}

// quietInteractIndex returns the index into quietSums.interact of a cube that has been still for
// the given number of steps now. interacting is its flag and a its age at the baseline.
func quietInteractIndex(interacting int, a age, still int) int {
	return ((interacting*2+a.interacting())*2+rangecoder.Flag(a.still() == 0))*numInteractAges + still
}

// computeQuietSums computes m.quietSums: the sums that codeMoved and codeInteracting form for a
// quiet cube. Such a cube is in the last class of distances to the player and to the nearest
// moved cube, has size class 0, and no forecast contacts.
func (m *model) computeQuietSums() {
	weight := func(t contextTable, context int) int32 { return int32(m.weights[t.offset+context]) }
	for h := range numHistoryClasses {
		for interacting := range 2 {
			t := &m.flag
			m.quietSums.moved[h][interacting] = weight(t.forecastMove, h*numForecastClasses*numNearClasses+numNearClasses-1) +
				weight(t.distances, (h*numNearClasses+numNearClasses-1)*numPlayerClasses+numPlayerClasses-1) +
				weight(t.size, (numNearClasses-1)*2+interacting) + weight(t.contacts, h/3) +
				weight(t.player, (numPlayerClasses-1)*4+h/3)
		}
	}
	for k := range m.quietSums.interact { // k is a quietInteractIndex, whose digits are split again
		t := &m.interact
		interacting, interactingBefore, justMoved, still := k/(4*numInteractAges), k/(2*numInteractAges)%2, k/numInteractAges%2, k%numInteractAges
		state := interacting*4 + justMoved // as in codeInteracting, for a cube that does not move
		m.quietSums.interact[k] = weight(t.age, (interacting*2*numInteractAges+still)*2) +
			weight(t.push, (state*numPushClasses+numPushClasses-1)*4+min(still, 3)) +
			weight(t.player, state*numPlayerClasses+numPlayerClasses-1) +
			weight(t.near, state*2*numNearClasses+numNearClasses-1) +
			weight(t.neighbour, (state*4+interactingBefore)*8)
	}
}

// The bits of an element of scene.quietInfo: what isQuiet and codeQuiet need to know about a cube,
// in two bytes because all cubes are visited.
const (
	quietCellMask    = gridSide*gridSide - 1 // the cell of the grid, see cellIndex
	quietFar         = gridSide * gridSide   // the player is farther than quietDistance + slowPlayerMotion
	quietInteracting = 2 * quietFar          // the interacting flag

	// slowPlayerMotion is the motion of the player, in units of 1/512 m, below which a cube with
	// quietFar is still farther away than quietDistance: 1.5 m in six frames, 15 m/s.
	slowPlayerMotion = 768
)

// packQuietInfo returns what scene.quietInfo holds for cube q at the baseline: the index of its grid cell, the
// interacting flag, and quietFar if the cube is so far from the player that it stays out of reach while the player
// moves slowly.
func packQuietInfo(player, q *cube.Row) uint16 {
	x, y := q[frame.CubeX], q[frame.CubeY]
	info := uint16(cellIndex(cellCoordinates(x, y))) | uint16(q[frame.CubeInteracting]&1)*quietInteracting
	if isFar(player, x, y, quietDistance+slowPlayerMotion) {
		info |= quietFar
	}
	return info
}

// isFar reports whether the horizontal distance between the player and x, y is at least distance.
func isFar(player *cube.Row, x, y int32, distance int64) bool {
	dx, dy := int64(x-player[frame.CubeX]), int64(y-player[frame.CubeY])
	return dx*dx+dy*dy >= distance*distance
}

// isQuiet reports whether cube i, which is not coded yet, is quiet. No flags means that it is
// neither tracked nor forecast to move.
func (s *scene) isQuiet(i int) bool {
	info := s.quietInfo[i]
	if s.flags[i] != 0 || info&quietFar == 0 || s.movedGrid.occupiedNear[info&quietCellMask] {
		return false
	}
	return s.playerIsSlow && i > 0
}

// codeQuiet codes the moved flag of quiet cube i and, if it is 0, the interacting flag. It returns
// false if the cube moved; the caller then codes its pose and interacting flag.
func (e *coder) codeQuiet(i int) bool {
	s := &e.scene
	cubeAge, oldFlag := s.baseMemo.age(i), rangecoder.Flag(s.quietInfo[i]&quietInteracting != 0)
	moved, flipped := false, false // flipped: only the interacting flag changed; both are false when decoding
	if e.changed.Has(i) {
		moved = !cube.SamePose(cube.At(s.cur, i), cube.At(s.base, i))
		flipped = !moved
	}
	h := min(cubeAge.still(), 3)*3 + cubeAge.stillBefore() // class of the cube's history: see numHistoryClasses
	flag := &e.model.flag
	sum := e.model.quietSums.moved[h][oldFlag] + int32(e.model.weights[flag.recentMoves.offset+e.moveHistory*numHistoryClasses+h])
	bit := e.decideQuiet(rangecoder.Flag(moved), &e.cachedProbs[0], sum, flag.adaptMove.offset+h*numForecastClasses,
		flag.adaptRecentMoves.offset+e.moveHistory)
	e.moveHistory = (e.moveHistory<<1 | bit) % numMoveHistories
	e.Charge(encoders.SlotFlags)
	if bit != 0 {
		return false
	}
	t, state := &e.model.interact, oldFlag*4+rangecoder.Flag(cubeAge.still() == 0)
	still := min(cubeAge.still()+s.ageGrowth, numInteractAges-1)
	newFlag := e.decideQuiet(oldFlag^rangecoder.Flag(flipped), &e.cachedProbs[1],
		e.model.quietSums.interact[quietInteractIndex(oldFlag, cubeAge, still)],
		t.adaptAge.offset+oldFlag*2*numInteractAges+still, t.adaptNear.offset+state*2*numNearClasses+numNearClasses-1)
	if newFlag != oldFlag {
		s.cur[i*frame.CubeFields+frame.CubeInteracting] = int32(newFlag)
	}
	e.TraceField(encoders.SlotInteracting, frame.CubeInteracting)
	e.Charge(encoders.SlotInteracting)
	s.flags[i] |= isCoded
	return true
}

// cachedProb caches the probability of the last logit, because the next one is usually the same.
// p is 0 while the cache is empty.
type cachedProb struct {
	logit int32  // in 1/2048 nat
	p     uint32 // probability of 65536; 0 if none is cached
}

// decideQuiet is coder.decide for a quiet cube, given the sum of the trained weights and the indices
// of the two adaptive weights. It looks up the probability in cache and stores it there.
func (e *coder) decideQuiet(bit int, cache *cachedProb, sum int32, first, second int) int {
	a, b := &e.memo.adaptive[first], &e.memo.adaptive[second]
	sum += int32(*a) + int32(*b)
	if sum != cache.logit || cache.p == 0 {
		*cache = cachedProb{sum, rangecoder.Squash(sum)}
	}
	bit = e.Bit(bit, cache.p)
	if step := adaptStep(bit, cache.p, flagRate); step != 0 { // rare
		adapt(a, step)
		adapt(b, step)
	}
	return bit
}
