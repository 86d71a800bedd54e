package physics

// allow bounds the work of a step, whatever a hostile snapshot holds; contacts beyond
// the bounds are ignored. An effort of 1 suffices for the fullest recording, in which
// the player carries 170 cubes.
func allow(cubes, effort int) allowance {
	return allowance{looks: effort * (12*cubes + 64), tests: effort * (3*cubes/2 + 64), pairs: effort * (cubes/2 + 64)}
}

// allowance is what is left of the work of a step: neighbours to be looked at,
// of which to be tested closely, of which to be given contacts.
type allowance struct{ looks, tests, pairs int }

// touchAll finds the contacts of active body i with the floor and its neighbours.
// A sleeping body that it touches becomes active in turn, so all bodies connected to
// an awake one by contacts move.
func (s *Scene) touchAll(i int) {
	b, r, slot := &s.bodies[i], s.boxes[i].reach, s.slot[i]
	if s.state[i] == moving && b.Pos.Z <= r.Z {
		s.touchFloor(i)
	}
	s.touchLarge(i)
	const other = smallHalf * sqrt3
	x0, x1 := square(b.Pos.X-r.X-other), square(b.Pos.X+r.X+other)
	y0, y1 := square(b.Pos.Y-r.Y-other), square(b.Pos.Y+r.Y+other)
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1 && s.left.looks > 0; x++ {
			for j := s.awake.at(x, y); j > 0; j = s.awake.next[j-1] {
				// Two active bodies find each other: the earlier one counts.
				if k := s.slot[j-1]; k > slot || k < 0 {
					s.testPair(i, int(j-1))
				}
			}
			for j := s.laid.at(x, y); j > 0; j = s.laid.next[j-1] {
				if s.state[j-1] <= posed {
					s.testPair(i, int(j-1))
				}
			}
		}
	}
}

// touchLarge finds the contacts of active body i with large ones, which may reach
// farther than the squares around it.
func (s *Scene) touchLarge(i int) {
	for _, j := range s.large {
		if int(j) != i && (s.slot[j] > s.slot[i] || s.slot[j] < 0) {
			s.testPair(i, int(j))
		}
	}
}

// testPair finds the contacts of active body i and body j if they touch.
func (s *Scene) testPair(i, j int) {
	s.left.looks--
	if s.left.looks < 0 || !s.near(i, j) {
		return
	}
	s.left.tests--
	if s.left.tests >= 0 {
		s.touchPair(i, j)
	}
}

// near reports whether the boxes around bodies i and j overlap.
func (s *Scene) near(i, j int) bool {
	a, r := &s.boxes[i].pos, &s.boxes[i].reach
	if s.state[j] == lying {
		l := &s.placed[j]
		most := float64(l.half * sqrt3)
		if abs(a.X-l.pos.X) > r.X+most || abs(a.Y-l.pos.Y) > r.Y+most || abs(a.Z-l.pos.Z) > r.Z+most {
			return false
		}
		s.findPose(j)
	}
	b, q := &s.boxes[j].pos, &s.boxes[j].reach
	dx, dy, dz := abs(a.X-b.X), abs(a.Y-b.Y), abs(a.Z-b.Z)
	return dx <= r.X+q.X && dy <= r.Y+q.Y && dz <= r.Z+q.Z
}

// touchPair gives two bodies contacts if they touch, and makes j active.
func (s *Scene) touchPair(i, j int) {
	a, b := &s.bodies[i], &s.bodies[j]
	var m manifold
	m.find(a, b)
	if m.n == 0 {
		return
	}
	s.left.pairs--
	if s.left.pairs < 0 {
		return
	}
	s.wake(j)
	if s.slot[j] < 0 {
		s.activate(j)
	}
	s.count(i, j, m.n)
	s.pairs = append(s.pairs, pairOf(i, j))
	s.lcp.addContacts(s.slot[i], s.slot[j], a, b, &m)
}

// count adds n contact points to the counts of bodies i and j.
func (s *Scene) count(i, j, n int) {
	for range 2 {
		if s.state[j] == held {
			s.touch[i].Held += uint16(n)
		} else {
			s.touch[i].Cubes += uint16(n)
		}
		i, j = j, i
	}
}

// touchFloor makes a contact point of each corner of body i's lowest face that
// is below the floor.
func (s *Scene) touchFloor(i int) {
	b := &s.bodies[i]
	deepest := b.Pos
	var side [3]Vec // from the deepest corner along each edge, upwards
	for k := range 3 {
		side[k] = b.axes[k].Scale(float64(2 * b.half * sign(b.axes[k].Z)))
		deepest = deepest.AddScaled(side[k], -0.5)
	}
	// The steepest edge is the one that leaves the lowest face.
	steep := 0
	for k := 1; k < 3; k++ {
		if side[k].Z > side[steep].Z {
			steep = k
		}
	}
	u, v := side[(steep+1)%3], side[(steep+2)%3]
	for k, p := range [maxPoints]Vec{deepest, deepest.Add(u), deepest.Add(v), deepest.Add(u).Add(v)} {
		if p.Z <= 0 {
			s.lcp.addFloor(s.slot[i], b, k, p)
			s.touch[i].Floor++
		}
	}
}
