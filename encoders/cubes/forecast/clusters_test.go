package forecast

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// TestSettledCubes checks that accurate cubes that touched only accurate cubes are not simulated again and keep
// their results, and that all other cubes are simulated again.
func TestSettledCubes(t *testing.T) {
	f := newGrid(16, 5000)
	rowOf(f, 0)[frame.CubeX] = 1 << 15
	var awake []Awake
	for i := 1; i < 8; i++ { // in the air
		rowOf(f, i)[frame.CubeZ] = 3000
		awake = append(awake, Awake{Cube: int32(i), Body: Body{Vel: [3]float32{float32(i) / 9, 0.5, 0}}})
	}
	for i := 8; i < 11; i++ { // a pile of three, which falls a little
		copy(rowOf(f, i)[frame.CubeX:], []int32{9000, 9000, 110 + int32(i-8)*206})
		awake = append(awake, Awake{Cube: int32(i)})
	}
	sim := New(16, physics.RecorderParams())
	first := append([]Result(nil), sim.Run(f, awake, stationaryPath(f, 6, noForce))...)
	now := frameAfter(f, first)
	rowOf(now, 3)[frame.CubeX] += 40
	rowOf(now, 10)[frame.CubeZ] += 40 // the uppermost of the pile
	best := sim.Refine(now, sim.moved(now), 1)
	for k, i := 0, int32(1); i < 11; i, k = i+1, k+1 {
		want := i != 3 && i < 8
		if sim.settled.Has(int(i)) != want {
			t.Errorf("cube %d: settled %v, want %v", i, !want, want)
		}
		if best[k].Cube != i || want && best[k] != first[k] {
			t.Errorf("cube %d: %+v, before %+v", i, best[k], first[k])
		}
	}
	if best[2] == first[2] {
		t.Error("the result of the inaccurate cube did not change")
	}
	for _, r := range sim.results {
		if sim.settled.Has(int(r.Cube)) {
			t.Errorf("cube %d was simulated again", r.Cube)
		}
	}
}
