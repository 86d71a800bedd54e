package physics

// Most cubes rest, and sleeping cubes cost nothing. A cube falls asleep after it has hardly moved for
// params.RestTime, and wakes when an awake body touches it. So all cubes of an island (cubes that touch
// each other, directly or through others) are awake until all of them are still: a cube that falls
// asleep in a sliding pile is woken in the same step. The engine of the recordings does the same.

// updateSleep limits the spin of a body, updates the time for which it has hardly moved, and decides
// whether it is asleep. A quarter of a step allows for rounding of the sum.
func (s *Scene) updateSleep(b *Body) {
	params := &s.params
	b.Spin = b.Spin.Limit(params.MaxSpin)
	if b.Vel.Dot(b.Vel) < float64(params.RestSpeed*params.RestSpeed) && b.Spin.Dot(b.Spin) < float64(params.RestSpin*params.RestSpin) {
		b.stillFor += s.dt
	} else {
		b.stillFor = 0
	}
	b.asleep = b.stillFor >= params.RestTime-float64(0.25*s.dt)
}

// findPose requests the orientation of sleeping body i and sets up its Body.
func (s *Scene) findPose(i int) {
	b, l := &s.bodies[i], &s.laid[i]
	s.posedFromLaid = append(s.posedFromLaid, int32(i))
	*b = Body{Pos: l.pos, Rot: s.pose(i), half: l.half, asleep: true, stillFor: s.params.RestTime}
	b.setMass(s.params.Density)
	s.updatePose(i)
	s.state[i] = posed
}

// wake makes a sleeping body live; a live body is left alone. Its field asleep stays set until Step has
// moved it.
func (s *Scene) wake(i int) {
	if s.state[i] == lying {
		s.findPose(i)
	}
	if s.state[i] == posed {
		s.addLive(i, moving)
		if b := &s.bodies[i]; b.half <= maxGridHalf {
			s.liveGrid.add(i, b.Pos)
		}
	}
}
