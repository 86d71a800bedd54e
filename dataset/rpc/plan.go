package rpc

import "math"

// plan is what a player is up to for a while.
type plan struct {
	forward, side float64 // keys, at most 1 together
	most          float64 // speed, cm/s
	looks         float64 // how readily the mouse moves
	mode          int32
	buttons       uint32
	floor         float64 // where a jump ends
}

// next makes a new plan.
func (p *player) next() {
	diagonal := math.Sqrt2 / 2
	p.left = 60 + p.rng.IntN(240)
	jumps := false
	p.plan = plan{most: walkSpeed, looks: 0.6, mode: walking, floor: p.plan.floor}
	switch n := p.rng.IntN(100); {
	case n < 18: // stands, looks about now and then
		p.plan.looks = 0.3
	case n < 38:
		p.plan.forward = 1
	case n < 65:
		p.plan.forward, p.plan.most, p.plan.buttons = 1, runSpeed, 4
	case n < 77: // strafes
		p.plan.side, p.plan.most, p.plan.looks = float64(1-2*p.rng.IntN(2)), runSpeed, 0.9
	case n < 83:
		p.plan.forward, p.plan.side, p.plan.most = diagonal, diagonal, runSpeed
	case n < 91: // jumps while running
		p.plan.forward, p.plan.most, p.left, jumps = 1, runSpeed, 70, true
	case n < 99:
		p.plan.forward, p.plan.most, p.plan.mode, p.left = 1, driveSpeed, driving, 240+p.rng.IntN(300)
	default:
		p.teleport()
	}
	if jumps && p.mode != falling {
		p.plan.floor = p.at[2]
		p.speed[2] = jumpSpeed
		p.mode, p.base = falling, 0
	} else if p.mode != falling {
		p.mode = p.plan.mode
	}
}

// teleport puts the player elsewhere, standing.
func (p *player) teleport() {
	p.land()
	p.speed, p.spin, p.mode = vec{}, vec{}, walking
	p.left = 30
}

// sine returns the sine of an angle in degrees by its series, which every machine
// sums alike; that of package math is assembly on some.
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
	for n := 3.0; n < 24; n += 2 {
		term = -float64(term*square) / float64(n*(n-1))
		sum += term
	}
	return sum
}
