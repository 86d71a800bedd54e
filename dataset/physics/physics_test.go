package physics

import (
	"math"
	"testing"
)

// The small cubes of the demonstration.
const half, density = 0.2, 1.0

// without returns the default world without gravity and damping.
func without() Config {
	c := Default()
	c.Gravity, c.Damping, c.SpinDamping = 0, 0, 0
	return c
}

// stepAwake steps a world in which nobody may sleep: what stands then stands by
// its contacts.
func stepAwake(w *World) {
	for i := range w.bodies {
		w.bodies[i].Wake()
	}
	w.Step()
}

// tower stacks n cubes.
func tower(n int) *World {
	w := New(Default())
	for i := range n {
		w.AddCube(Vec{Z: half + float64(2*half*float64(i))}, half, density)
	}
	return w
}

// pile drops n cubes, turned every way, in layers of 10 x 10.
func pile(n int) *World {
	w := New(Default())
	for k := range n {
		x, y, z := float64(k%10), float64(k/10%10), float64(k/100)
		i := w.AddCube(Vec{float64(x*0.5) - 2.5, float64(y*0.5) - 2.5, 0.5 + float64(z*0.7)}, half, density)
		turn := Quat{float64(k*7%11) - 5, float64(k*5%13) - 6, float64(k*3%7) - 3, 6}
		w.Body(i).Place(w.Body(i).Pos, turn)
	}
	return w
}

// A falling body obeys the sum that its integration makes of gravity: after n
// substeps of h the speed is -g n h, and the fall g h^2 n(n+1)/2.
func TestFreeFall(t *testing.T) {
	c := without()
	c.Gravity = 20
	w := New(c)
	w.AddCube(Vec{Z: 30}, half, density)
	for range 60 {
		w.Step()
	}
	n, h := float64(60*c.Substeps), c.Step/float64(c.Substeps)
	b := w.Body(0)
	if want := 30 - 20*h*h*n*(n+1)/2; math.Abs(b.Pos.Z-want) > 1e-9 {
		t.Errorf("after a second it is at %v, expected %v", b.Pos.Z, want)
	}
	if math.Abs(b.Vel.Z+20) > 1e-9 {
		t.Errorf("after a second it moves at %v, expected -20", b.Vel.Z)
	}
}

// A free spin about an axis turns the cube by rate x time.
func TestFreeSpin(t *testing.T) {
	w := New(without())
	w.AddCube(Vec{Z: 10}, half, density)
	b := w.Body(0)
	b.Spin = Vec{1, 2, 2} // 3 rad/s
	for range 60 {
		w.Step()
	}
	s, cos := math.Sincos(3.0 / 2)
	want := Quat{s / 3, s * 2 / 3, s * 2 / 3, cos}
	if d := math.Abs(b.Rot.X-want.X) + math.Abs(b.Rot.Y-want.Y) + math.Abs(b.Rot.Z-want.Z) + math.Abs(b.Rot.W-want.W); d > 1e-3 {
		t.Errorf("turned to %v, expected %v", b.Rot, want)
	}
	if b.Pos != (Vec{Z: 10}) {
		t.Errorf("a free spin moved it to %v", b.Pos)
	}
}

// A cube that slides on the floor stops after v^2 / (2 mu g).
func TestSlidingFriction(t *testing.T) {
	c := Default()
	c.Damping, c.SpinDamping, c.Friction = 0, 0, 0.5
	w := New(c)
	w.AddCube(Vec{Z: half}, half, density)
	b := w.Body(0)
	b.Vel = Vec{3, 1.5, 0}
	for range 300 {
		w.Step()
	}
	want := (3*3 + 1.5*1.5) / (2 * 0.5 * 20)
	if got := math.Hypot(b.Pos.X, b.Pos.Y); math.Abs(got-want) > 0.05*want {
		t.Errorf("slid %.3f m, expected %.3f m", got, want)
	}
	if !b.Asleep() {
		t.Error("it never came to rest")
	}
}

// Whatever happens between two bodies, momentum is kept and energy is not made.
func TestCollisionKeepsMomentum(t *testing.T) {
	w := New(without())
	w.AddCube(Vec{-1, 0, 10}, half, density)
	w.AddCube(Vec{1, 0.1, 10.15}, 0.75, density)
	a, b := w.Body(0), w.Body(1)
	a.Vel, a.Spin, b.Vel = Vec{8, 0, 0}, Vec{1, 2, 3}, Vec{-2, 0.5, 0}
	momentum := func() Vec { return a.Vel.Scale(a.Mass()).AddScaled(b.Vel, b.Mass()) }
	energy := func() (sum float64) {
		for _, x := range []*Body{a, b} {
			sum += x.Mass()*x.Vel.Dot(x.Vel)/2 + x.Spin.Dot(x.Spin)/x.invInertia/2
		}
		return sum
	}
	before, most := momentum(), energy()
	start := a.Vel
	for range 60 {
		w.Step()
	}
	if d := momentum().Sub(before).Length(); d > 1e-9 {
		t.Errorf("momentum changed by %v", d)
	}
	if e := energy(); e > most {
		t.Errorf("energy grew from %v to %v", most, e)
	}
	if a.Vel == start {
		t.Error("they never met: the test tests nothing")
	}
}

func TestTowerStands(t *testing.T) {
	const n, seconds = 10, 60
	w := tower(n)
	for range seconds * 60 {
		stepAwake(w)
	}
	for i := range n {
		p := w.Body(i).Pos
		want := half + 2*half*float64(i)
		if math.Abs(p.Z-want) > 0.003*float64(i+1) || math.Hypot(p.X, p.Y) > 0.01 {
			t.Errorf("cube %d of the tower is at (%.4f %.4f %.4f), expected (0 0 %.4f)", i, p.X, p.Y, p.Z, want)
		}
	}
}

// Fifty times its weight on nine small cubes.
func TestHeavyRestsOnLight(t *testing.T) {
	w := New(Default())
	for i := range 9 {
		w.AddCube(Vec{float64(i%3)*0.5 - 0.5, float64(i/3)*0.5 - 0.5, half}, half, density)
	}
	heavy := w.AddCube(Vec{0, 0, 2*half + 0.75}, 0.75, density)
	for range 600 {
		stepAwake(w)
	}
	if z := w.Body(heavy).Pos.Z; math.Abs(z-1.15) > 0.01 {
		t.Errorf("the player rests at %.4f, expected 1.15", z)
	}
}

// A pile comes to rest, sleeps without a trace of motion, and would have stood
// without sleeping, too.
func TestPileRests(t *testing.T) {
	w := pile(300)
	steps := 0
	for ; !w.sleeping(); steps++ {
		if steps == 1200 {
			t.Fatal("after 20 s it still moves")
		}
		w.Step()
	}
	t.Logf("all asleep after %d steps", steps)
	before := append([]Body(nil), w.bodies...)
	for range 600 {
		w.Step()
	}
	for i := range before {
		if w.bodies[i] != before[i] {
			t.Fatalf("cube %d moved in its sleep", i)
		}
	}
	for range 600 {
		stepAwake(w)
	}
	moved := 0
	for i := range before {
		if w.bodies[i].Pos.Sub(before[i].Pos).Length() > 0.005 {
			moved++
		}
	}
	if moved > len(before)/20 {
		t.Errorf("%d of %d cubes would have moved by more than 5 mm had they not slept", moved, len(before))
	}
}

// Touching one cube of a sleeping island wakes all of it, and nobody else.
func TestIslandWakesWhole(t *testing.T) {
	w := tower(5)
	far := w.AddCube(Vec{X: 5, Z: half}, half, density)
	for range 120 {
		w.Step()
	}
	if !w.sleeping() {
		t.Fatal("the tower does not sleep")
	}
	w.Body(4).Push(Vec{X: 0.01})
	w.Step()
	for i := range 5 {
		if w.Body(i).Asleep() {
			t.Errorf("cube %d of the tower slept on", i)
		}
	}
	if !w.Body(far).Asleep() {
		t.Error("a cube that touches nothing woke")
	}
}

// Squeezed and shaken hard, nothing leaves its bounds.
func TestBounds(t *testing.T) {
	w := pile(200)
	c := w.cfg
	for step := range 600 {
		for i := range w.Len() {
			b := w.Body(i)
			b.Push(b.Pos.Scale(-40)) // towards the floor under the middle
			if step%60 == 0 {
				b.Push(Vec{Z: 400})
			}
		}
		w.Step()
		for i := range w.Len() {
			b := w.Body(i)
			if b.Vel.Length() > c.MaxSpeed*1.0001 || b.Spin.Length() > c.MaxSpin*1.0001 {
				t.Fatalf("step %d: cube %d moves at %v, spins at %v", step, i, b.Vel.Length(), b.Spin.Length())
			}
			if b.Pos.clamp(c.Low, c.High) != b.Pos {
				t.Fatalf("step %d: cube %d is at %v", step, i, b.Pos)
			}
			if b.lowest() < -0.1 {
				t.Fatalf("step %d: cube %d is %v under the floor", step, i, -b.lowest())
			}
		}
	}
}

// The fastest fall of the heaviest body onto a sleeper neither presses it into
// the floor nor passes through it, and ends at rest on top of it.
func TestFastImpact(t *testing.T) {
	w := New(Default())
	for _, x := range []float64{-0.5, 0.5} {
		for _, y := range []float64{-0.5, 0.5} {
			w.Body(w.AddCube(Vec{x, y, half}, half, density)).Sleep()
		}
	}
	heavy := w.Body(w.AddCube(Vec{Z: 8}, 0.75, density))
	heavy.Vel.Z = -w.cfg.MaxSpeed
	for step := range 240 {
		w.Step()
		for i := range w.Len() {
			b := w.Body(i)
			if b.lowest() < -0.03 {
				t.Fatalf("step %d: cube %d is %.3f m in the floor", step, i, -b.lowest())
			}
			if b.asleep && (b.Vel != Vec{} || b.Spin != Vec{}) {
				t.Fatalf("step %d: cube %d sleeps, yet moves at %v", step, i, b.Vel)
			}
		}
	}
	if z := heavy.Pos.Z; z < 0.7 || !heavy.Asleep() {
		t.Errorf("after 4 s it is %.3f m high, asleep: %v", z, heavy.Asleep())
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	w := pile(200)
	for range 120 {
		w.Step()
	}
	if n := testing.AllocsPerRun(200, func() { stepAwake(w) }); n != 0 {
		t.Errorf("%v allocations a step, expected none", n)
	}
}

func BenchmarkStep(b *testing.B) {
	scenes := []struct {
		name  string
		world *World
	}{
		{"pile of 900 awake", pile(900)},
		{"pile of 200 awake", pile(200)},
		{"tower of 10 awake", tower(10)},
	}
	for _, s := range scenes {
		b.Run(s.name, func(b *testing.B) {
			for range 300 {
				s.world.Step()
			}
			b.ReportAllocs()
			for b.Loop() {
				stepAwake(s.world)
			}
		})
	}
	b.Run("all of 900 asleep", func(b *testing.B) {
		w := pile(900)
		for !w.sleeping() {
			w.Step()
		}
		b.ReportAllocs()
		for b.Loop() {
			w.Step()
		}
	})
}
