package world

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// snapshot fills f with the world in the format of the walk-off's recordings: one row per cube, the
// player first. It leaves f.Tick unchanged.
func (s *sim) snapshot(f *frame.Frame) { f.CopyFrom(&frame.Frame{Tick: f.Tick, Table: s.table[:]}) }

// quantise updates the row of cube i.
func (s *sim) quantise(i int) {
	row := bodyRow(s.scene.Body(i))
	row[frame.CubeInteracting] = int32(keyValue(s.interacting[i]))
	*(*[frame.CubeFields]int32)(s.table[i*frame.CubeFields:]) = row
}

// bodyRow returns the row of a snapshot for a body, with the last column, whether it interacts, as 0.
func bodyRow(b *physics.Body) [frame.CubeFields]int32 {
	largest, three := smallestThree(b.Rot)
	return [frame.CubeFields]int32{
		largest, three[0], three[1], three[2],
		position(b.Pos.X, -1<<17, 1<<17-1),
		position(b.Pos.Y, -1<<17, 1<<17-1),
		position(b.Pos.Z, 0, 1<<14-1),
	}
}

// position rounds metres to units of 1/512 m and limits them to the range of the schema.
func position(metres float64, low, high int32) int32 {
	units := math.Floor(float64(metres*frame.UnitsPerMetre) + 0.5)
	return int32(max(float64(low), min(units, float64(high))))
}

// smallestThree returns the index of the largest component of a unit quaternion, and the other three
// components in 9 bits each (Fiedler, "Snapshot Compression", 2015). The magnitude of the largest
// component follows from the others. Its sign is made positive: q and -q are the same rotation. The
// others are between -1/sqrt(2) and 1/sqrt(2); zero becomes 256.
func smallestThree(q physics.Quat) (largest int32, three [3]int32) {
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
		step := math.Floor(float64((v+1/math.Sqrt2)/math.Sqrt2*511) + 0.5)
		three[n] = int32(max(0, min(step, 511)))
		n++
	}
	return largest, three
}
