package physics

import (
	"math"
	"testing"
)

// half is half the side of the small cubes of the demonstration, in metres.
const half = 0.2

// turned returns an orientation that differs from its neighbours'.
func turned(k int) Quat {
	return Quat{float64(k*7%11) - 5, float64(k*5%13) - 6, float64(k*3%7) - 3, 6}.normalized()
}

// thorough returns the parameters with limits on work that are not reached.
func thorough() Params {
	law := RecorderParams()
	law.Effort = 8
	return law
}

// stepAwake steps a scene without letting cubes sleep, so that they stand by their contacts alone.
func stepAwake(s *Scene) {
	for _, i := range s.live {
		s.bodies[i].stillFor = 0
	}
	s.Step(tick)
}

// lowest returns the height of the cube's lowest corner.
func (b *Body) lowest() float64 {
	return b.Pos.Z - b.half*(abs(b.axes[0].Z)+abs(b.axes[1].Z)+abs(b.axes[2].Z))
}

// sleeping returns the number of live cubes that sleep.
func (s *Scene) sleeping() (n int) {
	for _, i := range s.live {
		if s.bodies[i].asleep {
			n++
		}
	}
	return n
}

// tower returns a stack of n cubes.
func tower(n int) *Scene {
	at := make([]Vec, n)
	for i := range at {
		at[i].Z = half + float64(2*half*float64(i))
	}
	return sceneOf(thorough(), at...)
}

// pile returns a scene of n cubes placed by placePile.
func pile(n int) *Scene {
	s := NewScene(n)
	placePile(s, n)
	return s
}

// placePile resets s and places n cubes in different orientations above the floor, in layers of 10 x 10.
func placePile(s *Scene, n int) {
	s.Reset(thorough(), nil)
	for k := range n {
		x, y, z := float64(k%10), float64(k/10%10), float64(k/100)
		s.Place(k, half, Vec{float64(x*0.5) - 2.5, float64(y*0.5) - 2.5, 0.5 + float64(z*0.7)}, turned(k), Vec{}, Vec{}, 0)
	}
}

// heavyOnNine returns nine small cubes with a cube of fifty times their weight on top.
func heavyOnNine() *Scene {
	s := NewScene(10)
	s.Reset(thorough(), nil)
	for i := range 9 {
		s.Place(i, half, Vec{float64(i%3)*0.5 - 0.5, float64(i/3)*0.5 - 0.5, half}, Quat{W: 1}, Vec{}, Vec{}, 1)
	}
	s.Place(9, 0.75, Vec{0, 0, 2*half + 0.75}, Quat{W: 1}, Vec{}, Vec{}, 0)
	return s
}

// A freely spinning cube turns by rate x time.
func TestFreeSpin(t *testing.T) {
	law := RecorderParams()
	law.Gravity, law.Damping = 0, 0
	s := sceneOf(law, Vec{Z: 10})
	b := s.Body(0)
	b.Spin = Vec{1, 2, 2} // 3 rad/s
	for range 60 {
		s.Step(tick)
	}
	sin, cos := math.Sincos(3.0 / 2)
	want := Quat{sin / 3, sin * 2 / 3, sin * 2 / 3, cos}
	if d := math.Abs(b.Rot.X-want.X) + math.Abs(b.Rot.Y-want.Y) + math.Abs(b.Rot.Z-want.Z) + math.Abs(b.Rot.W-want.W); d > 1e-3 {
		t.Errorf("turned to %v, expected %v", b.Rot, want)
	}
	if b.Pos != (Vec{Z: 10}) {
		t.Errorf("a free spin moved it to %v", b.Pos)
	}
}

// A force changes the speed by acceleration x time in one step only, and wakes the cube.
func TestPullAndTwist(t *testing.T) {
	law := RecorderParams()
	law.Gravity, law.Damping = 0, 0
	s := sceneOf(law, Vec{Z: 10}, Vec{Z: 20})
	for range 10 {
		s.Step(tick)
	}
	if s.sleeping() != 2 {
		t.Fatal("what floats does not sleep")
	}
	s.Accelerate(0, Vec{X: 30})
	s.Accelerate(0, Vec{X: 30})
	s.Twist(0, Vec{Y: 6})
	for range 3 {
		s.Step(tick)
	}
	b := s.Body(0)
	if d := b.Vel.Sub(Vec{X: 1}).Length() + b.Spin.Sub(Vec{Y: 0.1}).Length(); d > 1e-12 || b.Asleep() {
		t.Errorf("moves at %v, spins at %v, asleep %v; expected 1 and 0.1", b.Vel, b.Spin, b.Asleep())
	}
	if !s.Body(1).Asleep() {
		t.Error("the other woke, too")
	}
}

// A tower stands for a minute, with and without gaps, since it comes to rest and sleeps. (Awake it
// would drift and fall, since impulses are not stored between steps. The Open Dynamics Engine does not
// store them either.)
func TestTowerStands(t *testing.T) {
	const n, seconds = 10, 60
	for _, untidy := range []float64{0, 0.01, 0.02} {
		s := tower(n)
		for i := range n {
			s.Body(i).Pos = s.Body(i).Pos.Add(Vec{untidy * float64(i%3), -untidy * float64(i%2), untidy * float64(i)})
		}
		for range seconds * 60 {
			s.Step(tick)
		}
		for i := range n {
			p := s.Body(i).Pos
			// Each contact yields by up to UncorrectedDepth.
			want := half + 2*half*float64(i)
			if d := want - p.Z; d < -0.001 || d > 0.012*float64(i+1) || math.Hypot(p.X, p.Y) > 0.08 {
				t.Errorf("untidy by %v: cube %d of the tower is at (%.4f %.4f %.4f), expected (0 0 %.4f) or a little lower", untidy,
					i, p.X, p.Y, p.Z, want)
			}
		}
		if s.sleeping() != n {
			t.Errorf("untidy by %v: %d of %d sleep", untidy, s.sleeping(), n)
		}
	}
}

// Nine small cubes carry a cube of fifty times their weight.
func TestHeavyRestsOnLight(t *testing.T) {
	s := heavyOnNine()
	for range 600 {
		stepAwake(s)
	}
	if z := s.Body(9).Pos.Z; math.Abs(z-1.13) > 0.02 {
		t.Errorf("the player rests at %.4f, expected 1.15 less two layers that give", z)
	}
}

// A pile comes to rest and sleeps, and then does not move at all.
func TestPileRests(t *testing.T) {
	s := pile(300)
	steps := 0
	for ; s.sleeping() < 300; steps++ {
		if steps == 1800 {
			t.Fatalf("after 30 s %d still move", 300-s.sleeping())
		}
		s.Step(tick)
	}
	t.Logf("all asleep after %d steps", steps)
	before := append([]Body(nil), s.bodies...)
	for range 600 {
		s.Step(tick)
	}
	for i := range before {
		if s.bodies[i].Pos != before[i].Pos || s.bodies[i].Rot != before[i].Rot {
			t.Fatalf("cube %d moved in its sleep", i)
		}
	}
}

// Touching one cube of a sleeping island wakes all cubes of the island and no others.
func TestIslandWakesWhole(t *testing.T) {
	s := sceneOf(thorough(), Vec{Z: half}, Vec{Z: 3 * half}, Vec{Z: 5 * half}, Vec{Z: 7 * half}, Vec{X: 5, Z: half})
	for range 120 {
		s.Step(tick)
	}
	if s.sleeping() != 5 {
		t.Fatal("the tower does not sleep")
	}
	s.Accelerate(3, Vec{X: 0.1})
	s.Step(tick)
	for i := range 4 {
		if s.Body(i).Asleep() {
			t.Errorf("cube %d of the tower slept on", i)
		}
	}
	if !s.Body(4).Asleep() {
		t.Error("a cube that touches nothing woke")
	}
}

// A cube that hits a large sleeper far from its centre finds it.
func TestLargeSleeperIsFound(t *testing.T) {
	for _, y := range []float64{-0.7, 0, 0.7} {
		s := NewScene(2)
		law := thorough()
		law.Gravity = 0
		s.Reset(law, nil)
		s.Place(0, half, Vec{-2, y, 0.7}, Quat{W: 1}, Vec{8, 0, 0}, Vec{}, 0)
		s.Place(1, 0.75, Vec{0.9, 0, 0.745}, Quat{W: 1}, Vec{}, Vec{}, 1)
		met := false
		for range 30 {
			s.Step(tick)
			for a, b := range s.TouchingPairs {
				met = met || a == 0 && b == 1
			}
		}
		if x := s.Body(0).Pos.X; !met || x > 0.1 {
			t.Errorf("at y = %v it went to x = %v, met: %v", y, x, met)
		}
	}
}

// Touching lists each touching pair once, and no pair with a gap.
func TestTouching(t *testing.T) {
	s := sceneOf(thorough(), Vec{0, 0, half}, Vec{0, 0, 3*half - 0.01}, Vec{2*half + 0.01, 0, half}, Vec{3, 0, half})
	s.Step(tick)
	n := 0
	for a, b := range s.TouchingPairs {
		if n++; a != 0 || b != 1 {
			t.Errorf("%d touches %d", a, b)
		}
	}
	if n != 1 {
		t.Errorf("%d pairs, expected one", n)
	}
}

// The heaviest body, falling at the highest speed onto sleepers, comes to rest on top of them.
func TestFastImpact(t *testing.T) {
	s := NewScene(5)
	s.Reset(thorough(), nil)
	for i := range 4 {
		s.Place(i, half, Vec{float64(i%2) - 0.5, float64(i/2) - 0.5, half}, Quat{W: 1}, Vec{}, Vec{}, 1)
	}
	s.Place(4, 0.75, Vec{Z: 8}, Quat{W: 1}, Vec{Z: -32}, Vec{}, 0)
	for range 240 {
		s.Step(tick)
	}
	if z := s.Body(4).Pos.Z; z < 0.7 || s.sleeping() != 5 {
		t.Errorf("after 4 s it is %.3f m high, %d sleep", z, s.sleeping())
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	s := pile(200)
	for range 120 {
		s.Step(tick)
	}
	if n := testing.AllocsPerRun(200, func() { stepAwake(s) }); n != 0 {
		t.Errorf("%v allocations a step, expected none", n)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, s := range []struct {
		name  string
		scene *Scene
	}{
		{"pile of 900 awake", pile(900)},
		{"pile of 200 awake", pile(200)},
		{"tower of 10 awake", tower(10)},
	} {
		b.Run(s.name, func(b *testing.B) {
			for range 300 {
				s.scene.Step(tick)
			}
			b.ReportAllocs()
			for b.Loop() {
				stepAwake(s.scene)
			}
		})
	}
	b.Run("900 asleep", func(b *testing.B) {
		s := pile(900)
		for s.sleeping() < 900 {
			s.Step(tick)
		}
		b.ReportAllocs()
		for b.Loop() {
			s.Step(tick)
		}
	})
}
