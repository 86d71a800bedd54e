package physics

import "math"

// row is one direction at one contact point in which an impulse may act: the
// normal or a tangent. For a direction d and the arm r from a body's centre, the
// point moves along d by Vel.d + Spin.(r x d), and an impulse j along d changes
// the spin by (r x d) j / inertia; so r x d is all that is needed of the arm.
type row struct {
	twistA, twistB Vec     // arm x direction
	mass           float64 // what an impulse along the direction has to move
	impulse        float64 // so far; remembered from step to step
}

func (r *row) prepare(a, b *Body, p *point, dir Vec) {
	r.twistA, r.twistB = p.armA.Cross(dir), p.armB.Cross(dir)
	r.mass = 1 / (a.invMass + b.invMass +
		float64(a.invInertia*r.twistA.Dot(r.twistA)) + float64(b.invInertia*r.twistB.Dot(r.twistB)))
}

// opening returns how fast the two bodies move apart along dir.
func (r *row) opening(a, b *Body, dir Vec) float64 {
	return dir.Dot(b.Vel.Sub(a.Vel)) + (r.twistB.Dot(b.Spin) - r.twistA.Dot(a.Spin))
}

// apply pushes the two bodies apart along dir with impulse j.
func (r *row) apply(a, b *Body, dir Vec, j float64) {
	a.Vel = a.Vel.AddScaled(dir, -float64(j*a.invMass))
	a.Spin = a.Spin.AddScaled(r.twistA, -float64(j*a.invInertia))
	b.Vel = b.Vel.AddScaled(dir, float64(j*b.invMass))
	b.Spin = b.Spin.AddScaled(r.twistB, float64(j*b.invInertia))
}

// softness makes a contact a stiff damped spring instead of a hard stop: it
// corrects an overlap over several substeps and never overshoots (Catto,
// "Soft Constraints", GDC 2011).
type softness struct{ rate, mass, impulse float64 }

func soften(hertz, dt float64) softness {
	omega := float64(2 * math.Pi * hertz)
	a1 := float64(2*dampingRatio) + float64(dt*omega)
	a2 := float64(dt * omega * a1)
	a3 := 1 / (1 + a2)
	return softness{rate: omega / a1, mass: float64(a2 * a3), impulse: a3}
}

// How stiff: 60 Hz is a quarter of the rate of 240 substeps a second, as stiff
// as a chain of contacts bears; the floor, which ends every chain, may be
// stiffer. Softer, and a tower of ten buckles under gravity 20.
const (
	hertz        = 60
	hertzFloor   = 120
	dampingRatio = 5
)

const (
	slop      = 0.001 // overlap left alone, so that resting contacts do not flicker
	pushApart = 3.0   // metres per second at which an overlap is corrected at most: squeezed cubes must not shoot out
)

// solve advances all awake bodies by one step. In each substep: forces change
// velocities, the impulses at the contacts correct them, positions follow, and
// the impulses are relaxed, that is solved again without the push that corrects
// overlaps, so that this push leaves no speed behind.
//
// Substeps make stacks stand; iterations spread a blow: a player who lands on
// four cubes, each a fiftieth of its mass, must be stopped by all of them alike.
func (w *World) solve() {
	w.damp()
	w.prepare()
	for range w.cfg.Substeps {
		w.accelerate()
		w.warmStart()
		for range w.cfg.Iterations {
			w.correct(true)
		}
		w.move()
		w.correct(false)
	}
	w.finish()
}

// damp takes the share of speed that is lost per step.
func (w *World) damp() {
	keep, keepSpin := 1-w.cfg.Damping, 1-w.cfg.SpinDamping
	for i := range w.bodies {
		if b := &w.bodies[i]; !b.asleep {
			b.Vel, b.Spin = b.Vel.Scale(keep), b.Spin.Scale(keepSpin)
		}
	}
}

// ends returns the two bodies of a contact; b is the floor for the floor.
func (w *World) ends(p pair) (a, b *Body) {
	i, j := p.split()
	if p.floor() {
		return &w.bodies[i], &w.floor
	}
	return &w.bodies[i], &w.bodies[j]
}

// prepare computes what stays the same over the substeps.
func (w *World) prepare() {
	for i := range w.manifolds {
		m := &w.manifolds[i]
		if !w.bothAwake(m.pair) {
			continue
		}
		a, b := w.ends(m.pair)
		for k := range m.points[:m.n] {
			p := &m.points[k]
			p.normal.prepare(a, b, p, m.normal)
			p.tangent[0].prepare(a, b, p, m.tangent[0])
			p.tangent[1].prepare(a, b, p, m.tangent[1])
		}
	}
}

// accelerate applies gravity and the forces that the caller gathered.
func (w *World) accelerate() {
	fall := float64(w.cfg.Gravity * w.sub)
	for i := range w.bodies {
		b := &w.bodies[i]
		if b.asleep {
			continue
		}
		b.Vel = b.Vel.AddScaled(b.force, float64(b.invMass*w.sub))
		b.Vel.Z -= fall
		b.Spin = b.Spin.AddScaled(b.torque, float64(b.invInertia*w.sub))
	}
}

// warmStart applies the impulses that held each contact before. They are most
// of the answer already.
func (w *World) warmStart() {
	for i := range w.manifolds {
		m := &w.manifolds[i]
		if !w.bothAwake(m.pair) {
			continue
		}
		a, b := w.ends(m.pair)
		for k := range m.points[:m.n] {
			p := &m.points[k]
			p.normal.apply(a, b, m.normal, p.normal.impulse)
			p.tangent[0].apply(a, b, m.tangent[0], p.tangent[0].impulse)
			p.tangent[1].apply(a, b, m.tangent[1], p.tangent[1].impulse)
		}
	}
}

// correct goes once through all contacts and improves each impulse in turn, as
// if the others were right. A body's contact with the floor comes after those
// with bodies before it, so the floor has the last word.
func (w *World) correct(push bool) {
	for i := range w.manifolds {
		m := &w.manifolds[i]
		if !w.bothAwake(m.pair) {
			continue
		}
		a, b := w.ends(m.pair)
		s := &w.soft
		if m.pair.floor() {
			s = &w.softFloor
		}
		for k := range m.points[:m.n] {
			m.grip(a, b, &m.points[k], w.cfg.Friction)
		}
		for k := range m.points[:m.n] {
			m.part(a, b, &m.points[k], s, w.sub, push)
		}
	}
}

// grip stops the surfaces from sliding, as far as friction can: its impulse is
// at most the coefficient times that of the normal.
func (m *manifold) grip(a, b *Body, p *point, coefficient float64) {
	r0, r1 := &p.tangent[0], &p.tangent[1]
	j0 := r0.impulse - float64(r0.mass*r0.opening(a, b, m.tangent[0]))
	j1 := r1.impulse - float64(r1.mass*r1.opening(a, b, m.tangent[1]))
	most := float64(coefficient * p.normal.impulse)
	if l := float64(j0*j0) + float64(j1*j1); l > float64(most*most) {
		s := most / math.Sqrt(l)
		j0, j1 = float64(j0*s), float64(j1*s)
	}
	d0, d1 := j0-r0.impulse, j1-r1.impulse
	r0.impulse, r1.impulse = j0, j1
	r0.apply(a, b, m.tangent[0], d0)
	r1.apply(a, b, m.tangent[1], d1)
}

// part keeps the surfaces from sinking into each other. Contacts push and never
// pull, so the impulse stays at or above zero.
func (m *manifold) part(a, b *Body, p *point, s *softness, dt float64, push bool) {
	r := &p.normal
	gap := p.gap + m.normal.Dot(b.moved.Sub(a.moved)) + (r.twistB.Dot(b.turned) - r.twistA.Dot(a.turned))
	bias, mass, relax := 0.0, 1.0, 0.0
	switch {
	case gap > 0: // may close this much in the substep, no faster
		bias = gap / dt
	case push:
		bias = max(float64(s.rate*min(gap+slop, 0)), -pushApart)
		mass, relax = s.mass, s.impulse
	}
	j := r.impulse - float64(r.mass*mass*(r.opening(a, b, m.normal)+bias)) - float64(relax*r.impulse)
	j = max(j, 0)
	d := j - r.impulse
	r.impulse = j
	r.apply(a, b, m.normal, d)
}

// move advances positions by one substep. Speeds are limited first: a contact
// that is squeezed hard must not fling anything out of the world.
func (w *World) move() {
	for i := range w.bodies {
		b := &w.bodies[i]
		if b.asleep {
			continue
		}
		b.Vel, b.Spin = b.Vel.Limit(w.cfg.MaxSpeed), b.Spin.Limit(w.cfg.MaxSpin)
		b.Pos = b.Pos.AddScaled(b.Vel, w.sub)
		b.Rot = b.Rot.turned(b.Spin, w.sub)
		b.moved = b.moved.AddScaled(b.Vel, w.sub)
		b.turned = b.turned.AddScaled(b.Spin, w.sub)
	}
}

// finish clears what belonged to the step.
func (w *World) finish() {
	for i := range w.bodies {
		b := &w.bodies[i]
		b.force, b.torque = Vec{}, Vec{}
		if b.asleep {
			continue
		}
		b.Vel, b.Spin = b.Vel.Limit(w.cfg.MaxSpeed), b.Spin.Limit(w.cfg.MaxSpin)
		b.moved, b.turned = Vec{}, Vec{}
		b.Pos = b.Pos.clamp(w.cfg.Low, w.cfg.High)
		b.axes = b.Rot.axes()
	}
}
