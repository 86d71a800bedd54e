package physics

import "math"

// Body is one cube. Its mass is spread evenly, so its inertia is the same about
// every axis: no tensor to rotate and no gyroscopic term.
//
// A caller may set Pos, Vel and Spin between steps.
type Body struct {
	Pos  Vec  // of the centre, metres
	Rot  Quat // unit
	Vel  Vec  // metres per second
	Spin Vec  // radians per second

	half       float64 // half the side
	invMass    float64
	invInertia float64
	gyration   float64 // the radius at which all of the mass would resist a turn as the body does
	perRadius  float64 // 1 over that
	axes       [3]Vec  // of the faces, from Rot
	pull       Vec     // acceleration gathered for the next step
	twist      Vec     // likewise, of the spin
	still      float64 // seconds for which it has hardly moved
	asleep     bool
}

// Mass returns the mass in kilograms.
func (b *Body) Mass() float64 { return 1 / b.invMass }

// Inertia returns the moment of inertia, in kilograms times square metres, about
// any axis.
func (b *Body) Inertia() float64 { return 1 / b.invInertia }

// Asleep reports whether the cube rests and is left out of the simulation. Ask
// this rather than whether Vel is zero: it is zero at the top of a throw, too.
func (b *Body) Asleep() bool { return b.asleep }

// Up returns the direction in which the cube's own z axis points.
func (b *Body) Up() Vec { return b.axes[2] }

// weigh sets mass and inertia.
func (b *Body) weigh(density float64) {
	mass := float64(density * 8 * b.half * b.half * b.half)
	b.invMass = 1 / mass
	b.invInertia = 1 / float64(mass*b.half*b.half*(2.0/3))
	b.gyration = math.Sqrt(b.invMass / b.invInertia)
	b.perRadius = 1 / b.gyration
}
