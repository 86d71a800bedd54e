package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// denseHeap returns a frame with all cubes in a box with sides of size units, and random speeds, some NaN or
// infinite.
func denseHeap(rng *rand.Rand, rows, size int) (*frame.Frame, []Awake) {
	f := frame.Cubes(rows).NewFrame()
	awake := make([]Awake, 0, rows)
	for i := range rows {
		row := rowOf(f, i)
		for k := frame.CubeX; k <= frame.CubeZ; k++ {
			row[k] = int32(1000 + rng.IntN(size))
		}
		row[frame.CubeLargest] = int32(rng.IntN(4))
		for k := frame.CubeA; k <= frame.CubeC; k++ {
			row[k] = int32(rng.IntN(512))
		}
		b := Body{}
		for k := range 3 {
			b.Vel[k], b.Spin[k] = float32(rng.NormFloat64()*40), float32(rng.NormFloat64()*20)
		}
		switch rng.IntN(20) {
		case 0:
			b.Vel[1] = float32(math.NaN())
		case 1:
			b.Spin[2] = float32(math.Inf(1))
		case 2:
			b.Still = float32(math.NaN())
		}
		awake = append(awake, Awake{Cube: int32(i), Body: b})
	}
	return f, awake
}

// numbersOf returns all numbers of a result.
func numbersOf(r *Result) []float64 {
	return []float64{r.Pos.X, r.Pos.Y, r.Pos.Z, r.Rot.X, r.Rot.Y, r.Rot.Z, r.Rot.W,
		float64(r.Vel[0]), float64(r.Vel[1]), float64(r.Vel[2]), float64(r.Spin[0]), float64(r.Spin[1]), float64(r.Spin[2]),
		float64(r.Still)}
}

// checkFinite checks that all numbers of the results are finite and not huge.
func checkFinite(t *testing.T, results []Result) {
	t.Helper()
	for _, r := range results {
		for _, x := range numbersOf(&r) {
			if !(math.Abs(x) <= 1<<20) {
				t.Fatalf("cube %d: %+v", r.Cube, r)
			}
		}
	}
}

// TestInvalidInput checks that forecasts are finite for any snapshot and any speeds.
func TestInvalidInput(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 2, 50, 901, 5000} {
		sim := New(rows, physics.RecorderParams())
		for _, size := range []int{1, 100, 1000, 100000} {
			f, awake := denseHeap(rng, rows, size)
			row := rowOf(f, 0)
			path := Path{Before: row, From: row, To: row, BeforeTicks: 6, Ticks: 6}
			checkFinite(t, sim.Run(f, awake, &path))
			checkFinite(t, sim.Run(f, nil, &path))
		}
	}
}

// TestWorkBound checks that a run over a dense heap takes at most six times the contact corrections that one
// step may take.
func TestWorkBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{1, 100, 500, 2000} {
		sim := New(901, physics.RecorderParams())
		f, awake := denseHeap(rng, 901, size)
		row := rowOf(f, 0)
		sim.Run(f, awake, &Path{Before: row, From: row, To: row, BeforeTicks: 6, Ticks: 6})
		if got, most := sim.scene.WorkDone(), 6*32*1024; got > most || got < most/4 {
			t.Errorf("cubes within %d units: %d corrections, want at most %d and not far from it", size, got, most)
		}
	}
}

// FuzzRun derives a frame of nine cubes, speeds and a path from bytes.
func FuzzRun(f *testing.F) {
	f.Add([]byte("whatever a snapshot holds"))
	f.Add(make([]byte, 400))
	sim := New(9, physics.RecorderParams())
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() (x uint32) {
			for range 4 {
				x <<= 8
				if len(data) > 0 {
					x, data = x|uint32(data[0]), data[1:]
				}
			}
			return x
		}
		table := frame.Cubes(9).NewFrame()
		ticks, mode := int(int32(next())), Mode(next())
		for i := range table.Table {
			table.Table[i] = int32(next()) >> (next() & 31)
		}
		var awake []Awake
		for range next() & 15 {
			a := Awake{Cube: int32(next()) >> 24}
			for k := range 3 {
				a.Vel[k], a.Spin[k] = math.Float32frombits(next()), math.Float32frombits(next())
			}
			a.Still = math.Float32frombits(next())
			awake = append(awake, a)
		}
		path := Path{Before: rowOf(table, 1), From: rowOf(table, 0), To: rowOf(table, 2),
			BeforeTicks: int(int32(next())), Ticks: ticks,
			Mode: mode}
		checkFinite(t, sim.Run(table, awake, &path))
		checkFinite(t, sim.Refine(table, sim.moved(table), 1))
		for i := range sim.results {
			r := &sim.results[i]
			b := r.correctRow(table.Table, ticks, 1).Blend(rowOf(table, 1), rowOf(table, 2), ticks)
			checkFinite(t, []Result{{Body: b}})
		}
	})
}

func BenchmarkHeap(b *testing.B) {
	for _, size := range []int{1, 512, 1536, 5120} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			sim := New(901, physics.RecorderParams())
			f, awake := denseHeap(rand.New(rand.NewPCG(1, 2)), 901, size)
			row := rowOf(f, 0)
			path := Path{Before: row, From: row, To: row, BeforeTicks: 6, Ticks: 6}
			for b.Loop() {
				sim.Run(f, awake, &path)
			}
		})
	}
}
