package world

import (
	"math"
	"testing"

	"wirelab/dataset/physics"
)

// These tests compare the forces of the demonstration with values computed by hand. A step adds
// acceleration x time to a speed and then damps it by a hundredth.
const (
	dt        = 1.0 / 60
	kept      = 0.99
	mass      = 3.375 // of the player: 1.5 m cubed
	gravity   = 20
	smallMass = 0.064
)

// aloft returns a world whose player moves in free space.
func aloft(at, vel physics.Vec) *sim {
	s := newSim()
	p := s.Player()
	p.Pos, p.Vel = at, vel
	return s
}

func near(t *testing.T, what string, got, want, most float64) {
	t.Helper()
	if !(math.Abs(got-want) <= most) {
		t.Errorf("%s: %v, expected %v (within %v)", what, got, want, most)
	}
}

func TestMasses(t *testing.T) {
	s := newSim()
	near(t, "the player's mass", s.Player().Mass(), mass, 1e-12)
	near(t, "a cube's mass", s.scene.Body(1).Mass(), smallMass, 1e-12)
}

// Each direction key adds 120 N; the sum is doubled against the direction of travel, unless push is on.
func TestKeyForce(t *testing.T) {
	const one = 120 / mass * dt
	for _, c := range []struct {
		in   Input
		vel  physics.Vec
		x, y float64 // added to the speed
	}{
		{Input{Right: true}, physics.Vec{}, one, 0},
		{Input{Left: true}, physics.Vec{}, -one, 0},
		{Input{Up: true}, physics.Vec{}, 0, one},
		{Input{Down: true, Right: true}, physics.Vec{}, one, -one},
		{Input{Left: true, Right: true, Up: true}, physics.Vec{}, 0, one},
		{Input{Right: true}, physics.Vec{X: 5}, one, 0},
		{Input{Right: true}, physics.Vec{X: -5}, 2 * one, 0},
		{Input{Right: true, Up: true}, physics.Vec{X: -3, Y: 1}, 2 * one, 2 * one},
		{Input{Right: true, Up: true}, physics.Vec{X: -3, Y: 4}, one, one},
		{Input{Right: true, Pull: true}, physics.Vec{X: -5}, 2 * one, 0},
	} {
		s := aloft(physics.Vec{X: 100, Z: 10}, c.vel)
		s.Step(c.in)
		v := s.Player().Vel
		near(t, "speed along x", v.X, kept*(c.vel.X+c.x), 1e-9)
		near(t, "speed along y", v.Y, kept*(c.vel.Y+c.y), 1e-9)
	}
	// With push on there is a wobble of up to 2.1 N and damping, and no doubling.
	s := aloft(physics.Vec{X: 100, Z: 10}, physics.Vec{X: -5})
	s.Step(Input{Right: true, Push: true})
	near(t, "speed along x, hovering", s.Player().Vel.X, kept*(-5*0.96+one), kept*2.1/mass*dt)
}

// accelerationAt returns the acceleration, without gravity, of a small awake cube at a position in one
// step.
func accelerationAt(s *sim, at physics.Vec, in Input) physics.Vec {
	b := s.scene.Body(1)
	b.Pos = at
	s.scene.Accelerate(1, physics.Vec{})
	s.Step(in)
	a := b.Vel.Scale(1 / kept / dt)
	a.Z += gravity
	return a
}

// The push is min(500, 200/d^2) m/s^2 away from the point under the player, 0.1 m
// below the floor, for d below 2 m, and nothing beyond.
func TestPushAgainstDistance(t *testing.T) {
	origin := physics.Vec{X: 100, Z: -0.1}
	for _, away := range []physics.Vec{
		{Z: 0.5}, {X: 0.3, Z: 0.5}, {Y: -0.6, Z: 0.6}, {X: 1, Z: 1}, {X: -1, Y: 1, Z: 1.3}, {X: 1.6, Z: 1.19},
		{X: 1.7, Z: 1.2}, {X: 3, Z: 1},
	} {
		d := away.Length()
		want := 0.0
		if d < 2 {
			want = math.Min(500, 200/(d*d))
		}
		got := accelerationAt(aloft(physics.Vec{X: 100, Z: 10}, physics.Vec{}), origin.Add(away), Input{Push: true})
		near(t, "push", got.Sub(away.Scale(want/d)).Length(), 0, 1e-6*max(1, want))
	}
}

// The pull is min(2000, 200/d^2) m/s^2 towards the player's centre, for d between
// 0.2 and 1.8 m.
func TestPullAgainstDistance(t *testing.T) {
	centre := physics.Vec{X: 100, Z: 10}
	for _, away := range []physics.Vec{{X: 1.2}, {Y: 1.1, Z: 1}, {X: -1.2, Y: 0.9, Z: 0.8}, {Z: 1.79}, {Z: 1.81}, {X: 2, Y: 1}} {
		d := away.Length()
		want := 0.0
		if d <= 1.8 {
			want = math.Min(2000, 200/(d*d))
		}
		got := accelerationAt(aloft(centre, physics.Vec{}), centre.Add(away), Input{Pull: true})
		near(t, "pull", got.Add(away.Scale(want/d)).Length(), 0, 1e-6*max(1, want))
	}
	// Cubes cannot be nearer than their surfaces allow, so the limits are tested separately.
	near(t, "limit of the pull", inverseSquare(0.25, pullLimit), 2000, 0)
	near(t, "limit of the push", inverseSquare(0.25, pushLimit), 500, 0)
	near(t, "push at a metre", inverseSquare(1, pushLimit), 200, 0)
}

// The player is lifted by a force at a distance reduced by 0.7 m, times twenty if it also pulls. The
// wobble is at most 2.1 N.
func TestLift(t *testing.T) {
	for _, z := range []float64{1.2, 1.6, 2, 2.3, 2.59, 2.61, 5} {
		for _, pull := range []bool{false, true} {
			d := z + 0.1 - 0.7
			force := 0.0
			if d < 2 {
				force = math.Min(500, 200/(d*d))
			}
			if pull {
				force *= 20
			}
			s := aloft(physics.Vec{X: 100, Z: z}, physics.Vec{})
			s.Step(Input{Push: true, Pull: pull})
			want := kept * (force/mass - gravity) * dt
			if pull && want > 32 {
				want = 32 * kept // the speed limit
			}
			near(t, "lift", s.Player().Vel.Z, want, 2.1/mass*dt)
		}
	}
}

// Without keys the player hovers where the lift equals its weight: 200/d^2 = 67.5 N.
func TestHoverHeight(t *testing.T) {
	s := aloft(physics.Vec{X: 100, Z: 2.3}, physics.Vec{})
	sum := 0.0
	for range 1200 {
		s.Step(Input{Push: true})
		sum += s.Player().Pos.Z
	}
	near(t, "mean height", sum/1200, 0.6+math.Sqrt(200/(mass*gravity)), 0.05)
}

// With a key held while hovering the speed converges to the one at which damping equals the key's
// acceleration: v = 0.99 (0.96 v + 120/m dt).
func TestTerminalSpeed(t *testing.T) {
	s := aloft(physics.Vec{X: 60, Z: 2.3}, physics.Vec{})
	sum := 0.0
	for k := range 300 {
		s.Step(Input{Push: true, Right: true})
		if k >= 180 {
			sum += s.Player().Vel.X / 120
		}
	}
	near(t, "speed", sum, kept*120/mass*dt/(1-kept*0.96), 0.15)
}

// The spin decays by a twentieth in each step. A spin about the vertical axis has no other torque than
// the wobble.
func TestSpinDecays(t *testing.T) {
	s := aloft(physics.Vec{X: 100, Z: 30}, physics.Vec{})
	p := s.Player()
	p.Spin = physics.Vec{Z: 10}
	wobbles := 3 * wobbleTorque / p.Inertia() * dt
	want := 10.0
	for range 60 {
		s.Step(Input{Push: true})
		want *= kept * 0.95
		near(t, "spin", p.Spin.Z, want, wobbles*kept/(1-kept*0.95))
	}
}

// The vertical speed decays by a thousandth in each step.
func TestClimbDecays(t *testing.T) {
	s := aloft(physics.Vec{X: 100, Z: 20}, physics.Vec{Z: 8})
	s.Step(Input{Push: true})
	near(t, "climb", s.Player().Vel.Z, kept*(8*0.999-gravity*dt), kept*2.1/mass*dt)
}

// The target of the upright torque leans into the direction of travel by up to a quarter of a radian.
func TestLean(t *testing.T) {
	for _, v := range []physics.Vec{{}, {X: 1}, {Y: -3, Z: 9}, {X: 4, Y: 3}, {X: -30}} {
		up := leaningUp(v)
		flat := math.Hypot(v.X, v.Y)
		tilt := math.Atan2(math.Hypot(up.X, up.Y), up.Z)
		near(t, "tilt", tilt, math.Min(0.25, 0.05*flat), 0.006)
		near(t, "length", up.Length(), 1, 1e-12)
		if flat > 0 {
			near(t, "direction", (up.X*v.X+up.Y*v.Y)/flat, math.Sin(tilt), 1e-9)
		}
	}
}

// A tilted player returns to upright and stays there.
func TestRights(t *testing.T) {
	s := aloft(physics.Vec{X: 100, Z: 2.3}, physics.Vec{})
	s.Player().Spin = physics.Vec{X: 9, Y: 4}
	most := 1.0
	for k := range 300 {
		s.Step(Input{Push: true})
		if k > 120 {
			most = min(most, s.Player().Up().Z)
		}
	}
	near(t, "upright", most, 1, 0.01)
}

// The wobble is about 2 N in all directions, and slow.
func TestWobble(t *testing.T) {
	var low, high physics.Vec
	for k := range 20000 {
		w := wobble(float64(k), 1).Scale(wobbleForce)
		low = physics.Vec{X: min(low.X, w.X), Y: min(low.Y, w.Y), Z: min(low.Z, w.Z)}
		high = physics.Vec{X: max(high.X, w.X), Y: max(high.Y, w.Y), Z: max(high.Z, w.Z)}
		if step := wobble(float64(k+1), 1).Sub(wobble(float64(k), 1)).Length(); step > 2.5 {
			t.Fatalf("step %d: it jumps by %v", k, step)
		}
	}
	for _, x := range []float64{-low.X, -low.Y, -low.Z, high.X, high.Y, high.Z} {
		near(t, "the most of it", x, 2, 0.25)
	}
}

// Forces end at their radii: cubes beyond stay asleep.
func TestForcesEndAtTheirRadii(t *testing.T) {
	for _, in := range []Input{{Push: true}, {Pull: true}, {Push: true, Pull: true}} {
		s := newSim()
		p := s.Player()
		p.Pos = physics.Vec{X: 0.5, Y: 0.5, Z: 2.3} // over a cube
		s.Step(in)
		woken := 0
		for i := player + 1; i < cubes; i++ {
			b := s.scene.Body(i)
			x, y := 0.5-b.Pos.X, 0.5-b.Pos.Y
			flat := math.Hypot(x, y)
			within := in.Push && math.Hypot(flat, 0.3) < 2 || in.Pull && math.Hypot(flat, 2.1) < 1.8
			if b.Asleep() == within {
				t.Errorf("%+v: cube %d, %.2f m aside: asleep %v", in, i, flat, b.Asleep())
			}
			if within {
				woken++
			}
			if s.interacting[i] != within {
				t.Errorf("%+v: cube %d, %.2f m aside: interacting %v", in, i, flat, s.interacting[i])
			}
		}
		if in.Push && woken != 9 {
			t.Errorf("%+v woke %d cubes, expected 9: those less than 1.98 m aside", in, woken)
		}
	}
}

// Cubes in contact with an interacting cube, directly or through others, interact in the same step. A
// cube stops interacting a hundred steps after it fell asleep.
func TestInteractingSpreadsAndEnds(t *testing.T) {
	s := newSim()
	const n = 6
	for k := range n { // a tower, each cube half a layer in the one below
		b := s.scene.Body(1 + k)
		b.Pos = physics.Vec{X: 60, Z: 0.2 + 0.395*float64(k)}
	}
	s.markInteracting(1)
	s.scene.Accelerate(1, physics.Vec{})
	s.Step(Input{})
	for i := 1; i < cubes; i++ {
		if s.interacting[i] != (i <= n) {
			t.Fatalf("cube %d: interacting %v", i, s.interacting[i])
		}
	}
	slept := make([]int, n+1)
	for step := 0; s.interacting[1] || s.interacting[n]; step++ {
		if step == 1000 {
			t.Fatal("they never stop interacting")
		}
		s.Step(Input{})
		for i := 1; i <= n; i++ {
			if s.scene.Body(i).Asleep() {
				slept[i]++
			} else {
				slept[i] = 0
			}
			if s.interacting[i] != (slept[i] < 100) {
				t.Fatalf("cube %d has slept for %d steps: interacting %v", i, slept[i], s.interacting[i])
			}
		}
	}
}

// Positions are limited to the range of snapshots.
func TestConfined(t *testing.T) {
	for at, want := range map[physics.Vec]physics.Vec{
		{X: 1, Y: -2, Z: 3}:         {X: 1, Y: -2, Z: 3},
		{X: 300, Y: -257, Z: -0.04}: {X: 256, Y: -256},
		{X: -300, Y: 257, Z: 33}:    {X: -256, Y: 256, Z: 32},
	} {
		if got := clampPosition(at); got != want {
			t.Errorf("%v became %v, expected %v", at, got, want)
		}
	}
	s := aloft(physics.Vec{X: 255.9, Z: 5}, physics.Vec{X: 32})
	s.Step(Input{})
	near(t, "x at the edge", s.Player().Pos.X, 256, 0)
}
