package world

import (
	"math"

	"wirelab/dataset/physics"
)

// Input is the set of keys that are held during one step.
type Input struct {
	Left, Right, Up, Down bool // direction keys: towards -x, +x, +y, -y
	Push                  bool // makes the player hover and blow away the cubes below
	Pull                  bool // makes the player attract the cubes around it
}

// direction returns the sum of the direction keys, -1, 0 or 1 along each axis.
func (in Input) direction() (x, y float64) {
	return keyValue(in.Right) - keyValue(in.Left), keyValue(in.Up) - keyValue(in.Down)
}

// keyValue returns 1 if a key is held, otherwise 0.
func keyValue(key bool) float64 {
	if key {
		return 1
	}
	return 0
}

// The player's forces (newtons) and torques (newton metres).
const (
	keyForce = 120.0 // force of one direction key; friction turns it into rolling

	wobbleForce      = 0.7   // factor on the sum of three waves; the force is about 2 N
	wobbleTorque     = 0.5   // factor on the sum of three waves
	uprightTorque    = 100.0 // torque per radian of deviation from upright
	maxTiltAngle     = 0.5   // radians; deviations above this angle give no more torque
	maxLean          = 0.25  // radians; limit of the lean into the direction of travel
	leanPerSpeed     = 0.05  // radians of lean per m/s of speed
	hoverSpinFactor  = 0.95  // damping of a hovering player: factor on spin per step
	hoverGlideFactor = 0.96  // damping of a hovering player: factor on horizontal speed per step
	hoverClimbFactor = 0.999 // damping of a hovering player: factor on vertical speed per step
)

// drive applies the direction keys. The force is doubled against the direction of travel, so that a
// rolling player can turn back. A hovering player needs no more force.
func (s *sim) drive(in Input) {
	x, y := in.direction()
	if x == 0 && y == 0 {
		return
	}
	p := s.Player()
	force := physics.Vec{X: float64(x * keyForce), Y: float64(y * keyForce)}
	if !in.Push && force.Dot(p.Vel) < 0 {
		force = force.Scale(2)
	}
	s.pushPlayer(force)
}

// pushPlayer applies a force in newtons to the player during the next step.
func (s *sim) pushPlayer(force physics.Vec) {
	s.scene.Accelerate(player, force.Scale(1/s.Player().Mass()))
}

// twistPlayer applies a torque in newton metres to the player during the next step.
func (s *sim) twistPlayer(torque physics.Vec) {
	s.scene.Twist(player, torque.Scale(1/s.Player().Inertia()))
}

// hover applies the forces of hovering, except the lift, which liftPlayer applies. The player wobbles, leans into
// the direction of travel, and is slowed down by the air.
func (s *sim) hover() {
	p := s.Player()
	t := float64(s.tick)
	const forcePhase, torquePhase = 1, 2 // different phases, so that the two motions are independent
	s.pushPlayer(wobble(t, forcePhase).Scale(wobbleForce))
	s.twistPlayer(wobble(t, torquePhase).Scale(wobbleTorque))
	s.twistPlayer(torqueTowards(p.Up(), leaningUp(p.Vel)))
	p.Spin = p.Spin.Scale(hoverSpinFactor)
	p.Vel = physics.Vec{
		X: float64(p.Vel.X * hoverGlideFactor),
		Y: float64(p.Vel.Y * hoverGlideFactor),
		Z: float64(p.Vel.Z * hoverClimbFactor),
	}
}

// leaningUp returns the unit vector towards which the player's z axis turns: up, and forward in
// proportion to its velocity v.
func leaningUp(v physics.Vec) physics.Vec {
	v.Z = 0
	up := physics.Vec{Z: 1}.Add(v.Scale(leanPerSpeed).Limit(maxLean))
	return up.Scale(1 / up.Length())
}

// torqueTowards returns the torque that turns up towards target. Both are unit vectors.
func torqueTowards(up, target physics.Vec) physics.Vec {
	axis := up.Cross(target)
	sine := axis.Length()
	if sine < 1e-9 { // the vectors are parallel: the axis has no direction
		return physics.Vec{}
	}
	angle := maxTiltAngle // radians; larger angles are treated as this one
	if s2 := float64(sine * sine); up.Dot(target) > 0 && sine < maxTiltAngle {
		// The first terms of the series of the arc sine: library functions may differ in the last bit.
		angle = min(angle, float64(sine*(1+float64(s2/6)+float64(s2*s2*0.075))))
	}
	return axis.Scale(uprightTorque * angle / sine)
}

// wobble returns a slow pseudo-random motion at t steps, of about 1 in each component: sums of three
// waves of about 1, 0.5 and 10 Hz. phase selects another motion.
func wobble(t, phase float64) physics.Vec {
	sum := func(shift float64) float64 {
		offset := float64(phase*0.37) + shift
		return wave(float64(t*0.016)+offset) + wave(float64(t*0.008)+float64(2*offset)) + wave(float64(t*0.159)+float64(3*offset))
	}
	return physics.Vec{X: sum(0.16), Y: sum(0.32), Z: sum(0.48)}
}

// wave is a periodic function with period 1 and values from -1 to 1: a sine approximated by two
// parabolas, which is equal on every machine.
func wave(x float64) float64 {
	x -= math.Floor(x + 0.5)
	return float64(8*x) - float64(16*x*math.Abs(x))
}
