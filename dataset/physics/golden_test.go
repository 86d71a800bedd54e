package physics

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"
)

// hash hashes the exact state of all bodies.
func (s *Scene) hash() uint64 {
	h := fnv.New64a()
	var buf [8]byte
	for i := range s.bodies {
		b := &s.bodies[i]
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

// These hashes must be equal on every machine: see TestSameOnOtherMachines in package dataset. The
// first is a heap that falls onto laid sleepers, as in a forecast. It must not change: pretrained
// models were trained on it. The others may change when the physics is changed on purpose.
func TestGolden(t *testing.T) {
	for _, s := range []struct {
		name  string
		scene *Scene
		steps int
		want  uint64
	}{
		{"forecast", fallOnSleepers(), 120, 0x20670b7c13885776},
		{"tower", tower(10), 120, 0x80c92878caf209c5},
		{"pile", pile(200), 300, 0x0603b35a10fc975c},
		{"player on cubes", heavyOnNine(), 120, 0x2d3fe1834a9bd0a9},
	} {
		for range s.steps {
			s.scene.Step(tick)
		}
		if got := s.scene.hash(); got != s.want {
			t.Errorf("%s: state %#016x, expected %#016x", s.name, got, s.want)
		}
	}
}

// fallOnSleepers returns a heap of cubes above cubes that were laid.
func fallOnSleepers() *Scene {
	s := NewScene(60)
	s.Reset(RecorderParams(), upright)
	for k := range 60 {
		p := Vec{float64(k%4) * 0.5, float64(k/4%4) * 0.5, half + 0.7*float64(k/16)}
		if k < 16 {
			s.Lay(k, half, p)
		} else {
			s.Place(k, half, p, turned(k), Vec{}, Vec{float64(k % 3), 0, 0}, 0)
		}
	}
	return s
}
