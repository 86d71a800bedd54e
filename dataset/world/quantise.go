package world

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// snapshot fills f with the world as the walk-off's recordings hold it: one row
// per cube, the player first. It leaves the tick unchanged.
func (s *sim) snapshot(f *frame.Frame) { f.CopyFrom(&frame.Frame{Tick: f.Tick, Table: s.table[:]}) }

// quantise updates cube i's row. The rows of sleeping cubes do not change.
func (s *sim) quantise(i int) {
	row := bodyRow(s.scene.Body(i))
	row[frame.CubeInteracting] = int32(held(s.interacting[i]))
	*(*[frame.CubeFields]int32)(s.table[i*frame.CubeFields:]) = row
}

// bodyRow returns a body as a row of a snapshot, not interacting.
func bodyRow(b *physics.Body) [frame.CubeFields]int32 {
	largest, three := smallestThree(b.Rot)
	return [frame.CubeFields]int32{
		largest, three[0], three[1], three[2],
		position(b.Pos.X, -1<<17, 1<<17-1),
		position(b.Pos.Y, -1<<17, 1<<17-1),
		position(b.Pos.Z, 0, 1<<14-1),
	}
}

// position rounds metres to units of 1/512 m, within the schema's range.
func position(metres float64, low, high int32) int32 {
	units := math.Floor(float64(metres*frame.UnitsPerMetre) + 0.5)
	return int32(max(float64(low), min(units, float64(high))))
}

// smallestThree drops the largest component of a unit quaternion, which follows
// from the other three up to its sign, and chooses the sign so that it is
// positive: q and -q are the same rotation. The three that are left lie within
// 1/sqrt(2) of zero and take 9 bits each (Fiedler, "Snapshot Compression", 2015).
// Zero becomes 256.
func smallestThree(q physics.Quat) (largest int32, three [3]int32) {
	all := [4]float64{q.X, q.Y, q.Z, q.W}
	for i, v := range all {
		if math.Abs(v) > math.Abs(all[largest]) {
			largest = int32(i)
		}
	}
	n := 0
	for i, v := range all {
		if i == int(largest) {
			continue
		}
		if all[largest] < 0 {
			v = -v
		}
		step := math.Floor(float64((v+1/math.Sqrt2)/math.Sqrt2*511) + 0.5)
		three[n] = int32(max(0, min(step, 511)))
		n++
	}
	return largest, three
}
