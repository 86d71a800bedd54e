package physics

// Body is one cube. Its mass is spread evenly, so its inertia is the same about
// every axis: no tensor to rotate and no gyroscopic term.
//
// A caller may set Vel and Spin between steps, and Pos and Rot through Place.
type Body struct {
	Pos  Vec  // of the centre, metres
	Rot  Quat // unit
	Vel  Vec  // metres per second
	Spin Vec  // radians per second

	half       float64 // half the side
	invMass    float64
	invInertia float64
	axes       [3]Vec // of the faces, from Rot
	force      Vec    // gathered for the next step
	torque     Vec
	moved      Vec     // since the step began; the solver's view of how contacts open and close
	turned     Vec     // likewise, as a rotation vector
	still      float64 // seconds for which it has hardly moved
	asleep     bool
	laid       bool // put to sleep by hand: its contact with the floor is yet to be found
}

// Half returns half the side of the cube.
func (b *Body) Half() float64 { return b.half }

// Mass returns the mass in kilograms.
func (b *Body) Mass() float64 { return 1 / b.invMass }

// Asleep reports whether the cube rests and is left out of the simulation. Ask
// this rather than whether Vel is zero: it is zero at the top of a throw, too.
func (b *Body) Asleep() bool { return b.asleep }

// Up returns the direction in which the cube's own z axis points.
func (b *Body) Up() Vec { return b.axes[2] }

// Place puts the cube elsewhere, turned by rot, and wakes it.
func (b *Body) Place(pos Vec, rot Quat) {
	b.Pos, b.Rot = pos, rot.unit()
	b.axes = b.Rot.axes()
	b.Wake()
}

// Wake brings the cube back into the simulation.
func (b *Body) Wake() { b.asleep, b.still = false, 0 }

// Sleep lays the cube to rest at once, as if it had rested for long.
func (b *Body) Sleep() {
	b.rest()
	b.laid = true
}

func (b *Body) rest() { b.asleep, b.Vel, b.Spin = true, Vec{}, Vec{} }

// Push applies a force in newtons at the centre during the next step, and wakes
// the cube.
func (b *Body) Push(force Vec) {
	b.force = b.force.Add(force)
	b.Wake()
}

// Twist applies a torque in newton metres during the next step, and wakes the
// cube.
func (b *Body) Twist(torque Vec) {
	b.torque = b.torque.Add(torque)
	b.Wake()
}

// lowest returns the height of the cube's lowest corner.
func (b *Body) lowest() float64 {
	return b.Pos.Z - float64(b.half*(abs(b.axes[0].Z)+abs(b.axes[1].Z)+abs(b.axes[2].Z)))
}
