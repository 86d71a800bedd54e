package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// heap returns a frame with all cubes within size units of one place.
func heap(rng *rand.Rand, rows, size int) (*frame.Frame, []Awake) {
	f := frame.Cubes(rows).NewFrame()
	awake := make([]Awake, 0, rows)
	for i := range rows {
		row := f.Table[i*frame.CubeFields : (i+1)*frame.CubeFields]
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

func finite(t *testing.T, results []Result) {
	t.Helper()
	for _, r := range results {
		for _, x := range []float64{r.Pos.X, r.Pos.Y, r.Pos.Z, r.Rot.X, r.Rot.Y, r.Rot.Z, r.Rot.W,
			float64(r.Vel[0]), float64(r.Vel[1]), float64(r.Vel[2]), float64(r.Spin[0]), float64(r.Spin[1]), float64(r.Spin[2]), float64(r.Still)} {
			if !(math.Abs(x) <= 1<<20) {
				t.Fatalf("cube %d: %+v", r.Cube, r)
			}
		}
	}
}

// Whatever a damaged snapshot holds, the forecast is finite.
func TestHostile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 2, 50, 901, 5000} {
		sim := New(rows, physics.Recorder())
		for _, size := range []int{1, 100, 1000, 100000} {
			f, awake := heap(rng, rows, size)
			row := f.Table[:frame.CubeFields]
			path := Path{Before: row, From: row, To: row, Lead: 6, Ticks: 6}
			finite(t, sim.Run(f, awake, &path))
			finite(t, sim.Run(f, nil, &path))
		}
	}
}

func BenchmarkHeap(b *testing.B) {
	for name, size := range map[string]int{"one place": 1, "1 m": 512, "3 m": 1536, "10 m": 5120} {
		b.Run(name, func(b *testing.B) {
			sim := New(901, physics.Recorder())
			f, awake := heap(rand.New(rand.NewPCG(1, 2)), 901, size)
			row := f.Table[:frame.CubeFields]
			path := Path{Before: row, From: row, To: row, Lead: 6, Ticks: 6}
			for b.Loop() {
				sim.Run(f, awake, &path)
			}
		})
	}
}
