package physics

// Most cubes rest, and sleeping cubes cost nothing. A cube falls asleep once it has
// hardly moved for a while, and wakes when an awake body touches it. So an island
// (cubes that touch each other, directly or through others) is awake as a whole
// until all of it is still: a cube that falls asleep in a sliding pile is woken in
// the same step. The engine of the recordings does the same.

// updateSleep limits the spin of a body, counts for how long it has hardly moved, and
// puts it to sleep after that.
func (s *Scene) updateSleep(b *Body) {
	c := &s.law
	b.Spin = b.Spin.Limit(c.MaxSpin)
	if b.Vel.Dot(b.Vel) < float64(c.RestSpeed*c.RestSpeed) && b.Spin.Dot(b.Spin) < float64(c.RestSpin*c.RestSpin) {
		b.still += s.step
	} else {
		b.still = 0
	}
	b.asleep = b.still >= c.RestTime-float64(0.25*s.step)
}

// findPose finds the orientation of sleeping body i.
func (s *Scene) findPose(i int) {
	b, l := &s.bodies[i], &s.placed[i]
	s.seen = append(s.seen, int32(i))
	*b = Body{Pos: l.pos, Rot: s.pose(i), half: l.half, asleep: true, still: s.law.RestTime}
	b.weigh(s.law.Density)
	s.turn(i)
	s.state[i] = posed
}

// wake makes a sleeping body live. It counts as asleep until Step has moved it.
func (s *Scene) wake(i int) {
	if s.state[i] == lying {
		s.findPose(i)
	}
	if s.state[i] == posed {
		s.enter(i, moving)
		if b := &s.bodies[i]; b.half <= smallHalf {
			s.awake.add(i, b.Pos)
		}
	}
}
