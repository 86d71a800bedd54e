package world

import (
	"math"

	"wirelab/dataset/physics"
)

// Input is the keys held during one step.
type Input struct {
	Left, Right, Up, Down bool // towards -x, +x, +y, -y
	Push                  bool // hover, and blow away what is below
	Pull                  bool // draw in what is around: katamari
}

// direction returns what the direction keys add up to, -1, 0 or 1 each way.
func (in Input) direction() (x, y float64) {
	return held(in.Right) - held(in.Left), held(in.Up) - held(in.Down)
}

func held(key bool) float64 {
	if key {
		return 1
	}
	return 0
}

// The player's forces (newtons) and torques (newton metres).
const (
	keyForce = 120.0 // of one direction key; friction makes a roll of it

	wobbleForce   = 0.7 // times three waves: about 2 N
	wobbleTorque  = 0.5
	uprightTorque = 100.0 // per radian
	uprightMost   = 0.5   // radians that count at most
	leanMost      = 0.25  // radians into the direction of travel
	leanPerSpeed  = 0.05  // radians per m/s
	hoverSpin     = 0.95  // what a step leaves of spin,
	hoverGlide    = 0.96  // of speed along the floor,
	hoverClimb    = 0.999 // and of vertical speed
)

// drive applies the direction keys. Against the direction of travel they count
// double, so that a rolling player can turn back; a hovering one is light enough.
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
	s.shove(force)
}

// shove applies a force in newtons to the player, twist a torque in newton metres.
func (s *sim) shove(force physics.Vec) { s.scene.Pull(player, force.Scale(1/s.Player().Mass())) }

func (s *sim) twist(torque physics.Vec) {
	s.scene.Twist(player, torque.Scale(1/s.Player().Inertia()))
}

// hover moves a hovering player: it bobs, leans into the direction of travel, and is
// slowed by the air. Its own push holds it up.
func (s *sim) hover() {
	p := s.Player()
	t := float64(s.tick)
	s.shove(wobble(t, 1).Scale(wobbleForce))
	s.twist(wobble(t, 2).Scale(wobbleTorque))
	s.twist(torqueTowards(p.Up(), uprightFor(p.Vel)))
	p.Spin = p.Spin.Scale(hoverSpin)
	p.Vel = physics.Vec{
		X: float64(p.Vel.X * hoverGlide),
		Y: float64(p.Vel.Y * hoverGlide),
		Z: float64(p.Vel.Z * hoverClimb),
	}
}

// uprightFor returns the direction in which the top of a player with velocity v should
// point: up, and a little forward.
func uprightFor(v physics.Vec) physics.Vec {
	v.Z = 0
	up := physics.Vec{Z: 1}.Add(v.Scale(leanPerSpeed).Limit(leanMost))
	return up.Scale(1 / up.Length())
}

// torqueTowards returns the torque that turns up towards target, both units.
func torqueTowards(up, target physics.Vec) physics.Vec {
	axis := up.Cross(target)
	sine := axis.Length()
	if sine < 1e-9 {
		return physics.Vec{}
	}
	angle := uprightMost
	if s2 := float64(sine * sine); up.Dot(target) > 0 && sine < uprightMost {
		// The arc sine, by its series: a library's may differ in the last bit.
		angle = min(angle, float64(sine*(1+float64(s2/6)+float64(s2*s2*0.075))))
	}
	return axis.Scale(uprightTorque * angle / sine)
}

// wobble returns three slow sums of waves, about 1 in size, at t steps.
func wobble(t, phase float64) physics.Vec {
	sum := func(shift float64) float64 {
		at := float64(phase*0.37) + shift
		return wave(float64(t*0.016)+at) + wave(float64(t*0.008)+float64(2*at)) + wave(float64(t*0.159)+float64(3*at))
	}
	return physics.Vec{X: sum(0.16), Y: sum(0.32), Z: sum(0.48)}
}

// wave goes up and down once as x grows by 1, between -1 and 1. It is made of two
// parabolas: near enough to a sine to look at, and the same on every machine.
func wave(x float64) float64 {
	x -= math.Floor(x + 0.5)
	return float64(8*x) - float64(16*x*math.Abs(x))
}
