package rpc

import (
	"math"
	"math/rand/v2"
)

// vec is a vector x, y, z, or the angles pitch, yaw, roll in degrees.
type vec [3]float64

// addScaled returns a + b*by. Here and below the conversion of products to float64 prevents fused
// multiply-adds, so that results are equal on every machine.
func (a vec) addScaled(b vec, by float64) vec {
	for c := range a {
		a[c] += float64(b[c] * by)
	}
	return a
}

// Constants of movement in the units of the Unreal Engine, centimetres and seconds.
const (
	walkSpeed       = 300.0
	runSpeed        = 600.0
	driveSpeed      = 2400.0
	keyAcceleration = 2048.0 // acceleration by a direction key
	friction        = 8.0    // fraction of the speed per second, on foot without keys
	gravity         = 980.0
	jumpSpeed       = 420.0
	worldHalfWidth  = 350_000.0 // half the width of the world, which is 7 km
)

// player is a simulated player: a user at the keyboard and the resulting motion.
type player struct {
	rng          *rand.Rand
	time         uint64 // time of the client, in microseconds
	position     vec    // position, cm
	velocity     vec    // velocity, cm/s
	acceleration vec    // acceleration that the keys request, cm/s^2
	rotation     vec    // rotation, degrees
	spin         vec    // rate of change of rotation, degrees/s
	mode         int32  // movement mode

	buttons    uint32 // held buttons, one bit each
	base       int32  // the actor on which the player stands; 0 in the air
	plan       plan
	planTicks  int // ticks left of the plan
	mouseSpin  vec // spin towards which the mouse accelerates, degrees/s
	mouseTicks int // ticks left of the mouse stroke or pause
}

// newPlayer returns a player at a random position.
func newPlayer(rng *rand.Rand) player {
	p := player{rng: rng, mode: walking, time: 1_000_000} // 1 s
	p.placeRandomly()
	p.choosePlan()
	return p
}

// placeRandomly sets a random position, with a height of 0.9 to 50.9 m, a random direction and a random
// base.
func (p *player) placeRandomly() {
	for c := range 2 {
		p.position[c] = float64(p.rng.Float64()*(2*worldHalfWidth)) - worldHalfWidth
	}
	p.position[2] = float64(p.rng.Float64()*5000) + 90
	p.rotation = vec{0, float64(p.rng.Float64()*360) - 180, 0}
	p.base = int32(p.rng.IntN(1 << 16))
}

// step simulates one frame of the client. Its duration varies around 1/60 s as in real clients.
func (p *player) step() {
	micros := uint64(16_667 + p.rng.IntN(601) - 300) // 16.4 to 17.0 ms
	if p.rng.IntN(200) == 0 {
		micros += uint64(p.rng.IntN(12_000)) // a late frame, about every 3 s
	}
	p.time += micros
	dt := float64(micros) / 1e6
	p.planTicks--
	if p.planTicks <= 0 {
		p.choosePlan()
	}
	p.updateRotation(dt)
	p.updateButtons()
	p.move(dt)
}

// updateRotation updates rotation and spin for dt seconds. The mouse moves in strokes with pauses
// between.
func (p *player) updateRotation(dt float64) {
	p.mouseTicks--
	if p.mouseTicks <= 0 {
		p.mouseTicks = 6 + p.rng.IntN(50) // 0.1 to 0.9 s
		p.mouseSpin = vec{}
		if p.rng.Float64() < p.plan.lookChance {
			p.mouseSpin = vec{float64(p.randNormal() * 20), float64(p.randNormal() * 110), 0} // degrees/s
		}
	}
	for c := range 2 {
		shake := 0.0
		if p.mouseSpin[c] != 0 {
			shake = float64(p.randNormal() * 4) // noise of the hand
		}
		p.spin[c] += float64((p.mouseSpin[c] - p.spin[c]) * 0.35) // the spin follows the mouse with a lag of about 3 frames
		p.spin[c] += shake
		if p.mouseSpin[c] == 0 && p.spin[c] < 1 && p.spin[c] > -1 {
			p.spin[c] = 0 // below 1 degree/s the view stands still
		}
	}
	p.rotation = p.rotation.addScaled(p.spin, dt)
	p.rotation[0] = min(max(p.rotation[0], -89), 89)
	switch {
	case p.rotation[1] >= 180:
		p.rotation[1] -= 360
	case p.rotation[1] < -180:
		p.rotation[1] += 360
	}
}

// updateButtons updates the held buttons: those of the plan, of which one sometimes toggles, and
// jump in the air.
func (p *player) updateButtons() {
	p.buttons = p.plan.buttons
	if p.rng.IntN(90) == 0 {
		p.plan.buttons ^= buttonFire << p.rng.IntN(5) // fire, aim, reload, use or melee
	}
	if p.mode == falling {
		p.buttons |= buttonJump
	}
}

// move updates velocity and position for dt seconds. In the air only gravity acts, until the player
// reaches the floor; otherwise the direction keys accelerate it.
func (p *player) move(dt float64) {
	sin, cos := sine(p.rotation[1]), sine(p.rotation[1]+90)
	forward, side := p.plan.forward, p.plan.side
	p.acceleration = vec{
		float64((float64(forward*cos) - float64(side*sin)) * keyAcceleration),
		float64((float64(forward*sin) + float64(side*cos)) * keyAcceleration), 0}
	before := p.velocity
	if p.mode == falling {
		p.velocity[2] -= float64(gravity * dt)
	} else {
		p.velocity = p.velocity.addScaled(p.acceleration, dt)
		p.limitSpeed(dt)
	}
	mean := vec{}.addScaled(before, 0.5).addScaled(p.velocity, 0.5)
	p.position = p.position.addScaled(mean, dt)
	if floor := p.plan.floor; p.mode == falling && p.position[2] <= floor {
		p.position[2], p.velocity[2], p.mode = floor, 0, p.plan.mode
		p.base = int32(p.rng.IntN(1 << 16)) // the player lands on another actor
	}
}

// limitSpeed limits the speed to that of the plan, and applies friction if no direction key is held.
func (p *player) limitSpeed(dt float64) {
	speed := math.Sqrt(float64(p.velocity[0]*p.velocity[0]) + float64(p.velocity[1]*p.velocity[1]))
	if speed == 0 {
		return
	}
	target := speed
	if p.plan.forward == 0 && p.plan.side == 0 {
		// Below 60 cm/s friction is that at 60 cm/s, so that the player comes to rest.
		target = max(0, speed-float64(max(speed, 60)*friction*dt))
	}
	factor := min(target, p.plan.maxSpeed) / speed
	p.velocity[0], p.velocity[1] = float64(p.velocity[0]*factor), float64(p.velocity[1]*factor)
}

// randNormal returns a random number with approximately standard normal distribution: a scaled sum
// of six uniform numbers. The tails of rand.NormFloat64 use functions whose results differ between
// machines.
func (p *player) randNormal() float64 {
	sum := -3.0
	for range 6 {
		sum += float64(p.rng.Float64()) // the conversion prevents fusing with the product in Float64
	}
	return float64(sum * math.Sqrt2)
}
