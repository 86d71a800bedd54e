package forecast

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// newGrid returns a frame of n cubes at rest on the floor, a metre apart, with the player at the origin at
// height z in units.
func newGrid(n int, z int32) *frame.Frame {
	f := frame.Cubes(n).NewFrame()
	for i := range n {
		row := rowOf(f, i)
		row[frame.CubeLargest], row[frame.CubeA], row[frame.CubeB], row[frame.CubeC] = 3, 256, 256, 256
		row[frame.CubeX], row[frame.CubeY], row[frame.CubeZ] = int32(i%8)*512, int32(i/8)*512, 102
	}
	rowOf(f, 0)[frame.CubeZ] = z
	return f
}

// stationaryPath returns the path of a player that does not move.
func stationaryPath(f *frame.Frame, ticks int, mode Mode) *Path {
	row := rowOf(f, 0)
	return &Path{Before: row, From: row, To: row, BeforeTicks: ticks, Ticks: ticks, Mode: mode}
}

func TestNoMotion(t *testing.T) {
	f := newGrid(32, 5000)
	if r := New(32, physics.RecorderParams()).Run(f, nil, stationaryPath(f, 6, noForce)); len(r) != 0 {
		t.Errorf("%d results although all cubes sleep", len(r))
	}
	one := frame.Cubes(1).NewFrame()
	if r := New(1, physics.RecorderParams()).Run(one, nil, stationaryPath(one, 6, Infer)); len(r) != 0 {
		t.Errorf("%d results for the player alone", len(r))
	}
}

// TestFlight checks that a cube in the air flies a parabola for any number of ticks. After 24 ticks, maxSteps
// of maxStep, it is not simulated further.
func TestFlight(t *testing.T) {
	f := newGrid(2, 5000)
	row := rowOf(f, 1)
	row[frame.CubeZ] = 12000
	awake := []Awake{{Cube: 1, Body: Body{Vel: [3]float32{3, 0, 2}, Spin: [3]float32{0, 0, 1}}}}
	law := physics.RecorderParams()
	law.Damping = 0
	for _, ticks := range []int{1, 2, 6, 12, 18, 24, 25, 255, 10000} {
		r := New(2, law).Run(f, awake, stationaryPath(f, ticks, noForce))
		if len(r) != 1 || r[0].Cube != 1 {
			t.Fatalf("%d ticks: %v", ticks, r)
		}
		s := float64(min(ticks, 24)) / 60
		steps := float64(min(ticks, maxSteps))
		x := float64(row[frame.CubeX]) + 512*3*s
		z := 12000 + 512*(2*s-10*s*s*(1+1/steps))
		if math.Abs(r[0].Pos.X-x) > 0.01 || math.Abs(r[0].Pos.Z-z) > 0.01 {
			t.Errorf("%d ticks: at %v, want x %v and z %v", ticks, r[0].Pos, x, z)
		}
		if w := Log(r[0].Rot); math.Abs(w.Z-s) > 0.01 {
			t.Errorf("%d ticks: turned by %v, want %v", ticks, w.Z, s)
		}
	}
}

// TestPath checks that the player's path goes through the three known positions.
func TestPath(t *testing.T) {
	a, b, c := make([]int32, 8), make([]int32, 8), make([]int32, 8)
	copy(a[frame.CubeX:], []int32{-512, 100, 512})
	copy(b[frame.CubeX:], []int32{512, 300, 600})
	copy(c[frame.CubeX:], []int32{2048, 200, 500})
	for _, lead := range []int{1, 6, 9} {
		p := Path{Before: a, From: b, To: c, BeforeTicks: lead, Ticks: 6}
		p.steps()
		for _, at := range []struct {
			u   float64
			row []int32
		}{{-float64(lead) / 6, a}, {0, b}, {1, c}} {
			if d := p.positionAt(at.u).Sub(Position(at.row).Scale(metre)).Length(); d > 1e-9 {
				t.Errorf("%d ticks before: the position at %v has an error of %v", lead, at.u, d)
			}
		}
	}
	p := Path{From: b, To: c, Ticks: 6}
	p.steps()
	if d := p.positionAt(0.5).Sub(p.positionAt(0).Add(p.positionAt(1)).Scale(0.5)).Length(); d > 1e-9 {
		t.Errorf("without a third position the path is not straight: %v", d)
	}
}

// TestForces compares the effect of the player's forces on a cube in the air with their formulas.
func TestForces(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		at   [3]int32 // of the cube, from the player
		want func(away vec, fromFloor vec) vec
	}{
		{noForce, [3]int32{512, 0, 0}, func(vec, vec) vec { return vec{} }},
		{Push, [3]int32{512, 0, 0}, func(_, o vec) vec { return o.Scale(200 / math.Pow(o.Length(), 3)) }},
		{Push, [3]int32{1024, 0, 0}, func(vec, vec) vec { return vec{} }},
		{Infer, [3]int32{512, 200, 0}, func(_, o vec) vec { return o.Scale(200 / math.Pow(o.Length(), 3)) }},
		{Pull, [3]int32{700, 0, 100}, func(a, _ vec) vec { return a.Scale(-200 / math.Pow(a.Length(), 3)) }},
	} {
		f := newGrid(2, 680)
		row := rowOf(f, 1)
		for k := range 3 {
			row[frame.CubeX+k] = rowOf(f, 0)[frame.CubeX+k] + c.at[k]
		}
		law := physics.RecorderParams()
		law.Gravity, law.Damping = 0, 0
		awake := []Awake{{Cube: 1}}
		r := New(2, law).Run(f, awake, stationaryPath(f, 1, c.mode))
		pos := Position(row).Scale(metre)
		away := pos.Sub(Position(rowOf(f, 0)).Scale(metre))
		origin := vec{X: away.X, Y: away.Y, Z: pos.Z + 0.1}
		want := c.want(away, origin).Scale(1.0 / 60)
		if d := toVec(r[0].Vel).Sub(want).Length(); d > 1e-5*max(1, want.Length()) {
			t.Errorf("mode %d, %v: speed %v, want %v", c.mode, c.at, r[0].Vel, want)
		}
	}
}

// randomHeap returns a heap of n cubes in motion.
func randomHeap(n int) (*frame.Frame, []Awake) {
	f := newGrid(n, 5000)
	var awake []Awake
	for i := 1; i < n; i++ {
		row := rowOf(f, i)
		row[frame.CubeX], row[frame.CubeY] = int32(i%4)*260, int32(i/4%4)*260
		row[frame.CubeZ] = int32(130 + i/16*300)
		row[frame.CubeA] = int32(256 + i*37%100)
		row[frame.CubeB] = int32(256 - i*53%100)
		awake = append(awake, Awake{Cube: int32(i), Body: Body{
			Vel: [3]float32{float32(i%5) - 2, float32(i%7) - 3, float32(i%3) - 1}, Spin: [3]float32{float32(i % 4), 0, float32(i % 3)}}})
	}
	return f, awake
}

// quantiseResults returns base with the poses of the results, quantised.
func quantiseResults(base *frame.Frame, results []Result) *frame.Frame {
	f := &frame.Frame{}
	f.CopyFrom(base)
	for _, r := range results {
		row := rowOf(f, int(r.Cube))
		for k, x := range []float64{r.Pos.X, r.Pos.Y, r.Pos.Z} {
			row[frame.CubeX+k] = int32(math.Floor(x + 0.5))
		}
		q := [4]float64{r.Rot.X, r.Rot.Y, r.Rot.Z, r.Rot.W}
		largest := 0
		for i := range q {
			if math.Abs(q[i]) > math.Abs(q[largest]) {
				largest = i
			}
		}
		row[frame.CubeLargest] = int32(largest)
		at := frame.CubeA
		for i := range q {
			if i != largest {
				row[at] = int32(math.Floor(q[i]*math.Copysign(1, q[largest])*smallScale + smallZero + 0.5))
				at++
			}
		}
	}
	return f
}

// moved returns the cubes whose pose in now differs from the baseline of the last run.
func (s *Simulator) moved(now *frame.Frame) frame.Rows {
	moved := frame.NewRows(s.rows)
	for i := range s.rows {
		if !slices.Equal(rowOf(now, i)[:frame.CubeInteracting], s.row(i)[:frame.CubeInteracting]) {
			moved.Add(i)
		}
	}
	return moved
}

// TestRefine checks that each round of Refine reduces the error of wrong speeds.
func TestRefine(t *testing.T) {
	f, awake := randomHeap(40)
	sim := New(40, physics.RecorderParams())
	truth := quantiseResults(f, sim.Run(f, awake, stationaryPath(f, 6, noForce)))
	wrong := append([]Awake(nil), awake...)
	for i := range wrong {
		wrong[i].Vel[0] += 0.3
		wrong[i].Spin[1] -= 0.5
	}
	miss := func(results []Result) (sum float64) {
		for i := range results {
			sum += results[i].squaredError(rowOf(truth, int(results[i].Cube)))
		}
		return sum
	}
	sim.Run(f, wrong, stationaryPath(f, 6, noForce))
	last := miss(sim.Refine(truth, sim.moved(truth), 0))
	first := last
	for rounds := 1; rounds < 4; rounds++ {
		sim.Run(f, wrong, stationaryPath(f, 6, noForce))
		now := miss(sim.Refine(truth, sim.moved(truth), rounds))
		if now > last {
			t.Errorf("%d rounds have an error of %.1f, one round less %.1f", rounds, now, last)
		}
		last = now
	}
	if last > first/4 {
		t.Errorf("three rounds reduced the error from %.1f to %.1f, want a quarter", first, last)
	}
}

func TestBlend(t *testing.T) {
	f := newGrid(2, 5000)
	before, base := rowOf(f, 1), append([]int32(nil), rowOf(f, 1)...)
	base[frame.CubeX] += 100 // 11.7 m/s
	fast := Body{}.Blend(before, base, 1)
	if want := 100.0 / 512 * 60 * 0.99; math.Abs(float64(fast.Vel[0])-want) > 0.02*want {
		t.Errorf("speed %v, want nearly %v", fast.Vel[0], want)
	}
	base[frame.CubeX] -= 99 // one step may be rounding
	if slow := (Body{}).Blend(before, base, 1); slow.Vel[0] <= 0 || slow.Vel[0] > 0.5*60/512 {
		t.Errorf("speed %v after one step", slow.Vel[0])
	}
	b := Body{Vel: [3]float32{1, 2, 3}}
	for _, ticks := range []int{-1, 0} {
		if got := b.Blend(before, base, ticks); got != b {
			t.Errorf("%d ticks: %v", ticks, got)
		}
	}
}

// TestGolden compares a hash of results that must be the same on every machine, see TestPortableBytes in
// encoders/table. Run it also with GOARCH=386, with GOAMD64=v3 and on arm64.
func TestGolden(t *testing.T) {
	const want = 0xe60cc352a52fdb09
	h := fnv.New64a()
	var b [8]byte
	note := func(results []Result) {
		for _, r := range results {
			for _, x := range numbersOf(&r) {
				binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
				h.Write(b[:])
			}
		}
	}
	sim := New(200, physics.RecorderParams())
	for _, mode := range []Mode{Infer, Push, Pull} {
		f, awake := randomHeap(200)
		copy(rowOf(f, 0)[frame.CubeX:], []int32{300, 300, 700})
		to := append([]int32(nil), rowOf(f, 0)...)
		to[frame.CubeX], to[frame.CubeA] = 400, 300
		path := Path{Before: rowOf(f, 1), From: rowOf(f, 0), To: to, BeforeTicks: 6, Ticks: 6, Mode: mode}
		note(sim.Run(f, awake[:120], &path))
		truth, _ := randomHeap(200)
		rowOf(truth, 3)[frame.CubeX] += 40
		note(sim.Refine(truth, sim.moved(truth), 1))
		r := sim.restingResult(3)
		note([]Result{{Body: r.correct(vec{X: 1, Y: 2, Z: 3}, Orientation(to), 5, 1)}})
		note([]Result{{Body: awake[3].Blend(rowOf(f, 3), to, 1)}})
	}
	if got := h.Sum64(); got != want {
		t.Errorf("hash %#016x, want %#016x", got, uint64(want))
	}
}

func TestAllocations(t *testing.T) {
	f, awake := randomHeap(100)
	sim, path := New(100, physics.RecorderParams()), stationaryPath(f, 6, Push)
	truth, _ := randomHeap(100)
	sim.Run(f, awake[:80], path)
	moved := sim.moved(truth)
	run := func() {
		sim.Run(f, awake[:80], path)
		sim.Refine(truth, moved, 1)
	}
	for range 3 {
		run()
	}
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%v allocations per frame, want none", n)
	}
}
