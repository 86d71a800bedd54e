package forecast

import (
	"math"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// after returns the snapshot at the end of a run.
func after(base *frame.Frame, results []Result) *frame.Frame {
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

// What the player does is known from what becomes of the cubes around it, whatever was assumed before.
func TestMode(t *testing.T) {
	const rows = 32
	f := grid(rows, 700)
	rowOf(f, 0)[frame.CubeX], rowOf(f, 0)[frame.CubeY] = 1280, 768
	var awake []Awake
	for i := 1; i < rows; i++ { // in the air, for what lies on the floor stays where it is whether it is pulled or not
		rowOf(f, i)[frame.CubeZ] += 300
		awake = append(awake, Awake{Cube: int32(i)})
	}
	for _, truth := range []Mode{none, Push, Pull} {
		now := after(f, New(rows, physics.Recorder()).Run(f, awake, stay(f, 6, truth)))
		for _, given := range []Mode{none, Push, Pull, Infer} {
			sim := New(rows, physics.Recorder())
			sim.Run(f, awake, stay(f, 6, given))
			first, n := sim.missAround(now, sim.moved(now))
			if n < 8 {
				t.Fatalf("%d cubes around the player, want more", n)
			}
			best := sim.Refine(now, sim.moved(now), 2)
			if sim.Mode() != truth {
				t.Errorf("mode %d, given %d: found %d", truth, given, sim.Mode())
			}
			for _, r := range best { // rounded to whole units, and turned by less than a step
				if miss := r.miss(rowOf(now, int(r.Cube))); given != truth && r.Cube > 0 && miss > first*first {
					t.Errorf("mode %d, given %d: cube %d is missed by %v", truth, given, r.Cube, math.Sqrt(miss))
				}
			}
		}
	}
}

// Where nothing is near the player, nothing is known of the mode, and no run is spent on it.
func TestModeUnknown(t *testing.T) {
	f := grid(32, 700)
	rowOf(f, 0)[frame.CubeX] = 1 << 15
	sim := New(32, physics.Recorder())
	sim.Run(f, nil, stay(f, 6, Pull))
	if tried := sim.tryModes(f, sim.moved(f), 2); tried != 0 || sim.Mode() != Infer {
		t.Errorf("%d runs were spent on mode %d, want none", tried, sim.Mode())
	}
}

// A run that other modes do not explain better is what it was before they were tried.
func TestModeKept(t *testing.T) {
	f, awake := scramble(200)
	truth, _ := scramble(200)
	for i := 1; i < 200; i++ { // nobody goes there by himself
		rowOf(truth, i)[frame.CubeZ] += int32(i%2) * 4000
	}
	copy(rowOf(f, 0)[frame.CubeX:], []int32{300, 300, 700})
	sim := New(200, physics.Recorder())
	want := append([]Result(nil), sim.Run(f, awake[:120], stay(f, 6, Push))...)
	if tried := sim.tryModes(truth, sim.moved(truth), 2); tried != 2 || sim.Mode() != Push {
		t.Fatalf("%d runs, and then mode %d", tried, sim.Mode())
	}
	if len(sim.results) != len(want) {
		t.Fatalf("%d results, want %d", len(sim.results), len(want))
	}
	for k := range want {
		if sim.results[k] != want[k] || int(sim.at[want[k].Cube]) != k+1 {
			t.Errorf("result %d is another", k)
		}
	}
}
