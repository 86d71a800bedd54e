package forecast

import (
	"math"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// frameAfter returns base with the positions of the results.
func frameAfter(base *frame.Frame, results []Result) *frame.Frame {
	f := frame.Cubes(len(base.Table) / frame.CubeFields).NewFrame()
	f.CopyFrom(base)
	for _, r := range results {
		row := rowOf(f, int(r.Cube))
		for k, x := range [3]float64{r.Pos.X, r.Pos.Y, r.Pos.Z} {
			row[frame.CubeX+k] = int32(math.Round(x))
		}
	}
	return f
}

// TestMode checks that Refine finds the player's mode from the motion of the cubes around it, whatever mode the
// run assumed.
func TestMode(t *testing.T) {
	const rows = 32
	f := newGrid(rows, 700)
	rowOf(f, 0)[frame.CubeX], rowOf(f, 0)[frame.CubeY] = 1280, 768
	var awake []Awake
	for i := 1; i < rows; i++ { // in the air, because cubes on the floor hardly move when they are pulled
		rowOf(f, i)[frame.CubeZ] += 300
		awake = append(awake, Awake{Cube: int32(i)})
	}
	for _, truth := range []Mode{noForce, Push, Pull} {
		now := frameAfter(f, New(rows, physics.RecorderParams()).Run(f, awake, stationaryPath(f, 6, truth)))
		for _, given := range []Mode{noForce, Push, Pull, Infer} {
			sim := New(rows, physics.RecorderParams())
			sim.Run(f, awake, stationaryPath(f, 6, given))
			first, n := sim.errorNearPlayer(now, sim.moved(now))
			if n < 8 {
				t.Fatalf("%d cubes around the player, want more", n)
			}
			best := sim.Refine(now, sim.moved(now), 2)
			if sim.Mode() != truth {
				t.Errorf("mode %d, given %d: found %d", truth, given, sim.Mode())
			}
			for _, r := range best { // the error is that of rounding
				if miss := r.squaredError(rowOf(now, int(r.Cube))); given != truth && r.Cube > 0 && miss > first*first {
					t.Errorf("mode %d, given %d: cube %d has an error of %v", truth, given, r.Cube, math.Sqrt(miss))
				}
			}
		}
	}
}

// TestModeUnknown checks that without cubes near the player the mode stays Infer and no other mode is tried.
func TestModeUnknown(t *testing.T) {
	f := newGrid(32, 700)
	rowOf(f, 0)[frame.CubeX] = 1 << 15
	sim := New(32, physics.RecorderParams())
	sim.Run(f, nil, stationaryPath(f, 6, Pull))
	if tried := sim.tryModes(f, sim.moved(f), 2); tried != 0 || sim.Mode() != Infer {
		t.Errorf("%d runs and mode %d, want none and mode %d", tried, sim.Mode(), Infer)
	}
}

// TestModeUnchanged checks that the results of a run are restored if no other mode is clearly better.
func TestModeUnchanged(t *testing.T) {
	f, awake := randomHeap(200)
	truth, _ := randomHeap(200)
	for i := 1; i < 200; i++ { // positions that no mode leads to
		rowOf(truth, i)[frame.CubeZ] += int32(i%2) * 4000
	}
	copy(rowOf(f, 0)[frame.CubeX:], []int32{300, 300, 700})
	sim := New(200, physics.RecorderParams())
	want := append([]Result(nil), sim.Run(f, awake[:120], stationaryPath(f, 6, Push))...)
	if tried := sim.tryModes(truth, sim.moved(truth), 2); tried != 2 || sim.Mode() != Push {
		t.Fatalf("%d runs, and then mode %d", tried, sim.Mode())
	}
	if len(sim.results) != len(want) {
		t.Fatalf("%d results, want %d", len(sim.results), len(want))
	}
	for k := range want {
		if sim.results[k] != want[k] || int(sim.resultIndex[want[k].Cube]) != k+1 {
			t.Errorf("result %d differs", k)
		}
	}
}
