package world

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// snapshot fills f with the world in the format of the walk-off's recordings: one row per cube, the
// player first. It leaves f.Tick unchanged.
func (s *sim) snapshot(f *frame.Frame) {
	f.CopyFrom(&frame.Frame{Tick: f.Tick, Table: s.table[:], Residual: s.residual[:]})
}

// quantise updates the row of cube i and its residuals.
func (s *sim) quantise(i int) {
	b := s.scene.Body(i)
	largest, three := smallestThree(b.Rot)
	steps := [frame.CubeInteracting]float64{float64(largest), three[0], three[1], three[2],
		float64(b.Pos.X * frame.UnitsPerMetre), float64(b.Pos.Y * frame.UnitsPerMetre), float64(b.Pos.Z * frame.UnitsPerMetre)}
	first := i * frame.CubeFields
	for k, step := range steps {
		f := &s.fields[k]
		rounded := max(float64(f.Min), min(math.Floor(step+0.5), float64(f.Max)))
		s.table[first+k] = int32(rounded)
		s.residual[first+k] = float32((step - rounded) * f.Scale)
	}
	s.table[first+frame.CubeInteracting] = int32(keyValue(s.interacting[i]))
}

// smallestThree returns the index of the largest component of a unit quaternion, and the other three
// components in steps, of which snapshots have 9 bits (Fiedler, "Snapshot Compression", 2015). The magnitude of
// the largest component follows from the others. Its sign is made positive: q and -q are the same rotation. The
// others are between -1/sqrt(2) and 1/sqrt(2); zero becomes 255.5.
func smallestThree(q physics.Quat) (largest int32, three [3]float64) {
	components := [4]float64{q.X, q.Y, q.Z, q.W}
	for i, v := range components {
		if math.Abs(v) > math.Abs(components[largest]) {
			largest = int32(i)
		}
	}
	n := 0
	for i, v := range components {
		if i == int(largest) {
			continue
		}
		if components[largest] < 0 {
			v = -v
		}
		three[n] = float64((v + 1/math.Sqrt2) / math.Sqrt2 * 511)
		n++
	}
	return largest, three
}
