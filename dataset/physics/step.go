package physics

import "math"

// Step advances the scene by dt seconds: it finds the contacts of all bodies that are awake, which wakes
// sleeping bodies that they touch, solves the contacts, and moves the bodies.
func (s *Scene) Step(dt float64) {
	s.dt = dt
	s.pairs = s.pairs[:0]
	s.collectActive()
	if len(s.active) == 0 {
		return // all bodies are asleep
	}
	s.budget = newWorkBudget(len(s.bodies), s.params.Effort)
	s.solver.reset(&s.params, dt)
	for k := 0; k < len(s.active); k++ { // the list grows: sleeping bodies that are touched are appended
		s.findContacts(int(s.active[k]))
	}
	s.loadSolver()
	s.solver.solve(s.params.Iterations)
	for k, i := range s.active {
		s.integrate(int(i), &s.solver.motion[k])
	}
}

// collectActive collects the bodies that are awake in s.active, and all live bodies that fit in the
// grid in s.liveGrid.
func (s *Scene) collectActive() {
	s.liveGrid.clear()
	s.active = s.active[:0]
	for _, i := range s.live {
		b := &s.bodies[i]
		s.boxes[i].pos = b.Pos // the caller may have moved the body
		if b.half <= maxGridHalf {
			s.liveGrid.add(int(i), b.Pos)
		}
		s.slot[i] = -1 // -1: not active, unless activate changes it
		if s.state[i] == moving {
			s.updateSleep(b)
		}
		if !b.asleep {
			s.activate(int(i))
		}
	}
}

// activate adds body i to the solver, as an island of its own.
func (s *Scene) activate(i int) {
	k := int32(len(s.active))
	s.slot[i], s.solver.island[k] = k, k
	s.active = append(s.active, int32(i))
}

// loadSolver copies the velocities of active bodies to the solver, with gravity and forces applied.
func (s *Scene) loadSolver() {
	fall := float64(s.params.Gravity * s.dt)
	for _, i := range s.active {
		b := &s.bodies[i]
		m := motion{vel: b.Vel, spin: b.Spin}
		if s.state[i] == moving {
			m.vel = m.vel.AddScaled(b.accel, s.dt)
			m.vel.Z -= fall
			m.spin = m.spin.AddScaled(b.angularAccel, s.dt).Scale(b.gyration)
		}
		b.accel, b.angularAccel = Vec{}, Vec{}
		s.solver.motion = append(s.solver.motion, m)
		s.freeVel[i] = m.vel
	}
}

// integrate copies the solved motion m to body i, advances its position and orientation by a step, and
// damps its speed and spin.
func (s *Scene) integrate(i int, m *motion) {
	b, params := &s.bodies[i], &s.params
	if s.state[i] == moving { // a held body keeps the velocity that the caller set
		s.impact[i].add(m.vel.Sub(s.freeVel[i]).Length())
		spin := m.spin.Scale(b.invGyration)
		b.Vel, b.Spin, b.asleep = m.vel.limitFinite(params.MaxSpeed), spin.limitFinite(float64(2*params.MaxSpeed)), false
	}
	b.Pos = b.Pos.AddScaled(b.Vel, s.dt).clamp(minPosition, maxPosition)
	b.Rot = b.Rot.rotated(b.Spin, s.dt)
	s.updatePose(i)
	dampedAboveSquare := float64(params.DampedAbove * params.DampedAbove)
	if b.Vel.Dot(b.Vel) > dampedAboveSquare {
		b.Vel = b.Vel.Scale(1 - params.Damping)
	}
	if b.Spin.Dot(b.Spin) > dampedAboveSquare {
		b.Spin = b.Spin.Scale(1 - params.Damping)
	}
}

// minPosition and maxPosition limit positions, far outside of what snapshots can represent, so that the
// indices of the grid stay small.
var (
	minPosition = Vec{-1024, -1024, -1024}
	maxPosition = Vec{1024, 1024, 1024}
)

// limitFinite returns a, shortened to the given length if it is longer, or zero if its length is NaN or
// infinite.
func (a Vec) limitFinite(length float64) Vec {
	square := a.Dot(a)
	switch {
	case square <= float64(length*length):
		return a
	case square <= math.MaxFloat64:
		return a.Scale(length / math.Sqrt(square))
	default:
		return Vec{}
	}
}
