package physics

// newWorkBudget returns the limits on the search for contacts in a step, so that a malicious
// snapshot cannot make it slow; contacts beyond the limits are ignored. An effort of 1 suffices for
// the densest recording, in which the player carries 170 cubes.
func newWorkBudget(cubes, effort int) workBudget {
	return workBudget{boxTests: effort * (12*cubes + 64), exactTests: effort * (3*cubes/2 + 64), contacts: effort * (cubes/2 + 64)}
}

// workBudget is the work that is left in a step: comparisons of bounding boxes, exact tests of pairs,
// and pairs that get contacts.
type workBudget struct{ boxTests, exactTests, contacts int }

// findContacts finds the contacts of active body i with the floor and with other bodies. A sleeping
// body that it touches becomes active, so that all bodies connected to an awake one by contacts
// move.
func (s *Scene) findContacts(i int) {
	b, r, slot := &s.bodies[i], s.boxes[i].reach, s.slot[i]
	if s.state[i] == moving && b.Pos.Z <= r.Z { // the bounding box reaches below z = 0
		s.addFloorContacts(i)
	}
	s.testLarge(i)
	const maxOtherReach = maxGridHalf * sqrt3 // half the diagonal of the largest body in a grid of live bodies
	x0, x1 := cellOf(b.Pos.X-r.X-maxOtherReach), cellOf(b.Pos.X+r.X+maxOtherReach)
	y0, y1 := cellOf(b.Pos.Y-r.Y-maxOtherReach), cellOf(b.Pos.Y+r.Y+maxOtherReach)
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1 && s.budget.boxTests > 0; x++ {
			for j := s.liveGrid.firstPlusOne(x, y); j > 0; j = s.liveGrid.next[j-1] { // j is the body's index plus one
				// Two active bodies find each other twice: only the one with the lower slot tests the pair. k is -1
				// for a body that is not active, which searches for no contacts itself.
				if k := s.slot[j-1]; k > slot || k < 0 {
					s.testPair(i, int(j-1))
				}
			}
			for j := s.laidGrid.firstPlusOne(x, y); j > 0; j = s.laidGrid.next[j-1] {
				if s.state[j-1] <= posed { // body j-1 is still asleep; a woken one is in liveGrid
					s.testPair(i, int(j-1))
				}
			}
		}
	}
}

// testLarge finds the contacts of active body i with large bodies, which are not in the grid since
// they extend beyond the cells that findContacts searches.
func (s *Scene) testLarge(i int) {
	for _, j := range s.large {
		// A pair of active bodies is tested by the one with the lower slot. The slot of a body that is not
		// active is -1.
		if int(j) != i && (s.slot[j] > s.slot[i] || s.slot[j] < 0) {
			s.testPair(i, int(j))
		}
	}
}

// testPair finds the contacts of active body i with body j, if the work budget is not used up.
func (s *Scene) testPair(i, j int) {
	s.budget.boxTests--
	if s.budget.boxTests < 0 || !s.boxesOverlap(i, j) {
		return
	}
	s.budget.exactTests--
	if s.budget.exactTests >= 0 {
		s.addPairContact(i, j)
	}
}

// boxesOverlap reports whether the bounding boxes of bodies i and j overlap. The orientation of a
// body that was laid is requested only if the box around all its orientations overlaps.
func (s *Scene) boxesOverlap(i, j int) bool {
	a, r := &s.boxes[i].pos, &s.boxes[i].reach
	if s.state[j] == lying {
		l := &s.laid[j]
		maxReach := float64(l.half * sqrt3)
		if abs(a.X-l.pos.X) > r.X+maxReach || abs(a.Y-l.pos.Y) > r.Y+maxReach || abs(a.Z-l.pos.Z) > r.Z+maxReach {
			return false
		}
		s.findPose(j)
	}
	b, q := &s.boxes[j].pos, &s.boxes[j].reach
	dx, dy, dz := abs(a.X-b.X), abs(a.Y-b.Y), abs(a.Z-b.Z)
	return dx <= r.X+q.X && dy <= r.Y+q.Y && dz <= r.Z+q.Z
}

// addPairContact tests bodies i and j, of which i is active. If they touch and the work budget allows, it
// adds their contacts to the solver, counts them, and makes j active.
func (s *Scene) addPairContact(i, j int) {
	a, b := &s.bodies[i], &s.bodies[j]
	var m manifold
	m.find(a, b)
	if m.n == 0 {
		return
	}
	s.budget.contacts--
	if s.budget.contacts < 0 {
		return
	}
	s.wake(j)
	if s.slot[j] < 0 {
		s.activate(j)
	}
	s.countTouches(i, j, m.n)
	s.pairs = append(s.pairs, newPair(i, j))
	s.solver.addContacts(s.slot[i], s.slot[j], a, b, &m)
}

// countTouches adds n contact points to the touch counts of bodies i and j, which touch each other: to Held
// if the other body is held, otherwise to Cubes.
func (s *Scene) countTouches(i, j, n int) {
	for range 2 { // the first round counts for body i, the second for body j
		if s.state[j] == held {
			s.touches[i].Held += uint16(n)
		} else {
			s.touches[i].Cubes += uint16(n)
		}
		i, j = j, i
	}
}

// addFloorContacts adds a contact point for each corner of body i's lowest face that is below the
// floor.
func (s *Scene) addFloorContacts(i int) {
	b := &s.bodies[i]
	deepest := b.Pos
	var side [3]Vec // edges from the deepest corner upwards, as vectors
	for k := range 3 {
		side[k] = b.axes[k].Scale(float64(2 * b.half * sign(b.axes[k].Z)))
		deepest = deepest.AddScaled(side[k], -0.5)
	}
	// The steepest edge at the deepest corner is not part of the lowest face; the other two span it.
	steep := 0
	for k := 1; k < 3; k++ {
		if side[k].Z > side[steep].Z {
			steep = k
		}
	}
	u, v := side[(steep+1)%3], side[(steep+2)%3]
	for k, p := range [maxPoints]Vec{deepest, deepest.Add(u), deepest.Add(v), deepest.Add(u).Add(v)} {
		if p.Z <= 0 {
			s.solver.addFloor(s.slot[i], b, k, p)
			s.touches[i].Floor++
		}
	}
}
