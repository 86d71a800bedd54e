package rpc

import "math"

// Bits of held buttons, in the order of the flags in a call.
const (
	buttonJump   = 1 << 0
	buttonSprint = 1 << 2
	buttonFire   = 1 << 3 // aim, reload, use and melee are the next higher bits
)

// plan is what a player does for some seconds.
type plan struct {
	forward, side float64 // direction keys; a vector of length 0 or 1
	maxSpeed      float64 // maximum speed, cm/s
	lookChance    float64 // probability that a mouse stroke moves the view
	mode          int32   // movement mode
	buttons       uint32  // held buttons, one bit each, in the order of the fields
	floor         float64 // height at which a jump ends, cm
}

// choosePlan chooses a new plan at random, of 1 to 5 s unless the kind of plan sets another duration. A
// player in the air goes on falling and gets the movement mode of the plan when it lands.
func (p *player) choosePlan() {
	diagonal := math.Sqrt2 / 2
	p.planTicks = 60 + p.rng.IntN(240)
	jumps := false
	p.plan = plan{maxSpeed: walkSpeed, lookChance: 0.6, mode: walking, floor: p.plan.floor}
	switch percentile := p.rng.IntN(100); {
	case percentile < 18: // stands and sometimes looks around
		p.plan.lookChance = 0.3
	case percentile < 38: // walks
		p.plan.forward = 1
	case percentile < 65: // runs
		p.plan.forward, p.plan.maxSpeed, p.plan.buttons = 1, runSpeed, buttonSprint
	case percentile < 77: // strafes to the left or right
		p.plan.side, p.plan.maxSpeed, p.plan.lookChance = float64(1-2*p.rng.IntN(2)), runSpeed, 0.9
	case percentile < 83: // runs diagonally
		p.plan.forward, p.plan.side, p.plan.maxSpeed = diagonal, diagonal, runSpeed
	case percentile < 91: // jumps while running
		p.plan.forward, p.plan.maxSpeed, p.planTicks, jumps = 1, runSpeed, 70, true
	case percentile < 99: // drives
		p.plan.forward, p.plan.maxSpeed, p.plan.mode, p.planTicks = 1, driveSpeed, driving, 240+p.rng.IntN(300)
	default:
		p.teleport()
	}
	if jumps && p.mode != falling {
		p.plan.floor = p.position[2]
		p.velocity[2] = jumpSpeed
		p.mode, p.base = falling, 0
	} else if p.mode != falling {
		p.mode = p.plan.mode
	}
}

// teleport moves the player to a random position, where it stands still.
func (p *player) teleport() {
	p.placeRandomly()
	p.velocity, p.spin, p.mode = vec{}, vec{}, walking
	p.planTicks = 30
}

// sine returns the sine of an angle in degrees, computed from its series so that the result is equal on
// every machine; math.Sin is implemented in assembly on some.
func sine(degrees float64) float64 {
	for degrees > 180 {
		degrees -= 360
	}
	for degrees < -180 {
		degrees += 360
	}
	if degrees > 90 {
		degrees = 180 - degrees
	} else if degrees < -90 {
		degrees = -180 - degrees
	}
	x := float64(degrees * (math.Pi / 180))
	square, term, sum := float64(x*x), x, x
	for n := 3.0; n < 24; n += 2 { // up to x^23/23!, below the precision of a float64
		term = -float64(term*square) / float64(n*(n-1))
		sum += term
	}
	return sum
}
