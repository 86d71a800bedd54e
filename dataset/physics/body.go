package physics

import "math"

// Body is one cube. Its density is uniform, so its inertia is the same about every axis: there is no
// tensor to rotate and no gyroscopic term.
//
// A caller may set Pos, Vel and Spin between steps.
type Body struct {
	Pos  Vec  // position of the centre in metres
	Rot  Quat // orientation, a unit quaternion
	Vel  Vec  // velocity in metres per second
	Spin Vec  // angular velocity, radians per second

	half         float64 // half the side, metres
	invMass      float64 // 1 / mass; 0 for a held body
	invInertia   float64
	gyration     float64 // radius of gyration: sqrt(inertia / mass)
	invGyration  float64 // 1 / gyration
	axes         [3]Vec  // unit normals of the faces, from Rot
	accel        Vec     // acceleration to apply in the next step
	angularAccel Vec     // angular acceleration to apply in the next step
	stillFor     float64 // seconds for which speed and spin were below the thresholds of rest
	asleep       bool
}

// Mass returns the mass in kilograms.
func (b *Body) Mass() float64 { return 1 / b.invMass }

// Inertia returns the moment of inertia, in kilograms times square metres, about
// any axis.
func (b *Body) Inertia() float64 { return 1 / b.invInertia }

// Asleep reports whether the cube rests and is left out of the simulation. Vel does not show that: it
// is also zero at the top of a throw.
func (b *Body) Asleep() bool { return b.asleep }

// Up returns the direction of the cube's own z axis.
func (b *Body) Up() Vec { return b.axes[2] }

// setMass sets mass, inertia and radius of gyration of a cube of a density in kg/m^3.
func (b *Body) setMass(density float64) {
	mass := float64(density * 8 * b.half * b.half * b.half)
	b.invMass = 1 / mass
	b.invInertia = 1 / float64(mass*b.half*b.half*(2.0/3)) // the inertia of a cube is mass * side^2 / 6
	b.gyration = math.Sqrt(b.invMass / b.invInertia)
	b.invGyration = 1 / b.gyration
}
