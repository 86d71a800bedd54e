package world

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// ball returns a world in which n cubes are awake, with the player: the player pulls them together.
func ball(n int) *sim {
	s := newSim()
	s.Player().Pos = physics.Vec{Z: 1.5}
	for i := 1; i < n; i++ {
		k := i - 1
		at := physics.Vec{X: float64(k%6)*0.45 - 1.1, Y: float64(k/6%6)*0.45 - 1.1, Z: 2.5 + float64(k/36)*0.45}
		s.scene.Body(i).Pos = at
		s.scene.Accelerate(i, physics.Vec{})
	}
	return s
}

// BenchmarkStep measures a step without a snapshot.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		in   Input
	}{{"205 drawn in", 205, Input{Pull: true}}, {"all asleep", 0, Input{}}} {
		b.Run(c.name, func(b *testing.B) {
			s := ball(c.n)
			for range 600 {
				s.Step(c.in)
			}
			awake := 0
			b.ReportAllocs()
			for b.Loop() {
				s.Step(c.in)
				awake += awakeCubes(s)
			}
			b.ReportMetric(float64(awake)/float64(b.N), "awake")
		})
	}
}

// BenchmarkNext measures a step with its snapshot, for each script.
func BenchmarkNext(b *testing.B) {
	for _, s := range Scripts() {
		b.Run(s.Name, func(b *testing.B) {
			src := start(b, s.Name)
			awake := 0
			b.ReportAllocs()
			var f frame.Frame
			for b.Loop() {
				if err := src.Next(&f); err != nil {
					b.Fatal(err)
				}
				awake += awakeCubes(src.sim)
			}
			b.ReportMetric(float64(awake)/float64(b.N), "awake")
		})
	}
}
