package rpc

import (
	"math"
	"math/rand/v2"
)

// vec is a vector; of angles: pitch, yaw, roll in degrees.
type vec [3]float64

// plus adds b times by. Here as everywhere a product is kept apart from the sum that
// it feeds, so that no compiler fuses them and every machine finds the same.
func (a vec) plus(b vec, by float64) vec {
	for c := range a {
		a[c] += float64(b[c] * by)
	}
	return a
}

// Figures of a player in Unreal's units, centimetres and seconds.
const (
	walkSpeed  = 300.0
	runSpeed   = 600.0
	driveSpeed = 2400.0
	pushMost   = 2048.0 // acceleration that a key asks for
	friction   = 8.0    // a second, on foot
	gravity    = 980.0
	jumpSpeed  = 420.0
	worldHalf  = 350_000.0 // the world is seven kilometres wide
)

// player is somebody at the keyboard and what comes of it.
type player struct {
	rng   *rand.Rand
	time  uint64 // microseconds
	at    vec
	speed vec
	push  vec
	turn  vec
	spin  vec
	mode  int32

	buttons uint32
	base    int32
	plan    plan
	left    int // ticks of the plan
	glance  vec // where the mouse is going, degrees a second
	held    int // ticks until the mouse does something else
}

func newPlayer(rng *rand.Rand) player {
	p := player{rng: rng, mode: walking, time: 1_000_000}
	p.land()
	p.next()
	return p
}

// land puts the player somewhere in the world.
func (p *player) land() {
	for c := range 2 {
		p.at[c] = float64(p.rng.Float64()*(2*worldHalf)) - worldHalf
	}
	p.at[2] = float64(p.rng.Float64()*5000) + 90
	p.turn = vec{0, float64(p.rng.Float64()*360) - 180, 0}
	p.base = int32(p.rng.IntN(1 << 16))
}

// step lets one frame of the client pass. Its length varies as real ones do.
func (p *player) step() {
	micros := uint64(16_667 + p.rng.IntN(601) - 300)
	if p.rng.IntN(200) == 0 {
		micros += uint64(p.rng.IntN(12_000)) // a hitch
	}
	p.time += micros
	dt := float64(micros) / 1e6
	p.left--
	if p.left <= 0 {
		p.next()
	}
	p.look(dt)
	p.press()
	p.move(dt)
}

// look turns the head: the mouse moves in strokes with pauses between.
func (p *player) look(dt float64) {
	p.held--
	if p.held <= 0 {
		p.held = 6 + p.rng.IntN(50)
		p.glance = vec{}
		if p.rng.Float64() < p.plan.looks {
			p.glance = vec{float64(p.normal() * 20), float64(p.normal() * 110), 0}
		}
	}
	for c := range 2 {
		shake := 0.0
		if p.glance[c] != 0 {
			shake = float64(p.normal() * 4)
		}
		p.spin[c] += float64((p.glance[c] - p.spin[c]) * 0.35)
		p.spin[c] += shake
		if p.glance[c] == 0 && p.spin[c] < 1 && p.spin[c] > -1 {
			p.spin[c] = 0
		}
	}
	p.turn = p.turn.plus(p.spin, dt)
	p.turn[0] = min(max(p.turn[0], -89), 89)
	switch {
	case p.turn[1] >= 180:
		p.turn[1] -= 360
	case p.turn[1] < -180:
		p.turn[1] += 360
	}
}

// press holds keys down and lets go of them.
func (p *player) press() {
	p.buttons = p.plan.buttons
	if p.rng.IntN(90) == 0 {
		p.plan.buttons ^= 8 << p.rng.IntN(5) // fire, aim, reload, use, melee
	}
	if p.mode == falling {
		p.buttons |= 1
	}
}

// move lets the push and the ground act on the player.
func (p *player) move(dt float64) {
	sin, cos := sine(p.turn[1]), sine(p.turn[1]+90)
	forward, side := p.plan.forward, p.plan.side
	p.push = vec{
		float64((float64(forward*cos) - float64(side*sin)) * pushMost),
		float64((float64(forward*sin) + float64(side*cos)) * pushMost), 0}
	before := p.speed
	if p.mode == falling {
		p.speed[2] -= float64(gravity * dt)
	} else {
		p.speed = p.speed.plus(p.push, dt)
		p.drag(dt)
	}
	mean := vec{}.plus(before, 0.5).plus(p.speed, 0.5)
	p.at = p.at.plus(mean, dt)
	if floor := p.plan.floor; p.mode == falling && p.at[2] <= floor {
		p.at[2], p.speed[2], p.mode = floor, 0, p.plan.mode
		p.base = int32(p.rng.IntN(1 << 16))
	}
}

// drag bounds the speed, and stops a player who asks for nothing.
func (p *player) drag(dt float64) {
	fast := math.Sqrt(float64(p.speed[0]*p.speed[0]) + float64(p.speed[1]*p.speed[1]))
	if fast == 0 {
		return
	}
	want := fast
	if p.plan.forward == 0 && p.plan.side == 0 {
		want = max(0, fast-float64(max(fast, 60)*friction*dt))
	}
	by := min(want, p.plan.most) / fast
	p.speed[0], p.speed[1] = float64(p.speed[0]*by), float64(p.speed[1]*by)
}

// normal draws a number that is near enough to normally distributed, by sums alone:
// the tails of package rand's own are not the same on every machine.
func (p *player) normal() float64 {
	sum := -3.0
	for range 6 {
		sum += float64(p.rng.Float64()) // the conversion keeps its last product apart
	}
	return float64(sum * math.Sqrt2)
}
