package kinetic

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

// Most cubes of a large world are quiet: they are not tracked, nor forecast to move, no cube near
// them has moved in this packet, and the player is far away. All their contexts but two depend only
// on their age and flag, so the weights of those are added up once. The sums are those of codeMoved
// and codeInteracting.

// quietReach is the least distance of the player from a quiet cube, along the floor: that of the
// last class of distances, and beyond the last of blowBounds.
const quietReach = players * 100

// quietWeights are the sums of the trained weights of quiet cubes.
type quietWeights struct {
	moved    [histories][2]int32             // by history and interacting flag
	interact [2 * 2 * 2 * interactAges]int32 // see quietInteract
}

// quietInteract returns the index of interact for a cube that has been still for still steps now,
// and has age a at the baseline.
func quietInteract(was int, a age, still int) int {
	return ((was*2+a.interacting())*2+rangecoder.Flag(a.still() == 0))*interactAges + still
}

// sumQuiet adds up the weights of quiet cubes.
func (m *model) sumQuiet() {
	weight := func(t contextTable, at int) int32 { return int32(m.weights[t.at+at]) }
	for h := range histories {
		for was := range 2 {
			t := &m.flag
			m.quiet.moved[h][was] = weight(t.forecastMove, h*forecastMoves*nearClasses+nearClasses-1) +
				weight(t.place, (h*nearClasses+nearClasses-1)*players+players-1) +
				weight(t.size, (nearClasses-1)*2+was) + weight(t.touch, h/3) + weight(t.player, (players-1)*4+h/3)
		}
	}
	for k := range m.quiet.interact {
		t := &m.interact
		was, before, recent, still := k/(4*interactAges), k/(2*interactAges)%2, k/interactAges%2, k%interactAges
		state := was*4 + recent
		m.quiet.interact[k] = weight(t.age, (was*2*interactAges+still)*2) +
			weight(t.blow, (state*interactBlows+interactBlows-1)*4+min(still, 3)) +
			weight(t.player, state*players+players-1) + weight(t.near, state*2*nearClasses+nearClasses-1) +
			weight(t.neighbour, (state*4+before)*8)
	}
}

// A spot holds what isQuiet and codeQuiet need of a cube, close together in memory: its slot of the
// grid and, above, whether it is far from the player, and its interacting flag.
const (
	spotSlots       = gridSide*gridSide - 1
	spotFar         = gridSide * gridSide
	spotInteracting = 2 * spotFar

	calmMotion = 768 // of the player, 15 m/s: cubes far away at the baseline stay far away
)

// spotOf returns the spot of cube q, given the player's.
func spotOf(player, q *cube.Row) uint16 {
	x, y := q[frame.CubeX], q[frame.CubeY]
	spot := uint16(slot(cellOf(x, y))) | uint16(q[frame.CubeInteracting]&1)*spotInteracting
	if isFar(player, x, y, quietReach+calmMotion) {
		spot |= spotFar
	}
	return spot
}

func isFar(player *cube.Row, x, y int32, reach int64) bool {
	dx, dy := int64(x-player[frame.CubeX]), int64(y-player[frame.CubeY])
	return dx*dx+dy*dy >= reach*reach
}

// isQuiet reports whether cube i, which is not coded yet, is quiet.
func (s *scene) isQuiet(i int) bool {
	spot := s.spots[i]
	if s.flags[i] != 0 || spot&spotFar == 0 || s.arrived.nonEmpty[spot&spotSlots] {
		return false
	}
	return s.calm && i > 0
}

// codeQuiet codes whether quiet cube i moves, and if not its flag. It returns false if it moves.
func (e *coder) codeQuiet(i int) bool {
	s := &e.scene
	a, was := s.past.age(i), rangecoder.Flag(s.spots[i]&spotInteracting != 0)
	moved, flips := false, false
	if e.changed.Has(i) {
		moved = !cube.SamePose(cube.At(s.cur, i), cube.At(s.base, i))
		flips = !moved
	}
	h := min(a.still(), 3)*3 + a.before()
	flag := &e.model.flag
	sum := e.model.quiet.moved[h][was] + int32(e.model.weights[flag.run.at+e.run*histories+h])
	bit := e.decideQuiet(rangecoder.Flag(moved), &e.quiet[0], sum, flag.adaptMove.at+h*forecastMoves, flag.adaptRun.at+e.run)
	e.run = (e.run<<1 | bit) % runs
	e.Charge(encoders.SlotFlags)
	if bit != 0 {
		return false
	}
	t, state := &e.model.interact, was*4+rangecoder.Flag(a.still() == 0)
	still := min(a.still()+s.growth, interactAges-1)
	is := e.decideQuiet(was^rangecoder.Flag(flips), &e.quiet[1], e.model.quiet.interact[quietInteract(was, a, still)],
		t.adaptAge.at+was*2*interactAges+still, t.adaptNear.at+state*2*nearClasses+nearClasses-1)
	if is != was {
		s.cur[i*frame.CubeFields+frame.CubeInteracting] = int32(is)
	}
	e.Charge(encoders.SlotInteracting)
	s.flags[i] |= isCoded
	return true
}

// probability caches the probability of the last logit, because the next is most often the same.
type probability struct {
	sum int32
	p   uint32
}

// decideQuiet is decide for a sum of trained weights and two adaptive ones.
func (e *coder) decideQuiet(bit int, last *probability, sum int32, first, second int) int {
	a, b := &e.memo.adaptive[first], &e.memo.adaptive[second]
	sum += int32(*a) + int32(*b)
	if sum != last.sum || last.p == 0 {
		*last = probability{sum, rangecoder.Squash(sum)}
	}
	bit = e.Bit(bit, last.p)
	if by := adaptation(bit, last.p, flagRate); by != 0 { // rare
		adapt(a, by)
		adapt(b, by)
	}
	return bit
}
