package physics

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"
)

// hash sums up the exact state of all bodies.
func (w *World) hash() uint64 {
	h := fnv.New64a()
	var buf [8]byte
	for i := range w.bodies {
		b := &w.bodies[i]
		for _, x := range []float64{
			b.Pos.X, b.Pos.Y, b.Pos.Z, b.Rot.X, b.Rot.Y, b.Rot.Z, b.Rot.W,
			b.Vel.X, b.Vel.Y, b.Vel.Z, b.Spin.X, b.Spin.Y, b.Spin.Z,
		} {
			binary.LittleEndian.PutUint64(buf[:], math.Float64bits(x))
			h.Write(buf[:])
		}
	}
	return h.Sum64()
}

// These must be the same on every machine: see TestSameOnOtherMachines in package
// dataset. They change only when the physics is changed on purpose.
func TestGolden(t *testing.T) {
	scenes := []struct {
		name  string
		world *World
		steps int
		want  uint64
	}{
		{"tower", tower(10), 120, 0xd436cd86c8acb010},
		{"pile", pile(200), 300, 0xc1ee900645af141b},
	}
	for _, s := range scenes {
		for range s.steps {
			s.world.Step()
		}
		if got := s.world.hash(); got != s.want {
			t.Errorf("%s: state %#016x, expected %#016x", s.name, got, s.want)
		}
	}
}

// The same for a scene: a heap that falls onto sleepers.
func TestGoldenScene(t *testing.T) {
	const want = 0x20670b7c13885776
	s := NewScene(60)
	s.Reset(Recorder(), upright)
	for k := range 60 {
		p := Vec{float64(k%4) * 0.5, float64(k/4%4) * 0.5, half + 0.7*float64(k/16)}
		if k < 16 {
			s.Lay(k, half, p)
		} else {
			turn := Quat{float64(k*7%11) - 5, float64(k*5%13) - 6, float64(k*3%7) - 3, 6}.unit()
			s.Place(k, half, p, turn, Vec{}, Vec{float64(k % 3), 0, 0}, 0)
		}
	}
	for range 120 {
		s.Step(1.0 / 60)
	}
	w := World{bodies: s.bodies}
	if got := w.hash(); got != want {
		t.Errorf("state %#016x, expected %#016x", got, uint64(want))
	}
}
