package physics

import (
	"math"
	"slices"
	"testing"
)

const tick = 1.0 / 60

func upright(int) Quat { return Quat{W: 1} }

// sceneOf returns a scene with small cubes at the given positions.
func sceneOf(law Params, at ...Vec) *Scene {
	s := NewScene(len(at))
	s.Reset(law, upright)
	for i, p := range at {
		s.Place(i, half, p, Quat{W: 1}, Vec{}, Vec{}, 0)
	}
	return s
}

// A falling cube follows the semi-implicit Euler method: in each step its speed grows by g dt,
// moves the cube, and is damped.
func TestSceneFreeFall(t *testing.T) {
	s := sceneOf(RecorderParams(), Vec{1, 2, 20})
	z, v := 20.0, 0.0
	for range 60 {
		s.Step(tick)
		v -= 20 * tick
		z += v * tick
		if v < -0.01 {
			v *= 0.99
		}
	}
	b := s.Body(0)
	if math.Abs(b.Pos.Z-z) > 1e-9 || math.Abs(b.Vel.Z-v) > 1e-9 || b.Pos.X != 1 || b.Pos.Y != 2 {
		t.Errorf("after a second at %v with %v, want a height of %v and %v", b.Pos, b.Vel, z, v)
	}
}

// A resting cube keeps its orientation, sinks in by at most UncorrectedDepth, and falls asleep.
func TestSceneRests(t *testing.T) {
	s := sceneOf(RecorderParams(), Vec{0.3, 0.4, half}, Vec{3, 0, half}, Vec{3, 0, 3*half - 0.001})
	for range 120 {
		s.Step(tick)
	}
	for i, z := range []float64{half, half, 3 * half} {
		b := s.Body(i)
		if !b.Asleep() {
			t.Errorf("cube %d is still awake", i)
		}
		if math.Abs(b.Pos.Z-z) > 0.03 || b.Up().Z < 0.9999 {
			t.Errorf("cube %d is at %v, want a height of about %v", i, b.Pos, z)
		}
	}
	before := s.Body(2).Pos
	for range 60 {
		s.Step(tick)
	}
	if s.Body(2).Pos != before {
		t.Error("asleep, it moved")
	}
}

// The solver agrees with the closed form: a cube that lands flat stops in the step in which it touches,
// and an overlap is corrected by a quarter in each step.
func TestSceneLanding(t *testing.T) {
	s := sceneOf(RecorderParams(), Vec{0, 0, half - 0.03})
	s.Body(0).Vel = Vec{0, 0, -5}
	s.Step(tick)
	want := 0.25 * (0.03 - 0.01) / tick // wanted speed; contacts are slightly soft
	if v := s.Body(0).Pos.Z - (half - 0.03); math.Abs(v/tick-want) > 0.05*want {
		t.Errorf("rises at %v, want %v", v/tick, want)
	}
	if v := s.Body(0).Spin.Length(); v > 0.1 {
		t.Errorf("it landed flat and turns at %v", v)
	}
}

// A collision of two cubes conserves momentum and does not increase energy: there is no bounce.
func TestSceneKeepsMomentum(t *testing.T) {
	law := RecorderParams()
	law.Gravity, law.Damping = 0, 0
	s := sceneOf(law, Vec{-1, 0, 10}, Vec{1, 0.1, 10.15})
	a, b := s.Body(0), s.Body(1)
	a.Vel, a.Spin, b.Vel = Vec{8, 0, 0}, Vec{1, 2, 3}, Vec{-2, 0.5, 0}
	start, most := a.Vel.Add(b.Vel), a.Vel.Dot(a.Vel)+b.Vel.Dot(b.Vel)
	for range 60 {
		s.Step(tick)
	}
	if d := a.Vel.Add(b.Vel).Sub(start).Length(); d > 1e-9 {
		t.Errorf("momentum changed by %v", d)
	}
	if e := a.Vel.Dot(a.Vel) + b.Vel.Dot(b.Vel); e > most {
		t.Errorf("energy grew from %v to %v", most, e)
	}
	if s.Touch(0).Cubes == 0 {
		t.Error("they never met: the test tests nothing")
	}
}

// A heap of falling cubes comes to rest without sinking into the floor.
func TestSceneHeap(t *testing.T) {
	const n = 60
	s := NewScene(n)
	s.Reset(RecorderParams(), upright)
	for k := range n {
		turn := Quat{float64(k*7%11) - 5, float64(k*5%13) - 6, float64(k*3%7) - 3, 6}.normalized()
		s.Place(k, half, Vec{float64(k%4) * 0.5, float64(k/4%4) * 0.5, 0.5 + 0.7*float64(k/16)}, turn, Vec{}, Vec{}, 0)
	}
	for range 400 {
		s.Step(tick)
	}
	moving := 0
	for i := range n {
		b := s.Body(i)
		if b.lowest() < -0.05 {
			t.Errorf("cube %d is %v under the floor", i, -b.lowest())
		}
		if b.Vel.Length() > 0.5 {
			moving++
		}
		for j := range i {
			if gap := bruteGap(b, s.Body(j)); gap < -0.08 {
				t.Errorf("cubes %d and %d overlap by %v", i, j, -gap)
			}
		}
	}
	if moving > n/10 {
		t.Errorf("after seven seconds %d of %d still move", moving, n)
	}
}

// A laid sleeper wakes when it is touched, with those in contact with it; others do not.
func TestSceneWakes(t *testing.T) {
	s := NewScene(4)
	s.Reset(RecorderParams(), upright)
	s.Lay(1, half, Vec{1, 0, half - 0.001})
	s.Lay(2, half, Vec{1.399, 0, half - 0.001})
	s.Lay(3, half, Vec{3, 0, half - 0.001})
	s.Place(0, half, Vec{0.5, 0, half}, Quat{W: 1}, Vec{5, 0, 0}, Vec{}, 0)
	for range 6 {
		s.Step(tick)
	}
	if n := len(s.Live()); n != 3 {
		t.Fatalf("%d cubes live, want 3", n)
	}
	if x := s.Body(2).Pos.X; x < 1.4 {
		t.Errorf("the second sleeper was pushed to %v only", x)
	}
}

// A held cube moves at its set speed, whatever it hits.
func TestSceneHolds(t *testing.T) {
	s := NewScene(2)
	s.Reset(RecorderParams(), upright)
	s.Hold(0, 0.75, Vec{0, 0, 0.75}, Quat{W: 1})
	s.Lay(1, half, Vec{1, 0, half})
	s.Body(0).Vel = Vec{3, 0, 0}
	for range 30 {
		s.Body(0).Vel = Vec{3, 0, 0}
		s.Step(tick)
	}
	if s.Touch(1).Held == 0 || s.Body(1).Pos.X < 1.5 {
		t.Errorf("the cube in the way is at %v", s.Body(1).Pos)
	}
	if v := s.Body(0).Vel; v.Z != 0 || v.Y != 0 {
		t.Errorf("it was pushed aside: %v", v)
	}
}

// The grid finds the same contacts as an exhaustive comparison.
func TestSceneAround(t *testing.T) {
	s := NewScene(200)
	s.Reset(RecorderParams(), upright)
	at := func(i int) Vec { return Vec{float64(i*37%101)/7 - 7, float64(i*53%97)/7 - 70, float64(i % 3)} }
	for i := range 200 {
		if i%3 == 0 {
			s.Place(i, half, at(i), Quat{W: 1}, Vec{}, Vec{}, 0)
		} else {
			s.Lay(i, half, at(i))
		}
	}
	for k := range 20 {
		p, found, want := at(k*9), 0, 0
		s.ForEachNear(p, 2, func(i int, offset Vec, squared float64) { found++ })
		for i := range 200 {
			if at(i).Sub(p).Length() < 2 {
				want++
			}
		}
		if found != want || want < 2 {
			t.Errorf("%d cubes around %v, want %d", found, p, want)
		}
	}
}

func TestSceneAllocatesNothing(t *testing.T) {
	s := NewScene(50)
	run := func() {
		s.Reset(RecorderParams(), upright)
		for k := range 50 {
			p := Vec{float64(k%5) * 0.3, float64(k / 5 % 5 * 1), 0.5 + float64(k/25)}
			if k < 40 {
				s.Place(k, half, p, Quat{W: 1}, Vec{0, 0, -3}, Vec{}, 0)
			} else {
				s.Lay(k, half, p)
			}
		}
		for range 10 {
			s.Step(tick)
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations a run, want none", n)
	}
}

// A rewound scene gives the same result as a new one, also if another of the laid cubes is placed.
func TestRewind(t *testing.T) {
	const n = 12
	s, fresh := NewScene(n), NewScene(n)
	fill := func(s *Scene, again bool, placed ...int) {
		if again {
			s.Rewind()
		} else {
			s.Reset(RecorderParams(), upright)
			for i := range n {
				if i != placed[0] {
					s.Lay(i, half, Vec{float64(i%4) * 0.39, float64(i/4) * 0.39, half})
				}
			}
		}
		for _, i := range placed {
			s.Place(i, half, Vec{float64(i%4) * 0.39, float64(i/4) * 0.39, half + 0.5}, Quat{W: 1}, Vec{1, 0.5, -3}, Vec{2, 1, 0}, 0)
		}
	}
	play := func(s *Scene) (list []Body) {
		for range 12 {
			s.Step(tick)
		}
		for _, i := range s.Live() {
			list = append(list, *s.Body(int(i)))
		}
		return list
	}
	fill(s, false, 5)
	first := play(s)
	fill(s, true, 5)
	if !slices.Equal(play(s), first) || len(first) < 3 {
		t.Fatal("played again, it ends elsewhere")
	}
	fill(s, true, 5, 6)
	fill(fresh, false, 5, 6)
	if !slices.Equal(play(s), play(fresh)) {
		t.Error("with another cube placed it ends unlike a new scene")
	}
}
