package physics

import "math"

// Step advances the scene by dt seconds.
func (s *Scene) Step(dt float64) {
	s.step = dt
	s.pairs = s.pairs[:0]
	s.gather()
	if len(s.active) == 0 {
		return // all are asleep
	}
	s.left = allow(len(s.bodies), s.law.Effort)
	s.lcp.begin(&s.law, dt)
	for k := 0; k < len(s.active); k++ { // touching a sleeping body appends it
		s.touchAll(int(s.active[k]))
	}
	s.accelerate()
	s.lcp.solve(s.law.Iterations)
	for k, i := range s.active {
		s.move(int(i), &s.lcp.motion[k])
	}
}

// gather lists the bodies that are awake, and files all live ones by position.
func (s *Scene) gather() {
	s.awake.clear()
	s.active = s.active[:0]
	for _, i := range s.live {
		b := &s.bodies[i]
		s.boxes[i].pos = b.Pos // which callers may set
		if b.half <= smallHalf {
			s.awake.add(int(i), b.Pos)
		}
		s.slot[i] = -1
		if s.state[i] == moving {
			s.updateSleep(b)
		}
		if !b.asleep {
			s.activate(int(i))
		}
	}
}

// activate gives body i a place in the solver.
func (s *Scene) activate(i int) {
	k := int32(len(s.active))
	s.slot[i], s.lcp.island[k] = k, k
	s.active = append(s.active, int32(i))
}

// accelerate passes the bodies to the solver, with gravity and forces applied.
func (s *Scene) accelerate() {
	fall := float64(s.law.Gravity * s.step)
	for _, i := range s.active {
		b := &s.bodies[i]
		m := motion{vel: b.Vel, spin: b.Spin}
		if s.state[i] == moving {
			m.vel = m.vel.AddScaled(b.pull, s.step)
			m.vel.Z -= fall
			m.spin = m.spin.AddScaled(b.twist, s.step).Scale(b.gyration)
		}
		b.pull, b.twist = Vec{}, Vec{}
		s.lcp.motion = append(s.lcp.motion, m)
		s.free[i] = m.vel
	}
}

// move takes over the solver's answer and advances body i.
func (s *Scene) move(i int, m *motion) {
	b, c := &s.bodies[i], &s.law
	if s.state[i] == moving {
		s.impact[i].add(m.vel.Sub(s.free[i]).Length())
		spin := m.spin.Scale(b.perRadius)
		b.Vel, b.Spin, b.asleep = m.vel.bounded(c.MaxSpeed), spin.bounded(float64(2*c.MaxSpeed)), false
	}
	b.Pos = b.Pos.AddScaled(b.Vel, s.step).clamp(farLow, farHigh)
	b.Rot = b.Rot.turned(b.Spin, s.step)
	s.turn(i)
	least := float64(c.DampedAbove * c.DampedAbove)
	if b.Vel.Dot(b.Vel) > least {
		b.Vel = b.Vel.Scale(1 - c.Damping)
	}
	if b.Spin.Dot(b.Spin) > least {
		b.Spin = b.Spin.Scale(1 - c.Damping)
	}
}

// Positions are limited to what snapshots can represent, which also keeps the grid's
// indices small.
var (
	farLow  = Vec{-1024, -1024, -1024}
	farHigh = Vec{1024, 1024, 1024}
)

// bounded returns a, shortened to length most if it is longer, and zero if it is
// no number.
func (a Vec) bounded(most float64) Vec {
	l := a.Dot(a)
	switch {
	case l <= float64(most*most):
		return a
	case l <= math.MaxFloat64:
		return a.Scale(most / math.Sqrt(l))
	default:
		return Vec{}
	}
}
